"""Guesses about how the numbers of a column are written. NOT PRIVATE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from dpexplain.exceptions import SchemaError
from dpexplain.schema._cleaning import as_affixes
from dpexplain.schema.guesses import MAJORITY, n_read
from dpexplain.tables.spellings import number_reader

_ODD: Final = 5  # number of distinct other cells that a column of numbers may contain
_SEPARATORS: Final = (
    (".", ""),
    (".", ","),
    (",", "."),
    (",", ""),
    (".", "'"),
    (".", " "),
    (",", " "),
)
"""Decimal and thousands separators, in the order in which they are tried."""
_AROUND: Final = re.compile(
    r"([^\d+-]*?)\s*[+-]?\d[\d.,' \u00a0\u202f\u2019]*?\s*([^\d\s.,'][^\d]*)?"
)
_NAMES: Final = {".": "period", ",": "comma", "'": "apostrophe", " ": "space"}


class NumberForm(NamedTuple):
    """How the numbers of a column are written.

    Parameters
    ----------
    rules : dict
        Arguments of `Numeric`: decimal, thousands and affixes, without those that are defaults.
    read : callable
        Function from a cell to a number.
    odd : list of str
        Cells that are not numbers.
    questions : list of str
        What a person has to confirm.
    """

    rules: dict[str, Any]
    read: Callable[[object], float]
    odd: list[str]
    questions: list[str]


def number_form(counts: Counter[str]) -> NumberForm | None:
    """Guess how the numbers of a column are written.

    Parameters
    ----------
    counts : Counter of str
        Number of cells with each text.

    Returns
    -------
    NumberForm or None
        None if most cells are not numbers.
    """
    for affixes in ((), _affixes(counts)):
        for decimal, thousands in _SEPARATORS:
            read = number_reader(decimal, thousands, affixes)
            odd = [text for text in counts if np.isnan(read(text))]
            if len(odd) <= _ODD and n_read(counts, read) >= MAJORITY * max(counts.total(), 1):
                return _form(decimal, thousands, affixes, read, odd)
    return None


def _form(
    decimal: str,
    thousands: str,
    affixes: tuple[str, ...],
    read: Callable[[object], float],
    odd: list[str],
) -> NumberForm:
    rules: dict[str, Any] = {}
    questions = []
    if decimal == ",":
        rules["decimal"] = decimal
        questions.append("numbers have a decimal comma?")
    if thousands:
        rules["thousands"] = thousands
        questions.append(f"a {_NAMES[thousands]} separates thousands, and is not a decimal one?")
    if affixes:
        rules["affixes"] = affixes
        shown = ", ".join(map(repr, affixes))
        questions.append(f"numbers are written with {shown}, and all in this unit?")
    return NumberForm(rules, read, odd, questions)


def _affixes(counts: Counter[str]) -> tuple[str, ...]:
    """Return the text that precedes or follows most of the numbers, such as a unit."""
    around: Counter[str] = Counter()
    for text, n in counts.items():
        if found := _AROUND.fullmatch(text.strip()):
            around.update({part.strip(): n for part in found.groups() if part and part.strip()})
    common = [text for text, n in around.items() if n >= MAJORITY * counts.total()]
    try:
        return as_affixes("number", common[:1])
    except SchemaError:  # the text could be part of a number
        return ()
