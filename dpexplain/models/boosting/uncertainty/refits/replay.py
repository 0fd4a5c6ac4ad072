"""Errors of the score propagated through the released trees, without records.

All simulations advance together, one column each; the test has a naive numpy twin. What a visit
does to rows of simulations is a multiple of one row added to another, so one small kernel does it
wherever it is needed: its loop is compiled once. Arrays are allocated by the caller, because each
kind of array that a kernel makes takes a fifth of a second to compile.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.monotone import pool_adjacent_violators

_MOST_LEAVES = 256


def replay_trees(  # type: ignore[no-untyped-def]
    state, persistent, noise, start, mass, mean_weight, visit_feature, visit_bins, leaf_of_bin,
    leaf_start, gain, together, functions, function_start, reactions, mixing, own_share, direction,
    people, unbound, unbound_start,
):  # fmt: skip
    """Propagate errors through the released trees.

    An error of the visited feature changes a leaf sum by minus the curvature mass times the error.
    Errors of other features act through their means, and through those of their functions that are
    correlated with the functions of the visited feature.

    Parameters
    ----------
    state : ndarray of shape (n_bins_total, n_scores, n_simulations), dtype float32
        Error of the score per bin; changed in place.
    persistent : ndarray of shape (n_bins_total, n_scores, n_simulations), dtype float32
        Error of the residual sum of each bin that is the same at every visit (sampling).
    noise : ndarray of shape (n_leaves_total, n_scores, n_fresh), dtype float32
        Noise of each leaf sum for the first `n_fresh` simulations; the others get none.
    start : ndarray of shape (n_features + 1,), dtype int64
        First bin of each feature.
    mass : ndarray of shape (n_bins_total, n_scores, n_scores), dtype float32
        Curvature of the loss, summed over the people of each bin.
    mean_weight : ndarray of shape (n_bins_total,), dtype float32
        Share of each bin in the mean of its feature; sums to one within a feature.
    visit_feature : ndarray of shape (n_visits,), dtype int64
        Feature of each visit.
    visit_bins : ndarray of shape (n_visits,), dtype int64
        Index in `leaf_of_bin` at which each visit starts.
    leaf_of_bin : ndarray of dtype uint8
        Leaf of each bin, visit after visit.
    leaf_start : ndarray of shape (n_visits + 1,), dtype int64
        First leaf of each visit.
    gain : ndarray of shape (n_leaves_total,), dtype float32
        Change in the score per unit of a leaf sum.
    together : ndarray of shape (n_visits,), dtype bool
        Whether all leaves of a visit change by the total of their sums.
    functions : ndarray of shape (n_bins_total, most), dtype float32
        Functions of the bins of each feature, mass included, in the first columns.
    function_start : ndarray of shape (n_features + 1,), dtype int64
        First function of each feature among all.
    reactions : ndarray of shape (n_groups, n_functions, n_functions), dtype float32
        How functions react to each other, one matrix per group of adjacent simulations.
    mixing : ndarray of shape (n_scores, n_scores), dtype float32
        How scores react to each other through functions.
    own_share : ndarray of shape (n_features,), dtype float32
        Share of its errors, beyond functions and mean, to which a feature reacts.
    direction : ndarray of shape (n_features,), dtype int64
        1 or -1 for curves that are projected onto rising or falling ones, else 0.
    people : ndarray of shape (n_bins_total,), dtype float64
        Weights of that projection; 0 for bins that do not change.
    unbound : ndarray of dtype float64
        Released curves before projection, visit after visit, if there is a direction.
    unbound_start : ndarray of shape (n_visits,), dtype int64
        Index in `unbound` at which each visit starts.
    """
    n_scores, n_sim = state.shape[1:]

    def rows(n):  # type: ignore[no-untyped-def]
        return np.zeros((n * n_scores, n_sim), np.float32)

    most = functions.shape[1]
    n_bins = np.diff(start)[visit_feature]
    place = np.arange(len(leaf_of_bin)) - np.repeat(visit_bins, n_bins)
    bins = np.repeat(start[visit_feature], n_bins) + place
    leaves = np.repeat(leaf_start[:-1], n_bins) + leaf_of_bin
    leaf_mass = np.zeros((leaf_start[-1], n_scores, n_scores), np.float32)
    np.add.at(leaf_mass, leaves, mass[bins])
    loads = np.zeros((leaf_start[-1], most), np.float32)
    np.add.at(loads, leaves, functions[bins])
    _replay(
        state.reshape(-1, n_sim), persistent.reshape(-1, n_sim), noise.reshape(-1, noise.shape[2]),
        start, mass, mean_weight, visit_feature, visit_bins, leaf_of_bin, leaf_start, gain,
        together, functions, function_start, reactions, mixing, own_share,
        direction, people, unbound if direction.any() else None, unbound_start,
        loads, leaf_mass, rows(len(start) - 1), rows(1), rows(1), rows(1),
        rows(reactions.shape[1]), rows(most), rows(_MOST_LEAVES),
    )  # fmt: skip


@njit(no_cpython_wrapper=True, error_model="numpy")
def _add(out, row, factor, given, other, first, last):  # type: ignore[no-untyped-def]
    """Add a multiple of a row of simulations to a row, from one simulation to another."""
    mine, theirs = out[row, first:last], given[other, first:last]
    for s in range(len(mine)):
        mine[s] += factor * theirs[s]


@njit(no_cpython_wrapper=True, error_model="numpy")
def _put(out, row, given, other, first, last):  # type: ignore[no-untyped-def]
    """Replace a row of simulations by another, from one simulation to another."""
    mine, theirs = out[row, first:last], given[other, first:last]
    for s in range(len(mine)):
        mine[s] = theirs[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _replay(  # type: ignore[no-untyped-def]
    state, persistent, noise, start, mass, mean_weight, visit_feature, visit_bins, leaf_of_bin,
    leaf_start, gain, together, functions, function_start, reactions, mixing, own_share, direction,
    people, unbound, unbound_start, loads, leaf_mass, means, total, elsewhere, nothing, values,
    cross, sums,
):  # fmt: skip
    """Do what `replay_trees` says, with a row of simulations per bin and score.

    `unbound` is None if no curve is constrained: the projection is then not compiled. `loads` and
    `leaf_mass` are the functions and the mass of each leaf, summed over its bins. `means` has a row
    per feature and score, `values` per function and score, `cross` per function of the visited
    feature and score, `sums` per leaf and score, `total` and `elsewhere` per score. Rows of
    `nothing` are zero.
    """
    n_scores, n_sim, n_fresh = mass.shape[1], state.shape[1], noise.shape[1]
    n_functions, n_groups = reactions.shape[1], reactions.shape[0]
    per_group = n_sim // n_groups
    one = np.float32(1.0)
    for v in range(visit_feature.shape[0]):
        k = visit_feature[v]
        first, own_first, at = start[k], function_start[k], visit_bins[v]
        n_bins, n_own = start[k + 1] - first, function_start[k + 1] - own_first
        first_leaf, share = leaf_start[v], own_share[k]
        n_leaves = leaf_start[v + 1] - first_leaf
        for row in range(n_own * n_scores):
            _put(cross, row, nothing, 0, 0, n_sim)
            own = own_first + row // n_scores
            for q in range(n_functions):
                given = q * n_scores + row % n_scores
                for g in range(n_groups):
                    r = reactions[g, own, q]
                    if r != 0.0:
                        _add(cross, row, r, values, given, g * per_group, (g + 1) * per_group)
        for c in range(n_scores):
            _put(elsewhere, c, total, c, 0, n_sim)
            _add(elsewhere, c, -share, means, k * n_scores + c, 0, n_sim)
        for leaf in range(n_leaves):
            for c in range(n_scores):
                row = leaf * n_scores + c
                _put(sums, row, noise, first_leaf * n_scores + row, 0, n_fresh)
                _put(sums, row, nothing, 0, n_fresh, n_sim)
        for b in range(n_bins):
            leaf = np.int64(leaf_of_bin[at + b])
            for c in range(n_scores):
                row, bin_row = leaf * n_scores + c, (first + b) * n_scores
                _add(sums, row, one, persistent, bin_row + c, 0, n_sim)
                for d in range(n_scores):
                    reacts = share * mass[first + b, c, d]
                    _add(sums, row, -reacts, state, bin_row + d, 0, n_sim)
        for leaf in range(n_leaves):
            for c in range(n_scores):
                row = leaf * n_scores + c
                for d in range(n_scores):
                    m = leaf_mass[first_leaf + leaf, c, d]
                    _add(sums, row, -m, elsewhere, d, 0, n_sim)
                    for i in range(n_own):
                        load = loads[first_leaf + leaf, i] * mixing[c, d]
                        _add(sums, row, -load, cross, i * n_scores + d, 0, n_sim)
        if together[v]:
            for row in range(n_scores, n_leaves * n_scores):
                _add(sums, row % n_scores, one, sums, row, 0, n_sim)
            for row in range(n_scores, n_leaves * n_scores):
                _put(sums, row, sums, row % n_scores, 0, n_sim)
        for b in range(n_bins):
            leaf = np.int64(leaf_of_bin[at + b])
            for c in range(n_scores):
                row = (first + b) * n_scores + c
                _add(state, row, gain[first_leaf + leaf], sums, leaf * n_scores + c, 0, n_sim)
        if unbound is not None and direction[k] != 0:
            curve = unbound[unbound_start[v] : unbound_start[v] + n_bins]
            # Models with constraints have one score: a row per bin.
            _move(state[first : first + n_bins], curve, people[first : first + n_bins],
                  direction[k])  # fmt: skip
        for c in range(n_scores):
            row = k * n_scores + c
            _add(total, c, -one, means, row, 0, n_sim)
            _put(means, row, nothing, 0, 0, n_sim)
            for i in range(n_own):
                _put(values, (own_first + i) * n_scores + c, nothing, 0, 0, n_sim)
            for b in range(n_bins):
                own = (first + b) * n_scores + c
                _add(means, row, mean_weight[first + b], state, own, 0, n_sim)
                for i in range(n_own):
                    load, other = functions[first + b, i], (own_first + i) * n_scores + c
                    _add(values, other, load, state, own, 0, n_sim)
            _add(total, c, one, means, row, 0, n_sim)


@njit(no_cpython_wrapper=True, error_model="numpy")
def _move(errors, curve, people, direction):  # type: ignore[no-untyped-def]
    """Project errors of a curve onto monotone curves, in place.

    Parameters
    ----------
    errors : ndarray of shape (n_bins, n_simulations), dtype float32
    curve : ndarray of shape (n_bins,), dtype float64
        Released curve before projection.
    people : ndarray of shape (n_bins,), dtype float64
        Weights; bins with zero weight come last and do not change.
    direction : int
        1 or -1.
    """
    n = 0
    while n < len(people) and people[n] > 0.0:
        n += 1
    weights = people[:n]
    trial = np.empty(n)
    for b in range(n):
        trial[b] = direction * curve[b]
    moved = pool_adjacent_violators(trial, weights)
    for s in range(errors.shape[1]):
        for b in range(n):
            trial[b] = direction * (curve[b] + errors[b, s])
        found = pool_adjacent_violators(trial, weights)
        for b in range(n):
            errors[b, s] = direction * (found[b] - moved[b])
