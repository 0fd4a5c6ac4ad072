"""A row without a usable target is left out: the fit equals that without the row."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunked_tables import NAMES, ListTable, assert_same_fit, cut, make_estimator, make_table
from dpexplain import Classes, Numeric, Range, Schema
from dpexplain.audit import record, replay
from dpexplain.models import (
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    LocallyLinearClassifier,
)
from dpexplain.models.inputs import rows_with_target
from dpexplain.models.noiseless import NoiselessModel
from effort import examples
from private_models import every_model, known, make, records_for, schema_for

pytestmark = pytest.mark.full

NO_TARGET = [None, np.nan, "", "  ", "nan", "NA", "twelve", b"yes", [1], {}, 1j, pd.NaT, pd.NA]


def quick(name, **settings):
    return make(name, **known(name, structure_seed=7, max_rounds=3, **settings))


def with_more(X, y, places, cells):
    """Insert copies of the first row, with other targets, before the given rows."""
    rows, answers = list(range(len(X))), list(y)
    for place, cell in zip(places, cells, strict=True):
        rows.insert(place, 0)
        answers.insert(place, cell)
    filled = np.empty(len(answers), dtype=object)
    for place, answer in enumerate(answers):
        filled[place] = answer
    return X.iloc[rows].reset_index(drop=True), filled


@every_model
def test_rows_without_a_target_leave_every_sum_as_it_was(name):
    X, y = records_for(name, 60)
    model, transcript = record(quick(name), X, y)
    places = np.random.default_rng(0).integers(0, 60, len(NO_TARGET))
    report = replay(quick(name), with_more(X, y, places, NO_TARGET), model, transcript)
    assert report.differences == ()
    assert report.spent_mu == 0.0
    assert report.spent_epsilon == 0.0


@every_model
def test_a_table_without_any_target_is_an_empty_one(name):
    X, y = records_for(name, 8)
    model, transcript = record(quick(name), X.iloc[:0], y.iloc[:0])
    report = replay(quick(name), (X, [None] * 8), model, transcript)
    assert report.differences == ()
    assert report.spent_mu == 0.0
    assert report.spent_epsilon == 0.0


@every_model
def test_a_row_without_a_target_takes_no_place_of_its_person(name):
    """Of two rows with and two without a target, the former are always used."""
    X, y = records_for(name, 30)
    people = np.repeat(np.arange(15), 2)
    estimator = quick(name, max_rows_per_person=2)
    model, transcript = record(estimator, X, y, people)
    more = pd.concat([X, X], ignore_index=True), [*y, *([None] * 30)], np.r_[people, people]
    report = replay(estimator, more, model, transcript)
    assert report.differences == ()
    assert report.spent_mu == 0.0
    assert report.spent_epsilon == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_parts_leave_out_the_rows_that_a_table_leaves_out(name, tmp_path):
    table = make_table(name, 200).astype({"visits": object})
    places = np.random.default_rng(1).choice(200, 40, replace=False)
    table.loc[places, "visits"] = np.resize(["", "never", None], 40)
    complete = table[
        [isinstance(v, float) or v in ("no", "yes", "perhaps") for v in table["visits"]]
    ]
    assert len(complete) == 160
    estimator = make_estimator(name)
    texts = table.assign(visits=[None if v is None else str(v) for v in table["visits"]])
    pq.write_table(pa.Table.from_pandas(texts), tmp_path / "t.parquet", row_group_size=50)
    for X, y in (
        (ListTable(cut(table, [0, 7, 7, 90])), None),
        (tmp_path / "t.parquet", "visits"),
        (dd.from_pandas(texts, npartitions=3), "visits"),
    ):
        assert_same_fit(estimator, complete, X, y)


WITHOUT_NOISE = {
    "boosting, classes": ExplainableBoostingClassifier(schema=schema_for("DPBoostClassifier")),
    "boosting, numbers": ExplainableBoostingRegressor(schema=schema_for("DPBoostRegressor")),
    "filters": LocallyLinearClassifier(schema=schema_for("DPBoostClassifier"), max_epochs=2),
    "twin, classes": NoiselessModel(make("DPLogisticRegression", structure_seed=0)),
    "twin, numbers": NoiselessModel(make("DPBoostRegressor", structure_seed=0)),
}


@pytest.mark.parametrize("kind", WITHOUT_NOISE)
def test_models_without_noise_follow_the_same_rule(kind):
    estimator = WITHOUT_NOISE[kind]
    X, y = records_for("DPBoostRegressor" if "numbers" in kind else "DPBoostClassifier", 60)
    clean = estimator.fit(X, y).predict(X)
    more = with_more(X, y, [0, 30, 60], ["perhaps", "twelve", ""])
    np.testing.assert_array_equal(estimator.fit(*more).predict(X), clean)
    assert "NOT PRIVATE, nothing is promised" in estimator.statement().text()


@pytest.mark.parametrize("kind", [kind for kind in WITHOUT_NOISE if "twin" not in kind])
def test_models_without_noise_need_a_target(kind):
    X, _ = records_for("DPBoostClassifier", 9)
    with pytest.raises(ValueError, match="no value of y is"):
        WITHOUT_NOISE[kind].fit(X, ["perhaps"] * 9)


@examples(100)
@given(
    cells=st.lists(
        st.sampled_from(NO_TARGET)
        | st.sampled_from(
            ["no", " yes", 0, 1, 1.0, True, "1", "0.0", 7, -3.5, "2e0", np.inf, "-inf"]
        ),
        max_size=12,
    ),
    target=st.sampled_from([Classes(["no", "yes"]), Classes([0, 1]), Range(0, 2)]),
)
def test_whether_a_row_stays_and_what_its_target_is_depends_on_it_alone(cells, target):
    schema = Schema({"row": Numeric(0, 20)}, target=target)
    _, y = with_more(pd.DataFrame({"row": [0]}), [], range(len(cells)), cells)
    X = pd.DataFrame({"row": np.arange(len(cells))})
    kept, found, people = rows_with_target(X, y, schema, X["row"].to_numpy())
    assert list(kept["row"]) == list(people)
    alone = {}
    for place in range(len(cells)):
        rows, one, _ = rows_with_target(X.iloc[[place]], y[[place]], schema)
        if len(rows):
            alone[place] = one[0]
    assert dict(zip(kept["row"], found, strict=True)) == alone


def test_infinite_targets_are_those_at_the_ends_of_the_range():
    schema = Schema({"row": Numeric(0, 20)}, target=Range(0, 2))
    cells = np.array(["inf", -np.inf, "1e999", np.nan, "nan", 5], dtype=object)
    _, found, _ = rows_with_target(pd.DataFrame({"row": range(6)}), cells, schema)
    assert list(found) == [2.0, 0.0, 2.0, 2.0]
