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

_LEAST_PROBABILITY = 1e-3
"""Priors that are less likely are left out of the mean."""


def fall_of_passes(fit: PrivateFit, n_more: int) -> float:
    """Return how much the loss could fall in passes that have not been made.

    Curves that are not finished keep moving in the same direction, while noise moves them back and
    forth. So the total change of each curve in the second half of the passes shows how far the
    signal moved it, with far less noise than single changes. A pass that changes a curve by u in a
    bin of n records lets the loss fall by ``n u**2 / r``, where r is the learning rate. The
    variance of the noise is known, and subtracted.

    Later passes are taken to gain less and less, in proportion to 1 / (number of passes). The
    result is the fall that follows, plus two standard errors.

    Parameters
    ----------
    fit : PrivateFit
        Fit with the passes made so far.
    n_more : int
        Number of further passes.

    Returns
    -------
    float
        At least 0.
    """
    steps, visits, n = fit.steps, fit.visits, fit.schedule.n_epochs
    rate = float(steps.gain[0] * visits.leaf_weight[0, 0])
    later = visits.feature[(n // 2) * len(visits) // n :]
    fall = variance = 0.0
    for feature, counts in enumerate(fit.binned.counts):
        own = len(visits) - len(later) + np.flatnonzero(later == feature)
        places = [np.arange(steps.start[v], steps.start[v + 1]) for v in own]
        leaves = np.concatenate(places)
        visit = np.repeat(own, [len(p) for p in places])
        leaf = (leaves - steps.start[visit])[:, None]
        in_leaf = visits.leaf_of_bin[visit, : len(counts.counts)] == leaf
        moved = steps.gain[leaves] * steps.sums[leaves]
        noise = (steps.gain[leaves] * fit.leaf_noise_std[visit]) ** 2
        weight = (in_leaf * np.maximum(counts.counts, 0.0)) @ in_leaf.T / rate / len(own) ** 2
        of_both = weight @ moved
        fall += float(moved @ of_both - noise @ np.diag(weight))
        of_noise = 2.0 * float(noise @ weight**2 @ noise)
        variance += max(4.0 * float(noise @ of_both**2) - of_noise, of_noise)
    of_pass = max(fall + 2.0 * np.sqrt(variance), 0.0)
    slower = _harmonic(n, n + n_more) / _harmonic(n // 2, n) * (n - n // 2)
    return of_pass * slower


def _harmonic(start: int, stop: int) -> float:
    """Return the sum of 1 / n over all n from `start` + 1 to `stop`."""
    return float((1.0 / np.arange(start + 1, stop + 1)).sum())


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
