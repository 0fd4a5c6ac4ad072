"""Greedy trees on one feature, for non-private models (Algorithm 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _best_cut(gradient, curvature, start, stop, min_curvature):  # type: ignore[no-untyped-def]
    """Return the best split of the bins in [start, stop), and its gain.

    The split is -1 if no split reduces the loss.
    """
    total_g, total_h = 0.0, 0.0
    for b in range(start, stop):
        total_g += gradient[b]
        total_h += curvature[b]
    best_gain, best_cut = 0.0, -1
    left_g, left_h = 0.0, 0.0
    for b in range(start, stop - 1):
        left_g += gradient[b]
        left_h += curvature[b]
        right_g, right_h = total_g - left_g, total_h - left_h
        if left_h < min_curvature or right_h < min_curvature:
            continue
        gain = left_g**2 / left_h + right_g**2 / right_h - total_g**2 / total_h
        if gain > best_gain:
            best_gain, best_cut = gain, b + 1
    return best_cut, best_gain


@njit(cache=True, nogil=True, error_model="numpy")
def greedy_tree(gradient, curvature, max_leaves, min_curvature):  # type: ignore[no-untyped-def]
    """Grow a best-first tree on ordered bins; return Newton values per bin.

    Parameters
    ----------
    gradient, curvature : ndarray of shape (n_bins,), dtype float64
        Sum of the residuals and sum of the curvatures per bin, in an order in which neighboring
        bins may share a leaf.
    max_leaves : int
        Maximum number of leaves.
    min_curvature : float
        Minimum curvature per leaf.

    Returns
    -------
    ndarray of shape (n_bins,), dtype float64
        ``sum of residuals / sum of curvatures`` of the bin's leaf; 0 if the leaf has too little
        curvature.
    """
    n_bins = gradient.shape[0]
    bounds = np.zeros(max_leaves + 1, np.int64)
    bounds[1] = n_bins
    n_leaves = 1
    while n_leaves < max_leaves:
        best_gain, best_leaf, best_cut = 0.0, -1, -1
        for leaf in range(n_leaves):
            cut, gain = _best_cut(
                gradient, curvature, bounds[leaf], bounds[leaf + 1], min_curvature
            )
            if cut >= 0 and gain > best_gain:
                best_gain, best_leaf, best_cut = gain, leaf, cut
        if best_leaf < 0:
            break
        for i in range(n_leaves, best_leaf, -1):
            bounds[i + 1] = bounds[i]
        bounds[best_leaf + 1] = best_cut
        n_leaves += 1
    values = np.zeros(n_bins)
    for leaf in range(n_leaves):
        g, h = 0.0, 0.0
        for b in range(bounds[leaf], bounds[leaf + 1]):
            g += gradient[b]
            h += curvature[b]
        if h >= min_curvature:
            for b in range(bounds[leaf], bounds[leaf + 1]):
                values[b] = g / h
    return values


@njit(cache=True, nogil=True, error_model="numpy")
def _best_cut_of_classes(gradient, curvature, start, stop, min_curvature):  # type: ignore[no-untyped-def]
    """Return the best split as `_best_cut` does, with gains summed over classes."""
    n_classes = gradient.shape[1]
    total_g, total_h = np.zeros(n_classes), np.zeros(n_classes)
    for b in range(start, stop):
        total_g += gradient[b]
        total_h += curvature[b]
    best_gain, best_cut = 0.0, -1
    left_g, left_h = np.zeros(n_classes), np.zeros(n_classes)
    for b in range(start, stop - 1):
        left_g += gradient[b]
        left_h += curvature[b]
        left_sum, right_sum = left_h.sum(), total_h.sum() - left_h.sum()
        if left_sum < min_curvature or right_sum < min_curvature:
            continue
        gain = 0.0
        for c in range(n_classes):
            right_g, right_h = total_g[c] - left_g[c], total_h[c] - left_h[c]
            if left_h[c] > 1e-9 and right_h > 1e-9:
                gain += left_g[c] ** 2 / left_h[c] + right_g**2 / right_h
                gain -= total_g[c] ** 2 / total_h[c]
        if gain > best_gain:
            best_gain, best_cut = gain, b + 1
    return best_cut, best_gain


def greedy_tree_of_classes(
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
    max_leaves: int,
    min_curvature: float,
) -> NDArray[np.float64]:
    """Grow a best-first tree for all classes; return Newton values per bin.

    Parameters and result are as in `greedy_tree`, with arrays of shape (n_bins, n_classes).
    """
    bounds = [0, len(gradient)]
    while len(bounds) <= max_leaves:
        found = [
            (*_best_cut_of_classes(gradient, curvature, start, stop, min_curvature), leaf)
            for leaf, (start, stop) in enumerate(pairwise(bounds))
        ]
        cut, gain, leaf = max(found, key=lambda each: each[1])
        if cut < 0 or gain <= 0.0:
            break
        bounds.insert(leaf + 1, cut)
    values = np.zeros(gradient.shape)
    for start, stop in pairwise(bounds):
        values[start:stop] = newton(
            gradient[start:stop].sum(axis=0), curvature[start:stop].sum(axis=0), min_curvature
        )
    return values


def greedy_values(
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
    max_leaves: int,
    min_curvature: float,
) -> NDArray[np.float64]:
    """Grow a best-first tree for one score or for all classes; see `greedy_tree`."""
    if gradient.ndim == 2:
        return greedy_tree_of_classes(gradient, curvature, max_leaves, min_curvature)
    values: NDArray[np.float64] = greedy_tree(gradient, curvature, max_leaves, min_curvature)
    return values


def newton(
    gradient: NDArray[np.float64], curvature: NDArray[np.float64], min_curvature: float
) -> NDArray[np.float64]:
    """Return Newton values; 0 where there is too little curvature.

    Parameters
    ----------
    gradient, curvature : ndarray of shape (n,) or (n, n_classes)
        Sum of the residuals and sum of the curvatures. With several classes, the last axis is the
        class, and small curvatures are increased, so that no step is too long.
    min_curvature : float
        Minimum curvature, summed over classes.

    Returns
    -------
    ndarray of the shape of `gradient`
    """
    n_classes = gradient.shape[-1] if gradient.ndim == 2 else 1
    total = curvature.sum(axis=1, keepdims=True) if gradient.ndim == 2 else curvature
    floored = np.maximum(curvature, max(min_curvature / n_classes, 1e-12))
    return np.asarray(np.where(total >= min_curvature, gradient / floored, 0.0))
