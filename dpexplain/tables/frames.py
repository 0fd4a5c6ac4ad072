"""Convert tables from other libraries to pandas through narwhals.

Cells are converted without changes. If a column has empty cells, each cell is converted separately.
If the other library converted such a column to pandas, integers would become floats, so one record
would change how other records are read. A cell that the library cannot convert to a Python object
(a date after the year 9999, bytes that are not text) raises no error and is neither a number nor a
string.

For such a cell, polars panics: it prints a message and raises an exception that is not an
`Exception`. Catching it would not suppress the message, so polars is never asked for such a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.tables.cells import FIRST_DAY, LAST_DAY, UNREADABLE

_PER_DAY: Final = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_LONGEST_DAYS: Final = timedelta.max.days


def frame_of(X: object) -> pd.DataFrame | None:
    """Convert a table from another library to a pandas DataFrame.

    Parameters
    ----------
    X : object
        A table, or any other object.

    Returns
    -------
    DataFrame or None
        The converted table; None if `X` is not a table from another library.

    Raises
    ------
    TypeError
        If `X` is a query that has not been executed.
    ValueError
        If the other library cannot convert the table.
    """
    if isinstance(X, pd.DataFrame | pd.Series | np.ndarray | list | tuple):
        return None
    if call := _executed_by(X):
        raise TypeError(
            f"X is a {type(X).__name__}, a query that has not been executed; pass {call}."
        )
    if not hasattr(X, "to_pandas"):
        return None
    import narwhals as nw

    frame = nw.from_native(_of_chunks(X), eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {name: _cells(frame[name]) for name in frame.columns}
        return pd.DataFrame(columns, columns=pd.Index(frame.columns, dtype=object))
    table: pd.DataFrame = converted(X, X.to_pandas)
    return table


def column_of(values: object) -> Any:
    """Convert a column from another library to an array.

    Parameters
    ----------
    values : object
        A column, a table or any other object.

    Returns
    -------
    ndarray, Series, DataFrame or None
        The converted column; a DataFrame if `values` is a table, and None if it is not an object
        from another library.
    """
    if not hasattr(values, "to_pandas"):
        return None
    import narwhals as nw

    column = nw.from_native(_of_chunks(values), series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _cells(column)
    frame = frame_of(values)
    return converted(values, values.to_pandas) if frame is None else frame


def converted(X: object, convert: Callable[[], Any]) -> Any:
    """Let another library convert a table or column; hide the words of any error.

    The message may quote a cell, so only the type of the error is reported.

    Parameters
    ----------
    X : object
        The table or column.
    convert : callable
        Function that returns the result.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If `convert` raises an error.
    """
    try:
        return convert()
    except Exception as error:
        failure = type(error).__name__
    raise ValueError(
        f"a {type(X).__name__} cannot be converted to pandas or NumPy ({failure}); convert it "
        "yourself to see why, and pass the result."
    )


def _of_chunks(values: Any) -> Any:
    """Convert Arrow arrays and batches to types that narwhals supports."""
    if type(values).__module__.split(".")[0] != "pyarrow":
        return values
    import pyarrow as pa

    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    return pa.Table.from_batches([values]) if isinstance(values, pa.RecordBatch) else values


def _executed_by(X: object) -> str:
    """Return the expression that reads a query or stream into memory, or "".

    Queries are not executed here, because the order of the rows could differ each time.
    """
    if not is_stream(X):
        return ""
    if _is_ibis(X):
        return "X.to_pyarrow()"
    calls = {
        "collect": "X.collect()",
        "to_arrow_table": "X.to_arrow_table()",
        "read_all": "X.read_all()",
    }
    return next((call for name, call in calls.items() if hasattr(X, name)), "pyarrow.table(X)")


def is_stream(X: object) -> bool:
    """Return whether `X` is an Arrow stream or a lazy query, not a table in memory.

    Tables in memory also have ``__arrow_c_stream__``, but are recognized by ``to_pandas``. In ibis,
    queries have this method too. Methods are looked up in the type of `X`.
    """
    kind = type(X)
    if issubclass(kind, pd.DataFrame | pd.Series | np.ndarray):
        return False
    in_memory = hasattr(kind, "to_pandas") and not _is_ibis(X)
    lazy = hasattr(kind, "collect") and hasattr(kind, "collect_schema")  # polars
    return not in_memory and (lazy or hasattr(kind, "__arrow_c_stream__"))


def _is_ibis(X: object) -> bool:
    return type(X).__module__.split(".")[0] == "ibis"


def names_text_file(path: Path) -> bool:
    """Return whether a path names a text file, by its ending."""
    return path.suffix.lower() in (".csv", ".tsv", ".txt") and not path.is_dir()


def in_memory_call(X: object) -> str:
    """Return the expression that loads a table read in chunks, for error messages."""
    read = ""
    if isinstance(X, str | PathLike):
        is_text = names_text_file(Path(X))
        read = "dpexplain.tables.read_texts(X)" if is_text else "pandas.read_parquet(X)"
    call = _executed_by(X) or read
    others = {
        "__dask_graph__": "X.compute()",
        "get_fragments": "X.to_table()",
    }
    call = call or next((call for name, call in others.items() if hasattr(X, name)), "")
    return f" ({call})" if call else ""


def _cells(column: Any) -> NDArray[Any]:
    kind, native = str(column.dtype), column.to_native()
    # The oldest narwhals has neither is_decimal nor is_nested.
    exact, nested = kind.startswith("Decimal"), kind.startswith(("List", "Array", "Struct"))
    plain = column.dtype.is_numeric() and not exact and "128" not in kind
    if plain and column.null_count() == 0:
        return np.asarray(column.to_numpy())
    if nested and ("Date" in kind or "Duration" in kind):  # no cell can be a number or text
        return _placed(np.empty(0), ~column.is_null().to_numpy(), np.zeros(len(column), dtype=bool))
    if hasattr(native, "to_physical"):
        if kind.startswith(("Date", "Duration")):
            return _times_of_polars(native)
        if kind.startswith(("String", "Categorical", "Enum")):
            return _texts_of_polars(native)
        if nested:
            column = _in_arrow(column)
    try:
        cells = column.to_list()
    except Exception:
        cells = _one_by_one(column)
    return np.fromiter(cells, dtype=object, count=len(cells))


def _one_by_one(column: Any) -> list[Any]:
    cells = []
    for place in range(len(column)):
        try:
            cells.append(column[place])
        except Exception:
            cells.append(UNREADABLE)
    return cells


def _times_of_polars(series: Any) -> NDArray[Any]:
    """Convert a polars column of dates, times or durations to Python objects.

    Dates outside Python's calendar and durations too long for Python become `UNREADABLE`.
    """
    present = ~series.is_null().to_numpy()
    numbers = series.to_physical().fill_null(0).to_numpy()
    per_day = _PER_DAY.get(getattr(series.dtype, "time_unit", ""), 1)
    if str(series.dtype).startswith("Duration"):
        first, last = -_LONGEST_DAYS * per_day, _LONGEST_DAYS * per_day
    else:
        # In another time zone, the date may be one day earlier or later.
        margin = 0 if getattr(series.dtype, "time_zone", None) is None else per_day
        first, last = FIRST_DAY * per_day + margin, (LAST_DAY + 1) * per_day - 1 - margin
    readable = present & (numbers >= first) & (numbers <= last)
    cells = series.filter(readable).to_list()
    return _placed(np.fromiter(cells, dtype=object, count=len(cells)), present, readable)


def _texts_of_polars(series: Any) -> NDArray[Any]:
    """Convert a polars text column to an array, with `UNREADABLE` for invalid UTF-8.

    Tables made from Arrow may hold such cells, because Arrow does not check them.
    """
    import polars as pl

    coded = series.cast(pl.String).cast(pl.Binary)
    try:
        cells = coded.cast(pl.String).to_list()  # checks every cell
    except Exception:
        cells = [_decoded(cell) for cell in coded.to_list()]
    return np.fromiter(cells, dtype=object, count=len(cells))


def _decoded(cell: bytes | None) -> object:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return UNREADABLE


def _in_arrow(column: Any) -> Any:
    """Convert a polars column to Arrow if pyarrow is installed, to avoid panics."""
    import narwhals as nw

    try:
        import pyarrow as pa

        arrow = pa.chunked_array([column.to_native().to_arrow()])
    except Exception:  # the type or the package is missing, which is public
        return column
    return nw.from_native(arrow, series_only=True)


def _placed(
    cells: NDArray[Any], present: NDArray[np.bool_], readable: NDArray[np.bool_]
) -> NDArray[Any]:
    """Put readable cells into a column; the other cells are None or `UNREADABLE`."""
    placed = np.full(len(present), None, dtype=object)
    placed[present] = UNREADABLE
    placed[readable] = cells
    return placed
