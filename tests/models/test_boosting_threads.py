"""Threads that share the records of a fit give the same model and all end."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed

from chunked_tables import NAMES, ListTable, cut, halves, make_estimator, make_table
from dpexplain.audit import record, replay
from dpexplain.audit.replay import same_value
from dpexplain.models.boosting.records import threads
from dpexplain.models.boosting.records._kernels_sums import _BLOCK, _STRETCH
from dpexplain.models.boosting.records.binned import LOGISTIC, Records
from effort import examples

pytestmark = pytest.mark.full

CLASSIFIER = "DPExplainableBoostingClassifier"


def names_of_threads():
    return [t.name for t in threading.enumerate() if t.name.startswith("dpexplain")]


def assert_same_as_alone(name, table, X, y, n_jobs, **chosen):
    """Check that equal noisy answers give the queries and model of one thread."""
    model, transcript = record(make_estimator(name, n_jobs=1, **chosen), *halves(table))
    report = replay(make_estimator(name, n_jobs=n_jobs, **chosen), (X, y), model, transcript)
    assert report.differences == ("attribute n_jobs",)  # the parameter, as it was given
    assert report.spent_mu == 0.0
    assert names_of_threads() == []


# --- the same model ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@examples(10)
@given(
    n=st.integers(0, 60), n_jobs=st.sampled_from([2, 3, 7]), seed=st.integers(0, 99), data=st.data()
)
def test_any_number_of_threads_gives_the_model_of_one(name, n, n_jobs, seed, data):
    table = make_table(name, n, seed)
    order = data.draw(st.permutations(range(n)))
    preset = data.draw(st.sampled_from(["default", "paper"]))
    X, y = halves(table.iloc[order])
    assert_same_as_alone(name, table, X, y, n_jobs, preset=preset)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_jobs", [2, 3, 7])
@pytest.mark.parametrize("n", [2 * _BLOCK - 1, 2 * _BLOCK, 7 * _BLOCK + 1, 2 * _STRETCH + 9])
def test_shares_longer_than_a_block_of_the_kernel_give_the_model_of_one_thread(name, n, n_jobs):
    table = make_table(name, n)
    assert_same_as_alone(name, table, *halves(table), n_jobs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_jobs", [2, 7])
@pytest.mark.parametrize("places", [[], [0, 0, 3], [1, 250, 499, 500]])
def test_shares_of_parts_give_the_model_of_the_whole(name, n_jobs, places, monkeypatch):
    monkeypatch.setattr("dpexplain.models.boosting.records.chunked.CHUNK_ROWS", 1)
    table = make_table(name, 500)
    assert_same_as_alone(name, table, ListTable(cut(table, places)), None, n_jobs)


@pytest.mark.parametrize("name", NAMES)
def test_bags_in_threads_are_those_of_one_thread(name):
    """Coins come from a seed, which only a non-private model may have."""
    X, y = halves(make_table(name, 500))
    fits = [
        make_estimator(name, outer_bags=3, reproducible_seed=5, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3, 7)
    ]
    for fit in fits[1:]:
        assert same_value(fit._terms, fits[0]._terms)
    pickled = {pickle.dumps(fit.explain_global().frame()) for fit in fits}
    assert len(pickled) == 1


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    n_shares=st.integers(1, 8),
)
def test_shares_hold_every_record_once_in_its_order(sizes, n_shares):
    target = np.arange(sum(sizes), dtype=np.float32)
    bins = (target % 7).astype(np.uint8)
    ends = np.cumsum(sizes)[:-1]
    parts = [
        Records([b], [7], t, LOGISTIC)
        for b, t in zip(np.split(bins, ends), np.split(target, ends), strict=True)
    ]
    shares = threads._shares(parts, n_shares)
    pieces = [piece for share in shares for piece in share.local()]
    np.testing.assert_array_equal(np.concatenate([p._target for p in pieces]), target)
    np.testing.assert_array_equal(np.concatenate([p._bins[0] for p in pieces]), bins)
    lengths = [sum(map(len, share.local())) for share in shares]
    assert len(lengths) == n_shares
    assert max(lengths) - min(lengths) <= 1


def test_a_share_that_counts_twice_is_seen(monkeypatch):
    honest = threads._shares

    def overlapping(parts, n_shares):
        return [*honest(parts, n_shares)[:-1], *honest(parts, 1)]

    monkeypatch.setattr(threads, "_shares", overlapping)
    table = make_table(CLASSIFIER, 200)
    with pytest.raises(AssertionError):
        assert_same_as_alone(CLASSIFIER, table, *halves(table), 2)


# --- how many ---------------------------------------------------------------------------------


@pytest.fixture
def cores(monkeypatch):
    """Pretend to have sixteen processors."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 16)


