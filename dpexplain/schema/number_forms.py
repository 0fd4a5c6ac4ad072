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
    (",", ""),
    (",", "."),
    (".", "'"),
    (".", " "),
    (",", " "),
)
"""Decimal and thousands separators; of those that fit equally well, the first are taken."""
_LONGEST_UNIT: Final = 8
_NUMBER: Final = r"[+-]?\d[\d.,' \u00a0\u202f\u2019]*?"
_AROUND: Final = re.compile(rf"([^\d+-]*?)\s*{_NUMBER}\s*([^\d\s.,'][^\d]*)?")
_NAMES: Final = {".": "a period", ",": "a comma", "'": "an apostrophe", " ": "a space"}


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
        best = None
        for decimal, thousands in _SEPARATORS:
            read = number_reader(decimal, thousands, affixes)
            odd = [text for text in counts if np.isnan(read(text))]
            enough = n_read(counts, read) >= MAJORITY * max(counts.total(), 1)
            if len(odd) <= _ODD and enough and (best is None or len(odd) < len(best.odd)):
                best = _form(decimal, thousands, affixes, read, odd)
            if not odd:
                break
        if best is not None:
            return best
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
        questions.append(f"{_NAMES[thousands]} separates thousands, and is not a decimal one?")
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
            before, after = (part or "" for part in found.groups())
            # Words before a number are names, such as "ward 3"; units are short.
            if before.strip() and not any(map(str.isalpha, before)):
                around[before.strip()] += n
            if 0 < len(after.strip()) <= _LONGEST_UNIT:
                around[after.strip()] += n
    common = [text for text, n in around.items() if n >= MAJORITY * counts.total()]
    try:
        return as_affixes("number", common[:1])
    except SchemaError:  # the text could be part of a number
        return ()
