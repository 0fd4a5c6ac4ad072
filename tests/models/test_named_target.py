"""The target given by the name of its column, and columns that no schema names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPLogisticRegression,
    ExplainableBoostingClassifier,
    LocallyLinearClassifier,
    Numeric,
    PrivacyLedger,
    Schema,
    sweep,
)

pytestmark = pytest.mark.full


SCHEMA = Schema(
    {"age": Numeric(17, 90), "job": Categorical(["a", "b"])},
    target=Classes(["no", "yes"], name="income"),
)
SEEDED = {"schema": SCHEMA, "structure_seed": 0, "reproducible_seed": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(17, 91, 300)
    return pd.DataFrame(
        {
            "id": np.arange(300),
            "age": age,
            "income": np.where(age > 50, "yes", "no"),
            "job": rng.choice(["a", "b"], 300),
        }
    )


def converted(table, kind):
    if kind == "pandas":
        return table
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(table.to_dict("list"))
    return pytest.importorskip("pyarrow").Table.from_pandas(table)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("model", [DPExplainableBoostingClassifier, DPLogisticRegression])
def test_a_named_target_gives_the_model_of_the_column(table, kind, model):
    usual = model(**SEEDED).fit(table[["age", "job"]], table["income"])
    named = model(**SEEDED).fit(converted(table, kind), "income")
    np.testing.assert_array_equal(named.predict_proba(table), usual.predict_proba(table))


@pytest.mark.parametrize("model", [ExplainableBoostingClassifier, LocallyLinearClassifier])
def test_reference_models_take_a_named_target(table, model):
    usual = model(schema=SCHEMA).fit(table[["age", "job"]], table["income"])
    named = model(schema=SCHEMA).fit(table, "income")
    np.testing.assert_array_equal(named.predict_proba(table), usual.predict_proba(table))


def test_a_named_target_is_no_feature_of_a_drafted_schema(table):
    model = DPExplainableBoostingClassifier(structure_seed=0)
    with pytest.warns(UserWarning, match="read from the data"):
        model.fit(table[["age", "income"]], "income")
    assert list(model.feature_names_in_) == ["age"]


def test_a_sweep_takes_a_named_target_for_records_and_held_out_ones(table):
    estimator = DPExplainableBoostingClassifier(**SEEDED)
    comparison = sweep(
        estimator, table, "income", (1.0,), evaluate=(table, "income"), progress=False
    )
    usual = sweep(
        estimator,
        table[["age", "job"]],
        table["income"],
        (1.0,),
        evaluate=(table[["age", "job"]], table["income"]),
        progress=False,
    )
    pd.testing.assert_frame_equal(comparison.frame(), usual.frame())
    pd.testing.assert_frame_equal(comparison.metrics, usual.metrics)


@pytest.mark.parametrize(
    ("columns", "y", "error", "message"),
    [
        (["age", "job", "income"], "incme", ValueError, "of one column.* Did you mean 'income'"),
        (["age", "job", "income", "income"], "income", ValueError, "not the name of one column"),
        (["age", "job", "income"], "age", ValueError, "is a feature of the schema"),
        (None, "income", TypeError, "an array without column names"),
    ],
)
def test_a_wrong_name_is_refused_before_the_charge(table, columns, y, error, message):
    ledger = PrivacyLedger("named")
    X = table[["age", "job"]].to_numpy() if columns is None else table[columns]
    model = DPExplainableBoostingClassifier(schema=SCHEMA, ledger=ledger)
    with pytest.raises(error, match=message):
        model.fit(X, y)
    with pytest.raises(error, match=message):
        model.planned_events(X, y)
    assert ledger.entries == ()


def test_columns_that_the_schema_does_not_name_change_nothing(table):
    usual = DPExplainableBoostingClassifier(**SEEDED).fit(table[["age", "job"]], table["income"])
    more = DPExplainableBoostingClassifier(**SEEDED).fit(table, table["income"])
    np.testing.assert_array_equal(more.predict_proba(table), usual.predict_proba(table))
