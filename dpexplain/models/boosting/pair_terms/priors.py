"""Priors of the scores in a grid, and how likely the released sums make them.

A prior has two kinds of hyperparameters: the standard deviation of the scores of a pair, and the
correlation length along each side of the grid. The noise of the sums is known, so their marginal
likelihood can be computed for every prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_terms.grids import Grid, Side

FloatArray = NDArray[np.float64]

SIZES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Candidate prior standard deviations of the scores, in score units of the loop."""

LENGTHS = (0.05, 0.3, 1.0, 3.0)
"""Candidate distances over which scores are similar, as a share of the range of a feature."""

_MOST_JOINED = 8
"""Maximum number of ordered groups of one side for which likelihoods are computed. Neighboring
groups are joined to save time: a grid of 8 by 8 cells shows how large and how smooth the scores
are, and comparing all priors on a grid of 24 by 24 cells would take 700 times as long."""

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
class LikelyPrior:
    """A prior, and how likely it makes the sums.

    Attributes
    ----------
    prior : Prior
    log_likelihood : float
        Log marginal likelihood of the sums, up to a constant.
    slope : ndarray of shape (n_cells,)
        Derivative of `log_likelihood` with respect to each sum.
    """

    prior: Prior
    log_likelihood: float
    slope: FloatArray


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


def in_units(curvature: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviation and the signal-to-noise ratio of each sum.

    The ratio is the change in the sum per unit of score, divided by the standard deviation. In
    units of their standard deviations, the sums are ``z = D theta + e``, where D contains the
    ratios, theta the scores, and e the errors. If K is the prior covariance of theta, the
    covariance of z is ``D K D`` plus the correlations of the errors.
    """
    unit = np.sqrt(np.diag(errors))
    return unit, np.minimum(curvature / unit, _MOST_CERTAIN)


def likely_priors(
    grid: Grid, sums: FloatArray, curvature: FloatArray, errors: FloatArray
) -> list[LikelyPrior]:
    """Return all priors, and the marginal likelihood of the sums for each.

    If a side has many ordered groups, neighboring groups are joined first. The sums of the joined
    cells add up, and their scores are the weighted means of the scores of their cells.

    Parameters
    ----------
    grid, sums, curvature, errors
        As in `dpexplain.models.boosting.pair_terms.posterior.posterior`.

    Returns
    -------
    list of LikelyPrior
        Most likely prior first.
    """
    joins = [join(side, _MOST_JOINED) for side in grid.sides]
    cells = np.kron(*joins)
    errors = cells @ errors @ cells.T
    unit, certain = in_units(cells @ curvature, errors)
    # After multiplication by this matrix, the errors of the sums are uncorrelated.
    whiten = np.linalg.inv(np.linalg.cholesky(errors / np.outer(unit, unit)))
    design, whiten = whiten * certain, whiten / unit
    z = whiten @ (cells @ sums)
    means = [_mean_of_joined(side, each) for side, each in zip(grid.sides, joins, strict=True)]
    found = []
    tried = (LENGTHS if side.n_ordered > 1 else LENGTHS[:1] for side in grid.sides)
    for along, across in product(*tried):
        first, second = (
            mean @ covariance(side, length) @ mean.T
            for side, mean, length in zip(grid.sides, means, (along, across), strict=True)
        )
        # The eigenvalues give the likelihood for every size at once.
        values, vectors = np.linalg.eigh(design @ np.kron(first, second) @ design.T)
        turned = vectors.T @ z
        for size in SIZES:
            spread = 1.0 + size**2 * np.maximum(values, 0.0)
            likelihood = -0.5 * float((turned**2 / spread + np.log(spread)).sum())
            slope = -((vectors @ (turned / spread)) @ whiten) @ cells
            found.append(LikelyPrior(Prior(size, (along, across)), likelihood, slope))
    return sorted(found, key=lambda each: -each.log_likelihood)


def join(side: Side, most: int) -> FloatArray:
    """Return the 0/1 matrix of shape (n_joined, n_groups) that joins ordered groups.

    Parameters
    ----------
    side : Side
    most : int
        Maximum number of joined ordered groups; groups without an order are not joined.

    Returns
    -------
    ndarray of shape (n_joined, n_groups)
    """
    each = -(-side.n_ordered // most) or 1
    n_joined = -(-side.n_ordered // each)
    groups = np.arange(side.n_groups)
    joined = np.where(groups < side.n_ordered, groups // each, n_joined + groups - side.n_ordered)
    return np.eye(joined[-1] + 1)[joined].T


def _mean_of_joined(side: Side, join: FloatArray) -> FloatArray:
    """Return the matrix that computes the weighted mean score of each joined group."""
    weight = join * np.maximum(side.weight, 1e-12)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
