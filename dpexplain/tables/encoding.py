"""Encode tables as arrays, cell by cell, using only the schema.

The code of a cell depends only on that cell and the schema, not on other cells or on the dtype that
pandas chose for the column. No cell raises an exception or changes how other cells are encoded,
because either would reveal something about one record. Errors are raised only for the names and
number of columns, which are public.

This does not cover earlier steps: if a CSV reader parses a file as a whole, one line can change how
other lines are parsed. :func:`dpexplain.tables.read_texts` reads each line independently, as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from dpexplain._utils.lazy import pd
from dpexplain.schema.features import Categorical, Classes, Date, Numeric, Range
from dpexplain.tables.cells import EMPTY_WORDS, cell_day, cell_number, cell_text, days_of_times
from dpexplain.tables.columns import (
    Column,
    KnownColumns,
    Values,
    cells_of,
    columns_in_order,
    one_column,
    values_of,
)
from dpexplain.tables.spellings import comma_number, day_reader, hide_markers, number_reader

# Cells of exactly these types are hashable, and cells that are equal (such as 1, 1.0 and True)
# have the same result, so each distinct cell is parsed only once.
_REMEMBERED: Final = frozenset({str, int, float, bool, type(None)})
# Number of cells that are parsed at a time, so that temporary memory does not grow with the table.
_BLOCK: Final = 1 << 16


def check_columns(X: ArrayLike, schema: KnownColumns) -> None:
    """Check that the columns match the schema, without reading values.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        The columns of a frame may be in any order, and columns not named in the schema are ignored;
        an array must have exactly the schema's columns, in the schema's order.
    schema : Schema
        Public knowledge about the columns.

    Raises
    ------
    SchemaError
        If columns of the schema are missing or duplicated, or if an array has a different number
        of columns.
    ValueError
        If `X` does not have two dimensions.
    TypeError
        If `X` is a sparse matrix, or a query that has not been executed.
    """
    columns_in_order(X, schema)


def encode_numeric(column: Column, feature: Numeric) -> NDArray[np.float64]:
    """Convert a column to numbers within the public bounds of its feature.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.
    feature : Numeric
        The public bounds.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64
        Values clipped to ``[low, high]``, including infinite ones. The result is NaN if a cell is
        empty, is a missing-value marker, or is not a number (or, for a :class:`Date`, not a date).
    """
    numbers = read_numbers(column, feature)
    return np.clip(numbers, feature.low, feature.high, out=numbers)


def read_numbers(
    column: Column, part: Numeric | Range, *, keep_markers: bool = False
) -> NDArray[np.float64]:
    """Convert a column to numbers or days by the schema's rules, without clipping.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.
    part : Numeric or Range
        Feature or target whose rules are applied.
    keep_markers : bool, default=False
        Whether missing-value markers are kept as numbers, which is useful for reports.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64
        A new array; NaN if a cell is empty, cannot be parsed, or stands for a missing value.
    """
    markers = () if keep_markers else part.missing
    if isinstance(part, Date):
        read = day_reader(part.format, part.days[1].year)
        numbers = days_of(column, read)
        if markers:
            hide_markers(numbers, markers, read)
        return numbers
    read = number_reader(part.decimal, part.thousands, part.affixes)
    numbers = numbers_of(column, read)
    if markers:
        hide_markers(numbers, markers, cell_number, comma_number, read)
    return numbers


def encode_categorical(column: Column, feature: Categorical) -> NDArray[np.int32]:
    """Convert a column to indices into the public list of categories.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.
    feature : Categorical
        Feature with a public list of k categories.

    Returns
    -------
    ndarray of shape (n_samples,), dtype int32
        0 to k − 1 for the categories and their aliases, k for any other value, and k + 1 for an
        empty cell or a missing-value marker.
    """
    n_categories = len(feature.categories)
    code = _reader(feature, feature.categories, other=n_categories, missing=n_categories + 1)
    return _read(column, code, dtype=np.int32)


def encode_features(
    X: ArrayLike, schema: KnownColumns
) -> list[NDArray[np.float64] | NDArray[np.int32]]:
    """Encode every column of a table, in the order of the schema.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        The table. It is checked in the same way as in :func:`check_columns`.
    schema : Schema
        Determines the type of each column; the dtype of the column is ignored.

    Returns
    -------
    list of ndarray of shape (n_samples,)
        Encoded columns: numbers as float64, and category indices as int32.
    """
    return list(encoded_columns(X, schema))


def encoded_columns(
    X: ArrayLike, schema: KnownColumns
) -> Iterator[NDArray[np.float64] | NDArray[np.int32]]:
    """Encode the columns one at a time, to limit memory use.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        The table. It is checked in the same way as in :func:`check_columns`.
    schema : Schema
        Determines the type of each column; the dtype of the column is ignored.

    Yields
    ------
    ndarray of shape (n_samples,)
        The next encoded column, in the order of the schema: numbers as float64, or category indices
        as int32.
    """
    columns = columns_in_order(X, schema)
    for column, feature in zip(columns, schema.features.values(), strict=True):
        if isinstance(feature, Numeric):
            yield encode_numeric(column, feature)
        else:
            yield encode_categorical(column, feature)


def encode_range(y: ArrayLike, target: Range) -> NDArray[np.float64]:
    """Convert a regression target to numbers within its public range.

    Parameters
    ----------
    y : array or Series of shape (n_samples,) or (n_samples, 1)
        Cells of any type.
    target : Range
        The public range.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64
        Values clipped to ``[low, high]``, including infinite ones. The result is NaN if a cell is
        empty, is a missing-value marker, or is not a number; a fit drops these rows.

    Raises
    ------
    ValueError
        If `y` has more than one column.
    """
    values = read_numbers(one_column(y), target)
    return np.clip(values, target.low, target.high, out=values)


def encode_classes(y: ArrayLike, target: Classes, dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """Convert a classification target to indices of the public classes.

    Parameters
    ----------
    y : array or Series of shape (n_samples,) or (n_samples, 1)
        Cells of any type.
    target : Classes
        The public classes.
    dtype : dtype, default=int64
        Type of the indices; converting them afterward would take the memory of both.

    Returns
    -------
    ndarray of shape (n_samples,)
        Class indices; −1 if a cell is empty, is a missing-value marker, or is not in the list. A
        fit drops the rows with −1.

    Raises
    ------
    ValueError
        If `y` has more than one column.
    """
    code = _reader(target, target.names, other=-1, missing=-1)
    return _read(one_column(y), code, dtype=dtype)


def numbers_of(
    column: Column, of_cell: Callable[[object], float] = cell_number
) -> NDArray[np.float64]:
    """Convert a column to numbers, without applying bounds.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.
    of_cell : callable, default=cell_number
        Parser of one cell; the cells of a column with a numeric dtype are not passed to it.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64
        A new array with the number in each cell, by default as returned by
        :func:`dpexplain.tables.cells.cell_number`.
    """
    values = values_of(column)
    if _is_numeric(values):
        return _floats_of(values)
    return _read(values, of_cell, dtype=np.float64)


def days_of(column: Column, of_cell: Callable[[object], float] = cell_day) -> NDArray[np.float64]:
    """Convert a column to days since January 1, 1970, without applying bounds.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.
    of_cell : callable, default=cell_day
        Parser of one cell; the cells of a column of NumPy dates are not passed to it.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64
        A new array with the day in each cell, by default as returned by
        :func:`dpexplain.tables.cells.cell_day`.
    """
    values = values_of(column)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return days_of_times(values)
    return _read(values, of_cell, dtype=np.float64)


def texts_of(column: Column) -> NDArray[Any]:
    """Convert a column to the strings used to match categories.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.

    Returns
    -------
    ndarray of shape (n_samples,), dtype object
        Strings, one per cell, as returned by :func:`dpexplain.tables.cells.cell_text`.
    """
    return _read(column, cell_text, dtype=object)


def _reader(
    listed: Categorical | Classes, names: Sequence[str], *, other: int, missing: int
) -> Callable[[object], int]:
    """Return a function that converts one cell to the index of its category or class."""
    code_of_text = {cell_text(name): code for code, name in enumerate(names)}
    code_of_text |= {cell_text(a): code_of_text[cell_text(name)] for a, name in listed.aliases}
    code_of_text |= {cell_text(marker): missing for marker in listed.missing}

    def code(cell: object) -> int:
        text = cell_text(cell)
        if text is None:
            return missing
        found = code_of_text.get(text)
        if found is not None:
            return found
        # If the schema lists such a word, it has been found above.
        return missing if text.lower() in EMPTY_WORDS else other

    return code


def _read(column: Column, of_cell: Callable[[object], Any], *, dtype: DTypeLike) -> NDArray[Any]:
    """Apply `of_cell` to every cell, block by block."""
    values = values_of(column)
    if isinstance(values, pd.Categorical):
        return _of_codes(values.codes, values.categories, of_cell, dtype)
    read = np.empty(len(values), dtype=dtype)
    for start in range(0, len(values), _BLOCK):
        read[start : start + _BLOCK] = _read_block(values[start : start + _BLOCK], of_cell, dtype)
    return read


def _read_block(values: Values, of_cell: Callable[[object], Any], dtype: DTypeLike) -> NDArray[Any]:
    """Apply `of_cell` to a block of cells; parse equal numbers or strings only once."""
    if _is_numeric(values):
        # pandas would look for equal numbers in Arrow, which confuses those of 16 bits if one cell
        # is NaN.
        values = _floats_of(values)
    if _is_numeric(values) or _is_arrow_text(values):
        codes, uniques = pd.factorize(values)  # type: ignore[arg-type]
        return _of_codes(codes, uniques, of_cell, dtype)
    return _array(_read_each(cells_of(values), of_cell), dtype)


def _of_codes(
    codes: NDArray[Any],
    uniques: Column,
    of_cell: Callable[[object], Any],
    dtype: DTypeLike,
) -> NDArray[Any]:
    # Code −1 stands for an empty cell, whose result is the last entry of the array.
    cells = cells_of(values_of(uniques))
    return _array([*map(of_cell, cells), of_cell(None)], dtype)[codes]


def _is_numeric(values: Values) -> bool:
    return getattr(values.dtype, "kind", "O") in "biuf" and not isinstance(values, pd.Categorical)


def _floats_of(values: Values) -> NDArray[np.float64]:
    """Return a new array with the numbers of a numeric column; NaN for empty cells."""
    with np.errstate(all="ignore"):  # the user may have told numpy to raise errors
        if isinstance(values, np.ndarray):
            numbers = values.astype(np.float64)
            numbers += 0.0
            return numbers
        return values.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0


def _is_arrow_text(values: Values) -> bool:
    """Return whether an array stores strings in Arrow format.

    Unlike Python objects, these strings cannot run code when they are compared.
    """
    return isinstance(values.dtype, pd.StringDtype) and values.dtype.storage == "pyarrow"


def _array(values: list[Any], dtype: DTypeLike) -> NDArray[Any]:
    return np.fromiter(values, dtype=dtype, count=len(values))


def _read_each(cells: Sequence[object], of_cell: Callable[[object], Any]) -> list[Any]:
    if _REMEMBERED.issuperset(map(type, cells)):
        memo = {cell: of_cell(cell) for cell in set(cells)}
        return [*map(memo.__getitem__, cells)]
    memo = {}
    read = []
    for cell in cells:
        if type(cell) not in _REMEMBERED:
            read.append(of_cell(cell))
            continue
        if cell not in memo:
            memo[cell] = of_cell(cell)
        read.append(memo[cell])
    return read
