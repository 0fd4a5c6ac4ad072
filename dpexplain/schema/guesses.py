"""Guesses about a column: formats of dates and numbers, IDs, markers. NOT PRIVATE."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpexplain.exceptions import SchemaError
from dpexplain.schema._cleaning import as_affixes
from dpexplain.schema.features import Date, Feature, Numeric
from dpexplain.tables.cells import FIRST_DAY, LAST_DAY, cell_day, cell_number
from dpexplain.tables.spellings import comma_number, day_reader, number_reader

MAJORITY: Final = 0.8
_ENOUGH: Final = 2_000
# The formats in a tuple have the same shape; if both match every cell, the first is taken.
_FORMATS: Final = (
    ("%d.%m.%Y",),
    ("%d.%m.%y",),
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%d/%m/%y", "%m/%d/%y"),
    ("%d-%m-%Y", "%m-%d-%Y"),
    ("%Y/%m/%d",),
    ("%Y.%m.%d",),
    ("%d-%b-%Y",),
    ("%d %b %Y",),
    ("%d %B %Y",),
)
MOST_CATEGORIES: Final = 50  # longer lists are mostly codes and free text
FEWEST_ROWS: Final = 20  # with fewer rows, distinct values do not suggest an ID column
_MOST_ROWS_EACH: Final = 50  # more rows of one value are rarely those of one person
_CODE: Final = re.compile(r"(?=.*\d)\S.{2,40}")
_PERSONS: Final = re.compile(
    r"(patient|person|subject|customer|client|member|participant|pupil|student|owner|holder"
    r"|employee|worker|defendant|insured|debtor|donor|tenant|household|account|card)(?P<last>$)?"
)
_IDS: Final = re.compile(
    r"(^|[\W_])(id|ids|nr|no|num|number|key|uuid|guid|mrn|index)\.?$|^unnamed: 0$"
)
_MARKERS: Final = frozenset({-9, -99, -999, -9999, -8, -88, -888, 99, 999, 9999, 99999, -1})
_DAYS: Final = re.compile(
    r"date|datum|fecha|(^|[\W_])(day|dob|tag|jour|am|on|at)$|birth|geburt|^adm|admi|discharge|visit"
)
_SERIALS: Final = (18_264, 73_050)  # January 1, 1950 and December 31, 2099
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
"""Pairs of decimal and thousands separators; if several fit equally well, the first is used."""
_LONGEST_UNIT: Final = 8
_NUMBER: Final = r"[+-]?\d[\d.,' \u00a0\u202f\u2019]*?"
_AROUND: Final = re.compile(rf"([^\d+-]*?)\s*{_NUMBER}\s*([^\d\s.,'][^\d]*)?")
_NAMES: Final = {".": "a period", ",": "a comma", "'": "an apostrophe", " ": "a space"}


def n_read(counts: Counter[str], *readers: Any) -> int:
    """Return the largest number of cells that any single reader can parse."""
    return max(sum(n for text, n in counts.items() if not np.isnan(read(text))) for read in readers)


def formats_of(counts: Counter[str]) -> list[tuple[str, bool]]:
    """Return the date formats that match any cells, and whether each is ambiguous.

    A format is ambiguous if just as many cells match it with the day and month swapped.
    """
    used = []
    for alike in _FORMATS:
        read = {text: n_read(counts, _only(text)) for text in alike}
        best = max(alike, key=read.__getitem__)
        if read[best]:
            used.append((best, len(alike) > 1 and min(read.values()) == read[best]))
    return used


def _only(text: str) -> Any:
    """Return a function that parses dates in one format, but not dates in ISO format."""
    read = day_reader([text], 9999)
    return lambda cell: np.nan if not np.isnan(cell_day(cell)) else read(cell)


def first_texts(counts: Counter[str]) -> Counter[str]:
    """Return the first 2,000 distinct cells, with their counts."""
    return Counter(dict(itertools.islice(counts.items(), _ENOUGH)))


def probable_role(name: str, plain: Feature, counts: Counter[str]) -> str:
    """Return the probable role of a column: "id", "person", or "" for a feature.

    Parameters
    ----------
    name : str
        Name of the column.
    plain : Feature
        The column as a feature.
    counts : Counter of str
        Number of rows with each text.

    Returns
    -------
    {"id", "person", ""}
    """
    if isinstance(plain, Numeric):  # the rest may be below the last record, such as totals
        counts = Counter({t: n for t, n in counts.items() if not np.isnan(cell_number(t))})
    n_rows, folded = counts.total(), name.casefold()
    if n_rows < FEWEST_ROWS or isinstance(plain, Date):
        return ""
    is_numeric = isinstance(plain, Numeric)
    if is_numeric and plain.step is None:  # type: ignore[union-attr]
        return ""
    unlike = len(counts) == n_rows
    if unlike and _IDS.search(folded):
        return "id"
    person, named = _PERSONS.search(folded), bool(_IDS.search(folded))
    if is_numeric:
        is_name = named or (person is not None and person["last"] is not None)
        if (person and named) or (is_name and repeats(counts)):
            return "person"
        numbers = np.array([cell_number(text) for text in counts])
        return "id" if unlike and numbers.max() - numbers.min() == n_rows - 1 else ""
    some = first_texts(counts)
    readers = (cell_number, comma_number, day_reader([text for text, _ in formats_of(some)], 9999))
    if n_read(some, *readers) >= MAJORITY * some.total() or _has_fractions(some):
        return ""
    if (person and len(counts) > MOST_CATEGORIES) or (named and repeats(counts)):
        return "person"
    return "id" if len(counts) > max(MOST_CATEGORIES, 0.9 * n_rows) else ""


def _has_fractions(counts: Counter[str]) -> bool:
    """Return whether a column contains numbers with decimals, which IDs do not have."""
    form = number_form(counts)
    return form is not None and any(form.read(text) % 1 > 0 for text in counts)


def repeats(counts: Counter[str]) -> bool:
    """Return whether values repeat across rows in the way that person IDs do.

    Parameters
    ----------
    counts : Counter of str
        Number of rows with each text.

    Returns
    -------
    bool
        True if there are more than 50 distinct values and more than 2 for every 100 rows, at
        least one value repeats, and no value is in more than 50 rows.
    """
    n_rows, n_values = counts.total(), len(counts)
    most = max(counts.values(), default=0)
    return max(MOST_CATEGORIES, 0.02 * n_rows) < n_values < n_rows and most <= _MOST_ROWS_EACH


def looks_like_codes(counts: Counter[str]) -> bool:
    """Check `repeats`, and that almost all values are codes containing a digit."""
    codes = sum(bool(_CODE.fullmatch(text)) for text in counts)
    return repeats(counts) and codes >= 0.9 * len(counts)


def spelled_alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that repeats an earlier one but for case and spaces, and both."""
    earlier: dict[str, str] = {}
    for name in names:
        like = earlier.setdefault("".join(name.casefold().split()), name)
        if like != name:
            yield name, like


