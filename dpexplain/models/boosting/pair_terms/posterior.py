"""Posterior of the scores in a grid; the prior is estimated from released sums.

The prior has two kinds of hyperparameters: the standard deviation of the scores of a pair, and the
correlation length along each side of the grid. They are chosen to maximize the marginal likelihood
of the noisy sums, whose noise is known. More noise therefore leads to more smoothing across cells,
and the scores of a pair without an effect shrink to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_terms.grids import Grid, Side

FloatArray = NDArray[np.float64]

SIZES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Prior standard deviations of the scores that are tried, in score units of the loop."""

LENGTHS = (0.05, 0.3, 1.0, 3.0)
"""Distances over which scores are alike that are tried, as a share of the range of a feature."""

_MOST_CERTAIN = 1e5
"""Bound on the ratio of a cell's signal to its noise per unit of score. It is far above all ratios
of actual fits, and it keeps the equations well conditioned for any released numbers."""


@dataclass(frozen=True)
class Prior:
    """Gaussian prior for the scores in a grid.

    Attributes
    ----------
    size : float
        Standard deviation of the scores before they are centered, in internal units of the boosting
        loop.
    lengths : tuple of float
        Correlation length of the scores along each side, as a share of the feature's range.
    """

    size: float
    lengths: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior of the scores in a grid.

    Attributes
    ----------
    scores : ndarray of shape (n_cells,)
        Posterior mean.
    response : ndarray of shape (n_cells, n_cells)
        Change in each score (row) per unit change in each sum (column).
    """

    scores: FloatArray
    response: FloatArray

    def std(self, variance: FloatArray) -> FloatArray:
        """Return the standard deviation of each score, given the variance of each sum."""
        return np.sqrt(self.response**2 @ variance)


def covariance(side: Side, length: float) -> FloatArray:
    """Return the prior correlations along one side, projected onto centered scores.

    The scores of a pair have mean zero along each row and each column, weighted by the released
    shares of the groups, because the curves of the two features contain everything else.

    Parameters
    ----------
    side : Side
    length : float
        Correlation length of the scores, as a share of the feature's range.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
    """
    n, n_ordered = side.n_groups, side.n_ordered
    found = np.eye(n)
    place = np.arange(n_ordered) / max(n_ordered - 1, 1)
    found[:n_ordered, :n_ordered] = np.exp(-np.abs(place[:, None] - place) / length)
    centering = np.eye(n) - side.weight
    if side.has_rest:
        centering[-1] = 0.0
    return np.asarray(centering @ found @ centering.T, dtype=np.float64)


def _units(curvature: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviation and the signal-to-noise ratio of each sum.

    The ratio is the change in the sum per unit of score, divided by the standard deviation. In
    units of their standard deviations, the sums are ``z = D theta + e``, where D contains the
    ratios, theta the scores, and e errors of variance 1. If K is the prior covariance of theta, the
    covariance of z is ``D K D + I``.
    """
    noise = np.sqrt(variance)
    return noise, np.minimum(curvature / noise, _MOST_CERTAIN)


def posterior(
    grid: Grid, sums: FloatArray, curvature: FloatArray, variance: FloatArray, prior: Prior
) -> Posterior:
    """Return the posterior of the scores for a given prior.

    Parameters
    ----------
    grid : Grid
    sums : ndarray of shape (n_cells,)
        Sum of residuals in each cell, plus the curvature times the score that the cell had when
        these residuals were computed.
    curvature : ndarray of shape (n_cells,)
        Change in each sum per unit of score.
    variance : ndarray of shape (n_cells,)
        Positive variance of each sum.
    prior : Prior

    Returns
    -------
    Posterior
    """
    noise, certain = _units(curvature, variance)
    first, second = (covariance(s, x) for s, x in zip(grid.sides, prior.lengths, strict=True))
    spread = prior.size**2 * np.kron(first, second)
    root = np.linalg.cholesky(certain[:, None] * spread * certain + np.eye(len(sums)))
    white = np.linalg.solve(root, np.column_stack([sums / noise, np.diag(1.0 / noise)]))
    both = (spread * certain) @ np.linalg.solve(root.T, white)
    return Posterior(both[:, 0], both[:, 1:])


def likely_prior(
    grid: Grid, sums: FloatArray, curvature: FloatArray, variance: FloatArray
) -> Prior:
    """Return the prior with the largest marginal likelihood of the sums.

    Parameters
    ----------
    grid, sums, curvature, variance
        As in `posterior`.

    Returns
    -------
    Prior
    """
    noise, certain = _units(curvature, variance)
    z = sums / noise
    best = Prior(SIZES[0], (LENGTHS[0], LENGTHS[0]))
    most = -np.inf
    tried = (LENGTHS if side.n_ordered > 1 else LENGTHS[:1] for side in grid.sides)
    for along, across in product(*tried):
        first, second = covariance(grid.sides[0], along), covariance(grid.sides[1], across)
        # The eigenvalues give the likelihood for every size at once.
        values, vectors = np.linalg.eigh(certain[:, None] * np.kron(first, second) * certain)
        squared = (vectors.T @ z) ** 2
        for size in SIZES:
            spread = 1.0 + size**2 * np.maximum(values, 0.0)
            evidence = -0.5 * float((squared / spread + np.log(spread)).sum())
            if evidence > most:
                best, most = Prior(size, (along, across)), evidence
    return best
