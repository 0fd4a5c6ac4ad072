"""Functions that read plain data from files strictly, and write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dpexplain._utils.validation import check_in_range, shown

__all__ = [
    "check_fields",
    "list_field",
    "not_negative",
    "number_from_json",
    "number_to_json",
    "text_field",
]


def number_to_json(value: float) -> float | str:
    """Write a number that may be infinite, which JSON cannot represent.

    Parameters
    ----------
    value : float
        Finite or positive infinity.

    Returns
    -------
    float or str
        The number, or ``"inf"``.
    """
    return "inf" if value == math.inf else value


def number_from_json(value: object) -> object:
    """Read the output of `number_to_json`; the caller checks the range.

    Parameters
    ----------
    value : object
        A number or ``"inf"``.

    Returns
    -------
    object
        Infinity for ``"inf"``, everything else unchanged.
    """
    return math.inf if isinstance(value, str) and value == "inf" else value


def not_negative(name: str, value: object) -> float:
    """Read a number from 0 to infinity."""
    return check_in_range(name, number_from_json(value), 0.0, math.inf)


def text_field(name: str, value: object) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {shown(value)}; expected a string.")
    return value


def list_field(name: str, content: Mapping[str, Any]) -> list[Any]:
    """Read a list."""
    if not isinstance(content[name], list | tuple):
        raise ValueError(f"{name} is {shown(content[name])}; expected a list.")
    return list(content[name])


def check_fields(cls: type[Any], content: object) -> None:
    """Check that plain data have exactly the fields of a dataclass."""
    names = {field.name for field in fields(cls)}
    if not isinstance(content, Mapping) or set(content) != names:
        raise ValueError(
            f"a {cls.__name__} needs exactly these fields: {', '.join(sorted(names))}."
        )
