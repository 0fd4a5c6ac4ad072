"""Scores read labels and numbers as the schema does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    DPLinearRegression,
    LocallyLinearClassifier,
    Numeric,
    Range,
    Schema,
)

TARGET = Classes(["False", "True"], name="died", aliases={"no": "False", "yes": "True"})
SCHEMA = Schema({"age": Numeric(0, 100)}, target=TARGET)


@pytest.fixture(scope="module")
def table():
    age = np.linspace(0, 100, 300)
    return pd.DataFrame({"age": age, "died": np.where(age > 50, "yes", "no")})


@pytest.fixture(
    scope="module",
    params=[
        lambda: DPExplainableBoostingClassifier(8.0, schema=SCHEMA, max_rounds=20),
        lambda: LocallyLinearClassifier(schema=SCHEMA),
    ],
    ids=["boosting", "filters"],
)
def model(request, table):
    return request.param().fit(table[["age"]], table["died"])


def test_other_spellings_of_a_label_are_the_label(model, table):
    canonical = table["died"].map({"no": "False", "yes": "True"})
    expected = np.mean(model.predict(table) == canonical)
    assert expected > 0.5
    for labels in (canonical, table["died"], table["died"] == "yes", "died"):
        assert model.score(table, labels) == pytest.approx(expected)


def test_rows_without_a_usable_label_are_left_out(model, table):
    broken = table["died"].astype(object)
    broken[::3], broken[1::3] = np.nan, "moved away"
    rest = table.iloc[2::3]
    assert model.score(table, broken) == pytest.approx(model.score(rest, rest["died"]))
    assert np.isnan(model.score(table, np.full(300, "unknown")))


def test_weights_count_rows(model, table):
    right = model.predict(table) == table["died"].map({"no": "False", "yes": "True"})
    weights = np.where(right, 3.0, 1.0)
    expected = np.average(right, weights=weights)
    assert model.score(table, table["died"], weights) == pytest.approx(expected)


AMOUNTS = Schema(
    {"age": Numeric(0, 100)}, target=Range(0, 100, name="cost", decimal=",", missing=["-99"])
)


@pytest.fixture(scope="module")
def costs():
    age = np.linspace(0, 100, 300)
    return pd.DataFrame({"age": age, "cost": [f"{a:.1f}".replace(".", ",") for a in age]})


@pytest.fixture(scope="module", params=[DPExplainableBoostingRegressor, DPLinearRegression])
def regressor(request, costs):
    return request.param(8.0, schema=AMOUNTS).fit(costs, "cost")


def test_numbers_are_scored_as_the_schema_reads_them(regressor, costs):
    expected = r2_score(costs["age"].round(1), regressor.predict(costs))
    assert expected > 0.5
    for y in ("cost", costs["cost"], costs["cost"].to_frame().to_numpy()[:, 0]):
        assert regressor.score(costs, y) == pytest.approx(expected)


def test_rows_without_a_usable_number_are_left_out(regressor, costs):
    broken = costs["cost"].copy()
    broken[::3], broken[1::6] = "-99", "unknown"
    broken[4] = "inf"
    kept = ~(broken.isin(["-99", "unknown", "inf"]))
    rest, weights = costs[kept], np.linspace(1, 2, 300)
    assert regressor.score(costs, broken) == pytest.approx(regressor.score(rest, rest["cost"]))
    assert regressor.score(costs, broken, weights) == pytest.approx(
        regressor.score(rest, rest["cost"], weights[kept])
    )
    assert np.isnan(regressor.score(costs, np.full(300, "-99")))


@pytest.fixture(scope="module", params=["classes", "numbers"])
def fitted(request, table, costs):
    """Return a fitted model, its table and the name of the target."""
    if request.param == "classes":
        return DPExplainableBoostingClassifier(8.0, schema=SCHEMA).fit(table, "died"), table, "died"
    return DPLinearRegression(8.0, schema=AMOUNTS).fit(costs, "cost"), costs, "cost"


def test_targets_that_do_not_match_the_rows_are_refused(fitted):
    model, X, name = fitted
    with pytest.raises(ValueError, match="y must contain one value per row of X"):
        model.score(X, X[name].head(7))
    with pytest.raises(ValueError, match="sample_weight must contain one value per row of X"):
        model.score(X, X[name], np.ones(7))


def test_a_name_needs_a_table_in_memory(fitted, tmp_path):
    model, X, name = fitted
    path = tmp_path / "rows.parquet"
    X.to_parquet(path)
    with pytest.raises(TypeError, match=f"y='{name}' names a column, and X is read in chunks"):
        model.score(path, name)
    assert model.score(path, X[name]) == pytest.approx(model.score(X, name))
