"""Audit subjects: each private estimator with each target and objective.

Everything is derived from the estimator class, so a new model usually needs no entry here. An
`Audit` is needed for a model that requires different columns or is most vulnerable with different
parameters. It is an entry in this module's table or, for a model from another library, the class
attribute ``_audit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import dpexplain.models as models
from dpexplain.audit.records import made_up_records
from dpexplain.models.boosted_trees.losses import CRITERIA
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema


@dataclass(frozen=True, eq=False)
class Audit:
    """Audit settings of an estimator that differ from the defaults.

    Parameters
    ----------
    features : mapping or None, default=None
        `Numeric` or `Categorical` features, keyed by name, instead of the default columns.
    settings : mapping or None, default=None
        Parameters under which the canary changes every sum by the full sensitivity.
    variants : mapping
        Values of additional parameters that tier 1 tries, keyed by parameter name.
    size : mapping
        Parameters that keep the fits of tiers 1 and 2 small.
    powerful : frozenset of int
        Tiers that detect every mistake they test for; all four by default. If no canary uses up
        the stated guarantee, only tier 2 detects every mistake, and the model needs separate tests.
        If the final model reveals little, tier 4 may miss mistakes.
    replaced : float
        Fraction of the guarantee that the canary uses up under replace-one adjacency, for two
        classes or a numeric target. The canary is then replaced by a record with the same features
        and the target at the opposite extreme.
    by_place : bool
        Whether records are sampled by secret random draws that depend on the row position.
    """

    features: Mapping[str, Numeric | Categorical] | None = None
    settings: Mapping[str, Any] | None = None
    variants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    size: Mapping[str, Any] = field(default_factory=dict)
    powerful: frozenset[int] = frozenset({1, 2, 3, 4})
    replaced: float = 0.89
    by_place: bool = False


_DPBOOST = Audit(
    by_place=True,
    powerful=frozenset({2}),  # the influence of a record depends on randomly chosen splits
    size={"n_trees": 3, "trees_per_ensemble": 2, "depth": 2},
    settings={"n_trees": 1, "trees_per_ensemble": 1, "depth": 1},
    variants={
        "variant": ("ensemble", "seq", "para"),
        "filtering": ("drop", "clip"),
        "leaf_clipping": ("geometric", "none"),
        "exponential_scale": ("paper", "range"),
    },
)

_AUDITS: Mapping[str, Audit] = {
    "DPBoostClassifier": _DPBOOST,
    "DPBoostRegressor": _DPBOOST,
    "DPBoostedTreesClassifier": Audit(
        powerful=frozenset({2}),  # weights start at 1/2, so no record uses up the guarantee
        size={"n_trees": 2, "depth": 2},
        settings={"n_trees": 1, "depth": 1},
        variants={
            "criterion": CRITERIA,
            "variant": ("corrected", "paper"),
            "alpha": (1.0, 0.1),
            "calibration": ("depth", "weight", 0.0),
            "n_public": (1000,),
        },
    ),
    # A replaced canary hardly moves the sums that calibrate numbers: their bound is wide.
    "DPExplainableBoostingRegressor": Audit(replaced=0.88),
    # If the canary is replaced, histograms, second moments and the squared target do not change.
    "DPLinearRegression": Audit(
        replaced=0.4,
        powerful=frozenset({1, 2, 3}),  # coefficients reveal half of what the moments reveal
    ),
    "DPLogisticRegression": Audit(replaced=0.8),  # histograms and second moments do not change
    "DPLocallyLinearClassifier": Audit(
        by_place=True,
        # The last filters reveal six tenths of what all steps together reveal.
        powerful=frozenset({1, 2, 3}),
        settings={
            "clip": 0.05,
            "learning_rate": 1e-3,
            "n_filters": 2,
            "n_steps": 2,
            "sampling_probability": 1.0,
        },
        variants={
            "preset": ("accurate", "readable", "paper"),
            "projection": ("auto", "shared", "per_filter"),
            "n_basis": (3,),
            "n_filters": (1, 3),
            "n_steps": (1, 4, 60),
            "sampling_probability": (0.4, 1.0),
            "composition": ("rdp",),
            "clip": (None, 0.05),
        },
    ),
    "DPRandomForestClassifier": Audit(
        replaced=0.9,
        # The bound of tier 4 is about the log of the number of fits, below the stated epsilon.
        powerful=frozenset({1, 2, 3}),
        settings={"n_trees": 3, "depth": 2},
        size={"n_trees": 3, "depth": 3},
        variants={
            "leaf_mechanism": ("laplace", "exponential"),
            "leaf_budget": ("parallel", "paper"),
        },
    ),
}


def audit_of(estimator_class: type[Any]) -> Audit:
    """Look up the audit settings of an estimator; subclasses inherit them.

    Parameters
    ----------
    estimator_class : type
        A private estimator.

    Returns
    -------
    Audit
        The default settings, unless a class attribute or an entry in the table overrides them.
    """
    for known in estimator_class.__mro__:
        own = vars(known).get("_audit", _AUDITS.get(known.__name__))
        if own is not None:
            return own
    return Audit()


FEATURES: Mapping[str, Numeric | Categorical] = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}

_VARIANTS: Mapping[str, tuple[Any, ...]] = {
    "preset": ("default", "paper"),
    "max_rounds": (1, 4, None),
    "clip": (None, 0.3),
    "outer_bags": (1, 3),
    "monotone_constraints": (None, {"age": "increasing"}),
    "pairs": (0, "auto", 2),  # small tables make no choice for "auto"
}

_TARGETS: Mapping[type[Any], tuple[Range | Classes, ...]] = {
    Range: (Range(0, 4, unit="visits"),),
    Classes: (Classes(["no", "yes"]), Classes(["home", "moved", "readmitted"])),
}

_MODES: Mapping[str, tuple[Any, ...]] = {"objective": ("poisson",)}


def private_estimators() -> dict[str, type[Any]]:
    """Return the private estimators in ``dpexplain.models.__all__``, keyed by name.

    Returns
    -------
    dict of str to type
        Estimator classes in the order of ``__all__``, except that those with pure mechanisms come
        last.

    Examples
    --------
    >>> from dpexplain.audit import private_estimators
    >>> "DPExplainableBoostingClassifier" in private_estimators()
    True
    """
    found = {name: getattr(models, name) for name in models.__all__}
    private = {
        name: value
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, PrivateEstimator)
    }
    return dict(sorted(private.items(), key=lambda item: not item[1]._has_delta))


@dataclass(frozen=True, eq=False)
class Subject:
    """An estimator class with its target and objective.

    Parameters
    ----------
    estimator_class : type
        A private estimator.
    target : Range or Classes
        A target that the estimator accepts.
    settings : mapping
        Parameters that select a variant of the model, such as an objective.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> subject.estimator_class.__name__
    'DPLogisticRegression'
    """

    estimator_class: type[Any]
    target: Range | Classes
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name used in tables and tests.

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
    """Return all subjects: each estimator with each target and objective.

    Parameters
    ----------
    estimators : iterable of type or None, default=None
        Private estimators; None for all of them.

    Returns
    -------
    list of Subject
        At least one subject for each estimator.

    Raises
    ------
    ValueError
        If an estimator accepts none of the targets tried.

    Examples
    --------
    >>> from dpexplain import DPLogisticRegression
    >>> from dpexplain.audit import subjects
    >>> [type(subject.target).__name__ for subject in subjects([DPLogisticRegression])]
    ['Classes', 'Classes']
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
                "_audit attribute with features= that it accepts."
            )
        found += accepted
    return found


