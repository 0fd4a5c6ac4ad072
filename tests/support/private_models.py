"""Every private estimator in ``dpexplain.models.__all__``, ready to be fitted."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpexplain.models as models
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Categorical, Classes, Feature, Numeric, Range, Schema

PRIVATE = [name for name in models.__all__ if issubclass(getattr(models, name), PrivateEstimator)]
# One of each family, for `make test`; `make test-all` takes them all.
_DAILY = {
    "DPExplainableBoostingClassifier",
    "DPLinearRegression",
    "DPLocallyLinearClassifier",
    "DPRandomForestClassifier",
}
# Ways of fitting that take other paths through the records, for the models that offer them.
_OTHER_WAYS: tuple[dict[str, Any], ...] = (
    {"objective": "poisson"},
    {"outer_bags": 2},
    {"preset": "paper"},
)
WAYS = [
    (name, way)
    for name in PRIVATE
    for way in ({}, *_OTHER_WAYS)
    if set(way) <= set(inspect.signature(getattr(models, name)).parameters)
]
FEATURES: dict[str, Feature] = {
    "age": Numeric(0, 100, unit="years"),
    "job": Categorical(["clerk", "nurse"]),
}


def marks_of(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Leave a model to the full command unless it represents its family."""
    return () if name in _DAILY else (pytest.mark.full,)


def by_model(names: Iterable[str] = PRIVATE) -> list[Any]:
    """Return a test parameter for each model, with the marks from `marks_of`."""
    return [pytest.param(name, marks=marks_of(name)) for name in names]


every_model = pytest.mark.parametrize("name", by_model())


def is_regression(name: str) -> bool:
    """Whether a model predicts numbers."""
    return issubclass(getattr(models, name)._target_kind, Range)


def schema_for(name: str, features: dict[str, Feature] | None = None) -> Schema:
    """Make a schema with the kind of target that a model needs."""
    target = Range(0, 10, unit="visits") if is_regression(name) else Classes(["no", "yes"])
    return Schema(FEATURES if features is None else features, target=target)


def make(name: str, **settings: Any) -> Any:
    """Make an unfitted model."""
    return getattr(models, name)(**{"schema": schema_for(name), **settings})


def known(name: str, **settings: Any) -> dict[str, Any]:
    """Return the settings for which a model has parameters, by its own names."""
    parameters = inspect.signature(getattr(models, name)).parameters
    if "n_steps" in parameters and "max_rounds" in settings:
        settings["n_steps"] = settings["max_rounds"]
    if settings.get("preset") == "default" and "preset" in parameters:
        settings["preset"] = parameters["preset"].default
    return {word: value for word, value in settings.items() if word in parameters}


def records_for(name: str, n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Make records of ordinary people."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(0, 101, n), "job": rng.choice(["clerk", "nurse"], n)})
    chance = (X["age"] > 50).to_numpy() * 0.8 + 0.1
    if is_regression(name):
        return X, pd.Series(10 * chance)
    return X, pd.Series(np.where(rng.random(n) < chance, "yes", "no"))
