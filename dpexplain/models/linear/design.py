"""Design of a linear model: encoding of numbers, categories and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index
from dpexplain.binning.counts import BinCounts
from dpexplain.models.linear._kernels_moments import VALUE_STEPS

Integers = NDArray[np.int64]
FloatArray = NDArray[np.float64]

OUTER_SHARE = 0.01
"""Proportion of the records beyond each end of a feature's scale, if the scale follows the released
counts."""

_STANDS_OUT = 2.0  # counts below this many standard deviations of noise are treated as zero


@dataclass(frozen=True, eq=False)
class Design:
    """Encoding of records for a linear model: a coordinate and value for each bin.

    A numeric feature has one coordinate, scaled to ``[-1, 1]``, and a separate coordinate for
    missing values. A categorical feature has one coordinate for each category, one for other
    categories and one for missing values; the coordinate that applies to a record is 1, and the
    others are 0. Coordinate 0 is the constant 1. So at most ``n_features + 1`` coordinates of a
    record are nonzero, and none of them exceeds 1 in absolute value.

    Attributes
    ----------
    start : ndarray of shape (n_features,), dtype int64
        Index of the first bin of each feature among all bins.
    coordinate : ndarray of shape (n_all_bins,), dtype int64
        Index of the coordinate of each bin.
    value : ndarray of shape (n_all_bins,), dtype int64
        Value of the bin's coordinate for the records in the bin, in steps of ``1 / VALUE_STEPS``.
    n_coordinates : int
        Number of coordinates, including the constant.
    together : ndarray of shape (n_coordinates, n_coordinates), dtype bool
        Upper triangle; True for pairs of coordinates that can both be nonzero in one record.
    """

    start: Integers
    coordinate: Integers
    value: Integers
    n_coordinates: int
    together: NDArray[np.bool_]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.start)

    def tables(self, weights: FloatArray) -> FloatArray:
        """Return the contribution of each bin, given the weight of each coordinate."""
        x = self.value / VALUE_STEPS
        return np.asarray(weights[self.coordinate] * x.reshape(-1, *[1] * (weights.ndim - 1)))

    def by_feature(self, table: FloatArray) -> list[FloatArray]:
        """Split an array with one value for each bin into one array for each feature."""
        return np.split(table, self.start[1:])


def design(
    bins: Sequence[FeatureBins], counts: Sequence[BinCounts], *, follow_counts: bool
) -> Design:
    """Assign a coordinate and its value to each bin.

    Parameters
    ----------
    bins : sequence of FeatureBins
        Public bins of each feature.
    counts : sequence of BinCounts
        Released number of records in each bin.
    follow_counts : bool
        Whether to clip numbers to the range of the middle 98% of the records, according to the
        released counts, instead of to the public bounds.

    Returns
    -------
    Design
    """
    coordinate, value, start, blocks = [], [], [], [np.ones(1, dtype=np.int64)]
    n_bins, n_coordinates = 0, 1
    for b, c in zip(bins, counts, strict=True):
        start.append(n_bins)
        n_bins += b.n_bins
        if b.edges is None:
            block = np.arange(b.n_bins)
            values = np.full(b.n_bins, VALUE_STEPS)
        else:
            block = (np.arange(b.n_bins) >= b.n_value_bins).astype(np.int64)
            scaled = _scaled(b.edges, c if follow_counts else None)
            values = np.append(np.rint(scaled * VALUE_STEPS), VALUE_STEPS)
        coordinate.append(n_coordinates + block)
        value.append(values.astype(np.int64))
        blocks.append(np.full(block.max() + 1, len(blocks) + 1))
        n_coordinates += int(block.max()) + 1
    block_of = np.concatenate(blocks)
    together = np.triu((block_of[:, None] != block_of) | np.eye(n_coordinates, dtype=bool))
    return Design(
        np.array(start, dtype=np.int64),
        np.concatenate(coordinate).astype(np.int64),
        np.concatenate(value),
        n_coordinates,
        together,
    )


def cells_of(index: Sequence[Index]) -> NDArray[np.uint16]:
    """Return the bin indices of all features, shape (n_samples, n_features)."""
    return np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))


def _scaled(edges: FloatArray, counts: BinCounts | None) -> FloatArray:
    """Return the midpoint of each value bin, scaled and clipped to [-1, 1]."""
    middle = 0.5 * edges[:-1] + 0.5 * edges[1:]
    first, last = (0, len(middle) - 1) if counts is None else _ends(counts)
    low, high = middle[first], middle[last]
    if not high > low:  # a single bin has no slope
        return np.zeros(len(middle))
    return np.clip((middle - low) / (0.5 * high - 0.5 * low) - 1.0, -1.0, 1.0)


def _ends(counts: BinCounts) -> tuple[int, int]:
    """Return the first and last bins of the middle 98% of the records."""
    n = len(counts.counts) - counts.n_special
    noise = np.sqrt(counts.variance[:n])
    n_records = np.where(counts.counts[:n] > _STANDS_OUT * noise, counts.counts[:n], 0.0)
    if not n_records.sum() > 0:
        return 0, n - 1
    below = np.cumsum(n_records) / n_records.sum()
    first = int(np.searchsorted(below, OUTER_SHARE, side="right"))
    last = int(np.searchsorted(below, 1.0 - OUTER_SHARE))
    first, last = min(first, n - 1), min(last, n - 1)
    return (first, last) if first < last else (0, n - 1)
