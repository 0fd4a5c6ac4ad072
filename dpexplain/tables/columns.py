"""Columns and cells of tables from any library."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpexplain._utils.lazy import pd
from dpexplain._utils.names import closest_name
from dpexplain.exceptions import SchemaError
from dpexplain.schema.features import Feature
from dpexplain.tables.cells import UNREADABLE
from dpexplain.tables.frames import converted, frame_of, is_stream

Values: TypeAlias = "NDArray[Any] | pd.api.extensions.ExtensionArray"
Column: TypeAlias = "ArrayLike | pd.api.extensions.ExtensionArray"


_REPEATABLE: Final = frozenset({"duckdb", "ibis", "polars"})
"""Packages whose queries are executed again each time they are read."""


class KnownColumns(Protocol):
    """Interface for the parts of a schema needed to read columns."""

    @property
    def features(self) -> Mapping[str, Feature]:
        """Features, keyed by column name."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""

    @property
    def n_features(self) -> int:
        """Number of features."""


class KnownRoles(KnownColumns, Protocol):
    """Interface for the parts of a schema that name columns."""

    @property
    def id(self) -> str | Sequence[str]:
        """Columns that identify records."""

    @property
    def person(self) -> str | None:
        """Column that identifies people, or None."""


def columns_in_order(X: ArrayLike, schema: KnownColumns) -> list[pd.Series | NDArray[Any]]:
    """Return the columns in schema order, without reading values.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        The table. It is checked in the same way as in :func:`check_columns`.
    schema : Schema
        Public knowledge about the columns.

    Returns
    -------
    list of Series or ndarray of shape (n_samples,)
        One column per feature.
    """
    table = as_table(X)
    if isinstance(table, pd.DataFrame):
        position = _positions(table, schema)
        return [table.iloc[:, position[name]] for name in schema.feature_names]
    if table.shape[1] != schema.n_features:
        raise SchemaError(
            f"X has {table.shape[1]} features, but Schema is expecting {schema.n_features} "
            "features as input; an array has the columns of the schema, in its order."
        )
    return [table[:, index] for index in range(schema.n_features)]


def kind_in_parts(X: object) -> str:
    """Return the type of a chunked table in words, or "" for a table in memory.

    Parameters
    ----------
    X : object
        The table. Its library is not imported for this check.

    Returns
    -------
    str
        "a path", "a Dask collection", "a pyarrow dataset", "an Arrow stream", "a lazy query" or "".
    """
    if isinstance(X, str | os.PathLike):
        return "a path"
    if hasattr(X, "__dask_graph__"):
        return "a Dask collection"
    if type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "get_fragments"):
        return "a pyarrow dataset"
    if is_stream(X):
        return "a lazy query" if hasattr(X, "collect_schema") else "an Arrow stream"
    return ""


def reads_once(X: object) -> bool:
    """Return whether a stream is empty after it has been read."""
    return type(X).__module__.split(".")[0].lstrip("_") not in _REPEATABLE


def as_table(X: ArrayLike, n_columns: int | None = None) -> pd.DataFrame | NDArray[Any]:
    """Return a frame or a two-dimensional array, leaving cells unchanged.

    Parameters
    ----------
    X : DataFrame, array or sequence of rows
        The table. DataFrames from polars, Arrow and other libraries that narwhals supports are
        accepted.
    n_columns : int or None, default=None
        Public number of cells in each row. If it is given and `X` is a sequence of rows, each row
        of a different length, or that is not a row at all, becomes a row of empty cells. If None,
        such rows raise an error, which reveals that they exist.

    Returns
    -------
    DataFrame or ndarray of shape (n_samples, n_features)
        A DataFrame if `X` is a DataFrame from any library, otherwise an array. `X` itself is
        returned if it is already a pandas DataFrame or a two-dimensional array.

    Raises
    ------
    ValueError
        If `X` does not have two dimensions, or the library that it comes from cannot convert it.
    TypeError
        If `X` is a sparse matrix, a dictionary, or a query that has not been executed.
    """
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix, which is not supported; pass X.toarray().")
    if isinstance(X, Mapping):
        raise TypeError(
            "X is a dictionary; pass a table: pandas.DataFrame([X]) if it is one record, or "
            "pandas.DataFrame(X) if it contains columns."
        )
    if isinstance(X, pd.DataFrame):
        return X
    frame = frame_of(X)
    if frame is not None:
        return frame
    if isinstance(X, np.matrix):  # its columns have two dimensions
        return np.asarray(X)
    table = X if isinstance(X, np.ndarray) else _array_of_rows(X, n_columns)
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array of shape (n_samples, n_features), got {table.ndim}D array instead. "
            "Reshape your data with X.reshape(-1, 1) if it has a single feature, or with "
            "X.reshape(1, -1) if it is a single sample (a Series of one record: X.to_frame().T)."
        )
    return table


