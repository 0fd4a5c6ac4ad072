"""Dependence of two features within the groups of their table.

A table states how many records are in each pair of groups, but not how the second feature varies
with the first one within a group. Points that follow a Gaussian copula are displaced to agree with
the table. Between the centers of neighboring groups, displacements are interpolated, so that
dependence along a curve does not become a staircase.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_FARTHEST = 0.5
"""Beyond the first and the last center, displacements are extrapolated by at most this fraction of
the distance to the next center."""


def displaced(
    ranks: FloatArray,
    sizes: NDArray[np.intp],
    below: FloatArray,
    ends: FloatArray,
    neighbor: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """Displace points so that they agree with a table.

    Parameters
    ----------
    ranks : ndarray of shape (n_points,)
        Rank of each point among all points, between 0 and 1: group by group, and ascending within
        each group of the first feature.
    sizes : ndarray of shape (n_groups,)
        Number of points in each group.
    below : ndarray of shape (n_groups, n_bins)
        Proportion of each group's points up to the end of each bin of the second feature.
    ends : ndarray of shape (n_bins,)
        Rank at the end of each of these bins.
    neighbor, weight : ndarray of shape (n_points,)
        Neighboring group of each point, and the weight of its displacement (see `neighbors`).

    Returns
    -------
    ndarray of shape (n_points,)
        Displaced ranks.
    """
    if not len(ranks):  # nearly all values are missing
        return ranks
    group, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    place = (np.arange(len(ranks)) - first[group] + 0.5) / sizes[group]
    # One interpolation serves all groups: what belongs to a group begins at twice its index.
    limits = np.pad(below, ((0, 0), (1, 0))) + 2.0 * np.arange(len(sizes))[:, None]
    of_limits = np.tile(np.append(0.0, ends), len(sizes))
    moved = np.interp(place + 2.0 * group, limits.ravel(), of_limits) - ranks
    other = np.where(sizes[neighbor] > 0, neighbor, group)
    low, high = ranks[first[other]], ranks[first[other] + sizes[other] - 1]
    of_other = np.interp(np.clip(ranks, low, high) + 2.0 * other, ranks + 2.0 * group, moved)
    return np.asarray(ranks + moved + weight * (of_other - moved))


def neighbors(share: FloatArray, groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the neighboring group of each bin, and the weight of its displacement.

    Parameters
    ----------
    share : ndarray of shape (n_bins,)
        Proportion of the records in each bin, in order.
    groups : ndarray of shape (n_bins,)
        Group of each bin: ascending, and at least two groups.

    Returns
    -------
    neighbor : ndarray of shape (n_bins,)
    weight : ndarray of shape (n_bins,)
        Between 0 (at the center of the bin's group) and 1 (at that of its neighbor). It is negative
        for bins before the first center and after the last one.
    """
    middle, last = np.cumsum(share) - share / 2.0, int(groups[-1])
    of_groups = np.maximum(np.bincount(groups, share), 1e-300)
    center = np.bincount(groups, share * middle) / of_groups
    away = middle - center[groups]
    neighbor = groups + np.where(away < 0.0, -1, 1)
    neighbor = np.where((neighbor < 0) | (neighbor > last), 2 * groups - neighbor, neighbor)
    distance = center[neighbor] - center[groups]
    weight = away / np.where(distance == 0.0, np.inf, distance)
    return neighbor, np.clip(weight, -_FARTHEST, 1.0)
