"""The accuracy of a classifier is counted over labels in every spelling that its schema knows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    LocallyLinearClassifier,
    Numeric,
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
