"""Models in the benchmarks: ours, and InterpretML's with the same public schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

import dpexplain
from dpexplain import Classes, Numeric, Range, Schema

MISSING = "missing"


@dataclass(frozen=True)
class Budget:
    """Privacy parameters of a fit."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Contender:
    """A model to be compared.

    Attributes
    ----------
    title : str
        Name in the printed tables.
    make : callable
        Unfitted estimator from a schema and a budget.
    prepare : callable
        Features as the estimator wants them, from features and schema.
    """

    title: str
    make: Callable[[Schema, Budget], Any]
    prepare: Callable[[pd.DataFrame, Schema], pd.DataFrame] = lambda X, schema: X


def _kind(schema: Schema) -> str:
    return "Classifier" if isinstance(schema.target, Classes) else "Regressor"


# --- ours ------------------------------------------------------------------------------------


def _private(preset: str) -> Callable[[Schema, Budget], Any]:
    def make(schema: Schema, budget: Budget) -> Any:
        estimator = getattr(dpexplain, f"DPExplainableBoosting{_kind(schema)}")
        return estimator(budget.epsilon, budget.delta, schema=schema, preset=preset)

    return make


def _reference(schema: Schema, budget: Budget) -> Any:
    return getattr(dpexplain, f"ExplainableBoosting{_kind(schema)}")(schema=schema)


DEFAULT = Contender("dpexplain, default", _private("default"))
PAPER = Contender("dpexplain, paper preset", _private("paper"))
REFERENCE = Contender("dpexplain", _reference)


# --- InterpretML -----------------------------------------------------------------------------


def peers() -> tuple[Contender, Contender] | None:
    """Return InterpretML's private and non-private models, or None if it is not installed."""
    try:
        import_module("interpret.privacy")
    except ModuleNotFoundError:
        return None
    return (
        Contender("InterpretML, default", _peer_private, filled),
        Contender("InterpretML, no pairs", _peer_reference, filled),
    )


def _peer_private(schema: Schema, budget: Budget) -> Any:
    estimator = getattr(import_module("interpret.privacy"), f"DPExplainableBoosting{_kind(schema)}")
    bounds = {n: (f.low, f.high) for n, f in schema.features.items() if isinstance(f, Numeric)}
    target = schema.target
    public = {"privacy_bounds": bounds}
    if isinstance(target, Range):
        public |= {"privacy_target_min": target.low, "privacy_target_max": target.high}
    return estimator(epsilon=budget.epsilon, delta=budget.delta, **_declared(schema), **public)


def _peer_reference(schema: Schema, budget: Budget) -> Any:
    estimator = getattr(import_module("interpret.glassbox"), f"ExplainableBoosting{_kind(schema)}")
    # Work in other processes would not show in the CPU seconds of this one.
    return estimator(interactions=0, n_jobs=1, **_declared(schema))


def _declared(schema: Schema) -> dict[str, Any]:
    """Return the names and types of the features as InterpretML expects them."""
    kinds = [
        "continuous"
        if isinstance(feature, Numeric)
        else [*map(str, feature.categories), MISSING]
        if feature.ordered
        else "nominal"
        for feature in schema.features.values()
    ]
    return {"feature_names": list(schema.feature_names), "feature_types": kinds}


def filled(X: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Fill missing values, which InterpretML's private models refuse.

    A missing category becomes a category of its own, and a missing number the lower bound.
    """
    columns = {}
    for name, feature in schema.features.items():
        column = X[name]
        if isinstance(feature, Numeric):
            columns[name] = column.fillna(feature.low)
        else:
            columns[name] = column.astype(object).where(column.notna(), MISSING).map(str)
    return pd.DataFrame(columns)
