"""Entries of a schema: features and targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypeAlias

from dpexplain.exceptions import SchemaError
from dpexplain.schema._checks import (
    Label,
    as_day,
    as_finite,
    as_listed,
    as_plain,
    as_truth,
    call_text,
    category_text,
    check_distinct,
    check_texts,
    set_bounds,
    short,
    short_list,
)
from dpexplain.schema._cleaning import (
    Aliases,
    as_affixes,
    as_aliases,
    as_decimal,
    as_formats,
    as_markers,
    as_thousands,
    check_told_apart,
)
from dpexplain.tables.cells import DATE_UNIT, cell_number, day_text
from dpexplain.tables.spellings import comma_number, number_reader

WIDEST_RANGE = 1e30
"""Largest distance between the bounds of a target; the smallest is its inverse."""


@dataclass(frozen=True)
class Numeric:
    """A numeric feature with public bounds.

    Parameters
    ----------
    low, high : float
        Public bounds of the values, in `unit`. Values outside them are clipped.
    unit : str, default=""
        Unit of the values, for axis labels.
    description : str, default=""
        What was measured, and where the bounds come from.
    step : float or None, default=None
        Public resolution of the values, such as 1 for whole years; None for a continuous feature.
    missing : str, number or sequence of them, default=()
        Cells that stand for a missing value, such as ``["-99", "unknown"]``. A number matches all
        of its spellings.
    decimal : {".", ","}, default="."
        Decimal separator in numbers stored as text. With a comma, text that contains a period
        counts as missing unless `thousands` is a period.
    thousands : {"", ".", ",", "'", " "}, default=""
        Thousands separator in numbers stored as text, such as ``1,045.5``. Other groupings
        (``10,45``) count as missing. If it is a period, read files with ``dtype=str``, as the
        command line does: pandas would read ``1.045`` as about one.
    affixes : str or sequence of str, default=()
        Strings that may precede or follow the number in a cell, such as ``["kg", "%"]``. Only one
        of them is removed, and the number is not converted.
    source : str, default=""
        Where the bounds come from, such as a page of the data dictionary, a law or a person.

    Raises
    ------
    SchemaError
        If a bound is not a finite number, `low` is not below `high`, `step` is not positive or
        exceeds ``high - low``, or `missing`, `decimal`, `thousands` or `affixes` is invalid.

    Examples
    --------
    >>> Numeric(17, 90, unit="years", step=1)
    Numeric(17, 90, unit='years', step=1)
    """

    low: float
    high: float
    unit: str = ""
    description: str = ""
    step: float | None = None
    missing: Sequence[Label] = field(default=(), kw_only=True)
    decimal: str = field(default=".", kw_only=True)
    thousands: str = field(default="", kw_only=True)
    affixes: Sequence[str] = field(default=(), kw_only=True)
    source: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        set_bounds(self)
        _set_rules(self)
        if self.step is not None:
            step = as_finite("Numeric", "step", self.step)
            if not 0 < step <= self.high - self.low:
                raise SchemaError(
                    f"Numeric: step={short(step)} must be positive and at most high - low = "
                    f"{short(self.high - self.low)}; omit it for a continuous feature."
                )
            object.__setattr__(self, "step", step)
        check_texts(self, "unit", "description", "source")

    def __repr__(self) -> str:
        return call_text(
            self,
            short(self.low),
            short(self.high),
            unit=self.unit,
            step=self.step,
            **_rules(self),
        )


@dataclass(frozen=True, repr=False)
class Date(Numeric):
    """A date feature with public bounds.

    Cells are date objects from any library, or text that begins with a date in ISO format
    (``2024-01-31``, ``2024-01-31T08:30``) or in one of the formats in `format`. If a cell also has
    a time of day, only the day is used, as written. Anything else counts as missing, and so do days
    outside the years 1 to 9999. Numbers are parsed as dates only if one of the formats consists
    only of digits, or is "excel". Read private files without ``parse_dates``: some readers convert
    a column only if every cell is a date, so a single cell would affect how all other cells are
    read.

    Parameters
    ----------
    low, high : str or datetime.date
        First and last day, in ISO format. Days outside this period are clipped.
    description : str, default=""
        What was recorded, and where the bounds come from.
    format : str or sequence of str, default=()
        Additional text formats, such as ``"%d.%m.%Y"``, made up of %d, %m, %b, %B (English names),
        %Y, %y, %H, %M, %S, %I and %p. The first format that matches a cell is used. A two-digit
        year stands for the latest year with these digits that is not after the year of `high`.
        Formats that consist only of digits, such as ``"%Y%m%d"``, also match numbers. "excel"
        stands for the serial numbers into which spreadsheets turn dates, such as 45322 for January
        31, 2024 ("excel 1904" for files that count from 1904).
    missing : str or sequence of str, default=()
        Days that stand for a missing value (``"1900-01-01"``), in any of the formats.
    source : str, default=""
        Where the bounds come from.

    Attributes
    ----------
    low, high : float
        The bounds as days since January 1, 1970, as used by models and curves; labels show dates.

    Raises
    ------
    SchemaError
        If a bound is not a date, `low` is not before `high`, or a format is not a date format or
        cannot be distinguished from another format.

    Examples
    --------
    >>> Date("2015-01-01", "2024-12-31", format="%d.%m.%Y")
    Date('2015-01-01', '2024-12-31', format='%d.%m.%Y')
    """

    format: tuple[str, ...] = field(default=(), kw_only=True)

    def __init__(
        self,
        low: str | date,
        high: str | date,
        description: str = "",
        *,
        format: str | Sequence[str] = (),
        missing: Sequence[Label] = (),
        source: str = "",
    ) -> None:
        first, last = as_day("low", low), as_day("high", high)
        if not first < last:
            raise SchemaError(
                f"Date: low={day_text(first)} must be before high={day_text(last)}; give the ends "
                "that the documentation of the data names."
            )
        object.__setattr__(self, "format", as_formats(format))
        super().__init__(
            first,
            last,
            unit=DATE_UNIT,
            description=description,
            step=1.0,
            missing=missing,
            source=source,
        )

    @property
    def days(self) -> tuple[date, date]:
        """First and last days."""
        return date.fromisoformat(day_text(self.low)), date.fromisoformat(day_text(self.high))

    def __repr__(self) -> str:
        formats = self.format[0] if len(self.format) == 1 else list(self.format) or None
        ends = repr(day_text(self.low)), repr(day_text(self.high))
        return call_text(self, *ends, format=formats, **_rules(self))


@dataclass(frozen=True)
class Categorical:
    """A feature with a public list of categories.

    A value that is not in the list counts as "other", and an empty value counts as "missing"; each
    of these two always has a separate bin.

    Parameters
    ----------
    categories : iterable of str, int, float or bool
        The categories in the order of the axis. Cells match them as text, ignoring surrounding
        spaces and differences in how a number is written: ``1``, ``1.0`` and ``"1"`` are the same
        category.
    ordered : bool, default=False
        Whether the categories are ordered ("poor" < "fair" < "good").
    description : str, default=""
        What was recorded, and where the list comes from.
    aliases : mapping, default={}
        Other spellings of categories, such as ``{"m": "male", "f": "female"}``. Stored as pairs.
    missing : str, number or sequence of them, default=()
        Cells that stand for a missing value, such as ``["-99", "unknown"]``.
    source : str, default=""
        Where the list comes from, such as a page of the data dictionary, a standard or a person.

    Raises
    ------
    SchemaError
        If the list is empty, two categories match the same values, a category is read as a missing
        value, or a cell could match two of the categories, aliases and markers.

    Examples
    --------
    >>> Categorical(["poor", "fair", "good"], ordered=True)
    Categorical(['poor', 'fair', 'good'], ordered=True)
    """

    categories: tuple[str, ...]
    ordered: bool = False
    description: str = ""
    aliases: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    source: str = ""

    def __init__(
        self,
        categories: Iterable[Label],
        ordered: bool = False,
        description: str = "",
        *,
        aliases: Aliases = (),
        missing: Sequence[Label] = (),
        source: str = "",
    ) -> None:
        listed = as_listed("Categorical", "categories", categories)
        texts = tuple(category_text(value) for value in listed)
        check_distinct("Categorical", "categories", texts)
        object.__setattr__(self, "categories", texts)
        object.__setattr__(self, "ordered", as_truth("Categorical", "ordered", ordered))
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "source", source)
        _set_spellings(self, texts, aliases, missing)
        check_texts(self, "description", "source")

    def __repr__(self) -> str:
        return call_text(self, short_list(self.categories), ordered=self.ordered, **_rules(self))


@dataclass(frozen=True)
class Range:
    """Regression target with a public range.

    Parameters
    ----------
    low, high : float
        Ends of the range, in `unit`. Values outside the range are clipped.
    unit : str, default=""
        Unit of the target.
    description : str, default=""
        What was measured, and where the bounds come from.
    name : str, default=""
        Name of the target.
    missing, decimal, thousands, affixes, source : optional
        Cleaning rules, and the source of the bounds, as in :class:`Numeric`. A row whose target is
        missing is dropped.

    Raises
    ------
    SchemaError
        If a bound is not a finite number, `low` is not below `high`, `high - low` is below 1e-30
        or above 1e30, or a missing-value marker equals `low` or `high`. (With such a marker, values
        clipped to the bound would count as missing.)

    Examples
    --------
    >>> from dpexplain import Numeric, Range, Schema
    >>> target = Range(0, 100, unit="points", name="score")
    >>> Schema({"age": Numeric(17, 90)}, target=target).target.high
    100.0
    """

    low: float
    high: float
    unit: str = ""
    description: str = ""
    name: str = ""
    missing: Sequence[Label] = field(default=(), kw_only=True)
    decimal: str = field(default=".", kw_only=True)
    thousands: str = field(default="", kw_only=True)
    affixes: Sequence[str] = field(default=(), kw_only=True)
    source: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        set_bounds(self)
        least, most = 1.0 / WIDEST_RANGE, WIDEST_RANGE
        if not least <= self.high - self.low <= most:
            raise SchemaError(
                f"Range: high - low must be between {least:g} and {most:g}, since noise is kept in "
                f"single precision; got low={short(self.low)} and high={short(self.high)}. Give "
                "the ends that values can reach, in another unit."
            )
        _set_rules(self)
        for marker in self.missing:
            # A target is parsed twice, and it is clipped the first time.
            read = number_reader(self.decimal, self.thousands, self.affixes)
            numbers = {cell_number(marker), comma_number(marker), read(marker)}
            if numbers & {self.low, self.high}:
                raise SchemaError(
                    f"Range: missing={marker!r} is an end of the range, to which values outside "
                    "are clipped; move that end."
                )
        check_texts(self, "unit", "description", "name", "source")

    def __repr__(self) -> str:
        return call_text(
            self,
            short(self.low),
            short(self.high),
            unit=self.unit,
            name=self.name,
            **_rules(self),
        )

    @property
    def midpoint(self) -> float:
        """Midpoint of the range, in `unit`."""
        return self.low + 0.5 * (self.high - self.low)


@dataclass(frozen=True)
class Classes:
    """Classification target with a public list of classes.

    Parameters
    ----------
    labels : iterable of str, int, float or bool
        The classes; if there are two, the second is the positive class. Cells are matched to the
        classes in the same way as to the categories of a :class:`Categorical`. Predictions are the
        labels as given here.
    description : str, default=""
        What was recorded.
    name : str, default=""
        Name of the target.
    aliases, missing, source : optional
        Cleaning rules, and the source of the list, as in :class:`Categorical`. A row whose target
        is missing is dropped.

    Attributes
    ----------
    names : tuple of str
        The labels as strings.

    Raises
    ------
    SchemaError
        If there are fewer than two labels, two labels match the same values, a label is read as a
        missing value, or a cell could match two of the classes, aliases and markers.

    Examples
    --------
    >>> Classes(["no", "yes"], name="churn")
    Classes(['no', 'yes'], name='churn')
    """

    labels: tuple[Label, ...]
    description: str = ""
    name: str = ""
    aliases: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    source: str = ""

    def __init__(
        self,
        labels: Iterable[Label],
        description: str = "",
        name: str = "",
        *,
        aliases: Aliases = (),
        missing: Sequence[Label] = (),
        source: str = "",
    ) -> None:
        listed = tuple(as_plain(value) for value in as_listed("Classes", "labels", labels))
        if len(listed) < 2:
            raise SchemaError(
                f"Classes: labels={list(listed)!r} must contain at least two classes."
            )
        check_distinct("Classes", "labels", tuple(category_text(value) for value in listed))
        object.__setattr__(self, "labels", listed)
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "source", source)
        _set_spellings(self, self.names, aliases, missing)
        check_texts(self, "description", "name", "source")

    def __repr__(self) -> str:
        return call_text(self, short_list(self.labels), name=self.name, **_rules(self))

    @property
    def names(self) -> tuple[str, ...]:
        """Labels as strings, in the same order."""
        return tuple(category_text(label) for label in self.labels)


def _set_rules(owner: Numeric | Range) -> None:
    """Check and convert the cleaning rules for numbers."""
    kind = type(owner).__name__
    object.__setattr__(owner, "missing", as_markers(kind, owner.missing))
    object.__setattr__(owner, "decimal", as_decimal(kind, owner.decimal))
    object.__setattr__(owner, "thousands", as_thousands(kind, owner.thousands, owner.decimal))
    object.__setattr__(owner, "affixes", as_affixes(kind, owner.affixes))


def _set_spellings(owner: object, names: tuple[str, ...], aliases: object, missing: object) -> None:
    """Check and convert the cleaning rules for categories or classes."""
    kind = type(owner).__name__
    markers = as_markers(kind, missing)
    pairs = () if aliases == () else as_aliases(kind, aliases, names)
    if pairs or markers:
        check_told_apart(kind, names, pairs, markers)
    object.__setattr__(owner, "aliases", pairs)
    object.__setattr__(owner, "missing", markers)


def _rules(owner: object) -> dict[str, object]:
    """Return the cleaning rules that differ from the defaults, as keyword arguments."""
    decimal = getattr(owner, "decimal", ".")
    return {
        "aliases": dict(getattr(owner, "aliases", ())) or None,
        "missing": list(getattr(owner, "missing", ())) or None,
        "decimal": None if decimal == "." else decimal,
        "thousands": getattr(owner, "thousands", "") or None,
        "affixes": list(getattr(owner, "affixes", ())) or None,
    }


Feature: TypeAlias = Numeric | Categorical
Target: TypeAlias = Range | Classes
Task: TypeAlias = Literal["auto", "classification", "regression"]
"""Type of a target that is drafted from data; "auto" chooses it from the values."""
