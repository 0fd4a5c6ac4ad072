"""Posterior of the scores in a grid, averaged over priors.

The size and smoothness of a pair's scores are unknown, but the released sums show how likely each
prior is. More noise leads to more smoothing across cells, and the scores of a pair
without an effect shrink to zero. The most likely prior alone is not enough: among many priors, some
fit the noise well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import logsumexp

from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.pair_terms.priors import (
    SIZES,
    LikelyPrior,
    Prior,
    covariance,
    in_units,
)

FloatArray = NDArray[np.float64]

_LEAST_PROBABILITY = 0.01
"""Priors that are less probable than this are ignored in `error_std` and `response_to_counts`."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior of the scores in a grid, for one prior.

    Attributes
    ----------
    scores : ndarray of shape (n_cells,)
        Posterior mean.
    unexplained : ndarray of shape (n_cells,)
        Part of the sums that the scores do not explain, times the inverse covariance of the errors.
    half : ndarray of shape (n_cells, n_cells)
        Lower Cholesky factor of the covariance of the sums, in units of their errors.
    shared : ndarray of shape (n_cells, n_cells)
        Covariance of the scores (rows) with the sums in these units (columns).
    unit : ndarray of shape (n_cells,)
        Standard deviation of the error in each sum.
    prior_variance : ndarray of shape (n_cells,)
        Variance of each score before the sums were seen.
    """

    scores: FloatArray
    unexplained: FloatArray
    half: FloatArray
    shared: FloatArray
    unit: FloatArray
    prior_variance: FloatArray

    @cached_property
    def response(self) -> FloatArray:
        """Change in each score (row) per unit change in each sum (column)."""
        found: FloatArray = cho_solve((self.half, True), self.shared.T).T / self.unit
        return found

    def response_to_counts(self, curvature: FloatArray, sampling: FloatArray) -> FloatArray:
        """Return the change in each score per relative change in each count.

        The curvature of a cell and the sampling variance of its sum grow in proportion to its
        count. The sums themselves, which contain the exact number of records, do not change. Of
        what the scores leave unexplained, only the share that is not noise counts: the variance
        from noise in counts and sums together is already part of the response to the sums.

        Parameters
        ----------
        curvature : ndarray of shape (n_cells,)
        sampling : ndarray of shape (n_cells,)
            Variance of each sum due to sampling.

        Returns
        -------
        ndarray of shape (n_cells, n_cells)
            One row per score, and one column per count.
        """
        scatter = self.shared * self.unit  # covariance of the scores, times the curvature
        left = scatter - self.response @ (curvature[:, None] * scatter)
        share = sampling / self.unit**2
        known = np.sqrt(share) * self.unexplained
        expected = curvature * self.scores + sampling * known
        return np.asarray(left * known - self.response * expected)

    @property
    def error_variance(self) -> FloatArray:
        """Variance of each true score around its posterior mean.

        This variance includes the errors in the sums and what the prior smooths away.
        """
        known = solve_triangular(self.half, self.shared.T, lower=True)
        # Rounding must not make a variance zero or negative.
        least = 1e-9 * self.prior_variance
        return np.asarray(np.maximum(self.prior_variance - (known**2).sum(axis=0), least))


def posterior(
    grid: Grid, sums: FloatArray, curvature: FloatArray, errors: FloatArray, prior: Prior
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
    errors : ndarray of shape (n_cells, n_cells)
        Positive definite covariance of the sums' errors.
    prior : Prior

    Returns
    -------
    Posterior
    """
    unit, certain = in_units(curvature, errors)
    first, second = (covariance(s, x) for s, x in zip(grid.sides, prior.lengths, strict=True))
    scatter = prior.size**2 * np.kron(first, second)
    shared = scatter * certain
    total = certain[:, None] * shared + errors / np.outer(unit, unit)
    half = np.asarray(np.linalg.cholesky(total), dtype=np.float64)
    solved = cho_solve((half, True), sums / unit)
    return Posterior(shared @ solved, solved / unit, half, shared, unit, np.diag(scatter))


