"""What an estimator is audited on: schemas, records, and one record that moves all it can.

Everything follows from the estimator class, so a new model needs nothing here. One that
needs other columns, or does most under other parameters, says so in class attributes:

``_audit_features``
    Mapping of names to `Numeric` or `Categorical`, in place of the columns made here.
``_audit_settings``
    Parameters under which the canary moves every sum by the full sensitivity.
``_audit_variants``
    Further parameters that tier 1 draws from: a mapping of a name to the values to try.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import dpexplain.models as models
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

Records = tuple[pd.DataFrame, pd.Series]
"""Table and target."""

FEATURES: Mapping[str, Numeric | Categorical] = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}

# With one column the whole budget is spent on what the canary moves.
_ONE_FEATURE: Mapping[str, Numeric | Categorical] = {
    "job": Categorical(["clerk", "nurse", "smith"])
}

# Where an estimator has such a parameter: a clip below the first residual of every model here
# and steps too short to change it, so that the canary stays at the clip throughout.
_SATURATING: Mapping[str, Any] = {"clip": 0.2, "learning_rate": 1e-3, "max_rounds": 2}

_VARIANTS: Mapping[str, tuple[Any, ...]] = {
    "preset": ("default", "paper"),
    "max_rounds": (1, 4, None),
    "clip": (None, 0.3),
    "outer_bags": (1, 3),
    "monotone_constraints": (None, {"age": "increasing"}),
}

_TARGETS: Mapping[type[Any], tuple[Range | Classes, ...]] = {
    Range: (Range(0, 4, unit="visits"),),
    Classes: (Classes(["no", "yes"]), Classes(["home", "moved", "readmitted"])),
}

_MODES: Mapping[str, tuple[Any, ...]] = {"objective": ("poisson",)}

_ODD_CELLS = (
    np.nan, np.inf, -np.inf, 1e300, "Zorblax", None, b"\xff", [1], "<b>", -1.0, 10**400,
)  # fmt: skip


def private_estimators() -> dict[str, type[Any]]:
    """Return every private estimator of ``dpexplain.models.__all__`` by its name.

    Returns
    -------
    dict of str to type
        In the order of ``__all__``.
    """
    found = {name: getattr(models, name) for name in models.__all__}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, PrivateEstimator)
    }


@dataclass(frozen=True, eq=False)
class Subject:
    """An estimator class and what it is asked to learn.

    Parameters
    ----------
    estimator_class : type
        A private estimator.
    target : Range or Classes
        A target that it accepts.
    settings : mapping
        Parameters that make it another model, such as an objective.
    """

    estimator_class: type[Any]
    target: Range | Classes
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name for tables and tests.

        Returns
        -------
        str
        """
        n_classes = len(getattr(self.target, "labels", ()))
        parts = [f"{n_classes} classes"] * (n_classes > 2) + [*map(str, self.settings.values())]
        return ", ".join([self.estimator_class.__name__, *parts])

    def __repr__(self) -> str:
        return f"<Subject {self.name}>"


def subjects(estimators: Iterable[type[Any]] | None = None) -> list[Subject]:
    """Everything to audit: each private estimator with each target and objective it accepts.

    Parameters
    ----------
    estimators : iterable of type or None, default=None
        Private estimators; None for all of them.

    Returns
    -------
    list of Subject
        At least one per estimator.

    Raises
    ------
    ValueError
        If an estimator accepts nothing.
    """
    found = []
    for estimator_class in private_estimators().values() if estimators is None else estimators:
        wanted = [
            Subject(estimator_class, target, settings)
            for target in _TARGETS[estimator_class._target_kind]
            for settings in _modes(estimator_class)
        ]
        accepted = [subject for subject in wanted if _accepted(subject)]
        if not accepted:
            raise ValueError(
                f"{estimator_class.__name__} accepts none of {wanted}; give it an "
                "_audit_features attribute with columns that it accepts."
            )
        found += accepted
    return found


def _modes(estimator_class: type[Any]) -> list[dict[str, Any]]:
    """Parameters one by one, the usual ones first."""
    known = _known(estimator_class, _MODES)
    return [{}, *({name: value} for name, values in known.items() for value in values)]


def _accepted(subject: Subject) -> bool:
    estimator = audited(subject)
    try:
        estimator.planned_events(made_up_records(estimator.schema, 0, 0)[0])
    except ValueError:
        return False
    return True


