"""Suggestions ("did you mean") for misspelled names of columns and terms."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")
_LONGEST = 200
_MOST_COMPARED = 2_000


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """Find the known name closest to a misspelled name.

    Parameters
    ----------
    name : str
        The misspelled name.
    known : iterable of str
        Public names, never values from records. If there are more than 2,000 of them, similar names
        are not searched for, because that would take too long.

    Returns
    -------
    str or None
        The first of these that exists: a known name that differs from `name` only in case,
        surrounding spaces and leading zeros (``"R01"`` for ``"R1"``); the only known name that
        consists of a scikit-learn transformer's prefix and `name` (``"scale__age"`` for ``"age"``);
        the most similar known name. The result is None if no name is similar, or if `name` is a
        whole number: 14 does not stand for 4.
    """
    names = list(known)
    same = [each for each in names if _folded(each) == _folded(name)]
    if same:
        return same[0]
    transformed = [each for each in names if _folded(each).endswith(f"__{_folded(name)}")]
    if len(transformed) == 1:
        return transformed[0]
    if len(names) > _MOST_COMPARED or name.strip().isdecimal():
        return None
    folded = {_folded(each): each for each in reversed(names)}
    close = difflib.get_close_matches(_folded(name), folded, n=1)
    return folded[close[0]] if close else None


def unknown_keyword(function: str, name: str, known: Iterable[str]) -> str:
    """Say which parameter may be meant by an unknown one, or which ones there are.

    Parameters
    ----------
    function : str
        Name of the function or class that was called.
    name : str
        Name of the unknown parameter.
    known : iterable of str
        Names of the parameters.

    Returns
    -------
    str
        Message for a TypeError.
    """
    names = list(known)
    close = closest_name(name, names)
    meant = f"did you mean {close!r}?" if close else f"it has {', '.join(names)}."
    return f"{function} has no parameter {name!r}; {meant}"


def _folded(name: str) -> str:
    return _LEADING_ZEROS.sub("", name[:_LONGEST].strip().casefold())
