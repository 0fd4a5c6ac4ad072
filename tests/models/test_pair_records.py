"""Cells of pairs: stored columns, compared with naive numpy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.boosting.records._kernels_sums import odds_factors
from dpexplain.models.boosting.records.binned import LOGISTIC, SQUARED, Crossing, Records
from dpexplain.models.boosting.records.chunked import ChunkedRecords
from dpexplain.models.boosting.records.threads import Team
from effort import examples

N_BINS = (7, 300, 2)


def make_records(n, seed, loss=LOGISTIC):
    rng = np.random.default_rng(seed)
    kinds = (np.uint8, np.uint16, np.uint8)
    bins = [rng.integers(0, b, n).astype(t) for b, t in zip(N_BINS, kinds, strict=True)]
    return Records(bins, N_BINS, rng.integers(0, 2, n).astype(np.float32), loss)


def make_crossing(seed, features=(0, 1), column=3):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 17, 2)
    groups = [rng.integers(0, g, N_BINS[k]) for k, g in zip(features, shape, strict=True)]
    return Crossing(column, features, tuple(g.astype(np.uint8) for g in groups), int(shape[1]))


def naive_cells(records, crossing):
    first, second = (
        group.astype(int)[records._bins[k]]
        for group, k in zip(crossing.groups, crossing.features, strict=True)
    )
    return first * crossing.n_second + second


def ways_to_hold(records, n_parts):
    """Hold the same records in one block, in chunks, and in threads."""
    ends = np.linspace(0, len(records), n_parts + 1).astype(int)
    rows = list(pairwise(ends))
    yield records.rows(0, len(records)), None
    yield ChunkedRecords([records.rows(*r) for r in rows]), None
    team = Team(n_parts)
    yield team.sharing(records.rows(0, len(records)), len(records)), team


@examples(25)
@given(n=st.integers(0, 300), seed=st.integers(0, 2**32 - 1), n_parts=st.integers(2, 4))
def test_cells_are_counted_and_summed_as_naive_numpy_does(n, seed, n_parts):
    records, crossing = make_records(n, seed), make_crossing(seed)
    cells, leaf = naive_cells(records, crossing), np.arange(256).astype(np.uint8)
    steps = np.zeros(256, dtype=np.int64)
    np.add.at(steps, cells, np.rint((records._target - 0.5) * 2**20).astype(np.int64))
    for held, team in ways_to_hold(records, n_parts):
        held.cross(crossing)
        counts, sums = held.cell_counts(3, 256), held.leaf_sums(3, leaf, 256, 1.0)
        assert counts.dtype == sums.dtype == np.int64
        np.testing.assert_array_equal(counts, np.bincount(cells, minlength=256))
        np.testing.assert_array_equal(sums, steps)
        if team is not None:
            team.close()


@examples(25)
@given(
    n=st.integers(1, 300), seed=st.integers(0, 2**32 - 1), loss=st.sampled_from([LOGISTIC, SQUARED])
)
def test_scores_of_cells_are_added_even_if_the_column_is_replaced_before_a_pass(n, seed, loss):
    """The update of a grid waits for a pass, and must not be applied to another grid."""
    rng = np.random.default_rng(seed)
    tables = rng.normal(0, 1, (3, 256))
    records = make_records(n, seed, loss)
    first, other = make_crossing(seed), make_crossing(seed + 1, (1, 2))
    odds = loss is LOGISTIC  # which an update multiplies
    expected = np.full(n, odds, dtype=np.float32)
    for crossing, table in zip((first, other, first), tables, strict=True):
        records.cross(crossing)
        cells = naive_cells(records, crossing)
        if odds:
            expected *= odds_factors(table)[cells]
        else:
            expected += table.astype(np.float32)[cells]
        records.apply(crossing.column, table)
    records.leaf_sums(0, np.zeros(N_BINS[0], np.uint8), 1, 1.0)
    np.testing.assert_array_equal(records._score, expected)


def test_joint_counts_of_features_ignore_cells():
    records = make_records(50, 1)
    groups, pairs = [np.arange(b) % 2 for b in N_BINS], [(0, 1), (1, 2)]
    before = records.joint_counts(groups, pairs)
    records.cross(make_crossing(2))
    np.testing.assert_array_equal(records.joint_counts(groups, pairs), before)


@pytest.mark.parametrize("shape", [(15, 15), (16, 16), (256, 1)])
def test_the_largest_grids_keep_their_cells_apart(shape):
    bins = [np.repeat(np.arange(shape[0]), shape[1]), np.tile(np.arange(shape[1]), shape[0])]
    groups = tuple(np.arange(g).astype(np.uint8) for g in shape)
    crossing = Crossing(2, (0, 1), groups, shape[1])
    np.testing.assert_array_equal(crossing.cells(*bins), np.arange(shape[0] * shape[1]))


def test_no_warning_depends_on_the_score_of_a_record():
    """Updates that meet only in one record exceed the range of its odds, without a message."""
    for bins in ([1, 1], [1, 0]):
        own = [np.array([b], dtype=np.uint8) for b in (*bins, 1)]
        records = Records(own, [2, 2, 2], np.ones(1, np.float32), LOGISTIC)
        for feature in range(3):
            records.apply(feature, np.array([0.0, 30.0]))
        assert records.score_counts(-1.0, 0.5, 4).sum() == 1


@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED])
def test_an_update_is_added_once_if_scores_are_counted_before_the_next_pass(loss):
    update, leaf = np.linspace(-1.0, 1.0, N_BINS[0]), np.zeros(N_BINS[2], dtype=np.uint8)
    found = []
    for counted in (False, True):
        records = make_records(50, 0, loss)
        records.apply(0, update)
        if counted:
            records.score_counts(-1.0, 0.5, 4)
        found.append(records.leaf_sums(2, leaf, 1, 1.0).tolist())
    assert found[0] == found[1]