def audited(subject: Subject, *, epsilon: float = 1.0, **settings: Any) -> Any:
    """Unfitted estimator with a schema of several columns, as tiers 1 and 2 fit it.

    Parameters
    ----------
    subject : Subject
        What is audited.
    epsilon : float, default=1.0
        Guarantee to ask for.
    **settings
        Further parameters.

    Returns
    -------
    private estimator
    """
    schema = Schema(_features(subject.estimator_class, FEATURES), target=subject.target)
    settings = {**subject.settings, **settings}
    return subject.estimator_class(schema=schema, epsilon=epsilon, structure_seed=7, **settings)


def variants(subject: Subject) -> dict[str, tuple[Any, ...]]:
    """Parameters that tier 1 tries in all combinations, as far as the estimator has them.

    Parameters
    ----------
    subject : Subject
        What is audited.

    Returns
    -------
    dict of str to tuple
        Values to try, by the name of the parameter.
    """
    own = getattr(subject.estimator_class, "_audit_variants", {})
    return {**_known(subject.estimator_class, _VARIANTS), **own}


def _features(
    estimator_class: type[Any], otherwise: Mapping[str, Numeric | Categorical]
) -> dict[str, Numeric | Categorical]:
    return dict(getattr(estimator_class, "_audit_features", otherwise))


