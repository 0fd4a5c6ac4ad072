"""Coordinates of a linear model: numbers, categories and missing values."""

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
"""Proportion of the people beyond each end of a scale, if the scale follows the released counts."""

_STANDS_OUT = 2.0  # standard deviations of noise that a count needs to be taken for people


@dataclass(frozen=True, eq=False)
class Design:
    """Nonzero coordinate of a record in each bin, and its value.

    A number is one coordinate, scaled to ``[-1, 1]``; "other", "missing" and each category are
    separate coordinates with the value 1. Coordinate 0 is the constant 1. So a record has
    ``n_features + 1`` nonzero coordinates, none of which is larger than 1 in absolute value.

    Attributes
    ----------
    start : ndarray of shape (n_features,), dtype int64
        Index of the first bin of each feature among all bins.
    coordinate : ndarray of shape (n_all_bins,), dtype int64
        Coordinate of each bin.
    value : ndarray of shape (n_all_bins,), dtype int64
        Value of that coordinate, in steps of ``1 / VALUE_STEPS``.
    n_coordinates : int
    together : ndarray of shape (n_coordinates, n_coordinates), dtype bool
        Upper triangle: pairs of coordinates that can both be nonzero.
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
        """Split values of all bins by feature."""
        return np.split(table, self.start[1:])


def design(
    bins: Sequence[FeatureBins], counts: Sequence[BinCounts], *, follow_counts: bool
) -> Design:
    """Lay out the coordinates.

    Parameters
    ----------
    bins : sequence of FeatureBins
        Public cells of each feature.
    counts : sequence of BinCounts
        Released number of records in each cell.
    follow_counts : bool
        Whether numbers are clipped to the middle 98% of the released counts; otherwise, to the
        public bounds.

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
    """Return the bins of all features, record by record."""
    return np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))


def _scaled(edges: FloatArray, counts: BinCounts | None) -> FloatArray:
    """Return the midpoint of each cell, scaled to [-1, 1]."""
    middle = 0.5 * edges[:-1] + 0.5 * edges[1:]
    first, last = (0, len(middle) - 1) if counts is None else _ends(counts)
    low, high = middle[first], middle[last]
    if not high > low:  # a single cell: nothing is linear in it
        return np.zeros(len(middle))
    return np.clip((middle - low) / (0.5 * high - 0.5 * low) - 1.0, -1.0, 1.0)


def _ends(counts: BinCounts) -> tuple[int, int]:
    """Return the first and last cell of the central part of the records."""
    n = len(counts.counts) - counts.n_special
    noise = np.sqrt(counts.variance[:n])
    people = np.where(counts.counts[:n] > _STANDS_OUT * noise, counts.counts[:n], 0.0)
    if not people.sum() > 0:
        return 0, n - 1
    below = np.cumsum(people) / people.sum()
    first = int(np.searchsorted(below, OUTER_SHARE, side="right"))
    last = int(np.searchsorted(below, 1.0 - OUTER_SHARE))
    first, last = min(first, n - 1), min(last, n - 1)
    return (first, last) if first < last else (0, n - 1)
