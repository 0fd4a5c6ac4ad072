"""Random trees for one simulation, and a fit that uses these trees but no records.

Trees do not depend on scores, so one kernel draws them and another uses them. Both loop over
scalars, call few functions and allocate nothing, so they compile quickly.
"""

from __future__ import annotations

import math

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.monotone import pool_adjacent_violators

_TRIES = 16
"""A tree gets one leaf fewer after this number of unsuccessful random draws, as in the fit."""


@njit(error_model="numpy")
def _below(seed, n):  # type: ignore[no-untyped-def]
    """Draw an integer in [0, n) with splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(((z ^ (z >> np.uint64(31))) >> np.uint64(33)) % np.uint64(n))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_trees(  # type: ignore[no-untyped-def]
    counts, start, n_bins, n_value, shuffled, max_leaves, min_leaf_count, features, visit_feature,
    n_leaves, leaf_of_bin, order, cumulated, cuts, seed,
):  # fmt: skip
    """Draw the visit order and random trees, as `random_visits` does.

    Parameters
    ----------
    counts : ndarray of shape (n_cells_total,)
        Noisy counts of the bins; the counts of a feature start at the index of its first cell.
    start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first cell of each feature among all cells.
    n_bins, n_value : ndarray of shape (n_features,), dtype int64
        Number of bins, and number of value bins, of each feature.
    shuffled : ndarray of shape (n_features,), dtype bool
        Whether value bins are shuffled before each split.
    max_leaves : int
    min_leaf_count : float
    features : ndarray of shape (n_features,), dtype int64
        Indices of all features; shuffled in place for each pass.
    visit_feature, n_leaves : ndarray of shape (n_visits,), dtype int64
        Filled with the feature of each visit and the number of leaves of its tree.
    leaf_of_bin : ndarray of shape (n_visits, most_bins), dtype uint8
        Filled with the leaf of each bin.
    order, cumulated, cuts : ndarray
        Work arrays of type int64, float64 and int64.
    seed : ndarray of shape (1,), dtype uint64
        State of the generator; changed in place.
    """
    n_features = features.shape[0]
    cumulated[0] = 0.0
    for v in range(visit_feature.shape[0]):
        turn = v % n_features
        if turn == 0:
            for i in range(n_features - 1, 0, -1):
                j = _below(seed, i + 1)
                held = features[i]
                features[i] = features[j]
                features[j] = held
        k = features[turn]
        first, n = start[k], n_value[k]
        for b in range(n):
            order[b] = b
        if shuffled[k]:
            for b in range(n - 1, 0, -1):
                j = _below(seed, b + 1)
                held = order[b]
                order[b] = order[j]
                order[j] = held
        for b in range(n):
            cumulated[b + 1] = cumulated[b] + counts[first + order[b]]
        leaves = max_leaves if max_leaves < n else n
        tries = 0
        while leaves > 1:
            for i in range(leaves - 1):
                cut = 1 + _below(seed, n - 1)
                place = i
                while place > 0 and cuts[place - 1] > cut:
                    cuts[place] = cuts[place - 1]
                    place -= 1
                cuts[place] = cut
            cuts[leaves - 1] = n
            before, good = 0, True
            for i in range(leaves):
                cut = cuts[i]
                if cut <= before or cumulated[cut] - cumulated[before] < min_leaf_count:
                    good = False
                    break
                before = cut
            if good:
                break
            tries += 1
            if tries == _TRIES:
                leaves, tries = leaves - 1, 0
        leaf = 0
        for b in range(n):
            while leaf < leaves - 1 and b >= cuts[leaf]:
                leaf += 1
            leaf_of_bin[v, order[b]] = leaf
        for b in range(n, n_bins[k]):
            leaf_of_bin[v, b] = _below(seed, leaves)
        visit_feature[v], n_leaves[v] = k, leaves


@njit(no_cpython_wrapper=True, error_model="numpy")
def _project(table, count, first, n, direction):  # type: ignore[no-untyped-def]
    """Project the curve of one feature onto monotone curves, in place."""
    trial, n_records = np.empty(n), np.empty(n)
    for b in range(n):
        n_records[b] = max(count[first + b], 1.0)
        trial[b] = direction * table[first + b]
    moved = pool_adjacent_violators(trial, n_records)
    for b in range(n):
        table[first + b] = direction * moved[b]


@njit(cache=True, nogil=True, error_model="numpy")
def follow_trees(  # type: ignore[no-untyped-def]
    start, n_bins, n_value, visit_feature, n_leaves, leaf_of_bin, direction, by_bin, of_bin, table,
    n_records, aims, of_target, function_start, reaction, own_share, min_leaf_count, n_neutral,
    learning_rate, total, means, values, cross, by_leaf,
):  # fmt: skip
    """Run boosting with given trees in one simulation; fill `table` with the scores.

    Rows of `by_bin` are the noisy count, its variance, the curvature mass, the residual sum to be
    learned, and the nonnegative noisy count: first with step weights, then without. `direction` is
    None if no curve is constrained: the projection is then not compiled.
    """
    n_functions = values.shape[0]
    least = min_leaf_count if min_leaf_count > 1.0 else 1.0
    count, weight = by_bin[0], by_bin[2]
    for v in range(visit_feature.shape[0]):
        k, leaves = visit_feature[v], leaf_of_bin[v]
        a, size = start[k], n_bins[k]
        for leaf in range(by_leaf.shape[1]):
            for row in range(5):
                by_leaf[row, leaf] = 0.0
        # Errors of the feature's own curve are multiplied by `own`. Errors of other curves act
        # through their means and through correlated functions.
        elsewhere, own = total - means[k], own_share[k]
        common = total - own * means[k]
        first, n_own = function_start[k], function_start[k + 1] - function_start[k]
        for i in range(n_own):
            acts = 0.0
            for q in range(n_functions):
                acts += reaction[first + i, q] * values[q]
            cross[i] = acts
        for bin_ in range(size):
            leaf, b = leaves[bin_], a + bin_
            wanted = by_leaf[0, leaf]
            wanted += by_bin[3, b] - weight[b] * (own * table[b] + common)
            for i in range(n_own):
                wanted -= of_bin[i, b] * cross[i]
            by_leaf[0, leaf] = wanted
            by_leaf[1, leaf] += count[b]
            by_leaf[2, leaf] += by_bin[1, b]
            by_leaf[3, leaf] += by_bin[4, b]
            by_leaf[4, leaf] += by_bin[5, b]
        for leaf in range(n_leaves[v]):
            floor = 3.0 * math.sqrt(by_leaf[2, leaf])
            floor = floor if floor > least else least
            held_by = by_leaf[1, leaf]
            held_by = floor if floor > held_by else held_by
            per_person, filled = 1.0, by_leaf[4, leaf]
            if filled > 0:
                per_person = by_leaf[3, leaf] / filled
            by_leaf[0, leaf] *= learning_rate / ((held_by + n_neutral) * per_person)
        for bin_ in range(size):
            table[a + bin_] += by_leaf[0, leaves[bin_]]
        if direction is not None and direction[k] != 0:
            _project(table, count, a, n_value[k], direction[k])
        mean = 0.0
        for b in range(a, a + size):
            mean += weight[b] * table[b]
        for i in range(n_own):
            value = -of_target[first + i]
            for b in range(a, a + size):
                value += of_bin[i, b] * table[b]
            values[first + i] = value
        inside = n_records[k]
        inside = inside if inside > 1e-12 else 1e-12
        means[k] = mean / inside - aims[k]
        total = elsewhere + means[k]
