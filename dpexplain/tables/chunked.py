"""Interface for tables read in chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.schema import Schema
from dpexplain.tables.columns import cells_of, values_of

Chunk: TypeAlias = tuple[Any, Any]
"""Rows as a DataFrame or ndarray of shape (n, n_features), and their targets of shape (n,)."""


class ChunkError(RuntimeError):
    """Error raised if a chunk could not be read.

    Parameters
    ----------
    kind : str
        Cause of the failure: the type of an error raised by another library, or a fixed text. It is
        shown to users, so it must reveal nothing about any record.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class ChunkedTable(ABC):
    """Base class for tables read in chunks.

    The checks made before the ledger is charged for a fit use only public metadata: the names and
    number of columns. Only `chunks` and `rows` read values.
    """

    on_cluster: bool = False
    """Whether the chunks are read and stored by other processes."""

    @abstractmethod
    def check_columns(self, schema: Schema) -> None:
        """Check that no column of the schema is missing, without reading values."""

    @abstractmethod
    def check_target(self, y: Any, schema: Schema) -> None:
        """Check that `y` is a valid target, without reading values."""

    @abstractmethod
    def chunks(self, y: Any, schema: Schema) -> Iterator[Chunk]:
        """Yield the chunks of the table, with only the features and the target."""

    @abstractmethod
    def rows(self, schema: Schema) -> Iterator[Any]:
        """Yield the chunks of the table in order, with only the features."""


def sample_of(chunks: Iterable[Chunk], n_rows: int, seed: int | None = None) -> Chunk:
    """Draw rows without replacement, all equally likely; not private.

    Parameters
    ----------
    chunks : iterable of Chunk
        Chunks, of which one is in memory at a time, besides at most twice the sample.
    n_rows : int
        Rows to draw; all of them if the table has fewer.
    seed : int or None, default=None
        Seed of the draw; None for a fresh one.

    Returns
    -------
    Chunk
        The rows drawn, in the order of the table.
    """
    rng = np.random.default_rng(seed)
    kept: list[tuple[NDArray[np.float64], Any, Any]] = []  # a key of each row, the row, its target
    for X, y in chunks:
        kept.append((rng.random(len(X)), X, y))
        if sum(len(keys) for keys, _, _ in kept) > 2 * n_rows:
            kept = _of_lowest_keys(kept, n_rows)
    kept = _of_lowest_keys(kept, n_rows)
    parts = [(X, y) for _, X, y in kept]
    if not parts or hasattr(parts[0][0], "columns"):
        return in_one_piece(parts, list(parts[0][0].columns) if parts else [])
    return np.concatenate([X for X, _ in parts]), _joined([y for _, y in parts])


def _of_lowest_keys(
    kept: Sequence[tuple[NDArray[np.float64], Any, Any]], n_rows: int
) -> list[tuple[NDArray[np.float64], Any, Any]]:
    keys = np.concatenate([each for each, _, _ in kept]) if kept else np.empty(0)
    if len(keys) <= n_rows:
        return list(kept)
    highest = np.partition(keys, n_rows - 1)[n_rows - 1]
    found = []
    for each, X, y in kept:
        places = np.flatnonzero(each <= highest)
        found.append((each[places], _rows(X, places), _rows(y, places)))
    return found


def _rows(values: Any, places: NDArray[np.intp]) -> Any:
    return values.iloc[places] if hasattr(values, "iloc") else values[places]


def in_one_piece(chunks: Iterable[Chunk], names: Sequence[str]) -> Chunk:
    """Join the chunks of a table into one chunk in memory, leaving cells unchanged.

    Parameters
    ----------
    chunks : iterable of Chunk
        Chunks; the features of each must be in a DataFrame, not in an array.
    names : sequence of str
        Columns of the result, in the same order as in the chunks.

    Returns
    -------
    Chunk
        The rows of all chunks, in order.
    """
    read = list(chunks)
    frame = {name: _joined([X.iloc[:, place] for X, _ in read]) for place, name in enumerate(names)}
    # A Series keeps the type of each column; a DataFrame would choose new types.
    columns = {name: pd.Series(cells, dtype=cells.dtype) for name, cells in frame.items()}
    return pd.DataFrame(columns, copy=False), _joined([y for _, y in read])


def _joined(columns: Sequence[Any]) -> NDArray[Any]:
    """Join columns into one array, with dtype object if the types differ."""
    values = [values_of(column) for column in columns]
    kinds = {value.dtype for value in values}
    if len(kinds) == 1 and all(isinstance(value, np.ndarray) for value in values):
        return np.concatenate(values)  # type: ignore[arg-type]
    joined = np.empty(sum(map(len, values)), dtype=object)
    start = 0
    for value in values:
        for place, cell in enumerate(cells_of(value), start):
            joined[place] = cell  # assigned one by one, because numpy would unpack a list
        start += len(value)
    return joined
