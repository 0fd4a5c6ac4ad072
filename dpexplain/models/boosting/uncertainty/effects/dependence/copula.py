"""Joint counts of groups of bins under a Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
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
    """

    below: FloatArray
    member: FloatArray


def runs_of(order: NDArray[np.intp], share: FloatArray, groups: NDArray[np.intp]) -> Runs:
    """Return the runs of a feature.

    Parameters
    ----------
    order : ndarray of shape (n_bins,)
        Bins from lowest to highest.
    share : ndarray of shape (n_bins,)
        Proportion of the records in each bin.
    groups : ndarray of shape (n_bins,)
        Group of each bin.

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
    return Runs(below, member)


def copula_cells(first: Runs, second: Runs, correlation: float) -> FloatArray:
    """Return the proportion of records in each pair of groups under a Gaussian copula.

    Parameters
    ----------
    first, second : Runs
    correlation : float

    Returns
    -------
    ndarray of shape (n_first, n_second)
    """
    return first.member @ _cells(first.below, second.below, correlation) @ second.member.T


def _cells(first: FloatArray, second: FloatArray, correlation: float) -> FloatArray:
    """Return proportions between limits, given the proportions below them.

    The integral is that of `both_below`, over the angle whose sine is the correlation.
    """
    correlation = float(np.clip(correlation, -_LARGEST, _LARGEST))
    a, b = (
        np.clip(ndtri(np.concatenate([[0.0], below])), -_FARTHEST, _FARTHEST)
        for below in (first, second)
    )
    angle = np.arcsin(correlation) * (_NODES + 1.0) / 2.0
    sine, cosine2 = np.sin(angle), np.cos(angle) ** 2
    square = a[:, None, None] ** 2 + b[None, :, None] ** 2
    square = square - 2.0 * sine * a[:, None, None] * b[None, :, None]
    area = np.exp(-square / (2.0 * cosine2)) @ _WEIGHTS * np.arcsin(correlation) / (4.0 * np.pi)
    below = np.outer(ndtr(a), ndtr(b)) + area
    return np.asarray(np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0.0))


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
    return np.array([np.abs(_cells(first, second, size) - equal).sum() / 2.0 for size in _SIZES])