def _modes(estimator_class: type[Any]) -> list[dict[str, Any]]:
    """Return the parameter settings to audit, starting with the defaults."""
    known = known_settings(estimator_class, _MODES)
    return [{}, *({name: value} for name, values in known.items() for value in values)]


def _accepted(subject: Subject) -> bool:
    estimator = audited(subject)
    try:
        estimator.planned_events(made_up_records(estimator.schema, 0, 0)[0])
    except ValueError:
        return False
    return True


def audited(subject: Subject, *, epsilon: float = 1.0, **settings: Any) -> Any:
    """Create an unfitted estimator with a schema, to be audited by tiers 1 and 2.

    Parameters
    ----------
    subject : Subject
        The subject to audit.
    epsilon : float, default=1.0
        Epsilon of the guarantee.
    **settings
        Other parameters.

    Returns
    -------
    private estimator
    """
    schema = Schema(features_for(subject.estimator_class, FEATURES), target=subject.target)
    own = audit_of(subject.estimator_class).size
    settings = {**own, **subject.settings, **settings}
    return subject.estimator_class(schema=schema, epsilon=epsilon, structure_seed=7, **settings)


def variants(subject: Subject) -> dict[str, tuple[Any, ...]]:
    """Return the parameter values that tier 1 tries for an estimator.

    Tier 1 tries combinations of these values.

    Parameters
    ----------
    subject : Subject
        The subject to audit.

    Returns
    -------
    dict of str to tuple
        Values to try, keyed by parameter name.
    """
    own = audit_of(subject.estimator_class).variants
    return {**known_settings(subject.estimator_class, _VARIANTS), **own}


