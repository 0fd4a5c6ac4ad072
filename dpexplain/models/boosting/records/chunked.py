"""Records in chunks in one process; answers to queries are summed over the chunks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index
from dpexplain.mechanisms import Coins
from dpexplain.models.boosting.records.binned import BinnedRecords, Crossing, Records
from dpexplain.models.boosting.records.class_sums import ClassSums
from dpexplain.models.boosting.records.source import (
    EncodedRecords,
    Encoding,
)
from dpexplain.models.boosting.records.spill import Scratch
from dpexplain.tables.chunked import Chunk

CHUNK_ROWS = 1 << 20
"""Minimum number of rows per chunk: smaller chunks are joined, because each chunk needs a separate
pass."""


class ChunkedSource:
    """Records read in chunks and kept in this process as small integers.

    Parameters
    ----------
    chunks : iterable of (X, y)
        Chunks of the table and of the target, which are read only once.
    encoding : Encoding
    memory_bytes : int or None, default=None
        Encoded records beyond this total size go to a temporary file; see `Scratch`.
    """

    def __init__(
        self, chunks: Iterable[Chunk], encoding: Encoding, memory_bytes: int | None = None
    ) -> None:
        self._chunks = chunks
        self._encoding = encoding
        self._scratch = Scratch(memory_bytes)

    def __repr__(self) -> str:
        return f"<ChunkedSource of {self._encoding.schema.n_features} features>"

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records and return the number of records per cell of each feature."""
        n_cells = [grid.n_bins for grid in grids]
        waiting = [_no_records(self._encoding, grids)]
        counts = waiting[0].counts(n_cells)
        for X, y in self._chunks:
            found = EncodedRecords.read(X, y, self._encoding, grids)
            counts = [total + new for total, new in zip(counts, found.counts(n_cells), strict=True)]
            waiting.append(found)
            if sum(map(len, waiting)) >= CHUNK_ROWS:
                self._scratch.add(EncodedRecords.joined(waiting))
                waiting = []
        if waiting:
            self._scratch.add(EncodedRecords.joined(waiting))
        return counts

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> ChunkedRecords:
        """Merge cells into bins and return the records, with scores of zero."""
        return ChunkedRecords(
            [
                chunk.binned(bin_of_cell, n_bins, self._encoding.loss)
                for chunk in self._scratch.records()
            ]
        )

    def close(self) -> None:
        """Free the records and the temporary file."""
        self._chunks = ()
        self._scratch.close()


def _no_records(encoding: Encoding, grids: Sequence[FeatureBins]) -> EncodedRecords:
    """Encode an empty chunk, so that even an empty table has a chunk."""
    nothing = np.empty(0, dtype=object)
    X = pd.DataFrame({name: nothing for name in encoding.schema.feature_names})
    return EncodedRecords.read(X, nothing, encoding, grids)


class ChunkedRecords:
    """Binned records in chunks, all of them in one process.

    Parameters
    ----------
    chunks : sequence of BinnedRecords
        Chunks in order; at least one.
    """

    def __init__(self, chunks: Sequence[BinnedRecords]) -> None:
        self._chunks = list(chunks)

    def __repr__(self) -> str:
        return "<ChunkedRecords>"

    def apply(self, feature: int, update: NDArray[np.float64]) -> None:
        """Store an update per bin, which the next pass adds to the scores of the records."""
        for chunk in self._chunks:
            chunk.apply(feature, update)

    def leaf_sums(
        self, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> NDArray[np.int64]:
        """Sum clipped residuals per leaf, in lattice steps."""
        return total(p.leaf_sums(feature, leaf_of_bin, n_leaves, clip) for p in self._chunks)

    def within(self, clip: float) -> NDArray[np.int64]:
        """Count the residuals that are not clipped, and all residuals."""
        return total(p.within(clip) for p in self._chunks)

    def joint_counts(
        self, groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Return the number of records in each pair of groups, for some pairs of features."""
        return total(p.joint_counts(groups, pairs) for p in self._chunks)

    def score_counts(
        self, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> NDArray[np.int64]:
        """Count the records by outcome and score cell, shape (n_outcomes, n_cells)."""
        return total(p.score_counts(low, width, n_cells, largest) for p in self._chunks)

    def class_sums(self, each: ClassSums) -> NDArray[np.int64]:
        """Sum what calibrates several classes over the records, in lattice steps."""
        return total(p.class_sums(each) for p in self._chunks)

    def cross(self, crossing: Crossing) -> None:
        """Add a column with the cell of each record in a crossing of two features."""
        for chunk in self._chunks:
            chunk.cross(crossing)

    def cell_counts(self, column: int, n_cells: int) -> NDArray[np.int64]:
        """Return the number of records in each cell of a crossing, shape (n_cells,)."""
        return total(p.cell_counts(column, n_cells) for p in self._chunks)

    def bag(self, share: float, coins: Coins) -> ChunkedRecords:
        """Return a Bernoulli sample of the records, in memory, with zero scores.

        There is one random draw per record, in the order of the chunks, as for a single table.
        """
        return ChunkedRecords([chunk.bag(share, coins) for chunk in self._chunks])

    def local(self) -> list[Records]:
        """Return the blocks of records of all chunks, in order."""
        return [piece for chunk in self._chunks for piece in chunk.local()]


def total(answers: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add up the exact integer answers of all chunks."""
    return reduce(np.add, answers)
