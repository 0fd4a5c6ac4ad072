"""Parse individual cells: number, text or missing.

For a private fit, each cell must be parsed independently. pandas chooses the dtype of a column from
all its cells, so one bad cell turns a column of integers into text, decimals or objects. If ``1``,
``1.0``, ``"1"`` and ``True`` were parsed differently, the record with the bad cell would change how
all other records are counted. Therefore, all forms in which a table reader might store the same
cell are parsed as the same number and the same string, and no cell causes an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd

DATE_UNIT: Final = "days since 1970-01-01"
"""Unit of dates stored as numbers, as written in the CF conventions; labels show the dates."""

NO_TEXT: Final = ""
"""String for a cell that is not empty but cannot equal any category, such as a list or bytes."""

EMPTY_WORDS: Final = frozenset({"none", "null", "na", "n/a", "<na>", "nat", "#n/a", "#na"})
"""Lower-case words, other than "nan", that an empty cell may become if converted to a string."""


class Unreadable:
    """Type of `UNREADABLE`, which replaces cells that cannot be converted."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unreadable>"


UNREADABLE: Final = Unreadable()

# pandas writes a column of dates without times, but with times if another cell is not a date.
_MIDNIGHT: Final = re.compile(r"^([0-9]{4}-[0-9]{2}-[0-9]{2}) 00:00:00$")
# A day in ISO format, with or without a time of day.
_DATE: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ][0-9]{2}:[0-9]{2}.*)?", re.DOTALL)
_EPOCH: Final = date(1970, 1, 1).toordinal()

FIRST_DAY: Final = date.min.toordinal() - _EPOCH
LAST_DAY: Final = date.max.toordinal() - _EPOCH
"""Last day of the year 9999. Only days of the years 1 to 9999 have ISO dates."""

_PER_DAY: Final = dict.fromkeys(("Y", "M", "W", "D"), 1) | {
    "h": 24,
    "m": 1_440,
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
    "ps": 86_400 * 10**12,
    "fs": 86_400 * 10**15,
    "as": 86_400 * 10**18,
}
_LARGEST: Final = 2**63 - 1

_TRUTH: Final = {"true": 1.0, "false": 0.0}
_NUMBER_TYPES: Final = (int, float, Decimal, Fraction, np.integer, np.floating)


def cell_number(cell: object) -> float:
    """Parse one cell as a number.

    Parameters
    ----------
    cell : object
        Any value from a table.

    Returns
    -------
    float
        The number, or NaN if the cell is missing or not a number. A number that is too large for
        a float becomes infinite, and negative zero becomes zero.
    """
    try:
        return _number(cell) + 0.0  # table readers disagree whether "-0" is 0 or -0.0
    except Exception:  # an arbitrary object may raise any exception
        return np.nan


def cell_day(cell: object) -> float:
    """Parse one cell as a day.

    Parameters
    ----------
    cell : object
        Any value that a table can contain. Dates and times from any library are parsed, and so is
        text that begins with a date in ISO format. A time is converted to the day in its own time
        zone, and a pandas period to its first day.

    Returns
    -------
    float
        Days since January 1, 1970; NaN if the cell is missing or not a date of the years 1 to 9999.
        Numbers are not dates, because 20240131 or 45322 would be ambiguous.

    Examples
    --------
    >>> cell_day("1970-01-02"), cell_day("1970-01-02 23:59:59+02:00"), cell_day(20240131)
    (1.0, 1.0, nan)
    """
    try:
        return _day(cell)
    except Exception:  # a day that does not exist, or an object that raises an exception
        return np.nan


