"""Checks and formatting functions shared by the parts of a schema."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from dpexplain.exceptions import SchemaError
from dpexplain.tables.cells import FIRST_DAY, LAST_DAY, cell_day, cell_text

Label: TypeAlias = str | int | float | bool

_N_SHOWN = 6
"""Maximum number of entries of a list in a message."""


def set_bounds(owner: Any) -> None:
    """Check the bounds of a feature or target, and convert them to floats."""
    kind = type(owner).__name__
    low, high = as_finite(kind, "low", owner.low), as_finite(kind, "high", owner.high)
    if not low < high:
        raise SchemaError(
            f"{kind}: low={short(low)} must be below high={short(high)}; give the ends that the "
            "documentation of the data names."
        )
    if not math.isfinite(high - low):
        raise SchemaError(f"{kind}: high - low is too large for a floating-point number.")
    object.__setattr__(owner, "low", low)
    object.__setattr__(owner, "high", high)


def as_finite(kind: str, name: str, value: object) -> float:
    """Return a number as a float; reject anything that is not a finite number."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value) + 0.0
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise SchemaError(f"{kind}: {name}={value!r} must be a finite number.")


def as_day(name: str, value: object) -> float:
    """Return a date as the number of days since January 1, 1970."""
    day = cell_day(value)
    if not FIRST_DAY <= day <= LAST_DAY:
        raise SchemaError(
            f"Date: {name}={value!r} must be a date of the years 1 to 9999, such as '2024-01-31'."
        )
    return day


def as_truth(kind: str, name: str, value: object) -> bool:
    """Check that a value is a bool, and return it."""
    if not isinstance(value, bool):
        raise SchemaError(f"{kind}: {name}={value!r} must be True or False.")
    return value


def as_listed(kind: str, name: str, values: Iterable[Label]) -> tuple[Label, ...]:
    """Return a collection as a tuple; reject collections without a fixed order."""
    if isinstance(values, str | bytes | set | frozenset | Mapping) or not isinstance(
        values, Iterable
    ):
        raise SchemaError(f"{kind}: {name} must be a list in a fixed order, not {kind_of(values)}.")
    return tuple(values)


def as_columns(role: str, names: object) -> tuple[str, ...]:
    """Check the column names given for a role, and return them as a tuple.

    A list of names is accepted only for the role "id".
    """
    listed = [names] if isinstance(names, str) or role == "person" else names
    if not isinstance(listed, list | tuple) or not all(
        isinstance(name, str) and name for name in listed
    ):
        several = "" if role == "person" else " or a list of such names"
        raise SchemaError(f"Schema: {role}={names!r} must be the name of a column{several}.")
    for name in listed:
        check_encodable("Schema", role, name)
    return tuple(listed)


def check_roles(columns: list[str], features: Mapping[str, Any], target: Any) -> None:
    """Check that the target and each ID or person column have one role."""
    if target is not None and target.name in features:
        raise SchemaError(
            f"Schema: {target.name!r} is the target and a feature, which would predict itself; "
            "remove the feature, or name the target as its column."
        )
    for name in columns:
        other = "a feature" if name in features else "given twice"
        other = "the target" if target is not None and name == target.name else other
        if other != "given twice" or columns.count(name) > 1:
            raise SchemaError(
                f"Schema: the column {name!r} of id= or person= is {other}; a column that "
                "identifies records or persons has no other role."
            )


def as_plain(value: Any) -> Label:
    """Return a label as a plain Python value."""
    item = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
    if not isinstance(item, str | int | float | bool):
        raise SchemaError(
            f"a category or class must be a string or a number, not {kind_of(value)}."
        )
    return item


def category_text(value: object) -> str:
    """Return the axis label of a category."""
    item = as_plain(value)
    if cell_text(item) is None:
        raise SchemaError(f"{item!r} reads as a missing value, which always has its own bin.")
    if isinstance(item, str):
        check_encodable("Categorical", "category", item)
        return item.strip()
    return str(item) if isinstance(item, bool) else cell_text(item) or ""


def check_distinct(kind: str, name: str, texts: tuple[str, ...]) -> None:
    """Reject a list that is empty, or in which two entries match the same cell."""
    if not texts:
        raise SchemaError(f"{kind}: {name} must contain at least one entry.")
    seen: dict[str | None, str] = {}
    for text in texts:
        key = cell_text(text)
        if key in seen:
            raise SchemaError(
                f"{kind}: {seen[key]!r} and {text!r} match the same values; keep one of them."
            )
        seen[key] = text


def check_texts(owner: object, *names: str) -> None:
    """Check that attributes of `owner` are strings."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, str):
            raise SchemaError(f"{type(owner).__name__}: {name}={value!r} must be a string.")
        check_encodable(type(owner).__name__, name, value)


def check_encodable(kind: str, name: str, text: str) -> None:
    """Reject text with lone surrogates, which cannot be encoded in a page or file."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{kind}: {name} {text!r} is not valid Unicode.") from None


def kind_of(value: object) -> str:
    """Return the name of a value's type, without showing the value."""
    empty = isinstance(value, Mapping) and not value
    return f"an empty {type(value).__name__}" if empty else type(value).__name__


def short(number: float) -> str:
    """Format a number, without a decimal point if it is whole: 17 rather than 17.0."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def short_list(values: tuple[Label, ...]) -> str:
    """Format the first entries of a list, and say how many more there are."""
    shown = [repr(value) for value in values[:_N_SHOWN]]
    if len(values) > _N_SHOWN:
        shown.append(f"… {len(values) - _N_SHOWN} more")
    return f"[{', '.join(shown)}]"


def call_text(owner: object, *positional: str, **options: object) -> str:
    """Format the constructor call of `owner`, leaving out options with default values."""
    parts = list(positional)
    for name, value in options.items():
        if value not in ("", None, False):
            text = short(value) if isinstance(value, float) else repr(value)
            parts.append(f"{name}={text}")
    return f"{type(owner).__name__}({', '.join(parts)})"
