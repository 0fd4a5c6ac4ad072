"""Fits on a cluster of worker processes, some of which die."""

from __future__ import annotations

import os
import pickle
import signal
import time
from types import SimpleNamespace

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest

from chunked_tables import NAMES, assert_same_fit, halves, make_estimator, make_table
from dpexplain import PrivacyLedger
from dpexplain.audit import record
from dpexplain.models.boosting.records import dask as cluster

pytestmark = pytest.mark.full

distributed = pytest.importorskip("distributed")
CLASSIFIER = "DPExplainableBoostingClassifier"


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """Make a client of four worker processes; tests kill three, so one is left.

    No test waits for a restarted worker: Dask gives up on one that dies while starting.
    """
    with (
        distributed.LocalCluster(
            n_workers=4,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def partitioned(table, n_partitions=5):
    """Make partitions that a worker can recompute from the graph."""
    return dd.from_pandas(table, npartitions=n_partitions)


@pytest.mark.parametrize("name", NAMES)
def test_a_cluster_gives_the_model_of_the_table_in_memory(name, workers):
    table = make_table(name, 700)
    estimator = make_estimator(name)
    frame = partitioned(table)
    assert_same_fit(estimator, table, frame, "visits")
    assert_same_fit(estimator, table, frame.drop(columns="visits"), frame["visits"])


def test_cells_that_are_split_are_those_of_the_table_in_memory(workers):
    table = make_table(CLASSIFIER, 900)
    table["income"] /= 1e3  # of a range that ends at a million
    estimator = make_estimator(CLASSIFIER, epsilon=8.0)
    model, _ = assert_same_fit(estimator, table, partitioned(table), "visits")
    binned = model._fit.binned
    assert len(binned.cell_spread[1]) > 20 + binned.first_cells[1].n_bins


def test_a_cluster_reads_arrays_and_partitions_of_no_or_one_row(workers):
    table = make_table(CLASSIFIER, 301)
    table["job"] = 0
    X, y = halves(table)
    cells = da.from_array(X.to_numpy(dtype=float), chunks=((300, 1), 3))
    labels = da.from_array(y.to_numpy(dtype=object), chunks=((300, 1),))
    assert_same_fit(make_estimator(CLASSIFIER), table, cells, labels)
    frame = partitioned(table)
    nobody = frame[frame["income"] < 0]
    assert_same_fit(make_estimator(CLASSIFIER), table.iloc[:0], nobody, "visits")


def test_workers_forget_their_records_when_the_fit_is_over(workers):
    make_estimator(CLASSIFIER).fit(partitioned(make_table(CLASSIFIER, 300)), "visits")
    for _ in range(200):  # the scheduler tells the workers in its own time
        held = workers.run(lambda dask_worker: [*dask_worker.data, *dask_worker.state.actors])
        if not any("dpexplain" in str(key) for keys in held.values() for key in keys):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the workers still hold records")


# Workers that die. Which one does not matter: each holds some of the partitions.


def kill_a_worker(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def before_call(monkeypatch, owner, method, place, do):
    """Run an action right before the n-th call."""
    honest, n_calls = getattr(owner, method), 0

    def call(self, *arguments):
        nonlocal n_calls
        n_calls += 1
        if n_calls == place:
            do(self)
        return honest(self, *arguments)

    monkeypatch.setattr(owner, method, call)
    return lambda: n_calls


@pytest.mark.parametrize(("method", "place"), [("start", 1), ("ask", 7)])
def test_a_killed_worker_is_made_up_for_without_another_charge(method, place, workers, monkeypatch):
    table = make_table(CLASSIFIER, 700)
    n_calls = before_call(
        monkeypatch, cluster.Shards, method, place, lambda _: kill_a_worker(workers)
    )
    _, transcript = record(make_estimator(CLASSIFIER), *halves(table))
    model, second = record(
        make_estimator(CLASSIFIER), partitioned(table, 16), "visits", answers=transcript.answers
    )
    assert n_calls() >= place
    for expected, found in zip(transcript.queries, second.queries, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [entry.private for entry in model.ledger_.entries] == [True, False]  # the fit, the audit


def die_at_the_ninth_answer():
    honest, n_answers = cluster.Shard._answer, [0]

    def answer(self, *arguments):
        n_answers[0] += 1
        if n_answers[0] == 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(self, *arguments)

    cluster.Shard._answer = answer


def test_a_worker_that_dies_while_it_answers_is_made_up_for(workers):
    table = make_table(CLASSIFIER, 700)
    first = next(iter(workers.scheduler_info()["workers"]))
    workers.run(die_at_the_ninth_answer, workers=[first])
    assert_same_fit(make_estimator(CLASSIFIER), table, partitioned(table, 16), "visits")
    assert first not in workers.scheduler_info()["workers"]


def test_a_message_that_comes_twice_is_applied_once():
    records = cluster.EncodedRecords(
        [np.array([0, 1, 1], np.uint8)], np.array([0, 1, 1], np.float32)
    )
    shard = cluster.Shard([cluster.Encoded(records)], cluster_loss(), salt=3)
    shard.bin([np.arange(2, dtype=np.uint8)], [2])
    query = ("leaf_sums", (0, np.zeros(2, np.uint8), 1, 1.0))
    update = [(0, np.array([0.25, -0.25]))]
    once = shard.ask(*query, 0, update)
    assert once[0] == ""
    assert shard.ask(*query, 0, update)[1] == once[1]
    assert shard.ask(*query, 2, update)[0] == "ChunkError"


def cluster_loss():
    from dpexplain.models.boosting.records.binned import SQUARED

    return SQUARED


@pytest.mark.parametrize("status", ["pending", "lost", "error", "cancelled"])
def test_a_shard_that_would_have_to_be_made_anew_counts_as_lost(status):
    """A recomputed shard would lack the updates so far; waiting for it might never end."""
    future = SimpleNamespace(status=status)
    silent = SimpleNamespace(result=lambda timeout: (_ for _ in ()).throw(TimeoutError))
    with pytest.raises(cluster._LostError):
        cluster._value(silent, cluster._Member((0,), future, actor=None))


def losing(monkeypatch, method, place):
    """Lose one shard right before a call, as if its worker had died."""
    lost, value = [], cluster._value

    def answer(answered, member):
        if member in lost:
            raise cluster._LostError
        return value(answered, member)

    monkeypatch.setattr(cluster, "_value", answer)
    before_call(
        monkeypatch, cluster.Shards, method, place, lambda shards: lost.append(shards._members[0])
    )
    return lost


@pytest.mark.parametrize(("method", "place"), [("counts", 1), ("bin", 1), ("ask", 1), ("ask", 5)])
def test_a_lost_shard_is_made_up_for(method, place, workers, monkeypatch):
    table = make_table(CLASSIFIER, 700)
    lost = losing(monkeypatch, method, place)
    assert_same_fit(make_estimator(CLASSIFIER), table, partitioned(table), "visits")
    assert len(lost) == 1


@pytest.mark.parametrize("place", [10, 11, 13])  # at the counts of cells, and at visits of a pair
def test_a_lost_shard_gets_its_pairs_again(place, workers, monkeypatch):
    table = make_table(CLASSIFIER, 700)
    lost = losing(monkeypatch, "ask", place)
    estimator = make_estimator(CLASSIFIER, pairs=[("age", "income")])
    assert_same_fit(estimator, table, partitioned(table), "visits")
    assert len(lost) == 1


def test_a_fit_whose_workers_are_lost_again_and_again_stops(workers, monkeypatch):
    def lost(answered, member):
        raise cluster._LostError

    monkeypatch.setattr(cluster, "_value", lost)
    assert_stopped_once(partitioned(make_table(CLASSIFIER, 100)), "workers that were lost")


def test_bags_on_a_cluster_are_refused_before_anything_is_charged(workers):
    ledger = PrivacyLedger("bags", cap_epsilon=10)
    estimator = make_estimator(CLASSIFIER, ledger=ledger, outer_bags=3)
    with pytest.raises(ValueError, match="outer_bags=3"):
        estimator.fit(partitioned(make_table(CLASSIFIER, 100)), "visits")
    assert ledger.entries == ()


# Failures: one charge, and no word of a record.


def assert_stopped_once(frame, kind):
    ledger = PrivacyLedger("stopped", cap_epsilon=10)
    estimator = make_estimator(CLASSIFIER, ledger=ledger)
    with pytest.raises(RuntimeError, match=f"stopped with {kind}") as caught:
        estimator.fit(frame, "visits")
    assert len(ledger.entries) == 1
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def logged(client):
    lines = [line for log in client.get_worker_logs().values() for _, line in log]
    return "\n".join([*lines, *(line for _, line in client.get_scheduler_logs())])


def test_an_error_on_a_worker_stops_the_fit_and_shows_no_value(workers):
    table = make_table(CLASSIFIER, 100)
    table.loc[:, "income"] = 471147.0
    lacking = partitioned(table).map_partitions(
        lambda part: part.drop(columns="age"), meta=table.iloc[:0], enforce_metadata=False
    )
    assert_stopped_once(lacking, "SchemaError")
    assert "471147" not in logged(workers)


def test_an_error_in_the_graph_of_the_collection_stops_the_fit(workers):
    def broken(part):
        raise ValueError("471147")

    table = make_table(CLASSIFIER, 100)
    assert_stopped_once(
        partitioned(table).map_partitions(broken, meta=table.iloc[:0]), "a partition that could"
    )


def test_partitions_that_change_when_they_are_read_again_stop_the_fit(workers, monkeypatch):
    """A record could then be in two partitions, and count twice."""
    table = make_table(CLASSIFIER, 200)
    drawn = partitioned(table).map_partitions(
        lambda part: part.iloc[np.random.default_rng().permutation(len(part))[: len(part) // 2]],
        meta=table.iloc[:0],
    )
    losing(monkeypatch, "ask", 3)
    assert_stopped_once(drawn, "a partition that was read again")


def test_rows_in_another_order_are_the_same_partition():
    records = cluster.EncodedRecords(
        [np.array([0, 1, 1], np.uint8), np.array([5, 6, 300], np.uint16)],
        np.array([0, 1, 1], np.float32),
    )
    order = [2, 0, 1]
    shuffled = cluster.EncodedRecords([c[order] for c in records.cells], records.target[order])
    other = cluster.EncodedRecords([records.cells[0], records.cells[1][order]], records.target)
    assert cluster.digest(shuffled, 11) == cluster.digest(records, 11)
    assert cluster.digest(other, 11) != cluster.digest(records, 11)
    assert cluster.digest(records, 12) != cluster.digest(records, 11)


# Planted mistakes.


def test_a_partition_that_is_kept_by_two_shards_after_a_retry_is_seen(workers, monkeypatch):
    honest = cluster.Shards._replace

    def forgetful(self, lost):
        honest(self, lost)
        again = self._made([0])[0]
        self._members.append(again._replace(partitions=(0, 0)))

    monkeypatch.setattr(cluster.Shards, "_replace", forgetful)
    losing(monkeypatch, "ask", 3)
    assert_stopped_once(
        partitioned(make_table(CLASSIFIER, 200)), "a partition that would be counted twice"
    )


def test_scores_that_are_not_brought_up_to_date_after_a_retry_are_seen(workers, monkeypatch):
    honest = cluster.Shards._brought_up

    def stale(self, member):
        updates, self._updates = self._updates, [(k, np.zeros_like(u)) for k, u in self._updates]
        honest(self, member)
        self._updates = updates

    table = make_table(CLASSIFIER, 700)
    monkeypatch.setattr(cluster.Shards, "_brought_up", stale)
    losing(monkeypatch, "ask", 7)
    with pytest.raises(AssertionError):
        assert_same_fit(make_estimator(CLASSIFIER), table, partitioned(table), "visits")


def test_no_noise_and_no_seed_travels_to_the_workers(workers, monkeypatch):
    """Messages are the same for two fits whose public structure and answers are the same."""
    table = make_table(CLASSIFIER, 200)
    _, transcript = record(make_estimator(CLASSIFIER), *halves(table))
    sent = []
    honest = cluster.Shards.ask

    def ask(self, query, *arguments):
        sent.append((query, *arguments, *self._updates[self._n_applied :]))
        return honest(self, query, *arguments)

    monkeypatch.setattr(cluster.Shards, "ask", ask)
    texts = []
    for _ in range(2):
        sent.clear()
        record(make_estimator(CLASSIFIER), partitioned(table), "visits", answers=transcript.answers)
        texts.append(pickle.dumps(sent))
    assert texts[0] == texts[1]
