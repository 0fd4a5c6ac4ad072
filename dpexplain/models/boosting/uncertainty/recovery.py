"""Posterior-mean curves from all released leaf sums.

A private fit changes its curves in small steps and stops early, so a curve contains the noise of
the last steps and is shrunk. The released sums contain more information: each one, adjusted for all
later changes to the scores, measures the residual that is left in its leaf at the end, with
independent noise of known size. Here, the curve is modeled as a smooth function and estimated by
its posterior mean given all sums. This uses only released numbers, so it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.spline_covariance import bend_covariance
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.uncertainty.curvature import Curvature
from dpexplain.models.boosting.uncertainty.shrinkage import Evidence

FloatArray = NDArray[np.float64]

_LEVEL = 10.0
_SLOPE = 3.0
_BENDS = np.geomspace(0.5, 50.0, 5)
"""Prior standard deviations of the level, slope and bend of a curve, relative to the standard
deviation of the released curve."""

_LEAST_SHARE = 1e-4
_JITTER = 1e-7


def recovered_curves(
    seen: Sequence[Evidence],
    curvature: Curvature,
    terms: AdditiveTerms,
    *,
    sum_std: float,
    scale: float,
    of_score: int,
) -> tuple[FloatArray | None, ...]:
    """Estimate the curve of each ordered term from released sums.

    Parameters
    ----------
    seen : sequence of Evidence
        Released sums of each feature.
    curvature : Curvature
        Curvature for one score, summed over the records that the sums include.
    terms : AdditiveTerms
        Released curves of that score.
    sum_std : float
        Standard deviation of the noise in a sum, in internal units of the boosting loop.
    scale : float
        Factor that converts the internal units of the boosting loop to score units.
    of_score : int
        Index of the score.

    Returns
    -------
    tuple, one per term, of ndarray of shape (n_bins,) or None
        Curves in score units, centered over the records in value bins; special bins keep their
        released scores. The element for a term is None if its categories are unordered.
    """
    curves: list[FloatArray | None] = []
    for k, (bins, mine) in enumerate(zip(terms.bins, seen, strict=True)):
        released, n_records = terms.scores[k], np.maximum(terms.counts[k], 0.0)
        n = bins.n_value_bins
        if bins.edges is None and not bins.ordered:
            curves.append(None)
            continue
        shares = np.maximum(n_records / max(float(n_records.sum()), 1e-300), _LEAST_SHARE)
        size = float(np.sqrt(shares @ released**2)) / scale
        curve = released.copy()
        if n > 2 and size > 0.0 and len(mine.bins):
            final = mine.curve[:, of_score] - mine.curve.mean(axis=1) * (mine.curve.shape[1] > 1)
            precision, pull = _information(
                mine.bins / sum_std,
                mine.left[:, of_score] / sum_std,
                curvature.mass[k],
                np.maximum(curvature.variance[k], 0.0) / scale**2,
                final,
            )
            priors = _priors(_axes(bins.edges, shares[:n]), len(shares), size)
            found = scale * _posterior_mean(priors, precision, pull)[:n]
            curve[:n] = found - float(shares[:n] @ found) / float(shares[:n].sum())
        curves.append(curve)
    return tuple(curves)


def _information(
    bins: FloatArray, left: FloatArray, mass: FloatArray, variance: FloatArray, final: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the precision of the curve given the sums, and precision times mean.

    Sums measure ``mass * (curve - final) + scatter``. All of them come from the same sample of
    records, whose residual sums have the variance `variance` in each bin.
    """
    together = bins.T @ bins
    spread = np.eye(len(mass)) + together * variance
    precision = mass[:, None] * np.linalg.solve(spread, together) * mass
    pull = mass * np.linalg.solve(spread, bins.T @ left) + precision @ final
    return (precision + precision.T) / 2.0, pull


def _axes(edges: FloatArray | None, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two axes, from 0 to 1, along which curves are assumed to be smooth.

    The first axis is based on values. The second is halfway between values and ranks, which
    shortens the long tails of skewed features. Bins at the ends are placed at the mean of an
    exponential tail that continues the density of the adjacent bin.
    """
    n = len(shares)
    if edges is None:
        values = np.arange(n, dtype=np.float64)
    else:
        values, width = (edges[1:] + edges[:-1]) / 2.0, np.diff(edges)
        for end, near, inner, sign in ((0, 1, edges[1], -1.0), (n - 1, n - 2, edges[-2], 1.0)):
            away = width[near] * shares[end] / shares[near]
            values[end] = inner + sign * min(width[end] / 2.0, away)
    ranks = np.cumsum(shares) - shares / 2.0
    between = np.concatenate([[0.0], np.cumsum(np.sqrt(np.diff(values) * np.diff(ranks)))])
    return _from_0_to_1(values), _from_0_to_1(between)


def _from_0_to_1(x: FloatArray) -> FloatArray:
    return np.asarray((x - x[0]) / (x[-1] - x[0]), dtype=np.float64)


def _priors(axes: Sequence[FloatArray], n_bins: int, size: float) -> list[FloatArray]:
    """Return square roots of the prior covariances; special bins are unconstrained."""
    roots = []
    for x in axes:
        n = len(x)
        flat = _LEVEL**2 + _SLOPE**2 * np.multiply.outer(x - 0.5, x - 0.5)
        bend = bend_covariance(x)
        for share in _BENDS:
            covariance = (_LEVEL**2 + _JITTER) * np.eye(n_bins)
            covariance[:n, :n] = flat + share**2 * bend + _JITTER * np.eye(n)
            roots.append(np.asarray(size * np.linalg.cholesky(covariance), dtype=np.float64))
    return roots


def _posterior_mean(
    roots: Sequence[FloatArray], precision: FloatArray, pull: FloatArray
) -> FloatArray:
    """Average the posterior means under all priors, weighted by marginal likelihood.

    References
    ----------
    .. [1] Rasmussen, Williams, "Gaussian Processes for Machine Learning", MIT Press 2006,
       equations 2.11 and 2.43.
    """
    likelihoods, means = [], []
    for root in roots:
        inner = np.linalg.cholesky(np.eye(len(root)) + root.T @ precision @ root)
        white = np.linalg.solve(inner, root.T @ pull)
        likelihoods.append(0.5 * float(white @ white) - float(np.log(np.diag(inner)).sum()))
        means.append(root @ np.linalg.solve(inner.T, white))
    chance = np.exp(np.array(likelihoods) - max(likelihoods))
    return np.asarray((chance / chance.sum()) @ np.array(means))
