"""Tables of polars and Arrow are read cell by cell like those of pandas."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPLogisticRegression,
    ExplainableBoostingClassifier,
    Numeric,
    PrivacyLedger,
    Schema,
)
from dpexplain.mechanisms import secret_coins
from dpexplain.models.inputs import as_column
from dpexplain.models.persons import bounded_rows
from dpexplain.tables.encoding import encode_features
from fitted_models import table

pytestmark = pytest.mark.full

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

SCHEMA = Schema(
    {
        "age": Numeric(17, 90),
        "job": Categorical(["a", "b", "c"]),
        "grade": Categorical(["low", "mid", "high"]),
    },
    target=Classes(["no", "yes"]),
)


def rows():
    X, score = table(n=200)
    return X, np.where(score > 3, "yes", "no")


def polars_frame(X):
    return pl.DataFrame({name: X[name].tolist() for name in X.columns}, strict=False)


def arrow_table(X):
    return pa.table({name: pa.array(X[name], from_pandas=True) for name in X.columns})


@pytest.mark.parametrize("made", [polars_frame, arrow_table])
def test_every_cell_has_the_code_that_it_has_in_pandas(made):
    X, _ = rows()
    for ours, theirs in zip(
        encode_features(X, SCHEMA), encode_features(made(X), SCHEMA), strict=True
    ):
        np.testing.assert_array_equal(theirs, ours)


def test_columns_are_matched_by_name():
    X, _ = rows()
    swapped = polars_frame(X).select("grade", "age", "job")
    for ours, theirs in zip(
        encode_features(X, SCHEMA), encode_features(swapped, SCHEMA), strict=True
    ):
        np.testing.assert_array_equal(theirs, ours)


@pytest.mark.parametrize("target", ["series", "frame", "list"])
def test_models_fit_and_predict_on_polars(target):
    X, y = rows()
    frame = polars_frame(X)
    given = {"series": pl.Series("y", y.tolist()), "list": y.tolist()}.get(
        target, pl.DataFrame({"y": y.tolist()})
    )
    ours = ExplainableBoostingClassifier(schema=SCHEMA, random_state=0).fit(X, y)
    if target == "frame":
        with pytest.warns(UserWarning, match="column-vector"):
            theirs = ExplainableBoostingClassifier(schema=SCHEMA, random_state=0).fit(frame, given)
    else:
        theirs = ExplainableBoostingClassifier(schema=SCHEMA, random_state=0).fit(frame, given)
    np.testing.assert_array_equal(theirs.predict_proba(frame), ours.predict_proba(X))


def test_a_private_model_fits_on_polars_and_arrow():
    X, y = rows()
    for frame in (polars_frame(X), arrow_table(X)):
        model = DPExplainableBoostingClassifier(epsilon=4, schema=SCHEMA).fit(frame, pl.Series(y))
        assert model.guarantee_.private
        assert len(model.predict(frame)) == len(y)


def test_one_empty_cell_changes_no_other_cell():
    whole = [2**60 + 1, 2**60 + 3, 5]
    with_gap = pl.DataFrame({"n": pl.Series([*whole, None], dtype=pl.Int64)})
    without = pl.DataFrame({"n": pl.Series(whole, dtype=pl.Int64)})
    schema = Schema({"n": Numeric(0, 2**61)})
    np.testing.assert_array_equal(
        encode_features(with_gap, schema)[0][:3], encode_features(without, schema)[0]
    )


def arrow_column(kind):
    text = pa.array([b"u", b"\xff", b"v"]).view(pa.string())
    return {
        "text": text,
        "categories": text.dictionary_encode(),
        "lists": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), text),
        "parts": pa.StructArray.from_arrays([text, pa.array([1, 2, 3])], names=["a", "b"]),
        "durations": pa.array([0, -(2**63), 1]).view(pa.duration("ms")),
        "parts with durations": pa.StructArray.from_arrays(
            [pa.array([0, -(2**63), 1]).view(pa.duration("ms"))], names=["a"]
        ),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["text", "categories", "lists", "parts", "durations", "parts with durations"]
)
def test_a_cell_at_which_polars_panics_counts_as_no_text_and_changes_no_other(kind):
    column = pl.from_arrow(arrow_column(kind))
    schema = Schema({"x": Categorical(["u", "v"])})
    (codes,) = encode_features(pl.DataFrame({"x": column}), schema)
    usual = [0, 2, 1] if kind in ("text", "categories") else [2, 2, 2]
    assert list(codes) == usual
    (without,) = encode_features(pl.DataFrame({"x": column.gather([0, 2])}), schema)
    assert list(without) == [usual[0], usual[2]]


def test_persons_named_by_several_parts_in_polars_are_kept_apart():
    parts = [{"ward": "a", "n": 1}, {"ward": "a", "n": 2}, None, {"ward": "a", "n": 1}]
    kept = bounded_rows(as_column("groups", pl.Series(parts), range(4)), 1, secret_coins())
    assert len(kept) == 2


def test_dates_and_categories_are_matched_on_their_text():
    frame = pl.DataFrame(
        {
            "day": [dt.date(2020, 1, 2), None, dt.date(2021, 3, 4)],
            "kind": pl.Series(["u", "v", None], dtype=pl.Categorical),
        }
    )
    schema = Schema({"day": Categorical(["2020-01-02"]), "kind": Categorical(["u", "v"])})
    day, kind = encode_features(frame, schema)
    assert list(day) == [0, 2, 1]
    assert list(kind) == [0, 1, 3]


def test_a_query_needs_the_name_of_its_target():
    """A target in memory might be in another order than the query."""
    X, y = rows()
    ledger = PrivacyLedger("people", cap_epsilon=2)
    model = DPExplainableBoostingClassifier(epsilon=1, schema=SCHEMA, ledger=ledger)
    with pytest.raises(TypeError, match="pass the name of the target"):
        model.fit(polars_frame(X).lazy(), y)
    assert not ledger.entries


@pytest.mark.parametrize("execute", ["df", "pl", "to_arrow_table"])
def test_the_result_of_a_duckdb_query_gives_the_model_of_its_rows(execute):
    duckdb = pytest.importorskip("duckdb")
    X, y = rows()
    people = X.assign(income=y)
    query = duckdb.connect().from_df(people)
    settings = {"schema": SCHEMA, "reproducible_seed": 0}
    usual = DPLogisticRegression(epsilon=1, **settings).fit(X, y)
    model = DPLogisticRegression(epsilon=1, **settings)
    model.fit(getattr(query, execute)(), "income")
    np.testing.assert_array_equal(
        model.predict_proba(getattr(query, execute)()), usual.predict_proba(X)
    )


@pytest.mark.parametrize(("kind", "call"), [("relation", "to_arrow_table"), ("reader", "read_all")])
def test_a_duckdb_query_that_was_not_run_is_refused_where_a_table_is_needed(kind, call):
    duckdb = pytest.importorskip("duckdb")
    X, y = rows()
    query = duckdb.connect().from_df(X)
    given = query if kind == "relation" else query.to_arrow_reader()
    reference = DPLogisticRegression(epsilon=1, schema=SCHEMA).reference_estimator()
    with pytest.raises(TypeError, match=rf"has not been executed; pass X\.{call}\(\)"):
        reference.fit(given, y)


def test_errors_about_columns_are_those_of_pandas():
    X, _ = rows()
    with pytest.raises(ValueError, match="lacks the column 'job'"):
        encode_features(polars_frame(X).drop("job"), SCHEMA)
    assert isinstance(X, pd.DataFrame)
