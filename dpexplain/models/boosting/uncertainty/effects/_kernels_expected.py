"""Expected values of released sums in a simulated population."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit

LOGISTIC, NORMAL = 0, 1


# The normal distribution function is tabulated between -9 and 9 standard deviations; outside, it is
# 0 or 1 in double precision. Cubic interpolation between these points has an error below 3e-10.
_PER_UNIT = 64
_END = 9.0


@cache
def _normal_table() -> NDArray[np.float64]:
    """Return a table of three functions on a regular grid, for interpolation.

    Each row is for one point t. The columns are the mean of max(t + Z, 0), the probability
    P(Z < t), and the density of Z at t, where Z is a standard normal variable.
    """
    points = np.arange(-int(_END) * _PER_UNIT, int(_END) * _PER_UNIT + 2) / _PER_UNIT
    below = np.array([0.5 * math.erfc(-t / math.sqrt(2.0)) for t in points])
    density = np.exp(-0.5 * points**2) / math.sqrt(2.0 * math.pi)
    return np.stack([points * below + density, below, density], axis=1)


@njit(inline="always", error_model="numpy")
def _above_zero(t, table):  # type: ignore[no-untyped-def]
    """Return E[max(t + Z, 0)] and P(t + Z > 0) for a standard normal variable Z."""
    if t <= -_END:
        return 0.0, 0.0
    if t >= _END:
        return t, 1.0
    place = (t + _END) * _PER_UNIT
    i = int(place)
    x = place - i
    y, step = 1.0 - x, 1.0 / _PER_UNIT
    # Cubic Hermite interpolation: both functions and their derivatives are tabulated.
    first, last = (1.0 + 2.0 * x) * y * y, (3.0 - 2.0 * x) * x * x
    up, down = x * y * y * step, x * x * y * step
    mean = first * table[i, 0] + last * table[i + 1, 0] + up * table[i, 1] - down * table[i + 1, 1]
    chance = (
        first * table[i, 1] + last * table[i + 1, 1] + up * table[i, 2] - down * table[i + 1, 2]
    )
    return mean, chance


def expected_sums(  # type: ignore[no-untyped-def]
    bins, start, truth, each, spread, kind, first_score, visit_feature, leaf_of_bin, bin_start,
    updates, leaf_start, clips, anchor, left, shares, together, sums, reach, weights,
) -> None:  # fmt: skip
    """Compute the expected leaf sums of a fit, and how residuals react.

    Parameters
    ----------
    bins : ndarray of shape (n_records, n_features), dtype int64
        Bin of each point in each feature.
    start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first bin of each feature among all bins.
    truth : ndarray of shape (n_records,)
        True score of each point.
    each : float
        Number of records that each point represents.
    spread : float
        Standard deviation of a residual around the truth (regression).
    kind : int
        `LOGISTIC` or `NORMAL`.
    first_score : float
        Initial score, which is the same for all points.
    visit_feature : ndarray of shape (n_visits,), dtype int64
        Feature of each visit.
    leaf_of_bin : ndarray of dtype int64
        Leaf of each bin, visit by visit.
    bin_start : ndarray of shape (n_visits,), dtype int64
        Index in `leaf_of_bin` and `updates` at which each visit starts.
    updates : ndarray
        Change in the score at each visit, bin by bin.
    leaf_start : ndarray of shape (n_visits + 1,), dtype int64
        Index of the first leaf of each visit among all leaves.
    clips : ndarray of shape (n_visits,)
        Bound on a residual at each visit.
    anchor : ndarray of shape (n_visits,), dtype int64
        Row of `weights` that each visit fills, or a negative number if it fills none.
    left : ndarray of shape (n_bins_total,)
        Part of each true curve that the fit has not yet learned, bin by bin; updated in place.
    shares : ndarray of shape (n_bins_total,)
        Proportion of the records in each bin; adds up to 1 within a feature.
    together : ndarray of shape (n_features, n_features)
        Squared correlation of each pair; zero on the diagonal.
    sums : ndarray of shape (n_leaves,)
        Filled with the expected leaf sums.
    reach : ndarray of shape (n_leaves,)
        Filled with the derivatives of the expected residuals with respect to the true scores,
        summed over the records in each leaf. Each sum is multiplied by the standard deviation of
        the part of the other curves that is still missing and correlated with the visited feature.
    weights : ndarray of shape (2, n_features, n_records, n_anchors)
        Filled with the derivative of each point's expected residual with respect to its true score
        and with the expected residual, at visits with an anchor.
    """
    _add_up(
        np.ascontiguousarray(bins.T), start, truth, each, spread, kind, first_score, visit_feature,
        leaf_of_bin, bin_start, updates, leaf_start, clips, anchor, sums, reach, weights,
    )  # fmt: skip
    scale_reach(reach, left, shares, together, start, visit_feature, bin_start, updates, leaf_start)


def per_bin(
    k: int,
    cells: NDArray[np.int64],
    functions: Sequence[NDArray[np.float64]],
    reactions: NDArray[np.float64],
    residuals: NDArray[np.float64],
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum weighted derivatives over the points in each bin of a feature.

    Parameters
    ----------
    k : int
        Index of the feature.
    cells : ndarray of shape (n_records, n_features), dtype int64
        Bin of each point in each feature, numbered across features.
    functions : sequence of ndarray of shape (n_bins, n_functions), one per feature
        Derivatives of true scores, which depend on one feature each.
    reactions, residuals : ndarray of shape (n_records, n_anchors)
        Weights of each point at each visit with derivatives.
    values : ndarray of shape (n_records, n_values)
        Other derivatives of each point.

    Returns
    -------
    of_functions : ndarray of shape (n_anchors, n_bins, n_functions_total)
        Sums of reactions times functions.
    of_values : ndarray of shape (n_anchors, n_bins, n_values)
        Sums of residuals times values.
    """
    ends = np.cumsum([len(own) for own in functions])
    first, n_bins, n_anchors = ends[k] - len(functions[k]), len(functions[k]), reactions.shape[1]
    of_cells = np.zeros((ends[-1], n_bins, n_anchors))
    of_values = np.zeros((n_bins, n_anchors, values.shape[1]))
    _add_per_bin(cells[:, k] - first, cells, reactions, residuals, values, of_cells, of_values)
    parts = [
        own.T @ of_cells[end - len(own) : end].reshape(len(own), -1)
        for own, end in zip(functions, ends, strict=True)
    ]
    of_functions = np.concatenate(parts).reshape(-1, n_bins, n_anchors)
    return of_functions.transpose(2, 1, 0), of_values.transpose(1, 0, 2)


