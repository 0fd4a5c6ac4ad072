"""Predictions as ONNX graphs, equal to those of the model in two runtimes."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpexplain.explain import FilterBank, Guarantee, PairAxis, PairCurve
from dpexplain.explain.filters.filter_inputs import InputFeature, InputPreparation
from dpexplain.interop import to_onnx
from dpexplain.models import DPExplainableBoostingClassifier, DPLocallyLinearClassifier
from dpexplain.schema import Categorical, Classes, Date, Numeric, Schema
from fitted_models import FITTED, dated, fitted_binary, fitted_classes, in_days, table

pytestmark = pytest.mark.full

onnxruntime = pytest.importorskip("onnxruntime")
ReferenceEvaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator


def cells(X):
    """Return columns in the format of the graph's inputs."""
    return {
        "age": X[["age"]].to_numpy(dtype=np.float64),
        "job": X[["job"]].fillna("").to_numpy(dtype=object).astype(str),
        "grade": X[["grade"]].to_numpy(dtype=object).astype(str),
    }


@pytest.mark.parametrize("fitted", FITTED)
def test_the_graph_gives_the_scores_and_predictions_of_the_model(fitted):
    model = fitted()
    X, _ = table(seed=3)
    graph = to_onnx(model.explain_global())
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    score, outcome = session.run(None, cells(X))
    other = ReferenceEvaluator(graph).run(None, cells(X))
    for theirs, ours in zip(other, (score, outcome), strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-12)
    expected = model.explain_local(X)
    np.testing.assert_allclose(score.squeeze(), expected.scores, atol=1e-12)
    predicted = model.predict_proba(X) if hasattr(model, "classes_") else expected.predictions
    np.testing.assert_allclose(outcome.squeeze(), predicted, atol=1e-12)


def test_the_documented_lines_run_a_graph_on_a_messy_table(tmp_path, monkeypatch):
    schema = Schema(
        {
            "visit": Date("2015-01-01", "2024-12-31", format="%d.%m.%Y"),
            "cost": Numeric(0, 5_000, decimal=",", thousands=".", affixes="€"),
            "visits": Numeric(0, 9, step=1),
            "sex": Categorical(["female", "male"], aliases={"f": "female", 2: "male"}),
        },
        target=Classes(["early", "late"]),
    )
    X = pd.DataFrame(
        {
            "visit": ["31.12.2016", "1.2.2030", None, "03.05.2021", "soon"] * 40,
            "cost": ["€ 1.234,50", "7", "n/a", None, "9.999,00 €"] * 40,
            "visits": [1, 2, 3, 12, 5] * 40,
            "sex": ["f", "2", "male", "unknown", None] * 40,
        }
    )
    y = np.where(np.arange(200) % 5 < 2, "early", "late")
    model = DPExplainableBoostingClassifier(epsilon=4, schema=schema).fit(X, y)
    page = (Path(__file__).parents[2] / "docs/howto/interoperability.md").read_text("utf-8")
    lines = re.findall(r"```python\n(.*?)```", page.split("\n## ONNX\n")[1], re.DOTALL)[:2]
    names = {"explanation": model.explain_global(), "schema": schema, "X": X}
    monkeypatch.chdir(tmp_path)
    for block in lines:
        exec(block, names)
    np.testing.assert_allclose(names["probability"], model.predict_proba(X), atol=1e-12)


def test_numbers_on_and_beyond_edges_fall_into_the_bins_of_the_explanation():
    explanation = fitted_binary().explain_global()
    edges = explanation["age"].bin_edges
    ages = np.r_[edges, np.nextafter(edges, -np.inf), -np.inf, np.inf, np.nan]
    rows = {
        "age": ages[:, np.newaxis],
        "job": np.full((len(ages), 1), "b"),
        "grade": np.full((len(ages), 1), "mid"),
    }
    session = onnxruntime.InferenceSession(to_onnx(explanation).SerializeToString())
    score = session.run(["score"], rows)[0][:, 0]
    rest = score - explanation["age"].evaluate(ages)
    np.testing.assert_allclose(rest, rest[0], atol=1e-12)