def features_for(
    estimator_class: type[Any], otherwise: Mapping[str, Numeric | Categorical]
) -> dict[str, Numeric | Categorical]:
    """Return the columns on which an estimator is audited.

    Parameters
    ----------
    estimator_class : type
        A private estimator.
    otherwise : mapping
        Columns for an estimator whose audit settings do not specify any.

    Returns
    -------
    dict of str to Numeric or Categorical
    """
    own = audit_of(estimator_class).features
    return dict(otherwise if own is None else own)


def known_settings(estimator_class: type[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Keep only the settings that are parameters of an estimator.

    Parameters
    ----------
    estimator_class : type
        A private estimator.
    settings : mapping
        Values, keyed by parameter name.

    Returns
    -------
    dict
    """
    names = estimator_class._get_param_names()
    return {name: value for name, value in settings.items() if name in names}


def powerful_tiers(subject: Subject) -> frozenset[int]:
    """Return the tiers that must detect every planted mistake they test for.

    Parameters
    ----------
    subject : Subject
        The subject to audit.

    Returns
    -------
    frozenset of int
        All four tiers, with two exceptions. Only tier 2 is returned if no canary can use up the
        stated guarantee. Only tiers 1 to 3 are returned if the final model reveals so little that a
        thousand fits cannot detect halved noise. This is the case with three or more classes, and
        for estimators whose audit settings exclude tier 4.
    """
    stated = audit_of(subject.estimator_class).powerful
    return stated - {4} if _has_several_classes(subject) else stated


def _has_several_classes(subject: Subject) -> bool:
    return len(getattr(subject.target, "labels", ())) > 2


def canary_share(subject: Subject, adjacency: str) -> float:
    """Return the minimum fraction of the guarantee that the canary should use up.

    With three classes, initial residuals are (1, -1/2, -1/2) in units of the clip, while the bound
    allows (1, -1, 0). The canary then uses 0.87 of the bound, or 0.75 if it is replaced. Replacing
    it does not change the releases that depend only on features; in boosting, a fifth of the
    squared mu is then unused.

    Parameters
    ----------
    subject : Subject
        The subject to audit.
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.

    Returns
    -------
    float
        The fraction; 0 if no canary can use up the guarantee.
    """
    if 3 not in powerful_tiers(subject):
        return 0.0
    several = _has_several_classes(subject)
    if adjacency == "add_remove":
        return 0.88 if several else 0.98
    replaced = audit_of(subject.estimator_class).replaced
    return (0.74 if several else 0.99) * replaced


def goes_by_place(estimator: Any) -> bool:
    """Return whether the use of a record depends on random draws tied to its position.

    Parameters
    ----------
    estimator : private estimator
        Unfitted estimator.

    Returns
    -------
    bool
        If True, the data sets of a replay must differ in their last records.
    """
    sampled = audit_of(type(estimator)).by_place
    return bool(sampled or estimator.get_params(deep=False).get("outer_bags", 1) != 1)
