"""Pair terms of chunked tables and of threads equal those of the table in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunked_tables import ListTable, assert_same_fit, cut, halves, make_estimator, make_table
from dpexplain.audit import record, replay
from effort import examples

pytestmark = pytest.mark.full

BOTH = pytest.mark.parametrize(
    "name", ["DPExplainableBoostingClassifier", "DPExplainableBoostingRegressor"]
)
PAIRS = st.sampled_from(["auto", 2, [("age", "income")], [("age", "job"), ("income", "job")]])


@BOTH
@examples(10)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1), pairs=PAIRS, data=st.data())
def test_parts_of_any_size_give_the_pairs_of_the_whole(name, n, seed, pairs, data):
    table = make_table(name, n, seed)
    places = data.draw(st.lists(st.integers(0, n), max_size=4))
    parts = ListTable(cut(table, places))
    assert_same_fit(make_estimator(name, pairs=pairs), table, parts, "visits")


@BOTH
@examples(10)
@given(n=st.integers(0, 60), n_jobs=st.sampled_from([2, 5]), seed=st.integers(0, 99), pairs=PAIRS)
def test_threads_give_the_pairs_of_one_thread(name, n, n_jobs, seed, pairs):
    data = halves(make_table(name, n, seed))
    model, transcript = record(make_estimator(name, n_jobs=1, pairs=pairs), *data)
    report = replay(make_estimator(name, n_jobs=n_jobs, pairs=pairs), data, model, transcript)
    assert report.differences == ("attribute n_jobs",)
    assert report.spent_mu == 0.0


@BOTH
def test_pairs_are_chosen_in_a_large_table_in_parts(name):
    table = make_table(name, 6000, 1)
    high = (table["age"] > 50) ^ (table["income"] > 2e4)
    yes, no = (2.5, 0.5) if name.endswith("Regressor") else ("yes", "no")
    table["visits"] = [yes if h else no for h in high]
    parts = ListTable(cut(table, [1000, 1001, 4000]))
    model, _ = assert_same_fit(make_estimator(name, pairs="auto"), table, parts, "visits")
    assert "age & income" in model.term_names_


@BOTH
def test_joined_blocks_have_the_same_sums_in_parts_and_threads(name):
    """Fit grids with more cells than blocks, which small tables do not have."""
    table = make_table(name, 6000, 1)
    parts = ListTable(cut(table, [1000, 1001, 4000]))
    pairs = [("age", "income"), ("income", "job")]
    estimator = make_estimator(name, pairs=pairs, n_jobs=1)
    model, transcript = assert_same_fit(estimator, table, parts, "visits")
    labeled = zip(transcript.phases, transcript.answers, strict=True)
    sizes = [len(answer) for phase, answer in labeled if phase.label == "boosting"]
    of_cells, of_blocks = sizes[-4:-2], sizes[-2:]
    assert np.all(np.array(of_blocks) < of_cells)
    report = replay(make_estimator(name, pairs=pairs, n_jobs=3), halves(table), model, transcript)
    assert report.differences == ("attribute n_jobs",)
