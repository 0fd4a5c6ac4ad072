"""Format numbers and names for labels, reprs and messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from dpexplain._utils.names import closest_name
from dpexplain.tables.cells import DATE_UNIT, day_text

EN_DASH = "\u2013"
_STEP_TOLERANCE = 1e-9
_LARGEST_EXACT = 2.0**50


def short_number(value: float, digits: int = 4, *, zeros: bool = False) -> str:
    """Format a number with at most `digits` digits; `zeros` keeps trailing zeros."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    if 1e-4 <= abs(value) < 1e7:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:.{decimals}f}"
        return text if zeros else trim(text)
    return f"{value:.{digits}g}"


def signed_number(value: float) -> str:
    """Format a contribution with its sign."""
    text = short_number(value, 3)
    return text if value <= 0 else f"+{text}"


def number_like(value: float, largest: float) -> str:
    """Format a number with the decimals that `largest` has at three digits.

    Numbers of one column then have the same decimals, so they line up and add up.
    """
    if not 1e-4 <= largest < 1e7:
        return short_number(value, 3)
    text = f"{value:.{max(0, 2 - math.floor(math.log10(largest)))}f}"
    return text if float(text) else text.removeprefix("-")


def above_rounding(value: float, std: float) -> float:
    """Return a value, or 0 if it is a rounding error next to its uncertainty."""
    return 0.0 if abs(value) < 1e-9 * std else value


def trim(text: str) -> str:
    """Drop trailing zeros after the decimal point."""
    if "." not in text or "e" in text:
        return text
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shorten(name: str, limit: int = 40) -> str:
    """Shorten a long name and replace unprintable characters."""
    shown = name[: limit + 1]
    if not shown.isprintable():
        shown = "".join(char if char.isprintable() else "\ufffd" for char in shown)
    return shown if len(name) <= limit else shown[: limit - 1] + "\u2026"


def listing(names: Iterable[str], limit: int = 12) -> str:
    """Format at most `limit` quoted names for a message."""
    quoted = [repr(shorten(name)) for name in names]
    shown = ", ".join(quoted[:limit])
    return shown if len(quoted) <= limit else f"{shown} and {len(quoted) - limit} more"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 sample" or "2 samples"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the most similar known name in a sentence; empty if none is similar."""
    meant = closest_name(name, known)
    return "" if meant is None else f" Did you mean {shorten(meant)!r}?"


def edge_texts(edges: Sequence[float]) -> list[str]:
    """Format bin edges with few decimals, or else few digits, that keep them distinct."""
    width = min(right - left for left, right in pairwise(edges))
    for decimals in range(13):
        rounded = [f"{edge:.{decimals}f}" for edge in edges]
        error = max(abs(float(text) - edge) for text, edge in zip(rounded, edges, strict=True))
        if error <= 0.05 * width and max(map(len, rounded)) <= 14:
            return [trim(text) for text in rounded]
    widths = [right - left for left, right in pairwise(edges)]
    near = [min(pair) for pair in zip([widths[0], *widths], [*widths, widths[-1]], strict=True)]
    return [_text_within(edge, 0.05 * width) for edge, width in zip(edges, near, strict=True)]


def _text_within(value: float, tolerance: float) -> str:
    """Format a number with the fewest digits that change it by at most `tolerance`."""
    texts = (short_number(value, digits) for digits in range(2, 17))
    return next((text for text in texts if abs(float(text) - value) <= tolerance), repr(value))


def interval_labels(edges: Sequence[float], step: float | None, unit: str = "") -> list[str]:
    """Label the bins between `edges`, using their possible values if a step is known.

    If there is a step, all values are multiples of it. For an age in whole years, the half-open bin
    ``[30, 35)`` contains the values 30 to 34 and is labeled accordingly. The label of the last bin,
    which is closed, includes its right edge. Bins of dates are labeled with dates.
    """
    shown = list(map(day_text, edges)) if unit == DATE_UNIT else edge_texts(edges)
    labels = [f"{left} {EN_DASH} {right}" for left, right in pairwise(shown)]
    if step is None:
        return labels
    last = len(labels) - 1
    for index in range(len(labels)):
        values = _steps_inside(edges[index], edges[index + 1], step, closed=index == last)
        if values is None:
            continue
        low, high = (
            day_text(value) if unit == DATE_UNIT else short_number(value, 12) for value in values
        )
        labels[index] = low if low == high else f"{low} {EN_DASH} {high}"
    return labels


def _steps_inside(
    left: float, right: float, step: float, *, closed: bool
) -> tuple[float, float] | None:
    """Return the smallest and largest multiples of `step` in a bin.

    The result is None if the bin contains no multiple, or if the multiples are too large to be
    represented exactly.
    """
    if max(abs(left), abs(right)) / step > _LARGEST_EXACT:
        return None
    first = math.ceil(left / step - _STEP_TOLERANCE)
    if closed:
        last = math.floor(right / step + _STEP_TOLERANCE)
    else:
        last = math.ceil(right / step - _STEP_TOLERANCE) - 1
    return (first * step, last * step) if first <= last else None


def number_above(value: float, limit: float) -> str:
    """Format a number with at least two digits, and enough of them to exceed a limit.

    Parameters
    ----------
    value : float
        A number above `limit`.
    limit : float

    Returns
    -------
    str

    Examples
    --------
    >>> number_above(2.345, 1.0), number_above(1.004, 1.0)
    ('2.3', '1.004')
    """
    texts = (f"{value:.{digits}g}" for digits in range(2, 17))
    return next((text for text in texts if float(text) > limit), repr(value))
