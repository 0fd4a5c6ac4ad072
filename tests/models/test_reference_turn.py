"""The compiled loop of the non-private reference, compared with its visits one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.boosting.loop import boost
from dpexplain.models.boosting.nonprivate.curve_step import CurveStep
from dpexplain.models.boosting.records.binned import LOGISTIC, POISSON, SQUARED, Records
from dpexplain.models.boosting.structure import Visit
from effort import examples

N_BINS, N_SPECIAL, ORDERED = [40, 7, 300, 2], [1, 0, 2, 2], [True, False, True, False]


def drawn_records(seed, loss, n=500):
    rng = np.random.default_rng(seed)
    bins = [rng.integers(0, b, n).astype(np.uint16 if b > 256 else np.uint8) for b in N_BINS]
    y = rng.integers(0, 2, n) if loss is LOGISTIC else rng.uniform(-1, 1, n)
    return Records(bins, N_BINS, y.astype(np.float32), loss)


def step(seed, *, splits):
    rng = np.random.default_rng(seed) if splits == "random" else None
    how = {"max_leaves": 3, "min_curvature": 2.0, "learning_rate": 0.5}
    return CurveStep(ORDERED, N_SPECIAL, rng=rng, **how)


@pytest.mark.parametrize("splits", ["random", "greedy"])
@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED], ids=["logistic", "squared"])
@examples(20)
@given(seed=st.integers(0, 2**32 - 1), bound=st.sampled_from([0.3, 50.0]))
def test_the_compiled_loop_equals_visits_one_by_one(loss, splits, seed, bound):
    turn = [Visit(k, np.zeros(0, np.uint8), np.zeros(0)) for k in range(len(N_BINS))]
    records, alone = drawn_records(seed, loss), drawn_records(seed, loss)
    tables, expected = ([np.zeros(b) for b in N_BINS] for _ in range(2))
    together, apart = step(seed, splits=splits), step(seed, splits=splits)
    for _ in range(3):
        tables = together.in_turn(records, tables, bound)
        expected = boost(alone, turn, apart, N_BINS, bound=bound, start=expected)
    assert [t.tolist() for t in tables] == [t.tolist() for t in expected]
    # The update of the last visit is pending in both.
    assert records.bin_sums(0).tolist() == alone.bin_sums(0).tolist()
    assert any(t.any() for t in tables)


def test_records_that_the_loop_does_not_allow_are_visited_one_by_one():
    records = Records([np.zeros(5, np.uint8)], [2], np.zeros(5, np.float32), POISSON)
    assert step(0, splits="greedy").in_turn(records, [np.zeros(2)], 1.0) is None
