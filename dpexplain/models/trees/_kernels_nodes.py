"""Kernels for passes over records and for exact Shapley values.

Sums over records are integers, so they do not depend on the order of the records or on the number
of threads. Each kernel is tested against a naive numpy version.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.records._kernels_sums import _logistic32


@njit(cache=True, nogil=True, error_model="numpy")
def descend(cells, place, feature, low, high, first):  # type: ignore[no-untyped-def]
    """Move records one level down the tree, in place.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_features), dtype uint16
        Bin of each record in each feature.
    place : ndarray of shape (n_samples,), dtype int64
        Index of each record's node within its level; negative if the record is omitted.
    feature, low, high : ndarray of shape (n_nodes,), dtype int64
        For each node of the tree, level by level: the feature of its split, and the first and last
        bin whose records move to the right child.
    first : int
        Index of the first node of the level.
    """
    for i in range(cells.shape[0]):
        if place[i] >= 0:
            node = first + place[i]
            b = np.int64(cells[i, feature[node]])
            place[i] = 2 * place[i] + (1 if low[node] <= b <= high[node] else 0)


@njit(cache=True, nogil=True, error_model="numpy")
def node_sums(cells, start, place, steps, n_nodes, n_bins):  # type: ignore[no-untyped-def]
    """Sum the values of records by node, feature and bin.

    Parameters
    ----------
    cells, place
        As in `descend`.
    start : ndarray of shape (n_features,), dtype int64
        Index of the first bin of each feature among all bins.
    steps : ndarray of shape (n_samples, n_values), dtype int64
        Values of each record in lattice steps.
    n_nodes, n_bins : int
        Number of nodes at the level, and total number of bins of all features.

    Returns
    -------
    ndarray of shape (n_nodes, n_bins, n_values), dtype int64
    """
    sums = np.zeros((n_nodes, n_bins, steps.shape[1]), np.int64)
    for i in range(cells.shape[0]):
        if place[i] >= 0:
            for k in range(cells.shape[1]):
                b = start[k] + np.int64(cells[i, k])
                for v in range(steps.shape[1]):
                    sums[place[i], b, v] += steps[i, v]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_sums(place, steps, n_leaves):  # type: ignore[no-untyped-def]
    """Sum the values of records by leaf.

    Parameters
    ----------
    place, steps
        As in `node_sums`.
    n_leaves : int

    Returns
    -------
    ndarray of shape (n_leaves, n_values), dtype int64
    """
    sums = np.zeros((n_leaves, steps.shape[1]), np.int64)
    for i in range(place.shape[0]):
        if place[i] >= 0:
            for v in range(steps.shape[1]):
                sums[place[i], v] += steps[i, v]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def chances(score):  # type: ignore[no-untyped-def]
    """Compute the logistic function with elementary IEEE operations.

    Parameters
    ----------
    score : ndarray of shape (n_samples,), dtype float32

    Returns
    -------
    ndarray of shape (n_samples,), dtype float32
    """
    found = np.empty_like(score)
    for i in range(score.shape[0]):
        found[i] = _logistic32(score[i])
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def shapley_values(cells, slot_feature, slot_share, inside, values, n_features):  # type: ignore[no-untyped-def]
    """Compute Shapley values of released trees, leaf by leaf.

    The contribution of a leaf is its value times one factor for each feature on its path. A known
    feature has the factor 1 if the record's bin leads to the leaf, and 0 otherwise; the factor of
    an unknown feature is the proportion of records whose bin leads to the leaf. The Shapley value
    of a feature in this product is computed from a polynomial in the factors of the other features.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_features), dtype uint16
    slot_feature : ndarray of shape (n_leaves, depth), dtype int64
        Distinct features on the path to each leaf; -1 in unused positions.
    slot_share : ndarray of shape (n_leaves, depth)
        For each of these features, proportion of records whose bin leads to the leaf.
    inside : ndarray of shape (n_leaves, depth, n_bins), dtype uint8
        1 for bins that lead to the leaf, else 0.
    values : ndarray of shape (n_leaves, n_scores)
        Contribution of each leaf to each score.
    n_features : int

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_scores)
    """
    n_leaves, depth = slot_feature.shape
    n_scores = values.shape[1]
    found = np.zeros((cells.shape[0], n_features, n_scores))
    passes, polynomial = np.empty(depth), np.empty(depth + 1)
    for leaf in range(n_leaves):
        n = 0
        while n < depth and slot_feature[leaf, n] >= 0:
            n += 1
        for i in range(cells.shape[0]):
            for s in range(n):
                passes[s] = float(inside[leaf, s, cells[i, slot_feature[leaf, s]]])
            for s in range(n):
                # Coefficient k: sum of the products in which k of the other features are known.
                polynomial[0] = 1.0
                length = 1
                for j in range(n):
                    if j == s:
                        continue
                    polynomial[length] = 0.0
                    for k in range(length, 0, -1):
                        polynomial[k] = (
                            polynomial[k] * slot_share[leaf, j] + polynomial[k - 1] * passes[j]
                        )
                    polynomial[0] *= slot_share[leaf, j]
                    length += 1
                weight, total = 1.0 / n, 0.0  # k! (n - 1 - k)! / n!
                for k in range(n):
                    total += weight * polynomial[k]
                    if k < n - 1:
                        weight *= (k + 1.0) / (n - 1.0 - k)
                total *= passes[s] - slot_share[leaf, s]
                for c in range(n_scores):
                    found[i, slot_feature[leaf, s], c] += total * values[leaf, c]
    return found
