"""Input tables, columns and rows; no cell affects how any other cell is read.

Lists are converted cell by cell, because numpy would choose one type for all cells of a list.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dpexplain._utils.lazy import pd
from dpexplain.schema import Classes, Range, Schema
from dpexplain.tables import columns as _tables
from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.encoding import check_columns, encode_classes, encode_range
from dpexplain.tables.frames import column_of, converted, is_stream
from dpexplain.tables.opening import chunks_of_rows


def as_table(X: Any, n_columns: int | None = None) -> Any:
    """Convert the input to a two-dimensional table, without reading its values.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
    n_columns : int or None, default=None
        Number of cells per row, if it is public. If a row of a list has a different length, it
        becomes a row of empty cells.

    Returns
    -------
    DataFrame or ndarray

    Raises
    ------
    TypeError
        If `X` is sparse, or if it is read in chunks.
    ValueError
        If `X` is not two-dimensional or has no columns.
    """
    kind = _tables.kind_in_parts(X)
    if kind and not is_stream(X):
        raise TypeError(f"X is {kind}, which is read in chunks; pass a table in memory here.")
    table = _tables.as_table(X, n_columns)
    if table.shape[1] == 0:
        # The words are those of scikit-learn, without the number of rows, which is private.
        raise ValueError(
            "0 feature(s) (shape=(, 0)) while a minimum of 1 is required; X needs one column per "
            "feature."
        )
    return table


def rows_in_chunks(X: Any, schema: Schema) -> Iterator[Any]:
    """Yield rows for prediction or explanation, in chunks unless they are in memory.

    Parameters
    ----------
    X : DataFrame, array-like, or any table that is read in chunks
    schema : Schema

    Yields
    ------
    DataFrame or ndarray of shape (n, n_features)
        The next rows, in order; at least one chunk, which may be empty.

    Raises
    ------
    SchemaError
        If columns are missing.
    RuntimeError
        If the rows could not be read; see `chunks_of_rows`.
    """
    if _tables.kind_in_parts(X):
        yield from chunks_of_rows(X, schema)
        return
    table = as_table(X)
    check_columns(table, schema)
    yield table


def as_column(name: str, values: Any, X: Any) -> Any:
    """Check that there is one value per row of `X`; return the values as a column.

    Parameters
    ----------
    name : str
        Name of the argument, for error messages.
    values : array-like of shape (n_samples,) or (n_samples, 1)
    X : DataFrame or ndarray of shape (n_samples, n_features)

    Returns
    -------
    Series, Index, ndarray or ExtensionArray of shape (n_samples,)

    Raises
    ------
    ValueError
        If the argument is missing, or does not have one value per row. The message omits the
        number of rows, which is private.
    """
    if values is None:
        raise ValueError(
            f"fit requires {name} to be passed, but the target {name} is None; "
            f"pass one value per row of X."
        )
    column = _column(name, values)
    if column.ndim != 1 or len(column) != len(X):
        raise ValueError(
            f"{name} must contain one value per row of X; pass X and {name} with the same rows."
        )
    return column


def _column(name: str, values: Any) -> Any:
    foreign = column_of(values)
    if foreign is not None:
        values = foreign
    # NumPy would make floats of a column of integers with an empty cell, and thus join persons.
    kept = pd.DataFrame | pd.Series | pd.Index | pd.api.extensions.ExtensionArray | np.ndarray
    if not isinstance(values, kept) and hasattr(values, "__array__"):
        values = converted(values, partial(np.asarray, values))
    if isinstance(values, pd.DataFrame | np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            f"A column-vector {name} was passed when a 1d array was expected; pass {name}.ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        return _tables.one_column(values)
    if isinstance(values, kept):
        return values
    if not isinstance(values, Iterable) or hasattr(values, "tocsr"):
        raise ValueError(f"{name} must be a column with one value per row of X; pass an array.")
    cells = list(values)
    return np.fromiter(cells, dtype=object, count=len(cells))


def observed_schema(X: Any, y: Any, target: type[Range] | type[Classes]) -> Schema:
    """Draft a schema from records, marked as not private; callers record the release.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
        The columns of an array are named x0, x1, ...
    y : array-like of shape (n_samples,)
    target : type
        Kind of target: `Range` or `Classes`.

    Returns
    -------
    Schema
    """
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    if isinstance(y, pd.Series) and y.name in X.columns:
        y = y.rename(None)  # a schema refuses it, and this fit has been charged
    read = Schema._observed(X, y, task="classification" if target is Classes else "regression")
    return replace(read, read_from_records=True)


def rows_with_target(X: Any, y: Any, schema: Schema, groups: Any = None) -> tuple[Any, Any, Any]:
    """Drop the rows with a missing or invalid target.

    Whether a row is kept depends only on that row. So adding one record still adds at most one row,
    and replacing one record still replaces, adds or removes at most one row. For sums, the bound
    on the effect of adding or removing a row is no larger than the bound for replacing one. Rows
    are dropped before the rows per person are limited, so a row without a target cannot displace
    another row.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Targets; each cell is read exactly once, here.
    schema : Schema
        Schema with a target.
    groups : array-like of shape (n_samples,) or None, default=None

    Returns
    -------
    X, y, groups
        The remaining rows. `y` contains numbers in the public range, or public classes.
    """
    if isinstance(schema.target, Classes):
        codes = encode_classes(y, schema.target)
        usable = codes >= 0
        names = pd.Index(schema.target.names, dtype=object)
        read: Any = pd.Categorical.from_codes(codes[usable], categories=names)
    else:
        assert schema.target is not None
        numbers = encode_range(y, schema.target)
        usable = ~np.isnan(numbers)
        if usable.all() and getattr(getattr(y, "dtype", None), "kind", "") == "f":
            return X, y, groups  # already numbers; a copy would stay in memory for the whole fit
        read = numbers[usable]
    if usable.all():
        return X, read, groups
    kept = np.flatnonzero(usable)
    return rows_of(X, kept), read, None if groups is None else rows_of(groups, kept)


def chunks_with_target(X: Any, y: Any, schema: Schema) -> Iterator[tuple[Any, Any]]:
    """Yield the records for a fit that stores all of them in memory in its own form.

    Parameters
    ----------
    X : DataFrame, ndarray or ChunkedTable
    y : array-like of shape (n_samples,), or the target of a ChunkedTable
    schema : Schema
        Schema with a target.

    Yields
    ------
    X, y
        The next rows, in order, without the rows that `rows_with_target` drops. A table in memory
        is yielded as a single chunk; the caller must already have dropped these rows from it.
    """
    if not isinstance(X, ChunkedTable):
        yield X, y
        return
    nothing = np.empty(0, dtype=object)
    none = pd.DataFrame({name: nothing for name in schema.feature_names})
    for rows, target in chain([(none, nothing)], X.chunks(y, schema)):
        yield rows_with_target(rows, target, schema)[:2]


def joined_targets(targets: Sequence[Any]) -> Any:
    """Join the targets of all chunks.

    Parameters
    ----------
    targets : sequence of array-like
        Targets as yielded by `chunks_with_target`; at least one.

    Returns
    -------
    array-like of shape (n_samples,)
    """
    if len(targets) == 1:
        return targets[0]
    if isinstance(targets[0], pd.Categorical):
        codes = np.concatenate([target.codes for target in targets])
        return pd.Categorical.from_codes(codes, categories=targets[0].categories)
    return np.concatenate([np.asarray(target, dtype=np.float64) for target in targets])


def some_rows_with_target(X: Any, y: Any, schema: Schema) -> tuple[Any, Any]:
    """Drop rows without a target; raise an error if no row is left. NOT PRIVATE.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    schema : Schema

    Returns
    -------
    X, y

    Raises
    ------
    ValueError
        If no row has a target within the schema.
    """
    X, y, _ = rows_with_target(X, y, schema)
    if not len(y):
        expected = "one of the classes" if isinstance(schema.target, Classes) else "a number"
        raise ValueError(
            f"no value of y is {expected}, as the schema requires; schema.check(X, y) counts the "
            "values that do not fit."
        )
    return X, y


_EXPOSURE = (
    " Instead, make the exposure (such as person-years) a feature: the effects of other features "
    "then compare records of equal exposure."
)
INSTEAD = {
    "sample_weight": " Instead of survey weights, make the columns that they follow from features.",
    **dict.fromkeys(("exposure", "offset", "init_score", "base_margin"), _EXPOSURE),
}
"""What to do instead of passing a parameter that would change how much one record counts."""


def reject_unsupported(given: Mapping[str, Any], kind: str, reason: str) -> None:
    """Reject fit parameters such as ``sample_weight``, unless they are None.

    Parameters
    ----------
    given : mapping of str to object
        Values of the parameters, keyed by name.
    kind : str
        Kind of fit that rejects these parameters, for the message.
    reason : str
        Reason the parameters are not supported, for the message.

    Raises
    ------
    TypeError
        If any parameter is not None.
    """
    if named := sorted(name for name, value in given.items() if value is not None):
        raise TypeError(
            f"fit got {', '.join(named)}, which {kind} fits do not support, because {reason}. "
            f"Remove it.{''.join({INSTEAD.get(name, ''): None for name in named})}"
        )


def n_features_of(X: Any, schema: Schema | None) -> int:
    """Return the number of features: from the schema, or else from the columns of `X`."""
    return schema.n_features if schema is not None else int(X.shape[1])


def rows_of(values: Any, kept: Any) -> Any:
    """Return rows of a table or column by position; never raise an error.

    pandas cannot select rows of some column types (Arrow's ``string_view``). Rows are selected
    only if a target is missing, so an error would reveal that a target is missing.
    """
    try:
        return values.iloc[kept] if hasattr(values, "iloc") else values[kept]
    except Exception:
        if not isinstance(values, pd.DataFrame):
            return _cells_of_rows(values, kept)
        parts = [_tables.values_of(values.iloc[:, i]) for i in range(values.shape[1])]
        frame = {i: _as_series(rows_of(part, kept)) for i, part in enumerate(parts)}
        return pd.DataFrame(frame).set_axis(values.columns, axis=1)


def _as_series(cells: Any) -> pd.Series:
    raw = cells.dtype.kind == "V"  # raw bytes, which pandas accepts only as objects
    return pd.Series(cells, dtype=object if raw else cells.dtype)


def _cells_of_rows(column: Any, kept: Any) -> NDArray[np.object_]:
    cells = _tables.cells_of(_tables.values_of(column))
    return np.fromiter(cells, dtype=object, count=len(cells))[kept]
