"""The schema of a table: its features, its target and the roles of other columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dpexplain._utils.json import cut
from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.schema._checks import (
    as_columns,
    check_encodable,
    check_roles,
    kind_of,
    short_list,
)
from dpexplain.schema.features import (
    Categorical,
    Classes,
    Date,
    Feature,
    Numeric,
    Range,
    Target,
    Task,
)
from dpexplain.schema.from_interpret import FromInterpret

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from dpexplain.schema.recognize import SchemaDraft
    from dpexplain.schema.report import SchemaReport
    from dpexplain.schema.stand_ins import Effect

__all__ = ["Categorical", "Classes", "Date", "Numeric", "Range", "Schema"]


def _hint_at_files(name: str) -> None:
    if name in ("save", "load", "to_json", "from_json", "dump"):
        raise AttributeError(
            f"Schema has no method {name!r}; schema.to_toml(path) writes a file, and "
            "Schema.from_toml(path) reads it."
        )


class _WithHints(type):
    """Metaclass that says which methods of the class read and write files."""

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(cls, name: str) -> Any:
            _hint_at_files(name)
            return type.__getattribute__(cls, name)  # raises Python's own error


@dataclass(frozen=True, eq=False, repr=False)
class Schema(FromInterpret, metaclass=_WithHints):
    """Public, immutable description of a table: its features and its target.

    Parameters
    ----------
    features : mapping of str to Numeric, Categorical or Date
        Features, keyed by column name. Their order determines the order of array columns and model
        terms.
    target : Range, Classes or None, default=None
        Target to predict. It is optional here, but required by models.
    id : str or sequence of str, default=()
        Columns that identify a record, such as a record number or a name. Stored as a tuple.
    person : str or None, default=None
        Column that identifies the person each row belongs to, if a person may have several rows. It
        is the default for ``groups`` in a fit with ``max_rows_per_person``; a fit without that
        parameter warns that it protects only rows.
    read_from_records : bool, default=False
        Whether bounds and categories were read from records that are not public, so that a fit
        with this schema is not private. It is True for the ``schema_`` of a model that was fitted
        without a schema, and for what `from_interpret` takes from a fitted model.

    Raises
    ------
    SchemaError
        If there is no feature, a name is not a string, a feature or the target has the wrong type,
        or a column in `id` or `person` is a feature or the target.

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
    id: str | Sequence[str] = field(default=(), kw_only=True)
    person: str | None = field(default=None, kw_only=True)
    read_from_records: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_parts(self.features, self.target)
        if not isinstance(self.read_from_records, bool):
            raise SchemaError("Schema: read_from_records must be True or False.")
        object.__setattr__(self, "id", as_columns("id", self.id))
        person = () if self.person is None else as_columns("person", self.person)
        check_roles([*self.id, *person], self.features, self.target)
        object.__setattr__(self, "features", MappingProxyType(dict(self.features)))

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            _hint_at_files(name)
            return object.__getattribute__(self, name)  # raises Python's own error

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return tuple(self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    def to_toml(self, path: str | Path | None = None) -> str:
        """Write the schema as TOML, a human-readable text format.

        Parameters
        ----------
        path : str, Path or None, default=None
            File to write; if None, the text is only returned.

        Returns
        -------
        str
            The text; `from_toml` reads back an equal schema.
        """
        from dpexplain.schema.toml import schema_text

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
            A file, or the text itself: a string with a line break is treated as text.

        Returns
        -------
        Schema

        Raises
        ------
        SchemaError
            If the text is not TOML, or has unknown or missing fields.

        Warns
        -----
        PrivacyWarning
            If the text still begins as `SchemaDraft.to_toml` writes it.
        """
        from dpexplain.schema.toml import DRAFT_MARK, is_draft, read_fields, read_text

        is_text = isinstance(path_or_text, str) and "\n" in path_or_text
        text = str(path_or_text) if is_text else read_text(path_or_text)
        fields = read_fields(text)
        if is_draft(text):
            warnings.warn(
                f"{'this schema' if is_text else path_or_text} begins with {DRAFT_MARK!r}: it is a "
                "draft, and no guarantee covers a fit of the records from which it was read, "
                "because it publishes their bounds and categories. If they are public, check every "
                "line, and delete the first.",
                PrivacyWarning,
                stacklevel=2,
            )
        try:
            return cls(**fields)
        except SchemaError as error:
            raise SchemaError(cut(str(error))) from None

    @classmethod
    def from_dictionary(
        cls,
        path: str | Path,
        *,
        target: str | None = None,
        encoding: str = "utf-8",
        exclude: str | Iterable[str] = (),
    ) -> Schema:
        r"""Read a schema from a data dictionary (CSV, one line per column of the table).

        Parameters
        ----------
        path : str or Path
            Text file with cells separated by commas, semicolons or tabs. Entries of a list are
            separated by ``|`` or ``;``. The first line names these columns, in any order; other
            columns are ignored:

            * ``name``: name of the column;
            * ``type``: number, integer, date, category, ordered, boolean, id, person or ignore. A
              boolean without categories accepts 0/1, no/yes, false/true and nein/ja;
            * ``min``, ``max``, ``step``: bounds of numbers and dates, and their resolution;
            * ``categories``: ``male|female``, or ``1=male|2=female`` if the table contains codes;
            * ``aliases``: other spellings, such as ``m=male|f=female``;
            * ``missing``: missing-value markers, such as ``-99|unknown``;
            * ``unit``, ``description``: text for axes and pages;
            * ``decimal``: point or comma;
            * ``thousands``: point, comma, apostrophe or space; empty if there is none;
            * ``affixes``: texts around the numbers, such as ``kg`` or ``%``, separated like the
              categories;
            * ``format``: date formats, as in ``%d.%m.%Y|%m/%d/%y`` or ``DD.MM.YYYY|MM/DD/YY``;
            * ``source``: where the bounds come from; by default the file and line.

            The dictionary of a REDCap project is read as exported. Free text and fields marked as
            identifiers are left out, as are notes, files and formulas without bounds; each choice
            of a checkbox field is a column, such as ``symptoms___1``.
        target : str or None, default=None
            Column to predict; None for a schema that has no target.
        encoding : str, default="utf-8"
            Encoding of a file that is neither UTF-8 nor marked as UTF-16, such as "cp1252".
        exclude : str or iterable of str, default=()
            Columns to leave out, such as those that the table does not have.

        Returns
        -------
        Schema
            A schema in which each feature has a source.

        Raises
        ------
        SchemaError
            If lines are invalid. The message names each line and the column of the dictionary.
        ValueError
            If the encoding is not supported.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "dictionary.csv"
        >>> _ = path.write_text("name,type,min,max,categories\n"
        ...                     "age,integer,0,120,\nsex,category,,,1=male|2=female\n")
        >>> Schema.from_dictionary(path).features["sex"].aliases[:2]
        (('1', 'male'), ('1 = male', 'male'))
        """
        from dpexplain.schema.dictionary import dictionary_fields

        return cls(**dictionary_fields(path, target, encoding, exclude))

    @classmethod
    def from_frame(cls, X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto") -> Schema:
        """Draft a schema from PUBLIC data, to be checked by hand.

        Bounds are the smallest and largest values, rounded outward; categories are the values that
        occur. Both would reveal private data, so this method always warns.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Public data.
        y : array of shape (n_samples,), str or None, default=None
            Public target, or the name of its column in `X`; None for a schema that has no target.
        task : {"auto", "classification", "regression"}, default="auto"
            Type of the target; "auto" means regression if there are more than two distinct numbers.

        Returns
        -------
        Schema

        Warns
        -----
        PrivacyWarning
            Always.
        """
        _warn_of_draft("from_frame")
        from dpexplain.tables.targets import split_target

        return cls._observed(*split_target(X, y, None), task=task)

    @classmethod
    def draft(
        cls,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        task: Task = "auto",
        exclude: Sequence[str] = (),
    ) -> SchemaDraft[Schema]:
        """Draft a schema from a messy PUBLIC table, and list the decisions left to you.

        Unlike `from_frame`, this method also guesses date formats, decimal commas, missing-value
        markers, rare misspellings of categories, and ID columns, which are not features.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Public data.
        y : array of shape (n_samples,), str or None, default=None
            Public target, or the name of its column in `X`; None for a schema that has no target.
        task : {"auto", "classification", "regression"}, default="auto"
            Type of the target, as in `from_frame`.
        exclude : sequence of str, default=()
            Columns to exclude.

        Returns
        -------
        SchemaDraft
            Draft with the fields ``schema`` and ``decisions``; it is NOT PRIVATE.

        Raises
        ------
        SchemaError
            If an excluded column does not exist, or no feature is left.
        ValueError
            If `y` is a name, and `X` does not have exactly one column of that name.

        Warns
        -----
        PrivacyWarning
            Always.
        """
        from dpexplain.schema.recognize import SchemaDraft, drafted
        from dpexplain.tables.targets import split_target

        _warn_of_draft("draft")
        X, y = split_target(X, y, None)
        found = drafted(X, y, task=task, exclude=exclude)
        schema = cls(found.features, found.target, id=found.id, person=found.person)
        return SchemaDraft(schema, tuple(found.decisions))

    def simulate(
        self,
        n: int,
        *,
        effects: Mapping[str, Effect] | None = None,
        seed: int | None = None,
        missing: float = 0.0,
        positive_share: float = 0.5,
        expected_count: float | None = None,
        rows_per_person: int = 1,
    ) -> tuple[pd.DataFrame, pd.Series]:
        """Draw stand-in records from this schema alone, for planning a fit.

        No data are read. Values are drawn uniformly from the public range or list of each feature,
        independently of other features. Real features are neither uniform nor independent, so
        expect more noise than planned where records are few.

        Parameters
        ----------
        n : int
            Number of rows, which should be similar to that of the private table.
        effects : mapping of str to effect, or None, default=None
            Effects of features on the log-odds of the last class, on a numeric target, or on the
            logarithm of an expected count. A number is the amount by which the effect increases
            from the lower to the upper bound (or from the first category to the last). A mapping
            contains the effects of categories. A function maps an array of values (numbers, days
            since 1970, or names) to effects. Other features and categories have no effect.
        seed : int or None, default=None
            Seed of the random records.
        missing : float, default=0.0
            Proportion of each feature's cells that are emptied; the values they had still affect
            the target.
        positive_share : float, default=0.5
            Probability of the second of two classes if all effects are 0.
        expected_count : float or None, default=None
            For a target that is a count, such as doctor visits: its expected value if all effects
            are 0. The target is then drawn from a Poisson distribution; real counts often vary
            more. None means that the target is not a count.
        rows_per_person : int, default=1
            Number of rows per person, if the schema names a person column.

        Returns
        -------
        X : DataFrame of shape (n, n_features)
            The records, without ID columns but with the person column.
        y : Series of shape (n,)
            The target. If it is numeric and not a count, it includes noise with a standard
            deviation of 10% of the width of the range.

        Raises
        ------
        SchemaError, ValueError
            If the schema has no target, `effects` names an unknown feature, or a value is invalid.

        Examples
        --------
        >>> schema = Schema({"age": Numeric(18, 90, step=1)}, target=Classes(["home", "died"]))
        >>> X, y = schema.simulate(1000, effects={"age": 4.0}, seed=1)
        >>> bool(X["age"][y == "died"].mean() > X["age"][y == "home"].mean() + 10)
        True
        """
        from dpexplain.schema.stand_ins import simulated

        return simulated(
            self,
            n,
            effects=effects,
            seed=seed,
            missing=missing,
            positive_share=positive_share,
            expected_count=expected_count,
            rows_per_person=rows_per_person,
        )

    def clean(self, X: ArrayLike) -> pd.DataFrame:
        """Return a table with aliases, markers, formats and bounds applied.

        Fits, predictions and explanations clean tables themselves; ONNX models and SHAP explainers
        need a table cleaned with this method.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The records.

        Returns
        -------
        DataFrame of shape (n_samples, n_features)
            Numbers within the bounds, dates as ISO text, categories by name, and unlisted
            categories as text; NaN or None for missing cells. Each row is cleaned independently of
            the others. The table must be protected like `X`.

        Raises
        ------
        SchemaError
            If columns are missing.

        Examples
        --------
        >>> schema = Schema({"sex": Categorical(["male", "female"], aliases={"m": "male"})})
        >>> schema.clean([["m"], ["female"], [None]])["sex"].tolist()
        ['male', 'female', None]
        """
        from dpexplain.schema.report import cleaned_table

        return cleaned_table(self, X)

    def check(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        max_rows_per_person: int | None = None,
    ) -> SchemaReport:
        """Check a table against the schema. NOT PRIVATE; for the data holder only.

        A private fit does not report unreadable cells, because a message would reveal that they
        exist. This method reports them, so use it before the fit, and do not share its result.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The records.
        y : array of shape (n_samples,), str or None, default=None
            The target, or the name of its column in `X`; None if only the features are checked.
        max_rows_per_person : int or None, default=None
            Maximum number of rows per person that the fit will use; excess rows are counted.

        Returns
        -------
        SchemaReport
            Report on cells that are empty, not a number or date, out of bounds, or not in a list,
            and on columns that look wrong (for example, an ID column, a column with an undeclared
            missing-value marker, or a copy of the target). For each problem, it gives the number of
            cells, examples, and what a private fit does with them. ``print(report)`` shows it, and
            ``report.frame()`` returns it as a table.

        Raises
        ------
        SchemaError
            If columns are missing, or `y` is given but the schema has no target.
        ValueError
            If `y` is a name, and `X` does not have exactly one column of that name, or the schema
            says that the column is a feature, an ID or the person column.
        TypeError
            If `X` is a path, a pyarrow dataset or a Dask collection; read it into memory first.

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
        from dpexplain.schema.report import schema_report
        from dpexplain.tables.targets import split_target

        warnings.warn(
            "Schema.check counts and quotes values of records: its report is NOT PRIVATE and only "
            "for the data holder.",
            PrivacyWarning,
            stacklevel=2,
        )
        X, y = split_target(X, y, self)
        return schema_report(self, self.target, X, y, max_rows_per_person)

    @classmethod
    def _observed(cls, X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto") -> Schema:
        """Draft a schema from data; callers must issue a warning and record the release."""
        from dpexplain.schema.draft import observed_fields

        return cls(*observed_fields(X, y, task=task))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        # Two mappings are equal in any order, but the order of the features matters here.
        parts = tuple(self.features.items())
        return parts, self.target, self.id, self.person, self.read_from_records

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled or copied, so a dict takes its place.
        made = partial(
            Schema, id=self.id, person=self.person, read_from_records=self.read_from_records
        )
        return made, (dict(self.features), self.target)

    def __repr__(self) -> str:
        further = {
            "id": list(self.id) or None,
            "person": self.person,
            "read_from_records": self.read_from_records,
        }
        shown = "".join(f", {name}={value!r}" for name, value in further.items() if value)
        return f"Schema({short_list(self.feature_names)}, target={self.target!r}{shown})"

    def _repr_html_(self) -> str:
        from dpexplain.schema._html import schema_table

        return schema_table(self)


def _warn_of_draft(method: str) -> None:
    warnings.warn(
        f"Schema.{method} reads bounds and categories from the data: use it with public "
        "data only, and check the draft against the documentation of the data.",
        PrivacyWarning,
        stacklevel=3,
    )


def _check_parts(features: Any, target: Any) -> None:
    """Check that all features have names and known types."""
    if not isinstance(features, Mapping) or not features:
        raise SchemaError(
            "Schema: features must be a mapping of at least one column name to Numeric, Date or "
            f"Categorical, not {kind_of(features)}."
        )
    for name, feature in features.items():
        if not isinstance(name, str) or not name:
            raise SchemaError(f"Schema: feature name {name!r} must be a non-empty string.")
        check_encodable("Schema", "feature name", name)
        if not isinstance(feature, Numeric | Categorical):
            raise SchemaError(
                f"Schema: feature {name!r} must be Numeric(low, high), "
                f"Date(low, high) or Categorical(categories), not {kind_of(feature)}."
            )
    if not isinstance(target, Range | Classes | None):
        raise SchemaError(
            "Schema: target must be Range(low, high) for a regression or Classes(labels) for a "
            f"classification, not {kind_of(target)}."
        )
