"""Predictions as ONNX graphs, equal to those of the model."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain.interop import to_onnx
from fitted_models import FITTED, fitted_binary, fitted_classes, table

onnxruntime = pytest.importorskip("onnxruntime")


def cells(X):
    """Columns as the graph takes them."""
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
    expected = model.explain_local(X)
    np.testing.assert_allclose(score.squeeze(), expected.scores, atol=1e-12)
    predicted = model.predict_proba(X) if hasattr(model, "classes_") else expected.predictions
    np.testing.assert_allclose(outcome.squeeze(), predicted, atol=1e-12)


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


def test_the_graph_carries_the_guarantee_and_nothing_else_in_words():
    explanation = fitted_binary().explain_global()
    assert to_onnx(explanation).doc_string == explanation.guarantee.statement()


def test_the_explanation_of_one_class_is_refused():
    with pytest.raises(ValueError, match="the explanation of all classes"):
        to_onnx(fitted_classes().explain_global().for_class("low"))
