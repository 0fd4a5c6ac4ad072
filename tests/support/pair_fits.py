"""Estimators and tables with pair terms, for the replay of fits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpexplain.binning.histograms import COUNT_LATTICE
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(0, 100),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "stay": Numeric(0, 9, step=1),
}
DECLARED = [("age", "dose"), ("ward", "stay")]


def make(kind="classes", **settings_):
    regression = kind == "numbers"
    target = Range(-1, 3) if regression else Classes(["no", "yes"])
    estimator = DPExplainableBoostingRegressor if regression else DPExplainableBoostingClassifier
    schema = Schema(FEATURES, target=target)
    defaults = {"schema": schema, "structure_seed": 3, "max_rounds": 5, "pairs": DECLARED}
    return estimator(**{**defaults, **settings_})


def make_data(n, seed, kind="classes"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 100, n)),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c", "x"], n),
            "stay": rng.integers(0, 10, n).astype(float),
        }
    )
    y = rng.choice([-1.0, 3.0], n) if kind == "numbers" else rng.choice(["no", "yes"], n)
    return X, pd.Series(y)


def crowded(phase, answer):
    """Force counts of many records, for which grids have more cells than blocks."""
    if phase.label == "count":
        return np.full_like(answer, 30_000 * COUNT_LATTICE)
    if phase.label == "histograms":
        return np.full_like(answer, 30_000 // len(answer) * COUNT_LATTICE)
    return answer


def extreme(n):
    """Make records whose residuals are all at the clip, and an estimator for them."""
    X, y = make_data(n, 1, "numbers")
    X["age"] = X["age"].fillna(50.0)
    y[:] = 3.0
    return make("numbers", pairs=[("age", "dose")], clip=0.3, max_bins=12), (X, y)
