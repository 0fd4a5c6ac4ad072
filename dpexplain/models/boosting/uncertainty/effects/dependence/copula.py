"""Joint counts of groups of bins under a Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

FloatArray = NDArray[np.float64]

_FROM_ZERO, _BETWEEN = (np.polynomial.legendre.leggauss(n) for n in (16, 3))
"""Nodes and weights of integrals from zero to a correlation, and between neighbors of many."""

_FARTHEST = 8.0
_LARGEST = 0.995
_SIZES = np.concatenate([np.linspace(0.0, 0.9, 19), [0.95, 0.98, _LARGEST]])
_MOST_GROUPS = 8


@dataclass(frozen=True, eq=False)
class Runs:
    """Groups of the bins of one feature, along their order.

    Attributes
    ----------
    below : ndarray of shape (n_runs,)
        Proportion of records up to the end of each run of neighboring bins in the same group.
    member : ndarray of shape (n_groups, n_runs)
        1 for the runs of each group, otherwise 0.
    n_values : int
        Number of bins of ordered values, which come first; 0 for an unordered feature.
    within : float
        Variance of a standard normal variable between bins of the same group.
    """

    below: FloatArray
    member: FloatArray
    n_values: int
    within: float


def runs_of(
    order: NDArray[np.intp], share: FloatArray, groups: NDArray[np.intp], n_values: int = 0
) -> Runs:
    """Return the runs of a feature.

    Parameters
    ----------
    order : ndarray of shape (n_bins,)
        Bins from lowest to highest.
    share : ndarray of shape (n_bins,)
        Proportion of the records in each bin.
    groups : ndarray of shape (n_bins,)
        Group of each bin.
    n_values : int, default=0
        Number of bins of ordered values, which come first; 0 for an unordered feature.

    Returns
    -------
    Runs
    """
    group = groups[order]
    ends = np.append(np.flatnonzero(np.diff(group)), len(group) - 1)
    below = np.minimum(np.cumsum(share[order])[ends] / share.sum(), 1.0)
    below[-1] = 1.0
    member = np.zeros((int(groups.max()) + 1, len(ends)))
    member[group[ends], np.arange(len(ends))] = 1.0
    within = _between(order, share, np.arange(len(share))) - _between(order, share, groups)
    return Runs(below, member, n_values, max(within, 0.0))


def _between(order: NDArray[np.intp], share: FloatArray, groups: NDArray[np.intp]) -> float:
    """Return the variance of the mean of a normal variable in each group of bins."""
    below = np.append(0.0, np.cumsum(share[order]) / share.sum())
    density = np.exp(-0.5 * ndtri(np.clip(below, 0.0, 1.0)) ** 2) / np.sqrt(2.0 * np.pi)
    total = np.bincount(groups[order], -np.diff(density))
    mass = np.bincount(groups[order], np.diff(below))
    return float((total**2 / np.maximum(mass, 1e-300)).sum())


def copula_cells(first: Runs, second: Runs, correlations: FloatArray) -> FloatArray:
    """Return the proportion of records in each pair of groups under Gaussian copulas.

    Parameters
    ----------
    first, second : Runs
    correlations : ndarray of shape (n_correlations,)

    Returns
    -------
    ndarray of shape (n_correlations, n_first, n_second)
    """
    cells = _cells(first.below, second.below, correlations)
    return np.asarray(first.member @ cells @ second.member.T)


def _cells(first: FloatArray, second: FloatArray, correlations: FloatArray) -> FloatArray:
    """Return proportions between limits, given the proportions below them."""
    a, b = (
        np.clip(ndtri(np.concatenate([[0.0], below])), -_FARTHEST, _FARTHEST)
        for below in (first, second)
    )
    below = both_below(a[:, None], b, np.clip(correlations, -_LARGEST, _LARGEST))
    return np.asarray(np.maximum(np.diff(np.diff(below, axis=1), axis=2), 0.0))


def both_below(a: FloatArray, b: FloatArray, correlations: FloatArray) -> FloatArray:
    """Return the probability that two normal variables are both below their limits.

    Parameters
    ----------
    a, b : ndarray
        Upper limits of the first and of the second variable, respectively; they are broadcast.
    correlations : ndarray of shape (n_correlations,)
        Correlations of the two standard normal variables.

    Returns
    -------
    ndarray of shape (n_correlations, ...)

    References
    ----------
    .. [1] Drezner, Wesolowsky, "On the computation of the bivariate normal integral", Journal of
       Statistical Computation and Simulation 35 (1990), equation 3.
    """
    # The integral runs over the angle whose sine is the correlation, from 0, where the variables
    # are independent. It is added up from one correlation to the next.
    a, b = np.broadcast_arrays(a, b)
    angles = np.arcsin(correlations)
    ends = np.sort(np.append(angles, 0.0))
    nodes, weights = _FROM_ZERO if len(angles) == 1 else _BETWEEN
    width = np.diff(ends)[:, None]
    angle = (ends[:-1, None] + width * (nodes + 1.0) / 2.0)[..., *[None] * a.ndim]
    density = np.exp((np.sin(angle) * (a * b) - (a**2 + b**2) / 2.0) / np.cos(angle) ** 2)
    parts = np.einsum("ij,ij...->i...", width * weights, density)
    area = np.concatenate([np.zeros((1, *a.shape)), np.cumsum(parts, axis=0)])
    area = area[np.searchsorted(ends, angles)] - area[np.searchsorted(ends, 0.0)]
    return np.asarray(ndtr(a) * ndtr(b) + area / (4.0 * np.pi))


def as_correlation(distance: FloatArray, n_groups: int) -> FloatArray:
    """Return correlations of normal variables with given distances.

    Parameters
    ----------
    distance : ndarray
        Total variation distances from independence.
    n_groups : int
        Smaller number of groups of the two features; both have groups of equal size, and the other
        one has eight.

    Returns
    -------
    ndarray
    """
    distances = _distances(min(n_groups, _MOST_GROUPS))
    return np.asarray(np.interp(distance, distances, _SIZES))


@cache
def _distances(n_groups: int) -> FloatArray:
    first, second = (np.arange(1, n + 1) / n for n in (n_groups, _MOST_GROUPS))
    equal = 1.0 / (n_groups * _MOST_GROUPS)
    return np.asarray(np.abs(_cells(first, second, _SIZES) - equal).sum(axis=(1, 2)) / 2.0)
