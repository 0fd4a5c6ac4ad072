"""Groups of the bins of one feature, from noisy counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts

FloatArray = NDArray[np.float64]


def shares(counts: BinCounts) -> FloatArray:
    """Return the proportion of records in each bin, from noisy counts.

    Parameters
    ----------
    counts : BinCounts

    Returns
    -------
    ndarray of shape (n_bins,)
        Proportions that add up to 1; 0 for special bins that might be empty.
    """
    n_records = np.where(counts.perhaps_nobody, 0.0, np.maximum(counts.counts, 0.0))
    if not n_records.sum() > 0.0:
        n_records = np.where(counts.perhaps_nobody, 0.0, 1.0)
    return np.asarray(n_records / n_records.sum(), dtype=np.float64)


def order_of_bins(counts: BinCounts, curve: FloatArray) -> NDArray[np.intp]:
    """Return the order of the bins: by value or, if unordered, by the released curve."""
    if counts.ordered:
        return np.arange(len(counts.counts))
    return np.argsort(curve, kind="stable").astype(np.intp)


def upper_half(counts: BinCounts, curve: FloatArray) -> NDArray[np.bool_]:
    """Split the bins of a feature into two halves with nearly equal counts.

    Parameters
    ----------
    counts : BinCounts
    curve : ndarray of shape (n_bins,)
        Released curve; if the feature is unordered, its bins are sorted by this curve.

    Returns
    -------
    ndarray of shape (n_bins,), dtype bool
        True for the bins in the upper half.
    """
    order = order_of_bins(counts, curve)
    below = np.cumsum(shares(counts)[order])
    cut = int(np.argmin(np.abs(below - 0.5)))
    upper = np.zeros(len(order), dtype=bool)
    upper[order[cut + 1 :]] = True
    return upper


def groups_of_bins(counts: BinCounts, most: int) -> NDArray[np.intp]:
    """Divide the bins of a feature into groups, given the noisy counts.

    Neighboring bins of an ordered feature are joined into groups with similar counts, and each
    special bin that has records is a group. The largest categories of an unordered feature are
    groups, and all others are one more group.

    Parameters
    ----------
    counts : BinCounts
    most : int
        Maximum number of groups; ordered features have two more if both special bins have records.

    Returns
    -------
    ndarray of shape (n_bins,)
        Index of each bin's group.
    """
    share = shares(counts)
    if not counts.ordered:
        if len(share) <= most:
            return np.arange(len(share))
        groups = np.full(len(share), most - 1)
        groups[np.sort(np.argsort(-share, kind="stable")[: most - 1])] = np.arange(most - 1)
        return groups
    n_values = len(share) - counts.n_special
    below = np.cumsum(share[:n_values]) - share[:n_values] / 2.0
    total = max(float(share[:n_values].sum()), 1e-12)
    place = np.clip(np.floor(most * below / total), 0, most - 1)
    values = np.unique(place, return_inverse=True)[1] if n_values else np.zeros(0, dtype=np.intp)
    first = int(values.max(initial=-1)) + 1
    special = np.maximum(first + np.cumsum(share[n_values:] > 0.0) - 1, 0)
    return np.concatenate([values, special]).astype(np.intp)
