"""Propagation of score errors through the released trees, without using records.

All simulations advance together, with one column per simulation, so each visit takes only a
few operations on whole arrays. The result is tested against a naive version.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.uncertainty.refits._kernels_moves import move

F32 = NDArray[np.float32]


def replay_trees(  # type: ignore[no-untyped-def]
    state, persistent, noise, start, mass, mean_weight, visit_feature, visit_bins, leaf_of_bin,
    leaf_start, gain, together, functions, function_start, reactions, mixing, own_share, direction,
    n_records, unbound, unbound_start,
) -> None:  # fmt: skip
    """Propagate errors through the released trees.

    An error in the visited feature changes a leaf sum by minus the curvature mass times the error.
    Errors in other features act through their means, and through their components along functions
    that are correlated with the functions of the visited feature.

    Parameters
    ----------
    state : ndarray of shape (n_bins_total, n_scores, n_simulations), dtype float32
        Error in the score per bin; changed in place.
    persistent : ndarray of shape (n_bins_total, n_scores, n_simulations), dtype float32
        Error in the residual sum of each bin due to sampling, which is the same at every visit.
    noise : ndarray of shape (n_leaves_total, n_scores, n_fresh), dtype float32
        Noise of each leaf sum in the first `n_fresh` simulations; the others have no noise.
    start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first bin of each feature among all bins.
    mass : ndarray of shape (n_bins_total, n_scores, n_scores), dtype float32
        Curvature of the loss, summed over the records in each bin.
    mean_weight : ndarray of shape (n_bins_total,), dtype float32
        Weight of each bin in the mean of its feature; the weights add up to 1 within a feature.
    visit_feature : ndarray of shape (n_visits,), dtype int64
        Feature of each visit.
    visit_bins : ndarray of shape (n_visits,), dtype int64
        Index in `leaf_of_bin` at which each visit starts.
    leaf_of_bin : ndarray of dtype uint8
        Leaf of each bin, visit by visit.
    leaf_start : ndarray of shape (n_visits + 1,), dtype int64
        Index of the first leaf of each visit among all leaves.
    gain : ndarray of shape (n_leaves_total,), dtype float32
        Change in the score per unit of a leaf sum.
    together : ndarray of shape (n_visits,), dtype bool
        Whether all leaves of a visit get the same update, computed from the total of their sums.
    functions : ndarray of shape (n_bins_total, most), dtype float32
        Values of the functions for the bin's feature, multiplied by the bin's mass. They fill the
        first columns of the row; the other columns are not used.
    function_start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first function of each feature among all functions.
    reactions : ndarray of shape (n_groups, n_functions, n_functions), dtype float32
        Sensitivity of the sum over one function to errors along another function, with one matrix
        per group of adjacent simulations.
    mixing : ndarray of shape (n_scores, n_scores), dtype float32
        Sensitivity of each score's residuals to each score, through the functions.
    own_share : ndarray of shape (n_features,), dtype float32
        Fraction of a feature's own errors that affects its leaf sums. It does not apply to the mean
        of the errors or to their components along the functions, which have their full effect.
    direction : ndarray of shape (n_features,), dtype int64
        1 for curves constrained to rise, -1 for curves constrained to fall, else 0.
    n_records : ndarray of shape (n_bins_total,), dtype float64
        Weights of the monotone projection; 0 for bins that do not change.
    unbound : ndarray of dtype float64
        Released curves of constrained features before projection, visit by visit; not used if no
        curve is constrained.
    unbound_start : ndarray of shape (n_visits,), dtype int64
        Index in `unbound` at which each visit starts.
    """
    n_bins_total, n_scores, n_sim = state.shape
    n_features, n_fresh = len(start) - 1, noise.shape[2]
    leaf_mass, loads = _by_leaf(
        mass, functions, start, visit_feature, visit_bins, leaf_of_bin, leaf_start
    )
    own_mass = np.repeat(own_share, np.diff(start))[:, None, None] * mass
    # A feature's mean and its values of functions are weighted sums over its bins. In these arrays
    # the scores and simulations of a bin are adjacent, so the sums are matrix products.
    rows, n_own = state.reshape(n_bins_total, -1), np.diff(function_start)
    weights = [
        np.column_stack([mean_weight[a:z], functions[a:z, :n]]).T.copy()
        for a, z, n in zip(start[:-1], start[1:], n_own, strict=True)
    ]
    means = np.zeros((n_features, n_scores, n_sim), np.float32)
    n_groups = len(reactions)
    values = np.zeros((n_groups, n_scores, function_start[-1], n_sim // n_groups), np.float32)
    total = np.zeros((n_scores, n_sim), np.float32)
    for v, k in enumerate(visit_feature):
        bins, own = slice(start[k], start[k + 1]), slice(function_start[k], function_start[k + 1])
        leaf = leaf_of_bin[visit_bins[v] :][: start[k + 1] - start[k]]
        leaves = slice(leaf_start[v], leaf_start[v + 1])
        elsewhere = total - own_share[k] * means[k]
        by_bin = persistent[bins] - _times(own_mass[bins], state[bins])
        member = (leaf == np.arange(leaf_start[v + 1] - leaf_start[v])[:, None]).astype(np.float32)
        sums = (member @ by_bin.reshape(len(leaf), -1)).reshape(-1, n_scores, n_sim)
        sums -= _times(leaf_mass[leaves], elsewhere)
        sums[..., :n_fresh] += noise[leaves]
        if n_own[k]:
            cross = np.matmul(reactions[:, None, own], values).transpose(2, 1, 0, 3)
            mixed = _times(mixing[None], cross.reshape(-1, n_scores, n_sim))
            sums -= np.matmul(loads[leaves, : n_own[k]], mixed.reshape(n_own[k], -1)).reshape(
                sums.shape
            )
        if together[v]:
            sums[:] = sums.sum(axis=0)
        sums *= gain[leaves, None, None]
        state[bins] += sums[leaf]
        if direction[k]:
            # Models with constraints have one score, so there is one row per bin.
            n_bins = start[k + 1] - start[k]
            curve = unbound[unbound_start[v] :][:n_bins]
            move(rows[bins], curve, n_records[bins], direction[k])
        total -= means[k]
        found = (weights[k] @ rows[bins]).reshape(-1, n_scores, n_sim)
        means[k] = found[0]
        total += means[k]
        values[:, :, own] = (
            found[1:].reshape(-1, n_scores, n_groups, n_sim // n_groups).transpose(2, 1, 0, 3)
        )


def _times(mass: F32, errors: F32) -> F32:
    """Multiply the errors of all scores by a matrix per bin or leaf."""
    return mass * errors if mass.shape[1] == 1 else np.matmul(mass, errors)


def _by_leaf(  # type: ignore[no-untyped-def]
    mass, functions, start, visit_feature, visit_bins, leaf_of_bin, leaf_start
) -> tuple[F32, F32]:
    """Sum the mass and the functions over the bins of each leaf."""
    n_bins = np.diff(start)[visit_feature]
    place = np.arange(len(leaf_of_bin)) - np.repeat(visit_bins, n_bins)
    bins = np.repeat(start[visit_feature], n_bins) + place
    leaves = np.repeat(leaf_start[:-1], n_bins) + leaf_of_bin
    leaf_mass = np.zeros((leaf_start[-1], *mass.shape[1:]), np.float32)
    np.add.at(leaf_mass, leaves, mass[bins])
    loads = np.zeros((leaf_start[-1], functions.shape[1]), np.float32)
    np.add.at(loads, leaves, functions[bins])
    return leaf_mass, loads
