"""Attacks on the protection of people with several rows: who owns which row?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import dpexplain.models.persons as persons
from attack_kit import Attack, Finding, estimator, first_find, replayed, saturated, table
from dpexplain.models.persons import person_of
from dpexplain.tables.columns import values_of

_honest_person_of = person_of
_honest_values_of = values_of


def _names(*cells: Any) -> pd.Series:
    return pd.Series([*cells], dtype=object)


def _rows_in_use(name: str, X: pd.DataFrame, y: pd.Series, people: Any) -> set[int]:
    """Return the rows that a fit uses if each person may contribute one row."""
    seen: list[set[int]] = []

    def stop(X: pd.DataFrame, *_: Any) -> None:
        seen.append(set(X.index))
        raise InterruptedError

    fitted = estimator(name, max_rows_per_person=1)
    fitted._fit_released = stop
    with pytest.raises(RuntimeError):
        fitted.fit(X, y, groups=people)
    return seen[0]


def _pushing(name: str, first: Any, second: Any, attempts: int) -> Iterator[Finding]:
    """Add the first of two people: is the second one's only row still used?

    If it is not, one record came and another went. Such an exchange has twice the privacy loss of
    the guarantee. Secret coins decide which of the two stays, so 32 attempts all miss
    it with probability 2**-32.
    """
    X, y = table(name, 10)
    people = _names(first, second, *map(str, range(1000, 1008)))
    alone = _rows_in_use(name, X.iloc[1:], y.iloc[1:], people.iloc[1:])
    for _ in range(attempts):
        together = _rows_in_use(name, X, y, people)
        yield Finding(not alone <= together, f"{len(alone - together)} other people left out")


def pushed_out_by_nobody(name: str) -> Finding:
    """Leave two people unnamed: does the second push the first out of the fit?"""
    pairs = [(None, np.nan), (Decimal("NaN"), Decimal("NaN")), (np.longdouble("nan"),) * 2]
    pairs.append((np.ma.masked,) * 2)  # cells of a masked array that became a list
    return first_find(found for pair in pairs for found in _pushing(name, *pair, 32))


def pushed_out_by_words_for_nobody(name: str) -> Finding:
    """Name two people by words or objects that mean "missing"."""
    nobody = (
        "None",
        "<NA>",
        "n/a",
        "#N/A",
        "-nan",
        complex(0, np.nan),
        np.clongdouble("nan"),
        (None, None),
    )
    return first_find(found for cell in nobody for found in _pushing(name, cell, cell, 16))


def only_plain_cells_are_empty(patch: pytest.MonkeyPatch) -> None:
    def of(cell: Any) -> str | None:
        return _honest_person_of(cell) or (None if cell is None or cell == "" else repr(cell))

    patch.setattr(persons, "person_of", of)


def pushed_out_behind_a_mask(name: str) -> Finding:
    """Mask the names of two people: does one push the other out of the fit?"""
    X, y = table(name, 10)
    people = np.ma.masked_array(range(10), mask=[True, True] + [False] * 8)
    used = _rows_in_use(name, X, y, people)
    return Finding(bool(used & {0, 1}), f"{len(used & {0, 1})} of 2 people without a name in use")


def joined_by_a_row_without_id(name: str) -> Finding:
    """Leave out one ID in an array of integers: are two other people one person then?"""
    X, y = table(name, 10)
    ids = [2**53, 2**53 + 1, None, *range(7)]
    kinds = [pd.array(ids, dtype="Int64"), pd.Index(ids, dtype="Int64"), pd.Categorical(ids)]
    used = [_rows_in_use(name, X, y, people) for people in kinds]
    return first_find(Finding(not rows >= {0, 1}, f"rows in use: {sorted(rows)}") for rows in used)


def joined_by_a_label_without_a_part(name: str) -> Finding:
    """Leave out a part of one label: are two other people one person then?"""
    X, y = table(name, 10)
    levels = [[2**53, 2**53 + 1, *range(7)], ["north"]]
    people = pd.MultiIndex(levels, [[0, 1, -1, *range(2, 9)], [0] * 10])
    rows = _rows_in_use(name, X, y, people)
    return Finding(not rows >= {0, 1}, f"rows in use: {sorted(rows)}")


def labels_of_pandas(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "values_of", lambda index: index.to_numpy())


def columns_of_numpy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "as_column", lambda name, values, X: np.asarray(values))


def masks_are_filled(patch: pytest.MonkeyPatch) -> None:
    def values_of(column: Any) -> Any:
        masked = isinstance(column, np.ma.MaskedArray)
        return np.ma.filled(column.astype(object)) if masked else _honest_values_of(column)

    patch.setattr(persons, "values_of", values_of)


def empty_cells_are_one_person(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "person_of", lambda cell: _honest_person_of(cell) or "empty")


def spelled_differently(name: str) -> Finding:
    """Spell one person's name as 7, "7", " 7 ", 7.0 ...: are all rows used?"""
    spellings = [7, "7", " 7 ", 7.0, "7.0", np.int8(7), np.float32(7), "+7", "07"]
    spellings += [Decimal("7"), Decimal("7.00"), Fraction(7), np.longdouble(7), 7 + 0j]
    X, y = saturated(name, 30 + len(spellings))
    people = _names(*spellings, *(f"p{i}" for i in range(30)))
    fitted = estimator(name, max_rows_per_person=1)
    rest = tuple(part.iloc[len(spellings) :] for part in (X, y, people))
    return replayed(fitted, (X, y, people), rest)