def days_of_times(times: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return the day of each NumPy time, as `cell_day` does for a single one.

    NumPy's own conversion to days overflows near the limits of 64 bits, and fails for some units.

    Parameters
    ----------
    times : ndarray of shape (n,), dtype datetime64

    Returns
    -------
    ndarray of shape (n,), dtype float64
        Days since January 1, 1970; NaN for a missing time or a time outside the years 1 to 9999.
    """
    unit, step = np.datetime_data(times.dtype)
    per_day = _PER_DAY.get(unit, 0)
    if step != 1 or unit in ("Y", "M", "W") or not 0 < per_day <= _LARGEST:
        return np.array([cell_day(time) for time in times], dtype=np.float64)
    days = times.astype(times.dtype.newbyteorder("=")).view(np.int64) // per_day
    known = ~np.isnat(times) & (days >= FIRST_DAY) & (days <= LAST_DAY)
    return np.where(known, days.astype(np.float64), np.nan)


def day_text(day: float) -> str:
    """Write a day in ISO format.

    Parameters
    ----------
    day : float
        Days since January 1, 1970.

    Returns
    -------
    str
        The date in ISO format, or the number of days as text if the date is outside the years 1 to
        9999.

    Examples
    --------
    >>> day_text(18262.0)
    '2020-01-01'
    """
    whole = math.floor(day)
    inside = FIRST_DAY <= whole <= LAST_DAY
    return date.fromordinal(whole + _EPOCH).isoformat() if inside else f"{day:g}"


def number_in(unit: str) -> Callable[[object], float]:
    """Return the parser for cells of a numeric feature with a given unit.

    If the unit is that of dates, the parser accepts dates as well as numbers.

    Parameters
    ----------
    unit : str
        Unit of the feature.

    Returns
    -------
    callable
        Function from a cell to a number, or to NaN if it cannot be parsed.
    """
    return _day_or_number if unit == DATE_UNIT else cell_number


def _day_or_number(cell: object) -> float:
    day = cell_day(cell)
    return cell_number(cell) if math.isnan(day) else day


def cell_text(cell: object) -> str | None:
    """Convert one cell to the string used to match categories.

    Parameters
    ----------
    cell : object
        Any value from a table.

    Returns
    -------
    str or None
        The text without surrounding spaces. Numbers and booleans have one spelling (``1``, ``1.0``,
        ``"1"``, ``"01"``, ``True`` and ``"True"`` all become ``"1"``), and dates are in ISO format,
        without the time if it is midnight. The result is None for a missing cell, and `NO_TEXT` for
        a cell that no category can equal.
    """
    try:
        return _text(cell)
    except Exception:
        return NO_TEXT


def _number(cell: object) -> float:
    if isinstance(cell, str):
        number = _parse(str.strip(cell))
        return np.nan if number is None else number
    if isinstance(cell, (bool, np.bool_)):
        return float(bool(cell))
    # In numpy, timedelta64 is an integer type; complex columns can also contain real numbers.
    if isinstance(cell, _NUMBER_TYPES) and not isinstance(cell, np.timedelta64):
        try:
            return float(cell)
        except OverflowError:
            return np.inf if cell > 0 else -np.inf
    if isinstance(cell, (complex, np.complexfloating)) and cell.imag == 0:
        return float(cell.real)
    return np.nan


def _day(cell: object) -> float:
    if isinstance(cell, str):
        found = _DATE.fullmatch(str.strip(cell))
        return np.nan if found is None else _day(date.fromisoformat(found[1]))
    if cell is pd.NaT:
        return np.nan
    if isinstance(cell, pd.Period):  # its start_time warns of some frequencies
        return _calendar_day(cell.asfreq("D", "start").ordinal)
    if isinstance(cell, np.datetime64):
        return _day_of_time(cell)
    if isinstance(cell, pd.Timestamp) and not date.min.year <= cell.year <= date.max.year:
        return np.nan  # as a date of Python's, it would be of another year
    if isinstance(cell, date):
        return float(date.toordinal(cell) - _EPOCH)
    return np.nan


def _day_of_time(time: np.datetime64) -> float:
    if np.isnat(time):
        return np.nan
    unit, step = np.datetime_data(time.dtype)
    number = int(time.astype(time.dtype.newbyteorder("=")).view(np.int64)) * step
    if unit in ("Y", "M"):
        year, month = divmod(number if unit == "M" else 12 * number, 12)
        return _day(date(1970 + year, month + 1, 1))
    return _calendar_day(number * 7 if unit == "W" else number // _PER_DAY[unit])


def _calendar_day(day: int) -> float:
    return float(day) if FIRST_DAY <= day <= LAST_DAY else np.nan


def _parse(text: str) -> float | None:
    """Return the number that a stripped string represents; None if it is not a number."""
    if "_" in text:  # Python accepts "1_000"; table readers do not
        return None
    truth = _TRUTH.get(text.lower())
    if truth is not None:
        return truth
    try:
        return float(text)
    except ValueError:
        return None


def _text(cell: object) -> str | None:
    if isinstance(cell, str):
        text = str.strip(cell)
        number = _parse(text)
        if number is None:
            return _MIDNIGHT.sub(r"\1", text) or None
        return _spell(number)
    if cell is None or cell is pd.NA or cell is pd.NaT or cell is np.ma.masked:
        return None
    if isinstance(cell, (date, np.datetime64)):
        if isinstance(cell, np.datetime64) and np.isnat(cell):
            return None
        if math.isnan(_day(cell)):  # some libraries cannot show such a time
            return NO_TEXT
        return pd.Timestamp(cell).isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, pd.Period):
        return _text(str(cell))
    if isinstance(cell, np.timedelta64):
        return None if np.isnat(cell) else NO_TEXT
    if isinstance(cell, (complex, np.complexfloating)) and cell.imag != 0:
        return NO_TEXT
    if isinstance(cell, (bool, np.bool_, complex, np.complexfloating, *_NUMBER_TYPES)):
        return _spell(_number(cell))
    return NO_TEXT


def _spell(number: float) -> str | None:
    """Return the canonical string of a number, such as "1" for 1.0; None for NaN."""
    if math.isnan(number):
        return None
    return str(int(number)) if number.is_integer() else repr(number)
