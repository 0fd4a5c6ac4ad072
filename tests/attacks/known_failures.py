"""Failures of InterpretML's private models, and the same attacks on our models.

On nine pairs of neighboring tables (A to I), an attacker tells InterpretML 0.7.8's fits apart
better than its epsilon allows; I is a control, on which it keeps its promise. On J and K every
model of ours shows as much of a record as it ever does, those with pure mechanisms and with samples
too. The attacker sees what a fitted model publishes, nothing else; of that, no bands, which follow
from the releases (`leak_attacks.published_forms` compares them byte by byte) and take most of the
time of a fit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

import dpexplain.models as models
from attack_kit import PRIVATE, is_regressor, takes_samples
from dpexplain import Categorical, Classes, Range, Schema, io
from dpexplain.audit.black_box import without_bands
from dpexplain.explain import FilterBank

EPSILON, DELTA = 1.0, 1e-5
Table = tuple[pd.DataFrame, Any]
Adjacency = Literal["add_remove", "replace"]


@dataclass(frozen=True)
class Failure:
    """A pair of neighboring tables, and what an attacker reads of the published model.

    Attributes
    ----------
    letter, title : str
    adjacency : {"add_remove", "replace"}
        How the tables differ.
    tables : tuple of (X, y)
        Without and with the record, or before and after the exchange.
    target : Range or Classes
        Public target.
    runs, quick_runs : int
        Fits per table; the quick ones are enough to see InterpretML's failure.
    looks_at : {"curve", "text", "classes", "size", "scores"}
        What the attacker reads.
    settings : dict
        Parameters of the fit, in the names that both libraries share.
    violates : bool
        Whether InterpretML breaks its promise here.
    only_ours : bool
        Whether InterpretML has no answer to one of the tables.
    """

    letter: str
    title: str
    adjacency: Adjacency
    tables: tuple[Table, Table]
    target: Range | Classes
    runs: int
    quick_runs: int
    looks_at: Literal["curve", "text", "classes", "size", "scores"]
    settings: dict[str, Any]
    violates: bool = True
    only_ours: bool = False

    @property
    def regression(self) -> bool:
        """Whether the target is numeric."""
        return isinstance(self.target, Range)


# --- the tables --------------------------------------------------------------------------------


def _groups(*sizes: tuple[str, int]) -> pd.DataFrame:
    names = [name for name, size in sizes for _ in range(size)]
    return pd.DataFrame({"group": np.array(names, dtype=object)})


def _constant(y: float, *sizes: tuple[str, int]) -> Table:
    X = _groups(*sizes)
    return X, np.full(len(X), y)


def _classes(*sizes: tuple[str, int]) -> Table:
    X = _groups(*sizes)
    return X, np.where(np.arange(len(X)) % 2, "yes", "no")


def _first_label(y: float) -> Table:
    X, labels = _constant(0.0, ("a", 10), ("b", 10))
    labels[0] = y
    return X, labels


def _single_class(first: str) -> Table:
    X = _groups(("a", 50), ("b", 50))
    return X, np.array([first] + ["no"] * (len(X) - 1), dtype=object)


_OFFSET, _UNIT, _LABELS = Range(100, 101), Range(0, 1), Classes(["no", "yes"])

# Of the smallest model one record moves the most.
_SMALLEST: dict[str, Any] = {
    "structure_seed": 7,
    "max_rounds": 1,
    "n_trees": 1,
    "trees_per_ensemble": 1,
    "depth": 1,
    "n_steps": 1,
    "sampling_probability": 1.0,
    "clip": 0.05,
}

FAILURES = (
    Failure(
        "A",
        "target 100.5 in [100, 101], 1000 records, defaults; one record moves from a to b",
        "replace",
        (
            _constant(100.5, ("a", 500), ("b", 500)),
            _constant(100.5, ("a", 499), ("b", 501)),
        ),
        _OFFSET,
        400,
        80,
        "curve",
        {},
    ),
    Failure(
        "B",
        "target 100.5 in [100, 101], 20 records, one round; one record moves from a to b",
        "replace",
        (_constant(100.5, ("a", 10), ("b", 10)), _constant(100.5, ("a", 9), ("b", 11))),
        _OFFSET,
        2000,
        300,
        "curve",
        {"max_rounds": 1},
    ),
    Failure(
        "C",
        "target 100.5 in [100, 101], 20 records, one round; one record of a is absent",
        "add_remove",
        (_constant(100.5, ("a", 9), ("b", 10)), _constant(100.5, ("a", 10), ("b", 10))),
        _OFFSET,
        2000,
        200,
        "curve",
        {"max_rounds": 1},
    ),
    Failure(
        "D",
        "target 1 in [0, 1], 5 records or 4, learning rate 1, 40 rounds: scores diverge",
        "add_remove",
        (_constant(1.0, ("a", 4)), _constant(1.0, ("a", 5))),
        _UNIT,
        2000,
        300,
        "curve",
        {"learning_rate": 0.999, "max_rounds": 40},
    ),
    Failure(
        "E",
        "one record of 1000 gets a category that nobody else has",
        "replace",
        (_classes(("a", 500), ("b", 500)), _classes(("Zorblax", 1), ("a", 499), ("b", 500))),
        _LABELS,
        2000,
        500,
        "text",
        {"max_rounds": 1},
    ),
    Failure(
        "F",
        "one record of 200 gets a category that nobody else has",
        "replace",
        (_classes(("a", 100), ("b", 100)), _classes(("Zorblax", 1), ("a", 99), ("b", 100))),
        _LABELS,
        2000,
        200,
        "text",
        {"max_rounds": 1},
    ),
    Failure(
        "G",
        "the label of one record is the only one of its class",
        "replace",
        (_single_class("no"), _single_class("yes")),
        _LABELS,
        500,
        60,
        "classes",
        {"max_rounds": 1},
    ),
    Failure(
        "H",
        "200 records or 199: is their number published?",
        "add_remove",
        (_classes(("a", 100), ("b", 99)), _classes(("a", 100), ("b", 100))),
        _LABELS,
        500,
        60,
        "size",
        {"max_rounds": 1},
    ),
    Failure(
        "I",
        "control: the label of one record goes from 0 to 1",
        "replace",
        (_first_label(0.0), _first_label(1.0)),
        _UNIT,
        3000,
        200,
        "curve",
        {"max_rounds": 1},
        violates=False,
    ),
    *(
        Failure(
            letter,
            f"control: one record, or none at all ({kind})",
            "add_remove",
            (tuple(part[:0] for part in one), one),
            target,
            500,
            80,
            "scores",
            _SMALLEST,
            violates=False,
            only_ours=True,
        )
        for letter, kind, one, target in (
            ("J", "a class", (_groups(("b", 1)), np.array(["yes"], dtype=object)), _LABELS),
            ("K", "a number", _constant(1.0, ("b", 1)), _UNIT),
        )
    ),
)


# --- who is attacked ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A library and model under attack.

    Attributes
    ----------
    title : str
    fit : callable
        ``fit(failure, table)`` gives a fitted model.
    read : callable
        ``read(failure, model)`` gives what the attacker sees: numbers, always as many.
    stated : callable
        ``stated(failure)`` is the epsilon of the promise for this kind of neighbor.
    """

    title: str
    fit: Callable[[Failure, Table], Any]
    read: Callable[[Failure, Any], list[float]]
    stated: Callable[[Failure], float]


