"""Refits with new histograms, bins and trees, without leaf noise.

Steps that run only once per simulation use numpy, because kernels would take more time to compile
than they save. A test compares the result with the curve to which a fit must converge.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.uncertainty.refits._kernels_structures import (
    draw_trees,
    follow_trees,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def merged_cells(
    counts: FloatArray, spread: FloatArray, min_count: float, noise_std: float, noise_ratio: float
) -> tuple[IntArray, IntArray]:
    """Merge neighboring cells as `dpexplain.binning.merge_sparse_cells` does.

    Parameters
    ----------
    counts : ndarray of shape (n_simulations, n_value_cells)
        Noisy counts per cell.
    spread : ndarray of shape (n_value_cells,)
        Variance of each count, in units of ``noise_std**2``.
    min_count, noise_std, noise_ratio : float
        Minimum count of a bin, noise standard deviation of a cell, and minimum ratio of a bin's
        count to its noise, as in `merge_sparse_cells`.

    Returns
    -------
    bin_of_cell : ndarray of shape (n_simulations, n_value_cells), dtype int64
        Merged bin of each cell.
    n_bins : ndarray of shape (n_simulations,), dtype int64
        Number of merged bins.
    """
    bin_of_cell = np.empty(counts.shape, np.int64)
    held, index = np.zeros(len(counts)), np.zeros(len(counts), np.int64)
    width = np.zeros(len(counts))
    for cell in range(counts.shape[1]):
        held += counts[:, cell]
        width += spread[cell]
        bin_of_cell[:, cell] = index
        full = held >= np.maximum(min_count, noise_ratio * noise_std * np.sqrt(width))
        index += full
        held[full], width[full] = 0.0, 0
    # Remaining cells at the end are added to the last full bin.
    n_bins = np.maximum(index, 1)
    return np.minimum(bin_of_cell, n_bins[:, None] - 1), n_bins


def fresh_structures(  # type: ignore[no-untyped-def]
    noisy_counts, start, n_special, merge, shuffled, unit, direction, mass, target, intercept,
    residual, step_weight, functions, function_start, reactions, own_share, spread, cell_noise_std,
    share, min_count, noise_ratio, n_epochs, max_leaves, min_leaf_count, n_neutral, learning_rate,
    seeds,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Refit the target with new histograms, bins and trees, without leaf noise.

    Parameters
    ----------
    noisy_counts : ndarray of shape (n_simulations, n_cells_total)
        Histograms of each simulation.
    start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first cell of each feature among all cells.
    n_special : ndarray of shape (n_features,), dtype int64
        Number of special cells at the end of each feature, such as the one for missing values.
    merge : ndarray of shape (n_features,), dtype bool
        Whether neighboring cells are merged.
    shuffled : ndarray of shape (n_features,), dtype bool
        Whether value bins are shuffled before each split.
    unit : ndarray of shape (n_cells_total,), dtype int64
        For features that are not merged, the bin of each cell within its feature.
    direction : ndarray of shape (n_features,), dtype int64
        1 for curves constrained to rise, -1 for curves constrained to fall, else 0.
    mass : ndarray of shape (n_cells_total,)
        Curvature of the loss, summed over the records in each cell.
    target : ndarray of shape (n_cells_total,)
        Curve to be learned per cell, with mean zero.
    intercept : float
        Mean to be learned by all features jointly.
    residual : ndarray of shape (n_samples, n_cells_total)
        Contribution of a sample of records to the residual sum of each cell. Simulation s uses
        sample ``s % n_samples``, so several structures are drawn for each sample.
    step_weight : ndarray of shape (n_cells_total,)
        Weight of one record in a cell, in the denominators of the updates.
    functions : ndarray of shape (n_cells_total, most)
        Values of the functions for the cell's feature, multiplied by the cell's mass. They fill the
        first columns of the row; the other columns are not used.
    function_start : ndarray of shape (n_features + 1,), dtype int64
        Index of the first function of each feature among all functions.
    reactions : ndarray of shape (n_samples, n_functions, n_functions)
        Sensitivity of the sum over one function to errors along another function, in the
        simulations of each sample.
    own_share : ndarray of shape (n_features,)
        Fraction of a feature's own errors that affects its leaf sums. It does not apply to the mean
        of the errors or to their components along the functions, which have their full effect.
    spread : ndarray of shape (n_cells_total,)
        Variance of each cell's noise, in units of ``cell_noise_std**2``.
    cell_noise_std : float
        Noise standard deviation of a cell whose spread is 1, in records.
    share : float
        Fraction of the records that are in a bag. Bins are merged using the counts of all records.
    min_count, noise_ratio : float
        As in `merged_cells`.
    n_epochs, max_leaves : int
    min_leaf_count, n_neutral, learning_rate : float
        The learning rate includes the factor of `leaf_scale`.
    seeds : ndarray of shape (n_simulations,), dtype uint64

    Returns
    -------
    scores : ndarray of shape (n_simulations, n_cells_total)
        Fitted score of each cell, centered with the noisy counts.
    intercepts : ndarray of shape (n_simulations,)
        Fitted intercept of each simulation.
    """
    n_sim, n_cells = noisy_counts.shape
    n_features, most = len(start) - 1, functions.shape[1]
    feature = np.repeat(np.arange(n_features), np.diff(start))
    cell = np.arange(n_cells) - start[feature]

    def by_feature(of_cells: FloatArray) -> FloatArray:
        return np.bincount(feature, of_cells, n_features).astype(np.float64, copy=False)

    # Sums are accumulated from the first cell to the last, as in np.bincount.
    n_records = by_feature(mass)
    aims = by_feature(mass * target) / np.maximum(n_records, 1e-12)
    of_target = np.zeros(function_start[-1])
    for i in range(most):
        has = np.diff(function_start) > i
        of_target[function_start[:-1][has] + i] = by_feature(functions[:, i] * target)[has]
    total = 0.0
    for aim in aims:
        total -= aim
    bin_of_cell, n_value = _bins(
        noisy_counts, start, n_special, merge, unit, spread, min_count, cell_noise_std, noise_ratio
    )
    wanted = own_share[feature] * mass * target
    cell_variance = (share * cell_noise_std) * (share * cell_noise_std) * spread
    features, n_visits = np.arange(n_features), n_epochs * n_features
    visit_feature, n_leaves = np.zeros((2, n_visits), np.int64)
    leaf_of_bin = np.zeros((n_visits, np.diff(start).max()), np.uint8)
    order, cuts = np.zeros(n_cells, np.int64), np.zeros(max_leaves + 1, np.int64)
    direction = direction if direction.any() else None
    scores, intercepts = np.empty((n_sim, n_cells)), np.empty(n_sim)
    for s in range(n_sim):
        at, filled = start[feature] + bin_of_cell[s], np.maximum(noisy_counts[s], 0.0)
        of_cells = (
            share * noisy_counts[s], cell_variance, mass,
            wanted + residual[s % len(residual)], filled * step_weight, filled,
        )  # fmt: skip
        by_bin = np.stack([np.bincount(at, v, n_cells) for v in of_cells])
        of_bin = np.stack([np.bincount(at, functions[:, i], n_cells) for i in range(most)])
        table = np.zeros(n_cells)
        n_bins = n_value[s] + n_special
        draw_trees(
            by_bin[0], start, n_bins, n_value[s], shuffled, max_leaves, float(min_leaf_count),
            features, visit_feature, n_leaves, leaf_of_bin, order, np.zeros(n_cells + 1), cuts,
            seeds[s : s + 1].copy(),
        )  # fmt: skip
        follow_trees(
            start, n_bins, n_value[s], visit_feature, n_leaves, leaf_of_bin, direction, by_bin,
            of_bin, table, n_records, aims, of_target, function_start,
            reactions[s % len(reactions)], own_share, float(min_leaf_count), n_neutral,
            learning_rate, total - intercept, -aims, -of_target,
            np.zeros(most), np.zeros((5, max_leaves)),
        )  # fmt: skip
        count, special = by_bin[0], cell >= n_value[s][feature]
        seen = np.where(special & (count < 3.0 * np.sqrt(by_bin[1])), 0.0, np.maximum(count, 0.0))
        middle, weighed = by_feature(seen * table), by_feature(seen)
        middle = np.divide(middle, weighed, out=np.zeros(n_features), where=weighed > 0)
        intercepts[s] = np.cumsum(middle)[-1]
        scores[s] = table[at] - middle[feature]
    return scores, intercepts


def _bins(
    noisy_counts: FloatArray,
    start: IntArray,
    n_special: IntArray,
    merge: NDArray[np.bool_],
    unit: IntArray,
    spread: FloatArray,
    *how: float,
) -> tuple[IntArray, IntArray]:
    """Return the bin of each cell, and the number of value bins of each feature."""
    bin_of_cell = np.empty(noisy_counts.shape, np.int64)
    n_value = np.zeros((len(noisy_counts), len(n_special)), np.int64)
    for k, (a, z) in enumerate(itertools.pairwise(start)):
        last = z - n_special[k]
        if merge[k]:
            merged = merged_cells(noisy_counts[:, a:last], spread[a:last], *how)
            bin_of_cell[:, a:last], n_value[:, k] = merged
        elif last > a:
            bin_of_cell[:, a:last], n_value[:, k] = unit[a:last], unit[a:last].max() + 1
        bin_of_cell[:, last:z] = n_value[:, k : k + 1] + np.arange(z - last)
    return bin_of_cell, n_value
