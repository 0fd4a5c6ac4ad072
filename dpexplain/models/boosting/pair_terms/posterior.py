"""Posterior of the scores in a grid; the prior is estimated from released sums.

The prior has two kinds of hyperparameters: the standard deviation of the scores of a pair, and the
correlation length along each side of the grid. They are chosen to maximize the marginal likelihood
of the noisy sums, whose noise is known. More noise therefore leads to more smoothing across cells,
and the scores of a pair without an effect shrink to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_terms.grids import Grid, Side

FloatArray = NDArray[np.float64]

SIZES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Prior standard deviations of the scores that are tried, in score units of the loop."""

LENGTHS = (0.05, 0.3, 1.0, 3.0)
"""Distances over which scores are alike that are tried, as a share of the range of a feature."""

_MOST_JOINED = 12
"""Maximum number of ordered groups of one side from which the prior is estimated. Neighboring
groups are joined to save time: a grid of 12 by 12 cells shows how large and how smooth the scores
are, and comparing all priors on a grid of 24 by 24 cells would take 60 times as long."""

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
    total : ndarray of shape (n_cells, n_cells)
        Covariance of the sums, in units of their standard deviations.
    shared : ndarray of shape (n_cells, n_cells)
        Covariance of the scores (rows) with the sums in these units (columns).
    noise : ndarray of shape (n_cells,)
        Standard deviation of each sum.
    """

    scores: FloatArray
    total: FloatArray
    shared: FloatArray
    noise: FloatArray

    @cached_property
    def response(self) -> FloatArray:
        """Change in each score (row) per unit change in each sum (column)."""
        found: FloatArray = np.linalg.solve(self.total, self.shared.T).T / self.noise
        return found

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
    shared = prior.size**2 * np.kron(first, second) * certain
    total = certain[:, None] * shared + np.eye(len(sums))
    return Posterior(shared @ np.linalg.solve(total, sums / noise), total, shared, noise)


def likely_prior(
    grid: Grid, sums: FloatArray, curvature: FloatArray, variance: FloatArray
) -> Prior:
    """Return the prior with the largest marginal likelihood of the sums.

    If a side has many ordered groups, neighboring groups are joined first. The sums of the joined
    cells add up, and their scores are the weighted means of the scores of their cells.

    Parameters
    ----------
    grid, sums, curvature, variance
        As in `posterior`.

    Returns
    -------
    Prior
    """
    joins = [_join(side) for side in grid.sides]
    cells = np.kron(*joins)
    noise, certain = _units(cells @ curvature, cells @ variance)
    z = cells @ sums / noise
    means = [_mean_of_joined(side, join) for side, join in zip(grid.sides, joins, strict=True)]
    best = Prior(SIZES[0], (LENGTHS[0], LENGTHS[0]))
    most = -np.inf
    tried = (LENGTHS if side.n_ordered > 1 else LENGTHS[:1] for side in grid.sides)
    for along, across in product(*tried):
        first, second = (
            mean @ covariance(side, length) @ mean.T
            for side, mean, length in zip(grid.sides, means, (along, across), strict=True)
        )
        # The eigenvalues give the likelihood for every size at once.
        values, vectors = np.linalg.eigh(certain[:, None] * np.kron(first, second) * certain)
        squared = (vectors.T @ z) ** 2
        for size in SIZES:
            spread = 1.0 + size**2 * np.maximum(values, 0.0)
            evidence = -0.5 * float((squared / spread + np.log(spread)).sum())
            if evidence > most:
                best, most = Prior(size, (along, across)), evidence
    return best


def _join(side: Side) -> FloatArray:
    """Return the 0/1 matrix, shape (n_joined, n_groups), that joins groups."""
    each = -(-side.n_ordered // _MOST_JOINED) or 1
    n_joined = -(-side.n_ordered // each)
    groups = np.arange(side.n_groups)
    joined = np.where(groups < side.n_ordered, groups // each, n_joined + groups - side.n_ordered)
    return np.eye(joined[-1] + 1)[joined].T


def _mean_of_joined(side: Side, join: FloatArray) -> FloatArray:
    """Return the matrix that averages group scores, weighted, over joined groups."""
    weight = join * np.maximum(side.weight, 1e-12)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