def ours(failure: Failure, *, n_trees: int | None = None) -> list[Target]:
    """Return every private estimator for such a target, in each of its presets.

    Models that draw samples have no curves or counts to read, only scores. With `n_trees`,
    ensembles have that many trees, each with less noise: the promise covers all of them.
    """
    targets = []
    for name in PRIVATE:
        if takes_samples(name) and failure.looks_at != "scores":
            continue
        if is_regressor(name) != failure.regression and failure.looks_at != "size":
            continue
        known = getattr(models, name)().get_params()
        for preset in ("default", "paper") if "preset" in known else ("",):
            title = f"{name}, {preset}" if preset else name
            fit = partial(_fit_ours, name, preset if preset == "paper" else "", n_trees)
            targets.append(Target(title, fit, _read_ours, lambda _: EPSILON))
    return targets


def _fit_ours(name: str, preset: str, n_trees: int | None, failure: Failure, table: Table) -> Any:
    X, y = table
    target = failure.target
    if is_regressor(name) != failure.regression:  # H: sizes only
        target, y = _UNIT, np.zeros(len(X))
    schema = Schema({"group": Categorical(["a", "b"])}, target=target)
    made = getattr(models, name)(EPSILON, schema=schema)
    known = made.get_params()
    wanted = {
        "delta": DELTA,
        "n_trees": n_trees,
        **failure.settings,
        "adjacency": failure.adjacency,
        "preset": preset,
    }
    made.set_params(**{key: value for key, value in wanted.items() if key in known and value})
    return made.fit(X, y)


def _read_ours(failure: Failure, model: Any) -> list[float]:
    if failure.looks_at == "curve":
        return _read_curve(failure, model)
    if failure.looks_at == "scores":
        return [*_scores(model), *_counts(model)]
    explanation = without_bands(model).explain_global()
    text = io.to_json(explanation)
    if failure.looks_at == "text":
        return [float("Zorblax" in text)]
    if failure.looks_at == "classes":
        finite = np.isfinite(_scores(model)).all()
        return [float(len(model.classes_)), float(finite), float("inf" in text)]
    numbers = {*_numbers_of(vars(explanation)), *_numbers_of(vars(model))}
    counts = _counts(model)
    return [float(200.0 in numbers), float(199.0 in numbers), sum(counts), *counts]


def _read_curve(failure: Failure, model: Any) -> list[float]:
    scores, counts = _scores(model), _counts(model)
    if not hasattr(getattr(model, "_fit", None), "visits"):
        return [*scores, *counts]
    visits = model._fit.visits  # trees and denominators, which follow from what was released
    weights = [[v.leaf_weight[v.leaf_of_bin[place]] for v in visits] for place in (0, 1)]
    from_start = [score - _start(failure) for score in scores]
    return [*scores, *counts, *_inverted(failure, from_start, weights, model.learning_rate_)]