def bytes_of_a_database(name: str) -> Finding:
    """Give one person's name as a memoryview of bytes: are all rows used?"""
    views = [kind(b"Zorblax") for kind in (bytes, bytearray, memoryview) for _ in range(3)]
    return _many_rows_of(name, views)


class _Clerk:
    """Object whose repr is only its memory address."""


def objects_and_parts(name: str) -> Finding:
    """Name one person by objects, sets or times of several types: are all rows used?"""
    words, uuid = ("Zorblax", "Quuxington", "Vintertrap"), UUID(int=7)
    kinds: list[list[Any]] = [
        [_Clerk() for _ in range(9)],
        [frozenset(words[k:] + words[:k]) for k in range(3)] + [set(words), set(words[::-1])],
        [(3, 7), [3.0, "7"], np.array([3, 7]), ("3", "07"), (np.int8(3), 7.0)],
        [np.datetime64("2024-01-31", unit) for unit in ("D", "s", "ns")]
        + [pd.Timestamp("2024-01-31")],
        [uuid, str(uuid), str(uuid).encode(), uuid],
    ]
    return first_find(_many_rows_of(name, cells) for cells in kinds)


def _many_rows_of(name: str, cells: list[Any]) -> Finding:
    X, y = saturated(name, 30 + len(cells))
    people = _names(*cells, *(f"p{i}" for i in range(30)))
    rest = tuple(part.iloc[len(cells) :] for part in (X, y, people))
    return replayed(estimator(name, max_rows_per_person=1), (X, y, people), rest)


def names_as_they_are_spelled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "person_of", repr)


def colliding_names(name: str) -> Finding:
    """Give people names with equal hashes: does one push the other out of the fit?"""
    pairs = [(-1, -2), (0, 2**61 - 1), (1, 2**61), (2.0**61, 1)]
    return first_find(found for pair in pairs for found in _pushing(name, *pair, 8))


def names_by_hash(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "person_of", lambda cell: str(hash(cell)))


class _Explosive:
    """Cell that raises an error whatever is done with it."""

    def __repr__(self) -> str:
        raise KeyError("looked at")

    __str__ = __hash__ = __eq__ = __repr__  # type: ignore[assignment]


class _Odd(str):
    """String that raises an error when it is stripped."""

    __slots__ = ()

    def strip(self, *_: Any) -> str:
        raise KeyError("stripped")


def unreadable_name(name: str) -> Finding:
    """Use an unreadable name: does the fit fail, and so reveal that it is there?"""

    def attempts() -> Any:
        for cell in (10**5000, -(10**5000), _Explosive(), _Odd("a"), b"\xff", [1], {"a": 1}):
            X, y = table(name, 20)
            people = _names(cell, *range(19))
            try:
                estimator(name, max_rows_per_person=2).fit(X, y, groups=people)
            except Exception as error:
                yield Finding(True, f"{type(error).__name__} for {type(cell).__name__}")
            else:
                yield Finding(False, "every cell was read or left out")

    return first_find(attempts())


def names_must_be_readable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "person_of", lambda cell: f"{cell}".strip())


ATTACKS = [
    Attack(
        "people without a name push each other out",
        pushed_out_by_nobody,
        empty_cells_are_one_person,
        "all empty names are one person",
    ),
    Attack(
        "one person spelled in fourteen ways",
        spelled_differently,
        names_as_they_are_spelled,
        "names are compared as they are spelled",
    ),
    Attack(
        "one person whose name is in nine places of the memory",
        bytes_of_a_database,
        names_as_they_are_spelled,
        "names are compared as they are spelled",
    ),
    Attack(
        "people whose names are words for nobody push each other out",
        pushed_out_by_words_for_nobody,
        only_plain_cells_are_empty,
        "only cells without content are empty",
        every_model=False,
    ),
    Attack(
        "one person named by objects, sets, parts or times",
        objects_and_parts,
        names_as_they_are_spelled,
        "names are compared as they are spelled",
        every_model=False,
    ),
    Attack(
        "people whose names are masked push each other out",
        pushed_out_behind_a_mask,
        masks_are_filled,
        "a mask is filled with a question mark",
    ),
    Attack(
        "a row without an ID makes two other people one person",
        joined_by_a_row_without_id,
        columns_of_numpy,
        "IDs are turned into an array of NumPy",
    ),
    Attack(
        "a label without one of its parts makes two other people one person",
        joined_by_a_label_without_a_part,
        labels_of_pandas,
        "pandas puts the parts together, as floats",
    ),
    Attack(
        "two people whose names have one hash",
        colliding_names,
        names_by_hash,
        "names are compared by hash",
    ),
    Attack(
        "a name that cannot be read stops the fit",
        unreadable_name,
        names_must_be_readable,
        "an error of a name reaches the caller",
    ),
]
