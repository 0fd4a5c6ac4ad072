"""Propagation of score errors along the released trees.

The rows of most arrays contain one value per simulation. A visit adds multiples of such rows to
other rows, so one small kernel is used everywhere and its loop is compiled only once. The caller
allocates all arrays.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.monotone import pool_adjacent_violators


@njit(no_cpython_wrapper=True, error_model="numpy")
def _add(out, row, factor, given, other, first, last):  # type: ignore[no-untyped-def]
    """Add a multiple of one row to another, for a range of simulations."""
    mine, theirs = out[row, first:last], given[other, first:last]
    for s in range(len(mine)):
        mine[s] += factor * theirs[s]


@njit(no_cpython_wrapper=True, error_model="numpy")
def _put(out, row, given, other, first, last):  # type: ignore[no-untyped-def]
    """Copy one row to another, for a range of simulations."""
    mine, theirs = out[row, first:last], given[other, first:last]
    for s in range(len(mine)):
        mine[s] = theirs[s]


@njit(cache=True, nogil=True, error_model="numpy")
def replay(  # type: ignore[no-untyped-def]
    state, persistent, noise, start, mass, mean_weight, visit_feature, visit_bins, leaf_of_bin,
    leaf_start, gain, together, functions, function_start, reactions, mixing, own_share, direction,
    people, unbound, unbound_start, loads, leaf_mass, means, total, elsewhere, nothing, values,
    cross, sums,
):  # fmt: skip
    """Implement `replay_trees` on arrays with one column per simulation.

    `state` and `persistent` have one row for each pair of a bin and a score, and `noise` has one
    row for each pair of a leaf and a score. `unbound` is None if no curve is constrained: the
    projection is then not compiled. `loads` and `leaf_mass` contain the functions and the mass,
    summed over the bins of each leaf.

    The other arrays, from `means` on, are work arrays with initial values of zero. `total`,
    `elsewhere` and `nothing` have one row per score. The others have one row for each pair of an
    item and a score: the items of `means` are features, the items of `values` are functions, the
    items of `cross` are the functions of the visited feature, and the items of `sums` are the
    leaves of one tree. `nothing` stays zero.
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
            into = np.int64(leaf_of_bin[at + b])
            for c in range(n_scores):
                row, bin_row = into * n_scores + c, (first + b) * n_scores
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
            into = np.int64(leaf_of_bin[at + b])
            for c in range(n_scores):
                row = (first + b) * n_scores + c
                _add(state, row, gain[first_leaf + into], sums, into * n_scores + c, 0, n_sim)
        if unbound is not None and direction[k] != 0:
            curve = unbound[unbound_start[v] : unbound_start[v] + n_bins]
            # Models with constraints have one score, so there is one row per bin.
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
    """Compute the errors that a curve has after its monotone projection, in place.

    Parameters
    ----------
    errors : ndarray of shape (n_bins, n_simulations), dtype float32
        Errors before the projection, replaced by the errors after it.
    curve : ndarray of shape (n_bins,), dtype float64
        Released curve before projection.
    people : ndarray of shape (n_bins,), dtype float64
        Weight of each bin; bins with zero weight come last and do not change.
    direction : int
        1 for a curve constrained to rise, -1 for a curve constrained to fall.
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