def _array_of_rows(rows: Any, n_columns: int | None = None) -> NDArray[Any]:
    """Return the cells of a list of rows as an array of objects.

    Without this function, numpy would inspect the cells: a single string would turn all of them
    into strings, and nested lists of equal length would add a dimension.
    """
    if hasattr(rows, "__array__"):
        table: NDArray[Any] = converted(rows, lambda: np.asarray(rows, dtype=object))
        return table
    if n_columns is not None and isinstance(rows, Sequence):
        rows = [_cells_of_row(row, n_columns) for row in rows]
    if not isinstance(rows, Sequence) or not all(_is_row(row) for row in rows):
        return np.empty(0, dtype=object)  # one-dimensional, so the caller raises an error
    found = {len(row) for row in rows} or {n_columns or 0}
    if len(found) > 1:
        raise ValueError("X has rows of different lengths; pass one cell per column in each row.")
    table = np.empty((len(rows), found.pop()), dtype=object)
    for filled, row in zip(table, rows, strict=True):
        for index, cell in enumerate(row):
            filled[index] = cell  # assigned one by one, because numpy would unpack a nested list
    return table


def _cells_of_row(row: Any, n_columns: int) -> list[Any]:
    """Return the cells of a row, or empty cells if it is not a row of this length."""
    try:
        cells = list(row) if _is_row(row) else []
    except Exception:  # a row without a length, or one that raises an error
        cells = []
    return cells if len(cells) == n_columns else [None] * n_columns


def _is_row(row: object) -> bool:
    return isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes)


def values_of(column: Column) -> Values:
    """Return the cells of one column as a numpy or pandas array."""
    if isinstance(column, pd.MultiIndex):
        return _tuples_of(column)
    if isinstance(column, pd.Series | pd.Index):
        column = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
    if isinstance(column, np.ma.MaskedArray) and column.ndim == 1:
        masked, cells = np.ma.getmaskarray(column), cells_of(column.data)
        column = np.fromiter(cells, dtype=object, count=len(cells))
        column[masked] = None  # numpy would fill masked cells with a question mark
    if not isinstance(column, np.ndarray | pd.api.extensions.ExtensionArray | pd.DataFrame):
        cells = list(column)  # type: ignore[arg-type]
        column = np.fromiter(cells, dtype=object, count=len(cells))
    if isinstance(column, pd.DataFrame) or column.ndim != 1:
        raise ValueError(
            f"Expected one column of shape (n_samples,), got {column.ndim} dimensions; pass one "
            "value per row."
        )
    return column


def _tuples_of(index: pd.MultiIndex) -> NDArray[np.object_]:
    """Return the parts of each label, where pandas may make floats of integers."""
    parts = []
    for level, codes in zip(index.levels, index.codes, strict=True):
        cells = [*cells_of(values_of(level)), None]  # a code of -1 stands for a missing part
        parts.append([cells[code] for code in codes])
    return np.fromiter(zip(*parts, strict=True), dtype=object, count=len(index))


def cells_of(values: Values) -> Sequence[object]:
    """Return the cells as objects; dates remain dates instead of becoming integers.

    If one cell prevents a library from converting the column to objects, only that cell becomes
    :class:`~dpexplain.tables.cells.Unreadable`.
    """
    try:
        if isinstance(values.dtype, pd.StringDtype):
            return np.asarray(values, dtype=object).tolist()
        if isinstance(values, np.ndarray) and values.dtype.kind not in "mM":
            return values.tolist()
        return list(values)
    except Exception:
        return [_cell(values, place) for place in range(len(values))]


def _cell(values: Any, place: int) -> object:
    try:
        return values[place]
    except Exception:
        return UNREADABLE


def _positions(frame: pd.DataFrame, schema: KnownColumns) -> dict[str, int]:
    names = [str(name) for name in frame.columns]
    check_names(names, schema)
    return {name: index for index, name in enumerate(names)}


def check_names(names: Sequence[str], schema: KnownColumns) -> None:
    """Check that every column of the schema occurs exactly once; ignore other columns.

    Parameters
    ----------
    names : sequence of str
        Columns of a table, in any order.
    schema : Schema
        Public knowledge about the columns.

    Raises
    ------
    SchemaError
        If columns of the schema are missing or duplicated.
    """
    missing = [name for name in schema.feature_names if name not in names]
    doubled = [name for name in schema.feature_names if names.count(name) > 1]
    unknown = [name for name in names if name not in schema.features]
    for verb, found, others, more, step in (
        ("lacks", missing, unknown, "", "add or rename"),
        ("has", doubled, [], " more than once", "remove all but one of"),
    ):
        if found:
            columns, them = ("column", "it") if len(found) == 1 else ("columns", "them")
            raise SchemaError(
                f"X {verb} the {columns} {_named(found, others)}{more}; the schema names "
                f"{_named(list(schema.feature_names))}; {step} {them}."
            )


def _named(names: list[str], others: Sequence[str] = (), n_shown: int = 8) -> str:
    """List names with "did you mean" suggestions from `others`."""
    shown = []
    for name in names[:n_shown]:
        meant = closest_name(name, others)
        shown.append(repr(name) if meant is None else f"{name!r} (did you mean {meant!r}?)")
    return ", ".join(shown) + (f" and {len(names) - n_shown} more" if len(names) > n_shown else "")


def one_column(y: ArrayLike) -> Column:
    """Return a target as one column; the target may be a table with one column."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        return y.iloc[:, 0]
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    return y
