"""Rows grouped by person: the argument ``groups``, and the choice of rows to use."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.accounting.unit import unit_of
from dpexplain.mechanisms import SecretCoins, SeededCoins, secret_coins
from dpexplain.models.inputs import as_column
from dpexplain.schema import Schema
from dpexplain.tables.cells import EMPTY_WORDS, Unreadable, cell_day
from dpexplain.tables.chunked import ChunkedTable
from dpexplain.tables.columns import cells_of, values_of
from dpexplain.tables.groups import grouping_of, without_groups


def features_without_groups(X: Any, groups: Any, schema: Schema | None) -> Any:
    """Return a table without its column of person IDs.

    Parameters
    ----------
    X : DataFrame, array or ChunkedTable
    groups : object
        Argument ``groups`` of ``fit``; it names a column only if it is a string.
    schema : Schema or None
        Schema of the features.

    Returns
    -------
    DataFrame, array or ChunkedTable

    Raises
    ------
    ValueError
        If the column is also a feature.
    """
    if not isinstance(groups, str) or isinstance(X, ChunkedTable):
        return X
    if schema is not None and groups in schema.features:
        raise ValueError(
            f"groups={groups!r} is a feature of the schema, and features are released; remove "
            "it from the schema, or pass person IDs separately."
        )
    return without_groups(X, groups)


def checked_groups(
    groups: Any, X: Any, max_rows: int | None, schema: Any
) -> tuple[str | None, Any]:
    """Check ``groups``; return the name of the grouping and the person ID of each row.

    Parameters
    ----------
    groups : object
        Argument ``groups`` of ``fit``.
    X : DataFrame, array or ChunkedTable
        Table with all its columns.
    max_rows : int or None
        Maximum number of rows per person; None if there is no maximum.
    schema : Schema or None
        Schema that may name the person column.

    Returns
    -------
    kind : str or None
        Name of the grouping; None if it has no name.
    persons : Series, array or None
        Person ID of each row; None if `max_rows` is None.

    Raises
    ------
    ValueError
        If only one of `groups` and `max_rows` is given.
    """
    if (groups is None) != (max_rows is None):
        raise ValueError(
            f"max_rows_per_person={max_rows} and groups= must be given together: groups= says "
            "who each row belongs to, and max_rows_per_person how many rows per person to "
            "use."
        )
    if groups is None:
        return None, None
    grouping = grouping_of(groups, X, schema)
    if grouping.kind is not None:
        unit_of(max_rows, grouping.kind)  # rejects a kind that is not a name
    return grouping.kind, as_column("groups", grouping.cells, X)


def bounded_rows(
    groups: Any, max_rows: int, coins: SecretCoins | SeededCoins | None = None
) -> NDArray[np.intp]:
    """Choose at most `max_rows` rows per person by random draws.

    Rows without a readable person ID are dropped, for two reasons. If all these rows counted as one
    person, adding a person without an ID could displace a row of another person. That amounts to a
    replacement, which has twice the privacy loss. If each of these rows counted as a separate
    person, someone without an ID could contribute any number of rows.

    Parameters
    ----------
    groups : array or Series of shape (n_samples,)
        Person ID of each row.
    max_rows : int
        Maximum number of rows per person.
    coins : SecretCoins or SeededCoins, optional
        Source of the random draws; secret by default.

    Returns
    -------
    ndarray of shape (n_kept,), dtype intp
        Positions of the rows to use, in increasing order.
    """
    cells = cells_of(values_of(groups))
    people, _ = pd.factorize(np.array([person_of(cell) for cell in cells], dtype=object))
    named = np.flatnonzero(people >= 0)
    shuffled = named[(coins or secret_coins()).permutation(len(named))]
    order = shuffled[np.argsort(people[shuffled], kind="stable")]
    sorted_people = people[order]
    starts = np.flatnonzero(np.r_[True, sorted_people[1:] != sorted_people[:-1]])
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return np.sort(order[place < max_rows])


def person_of(cell: Any) -> str | None:
    """Return the person key of a ``groups`` cell; never raise an error.

    Different people get different keys, and the same person gets the same key for any type of cell:
    7, 7.0, "7" and b"7" are one person. A list of parts, such as a hospital and a number,
    identifies a person by all of these parts.

    Parameters
    ----------
    cell : object

    Returns
    -------
    str or None
        The key; None for a cell that does not identify a person: an empty cell, a word that means
        empty (`EMPTY_WORDS`), an unreadable cell, or an object whose ``repr`` shows only its memory
        address.
    """
    try:
        return _person_of(cell)
    except Exception:  # any object may raise, and Python does not print integers of 5,000 digits
        return None


def _person_of(cell: Any) -> str | None:
    if isinstance(cell, np.datetime64):  # item() would return nanoseconds as a number
        cell = pd.Timestamp(cell)
    elif isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, bytes | bytearray | memoryview):
        cell = _text_of(bytes(cell))  # the repr of the others shows the memory address
    elif isinstance(cell, UUID):  # some databases return objects, and files have their text
        cell = str(cell)
    if isinstance(cell, str):
        cell = _number_of(cell.strip())
    elif isinstance(cell, Decimal | Fraction | np.longdouble):
        cell = _plain_number(cell)
    elif isinstance(cell, complex | np.complexfloating):
        if np.isnan(cell):
            return None
        if cell.imag == 0:
            return _person_of(cell.real)
    if isinstance(cell, bool):
        return f"number {int(cell)}"
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        return f"number {int(cell)}" if cell.is_integer() else f"number {cell!r}"
    if isinstance(cell, int):
        return f"number {cell}"
    if cell is None or cell is pd.NA or cell is pd.NaT or isinstance(cell, Unreadable):
        return None
    if isinstance(cell, date):
        if math.isnan(cell_day(cell)):  # some libraries cannot show such a time
            return None
        return f"time {cell.isoformat().removesuffix('T00:00:00')}"
    if hasattr(cell, "as_py"):  # of pyarrow
        return _person_of(cell.as_py())
    if hasattr(cell, "__array__"):
        masked = isinstance(cell, np.ma.MaskedArray)  # its list has None for what is masked
        cell = cell.tolist() if masked else np.asarray(cell, dtype=object).tolist()
        if not isinstance(cell, list):  # an array without dimensions
            return _person_of(cell)
    if isinstance(cell, list | tuple | set | frozenset | Mapping):
        return _person_of_parts(cell)
    text = f"{type(cell).__name__} {cell!r}"
    if isinstance(cell, bytes):
        return text if cell.strip(b" \0") else None
    return text if isinstance(cell, str) or not _PLACE.search(text) else None


# Memory address of an object: an equal object elsewhere would count as another person.
_PLACE = re.compile(r" at 0x[0-9A-Fa-f]+")


def _text_of(cell: bytes) -> str | bytes:
    """Return the text that bytes encode, or the bytes if they are not printable text.

    Some programs store the same column as strings in one Parquet file and as bytes in another.
    """
    try:
        text = cell.decode()
    except UnicodeDecodeError:
        return cell
    return text if text.isprintable() else cell


def _person_of_parts(cell: Any) -> str | None:
    keys = [_person_of(part) for part in (cell.values() if isinstance(cell, Mapping) else cell)]
    if all(key is None for key in keys):
        return None
    if isinstance(cell, Mapping):
        return f"parts {sorted(zip(map(str, cell), keys, strict=True), key=str)!r}"
    if isinstance(cell, set | frozenset):  # equal sets may have different orders
        keys.sort(key=str)
    return f"parts {keys!r}"


def _plain_number(cell: Decimal | Fraction | np.longdouble) -> Any:
    """Convert a finite number to an int, a float or a fraction.

    A number that is not whole becomes the nearest float only if it equals that float, or equals the
    decimal number that Python prints for that float. Otherwise, it becomes a fraction.
    """
    if isinstance(cell, Decimal) and abs(cell.adjusted()) > 4000:
        raise ValueError("a number whose digits fill the memory")
    exact = Fraction(*cell.as_integer_ratio())
    if exact.denominator == 1:
        return exact.numerator
    nearest = float(exact)
    return nearest if exact in (Fraction(nearest), Fraction(repr(nearest))) else exact


_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}(\.0*)?")


def _number_of(text: str) -> Any:
    """Return the number in a string, the string itself, or None.

    The number is returned if it is written as a whole number (``"7"`` or ``"7.0"``), or exactly as
    Python prints it. None is returned if the string is empty or is a word that means empty.
    """
    if _WHOLE.fullmatch(text):
        return int(text.split(".")[0])
    try:
        number = float(text)
    except ValueError:
        return None if not text or text.lower() in EMPTY_WORDS else text
    if math.isnan(number):  # some programs write it with a sign
        return None
    return number if repr(number) == text.lower() else text
