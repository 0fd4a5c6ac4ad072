"""Cells that adapt to the records: heavy public cells are split and counted again.

The budget of the histograms is divided among rounds. The first round counts coarse cells. Before
each later round, cells that hold far too many records are split; then all cells are counted again.
The estimates of all rounds are combined by least squares, so a cell that is never split is known as
precisely as if the whole budget had been spent in one round: if nothing has to be split, several
rounds cost nothing. Consistent counts on a hierarchy were proposed by Hay, Rastogi, Miklau and
Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency", VLDB 2010,
arXiv:0904.0942.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins
from dpexplain.binning.histograms import NoisyHistograms, release_histograms
from dpexplain.mechanisms import Mechanism

_MOST_PARTS = 32
"""Maximum number of cells into which a heavy cell is split."""

_PART_NOISE_RATIO = 2.0
"""Minimum ratio of the average count of its parts to the noise of a full-budget count.

More parts would make their sum too noisy, because the noise of all parts adds up.
"""

_HEAVY_SHARE = 0.4
"""Minimum share of all records in a heavy cell that is not yet a part of another.

Splitting smaller cells cost accuracy on skewed columns whose bounds fit; see `docs/recipe.md`.
"""

_MOST_CELLS = 8.0
"""Minimum ratio of a heavy cell's count to that of a cell of average size."""

_NOISE_RATIO = 3.0
"""Minimum ratio of a heavy cell's count to its noise."""

FloatArray = NDArray[np.float64]
Starts = NDArray[np.intp]
"""Index of the finest cell with which each cell begins, in increasing order from 0."""


@dataclass(frozen=True, eq=False)
class RefinedHistograms:
    """Noisy histograms over cells that were split where records are dense.

    Parameters
    ----------
    starts : tuple of ndarray of shape (n_cells,), one per feature
        Index of the finest cell with which each counted cell begins.
    histograms : NoisyHistograms
        Estimated counts of the cells in `starts`.
    first : NoisyHistograms
        Estimated counts of the cells of the first round. For a cell that was split later, only the
        rounds before the split are used.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import NoisyHistograms, RefinedHistograms
    >>> first = NoisyHistograms((np.array([803.0, -2.0]),), noise_std=2.0)
    >>> after = NoisyHistograms((np.array([1.0, 802.5, -2.0]),), noise_std=2.0)
    >>> refined = RefinedHistograms((np.array([0, 50, 100]),), after, first)
    >>> refined.starts[0], refined.histograms.counts[0]
    (array([  0,  50, 100]), array([ 1. , 802.5,  -2. ]))
    """

    starts: tuple[Starts, ...]
    histograms: NoisyHistograms
    first: NoisyHistograms


def first_cells(finest: FeatureBins, cells: FeatureBins) -> Starts:
    """Return the index of the finest cell with which each cell begins.

    Parameters
    ----------
    finest : FeatureBins
        Finest cells of a feature.
    cells : FeatureBins
        Coarser cells of the same feature, whose edges are among those of the finest.

    Returns
    -------
    ndarray of shape (cells.n_bins,)

    Examples
    --------
    >>> from dpexplain.binning import declared_cells, fine_cells, first_cells
    >>> from dpexplain.schema import Numeric
    >>> cells = declared_cells("age", Numeric(0, 99, step=1), 2, "equal")
    >>> first_cells(fine_cells(cells), cells)    # the last cell holds missing values
    array([  0,  50, 100])
    """
    if finest.edges is None or cells.edges is None:
        return np.arange(finest.n_bins)
    values = np.searchsorted(finest.edges, cells.edges[:-1])
    return np.concatenate([values, np.arange(finest.n_value_bins, finest.n_bins)])


def cells_from(finest: FeatureBins, starts: Starts) -> FeatureBins:
    """Return the cells that begin at given finest cells; inverse of `first_cells`.

    Parameters
    ----------
    finest : FeatureBins
        Finest cells of a feature.
    starts : ndarray of shape (n_cells,)
        Index of the finest cell with which each cell begins.

    Returns
    -------
    FeatureBins

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import cells_from, declared_cells, fine_cells
    >>> from dpexplain.schema import Numeric
    >>> finest = fine_cells(declared_cells("age", Numeric(0, 99, step=1), 2))
    >>> cells_from(finest, np.array([0, 50, 100])).edges
    array([-0.5, 49.5, 99.5])
    """
    if finest.edges is None:
        return finest
    edges = np.append(finest.edges[starts[starts < finest.n_value_bins]], finest.edges[-1])
    return FeatureBins(finest.name, finest.feature, edges)


