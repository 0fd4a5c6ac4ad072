"""Transcript replay of optional features of boosting: objectives, bags and classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.mechanisms import SeededCoins
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.poisson import CountStep
from dpexplain.models.boosting.records import binned as boosting_records
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples
from replays import driven, quiet

pytestmark = pytest.mark.full

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}
TARGETS = {
    "two classes": Classes(["no", "yes"]),
    "numbers": Range(-1, 3),
    "counts": Range(0, 20),
    "classes": Classes(["A", "B", "C", "D"]),
}
OPTIONS = {
    "bags": {"outer_bags": 4},
    "constraints": {"monotone_constraints": {"age": "increasing", "income": -1}},
    "softmax": {},
    "softmax, clipped": {"clip": 0.3},
    "poisson": {"objective": "poisson"},
    "poisson in bags": {"objective": "poisson", "outer_bags": 3},
}
CASES = [
    ("two classes", "bags"),
    ("two classes", "constraints"),
    ("numbers", "bags"),
    ("numbers", "constraints"),
    ("counts", "poisson"),
    ("counts", "poisson in bags"),
    ("classes", "softmax"),
    ("classes", "softmax, clipped"),
    ("classes", "bags"),
]
every_case = pytest.mark.parametrize(("target", "option"), CASES)


def make_estimator(target, option, **settings_):
    kind = TARGETS[target]
    model = (
        DPExplainableBoostingClassifier
        if isinstance(kind, Classes)
        else DPExplainableBoostingRegressor
    )
    settings_ = {"structure_seed": 7, "max_rounds": 4, **OPTIONS[option], **settings_}
    return model(schema=Schema(FEATURES, target=kind), **settings_)


def make_data(target, n, seed, *, wild=False):
    """Make records within the schema and, if `wild`, also outside it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(float),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    kind = TARGETS[target]
    if isinstance(kind, Classes):
        y = pd.Series(rng.choice(kind.labels, n))
    else:
        y = pd.Series(rng.integers(kind.low, kind.high + 1, n).astype(float))
    if wild:
        X, y = X.astype(object), y.astype(object)
        odd = [np.nan, np.inf, -np.inf, 1e300, "Zorblax", None, b"\xff", [1], -1]
        for column in (*(X[name] for name in X), y):
            for i in np.flatnonzero(rng.random(n) < 0.3):
                column.iat[i] = odd[rng.integers(len(odd))]
        X = X.copy()
    return X, y


def without_last(data):
    X, y = data
    return X.iloc[:-1], y.iloc[:-1]


def with_another_last(data, other):
    """Exchange the last record; the others keep the coins that put them into bags."""
    parts = [pd.concat([part.iloc[:-1], new]) for part, new in zip(data, other, strict=True)]
    return tuple(part.reset_index(drop=True) for part in parts)


@pytest.fixture(autouse=True)
def same_coins(monkeypatch):
    """Fix the coins of records, as the proof does: it conditions on the bags."""
    for model in (DPExplainableBoostingClassifier, DPExplainableBoostingRegressor):
        monkeypatch.setattr(model, "_coins", lambda self: SeededCoins(9))


@every_case
@examples(12)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    wild=st.booleans(),
    hostile_answers=st.booleans(),
    preset=st.sampled_from(["default", "paper"]),
    max_rounds=st.sampled_from([1, 4, None]),
)
def test_a_present_or_absent_record_stays_within_the_guarantee(
    target, option, n, seed, wild, hostile_answers, preset, max_rounds
):
    if max_rounds is None:
        preset = "default"  # the other has 300 rounds
    estimator = make_estimator(target, option, preset=preset, max_rounds=max_rounds)
    records = make_data(target, n, seed, wild=wild)
    answers = driven(seed, "boosting", bits=45) if hostile_answers else None
    fit = record(estimator, *records, answers=answers)
    report = replay(estimator, without_last(records), *fit)
    assert report.holds, report


@every_case
@examples(8)
@given(n=st.integers(1, 30), seed=st.integers(0, 2**32 - 1), hostile_answers=st.booleans())
def test_an_exchanged_record_stays_within_a_replace_one_guarantee(
    target, option, n, seed, hostile_answers
):
    estimator = make_estimator(target, option, adjacency="replace")
    records = make_data(target, n, seed, wild=True)
    answers = driven(seed, "boosting", bits=45) if hostile_answers else None
    fit = record(estimator, *records, answers=answers)
    other = make_data(target, 1, seed + 1, wild=True)
    report = replay(estimator, with_another_last(records, other), *fit)
    assert report.holds, report


# Planted mistakes. An audit that misses one of them proves nothing.


def bag_noise_not_scaled(monkeypatch):
    honest = boosting_private.Budget.leaf_multiplier
    monkeypatch.setattr(
        boosting_private.Budget, "leaf_multiplier", lambda self, n: honest(self, n / 4)
    )


