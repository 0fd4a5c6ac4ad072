"""Parse cells in the formats that a schema declares: numbers, dates and markers.

As in :mod:`dpexplain.tables.cells`, the result for a cell depends only on this cell and the public
schema. A cell that cannot be parsed counts as missing, and no cell causes an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpexplain.tables.cells import cell_day, cell_number, cell_text

DECIMALS: Final = (".", ",")
THOUSANDS: Final = ("", ".", ",", "'", " ")

_PARTS: Final = {
    "d": r"(?P<day>[0-9]{1,2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "b": r"(?P<name>[A-Za-z]{3})",
    "B": r"(?P<name>[A-Za-z]{3,9})",
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<short>[0-9]{2})",
    "H": r"[0-9]{1,2}",
    "M": r"[0-9]{1,2}",
    "S": r"[0-9]{1,2}",
    "I": r"[0-9]{1,2}",
    "p": r"[AaPp]\.?[Mm]\.?",
    "%": "%",
}
_SAMPLE: Final = {
    "d": "01",
    "m": "02",
    "b": "Feb",
    "B": "February",
    "Y": "2024",
    "y": "24",
    "H": "03",
    "M": "04",
    "S": "05",
    "I": "03",
    "p": "PM",
    "%": "%",
}
_NEEDED: Final = {"a day (%d)": "d", "a month (%m, %b or %B)": "mbB", "a year (%Y or %y)": "Yy"}
SERIALS: Final = ("excel", "excel 1904")
"""Names for the serial numbers of spreadsheets, which count days; not `strftime` formats."""

_SERIAL: Final = re.compile(r"[0-9]{5,7},[0-9]+")  # with a time of day, after a decimal comma
_LAST_SERIAL: Final = 2_958_465  # December 31, 9999
_TIME_OF_DAY: Final = r"(?:[T ][0-9]{2}:[0-9]{2}.*)?"
_LAST_OF_1899: Final = date(1899, 12, 31).toordinal()
_FIRST_OF_1904: Final = date(1904, 1, 1).toordinal()
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


class DayFormat(NamedTuple):
    """One date format.

    Parameters
    ----------
    pattern : re.Pattern
        Pattern that matches a whole cell.
    n_digits : int
        Number of digits in a date, if the format consists only of digits; 0 for any other format.
        Table readers treat a date without separators as a number, and drop its leading zeros.
    """

    pattern: re.Pattern[str]
    n_digits: int


@lru_cache(maxsize=256)
def day_format(text: str) -> DayFormat:
    """Parse a date format.

    Parameters
    ----------
    text : str
        Format in ``strftime`` notation, made up of %d, %m, %b, %B, %Y, %y, %H, %M, %S, %I, %p and
        %%. Month names are in English, regardless of the locale. A format that includes no time and
        does not consist only of digits also matches a date followed by a time of day.

    Returns
    -------
    DayFormat

    Raises
    ------
    ValueError
        If the format contains any other code, does not contain exactly one day, one month and one
        year, or would match decimal numbers.

    Examples
    --------
    >>> day_format("%d.%m.%Y").pattern.fullmatch("31.1.2024") is None
    False
    """
    pieces = re.findall(r"%.?|[^%]+", text, re.DOTALL)
    parts = [piece[1:] for piece in pieces if piece[0] == "%"]
    if unknown := [part for part in parts if part not in _PARTS]:
        raise ValueError(
            f"'%{unknown[0]}' is not a part of a date; use {', '.join('%' + p for p in _PARTS)}."
        )
    for what, letters in _NEEDED.items():
        if sum(part in letters for part in parts if part != "%") != 1:
            raise ValueError(
                f"it needs {what} exactly once, such as '%d.%m.%Y'. For serial numbers of a "
                "spreadsheet, write 'excel'."
            )
    sample = "".join(_SAMPLE[p[1:]] if p[0] == "%" else p for p in pieces)
    if sample.isascii() and sample.isdigit():
        fixed = {key: rule.replace("{1,2}", "{2}") for key, rule in _PARTS.items()}
        return DayFormat(_pattern(pieces, fixed), len(sample))
    if not np.isnan(cell_number(sample)):
        raise ValueError(
            f"a reader of tables would take {sample!r} as a number; write digits only, or another "
            "separator."
        )
    end = "" if set("HMSIp") & set(parts) else _TIME_OF_DAY
    return DayFormat(_pattern(pieces, _PARTS, end), 0)


def _pattern(pieces: Sequence[str], rules: dict[str, str], end: str = "") -> re.Pattern[str]:
    body = "".join(rules[p[1:]] if p[0] == "%" else re.escape(p) for p in pieces)
    return re.compile(body.strip() + end, re.DOTALL)


def shape_of(text: str) -> str:
    """Return a simplified pattern of a date format, for comparing formats.

    The pattern does not tell days, months and two-digit years apart, and assumes that each has two
    digits. If the patterns of two formats are equal, both formats match the same cells with
    two-digit days and months, so a `Date` must not have both.
    """
    alike = day_format(text).pattern.pattern
    for name in ("day", "month", "short"):
        alike = alike.replace(f"?P<{name}>", "")
    return alike.replace("[0-9]{1,2}", "[0-9]{2}")


def day_reader(formats: Sequence[str], last_year: int) -> Callable[[object], float]:
    """Return a function that parses dates in the given formats or in ISO format.

    Parameters
    ----------
    formats : sequence of str
        The first format that matches a cell is used; ISO format is tried after them, and
        spreadsheet serial numbers last.
    last_year : int
        A two-digit year stands for the latest year with these digits that is not after `last_year`.

    Returns
    -------
    callable
        Function from a cell to days since January 1, 1970, or to NaN if it is not a date.

    Examples
    --------
    >>> read = day_reader(["%d.%m.%Y", "%d/%m/%y"], last_year=2024)
    >>> read("01.02.1970"), read("02/01/70"), read("1970-01-03"), read("31.02.1970")
    (31.0, 1.0, 2.0, nan)
    >>> day_reader(["excel"], last_year=2024)("25569.75")    # 6 p.m. of January 1, 1970
    0.0
    """
    if not formats:
        return cell_day
    return partial(
        _day,
        forms=[day_format(text) for text in formats if text not in SERIALS],
        serial=next((text for text in formats if text in SERIALS), ""),
        last_year=last_year,
    )


def _day(cell: object, *, forms: Sequence[DayFormat], serial: str, last_year: int) -> float:
    try:
        if not isinstance(cell, str):
            day = cell_day(cell)
            if not np.isnan(day):
                return day
        plain = cell_text(cell) or ""
        text = str.strip(cell) if isinstance(cell, str) else plain
        for form in forms:
            shown = plain.zfill(form.n_digits) if form.n_digits else text
            if found := form.pattern.fullmatch(shown):
                return cell_day(_date(found.groupdict(), last_year))
        day = cell_day(text)
        return _serial_day(cell, serial) if serial and np.isnan(day) else day
    except Exception:  # a day that does not exist, or an object that raises an exception
        return np.nan


def _serial_day(cell: object, kind: str) -> float:
    """Return the day of a serial number; the decimals (a time of day) are ignored."""
    number = cell_number(cell)
    if np.isnan(number) and isinstance(cell, str) and _SERIAL.fullmatch(str.strip(cell)):
        number = cell_number(str.strip(cell).replace(",", "."))
    if not 0.0 <= number < _LAST_SERIAL + 1.0:
        return np.nan
    serial = int(number)
    if kind == "excel 1904":
        return cell_day(date.fromordinal(_FIRST_OF_1904 + serial))
    if serial in (0, 60):  # Excel counts February 29, 1900, which did not exist, as day 60
        return np.nan
    return cell_day(date.fromordinal(_LAST_OF_1899 + serial - (serial > 60)))


def _date(found: dict[str, str], last_year: int) -> date:
    if "year" in found:
        year = int(found["year"])
    else:
        year = last_year - (last_year - int(found["short"])) % 100
    if "month" in found:
        return date(year, int(found["month"]), int(found["day"]))
    name = found["name"].lower()
    names = [month for month in _MONTHS if name in (month, month[:3])]
    return date(year, _MONTHS.index(names[0]) + 1, int(found["day"]))


def comma_number(cell: object) -> float:
    """Parse one cell as a number; text is parsed with a decimal comma.

    Parameters
    ----------
    cell : object
        Any value from a table.

    Returns
    -------
    float
        The number, as returned by :func:`~dpexplain.tables.cells.cell_number`; NaN for text with a
        period, which could be a thousands separator or a decimal point.

    Examples
    --------
    >>> comma_number("1,5"), comma_number(1.5), comma_number("1.500"), comma_number("1,5,0")
    (1.5, 1.5, nan, nan)
    """
    try:
        if not isinstance(cell, str):
            return cell_number(cell)
        text = str.strip(cell)  # a plain string, even if the cell is of a subclass
        return np.nan if "." in text else cell_number(text.replace(",", "."))
    except Exception:  # an arbitrary object may raise any exception
        return np.nan


def number_reader(
    decimal: str = ".", thousands: str = "", affixes: Sequence[str] = ()
) -> Callable[[object], float]:
    """Return a function that parses numbers in the form that a schema declares.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        Decimal separator of numbers stored as text.
    thousands : str, default=""
        Thousands separator in text, one of `THOUSANDS`; "" if there is none.
    affixes : sequence of str, default=()
        Strings that may precede or follow a number, such as its unit.

    Returns
    -------
    callable
        Function from a cell to a number, or to NaN if it cannot be parsed.

    Examples
    --------
    >>> read = number_reader(",", thousands=".", affixes=["€"])
    >>> read("1.234,5 €"), read("999"), read("1.23"), read("12.34,5")
    (1234.5, 999.0, nan, nan)
    """
    plain = comma_number if decimal == "," else cell_number
    if not thousands and not affixes:
        return plain
    # A space stands for no-break and thin spaces too, an apostrophe for the typographic one.
    marks = {" ": " \u00a0\u202f\u2009", "'": "'\u2019"}.get(thousands, thousands)
    grouped = re.compile(
        rf"([+-]?[0-9]{{1,3}}(?:[{re.escape(marks)}][0-9]{{3}})+)({re.escape(decimal)}[0-9]*)?"
    )
    return partial(
        _written_number,
        plain=plain,
        grouped=grouped if thousands else None,
        affixes=sorted(affixes, key=len, reverse=True),
    )


def _written_number(
    cell: object,
    *,
    plain: Callable[[object], float],
    grouped: re.Pattern[str] | None,
    affixes: Sequence[str],
) -> float:
    try:
        if not isinstance(cell, str):
            return plain(cell)
        text = str.strip(cell)
        for affix in affixes:
            if text.endswith(affix) or text.startswith(affix):
                cut = text.removesuffix(affix)
                text = (text.removeprefix(affix) if cut == text else cut).strip()
                break
        if grouped is not None and (found := grouped.fullmatch(text)):
            text = re.sub(r"[^0-9+-]", "", found[1]) + (found[2] or "")
        return plain(text)
    except Exception:  # an arbitrary object may raise any exception
        return np.nan


def hide_markers(
    numbers: NDArray[np.float64], markers: Iterable[object], *readers: Callable[[object], float]
) -> None:
    """Replace numbers that stand for a missing value with NaN, in place.

    Parameters
    ----------
    numbers : ndarray of shape (n_samples,), dtype float64
        Parsed cells of a column, which are modified.
    markers : iterable of str, int or float
        Missing-value markers; those that are not numbers are ignored.
    *readers : callable
        Functions that parse a marker as a number; every number that any of them returns is
        replaced.
    """
    read = {reader(marker) for marker in markers for reader in readers}
    known = [number for number in read if not np.isnan(number)]
    if known:
        numbers[np.isin(numbers, known)] = np.nan
