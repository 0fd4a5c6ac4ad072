"""Simulated fits on bins, without records.

There are two kernels. `replay_trees` follows the released trees; all simulations advance together,
one column each. `fresh_structures` draws separate histograms, bins and trees for every simulation.
The test of the first one has a naive numpy twin; the second is compared with the curve to which it
must converge. Both loop over scalars: each array expression would add a second of compile time.
"""

from __future__ import annotations

import math

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.monotone import pool_adjacent_violators

_TRIES = 16
"""Random cut sets per tree before it has to do with one leaf less, as in the fit."""


@njit(cache=True, nogil=True, error_model="numpy")
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
    n_scores, n_sim, n_fresh = state.shape[1], state.shape[2], noise.shape[2]
    n_features, n_functions = len(start) - 1, reactions.shape[1]
    per_group = n_sim // len(reactions)
    means = np.zeros((n_features, n_scores, n_sim), np.float32)
    total = np.zeros((n_scores, n_sim), np.float32)
    values = np.zeros((n_functions, n_scores, n_sim), np.float32)
    cross = np.zeros((functions.shape[1], n_scores, n_sim), np.float32)
    sums = np.zeros((256, n_scores, n_sim), np.float32)
    loads = np.zeros((256, functions.shape[1]), np.float32)
    leaf_mass = np.zeros((256, n_scores, n_scores), np.float32)
    for v in range(len(visit_feature)):
        k = visit_feature[v]
        first, own_first = start[k], function_start[k]
        n_own = function_start[k + 1] - own_first
        first_leaf, n_leaves = leaf_start[v], leaf_start[v + 1] - leaf_start[v]
        leaves = leaf_of_bin[visit_bins[v] : visit_bins[v] + start[k + 1] - first]
        for i in range(n_own):
            for c in range(n_scores):
                for s in range(n_sim):
                    cross[i, c, s] = 0.0
            for q in range(n_functions):
                for c in range(n_scores):
                    out, given = cross[i, c], values[q, c]
                    for g in range(len(reactions)):
                        r = reactions[g, own_first + i, q]
                        if r != 0.0:
                            for s in range(g * per_group, (g + 1) * per_group):
                                out[s] += r * given[s]
        for leaf in range(n_leaves):
            for i in range(n_own):
                loads[leaf, i] = 0.0
            for c in range(n_scores):
                for d in range(n_scores):
                    leaf_mass[leaf, c, d] = 0.0
                out, given = sums[leaf, c], noise[first_leaf + leaf, c]
                for s in range(n_fresh):
                    out[s] = given[s]
                for s in range(n_fresh, n_sim):
                    out[s] = 0.0
        share = own_share[k]
        for b in range(len(leaves)):
            leaf = leaves[b]
            for i in range(n_own):
                loads[leaf, i] += functions[first + b, i]
            for c in range(n_scores):
                out, lasting = sums[leaf, c], persistent[first + b, c]
                for s in range(n_sim):
                    out[s] += lasting[s]
                for d in range(n_scores):
                    m = mass[first + b, c, d]
                    leaf_mass[leaf, c, d] += m
                    own, reacts = state[first + b, d], share * m
                    for s in range(n_sim):
                        out[s] -= reacts * own[s]
        for leaf in range(n_leaves):
            for c in range(n_scores):
                out = sums[leaf, c]
                for d in range(n_scores):
                    m, all_means, own_mean = leaf_mass[leaf, c, d], total[d], means[k, d]
                    for s in range(n_sim):
                        out[s] -= m * (all_means[s] - share * own_mean[s])
                    for i in range(n_own):
                        load, given = loads[leaf, i] * mixing[c, d], cross[i, d]
                        for s in range(n_sim):
                            out[s] -= load * given[s]
        if together[v]:
            for c in range(n_scores):
                for s in range(n_sim):
                    joint = sums[0, c, s]
                    for leaf in range(1, n_leaves):
                        joint += sums[leaf, c, s]
                    for leaf in range(n_leaves):
                        sums[leaf, c, s] = joint
        for leaf in range(n_leaves):
            for c in range(n_scores):
                step, out = gain[first_leaf + leaf], sums[leaf, c]
                for s in range(n_sim):
                    out[s] *= step
        for b in range(len(leaves)):
            for c in range(n_scores):
                update, own = sums[leaves[b], c], state[first + b, c]
                for s in range(n_sim):
                    own[s] += update[s]
        if direction[k] != 0:
            curve = unbound[unbound_start[v] : unbound_start[v] + len(leaves)]
            _move(state[first : first + len(leaves), 0], curve, people[first : start[k + 1]],
                  direction[k])  # fmt: skip
        for c in range(n_scores):
            mean, everything = means[k, c], total[c]
            for s in range(n_sim):
                everything[s] -= mean[s]
                mean[s] = 0.0
            for i in range(n_own):
                for s in range(n_sim):
                    values[own_first + i, c, s] = 0.0
            for b in range(len(leaves)):
                own, w = state[first + b, c], mean_weight[first + b]
                for s in range(n_sim):
                    mean[s] += w * own[s]
                for i in range(n_own):
                    load, out = functions[first + b, i], values[own_first + i, c]
                    for s in range(n_sim):
                        out[s] += load * own[s]
            for s in range(n_sim):
                everything[s] += mean[s]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(inline="always")
