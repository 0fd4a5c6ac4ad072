"""Units of privacy: one record, or one person of a certain kind.

A unit is an object, never a string: whether two fits protect the same persons must not depend on
the wording of a sentence. Persons of different kinds, such as patients and hospitals, are different
units. Each unnamed grouping is a separate kind, because two unnamed groupings may differ.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from dpexplain._utils.validation import check_count, shown

__all__ = [
    "RECORD",
    "Person",
    "Record",
    "Unit",
    "check_unit",
    "same_unit",
    "unit_from_dict",
    "unit_of",
    "unit_to_dict",
    "whole_unit",
]

_LONGEST_NAME = 200
_UNNAMED = "one person of an unnamed grouping"


@dataclass(frozen=True)
class Record:
    """One record: a table row, including its target and person ID.

    Examples
    --------
    >>> from dpexplain.accounting import RECORD, Record
    >>> Record() == RECORD
    True
    """

    @property
    def words(self) -> str:
        """Name of the unit in guarantees and entries.

        Returns
        -------
        str
            ``"one record"``.
        """
        return "one record"

    @property
    def kind_words(self) -> str:
        """Name of the privacy unit, as shown in totals.

        Returns
        -------
        str
            ``"one record"``.
        """
        return self.words


RECORD = Record()
"""Unit of privacy if the number of rows per person is not bounded."""


@dataclass(frozen=True)
class Person:
    """One person: all rows with the same person ID.

    Parameters
    ----------
    kind : str
        Name of the grouping, such as ``"patient_id"``. It is published. The costs of
        charges with the same name are added up, so two groupings must not share a name.
    max_rows : int or None, default=None
        Maximum number of rows used per person. If it is a number k, the events of an entry are
        stated for all k rows together, and each row changes a query by at most 1/k of the stated
        change. It is None for the unit of a ledger, and for entries without such a bound on the
        effect of one row.
    named : bool, default=True
        False if `kind` is a generated identifier of an unnamed grouping; see `unnamed`.

    Raises
    ------
    ValueError
        If the name is not a short string, or `max_rows` is not a positive integer.

    Examples
    --------
    >>> Person("patient_id", 2).words
    'one person (patient_id), of whom at most 2 rows are used'
    """

    kind: str
    max_rows: int | None = None
    named: bool = True

    def __post_init__(self) -> None:
        good = isinstance(self.kind, str) and self.kind.isprintable() and self.kind.strip()
        if not good or len(self.kind) > _LONGEST_NAME:
            raise ValueError(
                f"kind={shown(self.kind)} must name whose the rows are in 1 to {_LONGEST_NAME} "
                'printable characters, such as Person("patient_id").'
            )
        if self.max_rows is not None:
            object.__setattr__(self, "max_rows", check_count("max_rows", self.max_rows))
        if not isinstance(self.named, bool):
            raise ValueError(f"named={shown(self.named)} must be True or False.")

    @classmethod
    def unnamed(cls, max_rows: int) -> Person:
        """Create a unit for an unnamed grouping.

        Parameters
        ----------
        max_rows : int
            Maximum number of rows used per person.

        Returns
        -------
        Person
            A new kind of person, distinct from all others.
        """
        return cls(secrets.token_hex(16), max_rows, named=False)

    @property
    def words(self) -> str:
        """Name of the unit in guarantees and entries.

        Returns
        -------
        str
            The name, followed by the maximum number of rows if there is one.
        """
        who = f"one person ({self.kind})" if self.named else "one person"
        if self.max_rows is None:
            return self.kind_words
        return f"{who}, of whom at most {self.max_rows} rows are used"

    @property
    def kind_words(self) -> str:
        """Name of the privacy unit in totals, without the number of rows per person.

        The number of rows can differ between entries.

        Returns
        -------
        str
            The name without the number of rows.
        """
        return f"one person ({self.kind})" if self.named else _UNNAMED


Unit: TypeAlias = Record | Person

_TYPES: dict[str, type[Record] | type[Person]] = {
    "record": Record,
    "person": Person,
}
_NAMES = {unit_type: name for name, unit_type in _TYPES.items()}


def same_unit(one: Unit, other: Unit) -> bool:
    """Return whether two units protect the same persons, or both protect records.

    Parameters
    ----------
    one, other : Unit
        The units to compare, in either order.

    Returns
    -------
    bool
        True if they protect the same persons, even with different numbers of rows per person, or if
        both protect records.
    """
    if isinstance(one, Person) and isinstance(other, Person):
        return (one.kind, one.named) == (other.kind, other.named)
    return one == other


def whole_unit(unit: Unit) -> Unit:
    """Remove the limit on rows per person from a unit.

    The cap and totals of a ledger protect each person as a whole, with all of their rows.

    Parameters
    ----------
    unit : Unit
        Unit of an entry.

    Returns
    -------
    Unit
        If `unit` is a `Person`, the same unit without a limit on rows; otherwise, `unit` itself.
    """
    return Person(unit.kind, named=unit.named) if isinstance(unit, Person) else unit


def check_unit(unit: object) -> Unit:
    """Check that the value is a unit of privacy.

    Parameters
    ----------
    unit : object
        The value to check.

    Returns
    -------
    Record or Person
        The same value.

    Raises
    ------
    TypeError
        If `unit` is anything else, including a string.
    """
    if isinstance(unit, Record | Person):
        return unit
    raise TypeError(
        f"unit={shown(unit)} must name whom the charge protects: dpexplain.accounting.RECORD, or "
        'Person("patient_id", max_rows=2).'
    )


def unit_to_dict(unit: Unit) -> dict[str, Any]:
    """Convert a unit to plain data for JSON.

    Parameters
    ----------
    unit : Unit
        A unit of any type.

    Returns
    -------
    dict
        Data of the form ``{"type": ..., ...}``.
    """
    values = {field.name: getattr(unit, field.name) for field in fields(unit)}
    return {"type": _NAMES[type(unit)], **values}


def unit_from_dict(content: object) -> Unit:
    """Strictly parse a unit from plain data.

    Parameters
    ----------
    content : object
        Output of `unit_to_dict`.

    Returns
    -------
    Unit
        A unit equal to the original.

    Raises
    ------
    ValueError
        If the type is unknown, a field is missing or unknown, or a value is out of range.
    """
    kind = content.get("type") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(kind, str) or kind not in _TYPES:
        raise ValueError(f"a unit has the type {shown(kind)}; expected {', '.join(_TYPES)}.")
    names = {field.name for field in fields(_TYPES[kind])}
    if set(content) != names | {"type"}:
        raise ValueError(f"a unit of type {kind!r} needs exactly: {', '.join(sorted(names))}.")
    return _TYPES[kind](**{name: content[name] for name in names})


def unit_of(max_rows_per_person: int | None, kind: str | None = None) -> Unit:
    """Return the unit that a fit protects.

    Parameters
    ----------
    max_rows_per_person : int or None
        Maximum number of rows used per person; None if rows are not grouped by person.
    kind : str or None, default=None
        Name of the grouping. If None, each call creates a kind of person distinct from all others.

    Returns
    -------
    Record or Person
        One record if `max_rows_per_person` is None, otherwise one person.
    """
    if max_rows_per_person is None:
        return RECORD
    if kind is None:
        return Person.unnamed(max_rows_per_person)
    return Person(kind, max_rows_per_person)
