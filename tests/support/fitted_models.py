"""Small fitted models for every kind of target, on records with empty and unlisted cells."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpexplain import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
)
from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(17, 90, unit="years"),
    "job": Categorical(["a", "b", "c"]),
    "grade": Categorical(["low", "mid", "high"], ordered=True),
}


def table(n=600, seed=0):
    """Make records with empty cells and an unlisted category, and a score for each."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(10, 95, n).round(1),
            "job": rng.choice(["a", "b", "c", "d"], n),
            "grade": rng.choice(["low", "mid", "high"], n),
        }
    )
    score = X["age"] / 20 + (X["job"] == "a") + rng.normal(0, 1, n)
    X.loc[::17, "age"] = np.nan
    X.loc[::13, "job"] = None
    return X, score


def fitted_binary():
    X, score = table()
    schema = Schema(FEATURES, target=Classes(["no", "yes"]))
    model = DPExplainableBoostingClassifier(epsilon=4, schema=schema)
    return model.fit(X, np.where(score > 3, "yes", "no"))


def fitted_regression():
    X, score = table()
    schema = Schema(FEATURES, target=Range(-3, 9))
    return DPExplainableBoostingRegressor(epsilon=4, schema=schema).fit(X, score)


def fitted_counts():
    X, score = table()
    schema = Schema(FEATURES, target=Range(0, 9))
    model = DPExplainableBoostingRegressor(epsilon=4, schema=schema, objective="poisson")
    return model.fit(X, np.maximum(score, 0).round())


def fitted_classes():
    X, score = table()
    schema = Schema(FEATURES, target=Classes(["low", "middle", "high"]))
    labels = np.select([score < 2, score < 4], ["low", "middle"], "high")
    return ExplainableBoostingClassifier(schema=schema).fit(X, labels)


FITTED = [fitted_binary, fitted_regression, fitted_counts, fitted_classes]


def dated_table(n=400):
    """Make records with a date of visit, sometimes missing, and a label that depends on it."""
    rng = np.random.default_rng(3)
    days = pd.Series(pd.date_range("2014-06-01", "2024-12-31", periods=n))
    X = pd.DataFrame({"visit": days, "job": rng.choice(["a", "b", "d"], n)})
    late = np.where(X["visit"].dt.year + rng.normal(0, 1, n) > 2019, "late", "early")
    X.loc[::17, "visit"] = pd.NaT
    return X, late


def dated(kind, **settings):
    """Fit a model to records with dates; return both."""
    X, y = dated_table()
    schema = Schema(
        {"visit": Date("2015-01-01", "2024-12-31"), "job": Categorical(["a", "b"])},
        target=Classes(["early", "late"]),
    )
    return kind(epsilon=4, schema=schema, **settings).fit(X, y), X


def in_days(X):
    """Return dates as days since 1970-01-01, as other libraries expect."""
    days = X["visit"].to_numpy().astype("datetime64[D]")
    numbers = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return X.assign(visit=numbers)
