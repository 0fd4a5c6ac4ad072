"""Chunked tables, and a comparison of fits to them with the fit in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from dpexplain import models
from dpexplain.audit import record, replay
from dpexplain.audit.replay import same_value
from dpexplain.models.registry import MODELS
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from dpexplain.tables.chunked import ChunkedTable

PRIVATE = [
    name
    for name in models.__all__
    if name.startswith("DPExplainable") and getattr(models, name)._reads_chunks
]
NAMES = [
    *PRIVATE,
    "DPExplainableBoostingRegressor poisson",
    "DPExplainableBoostingClassifier three classes",
]
"""Boosting models that read chunks; after a space the loss, where it is not the usual one."""

LINEAR = ["DPLinearRegression", "DPLogisticRegression", "DPLogisticRegression three classes"]
TREES = [
    "DPRandomForestClassifier three classes",
    "DPBoostedTreesClassifier",
    "DPBoostClassifier",
    "DPBoostRegressor",
]
ALL = [*NAMES, *LINEAR, *TREES, "DPLocallyLinearClassifier"]
"""All private models."""

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}


class ListTable(ChunkedTable):
    """Chunks in memory, each a pair of X and y."""

    def __init__(self, chunks):
        self._chunks = chunks

    def check_columns(self, schema):
        pass

    def check_target(self, y, schema):
        pass

    def chunks(self, y, schema):
        yield from self._chunks

    def rows(self, schema):
        yield from (X for X, _ in self._chunks)


def _has_range(name):
    return MODELS[name].target == "range"


def make_estimator(name, **settings):
    name, _, loss = name.partition(" ")
    labels = ["no", "yes", "perhaps"] if loss == "three classes" else ["no", "yes"]
    target = Range(0, 3) if _has_range(name) else Classes(labels)
    settings = {"epsilon": 1.0, "structure_seed": 7, **settings}
    if f"{name} {loss}".strip() in TREES:
        settings = {"n_trees": 3, "depth": 2, **settings}
    elif name == "DPLocallyLinearClassifier":
        settings = {"n_steps": 4, "sampling_probability": 0.5, **settings}
    elif name != "DPLinearRegression":  # which is solved at once
        settings.setdefault("max_rounds", 4)
    if loss == "poisson":
        settings["objective"] = loss
    return getattr(models, name)(schema=Schema(FEATURES, target=target), **settings)


def make_table(name, n, seed=0):
    """Make features and target, with empty cells and cells outside the schema."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(-5, 110, n)),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(["clerk", "nurse", "smith", "pilot"], n),
        }
    )
    above = table["income"] > 2e4
    if _has_range(name.partition(" ")[0]):
        table["visits"] = np.where(above, 2.0, 0.0) + rng.normal(0, 0.5, n)
    else:
        table["visits"] = np.where(above ^ (rng.random(n) < 0.1), "yes", "no")
        if "three classes" in name:
            table.loc[rng.random(n) < 0.3, "visits"] = "perhaps"
    return table


def halves(table):
    return table.drop(columns="visits"), table["visits"]


def cut(table, places):
    """Cut a frame into chunks at positions; a repeated position makes an empty chunk."""
    ends = [0, *sorted(places), len(table)]
    return [halves(table.iloc[a:b].reset_index(drop=True)) for a, b in pairwise(ends)]


def assert_same_fit(estimator, table, X, y):
    """Check that a fit to chunks, given the same answers, equals the fit in memory."""
    model, transcript = record(estimator, *halves(table))
    report = replay(estimator, (X, y), model, transcript)
    assert report.differences == ()
    assert (report.spent_mu, report.spent_epsilon) == (0.0, 0.0)
    return model, transcript


def assert_same_predictions(model, table, X):
    """Check that predictions and local explanations equal the table's, bit for bit."""
    assert np.array_equal(model.predict(X), model.predict(table))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(model.predict_proba(X), model.predict_proba(table))
    assert same_value(model.explain_local(X), model.explain_local(table))