def bootstrap(monkeypatch):
    """Draw bags with replacement, so that a record may be in one three times."""

    def bag(self, share, coins):
        kept = np.repeat(np.arange(len(self._target)), 2 + coins.heads(len(self._target), 0.5))
        bins = [b[kept] for b in self._bins]
        return boosting_records.Records(bins, self._n_bins, self._target[kept], self._loss)

    monkeypatch.setattr(boosting_records.Records, "bag", bag)


def bags_of_fixed_size(monkeypatch):
    """Fix the size of bags: when a record leaves, another takes its place."""

    def bag(self, share, coins):
        kept = np.argsort(coins.random(len(self._target)))[:35]
        bins = [b[kept] for b in self._bins]
        return boosting_records.Records(bins, self._n_bins, self._target[kept], self._loss)

    monkeypatch.setattr(boosting_records.Records, "bag", bag)


def forgotten_clip_of_counts(monkeypatch):
    def unclipped(self, feature, leaf_of_bin, n_leaves, clip):
        score, target, last, update, now = self._pending(feature)
        score += update[last]
        rate = np.exp(np.clip(score, -16, 0).astype(np.float64))
        steps = np.rint((target - rate) / clip * 2**20).astype(np.int64)
        sums = np.zeros(n_leaves, np.int64)
        np.add.at(sums, leaf_of_bin[now], steps)
        return sums

    monkeypatch.setattr(boosting_records.Records, "leaf_sums", unclipped)


def softmax_sensitivity_of_one(monkeypatch):
    """Use the sensitivity of two classes with one score."""
    monkeypatch.setattr(Objective, "sensitivity", lambda self, clip: 1.0)


def classes_clipped_one_by_one(monkeypatch):
    """Clip each residual, so that their vector may exceed sqrt(2)."""

    def clipped(self, feature, leaf_of_bin, n_leaves, clip):
        score, target, last, update, now = self._pending(feature)
        score += update[:, last]
        p = np.exp(score - score.max(axis=0))
        residual = (target == np.arange(len(p))[:, None]) - p / p.sum(axis=0)
        steps = np.rint(np.clip(residual / clip, -1, 1) * 2**20).astype(np.int64)
        sums = np.zeros((n_leaves, len(p)), np.int64)
        np.add.at(sums, leaf_of_bin[now], steps.T)
        return sums

    monkeypatch.setattr(boosting_records.Records, "leaf_sums", clipped)


MUTANTS = [
    ("classes", "softmax", softmax_sensitivity_of_one),
    ("classes", "softmax", classes_clipped_one_by_one),
    ("classes", "bags", bag_noise_not_scaled),
    ("counts", "poisson", forgotten_clip_of_counts),
    ("numbers", "bags", bag_noise_not_scaled),
    ("numbers", "bags", bootstrap),
    ("numbers", "bags", bags_of_fixed_size),
]


def saturating(target):
    """Make records of which the last has the largest possible residual."""
    X, y = make_data(target, 40, 11)
    kind = TARGETS[target]
    first, last = kind.labels[::3] if isinstance(kind, Classes) else (kind.low, kind.high)
    y.iloc[:] = first
    y.iloc[-1] = last
    return X, y


@pytest.mark.parametrize(
    ("target", "option", "mutant"), MUTANTS, ids=lambda m: getattr(m, "__name__", m)
)
def test_replay_catches_a_planted_mistake(target, option, mutant, monkeypatch):
    records = saturating(target)
    estimator = make_estimator(target, option, clip=0.2)
    assert replay(estimator, without_last(records), *record(estimator, *records)).holds
    mutant(monkeypatch)
    fit = record(estimator, *records, answers=quiet)
    report = replay(estimator, without_last(records), *fit)
    assert report.spent_mu > 1.05 * report.claimed_mu


def test_replay_catches_a_clip_that_follows_the_exact_mean(monkeypatch):
    """A clip at the records' exact mean count would be a release that nobody paid for."""
    honest = CountStep.__call__

    def exact_mean(self, visit, records, tables):
        self._given_clip = self._clip = float(records._target.mean())
        return honest(self, visit, records, tables)

    monkeypatch.setattr(CountStep, "__call__", exact_mean)
    records, estimator = make_data("counts", 40, 11), make_estimator("counts", "poisson")
    report = replay(estimator, without_last(records), *record(estimator, *records))
    assert "attribute clip_" in report.differences
    assert not report.holds


def test_a_record_of_the_wrong_class_uses_up_nearly_all_of_a_softmax_guarantee():
    """The bound of sqrt(2) is tight, so the audit would notice if noise were a little too small."""
    estimator, records = make_estimator("classes", "softmax", max_rounds=40), saturating("classes")
    _, transcript = record(estimator, *records)
    answers = [
        answer
        if phase.label in ("count", "histograms")
        else np.where(np.arange(len(answer)) % 4 == 0, 2**40, -(2**40))  # all for class A
        for phase, answer in zip(transcript.phases, transcript.answers, strict=True)
    ]
    report = replay(estimator, without_last(records), *record(estimator, *records, answers=answers))
    assert report.holds
    assert report.spent_mu > 0.99 * report.claimed_mu
