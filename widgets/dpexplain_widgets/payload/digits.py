"""Write lists of integers as characters, digit by digit, to compress well."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

# One letter for each digit, without quotation marks and backslashes, which JSON escapes.
LETTERS = "".join(chr(code) for code in range(35, 127) if chr(code) != "\\")
LOWEST = 45  # values of the lowest digit, which also contains the sign

_INDEX = re.compile(r"0|[1-9]\d*")  # a browser reads such keys first


def streamed(value: Any, marks: Sequence[str]) -> tuple[Any, dict[str, list[str]]]:
    """Move lists of integers out of JSON values into streams of digits.

    The lowest digits of all lists are stored together, as are the next ones, and so on. The lowest
    digits look random, and higher digits are nearly all zero, so separate streams compress better
    than whole numbers.

    Parameters
    ----------
    value : object
        JSON values. A list of integers is ``{mark: [first, integers...]}``, where the first item
        may be any number.
    marks : sequence of str
        Keys that mark such lists.

    Returns
    -------
    value : object
        The values, with ``{mark: [first, n_integers, n_digits]}`` in place of each list.
    streams : dict
        For each mark, strings of digits: one string for each digit position, lowest first. Lists
        follow each other in the order in which a browser reads them.
    """
    streams: dict[str, list[list[str]]] = {mark: [] for mark in marks}

    def read(each: Any) -> Any:
        if isinstance(each, list):
            return [read(inner) for inner in each]
        if not isinstance(each, dict):
            return each
        for mark in marks:
            if mark in each:
                first, *steps = each[mark]
                digits = _digits(steps)
                streams[mark] += [[] for _ in range(len(digits) - len(streams[mark]))]
                for stream, letters in zip(streams[mark], digits, strict=False):
                    stream.append(letters)
                return {mark: [first, len(steps), len(digits)]}
        return {name: read(each[name]) for name in sorted(each, key=_place)}

    return read(value), {mark: ["".join(each) for each in found] for mark, found in streams.items()}


def _place(name: str) -> float:
    return int(name) if _INDEX.fullmatch(name) else math.inf


def _digits(steps: Sequence[int]) -> list[str]:
    """Return a string for each digit position; the lowest digit also encodes the sign."""
    texts = ["".join(LETTERS[2 * (abs(step) % LOWEST) + (step < 0)] for step in steps)]
    rest = [abs(step) // LOWEST for step in steps]
    while any(rest):
        texts.append("".join(LETTERS[each % len(LETTERS)] for each in rest))
        rest = [each // len(LETTERS) for each in rest]
    return texts
