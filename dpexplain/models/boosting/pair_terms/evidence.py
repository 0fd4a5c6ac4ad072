"""Test whether contrasts of a grid show an interaction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln

from dpexplain.models.boosting.pair_terms.contrasts import beyond_curves
from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.pair_terms.priors import covariance

FloatArray = NDArray[np.float64]

_LENGTH = 1.0
"""Distance over which scores are assumed alike in the test, as a share of the range."""


def log_p_value(grid: Grid, sums: FloatArray, design: FloatArray, variance: FloatArray) -> float:
    """Test whether contrasts of a grid's sums show a smooth interaction.

    Errors in the two curves do not affect the test, because `beyond_curves` projects them out. The
    test statistic weights the projected sums by the covariance that an interaction with smooth
    scores would cause. This is the locally most powerful test against smooth scores [1]_.

    Parameters
    ----------
    grid : Grid
    sums : ndarray of shape (n_contrasts,)
        Noisy contrasts of sums of residuals, or the sums themselves.
    design : ndarray of shape (n_contrasts, n_cells)
        Change in each contrast per unit of score of each cell.
    variance : ndarray of shape (n_contrasts, n_contrasts)
        Positive definite covariance of the contrasts due to noise and sampling.

    Returns
    -------
    float
        Logarithm of the p-value; 0 if the grid has too few cells for a test.

    References
    ----------
    .. [1] Wu et al., "Rare-Variant Association Testing for Sequencing Data with the Sequence Kernel
       Association Test", American Journal of Human Genetics 89, 2011.
    """
    z, certain, _ = beyond_curves(grid, sums, design, variance)  # the unit of the scores cancels
    smooth = np.kron(*(covariance(side, _LENGTH) for side in grid.sides))
    spread = certain @ smooth @ certain.T
    weights = np.linalg.eigvalsh((spread + spread.T) / 2.0)
    if not weights.max(initial=0.0) > 1e-9:
        return 0.0
    return _log_tail(float(z @ spread @ z), np.maximum(weights, 0.0))


def _log_tail(statistic: float, weights: FloatArray) -> float:
    """Return the log tail probability of a weighted sum of chi-square variables.

    The sum is approximated by a shifted and scaled chi-square variable with the same first three
    cumulants.
    """
    first, second, third = (float((weights**k).sum()) for k in (1, 2, 3))
    n_free = second**3 / third**2
    moved = max((statistic - first) * np.sqrt(n_free / second) + n_free, 1e-12)
    a, x = n_free / 2.0, moved / 2.0
    tail = float(gammaincc(a, x))
    # Far out, where the probability underflows, its first term is accurate enough for an order.
    return float(np.log(tail) if tail > 1e-300 else (a - 1.0) * np.log(x) - x - gammaln(a))