def test_pairs_of_features_are_in_the_graph():
    X, _ = table(seed=3)
    explanation = fitted_binary().explain_global()
    job, age = explanation["job"], explanation["age"]
    axes = (
        PairAxis("job", "categorical", categories=job.categories, special=job.special),
        PairAxis("age", "numeric", bin_edges=[20.0, 40.0, 60.0], special=("missing",)),
    )
    cell = np.arange(15.0).reshape(5, 3)
    pair = PairCurve("job & age", axes, cell, np.ones((5, 3)), guarantee=age.guarantee)
    explanation = dataclasses.replace(explanation, pairs=(pair,))
    session = onnxruntime.InferenceSession(to_onnx(explanation).SerializeToString())
    score = session.run(["score"], cells(X))[0][:, 0]
    expected = explanation.explain_local(X)
    assert np.ptp(expected.contributions[:, -1]) == 14.0
    np.testing.assert_allclose(score, expected.scores, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(DPExplainableBoostingClassifier, {}), (DPLocallyLinearClassifier, {"n_steps": 5})],
)
def test_dates_go_into_the_graph_as_days(kind, settings):
    model, X = dated(kind, **settings)
    graph = to_onnx(model.explain_global())
    given = in_days(X)
    columns = {"visit": given[["visit"]].to_numpy(), "job": X[["job"]].to_numpy().astype(str)}
    np.testing.assert_allclose(probabilities(graph, columns), model.predict_proba(X), atol=1e-12)


def test_the_graph_carries_the_guarantee_and_nothing_else_in_words():
    explanation = fitted_binary().explain_global()
    assert to_onnx(explanation).doc_string == explanation.guarantee.statement()


def test_a_file_holds_the_graph_that_is_returned(tmp_path):
    graph = to_onnx(fitted_binary().explain_global(), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == graph.SerializeToString()


def test_the_explanation_of_one_class_is_refused():
    with pytest.raises(ValueError, match="the explanation of all classes"):
        to_onnx(fitted_classes().explain_global().for_class("low"))


def bank_of(features, per_record="none", seed=0):
    """Make filters with random weights, since a graph must reproduce any of them."""
    rng = np.random.default_rng(seed)
    preparation = InputPreparation(features, per_record=per_record, scale=3.0)
    return FilterBank.from_weights(
        rng.normal(size=(3, 4, len(preparation.input_names))),
        rng.normal(size=(3, 4)),
        classes=("a", "b", "c"),
        input_names=preparation.input_names,
        inverse_temperature=0.5,
        preparation=preparation,
        guarantee=Guarantee.not_private("made up"),
    )


def probabilities(graph, cells):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(["probability"], cells)[0]


@pytest.mark.parametrize("per_record", ["none", "centred_unit_norm"])
def test_filters_of_numbers_take_one_matrix(per_record):
    features = tuple(InputFeature(f"pixel_{i}", low=0, high=16, spread=16) for i in range(9))
    bank = bank_of(features, per_record)
    X = np.random.default_rng(1).uniform(-2, 20, (40, 9))
    X[0], X[1, 3], X[2, 5] = 7.0, np.nan, np.inf
    X[3], X[4], X[5, 1:] = 1.6, [0.0] * 8 + [7.9e-160], 0.0  # even, nearly black, one bright pixel
    expected = bank.probabilities(bank.inputs(X))
    np.testing.assert_allclose(probabilities(to_onnx(bank), {"X": X}), expected, atol=1e-12)


def test_filters_of_a_table_take_a_column_each():
    features = (
        InputFeature("age", low=17, high=90, centre=53.5, spread=36.5),
        InputFeature("job", ("a", "b", "c")),
    )
    bank = bank_of(features)
    X, _ = table(n=60, seed=5)
    columns = {name: values for name, values in cells(X).items() if name != "grade"}
    expected = bank.probabilities(bank.inputs(X[["age", "job"]]))
    graph = to_onnx(bank)
    np.testing.assert_allclose(probabilities(graph, columns), expected, atol=1e-12)
    (other,) = ReferenceEvaluator(graph).run(["probability"], columns)
    np.testing.assert_allclose(other, expected, atol=1e-12)


def test_filters_without_a_preparation_are_refused():
    bank = dataclasses.replace(bank_of((InputFeature("age"),)), preparation=None)
    with pytest.raises(ValueError, match="this explanation has no preprocessing"):
        to_onnx(bank)
