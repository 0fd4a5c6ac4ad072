"""A saved explanation predicts what its model predicts, without the model."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpexplain import Categorical, Classes, Date, DPLogisticRegression, Numeric, Schema
from dpexplain.explain import GlobalExplanation
from dpexplain.io import from_json, to_json
from dpexplain.models import DPRandomForestClassifier
from example_explanations import age, classifier, job
from fitted_models import FITTED, dated, table

SCHEMA = Schema(
    {
        "age": Numeric(17, 90, missing=[-99], decimal=","),
        "job": Categorical(["nurse", "clerk"], aliases={"RN": "nurse"}, missing=["?"]),
    },
    target=Classes([0, 1], name="income"),
)
MESSY = {"age": ["29,5", "-99", 120, None, "x"], "job": ["RN", "clerk ", "?", "cook", None]}
# Intercept, age and job, in the order in which a model adds them.
BY_TERM = [(-0.5, 1), (0.01, -1), (0.5, -0.1), (0.01, 0.1), (0.01, -0.1)]
SCORES = [-0.75 + of_age + of_job for of_age, of_job in BY_TERM]


def with_schema() -> GlobalExplanation:
    return classifier(schema=SCHEMA, classes=("0", "1"))


def written_and_read(explanation):
    return from_json(to_json(explanation))


def as_rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize(
    "made", [dict, pd.DataFrame, as_rows, lambda c: np.array(as_rows(c), dtype=object)]
)
def test_cells_of_any_table_are_read_by_the_rules_of_the_schema(made):
    explanation = written_and_read(with_schema())
    X = made(MESSY)
    np.testing.assert_allclose(explanation.decision_function(X), SCORES, rtol=1e-15)
    assert explanation.predict(X).tolist() == [int(score > 0) for score in SCORES]
    assert explanation.predict(X).dtype.kind == "i"
    proba = explanation.predict_proba(X)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-np.array(SCORES))), rtol=1e-15)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    local = explanation.explain_local(X)
    assert local.scores.tolist() == explanation.decision_function(X).tolist()
    assert local.bin_labels[2] == ("45 – 90", "missing")


@pytest.mark.parametrize("made", [pl.DataFrame, pa.table])
def test_tables_of_other_libraries_predict_alike(made):
    X = {"age": [29.5, None, 120.0], "job": ["RN", "cook", None], "not needed": [1, 2, 3]}
    expected = with_schema().decision_function(pd.DataFrame(X))
    assert with_schema().decision_function(made(X)).tolist() == expected.tolist()
    assert len(set(expected)) == 3


def test_without_a_schema_columns_are_named_and_rules_unknown():
    bare = classifier()
    assert bare.predict({"age": [29.0], "job": ["nurse"]}).tolist() == ["low"]
    assert bare.decision_function({"age": [29], "job": ["RN"]}).tolist() == [-0.75 - 0.5 + 0.1]
    with pytest.raises(TypeError, match="named columns, because the explanation has no schema"):
        bare.predict([[29.0, "nurse"]])
    with pytest.raises(ValueError, match="X lacks the column 'job'"):
        bare.predict({"age": [29.0]})


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        ("new.csv", TypeError, "X is a path; read the table into memory"),
        (pa.table({"age": [29]}).to_reader(), TypeError, r"into memory \(X\.read_all\(\)\)"),
        ({"age": 29, "job": "nurse"}, TypeError, "'age' of X is one value"),
        ({"age": [29, 30], "job": ["nurse"]}, ValueError, "different lengths"),
        ({"age": [29]}, ValueError, "X lacks the column 'job'"),
        ([[29]], ValueError, "X has 1 features"),
    ],
)
def test_what_is_no_such_table_is_refused(X, error, words):
    with pytest.raises(error, match=words):
        with_schema().predict(X)


@pytest.mark.parametrize(("link", "expected"), [("identity", -0.25), ("log", np.exp(-0.25))])
def test_numbers_are_predicted_in_the_unit_of_the_target(link, expected):
    explanation = classifier(link=link, classes=None)
    X = {"age": [29], "job": ["nurse"]}
    np.testing.assert_allclose(explanation.predict(X), [expected], rtol=1e-15)
    for method in ("predict_proba", "decision_function"):
        with pytest.raises(ValueError, match=f"{method} needs classes, and 'income' is a number"):
            getattr(explanation, method)(X)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (Schema({"age": Numeric(17, 90)}), "no feature 'job'"),
        (Schema({**SCHEMA.features, "job": Categorical(["nurse"])}), "other categories of 'job'"),
        (Schema({**SCHEMA.features, "age": Categorical(["x"])}), "other categories of 'age'"),
        (Schema(SCHEMA.features, target=Classes(["a", "b"])), "other classes"),
        ("schema.toml", "must be a Schema or None, got str"),
    ],
)
def test_the_schema_of_another_model_is_refused(schema, words):
    with pytest.raises(ValueError, match=words):
        classifier(schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        Schema(
            {
                "d": Date("2015-01-01", "2024-12-31", format="%d.%m.%Y", missing=["1900-01-01"]),
                **SCHEMA.features,
                "dotted": Categorical([".".join("1234567890" * 4), 'a "quoted"\n\x00 ε', "true"]),
            },
            target=Classes(["low", "high"], aliases={"l": "low"}),
            id=["no"],
            person="patient",
        ),
    ],
)
def test_the_schema_in_a_file_is_that_of_the_fit(schema):
    terms = (age(), job())
    explanation = classifier(terms=terms, schema=schema)
    assert written_and_read(explanation) == explanation
    assert written_and_read(explanation).schema == schema
    document = json.loads(to_json(explanation))
    assert "schema" not in json.loads(to_json(classifier()))["content"]
    for place, value, words in (
        ("features", {}, "schema: "),
        ("features", [], "schema: "),
        ("version", 2, "schema: "),
        ("target", {"kind": "classes", "labels": None}, "schema: "),
        ("person", 3, "schema: "),
        ("more", None, "unknown fields"),
    ):
        content = {**document["content"], "schema": {**document["content"]["schema"], place: value}}
        with pytest.raises(ValueError, match=words):
            from_json(json.dumps({**document, "content": content}))


@pytest.mark.full
@pytest.mark.parametrize("fitted", FITTED)
def test_a_file_predicts_to_the_last_bit_what_its_model_predicts(fitted):
    model, (X, _) = fitted(), table(seed=3)
    explanation = written_and_read(model.explain_global(effect=False))
    methods = ("predict", "predict_proba", "decision_function")
    for method in [name for name in methods if hasattr(model, name)]:
        found, expected = getattr(explanation, method)(X), getattr(model, method)(X)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    if model.explain_global(effect=False).link == "softmax":
        with pytest.raises(ValueError, match="explains only the class 'low'"):
            explanation.for_class("low").predict(X)


@pytest.mark.full
def test_dates_are_read_by_the_formats_of_the_schema():
    model, X = dated(DPLogisticRegression)
    explanation = written_and_read(model.explain_global())
    schema = Schema(
        {
            "visit": Date("2015-01-01", "2024-12-31", format="%d.%m.%Y"),
            "job": explanation.schema.features["job"],
        },
        target=explanation.schema.target,
    )
    german = X.assign(visit=X["visit"].dt.strftime("%d.%m.%Y"))
    spelled = dataclasses.replace(explanation, schema=schema).predict_proba(german)
    assert np.array_equal(spelled, model.predict_proba(X))
    assert not np.array_equal(explanation.predict_proba(german), spelled)


@pytest.mark.full
def test_curves_that_are_not_the_whole_model_do_not_predict():
    X, score = table()
    schema = Schema(
        {"age": Numeric(17, 90), "job": Categorical(["a", "b", "c"])}, target=Classes(["n", "y"])
    )
    model = DPRandomForestClassifier(epsilon=1, schema=schema)
    model.fit(X[["age", "job"]], np.where(score > 3, "y", "n"))
    with pytest.raises(ValueError, match="interactions that the curves do not include"):
        model.explain_global().predict(X)
