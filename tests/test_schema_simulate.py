"""Stand-in records follow from the schema, the effects and the seed alone."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpexplain.exceptions import SchemaError
from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(18, 90, step=1),
    "dose": Numeric(0.5, 2, missing=-99, decimal=","),
    "seen": Date("2020-01-01", "2020-12-31", format="%d.%m.%Y"),
    "ward": Categorical(["A", "B", "C"]),
}
SCHEMA = Schema(FEATURES, Classes([0, 1], name="died"), id="record", person="patient")
COST = Schema(FEATURES, Range(0, 1000, unit="€"))


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_simulated_records_fit_the_schema_and_cover_it() -> None:
    X, y = SCHEMA.simulate(4000, seed=1, rows_per_person=4)
    assert SCHEMA.check(X, y).fits
    assert list(X.columns) == [*FEATURES, "patient"]
    assert (y.name, sorted(set(y))) == ("died", [0, 1])
    assert (X["age"].min(), X["age"].max(), X["age"].nunique()) == (18, 90, 73)
    assert (X["seen"].min(), X["seen"].max()) == ("2020-01-01", "2020-12-31")
    assert set(X["ward"]) == {"A", "B", "C"}
    assert set(X["patient"].value_counts()) == {4}


def test_a_seed_repeats_the_records_and_none_does_not() -> None:
    first, second, other = (COST.simulate(50, seed=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(first[0], second[0])
    pd.testing.assert_series_equal(first[1], second[1])
    assert not first[1].equals(other[1])
    assert not COST.simulate(50)[1].equals(COST.simulate(50)[1])


def test_effects_are_those_of_the_target() -> None:
    X, y = COST.simulate(
        20_000,
        effects={
            "age": 200.0,
            "ward": {"C": 100.0},
            "dose": lambda dose: np.where(dose > 1, 50.0, 0.0),
        },
        seed=0,
    )
    slope = np.polyfit(X["age"], y, 1)[0] * 72
    assert slope == pytest.approx(200, abs=15)
    by_ward = y.groupby(X["ward"]).mean()
    assert by_ward["C"] - by_ward["A"] == pytest.approx(100, abs=10)
    assert by_ward["B"] - by_ward["A"] == pytest.approx(0, abs=10)
    assert y[X["dose"] > 1].mean() - y[X["dose"] <= 1].mean() == pytest.approx(50, abs=10)
    assert y.between(0, 1000).all()


def test_log_odds_of_classes_follow_the_effects() -> None:
    X, y = SCHEMA.simulate(40_000, effects={"ward": 4.0}, seed=0, positive_share=0.2)
    rate = y.astype(float).groupby(X["ward"]).mean()
    odds = np.log(rate / (1 - rate))
    assert odds["C"] - odds["A"] == pytest.approx(4, abs=0.25)
    assert rate["B"] == pytest.approx(0.2, abs=0.02)
    three = Schema(FEATURES, Classes(["low", "mid", "high"]))
    X, y = three.simulate(6000, effects={"age": 8.0}, seed=0)
    assert list(X["age"].groupby(y).mean().sort_values().index) == ["low", "mid", "high"]
    assert y.value_counts().min() > 600


def test_counts_have_the_expected_value_and_effects_multiply_it() -> None:
    visits = Schema(FEATURES, Range(0, 60, name="visits"))
    X, y = visits.simulate(40_000, expected_count=4, effects={"ward": {"C": np.log(2)}}, seed=0)
    assert (y % 1 == 0).all()
    by_ward = y.groupby(X["ward"])
    assert by_ward.mean()["A"] == pytest.approx(4, rel=0.03)
    assert by_ward.mean()["C"] == pytest.approx(8, rel=0.03)
    assert by_ward.var()["A"] == pytest.approx(4, rel=0.06)


def test_simulated_counts_stay_in_the_range_whatever_the_effects() -> None:
    few = Schema(FEATURES, Range(1, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = few.simulate(500, expected_count=3, effects={"age": 5000.0}, seed=0)
    assert (y.min(), y.max()) == (1, 5)
    assert set(y[X["age"] < 50]) == {1.0}
    assert set(y[X["age"] > 58]) == {5.0}


def test_missing_cells_are_as_many_as_asked_for() -> None:
    X, y = COST.simulate(5000, seed=0, missing=0.3)
    assert X.isna().mean().between(0.27, 0.33).all()
    assert not y.isna().any()


def test_simulated_records_plan_a_fit_for_persons() -> None:
    from dpexplain.models import DPLogisticRegression

    X, y = SCHEMA.simulate(400, effects={"age": 6.0}, seed=1, rows_per_person=2)
    model = DPLogisticRegression(
        epsilon=5.0, schema=SCHEMA, reproducible_seed=1, max_rows_per_person=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    score = model.predict_proba(X)[:, 1]
    assert score[X["age"] > 80].mean() > score[X["age"] < 28].mean()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"effects": {"agee": 1}}, SchemaError, "'agee' is not a feature of the schema; did you"),
        ({"effects": {"ward": {"D": 1.0}}}, SchemaError, "effects['ward']: 'D' is not a category"),
        ({"effects": {"age": {"A": 1.0}}}, SchemaError, "'A' is not a category"),
        ({"effects": {"age": lambda x: x[:1]}}, SchemaError, "one finite number per value"),
        ({"effects": {"age": np.nan}}, SchemaError, "one finite number per value"),
        ({"effects": {"age": "strong"}}, SchemaError, "effects['age']='strong' must be a number"),
        ({"effects": ["age"]}, TypeError, "expected a mapping"),
        ({"missing": 1.5}, ValueError, "missing=1.5"),
        ({"positive_share": 0}, ValueError, "positive_share=0"),
        ({"rows_per_person": 0}, ValueError, "rows_per_person=0"),
        ({"seed": -1}, ValueError, "seed=-1"),
    ],
)
def test_wrong_plans_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        SCHEMA.simulate(10, **options)


def test_a_plan_needs_a_target_and_the_share_two_classes() -> None:
    with pytest.raises(SchemaError, match="needs a schema with a target"):
        Schema(FEATURES).simulate(10)
    with pytest.raises(SchemaError, match="expected_count is for a count"):
        SCHEMA.simulate(10, expected_count=2)
    with pytest.raises(ValueError, match="expected_count=0 must be a number in"):
        COST.simulate(10, expected_count=0)
    with pytest.raises(SchemaError, match="for two classes"):
        Schema(FEATURES, Classes([1, 2, 3])).simulate(10, positive_share=0.1)
