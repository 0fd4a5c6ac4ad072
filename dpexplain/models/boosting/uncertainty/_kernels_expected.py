"""Expected released sums over a simulated population."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit

LOGISTIC, NORMAL = 0, 1


@njit(inline="always", error_model="numpy")
def _clipped_normal(apart, spread, clip):  # type: ignore[no-untyped-def]
    """Return the mean of a clipped normal residual and the share inside."""
    low, high = (-clip - apart) / spread, (clip - apart) / spread
    below, above = 0.5 * math.erfc(-low / math.sqrt(2.0)), 0.5 * math.erfc(high / math.sqrt(2.0))
    inside = 1.0 - below - above
    density = (math.exp(-0.5 * low * low) - math.exp(-0.5 * high * high)) / math.sqrt(2.0 * math.pi)
    return apart * inside + spread * density + clip * (above - below), inside


def expected_sums(  # type: ignore[no-untyped-def]
    bins, start, truth, each, spread, kind, first_score, visit_feature, leaf_of_bin, bin_start,
    updates, leaf_start, clips, anchor, columns, scores, left, shares, together,
    sums, slopes, reach,
) -> None:  # fmt: skip
    """Sum the expected residuals at every visit of the released fit.

    Parameters
    ----------
    bins : ndarray of shape (n_people, n_features), dtype int64
        Bin of each point in each feature.
    start : ndarray of shape (n_features + 1,), dtype int64
        First bin of each feature among all.
    truth : ndarray of shape (n_people,)
        True score of each point.
    each : float
        Number of records that each point represents.
    spread : float
        Standard deviation of a residual around the truth (regression).
    kind : int
        `LOGISTIC` or `NORMAL`.
    first_score : float
        Initial score, the same for everyone.
    visit_feature : ndarray of shape (n_visits,), dtype int64
    leaf_of_bin : ndarray of dtype int64
        Leaf of each bin, visit by visit.
    bin_start : ndarray of shape (n_visits,), dtype int64
        Index in `leaf_of_bin` and `updates` at which each visit starts.
    updates : ndarray
        Change in the score at each visit, bin by bin.
    leaf_start : ndarray of shape (n_visits + 1,), dtype int64
    clips : ndarray of shape (n_visits,)
    anchor : ndarray of shape (n_visits,), dtype int64
        Row of `slopes` that a visit fills; negative for none.
    columns : ndarray of shape (n_people, n_columns)
        Derivative of the true score of a point with respect to each coefficient.
    scores : ndarray of shape (n_people, n_pairs)
        Derivative of the log density of a point with respect to each correlation.
    left : ndarray of shape (n_bins_total,)
        Part of each true curve that is still missing, bin by bin; changed in place.
    shares : ndarray of shape (n_bins_total,)
        Share of the records in each bin; adds up to 1 within a feature.
    together : ndarray of shape (n_features, n_features)
        Square of the correlation of each pair, zero on the diagonal.
    sums : ndarray of shape (n_leaves,)
        Filled with the expected leaf sums.
    slopes : ndarray of shape (n_anchors, n_bins_total, n_columns + n_pairs)
        Filled with the derivatives of expected sums, per bin of the visited feature.
    reach : ndarray of shape (n_leaves,)
        Filled with the summed reactions of the points in a leaf, times the standard deviation of
        the part of the other curves that is still missing and correlated with the visited feature.
    """
    chance = np.empty(len(bins))
    _add_up(
        bins, start, truth, each, spread, kind, np.full(len(bins), first_score), chance,
        visit_feature, leaf_of_bin, bin_start, updates, leaf_start, clips, anchor, columns, scores,
        sums, slopes, reach,
    )  # fmt: skip
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
    """Return the variance of each row of values; weights add up to 1."""
    mean = np.cumsum(weights * values, axis=1)[:, -1]
    square = np.cumsum(weights * values * values, axis=1)[:, -1]
    return np.maximum(square - mean * mean, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_up(  # type: ignore[no-untyped-def]
    bins, start, truth, each, spread, kind, score, chance, visit_feature, leaf_of_bin, bin_start,
    updates, leaf_start, clips, anchor, columns, scores, sums, slopes, reach,
):  # fmt: skip
    """Do the part of `expected_sums` that processes every point at every visit."""
    n_people, n_columns, n_pairs = bins.shape[0], columns.shape[1], scores.shape[1]
    for m in range(n_people):
        chance[m] = 1.0 / (1.0 + math.exp(-truth[m]))
    for v in range(visit_feature.shape[0]):
        k, clip, a, first = visit_feature[v], clips[v], anchor[v], bin_start[v]
        for m in range(n_people):
            if kind == LOGISTIC:
                p = 1.0 / (1.0 + math.exp(-score[m]))
                up, down = 1.0 - p, p
                up, down = clip if clip < up else up, clip if clip < down else down
                residual = chance[m] * up - (1.0 - chance[m]) * down
                reaction = chance[m] * (1.0 - chance[m]) * (up + down)
            else:
                residual, reaction = _clipped_normal(truth[m] - score[m], spread, clip)
            b = bins[m, k]
            leaf = leaf_start[v] + leaf_of_bin[first + b]
            sums[leaf] += each * residual
            reach[leaf] += each * reaction
            if a >= 0:
                row = slopes[a, start[k] + b]
                for j in range(n_columns):
                    row[j] += each * reaction * columns[m, j]
                for j in range(n_pairs):
                    row[n_columns + j] += each * residual * scores[m, j]
            score[m] += updates[first + b]
