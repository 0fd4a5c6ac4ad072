"""Transcript replay of sums of pairs: one record changes all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.models.boosting import pairs
from dpexplain.models.boosting.pair_tables import joint_counts
from dpexplain.models.boosting.records import binned as boosting_records
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples
from replays import driven, neighbor_of

pytestmark = pytest.mark.full

FEATURES = {
    "age": Numeric(0, 100),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "stay": Numeric(0, 9, step=1),
}
N_PAIRS = 6


TARGETS = {
    "classes": (DPExplainableBoostingClassifier, Classes(["no", "yes"]), ["no", "yes"]),
    "three classes": (DPExplainableBoostingClassifier, Classes(list("abc")), list("abc")),
    "numbers": (DPExplainableBoostingRegressor, Range(-1, 3), [-1.0, 3.0]),
    "counts": (DPExplainableBoostingRegressor, Range(0, 9), [0.0, 9.0]),
}


def make(kind="classes", **settings_):
    estimator, target, _ = TARGETS[kind]
    schema = Schema(FEATURES, target=target)
    defaults = {"schema": schema, "structure_seed": 3, "max_rounds": 5}
    defaults["calibrated"] = False  # see test_replay_calibration.py
    if kind == "counts":
        defaults["objective"] = "poisson"
    return estimator(**{**defaults, **settings_})


def make_data(n, seed, kind="classes"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c"], n),
            "stay": rng.integers(0, 10, n).astype(float),
        }
    )
    return X, pd.Series(rng.choice(TARGETS[kind][2], n))


@examples(25)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    adjacency=st.sampled_from(["add_remove", "replace"]),
    epsilon=st.sampled_from([0.1, 1.0, 20.0]),
    kind=st.sampled_from(list(TARGETS)),
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_sums_of_pairs_stay_within_the_guarantee(n, seed, adjacency, epsilon, kind):
    estimator = make(kind, adjacency=adjacency, epsilon=epsilon)
    data = make_data(n, seed, kind)
    model, transcript = record(estimator, *data, answers=driven(seed, "boosting", "pairs"))
    assert transcript.phases[-1].label == "pairs"
    neighbor = neighbor_of(data, adjacency, [100.0, 0.0, "c", 9.0])
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize(
    ("adjacency", "most", "of_table"), [("add_remove", 1.0, 1.0), ("replace", 2.0, np.sqrt(2.0))]
)
def test_one_record_moves_every_sum_and_distance_of_a_pair(adjacency, most, of_table, kind):
    """The L2 sensitivity is that of one value times the square root of their number.

    Distances are released times 1/2, and a record is in one cell of each table.
    """
    _, transcript = record(make(kind, adjacency=adjacency), *make_data(30, 1, kind))
    sums, tables = transcript.phases[-2:]
    assert sums.label == tables.label == "pairs"
    assert sums.sensitivity_int == pytest.approx(most * np.sqrt(1.25 * N_PAIRS) * 2**20)
    assert transcript.answers[-2].shape == (2 * N_PAIRS,)
    n_tables = (tables.sensitivity_int / 2**20 / of_table) ** 2
    assert n_tables == pytest.approx(round(n_tables))
    assert 1 <= round(n_tables) < len(FEATURES)
    multiplier = sums.sigma_int / sums.sensitivity_int
    assert tables.sigma_int / tables.sensitivity_int == pytest.approx(multiplier)


def test_pairs_are_charged_and_paid_for_by_the_trees():
    X, _ = make_data(2, 0)
    bought = {e.label: e for e in make(pair_budget_frac=0.2).planned_events(X)}
    none = {e.label: e for e in make(pair_budget_frac=0.0).planned_events(X)}
    assert "pairs" not in none
    paid = bought["boosting"].mu ** 2 + bought["pairs"].mu ** 2
    assert paid == pytest.approx(none["boosting"].mu ** 2)
    assert bought["pairs"].mu ** 2 == pytest.approx(0.2 * paid)


@pytest.mark.parametrize(
    "settings_", [{"composition": "gdp"}, {"preset": "paper"}, {"pair_budget_frac": 0.0}]
)
def test_no_pairs_are_released_where_none_are_bought(settings_):
    _, transcript = record(make(**settings_), *make_data(30, 1))
    assert all(phase.label != "pairs" for phase in transcript.phases)


# Planted mistakes.


def sensitivity_of_a_single_sum(monkeypatch):
    """Use the noise of a single pair for all pairs."""
    honest = pairs.pair_phase

    def of_one(budget, n_features):
        return honest(budget, 2).__class__(
            "pairs",
            honest(budget, 2).sensitivity_int,
            honest(budget, 2).sigma_int,
            honest(budget, n_features).n_values,
        )

    monkeypatch.setattr(pairs, "pair_phase", of_one)


def records_counted_three_times(monkeypatch):
    honest = pairs.pair_sums
    monkeypatch.setattr(pairs, "pair_sums", lambda *parts: 3 * honest(*parts))


def noise_of_a_tenth(monkeypatch):
    honest = boosting_private.Budget.pair_multiplier.fget
    monkeypatch.setattr(
        boosting_private.Budget, "pair_multiplier", property(lambda self: honest(self) / 10)
    )


def tables_as_if_there_were_one(monkeypatch):
    """Use the noise of a single table for all tables."""
    honest = joint_counts.table_phase
    monkeypatch.setattr(
        joint_counts, "table_phase", lambda budget, n_tables, n_values: honest(budget, 1, n_values)
    )


def distances_of_exact_counts(monkeypatch):
    """Measure distances from independence with the exact number of records."""

    def release(records, counts, curves, n_samples, *parts):
        n_exact = 5 * sum(map(len, records.local()))
        return honest(records, counts, curves, n_exact, *parts)

    honest = pairs.release_pairs
    monkeypatch.setattr(boosting_private, "release_pairs", release)


def tables_grouped_by_the_records(monkeypatch):
    """Let the groups of a feature depend on the records."""

    def of_records(self, groups, chosen):
        middles = [np.median(b) if len(b) else 0 for b in self._bins]
        exact = [
            np.minimum(np.arange(len(g)) > m, g.max()) for g, m in zip(groups, middles, strict=True)
        ]
        for g, e in zip(groups, exact, strict=True):
            e[0], e[-1] = 0, g.max()  # as many cells as before
        return honest(self, exact, chosen)

    honest = boosting_records.Records.joint_counts
    monkeypatch.setattr(boosting_records.Records, "joint_counts", of_records)


def halves_cut_at_the_exact_middle(monkeypatch):
    """Let the place where a feature is cut in two depend on the records."""

    def of_records(records, upper):
        middles = [np.median(b) if len(b) else 0 for b in records._bins]
        exact = [np.arange(len(u)) > m for u, m in zip(upper, middles, strict=True)]
        return honest(records, exact)

    honest = pairs.pair_sums
    monkeypatch.setattr(pairs, "pair_sums", of_records)


@pytest.mark.parametrize("kind", ["classes", "three classes", "counts"])
@pytest.mark.parametrize(
    "mutant",
    [
        sensitivity_of_a_single_sum,
        records_counted_three_times,
        noise_of_a_tenth,
        halves_cut_at_the_exact_middle,
        tables_as_if_there_were_one,
        distances_of_exact_counts,
        tables_grouped_by_the_records,
    ],
    ids=lambda m: m.__name__,
)
def test_replay_catches_a_planted_mistake_about_pairs(mutant, kind, monkeypatch):
    data = make_data(30, 5, kind)
    data[0]["ward"] = ["a", "c"] * 15  # the middle moves with any record
    estimator = make(kind, pair_budget_frac=0.5)
    model, transcript = record(estimator, *data)
    assert replay(estimator, without(data, 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, *data)
    found = [replay(estimator, without(data, i), model, transcript) for i in range(30)]
    assert not all(report.holds for report in found)