@dataclass(frozen=True, eq=False)
class Averaged:
    """Posterior means of the scores for the most likely priors, and their weights.

    Attributes
    ----------
    scores : ndarray of shape (n_cells,)
        Weighted mean of the posterior means.
    means : ndarray of shape (n_priors, n_cells)
        Posterior mean for each prior.
    weight : ndarray of shape (n_priors,)
        Probability of each prior.
    slopes : ndarray of shape (n_priors, n_cells)
        Derivative of each prior's log probability with respect to each sum.
    posteriors : callable
        Iterates over the posteriors, which are large, and computed one at a time.
    """

    scores: FloatArray
    means: FloatArray
    weight: FloatArray
    slopes: FloatArray
    posteriors: Callable[[], Iterator[Posterior]]

    def responses(
        self, curvature: FloatArray, sampling: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return how the scores respond to the sums, and to the counts.

        A change in a sum changes the posterior means, and also the probabilities of the priors. For
        counts, these probabilities are taken as given; see `Posterior.response_to_counts`.

        Parameters
        ----------
        curvature : ndarray of shape (n_cells,)
        sampling : ndarray of shape (n_cells,)
            Variance of each sum due to sampling.

        Returns
        -------
        of_sums : ndarray of shape (n_cells, n_cells)
            Change in each score (row) per unit change in each sum (column).
        of_counts : ndarray of shape (n_cells, n_cells)
            Change in each score per relative change in each count.
        """
        moved = self.weight[:, None] * (self.slopes - self.weight @ self.slopes)
        of_sums = self.means.T @ moved
        of_counts = np.zeros_like(of_sums)
        for weight, each in zip(self.weight, self.posteriors(), strict=True):
            of_sums += weight * each.response
            if weight > _LEAST_PROBABILITY:
                of_counts += weight * each.response_to_counts(curvature, sampling)
        return of_sums, of_counts


def averaged(
    grid: Grid,
    sums: FloatArray,
    curvature: FloatArray,
    errors: FloatArray,
    priors: Sequence[LikelyPrior],
    *,
    most: int,
) -> Averaged:
    """Average the posterior means of the most likely priors.

    Before the sums are seen, all priors are equally probable.

    Parameters
    ----------
    grid, sums, curvature, errors
        As in `posterior`.
    priors : sequence of LikelyPrior
        Result of `likely_priors`.
    most : int
        Number of priors.

    Returns
    -------
    Averaged
    """
    kept = priors[:most]
    log_weight = np.array([each.log_likelihood for each in kept])
    weight = np.exp(log_weight - logsumexp(log_weight))

    def posteriors() -> Iterator[Posterior]:
        return (posterior(grid, sums, curvature, errors, each.prior) for each in kept)

    means = np.array([each.scores for each in posteriors()])
    slopes = np.array([each.slope for each in kept])
    return Averaged(weight @ means, means, weight, slopes, posteriors)


def error_std(
    grid: Grid,
    sums: FloatArray,
    curvature: FloatArray,
    errors: FloatArray,
    priors: Sequence[LikelyPrior],
    scores: FloatArray,
) -> FloatArray:
    """Return the standard deviation of each true score around a given score.

    The size of the scores is treated as unknown: the variances, and the squared distances between
    the posterior means and the given scores, are averaged over all sizes, each with its most likely
    lengths. Before the sums are seen, all sizes up to the largest are equally probable: with a
    uniform prior over the logarithm of the size, most sizes would mean no effect. If noise hides
    how large the scores are, scores near zero therefore have a standard deviation as large as the
    scores could be.

    Parameters
    ----------
    grid, sums, curvature, errors
        As in `posterior`.
    priors : sequence of LikelyPrior
        Result of `likely_priors`.
    scores : ndarray of shape (n_cells,)
        Given scores.

    Returns
    -------
    ndarray of shape (n_cells,)
    """
    log_weight = np.array([p.log_likelihood + np.log(p.prior.size) for p in priors])
    of_prior = np.exp(log_weight - logsumexp(log_weight))
    total, known = np.zeros(len(sums)), 0.0
    for size in SIZES:
        own = [k for k, p in enumerate(priors) if p.prior.size == size]
        weight = float(of_prior[own].sum())
        if weight > _LEAST_PROBABILITY:
            found = posterior(grid, sums, curvature, errors, priors[own[0]].prior)
            total += weight * (found.error_variance + (found.scores - scores) ** 2)
            known += weight
    return np.sqrt(total / known)
