"""Posterior of all parameters given all sums, and a test of its assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from dpexplain.models.boosting.uncertainty.normal import mean_and_variances

FloatArray = NDArray[np.float64]

_ROUNDS = 8
_PSEUDO = 1.0
"""Weight of the typical size when the scale of a term is estimated, as a number of additional
coefficients."""

_INTERCEPT_PRECISION = 1e-4
_LEVEL = 0.05
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Information:
    """What the sums reveal about the coefficients and the chosen correlations.

    Attributes
    ----------
    precision : ndarray of shape (n, n)
    pull : ndarray of shape (n,)
        Precision times the estimate that uses only the sums.
    """

    precision: FloatArray
    pull: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """Normal posterior distribution of all coefficients and correlations.

    Attributes
    ----------
    mean : ndarray of shape (n,)
    covariance : ndarray of shape (n, n)
    scales : ndarray of shape (n_terms,)
        Estimated prior standard deviation of each term's curve.
    shrinkage : ndarray of shape (n,)
        Shrinkage that the prior would cause if the posterior mean were the truth.
    """

    mean: FloatArray
    covariance: FloatArray
    scales: FloatArray
    shrinkage: FloatArray


@dataclass(frozen=True, eq=False)
class CurvedDependence:
    """What the sums reveal about curved dependence, one row per pair.

    Attributes
    ----------
    chance : ndarray of shape (n_pairs, n_directions)
        Probability of sums that show this much dependence by chance, corrected for the number of
        tests.
    strength : ndarray of shape (n_pairs, n_directions)
        Estimated square of the correlation along the direction.
    least : ndarray of shape (n_pairs, n_directions)
        Lower bound of this square. All bounds together hold with 95% confidence.
    moves : ndarray of shape (n_parameters, n_pairs, n_directions)
        Change of each parameter if the dependence were as strong as estimated, up to its sign. Like
        the parameters of `Information`, without those of curved dependence.
    """

    chance: FloatArray
    strength: FloatArray
    least: FloatArray
    moves: FloatArray


def information(precision: FloatArray, pull: FloatArray, fisher: FloatArray) -> Information:
    """Convert information about the records into information about the population.

    Parameters
    ----------
    precision : ndarray of shape (n, n)
        Information that the sums contain about coefficients and correlations.
    pull : ndarray of shape (n,) or (n, n_pulls)
        Precision times the estimate that uses only the sums.
    fisher : ndarray of shape (n_coefficients, n_coefficients)
        Fisher information in the records, before noise is added. Its inverse is the covariance of
        the difference between the best coefficients for the records and those for the population.

    Returns
    -------
    Information
    """
    d = len(fisher)
    jitter = 1e-9 * (np.trace(precision[:d, :d]) + np.trace(fisher)) / d + 1e-12
    inner = np.linalg.inv(precision[:d, :d] + fisher + jitter * np.eye(d))
    through = precision[:, :d] @ inner
    return Information(precision - through @ precision[:d], pull - through @ pull[:d])


def posterior(
    known: Information,
    sizes: Sequence[int],
    correlation: FloatArray,
    correlation_std: FloatArray,
    scales: FloatArray,
    usual: float,
    wider: FloatArray,
    n_intercepts: int = 1,
) -> Posterior:
    """Combine the sums with smoothness priors, estimating one scale per term.

    The scales are estimated by expectation maximization [1]_.

    Parameters
    ----------
    known : Information
        Information about the intercepts, the coefficients of all terms and the chosen
        correlations.
    sizes : sequence of int
        Number of coefficients of each term.
    correlation, correlation_std : ndarray of shape (n_chosen,)
        Prior mean and standard deviation of the correlations.
    scales : ndarray of shape (n_terms,)
        Initial prior standard deviation of each term's curve.
    usual : float
        Typical size of a curve.
    wider : ndarray of shape (n_terms,)
        Factor by which the estimated scale of each term is multiplied for the final posterior.
    n_intercepts : int, default=1
        Number of intercepts, whose prior is nearly flat.

    Returns
    -------
    Posterior

    References
    ----------
    .. [1] Tipping, "Sparse Bayesian Learning and the Relevance Vector Machine", Journal of
       Machine Learning Research 1 (2001), equations 12, 13 and 16, applied to groups.
    """
    first = n_intercepts + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    before = np.zeros(len(known.pull))
    precision = np.full(len(before), _INTERCEPT_PRECISION)
    precision[first[-1] :] = 1.0 / correlation_std**2
    before[first[-1] :] = correlation / correlation_std**2
    owner = np.repeat(np.arange(len(sizes)), sizes)
    own, rest = slice(first[-1]), slice(first[-1], None)
    # Correlations have a fixed prior, so they are integrated out once, not in every round.
    through = known.precision[own, rest] @ np.linalg.inv(
        known.precision[rest, rest] + np.diag(precision[rest])
    )
    reduced = known.precision[own, own] - through @ known.precision[rest, own]
    pull = known.pull[own] - through @ (known.pull + before)[rest]
    for _ in range(_ROUNDS):
        precision[n_intercepts : first[-1]] = 1.0 / scales[owner] ** 2
        mean, variances = mean_and_variances(reduced + np.diag(precision[own]), pull)
        squares = (mean**2 + variances)[n_intercepts:]
        found = np.bincount(owner, squares, minlength=len(sizes)) + _PSEUDO * usual**2
        scales = np.sqrt(found / (np.asarray(sizes) + _PSEUDO))
    precision[n_intercepts : first[-1]] = 1.0 / (wider * scales)[owner] ** 2
    covariance = np.linalg.inv(known.precision + np.diag(precision))
    mean = covariance @ (known.pull + before)
    shrinkage = covariance @ (precision * mean - before)
    return Posterior(mean, (covariance + covariance.T) / 2.0, scales, shrinkage)


def covariance_of_shrinkage(
    off: FloatArray, owner: NDArray[np.intp], correlation: FloatArray
) -> FloatArray:
    """Return the covariance of errors that are as large as the shrinkage.

    Within a term, the errors of all coefficients have the same sign relative to the shrinkage. The
    correlation between the errors of two terms is the squared correlation of their features: if
    features are independent, nothing is known about how their errors are related.

    Parameters
    ----------
    off : ndarray of shape (n_coefficients,)
        Shrinkage of each coefficient.
    owner : ndarray of shape (n_coefficients,)
        1 plus the index of each coefficient's term; 0 for intercepts.
    correlation : ndarray of shape (n_features, n_features)
        Correlation matrix of the features.

    Returns
    -------
    ndarray of shape (n_coefficients, n_coefficients)
    """
    alike = np.eye(1 + len(correlation))
    alike[1:, 1:] = correlation**2
    return np.asarray(np.outer(off, off) * alike[np.ix_(owner, owner)])


def curved_dependence(
    known: Information, after: Posterior, turn: FloatArray, n_directions: int
) -> CurvedDependence:
    """Test for curved dependence, and estimate how strong it is.

    For each direction of curved dependence, a score test compares the released sums with the
    expected ones.

    Parameters
    ----------
    known : Information
        Information about all parameters, of which the last ones describe curved dependence.
    after : Posterior
        Posterior of the parameters of the estimate if there is no such dependence.
    turn : ndarray of shape (n_parameters, n_estimated)
        Parameters in `known` (without the last ones) per parameter of `after`.
    n_directions : int
        Number of directions per pair of features.

    Returns
    -------
    CurvedDependence
    """
    n_more = len(known.pull) - len(turn)
    own = slice(len(turn), None)
    seen = known.precision[own, : len(turn)] @ turn
    score = known.pull[own] - seen @ after.mean
    variance = np.diag(known.precision)[own] - np.einsum(
        "ij,jk,ik->i", seen, after.covariance, seen
    )
    there = variance > _LEAST_VARIANCE
    variance = np.where(there, variance, 1.0)
    size = np.where(there, np.abs(score) / np.sqrt(variance), 0.0)
    surely = np.maximum(size + ndtri(_LEVEL / max(n_more, 1)), 0.0)
    moves = turn @ (after.covariance @ seen.T) * np.minimum(size / np.sqrt(variance), 1.0)
    by_pair = (-1, n_directions)
    return CurvedDependence(
        chance=np.minimum(1.0, n_more * chdtrc(1, size**2)).reshape(by_pair),
        strength=np.clip((size**2 - 1.0) / variance, 0.0, 1.0).reshape(by_pair),
        least=np.minimum(surely**2 / variance, 1.0).reshape(by_pair),
        moves=moves.reshape(len(turn), *by_pair),
    )
