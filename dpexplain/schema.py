"""Public knowledge about a table: bounds, categories, units and the target.

A private model may take nothing about the shape of its data from the data: the ends of an
axis, the list of categories and the classes are fixed before any record is read. A
:class:`Schema` holds that knowledge, comes from documentation, and can be published.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dpexplain._cells import DATE_UNIT, day_text
from dpexplain._schema_checks import (
    Label,
    as_day,
    as_finite,
    as_listed,
    as_plain,
    as_truth,
    call_text,
    category_text,
    check_distinct,
    check_encodable,
    check_texts,
    kind_of,
    set_bounds,
    short,
    short_list,
)
from dpexplain.exceptions import PrivacyWarning, SchemaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpexplain._schema_report import SchemaReport

__all__ = ["Categorical", "Classes", "Date", "Numeric", "Range", "Schema"]

Task: TypeAlias = Literal["auto", "classification", "regression"]


@dataclass(frozen=True)
class Numeric:
    """A feature measured on a line, with public bounds.

    Parameters
    ----------
    low, high : float
        Ends of the axis, in `unit`. Values beyond them are moved to the nearer end.
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
                    f"{short(self.high - self.low)}; leave it out for a continuous feature."
                )
            object.__setattr__(self, "step", step)
        check_texts(self, "unit", "description")

    def __repr__(self) -> str:
        return call_text(self, short(self.low), short(self.high), unit=self.unit, step=self.step)


@dataclass(frozen=True, repr=False)
class Date(Numeric):
    """A day between two public days.

    Cells are dates of any library, or text that begins with a date in ISO format
    (``2024-01-31``, ``2024-01-31T08:30``); of a time the day counts as it is written. Anything
    else, numbers too, counts as missing.

    Parameters
    ----------
    low, high : str or datetime.date
        First and last day; text in ISO format. Days beyond them are moved to the nearer end.
    description : str, default=""
        What was recorded, and where the bounds come from.

    Attributes
    ----------
    low, high : float
        The same as days since 1 January 1970, which models and curves reckon in; labels show
        dates.

    Raises
    ------
    SchemaError
        If a bound is no date, or `low` is not before `high`.

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

    A value outside the list counts as "other", an empty one as "missing"; both always have
    a place of their own.

    Parameters
    ----------
    categories : iterable of str, int, float or bool
        The categories in the order of the axis. They are matched on their text without
        outer spaces, and numbers in any spelling: ``1``, ``1.0`` and ``"1"`` are one.
    ordered : bool, default=False
        Whether the order means something ("poor" < "fair" < "good").
    description : str, default=""
        What was recorded, and where the list comes from.

    Raises
    ------
    SchemaError
        If the list is empty, has two categories that match the same values, or holds
        something that reads as a missing value.

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
        Ends of the range, in `unit`. Values beyond them are moved to the nearer end.
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
        """Middle of the range, in `unit`: what an unreadable target counts as."""
        return self.low + 0.5 * (self.high - self.low)


@dataclass(frozen=True)
class Classes:
    """Target of a classification: a public list of classes.

    Parameters
    ----------
    labels : iterable of str, int, float or bool
        The classes; the last of two is the positive one. They are matched like the
        categories of :class:`Categorical` and predicted as they are given here.
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
        """The labels as text, in the same order."""
        return tuple(category_text(label) for label in self.labels)


Feature: TypeAlias = Numeric | Categorical
Target: TypeAlias = Range | Classes


