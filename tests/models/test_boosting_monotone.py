"""Monotone constraints: how curves keep them, and which ones are accepted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.isotonic import isotonic_regression

from dpexplain.io import from_json, to_json
from dpexplain.models import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.boosting.monotone import pool_adjacent_violators, projections
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples

pytestmark = pytest.mark.full

FEATURES = {
    "age": Numeric(0, 80, unit="years", step=1),
    "dose": Numeric(0, 1),
    "stage": Categorical(["early", "middle", "late"], ordered=True),
    "ward": Categorical(["A", "B"]),
}
CLASSES = Schema(FEATURES, target=Classes(["no", "yes"]))
NUMBERS = Schema(FEATURES, target=Range(-5, 5))
CONSTRAINTS = {"age": "increasing", "dose": -1, "stage": np.int64(1), "ward": 0}
ALL = [
    ExplainableBoostingClassifier(schema=CLASSES, max_rounds=30),
    ExplainableBoostingRegressor(schema=NUMBERS, max_rounds=30),
    DPExplainableBoostingClassifier(schema=CLASSES),
    DPExplainableBoostingRegressor(schema=NUMBERS),
]
by_name = pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)


def make_data(estimator, n=1500, seed=0):
    """Make curves that violate every constraint, with cells without a value."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 81, n)),
            "dose": rng.random(n),
            "stage": rng.choice(["early", "middle", "late"], n),
            "ward": rng.choice(["A", "B"], n),
        }
    )
    score = np.sin(X["age"].fillna(0) / 8) + np.cos(9 * X["dose"]) + (X["stage"] == "early")
    if estimator.schema is NUMBERS:
        return X, score + rng.normal(0, 0.3, n)
    return X, np.where(score + rng.logistic(0, 1, n) > 0, "yes", "no")


@pytest.mark.parametrize("seed", range(3))
@by_name
def test_constrained_curves_keep_their_direction_to_the_last_bit(estimator, seed):
    constrained = type(estimator)(
        schema=estimator.schema, monotone_constraints=CONSTRAINTS, max_rounds=30
    )
    shapes = constrained.fit(*make_data(estimator, seed=seed)).explain_global()
    for name, sign in (("age", 1), ("dose", -1), ("stage", 1)):
        values = shapes[name].contribution[: shapes[name].n_value_bins]
        assert (sign * np.diff(values) >= 0).all()
    directions = ["increasing", "decreasing", "increasing", None]
    assert [shape.monotone for shape in shapes.values()] == directions


@pytest.mark.named_entropy
@by_name
def test_without_a_constraint_the_same_curves_go_up_and_down(estimator):
    values = estimator.fit(*make_data(estimator)).explain_global()["age"].contribution[:-1]
    assert np.diff(values).min() < 0 < np.diff(values).max()


@pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)
def test_the_reference_of_a_constrained_model_keeps_the_same_constraints(estimator):
    constrained = type(estimator)(schema=estimator.schema, monotone_constraints=CONSTRAINTS)
    assert constrained.reference_estimator().monotone_constraints == CONSTRAINTS


def test_a_constrained_curve_says_so_in_words_and_in_files():
    model = ExplainableBoostingClassifier(
        schema=CLASSES, max_rounds=5, monotone_constraints=CONSTRAINTS
    )
    explanation = model.fit(*make_data(model)).explain_global()
    assert "constrained to increase" in repr(explanation["age"])
    assert "constrained to decrease" in explanation["dose"]._repr_html_()
    assert "constrained" not in repr(explanation["ward"])
    assert "constrained to increase" in explanation["age"].plot().get_xlabel()
    assert "constrained to increase" in explanation["stage"].plot().get_xlabel()
    assert from_json(to_json(explanation)) == explanation


@examples(300)
@given(data=st.data(), n=st.integers(1, 40))
def test_pooling_is_the_nearest_monotone_sequence(data, n):
    values = data.draw(arrays(np.float64, n, elements=st.floats(-30, 30)))
    weights = data.draw(arrays(np.float64, n, elements=st.floats(1, 1e6)))
    pooled = pool_adjacent_violators(values, weights)
    assert (np.diff(pooled) >= 0).all()
    # Both take weighted means of the same blocks, each rounded n times at most.
    expected = isotonic_regression(values, sample_weight=weights)
    assert np.abs(pooled - expected).max() <= 64 * n * np.spacing(30.0)
    assert pool_adjacent_violators(pooled, weights).tobytes() == pooled.tobytes()


def test_special_bins_and_free_curves_stay_as_they_are():
    table = np.array([3.0, 1.0, 2.0, -7.0, 9.0])
    counts = np.array([10.0, -4.0, 1.0, 5.0, 0.0])
    up, free = projections(["increasing", None], [counts, counts], [2, 2])
    assert free is None
    assert up(table)[3:].tolist() == [-7.0, 9.0]
    # Less than one person weighs as one: (10 * 3 + 1 * 1 + 1 * 2) / 12.
    assert up(table)[:3] == pytest.approx([33 / 12] * 3)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            {"Age": 1},
            "no feature 'Age' in the schema; its features are .*'age'.*Did you mean 'age'",
        ),
        ({"ward": 1}, "unordered"),
        ({"age": "up"}, "'increasing', 'decreasing'"),
        ({"age": 2}, "'increasing', 'decreasing'"),
        ({"age": True}, "'increasing', 'decreasing'"),
        ([1, 0, 0, 0], "expected a mapping"),
    ],
)
@by_name
def test_a_constraint_that_cannot_be_kept_is_refused_before_data_are_read(
    estimator, constraints, message
):
    constrained = type(estimator)(schema=estimator.schema, monotone_constraints=constraints)
    with pytest.raises(ValueError, match=message):
        constrained.fit(*make_data(estimator, n=5))


def test_a_private_constraint_needs_the_order_of_the_schema():
    model = DPExplainableBoostingClassifier(monotone_constraints={"age": 1})
    with pytest.raises(ValueError, match="requires schema="):
        model.fit(*make_data(ALL[0], n=5))


def test_a_curve_that_is_not_what_it_is_said_to_be_is_refused():
    model = ExplainableBoostingClassifier(schema=CLASSES, max_rounds=5)
    text = to_json(model.fit(*make_data(model)).explain_global())
    with pytest.raises(ValueError, match="is declared increasing but its contributions are not"):
        from_json(text.replace('"monotone": null', '"monotone": "increasing"', 1))
