"""How much of its own errors a term repairs, estimated from the released leaf sums.

If features were independent, a term's leaf sums would react to an error d of its curve by the
curvature mass times d. Where features depend on each other, others move the opposite way at
the same time and less comes back; where residuals are clipped, less comes back as well. Both
would make a band too narrow. The reaction shows in the released sums themselves: late in the
fit curves move by little else than noise, and each sum is known together with the curve that
it was asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.curvature import Curvature
from dpexplain.models.boosting.private import PrivateFit

FloatArray = NDArray[np.float64]

USUAL_SHARE = 0.8
"""Share that a term repairs before anything was seen: real features are rarely independent."""

_SPREAD_OF_TABLES = 0.15
_SPREAD_OF_FEATURES = 0.25
_LIMITS = (0.4, 1.0)
"""Estimates outside are not believed: a wrong one would make the band absurd."""

_LATE = 0.5
"""Part of the visits that is left out as the way to the curve rather than noise around it."""


def repaired_shares(fit: PrivateFit, curvature: Curvature) -> FloatArray:
    """Share of the curvature with which each term's leaf sums react to its own errors.

    Parameters
    ----------
    fit : PrivateFit
        With the leaf sums that were released.
    curvature : Curvature
        As independent features would have it.

    Returns
    -------
    ndarray of shape (n_features,)
        Posterior means of a normal prior around `USUAL_SHARE`, whose centre and spread are
        adapted to the features together (empirical Bayes).
    """
    slopes, precisions = _reactions(fit, curvature)
    spread2 = _SPREAD_OF_FEATURES**2
    # The features of one table tend to be alike, so they first move the centre together.
    # They are no independent witnesses, though: together they count as the most precise one.
    weights = 1.0 / (1.0 / np.maximum(precisions, 1e-12) + spread2)
    weights *= weights.max() / max(weights.sum(), 1e-12)
    prior_weight = 1.0 / _SPREAD_OF_TABLES**2
    centre = (weights @ slopes + prior_weight * USUAL_SHARE) / (weights.sum() + prior_weight)
    posterior = (precisions * slopes + centre / spread2) / (precisions + 1.0 / spread2)
    return np.clip(posterior, *_LIMITS)


def _reactions(fit: PrivateFit, curvature: Curvature) -> tuple[FloatArray, FloatArray]:
    """Regress late leaf sums on the errors that they were asked for; slope and precision."""
    n_features = len(curvature.mass)
    masses = curvature.mass
    shares = [m / max(float(m.sum()), 1e-12) for m in masses]
    tables, paths = late_paths(fit, shares, first=_LATE)
    slopes, precisions = np.full(n_features, USUAL_SHARE), np.zeros(n_features)
    for k in range(n_features):
        if not paths[k]:
            continue
        members = np.stack([row for row, _, _, _ in paths[k]]) * masses[k]
        errors = np.stack([table - tables[k] for _, table, _, _ in paths[k]])
        elsewhere = np.array([mean for _, _, mean, _ in paths[k]])
        sums = np.array([value for _, _, _, value in paths[k]])
        final = sum(
            float(s @ t) for j, (s, t) in enumerate(zip(shares, tables, strict=True)) if j != k
        )
        moved = (members * errors).sum(axis=1) + members.sum(axis=1) * (elsewhere - final)
        slopes[k], precisions[k] = _slope(members, moved, sums, float(fit.leaf_noise_std[-1]))
    return slopes, precisions


_Row = tuple[FloatArray, FloatArray, float, float]


def late_paths(
    fit: PrivateFit, shares: list[FloatArray], *, first: float
) -> tuple[list[FloatArray], list[list[_Row]]]:
    """Follow the tables; for each late leaf its bins, table and other means before, its sum.

    Parameters
    ----------
    fit : PrivateFit
    shares : list of ndarray of shape (n_bins,)
        Weights of the bins of each feature in the mean of its table.
    first : float
        Part of the visits that is left out.

    Returns
    -------
    tables : list of ndarray of shape (n_bins,)
        As the fit left them.
    paths : list of list of tuple
        Of each feature, its leaves.
    """
    tables = [np.zeros(len(s)) for s in shares]
    means = np.zeros(len(shares))
    paths: list[list[_Row]] = [[] for _ in shares]
    first_late = first * len(fit.visits)
    for place, (visit, sums) in enumerate(zip(fit.visits, fit.leaf_sums, strict=True)):
        k, n_leaves = visit.feature, len(visit.leaf_weight)
        if place >= first_late and n_leaves > 1:
            elsewhere = float(means.sum() - means[k])
            for leaf in range(n_leaves):
                row = (visit.leaf_of_bin == leaf).astype(np.float64)
                paths[k].append((row, tables[k], elsewhere, float(sums[leaf])))
        update = fit.schedule.learning_rate * sums / visit.leaf_weight
        tables[k] = tables[k] + update[visit.leaf_of_bin]
        means[k] = shares[k] @ tables[k]
    return tables, paths


def _slope(
    members: FloatArray, moved: FloatArray, sums: FloatArray, noise_std: float
) -> tuple[float, float]:
    """Slope of minus `sums` on `moved`, with an unknown leftover residual in every bin.

    Parameters
    ----------
    members : ndarray of shape (n_leaves, n_bins)
        Curvature mass of each bin in each leaf.
    moved : ndarray of shape (n_leaves,)
        Reaction that independent features would show.
    sums : ndarray of shape (n_leaves,)
        Released leaf sums.
    noise_std : float
        Standard deviation of their noise.

    Returns
    -------
    slope, precision : float
    """
    # A leftover as large as the noise of one leaf sum over a typical bin.
    mass = np.maximum(members.max(axis=0), 1e-12)
    leftover2 = (noise_std / mass) ** 2
    inner = np.linalg.inv(np.diag(1.0 / leftover2) + members.T @ members / noise_std**2)

    def product(u: FloatArray, v: FloatArray) -> float:
        # Woodbury: the leftover enters the covariance of the sums with low rank.
        left, right = members.T @ u, members.T @ v
        return float(u @ v / noise_std**2 - left @ inner @ right / noise_std**4)

    precision = product(moved, moved)
    if not precision > 0:
        return USUAL_SHARE, 0.0
    return -product(moved, sums) / precision, precision