@dataclass(frozen=True, eq=False, repr=False)
class Schema:
    """Everything about a table that is known without looking at it. Immutable.

    Parameters
    ----------
    features : mapping of str to Numeric, Categorical or Date
        The features by column name. Their order is the order of the columns of an array and
        of the terms of a model.
    target : Range, Classes or None, default=None
        What is predicted. None leaves it open; models need it.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the features, in order.
    n_features : int
        Number of features.

    Raises
    ------
    SchemaError
        If there is no feature, a name is not a text, or a feature or the target is none of
        the four kinds.

    Examples
    --------
    >>> schema = Schema(
    ...     features={"age": Numeric(17, 90, unit="years"), "job": Categorical(["a", "b"])},
    ...     target=Classes(["no", "yes"]),
    ... )
    >>> schema.feature_names
    ('age', 'job')
    >>> Schema.from_toml(schema.to_toml()) == schema
    True
    """

    features: Mapping[str, Feature]
    target: Target | None = None

    def __post_init__(self) -> None:
        _check_parts(self.features, self.target)
        object.__setattr__(self, "features", MappingProxyType(dict(self.features)))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return tuple(self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    def to_toml(self, path: str | Path | None = None) -> str:
        """Write the schema as TOML, a text that people can read, edit and publish.

        Parameters
        ----------
        path : str, Path or None, default=None
            File to write; None only returns the text.

        Returns
        -------
        str
            The text; `from_toml` reads back an equal schema.
        """
        from dpexplain._schema_toml import schema_text

        text = schema_text(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        return text

    @classmethod
    def from_toml(cls, path_or_text: str | Path) -> Schema:
        """Read a schema written by `to_toml` or by hand.

        Parameters
        ----------
        path_or_text : str or Path
            A file, or the text itself: a string with a line break is taken as text.

        Returns
        -------
        Schema
            The schema.

        Raises
        ------
        SchemaError
            If the text is no TOML, or has fields that a schema does not know or lacks.
        """
        from dpexplain._schema_toml import read_file, read_schema

        if isinstance(path_or_text, str) and "\n" in path_or_text:
            return read_schema(path_or_text)
        return read_file(path_or_text)

    @classmethod
    def from_frame(cls, X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto") -> Schema:
        """Draft a schema from PUBLIC data, to be checked by hand.

        Bounds are the smallest and largest values, rounded outward; categories are those
        that occur. Both would leak from private data, so this always warns.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Public data.
        y : array of shape (n_samples,) or None, default=None
            Public target; None leaves the target open.
        task : {"auto", "classification", "regression"}, default="auto"
            What `y` is; "auto" takes numbers with more than two values as a regression.

        Returns
        -------
        Schema
            The draft.

        Warns
        -----
        PrivacyWarning
            Always.
        """
        warnings.warn(
            "Schema.from_frame reads bounds and categories from the data: use it with public "
            "data only, and check the draft against the documentation of the data.",
            PrivacyWarning,
            stacklevel=2,
        )
        return cls._observed(X, y, task=task)

    def check(self, X: ArrayLike, y: ArrayLike | None = None) -> SchemaReport:
        """Compare a table with the schema, for the eyes of the person who holds it. NOT PRIVATE.

        A private fit says nothing of a cell that it cannot read, since the message would tell
        that the cell is there. This report does: look at it before the fit, and pass it to
        nobody.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The records.
        y : array of shape (n_samples,) or None, default=None
            The target; None leaves it out.

        Returns
        -------
        SchemaReport
            Cells that are empty, no number, a date, beyond the bounds, or not in a list: how
            many, what a private fit does with them, and examples. ``frame()`` makes it a table.

        Raises
        ------
        SchemaError
            If columns are missing or unexpected, or `y` is given and the schema has no target.
        TypeError
            If `X` is a path, a pyarrow dataset or a Dask collection: read it into memory first.

        Warns
        -----
        PrivacyWarning
            Always.

        Examples
        --------
        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> schema = Schema({"age": Numeric(17, 90)})
        >>> schema.check([[30], ["31 years"], [-1]]).frame()[["problem", "cells"]]
            problem  cells
        0  no number      1
        1   below 17      1
        """
        from dpexplain._schema_report import schema_report

        warnings.warn(
            "Schema.check counts and quotes values of records: its report is NOT PRIVATE, for the "
            "eyes of the person who holds the data only.",
            PrivacyWarning,
            stacklevel=2,
        )
        return schema_report(self, X, y)

    @classmethod
    def _observed(cls, X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto") -> Schema:
        """Draft a schema from data without a word: the caller warns and records the release."""
        from dpexplain._schema_draft import observed_schema

        return observed_schema(X, y, task=task)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[tuple[str, Feature], ...], Target | None]:
        # Two mappings are equal in any order, but the order of the features matters here.
        return tuple(self.features.items()), self.target

    def __reduce__(self) -> tuple[type[Schema], tuple[dict[str, Feature], Target | None]]:
        # A read-only mapping cannot be pickled or copied, so the parts are.
        return Schema, (dict(self.features), self.target)

    def __repr__(self) -> str:
        return f"Schema({short_list(self.feature_names)}, target={self.target!r})"

    def _repr_html_(self) -> str:
        from dpexplain._schema_html import schema_table

        return schema_table(self)


def _check_parts(features: Any, target: Any) -> None:
    """Refuse anything but named features and a target of the known kinds."""
    if not isinstance(features, Mapping) or not features:
        raise SchemaError(
            "Schema: features must be a mapping of at least one column name to Numeric or "
            f"Categorical, not {kind_of(features)}."
        )
    for name, feature in features.items():
        if not isinstance(name, str) or not name:
            raise SchemaError(f"Schema: feature name {name!r} must be a text of some length.")
        check_encodable("Schema", "feature name", name)
        if not isinstance(feature, Numeric | Categorical):
            raise SchemaError(
                f"Schema: feature {name!r} must be Numeric(low, high) or "
                f"Categorical(categories), not {kind_of(feature)}."
            )
    if not isinstance(target, Range | Classes | None):
        raise SchemaError(
            "Schema: target must be Range(low, high) for a regression or Classes(labels) for a "
            f"classification, not {kind_of(target)}."
        )
