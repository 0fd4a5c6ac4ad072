"""Expected fall of the loss from chosen pairs, and from passes they replace.

Both are computed from released numbers, and are falls of the loss with clipped residuals, summed
over the records. Pairs are worth fitting if their fall is larger than that of the passes could be.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpexplain.models.boosting.pair_terms.contrasts import beyond_curves
from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.pair_terms.priors import LENGTHS, SIZES, covariance, in_units
from dpexplain.models.boosting.released import PrivateFit

FloatArray = NDArray[np.float64]

_EASY = 4
"""The first passes, one in this number, are not used to predict later ones: in them, the loss falls
by effects that any fit finds at once."""

_LEAST_PROBABILITY = 1e-3
"""Priors that are less likely are left out of the mean."""


def fall_of_passes(fit: PrivateFit, n_more: int, curvature: float) -> float:
    """Return how much the loss could fall in passes that have not been made.

    A step adds ``g s`` to the score of a leaf with the noisy sum s. The loss then falls by
    ``g t s - c (g s)**2 / 2``, where t is the sum without noise, and c the curvature of the loss in
    the leaf. The mean of ``t s`` is that of ``s**2`` minus the variance of the noise, so the
    released sums show how much the loss fell in each pass, with an error of known variance.

    After n passes, the loss is taken to be above its limit by an amount proportional to
    ``1 / (n + 1)``: gradient descent approaches the minimum of a convex loss at least as fast. The
    result is the fall that follows, plus one standard error.

    Parameters
    ----------
    fit : PrivateFit
        Fit with the passes made so far.
    n_more : int
        Number of further passes.
    curvature : float
        Mean curvature of the loss per record.

    Returns
    -------
    float
        At least 0.
    """
    steps, n = fit.steps, fit.schedule.n_epochs
    rate = float(steps.gain[0] * fit.visits.leaf_weight[0, 0])
    noise = np.repeat(fit.leaf_noise_std**2, np.diff(steps.start))
    squared, kept = steps.sums**2, 1.0 - rate * curvature / 2.0
    fall = steps.gain * (kept * squared - noise)
    error = (steps.gain * kept) ** 2 * noise * (2.0 * noise + 4.0 * np.maximum(squared - noise, 0))
    n_easy = n // _EASY
    first = steps.start[(len(steps.start) - 1) * n_easy // n]
    later = (1.0 / (n + 1) - 1.0 / (n + n_more + 1)) / (1.0 / (n_easy + 1) - 1.0 / (n + 1))
    return later * max(float(fall[first:].sum() + np.sqrt(error[first:].sum())), 0.0)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Released contrasts of a candidate pair.

    Attributes
    ----------
    grid : Grid
    sums : ndarray of shape (n_contrasts,)
        Noisy contrasts of sums of residuals.
    design : ndarray of shape (n_contrasts, n_cells)
        Change in each contrast per unit of score of each cell.
    variance : ndarray of shape (n_contrasts, n_contrasts)
        Positive definite covariance of the contrasts due to noise and sampling.
    """

    grid: Grid
    sums: FloatArray
    design: FloatArray
    variance: FloatArray


def fall_of_pair(seen: Contrasts, curvature: FloatArray, errors: FloatArray) -> float:
    """Return the expected fall of the loss if a pair is fitted.

    The fit is that of the grid of the choice, with new noise. The contrasts of the choice show how
    large the scores are: the result is averaged over the priors of the fit, weighted by how likely
    they make the contrasts. What the two curves can explain is projected out, as in the test.

    Parameters
    ----------
    seen : Contrasts
    curvature : ndarray of shape (n_cells,)
        Change in the sum of each cell per unit of score, in the fit of the pair.
    errors : ndarray of shape (n_cells,)
        Variance of the sum of each cell in the fit of the pair.

    Returns
    -------
    float
    """
    z, certain, scale = beyond_curves(seen.grid, seen.sums, seen.design, seen.variance)
    log_weight: list[float] = []
    moments: list[tuple[FloatArray, FloatArray]] = []
    for lengths in product(LENGTHS, repeat=2):
        of_sides = (covariance(s, x) for s, x in zip(seen.grid.sides, lengths, strict=True))
        prior = np.asarray(np.kron(*of_sides), dtype=np.float64)
        values, vectors = np.linalg.eigh(certain @ prior @ certain.T)
        turned, back = vectors.T @ z, prior @ certain.T @ vectors
        for size in SIZES:
            spread = 1.0 + (size * scale) ** 2 * np.maximum(values, 0.0)
            log_weight.append(-0.5 * float((turned**2 / spread + np.log(spread)).sum()))
            mean = size**2 * scale * back @ (turned / spread)
            shrunk = (size**2 * scale) ** 2 * (back / spread) @ back.T
            second = np.outer(mean, mean) + size**2 * prior - shrunk
            moments.append((second, size**2 * prior))
    weight = np.exp(np.array(log_weight) - logsumexp(log_weight))
    likely = np.flatnonzero(weight > _LEAST_PROBABILITY)
    return float(sum(weight[k] * _fall_of_fit(*moments[k], curvature, errors) for k in likely))


def _fall_of_fit(
    second: FloatArray, prior: FloatArray, curvature: FloatArray, errors: FloatArray
) -> float:
    """Return the mean fall if scores with these second moments are fitted."""
    unit, certain = in_units(curvature, np.diag(errors))
    total = certain[:, None] * prior * certain + np.eye(len(unit))
    gain = np.linalg.solve(total, certain[:, None] * prior).T
    reach = gain * certain
    found = reach @ second
    of_squares = ((found * reach).sum(axis=1) + (gain**2).sum(axis=1)) / 2.0
    return float(curvature @ (np.diag(found) - of_squares))