def looks_missing(text: str) -> bool:
    """Return whether a string looks like a missing-value marker, such as "-99"."""
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
        Number of cells that contain each number.
    all_extremes : bool, default=False
        Whether to look for further extreme markers once one has been found.

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
    """Return default days, such as January 1, that are frequent or far from others.

    Parameters
    ----------
    days : ndarray of shape (n_days,)
        Distinct days since January 1, 1970, in ascending order.
    counts : ndarray of shape (n_days,)
        Number of cells that contain each day.

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


def looks_like_serials(name: str, numbers: NDArray[np.float64]) -> bool:
    """Return whether a column contains dates as spreadsheet serial numbers.

    Parameters
    ----------
    name : str
        Name of the column, which must suggest dates.
    numbers : ndarray of shape (n_values,)
        Distinct numbers.

    Returns
    -------
    bool
        True if there are at least two numbers and all of them stand for days from 1950 to 2099.
    """
    inside = (numbers >= _SERIALS[0]) & (numbers <= _SERIALS[1])
    return bool(_DAYS.search(name.casefold())) and len(numbers) > 1 and bool(inside.all())


def _is_default(day: float) -> bool:
    """Return whether a program may have set this day because the date was unknown."""
    if not FIRST_DAY <= day <= LAST_DAY:
        return False
    whole = date.fromordinal(int(day) + _EPOCH)
    return (whole.month, whole.day) == (1, 1) or whole in (date(1899, 12, 30), date(9999, 12, 31))


def _extreme(values: NDArray[np.float64]) -> float | None:
    """Return the smallest or largest value if it looks like a marker, else None."""
    for end, rest in ((values[0], values[1:]), (values[-1], values[:-1])):
        gap = min(abs(end - rest[0]), abs(end - rest[-1]))
        far = gap > rest[-1] - rest[0]
        alone_below = end < 0 <= rest[0] and (end < -1 or rest[-1] > 2)  # -1, 0, 1 is a scale
        if end in _MARKERS and (far or alone_below):
            return float(end)
    return None


class NumberForm(NamedTuple):
    """How the numbers in a column are written.

    Parameters
    ----------
    rules : dict
        Arguments of `Numeric` (decimal, thousands and affixes) that differ from the defaults.
    read : callable
        Function from a cell to a number.
    odd : list of str
        Cells that are not numbers.
    questions : list of str
        Guesses that a person has to confirm.
    """

    rules: dict[str, Any]
    read: Callable[[object], float]
    odd: list[str]
    questions: list[str]


def number_form(counts: Counter[str]) -> NumberForm | None:
    """Guess how the numbers in a column are written.

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
        questions.append(f"{_NAMES[thousands]} separates thousands, not decimals?")
    if affixes:
        rules["affixes"] = affixes
        shown = ", ".join(map(repr, affixes))
        questions.append(f"numbers are written with {shown}: are all in this unit?")
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
