"""The canary: one worst-case record, and the data sets with and without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpexplain._utils.cloning import unfitted_copy
from dpexplain.audit.records import Records
from dpexplain.audit.subjects import Subject, audit_of, features_for, known_settings
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

# With one column, the whole budget is spent on releases that the canary changes.
_ONE_FEATURE: Mapping[str, Numeric | Categorical] = {
    "job": Categorical(["clerk", "nurse", "smith"])
}

# For the estimators that have these parameters: a clip below the canary's first residual, and steps
# too short to change that residual much, so that it exceeds the clip throughout.
_SATURATING: Mapping[str, Any] = {"clip": 0.2, "learning_rate": 1e-3, "max_rounds": 2}


@dataclass(frozen=True, eq=False)
class CanaryCase:
    """Two neighboring data sets that differ by one worst-case record.

    Parameters
    ----------
    estimator : private estimator
        Unfitted estimator with settings under which the canary contributes as much to every sum as
        the clip allows.
    present : tuple of DataFrame and Series
        Background records and the canary. In every column, only the canary has the last category.
        The canary's target is the last class or the upper end of the range. Background records may
        also have the last class.
    absent : tuple of DataFrame and Series
        Background records alone. Under replace-one adjacency, they are followed by a record that
        replaces the canary: its features are the same, and its target is at the opposite extreme.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> type(case.estimator).__name__
    'DPLogisticRegression'
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
    """Create the data sets and the estimator for an audit with a canary.

    Parameters
    ----------
    subject : Subject
        The subject to audit.
    epsilon : float, default=8.0
        Epsilon of the guarantee. The larger it is, the fewer fits are needed to detect a violation.
    n_background : int, default=20
        Number of records besides the canary.
    lone_class : bool, default=False
        Whether the canary is the only record of its class; no effect for regression. If False, the
        other records include all classes, and their residuals nearly cancel, so that the canary is
        easiest to detect in a final model.
    **settings
        Parameters of the estimator, which extend or override the parameters under which the canary
        saturates every clip.

    Returns
    -------
    CanaryCase

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject, n_background=20)
    >>> len(case.present[0]) - len(case.absent[0])
    1
    """
    estimator_class = subject.estimator_class
    schema = Schema(features_for(estimator_class, _ONE_FEATURE), target=subject.target)
    own = audit_of(estimator_class).settings
    saturating = known_settings(estimator_class, _SATURATING) if own is None else own
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


def row_exchange(case: CanaryCase) -> tuple[Any, tuple[Any, ...], list[int], list[int]]:
    """Add a second row for the canary's person, so that a fit can use either row.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.

    Returns
    -------
    estimator : private estimator
        An estimator that uses one row per person.
    table : tuple of DataFrame, Series and Series
        Table, target and the person to whom each row belongs. If one of the two rows of the
        canary's person is removed, a fit uses the other.
    kept, instead : list of int
        Positions of the rows to use: `kept` contains the canary, and `instead` contains the
        person's other row in its place.
    """
    estimator = unfitted_copy(case.estimator, max_rows_per_person=1)
    X, y = _with_record(case.present, _opposite(estimator.schema))
    n = len(X)
    people = pd.Series([*range(n - 1), n - 2], index=X.index)
    return estimator, (X, y, people), list(range(n - 1)), [*range(n - 2), n - 1]


def _opposite(schema: Schema) -> tuple[dict[str, Any], Any]:
    """Return a record whose features and target all differ from the canary's.

    The exception is a feature with only one category.
    """
    cells = {
        name: feature.categories[0] if isinstance(feature, Categorical) else feature.low
        for name, feature in schema.features.items()
    }
    return cells, _extreme(schema, last=False)[1]


def _background(schema: Schema, n: int, *, lone_class: bool) -> Records:
    """Create records that have none of the canary's categories.

    The exception is a feature with only one category. If `lone_class` is True, the records do not
    have the canary's class either.
    """
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
    """Return a record with the canary's features and an extreme target.

    The target is the last class or the upper end of the range if `last` is True. Otherwise, it is
    the first class or the lower end.
    """
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
