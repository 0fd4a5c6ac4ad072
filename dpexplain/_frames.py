"""Tables of other libraries (polars, Arrow and whatever narwhals knows) as frames of pandas.

The cells come over as they are, one by one where a column has empty ones: a library's own way to
pandas would turn whole numbers beside an empty cell into floating-point ones, so that one record
would change how the others are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def frame_of(X: object) -> pd.DataFrame | None:
    """Turn a table of another library into a frame.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    DataFrame or None
        None where `X` is no such table.

    Raises
    ------
    TypeError
        If `X` is a query that has not been run.
    """
    if isinstance(X, pd.DataFrame | np.ndarray | list | tuple):
        return None
    if _is_query(X):
        raise TypeError(
            f"X is a {type(X).__name__}, a query that has not been run; pass X.collect()."
        )
    if not hasattr(X, "to_pandas"):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {name: _cells(frame[name]) for name in frame.columns}
        return pd.DataFrame(columns, columns=pd.Index(frame.columns, dtype=object))
    return X.to_pandas()


def column_of(values: object) -> Any:
    """Turn a column of another library into an array.

    Parameters
    ----------
    values : object
        Anything.

    Returns
    -------
    ndarray, Series, DataFrame or None
        None where `values` is no such column; a frame where it is a table.
    """
    if not hasattr(values, "to_pandas"):
        return None
    import narwhals as nw

    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _cells(column)
    frame = frame_of(values)
    return values.to_pandas() if frame is None else frame


def _is_query(X: object) -> bool:
    return hasattr(X, "collect") and hasattr(X, "collect_schema") and not hasattr(X, "to_pandas")


def _cells(column: Any) -> NDArray[Any]:
    if column.dtype.is_numeric() and not column.dtype.is_decimal() and column.null_count() == 0:
        return np.asarray(column.to_numpy())
    cells = column.to_list()
    return np.fromiter(cells, dtype=object, count=len(cells))
