"""Cells that look like markers of missing values."""

from __future__ import annotations

from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpexplain.tables.cells import FIRST_DAY, LAST_DAY

_MARKERS: Final = frozenset({-9, -99, -999, -9999, -8, -88, -888, 99, 999, 9999, 99999, -1})
_FEWEST_REPEATS: Final = 10
_FEWEST_DAYS: Final = 20
_EPOCH: Final = date(1970, 1, 1).toordinal()
_WORDS: Final = frozenset(
    {
        *("?", "-", "--", "---", ".", "..", "n.a.", "n/a", "na", "#n/a", "#na", "null", "none"),
        *("unknown", "unk", "missing", "not known", "not available", "not stated", "not recorded"),
        *("not applicable", "no answer", "refused", "undetermined", "pending"),
        *("unbekannt", "k.a.", "k. a.", "keine angabe", "fehlt", "offen", "entf."),
        *("inconnu", "non connu", "desconocido", "sin dato", "sconosciuto", "onbekend"),
    }
)


def looks_missing(text: str) -> bool:
    """Return whether a text looks like a marker: a word such as "unknown", or -99."""
    folded = text.strip().casefold()
    negative = {str(marker) for marker in _MARKERS if marker < 0}
    return folded in _WORDS or folded.removesuffix(".0") in negative


def number_markers(
    values: NDArray[np.float64], counts: NDArray[np.int64], *, all_extremes: bool = False
) -> list[float]:
    """Return numbers such as -99 that are far from all others or unusually frequent.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Distinct numbers, in ascending order.
    counts : ndarray of shape (n_values,)
        Number of cells with each.
    all_extremes : bool, default=False
        Whether, once an extreme marker is found, the next one is looked for.

    Returns
    -------
    list of float
        The numbers that look like markers, in ascending order.
    """
    listed = np.isin(values, list(_MARKERS))
    often = counts[~listed & (values != 0.0)].max(initial=1)
    found = {float(v) for v in values[listed & (counts >= max(_FEWEST_REPEATS, 5 * often))]}
    rest = values
    while len(rest) > 2 and (marker := _extreme(rest)) is not None:
        found.add(marker)
        rest = rest[rest != marker]
        if not all_extremes:
            break
    return sorted(found)


def day_markers(days: NDArray[np.float64], counts: NDArray[np.int64]) -> list[float]:
    """Return first days of a year, such as January 1, 1900, that are unusually frequent or far off.

    Parameters
    ----------
    days : ndarray of shape (n_days,)
        Distinct days since January 1, 1970, in ascending order.
    counts : ndarray of shape (n_days,)
        Number of cells with each.

    Returns
    -------
    list of float
        The days that look like markers; none if fewer than 20 other days occur.
    """
    listed = np.array([_is_default(day) for day in days.tolist()], dtype=bool)
    rest = days[~listed]
    if len(rest) < _FEWEST_DAYS:
        return []
    frequent = counts >= max(_FEWEST_REPEATS, 5 * counts[~listed].max())
    gap = np.minimum(abs(days - rest[0]), abs(days - rest[-1]))
    outside = (days < rest[0]) | (days > rest[-1])
    far = outside & (gap > rest[-1] - rest[0])
    return [float(day) for day in days[listed & (frequent | far)]]


def _is_default(day: float) -> bool:
    """Return whether a program may have set this day because it knew none."""
    if not FIRST_DAY <= day <= LAST_DAY:
        return False
    whole = date.fromordinal(int(day) + _EPOCH)
    return (whole.month, whole.day) == (1, 1) or whole in (date(1899, 12, 30), date(9999, 12, 31))


def _extreme(values: NDArray[np.float64]) -> float | None:
    """Return the smallest or the largest value, if it looks like a marker."""
    for end, rest in ((values[0], values[1:]), (values[-1], values[:-1])):
        gap = min(abs(end - rest[0]), abs(end - rest[-1]))
        far = gap > rest[-1] - rest[0]
        alone_below = end < 0 <= rest[0] and (end < -1 or rest[-1] > 2)  # -1, 0, 1 is a scale
        if end in _MARKERS and (far or alone_below):
            return float(end)
    return None