def _next(seed):  # type: ignore[no-untyped-def]
    """Advance splitmix64 (Steele, Lea, Flood, OOPSLA 2014) by one step."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(inline="always")
def _below(seed, n):  # type: ignore[no-untyped-def]
    """Draw an integer in [0, n)."""
    return np.int64((_next(seed) >> np.uint64(33)) % np.uint64(n))


@njit(cache=True, nogil=True, error_model="numpy")
def merge_cells(counts, min_count, noise_std, noise_ratio, bin_of_cell):  # type: ignore[no-untyped-def]
    """Merge neighboring cells as `dpexplain.binning.merge_sparse_cells` does.

    Parameters
    ----------
    counts : ndarray of shape (n_value_cells,)
        Noisy counts per cell.
    min_count, noise_std, noise_ratio : float
        As for `merge_sparse_cells`.
    bin_of_cell : ndarray of shape (n_value_cells,), dtype int64
        Filled with the bin of each cell.

    Returns
    -------
    int
        Number of merged bins.
    """
    held, width, index = 0.0, 0, 0
    for cell in range(len(counts)):
        held += counts[cell]
        width += 1
        bin_of_cell[cell] = index
        if held >= max(min_count, noise_ratio * noise_std * math.sqrt(width)):
            index += 1
            held, width = 0.0, 0
    if index == 0:
        return 1
    # What is left at the end joins the last full bin.
    for cell in range(len(counts)):
        bin_of_cell[cell] = min(bin_of_cell[cell], index - 1)
    return index


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_cuts(cumulated, n_bins, n_leaves, min_leaf_count, cuts, seed):  # type: ignore[no-untyped-def]
    """Draw cuts until every leaf is large enough; return whether that succeeded."""
    for _ in range(_TRIES):
        for i in range(n_leaves - 1):
            cut = 1 + _below(seed, n_bins - 1)
            place = i
            while place > 0 and cuts[place - 1] > cut:
                cuts[place] = cuts[place - 1]
                place -= 1
            cuts[place] = cut
        cuts[n_leaves - 1] = n_bins
        before, good = 0, True
        for i in range(n_leaves):
            held = cumulated[cuts[i]] - cumulated[before]
            if cuts[i] <= before or held < min_leaf_count:
                good = False
                break
            before = cuts[i]
        if good:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_tree(counts, n_value, n_bins, shuffled, max_leaves, min_leaf_count, order, leaves, seed):  # type: ignore[no-untyped-def]
    """Draw a random tree as `random_visits` does; return its number of leaves."""
    for b in range(n_value):
        order[b] = b
    if shuffled:
        for b in range(n_value - 1, 0, -1):
            other = _below(seed, b + 1)
            order[b], order[other] = order[other], order[b]
    cumulated = np.zeros(n_value + 1)
    for b in range(n_value):
        cumulated[b + 1] = cumulated[b] + counts[order[b]]
    cuts = np.zeros(max_leaves + 1, np.int64)
    n_leaves = min(max_leaves, n_value)
    while n_leaves > 1 and not _draw_cuts(cumulated, n_value, n_leaves, min_leaf_count, cuts, seed):
        n_leaves -= 1
    leaf = 0
    for b in range(n_value):
        while leaf < n_leaves - 1 and b >= cuts[leaf]:
            leaf += 1
        leaves[order[b]] = leaf
    for b in range(n_value, n_bins):
        leaves[b] = _below(seed, n_leaves)
    return n_leaves


@njit(cache=True, nogil=True, error_model="numpy")
def fresh_structures(  # type: ignore[no-untyped-def]
    noisy_counts, start, n_special, merge, shuffled, unit, direction, mass, target, intercept,
    residual, step_weight, functions, function_start, reactions, own_share, cell_noise_std, share,
    min_count, noise_ratio, n_epochs, max_leaves, min_leaf_count, learning_rate, seeds,
):  # fmt: skip
    """Refit the target with new histograms, bins and trees, without leaf noise.

    Parameters
    ----------
    noisy_counts : ndarray of shape (n_simulations, n_cells_total)
        Histograms of each simulation.
    start : ndarray of shape (n_features + 1,), dtype int64
        First cell of each feature.
    n_special : ndarray of shape (n_features,), dtype int64
        Number of cells at the end of each feature that hold no value of the schema.
    merge : ndarray of shape (n_features,), dtype bool
        Whether neighboring cells are merged.
    shuffled : ndarray of shape (n_features,), dtype bool
        Whether value bins are shuffled before each cut.
    unit : ndarray of shape (n_cells_total,), dtype int64
        Bin of each cell of the features that are not merged, within its feature.
    direction : ndarray of shape (n_features,), dtype int64
        1 or -1 for curves that are projected onto rising or falling ones, else 0.
    mass : ndarray of shape (n_cells_total,)
        Curvature of the loss, summed over the people of each cell.
    target : ndarray of shape (n_cells_total,)
        Curve to be learned per cell, with mean zero.
    intercept : float
        Mean to be learned by all features together.
    residual : ndarray of shape (n_samples, n_cells_total)
        Contribution of a sample of records to the residual sum of each cell. Simulation s uses
        sample ``s % n_samples``, so structures vary while the sample is fixed.
    step_weight : ndarray of shape (n_cells_total,)
        Weight of one person of a cell in the denominators of the updates.
    functions : ndarray of shape (n_cells_total, most)
        Functions of the cells of each feature, mass included, in the first columns.
    function_start : ndarray of shape (n_features + 1,), dtype int64
        First function of each feature among all.
    reactions : ndarray of shape (n_samples, n_functions, n_functions)
        How functions react to each other, in the simulations of each sample.
    own_share : ndarray of shape (n_features,)
        Share of its errors, beyond functions and mean, to which a feature reacts.
    cell_noise_std : float
        Noise standard deviation of one cell, in records.
    share : float
        Share of the records in a bag; bins are merged using all records.
    min_count, noise_ratio : float
        As for `merge_cells`.
    n_epochs, max_leaves : int
    min_leaf_count, learning_rate : float
    seeds : ndarray of shape (n_simulations,), dtype uint64

    Returns
    -------
    scores : ndarray of shape (n_simulations, n_cells_total)
        Fitted score per cell, centered with the noisy counts.
    intercepts : ndarray of shape (n_simulations,)
    """
    n_sim, n_cells = noisy_counts.shape
    n_features = len(start) - 1
    scores, intercepts = np.zeros((n_sim, n_cells)), np.zeros(n_sim)
    bin_of_cell = np.zeros(n_cells, np.int64)
    n_bins, n_value = np.zeros(n_features, np.int64), np.zeros(n_features, np.int64)
    order, leaves = np.zeros(n_cells, np.int64), np.zeros(n_cells, np.int64)
    features = np.empty(n_features, np.int64)
    for k in range(n_features):
        features[k] = k
    n_functions, most = reactions.shape[1], functions.shape[1]
    aims, of_target = np.zeros(n_features), np.zeros(n_functions)
    for k in range(n_features):
        inside = 0.0
        for c in range(start[k], start[k + 1]):
            inside += mass[c]
            aims[k] += mass[c] * target[c]
            for i in range(function_start[k + 1] - function_start[k]):
                of_target[function_start[k] + i] += functions[c, i] * target[c]
        aims[k] /= max(inside, 1e-12)
    values, cross = np.zeros(n_functions), np.zeros(most)
    means, people = np.zeros(n_features), np.zeros(n_features)
    trial, people_of_bin = np.zeros(n_cells), np.zeros(n_cells)
    by_leaf, seed = np.zeros((5, max_leaves)), np.zeros(1, np.uint64)
    sums, sizes, spread = by_leaf[0], by_leaf[1], by_leaf[2]
    divided, filled = by_leaf[3], by_leaf[4]
    for s in range(n_sim):
        reaction = reactions[s % len(reactions)]
        seed[0] = seeds[s]
        # Bins of a feature start where its cells start: there are never more of them.
        by_bin, of_bin = np.zeros((7, n_cells)), np.zeros((n_cells, most))
        count, variance, weight, wanted = by_bin[0], by_bin[1], by_bin[2], by_bin[3]
        table, divisor, filler = by_bin[4], by_bin[5], by_bin[6]
        for i in range(n_functions):
            values[i] = -of_target[i]
        for k in range(n_features):
            means[k], people[k] = -aims[k], 0.0
            a, z = start[k], start[k + 1]
            last = z - n_special[k]
            if merge[k]:
                n_value[k] = merge_cells(
                    noisy_counts[s, a:last], min_count, cell_noise_std, noise_ratio,
                    bin_of_cell[a:last],
                )  # fmt: skip
            else:
                n_value[k] = 0
                for c in range(a, last):
                    bin_of_cell[c] = unit[c]
                    n_value[k] = max(n_value[k], unit[c] + 1)
            for c in range(last, z):
                bin_of_cell[c] = n_value[k] + c - last
            n_bins[k] = n_value[k] + n_special[k]
            for c in range(a, z):
                b = a + bin_of_cell[c]
                count[b] += share * noisy_counts[s, c]
                variance[b] += (share * cell_noise_std) ** 2
                weight[b] += mass[c]
                wanted[b] += own_share[k] * mass[c] * target[c] + residual[s % len(residual), c]
                for i in range(function_start[k + 1] - function_start[k]):
                    of_bin[b, i] += functions[c, i]
                divisor[b] += max(noisy_counts[s, c], 0.0) * step_weight[c]
                filler[b] += max(noisy_counts[s, c], 0.0)
                people[k] += mass[c]
        total = 0.0
        for k in range(n_features):
            total += means[k]
        total -= intercept
        for _ in range(n_epochs):
            for i in range(n_features - 1, 0, -1):
                j = _below(seed, i + 1)
                features[i], features[j] = features[j], features[i]
            for place in range(n_features):
                k = int(features[place])
                a = start[k]
                z = a + n_bins[k]
                n_leaves = _draw_tree(
                    count[a:z], n_value[k], n_bins[k], shuffled[k], max_leaves, min_leaf_count,
                    order, leaves, seed,
                )  # fmt: skip
                for leaf in range(max_leaves):
                    sums[leaf], sizes[leaf], spread[leaf] = 0.0, 0.0, 0.0
                    divided[leaf], filled[leaf] = 0.0, 0.0
                # Errors of the own curve count by its share, those of others through what is
                # common: means, and correlated functions.
                elsewhere, own = total - means[k], own_share[k]
                common = total - own * means[k]
                first, n_own = function_start[k], function_start[k + 1] - function_start[k]
                for i in range(n_own):
                    cross[i] = 0.0
                    for q in range(n_functions):
                        cross[i] += reaction[first + i, q] * values[q]
                for b in range(a, z):
                    leaf = leaves[b - a]
                    sums[leaf] += wanted[b] - weight[b] * (own * table[b] + common)
                    for i in range(n_own):
                        sums[leaf] -= of_bin[b, i] * cross[i]
                    sizes[leaf] += count[b]
                    spread[leaf] += variance[b]
                    divided[leaf] += divisor[b]
                    filled[leaf] += filler[b]
                for leaf in range(n_leaves):
                    floor = max(max(min_leaf_count, 1.0), 3.0 * math.sqrt(spread[leaf]))
                    per_person = divided[leaf] / filled[leaf] if filled[leaf] > 0 else 1.0
                    sums[leaf] *= learning_rate / (max(sizes[leaf], floor) * per_person)
                for b in range(a, z):
                    table[b] += sums[leaves[b - a]]
                if direction[k] != 0:
                    n = n_value[k]
                    for b in range(n):
                        people_of_bin[b] = max(count[a + b], 1.0)
                        trial[b] = direction[k] * table[a + b]
                    moved = pool_adjacent_violators(trial[:n], people_of_bin[:n])
                    for b in range(n):
                        table[a + b] = direction[k] * moved[b]
                mean = 0.0
                for i in range(n_own):
                    values[first + i] = -of_target[first + i]
                for b in range(a, z):
                    mean += weight[b] * table[b]
                    for i in range(n_own):
                        values[first + i] += of_bin[b, i] * table[b]
                means[k] = mean / max(people[k], 1e-12) - aims[k]
                total = elsewhere + means[k]
        for k in range(n_features):
            a, z = start[k], start[k] + n_bins[k]
            middle, weighed = 0.0, 0.0
            for b in range(a, z):
                special = b - a >= n_value[k]
                if special and count[b] < 3.0 * math.sqrt(variance[b]):
                    continue
                middle += max(count[b], 0.0) * table[b]
                weighed += max(count[b], 0.0)
            middle = middle / weighed if weighed > 0 else 0.0
            intercepts[s] += middle
            for c in range(a, start[k + 1]):
                scores[s, c] = table[a + bin_of_cell[c]] - middle
    return scores, intercepts
