"""Posterior of the scores in a grid; the prior is estimated from released sums.

The prior has two kinds of hyperparameters: the standard deviation of the scores of a pair, and the
correlation length along each side of the grid. They are chosen to maximize the marginal likelihood
of the noisy sums, whose noise is known. More noise therefore leads to more smoothing across cells,
and the scores of a pair without an effect shrink to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from dpexplain.models.boosting.pair_terms.grids import Grid, Side

FloatArray = NDArray[np.float64]

SIZES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Candidate prior standard deviations of the scores, in score units of the loop."""

LENGTHS = (0.05, 0.3, 1.0, 3.0)
"""Candidate distances over which scores are alike, as a share of the range of a feature."""

_MOST_JOINED = 12
"""Maximum number of ordered groups of one side from which the prior is estimated. Neighboring
groups are joined to save time: a grid of 12 by 12 cells shows how large and how smooth the scores
are, and comparing all priors on a grid of 24 by 24 cells would take 60 times as long."""

_MOST_CERTAIN = 1e5
"""Bound on the ratio of a cell's signal to its noise per unit of score. It is far above all ratios
of actual fits, and it keeps the equations well conditioned for any released numbers."""


_LEAST_PROBABILITY = 0.01
"""Sizes of the scores that are less probable than this are ignored in `error_std`."""


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
    prior_variance : ndarray of shape (n_cells,)
        Variance of each score before the sums were seen.
    """

    scores: FloatArray
    total: FloatArray
    shared: FloatArray
    noise: FloatArray
    prior_variance: FloatArray

    @cached_property
    def response(self) -> FloatArray:
        """Change in each score (row) per unit change in each sum (column)."""
        found: FloatArray = np.linalg.solve(self.total, self.shared.T).T / self.noise
        return found

    def std(self, variance: FloatArray) -> FloatArray:
        """Return the standard deviation of each score, given the variance of each sum."""
        return np.sqrt(self.response**2 @ variance)

    @property
    def error_variance(self) -> FloatArray:
        """Variance of each true score around its posterior mean.

        This variance includes the errors in the sums and what the prior smooths away.
        """
        half = solve_triangular(np.linalg.cholesky(self.total), self.shared.T, lower=True)
        # Rounding must not make a variance zero or negative.
        least = 1e-9 * self.prior_variance
        return np.asarray(np.maximum(self.prior_variance - (half**2).sum(axis=0), least))


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
    scatter = prior.size**2 * np.kron(first, second)
    shared = scatter * certain
    total = certain[:, None] * shared + np.eye(len(sums))
    scores = shared @ np.linalg.solve(total, sums / noise)
    return Posterior(scores, total, shared, noise, np.diag(scatter))


def likely_priors(
    grid: Grid, sums: FloatArray, curvature: FloatArray, variance: FloatArray
) -> list[tuple[Prior, float]]:
    """Return the most likely prior for each size, and the probability of that size.

    The likelihood is the marginal likelihood of the sums. Before the sums are seen, all sizes up to
    the largest are equally probable, and so are all lengths. If a side has many ordered groups,
    neighboring groups are joined first. The sums of the joined cells add up, and their scores are
    the weighted means of the scores of their cells.

    Parameters
    ----------
    grid, sums, curvature, variance
        As in `posterior`.

    Returns
    -------
    list of (Prior, float)
        Most likely prior first.
    """
    joins = [_join(side) for side in grid.sides]
    cells = np.kron(*joins)
    noise, certain = _units(cells @ curvature, cells @ variance)
    z = cells @ sums / noise
    means = [_mean_of_joined(side, join) for side, join in zip(grid.sides, joins, strict=True)]
    found: dict[float, list[tuple[float, Prior]]] = {size: [] for size in SIZES}
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
            found[size].append((evidence, Prior(size, (along, across))))
    best = [max(each, key=lambda one: one[0]) for each in found.values()]
    # With a uniform prior over the logarithm of the size, most sizes would mean no effect.
    log_weight = np.array([logsumexp([one[0] for one in each]) for each in found.values()])
    log_weight += np.log(SIZES)
    weight = np.exp(log_weight - logsumexp(log_weight))
    order = sorted(range(len(SIZES)), key=lambda k: -best[k][0])
    return [(best[k][1], float(weight[k])) for k in order]


def error_std(
    grid: Grid,
    sums: FloatArray,
    curvature: FloatArray,
    variance: FloatArray,
    priors: Sequence[tuple[Prior, float]],
    scores: FloatArray,
) -> FloatArray:
    """Return the standard deviation of each true score around a given score.

    The size of the scores is treated as unknown: the variances, and the squared distances between
    the posterior means and the given scores, are averaged over all sizes. If noise hides how large
    the scores are, scores near zero therefore have a standard deviation as large as the scores
    could be.

    Parameters
    ----------
    grid, sums, curvature, variance
        As in `posterior`.
    priors : sequence of (Prior, float)
        Result of `likely_priors`.
    scores : ndarray of shape (n_cells,)
        Given scores.

    Returns
    -------
    ndarray of shape (n_cells,)
    """
    total = np.zeros(len(sums))
    kept = [each for each in priors if each[1] > _LEAST_PROBABILITY]
    for prior, weight in kept:
        found = posterior(grid, sums, curvature, variance, prior)
        total += weight * (found.error_variance + (found.scores - scores) ** 2)
    return np.sqrt(total / sum(weight for _, weight in kept))


def _join(side: Side) -> FloatArray:
    """Return the 0/1 matrix of shape (n_joined, n_groups) that joins groups."""
    each = -(-side.n_ordered // _MOST_JOINED) or 1
    n_joined = -(-side.n_ordered // each)
    groups = np.arange(side.n_groups)
    joined = np.where(groups < side.n_ordered, groups // each, n_joined + groups - side.n_ordered)
    return np.eye(joined[-1] + 1)[joined].T


def _mean_of_joined(side: Side, join: FloatArray) -> FloatArray:
    """Return the matrix that computes the weighted mean score of each joined group."""
    weight = join * np.maximum(side.weight, 1e-12)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