def scale_reach(  # type: ignore[no-untyped-def]
    reach, left, shares, together, start, visit_feature, bin_start, updates, leaf_start
) -> None:
    """Multiply `reach` by the standard deviation of what the curves still lack.

    The parameters are those of `expected_sums`; `reach` contains the summed derivatives of the
    expected residuals and is changed in place. What the other curves lack at a visit is the part of
    them that is still missing and correlated with the visited feature.
    """
    lack = np.empty((len(visit_feature), len(together)))
    for k in range(len(together)):
        own = slice(start[k], start[k + 1])
        visits = np.flatnonzero(visit_feature == k)
        changes = updates[bin_start[visits][:, None] + np.arange(start[k + 1] - start[k])]
        path = np.subtract.accumulate(np.concatenate([left[None, own], changes]))
        left[own] = path[-1]
        done = np.searchsorted(visits, np.arange(len(visit_feature)))
        lack[:, k] = _variance(path, shares[own])[done]
    of_others = np.cumsum(together[visit_feature] * lack, axis=1)[:, -1]
    reach *= np.repeat(np.sqrt(of_others), np.diff(leaf_start))


def _variance(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted variance of each row of values; weights add up to 1."""
    mean = np.cumsum(weights * values, axis=1)[:, -1]
    square = np.cumsum(weights * values * values, axis=1)[:, -1]
    return np.maximum(square - mean * mean, 0.0)


def _add_up(  # type: ignore[no-untyped-def]
    bins, start, truth, each, spread, kind, first_score, visit_feature, leaf_of_bin, bin_start,
    updates, leaf_start, clips, anchor, sums, reach, weights,
) -> None:  # fmt: skip
    """Loop over all visits on behalf of `expected_sums`.

    Here, `bins` has one row per feature. For two classes, the state of a point is its odds instead
    of its score; for a numeric target, it is the true score minus the current score, in units of
    the spread. The kernels therefore compute no exponentials.
    """
    leaf = leaf_of_bin + np.repeat(leaf_start[:-1], np.diff(start)[visit_feature])
    out = visit_feature, leaf, bin_start, clips, anchor, sums, reach, weights
    if kind == LOGISTIC:
        chance, odds = 1.0 / (1.0 + np.exp(-truth)), np.full(len(truth), math.exp(first_score))
        _add_up_chances(bins, chance, odds, np.exp(updates), each, *out)
    else:
        apart = (truth - first_score) / spread
        _add_up_normal(bins, apart, spread, _normal_table(), updates / spread, each, *out)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_up_chances(  # type: ignore[no-untyped-def]
    bins, chance, odds, factors, each, visit_feature, leaf, bin_start, clips, anchor, sums, reach,
    weights,
):  # fmt: skip
    """Sum the expected residuals of two classes, and their reactions, per leaf.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_records), dtype int64
    chance, odds : ndarray of shape (n_records,)
        True probability of each point, and odds that the fit gives it; `odds` is changed in place.
    factors : ndarray
        Exponential of the updates, visit by visit.
    leaf : ndarray of dtype int64
        Index of each bin's leaf among all leaves, visit by visit.

    The other parameters are those of `expected_sums`.
    """
    for v in range(visit_feature.shape[0]):
        k, clip, first, a = visit_feature[v], clips[v], bin_start[v], anchor[v]
        for m in range(odds.shape[0]):
            q, up = chance[m], 1.0 / (1.0 + odds[m])
            down = 1.0 - up
            up = up if up < clip else clip
            down = down if down < clip else clip
            residual = each * (q * up - (1.0 - q) * down)
            reaction = each * (q * (1.0 - q) * (up + down))
            b = first + bins[k, m]
            sums[leaf[b]] += residual
            reach[leaf[b]] += reaction
            odds[m] *= factors[b]
            if a >= 0:
                weights[0, k, m, a] = reaction
                weights[1, k, m, a] = residual


@njit(cache=True, nogil=True, error_model="numpy")
def _add_up_normal(  # type: ignore[no-untyped-def]
    bins, apart, spread, table, changes, each, visit_feature, leaf, bin_start, clips, anchor, sums,
    reach, weights,
):  # fmt: skip
    """Sum expected residuals of a numeric target, and their reactions, per leaf.

    The parameters are those of `_add_up_chances`, with these differences: `apart` is the difference
    between true and current scores, in units of the spread; `table` is that of `_normal_table`; and
    `changes` are the updates in units of the spread.
    """
    for v in range(visit_feature.shape[0]):
        k, clip, first, a = visit_feature[v], clips[v], bin_start[v], anchor[v]
        for m in range(apart.shape[0]):
            more, share = _above_zero(apart[m] + clip / spread, table)
            less, above = _above_zero(apart[m] - clip / spread, table)
            residual, reaction = each * (spread * (more - less) - clip), each * (share - above)
            b = first + bins[k, m]
            sums[leaf[b]] += residual
            reach[leaf[b]] += reaction
            apart[m] -= changes[b]
            if a >= 0:
                weights[0, k, m, a] = reaction
                weights[1, k, m, a] = residual


@njit(cache=True, nogil=True, error_model="numpy")
def _add_per_bin(  # type: ignore[no-untyped-def]
    bins, cells, reactions, residuals, values, of_cells, of_values
):
    """Sum reactions per pair of bins, and residuals times values per bin.

    The parameters are those of `per_bin`; `bins` are those of its feature. The sums are added to
    `of_cells`, of shape (n_cells, n_bins, n_anchors), and `of_values`, of shape (n_bins, n_anchors,
    n_values).
    """
    for m in range(bins.shape[0]):
        b = bins[m]
        for j in range(cells.shape[1]):
            c = cells[m, j]
            for a in range(reactions.shape[1]):
                of_cells[c, b, a] += reactions[m, a]
        for a in range(residuals.shape[1]):
            for i in range(values.shape[1]):
                of_values[b, a, i] += residuals[m, a] * values[m, i]
