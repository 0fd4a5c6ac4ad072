"""Arrow streams and lazy queries, read in batches.

Any object with ``__arrow_c_stream__`` is a stream, such as a DuckDB relation, a pyarrow or ADBC
reader, or an ibis table. A lazy polars query is collected in batches. The library that creates
the batches declares one type for each column, and missing cells are stored separately, so each cell
is read independently, unless the library chose the type by the cells (ADBC with SQLite).

Nothing is executed before the ledger is charged, because a query may fail on a record (for example,
when casting text to a number). The stream or query itself must therefore declare its column names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final
from weakref import WeakValueDictionary

from dpexplain._utils.extras import needed
from dpexplain.schema import Schema
from dpexplain.tables.chunked import Chunk, ChunkedTable, ChunkError
from dpexplain.tables.chunked_arrow import BATCH_ROWS, features_and_target, frame_of_batch
from dpexplain.tables.columns import check_names, reads_once
from dpexplain.tables.frames import frame_of
from dpexplain.tables.targets import check_name

_READ: Final[WeakValueDictionary[int, Any]] = WeakValueDictionary()
"""Streams that have been read and are therefore empty, by their ids."""

_GUESSING: Final = frozenset({"pyarrow._csv", "pyarrow._json"})
"""Modules whose streams read text, and guess types and the ends of lines from all of it."""


class StreamTable(ChunkedTable):
    """Chunked table that reads an Arrow stream or a lazy query once.

    Parameters
    ----------
    X : object
        An object with ``__arrow_c_stream__`` that declares its column names, or a polars
        LazyFrame.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    TypeError
        If the column names are not known before the stream is read, if the stream guesses types
        from text, or if the version of polars cannot collect in batches.
    ValueError
        If the stream can be read only once, and an earlier call has read it.
    """

    def __init__(self, X: Any) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ImportError(needed("reading Arrow streams", "pyarrow", "dask")) from error
        if type(X).__module__ in _GUESSING:
            raise TypeError(
                f"X is a {type(X).__name__}, which reads text and guesses column types from it; "
                "write the records to Parquet, or pass dpexplain.tables.read_texts(path)."
            )
        if _READ.get(id(X)) is X:
            raise ValueError(
                f"X is a {type(X).__name__} that an earlier call has read, so it has no rows left; "
                "create it again for each call."
            )
        self._stream = X
        self._names = _column_names(X)

    def __repr__(self) -> str:
        return "<StreamTable>"

    def check_columns(self, schema: Schema) -> None:
        """Check that no column of the schema is missing, without reading values."""
        check_names(self._names, schema)

    def check_target(self, y: Any, schema: Schema) -> None:
        """Check that `y` names one column of the stream, without reading values."""
        check_name(y, self._names, schema)

    def chunks(self, y: Any, schema: Schema) -> Iterator[Chunk]:
        """Read the stream, in batches."""
        for frame in self._frames([*schema.feature_names, y]):
            yield features_and_target(frame)

    def rows(self, schema: Schema) -> Iterator[Any]:
        """Read the features of the stream, in batches."""
        yield from self._frames(list(schema.feature_names))

    def _frames(self, names: list[str]) -> Iterator[Any]:
        frames = _frames_of(self._stream, names)
        if reads_once(self._stream):
            with suppress(TypeError):  # some streams cannot be remembered without keeping them
                _READ[id(self._stream)] = self._stream
        while True:
            try:
                frame = next(frames, None)
            except BaseException as error:  # a panic of polars is not an Exception
                if not isinstance(error, Exception) and _asked_to_stop(error):
                    raise
                failure = type(error).__name__
            else:
                failure = ""
            if failure:  # raised here, because a chained error might show a cell
                raise ChunkError(failure)
            if frame is None:
                return
            yield frame


def _asked_to_stop(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit)


def _frames_of(X: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a stream, in frames that are not too long."""
    for batch in _batches(X, names):
        for start in range(0, len(batch), BATCH_ROWS):
            part = batch[start : start + BATCH_ROWS]
            yield part if hasattr(part, "iloc") else frame_of_batch(part, names)


def _batches(X: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the record batches of a stream, or frames if it has columns of objects."""
    from pyarrow import RecordBatchReader

    if not hasattr(X, "collect_batches"):
        yield from RecordBatchReader.from_stream(X)
        return
    # Arrow would store places in the memory for a column that one cell makes one of objects.
    types = X.collect_schema()
    objects = any(str(types[name]) == "Object" for name in names)
    for frame in X.select(list(names) if objects else _for_arrow(X, names)).collect_batches():
        yield from [frame_of(frame)] if objects else RecordBatchReader.from_stream(frame)


def _for_arrow(X: Any, names: Sequence[str]) -> list[Any]:
    """Return the columns of a lazy polars query, in types that Arrow knows.

    Integers of 128 bits become floats, as numbers and categories do when they are read. In a nested
    column of them, no cell is a number or a text; these cells become bytes, which are neither.
    """
    import polars as pl

    columns, types = [], X.collect_schema()
    for name in names:
        column = pl.col(name)
        if types[name].is_nested() and "Int128" in str(types[name]):
            column = pl.when(column.is_not_null()).then(pl.lit(b"")).alias(name)
        elif "Int128" in str(types[name]):
            column = column.cast(pl.Float64)
        columns.append(column)
    return columns


def _column_names(X: Any) -> list[str]:
    """Return the column names that a stream declares, without executing it."""
    if hasattr(X, "collect_schema"):
        if not hasattr(X, "collect_batches"):
            raise TypeError(
                f"X is a {type(X).__name__} that this version of polars cannot collect in batches; "
                "pass X.collect(), or update polars."
            )
        return _resolved_names(X)
    names = getattr(X, "columns", None)
    if not isinstance(names, list | tuple):
        names = getattr(getattr(X, "schema", None), "names", None)
    if not isinstance(names, list | tuple):
        raise TypeError(
            f"X is a {type(X).__name__}, whose columns are known only once it is read; pass "
            "pyarrow.RecordBatchReader.from_stream(X)."
        )
    return [str(name) for name in names]


def _resolved_names(X: Any) -> list[str]:
    """Return the column names of a lazy query; report only the type of any error."""
    try:
        return [str(name) for name in X.collect_schema().names()]
    except Exception as error:
        failure = type(error).__name__
    raise ValueError(
        f"X is a {type(X).__name__} whose columns polars cannot resolve ({failure}); call "
        "X.collect_schema() to see why."
    )
