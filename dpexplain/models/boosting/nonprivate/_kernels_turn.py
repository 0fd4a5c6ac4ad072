"""One visit to every feature in compiled code, for non-private models."""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.nonprivate.greedy import greedy_tree
from dpexplain.models.boosting.nonprivate.random_trees import _fill_leaves
from dpexplain.models.boosting.records._kernels_sums import _bin_sums, _factor


@njit(no_cpython_wrapper=True, error_model="numpy")
def _order(values, n_values, ordered):  # type: ignore[no-untyped-def]
    """Return the value bins in order; categories are sorted by ascending value."""
    order = np.empty(n_values, np.int64)
    for b in range(n_values):
        place = b
        while not ordered and place > 0 and values[order[place - 1]] > values[b]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = b
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def visit_features(  # type: ignore[no-untyped-def]
    odds, score, target, bins, pending, last_update, curves, start, n_special, ordered, draws,
    max_leaves, min_curvature, rate, bound,
):  # fmt: skip
    """Visit the features one after another, exactly as `CurveStep` and `boost` do.

    Parameters
    ----------
    odds : bool
        Whether the loss is logistic; if False, it is squared.
    score, target
        As in `logistic_leaf_sums`.
    bins : ndarray of shape (n_features, n_samples), dtype uint8 or uint16
        Bin of each record in every feature.
    pending : int
        Feature of the update that is pending before the first visit.
    last_update : ndarray of shape (n_bins_pending,), dtype float32
        That update.
    curves : ndarray of shape (n_bins_total,), dtype float64
        Scores per bin, feature by feature; changed in place.
    start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first bin of each feature among all bins.
    n_special, ordered : ndarray of shape (n_features,)
        As in `CurveStep`.
    draws : ndarray of shape (n_features, max_leaves - 1), dtype float64
        Random numbers that determine the splits; no columns for greedy trees.
    max_leaves, min_curvature, rate, bound
        As in `CurveStep` and `boost`.

    Returns
    -------
    ndarray of shape (n_bins_last,), dtype float32
        Update of the last feature, which is pending, as in `last_update`.
    """
    for k in range(start.shape[0] - 1):
        first, n_bins = start[k], start[k + 1] - start[k]
        sums = _bin_sums(odds, score, target, bins, pending, last_update, bins, k, n_bins)
        gradient, curvature = sums[0], sums[1]
        values = np.zeros(n_bins)
        for b in range(n_bins):
            if curvature[b] >= min_curvature:
                values[b] = gradient[b] / max(curvature[b], max(min_curvature, 1e-12))
        n_values = n_bins - n_special[k]
        if n_values > 0:
            order = _order(values, n_values, ordered[k])
            own, mass = np.empty((n_values, 1)), np.empty((n_values, 1))
            for i in range(n_values):
                own[i, 0], mass[i, 0] = gradient[order[i]], curvature[order[i]]
            if draws.shape[1] > 0:
                grown = np.empty((n_values, 1))
                _fill_leaves(own, mass, draws[k], min_curvature, grown)
                for i in range(n_values):
                    values[order[i]] = grown[i, 0]
            else:
                leaves = greedy_tree(own.ravel(), mass.ravel(), max_leaves, min_curvature)
                for i in range(n_values):
                    values[order[i]] = leaves[i]
        last_update = np.empty(n_bins, np.float32)
        for b in range(n_bins):
            moved = curves[first + b] + rate * values[b]
            moved = -bound if moved < -bound else moved
            moved = bound if moved > bound else moved
            change = moved - curves[first + b]
            last_update[b] = _factor(change) if odds else np.float32(change)
            curves[first + b] = moved
        pending = k
    return last_update