def _known(estimator_class: type[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    names = estimator_class._get_param_names()
    return {name: value for name, value in settings.items() if name in names}


def goes_by_place(estimator: Any) -> bool:
    """Whether coins that go by place decide what is done with a record.

    Parameters
    ----------
    estimator : private estimator
        Unfitted.

    Returns
    -------
    bool
        Data sets are neighbours for a replay only if they differ in their last records then.
    """
    return bool(estimator.get_params(deep=False).get("outer_bags", 1) != 1)


def made_up_records(schema: Schema, n: int, seed: int, *, wild: bool = False) -> Records:
    """Random records of a schema.

    Parameters
    ----------
    schema : Schema
        Columns and target.
    n : int
        Number of records.
    seed : int
        Seed of the generator.
    wild : bool, default=False
        Whether some cells are empty, infinite, outside the schema or of another type.

    Returns
    -------
    X : DataFrame
    y : Series
    """
    rng = np.random.default_rng(seed)
    columns = {name: _cells(feature, n, rng) for name, feature in schema.features.items()}
    X, y = pd.DataFrame(columns, index=range(n)), pd.Series(_answers(schema.target, n, rng))
    if not wild:
        return X, y
    X, y = X.astype(object), y.astype(object)
    for column in X:
        X[column] = _spoiled(X[column], rng)
    return X, _spoiled(y, rng)


def _cells(feature: Numeric | Categorical, n: int, rng: np.random.Generator) -> Any:
    if isinstance(feature, Categorical):
        return np.array(feature.categories, dtype=object)[
            rng.integers(len(feature.categories), size=n)
        ]
    return np.round(rng.uniform(feature.low, feature.high, n), 3)


def _answers(target: Any, n: int, rng: np.random.Generator) -> Any:
    if isinstance(target, Classes):
        return np.array(target.labels, dtype=object)[rng.integers(len(target.labels), size=n)]
    return rng.uniform(target.low, target.high, n)


def _spoiled(column: pd.Series, rng: np.random.Generator) -> pd.Series:
    cells = list(column)
    for i in np.flatnonzero(rng.random(len(cells)) < 0.3):
        cells[i] = _ODD_CELLS[rng.integers(len(_ODD_CELLS))]
    return pd.Series(cells, index=column.index, dtype=object)


@dataclass(frozen=True, eq=False)
class CanaryCase:
    """Two neighbouring data sets that differ by one record which moves all that it can.

    Parameters
    ----------
    estimator : private estimator
        Unfitted, with settings under which the canary's share of every sum is at the clip.
    present : tuple of DataFrame and Series
        Background and canary. The canary alone has the last category of every column and
        the last class (of the others, if so asked, none has) or upper end of the target.
    absent : tuple of DataFrame and Series
        Background alone; or, for replace-one adjacency, a record at the other end of the
        target in the canary's place.
    """

    estimator: Any
    present: Records
    absent: Records

    def __repr__(self) -> str:
        return f"<CanaryCase of {type(self.estimator).__name__}>"


def canary_case(
    subject: Subject,
    *,
    epsilon: float = 8.0,
    n_background: int = 20,
    lone_class: bool = False,
    **settings: Any,
) -> CanaryCase:
    """Make the data sets and the estimator of tiers 3 and 4.

    Parameters
    ----------
    subject : Subject
        What is audited.
    epsilon : float, default=8.0
        Guarantee to ask for. Violations of a large epsilon need the fewest fits to show.
    n_background : int, default=20
        Records besides the canary.
    lone_class : bool, default=False
        Whether no other record is of the canary's class. Otherwise the residuals of the
        other records nearly balance, and a final model gives the canary away best.
    **settings
        Parameters besides the saturating ones, or in their place.

    Returns
    -------
    CanaryCase
    """
    estimator_class = subject.estimator_class
    schema = Schema(_features(estimator_class, _ONE_FEATURE), target=subject.target)
    known = _known(estimator_class, _SATURATING)
    saturating = getattr(estimator_class, "_audit_settings", known)
    estimator = estimator_class(
        schema=schema,
        epsilon=epsilon,
        structure_seed=7,
        **{**subject.settings, **saturating, **settings},
    )
    background = _background(schema, n_background, lone_class=lone_class)
    absent = background
    if estimator.adjacency == "replace":
        absent = _with_record(background, _extreme(schema, last=False))
    return CanaryCase(estimator, _with_record(background, _extreme(schema, last=True)), absent)


def _background(schema: Schema, n: int, *, lone_class: bool) -> Records:
    """Make records that share no category with the canary and, if so asked, no class."""
    rows = np.arange(n)
    columns = {}
    for name, feature in schema.features.items():
        if isinstance(feature, Categorical):
            common = feature.categories[:-1] or feature.categories
            columns[name] = np.array(common, dtype=object)[rows % len(common)]
        else:
            columns[name] = np.where(rows % 2, feature.low, (feature.low + feature.high) / 2)
    target = schema.target
    if isinstance(target, Classes):
        labels = target.labels[:-1] if lone_class else target.labels
        y = np.array(labels, dtype=object)[(rows // 2) % len(labels)]
    else:
        assert isinstance(target, Range)
        y = np.full(n, target.midpoint)
    return pd.DataFrame(columns, index=rows), pd.Series(y, index=rows)


def _extreme(schema: Schema, *, last: bool) -> tuple[dict[str, Any], Any]:
    """Cells of the canary, with its own or the opposite target."""
    cells = {
        name: feature.categories[-1] if isinstance(feature, Categorical) else feature.high
        for name, feature in schema.features.items()
    }
    target = schema.target
    if isinstance(target, Classes):
        return cells, target.labels[-1 if last else 0]
    assert isinstance(target, Range)
    return cells, target.high if last else target.low


def _with_record(records: Records, record: tuple[dict[str, Any], Any]) -> Records:
    X, y = records
    cells, answer = record
    row = pd.DataFrame({name: [cell] for name, cell in cells.items()}, index=[len(X)])
    return pd.concat([X, row]), pd.concat([y, pd.Series([answer], index=[len(X)])])


def without(records: Records, place: int) -> Records:
    """Leave out the record at `place`.

    Parameters
    ----------
    records : tuple of DataFrame and Series
        Table and target.
    place : int
        Position of the record.

    Returns
    -------
    tuple of DataFrame and Series
        One record less.
    """
    X, y = records
    kept = np.arange(len(X)) != place
    return X[kept], y[kept]


def exchanged(records: Records, place: int, other: Records) -> Records:
    """Put another record in the place of one.

    Parameters
    ----------
    records : tuple of DataFrame and Series
        Table and target.
    place : int
        Position of the record that goes.
    other : tuple of DataFrame and Series
        Its first record comes.

    Returns
    -------
    tuple of DataFrame and Series
        As many records as before.
    """
    parts: list[Any] = []
    pairs: list[tuple[Any, Any]] = list(zip(records, other, strict=True))
    for part, new in pairs:
        rows = [part.iloc[:place], new.iloc[:1], part.iloc[place + 1 :]]
        parts.append(pd.concat([r.astype(object) for r in rows], ignore_index=True))
    return parts[0], parts[1]
