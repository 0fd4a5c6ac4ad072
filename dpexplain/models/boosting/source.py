"""Where the records of a private fit are: what the fit asks of them, and records in memory.

A fit needs three answers, and all of them are exact integers that add up over parts of the
records: people per cell, then, once cells are merged into bins, sums of residuals per leaf.
So records may lie in one table, in parts, on disk or on other machines, and the same noise
gives the same model to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index
from dpexplain.encoding import encoded_columns
from dpexplain.models.boosting.records import BinnedRecords, Loss, Records
from dpexplain.schema import Schema


@dataclass(frozen=True)
class Encoding:
    """How cells become numbers: each by itself, so that a record looks the same in any part.

    Attributes
    ----------
    schema : Schema
        What is known about the columns.
    target : callable
        Encodes the target by the schema: ``target(y, schema)`` is a float32 array.
    loss : Loss
        What the encoded target is for.
    """

    schema: Schema
    target: Callable[[Any, Schema], NDArray[np.float32]]
    loss: Loss


class RecordSource(Protocol):
    """Records before they are binned. Answers are exact: not released, never kept."""

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records; return people per cell of each feature, shape (n_cells,)."""
        ...

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> BinnedRecords:
        """Merge cells into bins, once; return the records with scores of zero."""
        ...


class TableSource:
    """Records of one table in memory.

    Features are encoded one after the other, so that of the whole table no more than one
    small integer per cell is held.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Columns as in the schema.
    y : array-like of shape (n_samples,)
    encoding : Encoding
    """

    def __init__(self, X: Any, y: Any, encoding: Encoding) -> None:
        self._table = X
        self._encoding = encoding
        self._target = encoding.target(y, encoding.schema)
        self._cells: list[Index] = []

    def __repr__(self) -> str:
        return f"<TableSource of {self._encoding.schema.n_features} features>"

    def cell_counts(self, grids: Sequence[FeatureBins]) -> list[NDArray[np.int64]]:
        """Read the records; return people per cell of each feature, shape (n_cells,)."""
        columns = encoded_columns(self._table, self._encoding.schema)
        self._cells = [grid.index(next(columns)) for grid in grids]  # one column at a time
        self._table = None
        return [
            np.bincount(cells, minlength=grid.n_bins).astype(np.int64)
            for grid, cells in zip(grids, self._cells, strict=True)
        ]

    def binned(self, bin_of_cell: Sequence[Index], n_bins: Sequence[int]) -> Records:
        """Merge cells into bins, once; return the records with scores of zero."""
        bins = [table[self._cells.pop(0)] for table in bin_of_cell]  # one copy at a time
        return Records(bins, n_bins, self._target, self._encoding.loss)
