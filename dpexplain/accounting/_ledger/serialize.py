"""Functions that convert values to and from JSON, and check what they read."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dpexplain._utils.validation import check_in_range, shown

__all__ = [
    "check_fields",
    "check_unicode",
    "list_field",
    "not_negative",
    "number_from_json",
    "number_to_json",
    "one_spelling",
    "text_field",
]


def number_to_json(value: float) -> float | str:
    """Convert a number, which may be infinite, to a value that JSON can represent.

    Parameters
    ----------
    value : float
        A finite number or positive infinity.

    Returns
    -------
    float or str
        The number itself, or ``"inf"`` for infinity.
    """
    return "inf" if value == math.inf else value


def number_from_json(value: object) -> object:
    """Convert the output of `number_to_json` back to a number.

    The caller checks the type and the range of the result.

    Parameters
    ----------
    value : object
        A number or ``"inf"``.

    Returns
    -------
    object
        Infinity if `value` is ``"inf"``; otherwise, `value` itself.
    """
    return math.inf if isinstance(value, str) and value == "inf" else value


def not_negative(name: str, value: object) -> float:
    """Return the value as a number in [0, inf]; raise an error if it is not one."""
    return check_in_range(name, number_from_json(value), 0.0, math.inf)


def text_field(name: str, value: object) -> str:
    """Return the value if it is a string; raise ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {shown(value)}; expected a string.")
    return value


def list_field(name: str, content: Mapping[str, Any]) -> list[Any]:
    """Return a field as a list; raise ValueError if it is not a list or tuple."""
    if not isinstance(content[name], list | tuple):
        raise ValueError(f"{name} is {shown(content[name])}; expected a list.")
    return list(content[name])


def check_fields(cls: type[Any], content: object) -> None:
    """Check that a mapping has exactly the fields of a dataclass."""
    names = {field.name for field in fields(cls)}
    if not isinstance(content, Mapping) or set(content) != names:
        raise ValueError(
            f"a {cls.__name__} needs exactly these fields: {', '.join(sorted(names))}."
        )


def check_unicode(name: str, value: object) -> None:
    """Raise ValueError if a string could be written to a ledger but not read back."""
    try:
        if isinstance(value, str):
            value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name}={shown(value)} contains half of a character (a lone surrogate); write it in "
            "characters that UTF-8 has. Nothing was charged."
        ) from None


def one_spelling(name: str) -> str:
    """Normalize a name to Unicode NFC.

    An accented letter in a name can be stored as one character, or as a letter and a combining
    accent. After normalization, both versions of the name refer to the same ledger.
    """
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else name