def _start(failure: Failure) -> float:
    """Return the score at which our boosting starts."""
    return failure.target.midpoint if isinstance(failure.target, Range) else 0.0


def _counts(model: Any) -> list[float]:
    """Return the noisy count of each bin, if the model publishes it."""
    if hasattr(model, "_terms"):
        return list(model._terms.counts[0])
    shapes = without_bands(model).explain_global()
    if isinstance(shapes, FilterBank) or "group" not in shapes:
        return []
    return list(shapes["group"].count)


def _scores(model: Any) -> list[float]:
    probes = pd.DataFrame({"group": np.array(["a", "b"], dtype=object)})
    scored = getattr(model, "decision_function", model.predict)
    return [float(value) for value in scored(probes)]


def _numbers_of(value: Any, depth: int = 0) -> Any:
    """Return all numbers in an object."""
    if isinstance(value, bool) or depth > 8:
        return
    if isinstance(value, int | float | np.number):
        yield float(value)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield from set(value.ravel().astype(float).tolist())
        yield from map(float, value.shape)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _numbers_of(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers_of(item, depth + 1)
    elif hasattr(value, "__dict__"):
        yield from _numbers_of(vars(value), depth + 1)


def _inverted(
    failure: Failure,
    scores: list[float],
    weights: list[Any],
    eta: float,
    *,
    apart: bool = True,
) -> list[float]:
    """Solve for the counts of categories and their total, given scores and denominators.

    Repeated steps of share ``eta n / W`` toward the mean m lead to
    ``f = m (1 - prod(1 - eta n / W))``; where the steps overshoot, the factors are negative.
    A fit that merged the categories (``apart`` is false) says nothing about a single one:
    it is put at either end, so that a threshold can leave it on the harmless side.
    """
    mean = float(failure.tables[0][1].max()) or 1.0
    people = []
    for f, held in zip(scores, weights, strict=True):
        left = abs(1.0 - f / mean) if math.isfinite(f) else 0.0
        overshot = float(held[0]) * (1.0 + left ** (1.0 / len(held))) / eta
        people += [_small_steps(left, held, eta), overshot]
    total = people[0] + people[2] if apart else people[0]
    sides = [value if apart else end for value in people for end in (-math.inf, math.inf)]
    return [total, *sides]


def _small_steps(left: float, weights: Any, eta: float) -> float:
    """Solve ``sum(log(1 - eta n / W)) = log(left)`` for n with Newton's method."""
    if not 1e-300 < left < 1e300:
        return 0.0
    limits = np.asarray(weights, dtype=np.float64) / eta
    n = 0.0
    for _ in range(8):
        n += float((np.log1p(-n / limits).sum() - math.log(left)) / (1.0 / (limits - n)).sum())
        n = min(n, 0.999 * float(limits.min()))
    return n


# --- InterpretML -------------------------------------------------------------------------------


def interpretml() -> Target | None:
    """Return InterpretML as a target, or None if it is not installed."""
    try:
        from interpret.privacy import DPExplainableBoostingClassifier
    except ModuleNotFoundError:
        return None
    del DPExplainableBoostingClassifier
    return Target("InterpretML", _fit_theirs, _read_theirs, lambda _: EPSILON)


def _fit_theirs(failure: Failure, table: Table) -> Any:
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    settings: dict[str, Any] = {
        "epsilon": EPSILON,
        "delta": DELTA,
        "feature_names": ["group"],
        "feature_types": ["nominal"],
        "n_jobs": 1,
        **failure.settings,
    }
    made: Any
    if isinstance(failure.target, Range):
        bounds = {
            "privacy_target_min": failure.target.low,
            "privacy_target_max": failure.target.high,
        }
        made = DPExplainableBoostingRegressor(**settings, **bounds)
    else:
        made = DPExplainableBoostingClassifier(**settings)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return made.fit(*table)


def _read_theirs(failure: Failure, model: Any) -> list[float]:
    if failure.looks_at == "text":
        return [float("Zorblax" in str(model.bins_))]
    if failure.looks_at == "classes":
        intercept = np.ravel(model.intercept_)
        return [float(len(model.classes_)), float(np.isfinite(intercept).all())]
    if failure.looks_at == "size":
        weights = float(np.sum(model.bag_weights_))
        return [float(weights == 200.0), float(weights == 199.0), weights]
    names = model.bins_[0][0]
    apart = "a" in names and "b" in names
    places = [names.get(name, names.get("DPOther", -1)) for name in ("a", "b")]
    counts = [float(model.bin_weights_[0][place]) for place in places]
    intercept = float(np.ravel(model.intercept_)[0])
    scores = [intercept + float(model.term_scores_[0][place]) for place in places]
    weights = [[max(count, 1e-9)] * model.max_rounds for count in counts]
    rates = _inverted(failure, scores, weights, model.learning_rate, apart=apart)
    return [*scores, *counts, *rates]
