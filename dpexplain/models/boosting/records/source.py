"""Interface for a private fit's record sources, and the source for one table.

A fit needs only exact integers that can be added up over chunks of the records: counts per cell
and, after cells are merged into bins, sums of residuals per leaf. Therefore, records may be in one
table, in chunks, on disk or on other machines: with the same noise, the models are bit-for-bit
identical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index, index_dtype
from dpexplain.models.boosting.records.binned import BinnedRecords, Loss, Records
from dpexplain.models.inputs import rows_with_target
from dpexplain.schema import Schema
from dpexplain.tables.encoding import encoded_columns

_BLOCK = 1 << 16
"""Number of records whose cells are merged at a time, so that no copy of a whole column is made."""


@dataclass(frozen=True)
class Encoding:
    """Rules for encoding records, which are the same for all chunks.

    Attributes
    ----------
    schema : Schema
        Names and kinds of the columns.
    target : callable
        Function that encodes the target; ``target(y, schema)`` returns a float32 array. It must be
        a module-level function, because it is sent to other processes by name.
    loss : Loss
        Loss for the encoded target.
    """

    schema: Schema
    target: Callable[[Any, Schema], NDArray[np.float32]]
    loss: Loss


class RecordSource(Protocol):
    """Interface for sources of records that are not yet binned.

    The results of its methods are exact and must never be released or stored.
    """

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records and return the number of records per cell of each feature."""
        ...

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> BinnedRecords:
        """Merge cells into bins and return the records, with scores of zero."""
        ...

    def close(self) -> None:
        """Free the memory used by the records, after a fit or a failure."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class EncodedRecords:
    """Records encoded as cell indices, before cells are merged into bins.

    Attributes
    ----------
    cells : list of ndarray of shape (n_samples,), dtype uint8 or uint16
        Cell of each record, per feature.
    target : ndarray of shape (n_samples,), dtype float32
        Encoded target of each record.
    """

    cells: list[Index]
    target: NDArray[np.float32]

    @classmethod
    def read(
        cls, X: Any, y: Any, encoding: Encoding, grids: Sequence[FeatureBins]
    ) -> EncodedRecords:
        """Encode a table column by column, dropping rows without a target.

        Parameters
        ----------
        X : DataFrame or ndarray of shape (n_samples, n_features)
            Columns as in the schema.
        y : array-like of shape (n_samples,)
        encoding : Encoding
        grids : sequence of FeatureBins
            Public cells of each feature.

        Returns
        -------
        EncodedRecords
        """
        X, y, _ = rows_with_target(X, y, encoding.schema)
        columns = encoded_columns(X, encoding.schema)
        cells = [grid.index(next(columns)) for grid in grids]  # one column at a time
        return cls(cells, encoding.target(y, encoding.schema))

    @classmethod
    def joined(cls, chunks: Sequence[EncodedRecords]) -> EncodedRecords:
        """Concatenate records into new arrays."""
        cells = [np.concatenate(column) for column in zip(*(p.cells for p in chunks), strict=True)]
        return cls(cells, np.concatenate([p.target for p in chunks]))

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return f"<EncodedRecords of {len(self.cells)} features>"

    def counts(self, n_cells: Sequence[int]) -> list[NDArray[np.int64]]:
        """Return the number of records per cell of each feature."""
        return [_counts(cells, n) for cells, n in zip(self.cells, n_cells, strict=True)]

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int], loss: Loss) -> Records:
        """Merge cells into bins, replacing the cells of one feature after another."""
        for feature, (table, n) in enumerate(zip(bin_of_cell, n_bins, strict=True)):
            narrow = table.astype(index_dtype(n), copy=False)
            self.cells[feature] = _merged(self.cells[feature], narrow)
        return Records(self.cells, n_bins, self.target, loss)


def _counts(cells: Index, n_cells: int) -> NDArray[np.int64]:
    """Count the records in each cell, in blocks because they are converted to int64."""
    total = np.bincount(cells[:_BLOCK], minlength=n_cells).astype(np.int64, copy=False)
    for start in range(_BLOCK, len(cells), _BLOCK):
        total += np.bincount(cells[start : start + _BLOCK], minlength=n_cells)
    return total


def _merged(cells: Index, bin_of_cell: Index) -> Index:
    """Replace cells by bins, in place if the cells are in a file."""
    if cells.dtype == bin_of_cell.dtype:
        bins = cells
    elif cells.flags.owndata:
        bins = np.empty(len(cells), bin_of_cell.dtype)
    else:  # no bin is written over a cell that is still to be read
        bins = cells.view(bin_of_cell.dtype)[: len(cells)]
    for start in range(0, len(cells), _BLOCK):
        bins[start : start + _BLOCK] = bin_of_cell[cells[start : start + _BLOCK]]
    return bins


class TableSource:
    """Records of one table in memory.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Columns as in the schema.
    y : array-like of shape (n_samples,)
    encoding : Encoding
    """

    def __init__(self, X: Any, y: Any, encoding: Encoding) -> None:
        self._table = (X, y)
        self._encoding = encoding
        self._records: EncodedRecords | None = None

    def __repr__(self) -> str:
        return f"<TableSource of {self._encoding.schema.n_features} features>"

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records and return the number of records per cell of each feature."""
        self._records = EncodedRecords.read(*self._table, self._encoding, grids)
        return self._records.counts([grid.n_bins for grid in grids])

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> Records:
        """Merge cells into bins and return the records, with scores of zero."""
        assert self._records is not None
        return self._records.binned(bin_of_cell, n_bins, self._encoding.loss)

    def close(self) -> None:
        """Free the memory used by the records."""
        self._table, self._records = (None, None), None