def release_refined(
    finest_counts: Sequence[NDArray[np.int64]],
    starts: Sequence[Starts],
    mechanism: Mechanism,
    *,
    noise_multiplier: float,
    sensitivity: float,
    shares: Sequence[float],
    n_records: float,
    n_cells: int,
) -> RefinedHistograms:
    """Release noisy histograms in rounds, splitting heavy cells between rounds.

    Parameters
    ----------
    finest_counts : sequence of ndarray of shape (n_finest_cells,), dtype int64
        Exact number of records in each cell of each finest public grid.
    starts : sequence of ndarray of shape (n_cells,)
        Cells of the first round, as indices of their first finest cells.
    mechanism : Mechanism
        Mechanism that makes the releases.
    noise_multiplier : float
        Noise standard deviation divided by the sensitivity of one histogram, if the histogram were
        released once with the budget of all rounds.
    sensitivity : float
        L2 sensitivity of one histogram, in records.
    shares : sequence of float
        Share of the budget (mu squared) of each round; their sum is 1.
    n_records : float
        Noisy number of records, released earlier.
    n_cells : int
        Maximum number of cells of a numeric feature in the first round.

    Returns
    -------
    RefinedHistograms

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import release_refined
    >>> from dpexplain.mechanisms import Mechanism, NoiseSource
    >>> exact = np.zeros(1_001, dtype=np.int64)
    >>> exact[3:5] = 40_000    # the thousand finest cells are followed by one for missing values
    >>> refined = release_refined(
    ...     [exact],
    ...     [np.array([0, 500, 1_000])],
    ...     Mechanism(NoiseSource()),
    ...     noise_multiplier=20,
    ...     sensitivity=1.0,
    ...     shares=(0.5, 0.5),
    ...     n_records=80_000,
    ...     n_cells=32,
    ... )
    >>> refined.starts[0][:4]
    array([ 0, 15, 31, 46])
    """
    now = [np.asarray(s, dtype=np.intp) for s in starts]
    found: list[_Estimate] = []
    std = noise_multiplier * sensitivity
    for number, share in enumerate(shares):
        released = release_histograms(
            [np.add.reduceat(c, s) for c, s in zip(finest_counts, now, strict=True)],
            mechanism,
            noise_multiplier=noise_multiplier / np.sqrt(share),
            sensitivity=sensitivity,
        )
        if number == 0:
            found = [_Estimate.first(c, 1.0 / share) for c in released.counts]
        else:
            found = [e.updated(c, 1.0 / share) for e, c in zip(found, released.counts, strict=True)]
        if number + 1 < len(shares):
            for k, estimate in enumerate(found):
                parts = _parts(estimate, n_records, n_cells, std)
                now[k], parent = _split(now[k], len(finest_counts[k]), parts)
                found[k] = estimate.of_parts(parent)
    return RefinedHistograms(
        tuple(now),
        _histograms([(e.counts, e.spread) for e in found], std),
        _histograms([(e.first_counts, e.first_spread) for e in found], std),
    )


def _histograms(
    of_features: Sequence[tuple[FloatArray, FloatArray]], std: float
) -> NoisyHistograms:
    counts, spread = zip(*of_features, strict=True)
    return NoisyHistograms(counts, std, spread=spread)


def _parts(estimate: _Estimate, n_records: float, n_cells: int, std: float) -> Starts:
    """Return the number of parts to split each cell into: 1 unless it is heavy."""
    noise = std * np.sqrt(estimate.spread)
    owner = estimate.first_of_cell
    share = np.where(np.bincount(owner)[owner] == 1, _HEAVY_SHARE, 0.0)
    least = n_records * np.maximum(share, _MOST_CELLS / n_cells)
    heavy = estimate.counts > np.maximum(least, _NOISE_RATIO * noise)
    parts = np.clip(estimate.counts / (_PART_NOISE_RATIO * std), 2, _MOST_PARTS)
    return np.where(heavy, parts, 1.0).astype(np.intp)


def _split(starts: Starts, n_finest: int, parts: Starts) -> tuple[Starts, Starts]:
    """Split cells into parts with nearly equal numbers of finest cells.

    Returns the new starts and the index of the cell to which each new cell belonged. A cell made of
    a single finest cell, such as one for missing values, stays as it is.
    """
    width: Starts = np.diff(np.append(starts, n_finest))
    parts = np.minimum(parts, width)
    parent: Starts = np.repeat(np.arange(len(starts), dtype=np.intp), parts)
    place: Starts = np.arange(len(parent)) - (np.cumsum(parts) - parts)[parent]
    begin: Starts = starts[parent] + place * width[parent] // parts[parent]
    return begin, parent


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Counts of a feature's cells, with variances relative to those at full budget."""

    counts: FloatArray
    spread: FloatArray
    parent: Starts
    first_of_cell: Starts
    first_counts: FloatArray
    first_spread: FloatArray

    @classmethod
    def first(cls, counts: FloatArray, spread: float) -> _Estimate:
        all_spread, cells = np.full(len(counts), spread), np.arange(len(counts))
        return cls(counts, all_spread, cells, cells, counts, all_spread)

    def of_parts(self, parent: Starts) -> _Estimate:
        """Return the same estimate, with the cell to which each part will belong."""
        return _Estimate(
            self.counts,
            self.spread,
            parent,
            self.first_of_cell[parent],
            self.first_counts,
            self.first_spread,
        )

    def updated(self, measured: FloatArray, spread: float) -> _Estimate:
        """Combine the estimates of cells with new counts of their parts, by least squares.

        A cell that was not split gets the weighted mean of its estimate and its new count. For a
        cell that was split, the sum of the parts' new counts moves toward the estimate of the cell,
        and the counts of all its parts change by the same amount.
        """
        parts = np.bincount(self.parent)
        sums = np.bincount(self.parent, weights=measured)
        gain = spread / (parts * spread + self.spread)
        counts = measured + (gain * (self.counts - sums))[self.parent]
        left = (spread - spread * gain)[self.parent]
        of_whole = np.flatnonzero(np.bincount(self.first_of_cell)[self.first_of_cell] == 1)
        first_counts, first_spread = self.first_counts.copy(), self.first_spread.copy()
        first_counts[self.first_of_cell[of_whole]] = counts[of_whole]
        first_spread[self.first_of_cell[of_whole]] = left[of_whole]
        return _Estimate(
            counts,
            left,
            np.arange(len(counts)),
            self.first_of_cell,
            first_counts,
            first_spread,
        )