@pytest.mark.parametrize(
    ("n_records", "expected"),
    [
        (0, 1),
        (2 * threads.LEAST_SHARE - 1, 1),
        (2 * threads.LEAST_SHARE, 2),
        (100 * threads.LEAST_SHARE, 16),
    ],
)
def test_threads_are_used_where_each_has_enough_records(cores, n_records, expected):
    assert threads.n_threads(None, n_records) == expected


def test_a_stated_number_of_threads_is_used_and_minus_one_is_all_processors(cores):
    assert [threads.n_threads(k, 0) for k in (1, 2, 7, -1)] == [1, 2, 7, 16]


def test_one_thread_is_used_where_fits_run_side_by_side(cores):
    many = 100 * threads.LEAST_SHARE
    side_by_side = Parallel(n_jobs=2, require="sharedmem")
    assert side_by_side(delayed(threads.n_threads)(None, many) for _ in range(2)) == [1, 1]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threads.n_threads, None, many).result() == 1
        assert pool.submit(threads.n_threads, 3, many).result() == 3


def test_a_process_of_a_pool_uses_one_thread(cores, monkeypatch):
    monkeypatch.setattr(threads.multiprocessing, "parent_process", lambda: object())
    assert threads.n_threads(None, 100 * threads.LEAST_SHARE) == 1


def test_the_passes_run_in_as_many_threads_as_there_are_shares(monkeypatch):
    seen = set()
    honest = Records.leaf_sums

    def watched(self, *arguments):
        seen.add(threading.get_ident())
        barrier.wait()  # no thread can do the work of another
        return honest(self, *arguments)

    barrier = threading.Barrier(3, timeout=60)
    monkeypatch.setattr(Records, "leaf_sums", watched)
    X, y = halves(make_table(CLASSIFIER, 100))
    make_estimator(CLASSIFIER, n_jobs=3, max_rounds=1).fit(X, y)
    assert len(seen) == 3
    assert threading.get_ident() in seen


def test_what_was_decided_shows_in_nothing_that_is_kept(monkeypatch):
    X, y = halves(make_table(CLASSIFIER, 400))
    fits = []
    for least in (10, 10**9):
        monkeypatch.setattr(threads, "LEAST_SHARE", least)
        monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
        fits.append(make_estimator(CLASSIFIER, reproducible_seed=1).fit(X, y))
    several, one = ({k: v for k, v in vars(fit).items() if k != "ledger_"} for fit in fits)
    assert same_value(several, one)


# --- none left over ---------------------------------------------------------------------------


class StopError(BaseException):
    """Acts like an interrupt, which a fit does not replace by its own error."""


@pytest.mark.parametrize("error", [ValueError, StopError])
@pytest.mark.parametrize("n_jobs", [2, 7])
def test_no_thread_is_left_after_a_failure_in_any_of_them(error, n_jobs, monkeypatch):
    X, y = halves(make_table(CLASSIFIER, 100))
    for broken_is_main in (True, False):

        def broken(self, *arguments, main=broken_is_main):
            if (threading.current_thread() is threading.main_thread()) is main:
                raise error("row 17 holds 4711")
            return np.zeros(3, dtype=np.int64)

        monkeypatch.setattr(Records, "leaf_sums", broken)
        with pytest.raises((RuntimeError, StopError)) as caught:
            make_estimator(CLASSIFIER, n_jobs=n_jobs).fit(X, y)
        if error is ValueError:
            assert "4711" not in str(caught.value)
            assert caught.value.__context__ is None
        assert names_of_threads() == []
