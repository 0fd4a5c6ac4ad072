"""Schema entries for features and targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
from dpexplain.tables.cells import DATE_UNIT, day_text


@dataclass(frozen=True)
class Numeric:
    """A numeric feature with public bounds.

    Parameters
    ----------
    low, high : float
        Ends of the axis, in `unit`. Values outside are clipped.
    unit : str, default=""
        Unit of the values, for axis labels.
    description : str, default=""
        What was measured, and where the bounds come from.
    step : float or None, default=None
        Public resolution of the values: 1 for whole years. None for a continuous feature.

    Raises
    ------
    SchemaError
        If a bound is not a finite number, `low` is not below `high`, or `step` is not
        positive and at most ``high - low``.

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

    def __post_init__(self) -> None:
        set_bounds(self)
        if self.step is not None:
            step = as_finite("Numeric", "step", self.step)
            if not 0 < step <= self.high - self.low:
                raise SchemaError(
                    f"Numeric: step={short(step)} must be positive and at most high - low = "
                    f"{short(self.high - self.low)}; omit it for a continuous feature."
                )
            object.__setattr__(self, "step", step)
        check_texts(self, "unit", "description")

    def __repr__(self) -> str:
        return call_text(self, short(self.low), short(self.high), unit=self.unit, step=self.step)


@dataclass(frozen=True, repr=False)
class Date(Numeric):
    """A date feature with public bounds.

    Cells are dates of any library, or text that begins with a date in ISO format (``2024-01-31``,
    ``2024-01-31T08:30``); of a time, only the day is used, as written. Anything else, including
    numbers, counts as missing. Read private files without ``parse_dates``: a reader that converts
    either all dates of a column or, if one cell is not a date, none of them, would reveal that
    cell by how all others are read.

    Parameters
    ----------
    low, high : str or datetime.date
        First and last day, in ISO format. Days outside are clipped.
    description : str, default=""
        What was recorded, and where the bounds come from.

    Attributes
    ----------
    low, high : float
        The same as days since 1 January 1970, as used by models and curves; labels show dates.

    Raises
    ------
    SchemaError
        If a bound is not a date, or `low` is not before `high`.

    Examples
    --------
    >>> Date("2015-01-01", "2024-12-31", description="day of admission")
    Date('2015-01-01', '2024-12-31')
    """

    def __init__(self, low: str | date, high: str | date, description: str = "") -> None:
        first, last = as_day("low", low), as_day("high", high)
        if not first < last:
            raise SchemaError(
                f"Date: low={day_text(first)} must be before high={day_text(last)}; give the ends "
                "that the documentation of the data names."
            )
        super().__init__(first, last, unit=DATE_UNIT, description=description, step=1.0)

    @property
    def days(self) -> tuple[date, date]:
        """First and last day."""
        return date.fromisoformat(day_text(self.low)), date.fromisoformat(day_text(self.high))

    def __repr__(self) -> str:
        return f"Date({day_text(self.low)!r}, {day_text(self.high)!r})"


@dataclass(frozen=True)
class Categorical:
    """A feature with a public list of categories.

    A value outside the list counts as "other", an empty one as "missing"; both always have a
    separate bin.

    Parameters
    ----------
    categories : iterable of str, int, float or bool
        The categories in the order of the axis. They are matched by their text without outer
        spaces, and numbers in any spelling: ``1``, ``1.0`` and ``"1"`` are the same category.
    ordered : bool, default=False
        Whether the categories are ordered ("poor" < "fair" < "good").
    description : str, default=""
        What was recorded, and where the list comes from.

    Raises
    ------
    SchemaError
        If the list is empty, has two categories that match the same values, or contains something
        that reads as a missing value.

    Examples
    --------
    >>> Categorical(["poor", "fair", "good"], ordered=True)
    Categorical(['poor', 'fair', 'good'], ordered=True)
    """

    categories: tuple[str, ...]
    ordered: bool = False
    description: str = ""

    def __init__(
        self,
        categories: Iterable[Label],
        ordered: bool = False,
        description: str = "",
    ) -> None:
        listed = as_listed("Categorical", "categories", categories)
        texts = tuple(category_text(value) for value in listed)
        check_distinct("Categorical", "categories", texts)
        object.__setattr__(self, "categories", texts)
        object.__setattr__(self, "ordered", as_truth("Categorical", "ordered", ordered))
        object.__setattr__(self, "description", description)
        check_texts(self, "description")

    def __repr__(self) -> str:
        return call_text(self, short_list(self.categories), ordered=self.ordered)


@dataclass(frozen=True)
class Range:
    """Target of a regression: a public range.

    Parameters
    ----------
    low, high : float
        Ends of the range, in `unit`. Values outside are clipped.
    unit : str, default=""
        Unit of the target.
    description : str, default=""
        What was measured, and where the bounds come from.
    name : str, default=""
        Name of the target.

    Raises
    ------
    SchemaError
        If a bound is not a finite number or `low` is not below `high`.
    """

    low: float
    high: float
    unit: str = ""
    description: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        set_bounds(self)
        check_texts(self, "unit", "description", "name")

    def __repr__(self) -> str:
        return call_text(self, short(self.low), short(self.high), unit=self.unit, name=self.name)

    @property
    def midpoint(self) -> float:
        """Midpoint of the range, in `unit`."""
        return self.low + 0.5 * (self.high - self.low)


@dataclass(frozen=True)
class Classes:
    """Target of a classification: a public list of classes.

    Parameters
    ----------
    labels : iterable of str, int, float or bool
        The classes; the last of two is the positive one. They are matched like the categories of
        :class:`Categorical` and predicted as given here.
    description : str, default=""
        What was recorded.
    name : str, default=""
        Name of the target.

    Attributes
    ----------
    names : tuple of str
        The labels as text.

    Raises
    ------
    SchemaError
        If there are fewer than two labels, two that match the same values, or one that
        reads as a missing value.

    Examples
    --------
    >>> Classes(["no", "yes"], name="churn")
    Classes(['no', 'yes'], name='churn')
    """

    labels: tuple[Label, ...]
    description: str = ""
    name: str = ""

    def __init__(self, labels: Iterable[Label], description: str = "", name: str = "") -> None:
        listed = tuple(as_plain(value) for value in as_listed("Classes", "labels", labels))
        if len(listed) < 2:
            raise SchemaError(f"Classes: labels={list(listed)!r} must hold at least two classes.")
        check_distinct("Classes", "labels", tuple(category_text(value) for value in listed))
        object.__setattr__(self, "labels", listed)
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "name", name)
        check_texts(self, "description", "name")

    def __repr__(self) -> str:
        return call_text(self, short_list(self.labels), name=self.name)

    @property
    def names(self) -> tuple[str, ...]:
        """Labels as strings, in the same order."""
        return tuple(category_text(label) for label in self.labels)


Feature: TypeAlias = Numeric | Categorical
Target: TypeAlias = Range | Classes
Task: TypeAlias = Literal["auto", "classification", "regression"]
"""What a target is, where it is read off data: "auto" lets the data say."""
