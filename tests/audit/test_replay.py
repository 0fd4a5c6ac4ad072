"""Transcript replay of special cases: persons, lists of cells, mistakes inside boosting.

Replays of every private estimator on random tables are in `test_tier1_replay.py`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import dpexplain
import dpexplain.models as models
from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.audit.subjects import Subject, audit_of, powerful_tiers
from dpexplain.binning import refined as private_cells
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.models.boosting.records import binned as boosting_records
from dpexplain.models.boosting.records.in_turn import PartInTurn
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from private_models import every_model, is_regression, known
from replays import driven, quiet

pytestmark = pytest.mark.full

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}


def make_estimator(name, **settings_):
    regression = is_regression(name)
    target = Range(-1, 3) if regression else Classes(["no", "yes"])
    few = known(name, max_rounds=4) | dict(audit_of(getattr(models, name)).settings or {})
    settings_ = {"epsilon": 1.0, "structure_seed": 7, **few, **settings_}
    return getattr(models, name)(schema=Schema(FEATURES, target=target), **settings_)


def make_data(name, n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(float),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    y = rng.uniform(-1, 3, n) if is_regression(name) else rng.choice(["no", "yes"], n)
    return X, pd.Series(y)


@every_model
def test_a_person_with_several_rows_stays_within_the_guarantee_for_persons(name):
    estimator = make_estimator(name, max_rows_per_person=3)
    X, y = make_data(name, 30, 3)
    # Three rows of one person in one bin and leaf; the last, since coins go by place.
    X = X.iloc[[*range(3, 30), 0, 0, 0]].reset_index(drop=True)
    y = y.iloc[[*range(3, 30), 0, 0, 0]].reset_index(drop=True)
    people = [*range(1, 28), 0, 0, 0]
    model, transcript = record(estimator, X, y, people)
    report = replay(estimator, (X.iloc[:-3], y.iloc[:-3], people[:-3]), model, transcript)
    assert report.holds, report
    if 1 not in powerful_tiers(Subject(type(estimator), estimator.schema.target, {})):
        pytest.skip("a fit of one row per person would pass too: one person moves it too little")
    single = make_estimator(name)
    model, transcript = record(single, X, y)
    assert not replay(single, (X.iloc[:-3], y.iloc[:-3]), model, transcript).holds


def test_a_saturating_record_uses_up_nearly_all_of_a_regression_guarantee():
    """The bound is tight, so the audit would notice if noise were only a little too small."""
    estimator = make_estimator("DPExplainableBoostingRegressor", clip=0.3, calibrated=False)
    records = make_data("DPExplainableBoostingRegressor", 40, 1)
    records[1].iloc[:] = 0.0
    records[1].iloc[0] = 3.0  # residual 1 in half-ranges from the zero that scores start at
    model, transcript = record(estimator, *records, answers=quiet)
    report = replay(estimator, without(records, 0), model, transcript)
    assert report.holds
    assert report.spent_mu > 0.999 * report.claimed_mu


# Planted mistakes. An audit that misses one of them proves nothing.


def halved_noise(monkeypatch):
    honest = boosting_private.Budget.leaf_multiplier
    monkeypatch.setattr(
        boosting_private.Budget, "leaf_multiplier", lambda self, n: honest(self, n) / 2
    )


def halved_histogram_noise(monkeypatch):
    honest = boosting_private.Budget.histogram_multiplier
    monkeypatch.setattr(
        boosting_private.Budget, "histogram_multiplier", lambda self, k: honest(self, k) / 2
    )


def sensitivity_of_one_feature(monkeypatch):
    """Calibrate histograms as if a record were in only one of them."""
    monkeypatch.setattr(
        boosting_private.Budget, "histogram_multiplier", lambda self, k: 1 / self.split.mu_bins
    )


def one_by_one(monkeypatch):
    """Sum residuals visit by visit, in the method that a mistake replaces."""
    monkeypatch.setattr(boosting_records.Records, "stacked", lambda self, n_records: None)


def forgotten_clip(monkeypatch):
    one_by_one(monkeypatch)
    honest = boosting_records.Records.leaf_sums

    def unclipped(self, feature, leaf_of_bin, n_leaves, clip):
        honest(self, feature, leaf_of_bin, n_leaves, clip)  # applies the pending update
        steps = np.rint((self._target - self._score).astype(np.float64) / clip * 2**20)
        steps = np.nan_to_num(steps, nan=0.0).astype(np.int64)
        sums = np.zeros(n_leaves, np.int64)
        np.add.at(sums, leaf_of_bin[self._bins[feature]], steps)
        return sums

    monkeypatch.setattr(boosting_records.Records, "leaf_sums", unclipped)


def nan_cast_to_integer(monkeypatch):
    """Let a NaN residual reach the cast: here that of the record with target 2.5."""
    one_by_one(monkeypatch)
    honest = boosting_records.Records.leaf_sums

    def careless(self, feature, leaf_of_bin, n_leaves, clip):
        sums = honest(self, feature, leaf_of_bin, n_leaves, clip)
        odd = np.flatnonzero(self._target == np.float32(0.75))
        sums[leaf_of_bin[self._bins[feature][odd]]] += np.iinfo(np.int64).min // 2
        return sums

    monkeypatch.setattr(boosting_records.Records, "leaf_sums", careless)


def added_twice(monkeypatch):
    """Add each leaf sum twice where many visits are made in one call."""
    honest = PartInTurn.add

    def add(self, first, last, answers):
        before = answers.copy()
        honest(self, first, last, answers)
        answers += answers - before

    monkeypatch.setattr(PartInTurn, "add", add)


def histogram_noise_forgotten(monkeypatch):
    honest = private_cells.release_histograms

    def exact(cell_counts, mechanism, **settings_):
        noisy = honest(cell_counts, mechanism, **settings_)
        counts = [c.astype(float) for c in cell_counts]
        return private_cells.NoisyHistograms(tuple(counts), noisy.noise_std)

    monkeypatch.setattr(private_cells, "release_histograms", exact)


def categories_from_data(monkeypatch):
    def fit_released(self, X, y, schema, mechanism):
        seen = [c for c in FEATURES["job"].categories if (X["job"] == c).any()]
        features = {**schema.features, "job": Categorical(seen or ["clerk"])}
        return released(self, X, y, Schema(features, target=schema.target), mechanism)

    released = boosting_estimator._PrivateBoosting._fit_released
    monkeypatch.setattr(boosting_estimator._PrivateBoosting, "_fit_released", fit_released)


def exact_sample_size_kept(monkeypatch):
    released = boosting_estimator._PrivateBoosting._fit_released

    def fit_released(self, X, y, schema, mechanism):
        released(self, X, y, schema, mechanism)
        self.n_samples_ = len(X)

    monkeypatch.setattr(boosting_estimator._PrivateBoosting, "_fit_released", fit_released)


def targets_seen_kept(monkeypatch):
    """Store the observed targets in the model, as if classes were read from the data."""
    released = boosting_estimator._PrivateBoosting._fit_released

    def fit_released(self, X, y, schema, mechanism):
        released(self, X, y, schema, mechanism)
        self.seen_ = sorted(map(str, set(y)))

    monkeypatch.setattr(boosting_estimator._PrivateBoosting, "_fit_released", fit_released)


def epochs_from_exact_size(monkeypatch):
    released = boosting_estimator._PrivateBoosting._fit_released

    def fit_released(self, X, y, schema, mechanism):
        self.max_rounds = len(X) // 4
        released(self, X, y, schema, mechanism)
        self.max_rounds = 4

    monkeypatch.setattr(boosting_estimator._PrivateBoosting, "_fit_released", fit_released)


# Each with what the report has to say: too large a distance, or something else that differs.
MUTANTS = {
    halved_noise: "spent",
    halved_histogram_noise: "spent",
    sensitivity_of_one_feature: "spent",
    forgotten_clip: "spent",
    nan_cast_to_integer: "spent",
    added_twice: "spent",
    histogram_noise_forgotten: "attribute",
    categories_from_data: "attribute",
    exact_sample_size_kept: "attribute n_samples_",
    targets_seen_kept: "attribute seen_",
    epochs_from_exact_size: "release",
}


@pytest.mark.parametrize(
    ("mutant", "reason"), MUTANTS.items(), ids=lambda m: getattr(m, "__name__", m)
)
def test_replay_catches_a_planted_mistake_for_its_own_reason(mutant, reason, monkeypatch):
    name = "DPExplainableBoostingRegressor"
    X, y = make_data(name, 40, 11)
    X["job"] = "clerk"
    X.loc[0, "job"] = "smith"
    y.iloc[:] = np.where(np.arange(40) % 2, -1.0, 3.0)
    y.iloc[0] = 2.5
    estimator = make_estimator(name, clip=0.3)
    model, transcript = record(estimator, X, y)
    assert replay(estimator, without((X, y), 0), model, transcript).holds
    mutant(monkeypatch)
    for seed in range(3):
        model, transcript = record(estimator, X, y, answers=driven(seed, "boosting", bits=45))
        report = replay(estimator, without((X, y), 0), model, transcript)
        assert not report.holds
        if reason == "spent":
            assert report.spent_mu > 1.05 * report.claimed_mu
        else:
            assert any(reason in difference for difference in report.differences)


# Lists have no dtype of their own: numpy would choose one for all cells together.
LISTS = {
    "labels of bytes and text": ([b"yes"] * 50, "no"),
    "labels of numbers and text": ([1, 0] * 25, "yes"),
    "labels and a list": (["yes"] * 50, ["no"]),
    "labels in lists and one that is not": ([["yes"]] * 50, "no"),
}


@pytest.mark.parametrize("labels", LISTS.values(), ids=LISTS)
def test_one_more_label_in_a_list_changes_how_no_other_is_read(labels):
    name = "DPExplainableBoostingClassifier"
    estimator = make_estimator(name)
    X, _ = make_data(name, 51, 2)
    rows = X.to_numpy(dtype=object).tolist()
    y, last = labels
    model, transcript = record(estimator, rows, [*y, last])
    report = replay(estimator, (rows[:-1], y), model, transcript)
    assert report.holds, report


@pytest.mark.parametrize("last", ["x", None, [1], {"a": 1}, np.float32(0.5), 10**30])
def test_one_more_cell_in_a_list_of_rows_changes_how_no_other_is_read(last):
    name = "DPExplainableBoostingClassifier"
    estimator = make_estimator(name)
    rows = [[np.float32(0.3), np.float32(3.3), "clerk"] for _ in range(50)]
    y = ["yes", "no"] * 25
    model, transcript = record(estimator, [*rows, [last, last, last]], [*y, "no"])
    report = replay(estimator, (rows, y), model, transcript)
    assert report.holds, report


@pytest.mark.parametrize("last", [np.nan, "x", None, 2**70, 1.5])
def test_one_more_person_in_a_list_of_groups_merges_no_others(last):
    """Numbers above 2**53 would become equal if one empty cell made all of them floats."""
    name = "DPExplainableBoostingClassifier"
    estimator = make_estimator(name, max_rows_per_person=1)
    X, y = make_data(name, 51, 2)
    groups = [2**60 + i for i in range(50)]
    model, transcript = record(estimator, X, y, [*groups, last])
    report = replay(estimator, (X.iloc[:-1], y.iloc[:-1], groups), model, transcript)
    assert report.holds, report


def test_an_audit_needs_what_is_public_to_repeat():
    estimator = make_estimator("DPExplainableBoostingClassifier", structure_seed=None)
    with pytest.raises(ValueError, match="structure_seed"):
        record(estimator, *make_data("DPExplainableBoostingClassifier", 5, 0))


def test_a_report_with_a_difference_does_not_hold():
    estimator = make_estimator("DPExplainableBoostingClassifier")
    records = make_data("DPExplainableBoostingClassifier", 5, 0)
    report = replay(estimator, without(records, 0), *record(estimator, *records))
    assert report.holds
    assert not dataclasses.replace(report, differences=("attribute n_",)).holds
    assert not dataclasses.replace(report, spent_mu=report.claimed_mu * 1.001).holds


def test_a_fit_that_ends_on_the_neighbor_alone_is_a_difference():
    """A mistake may ask for answers on the neighbor that were never recorded."""

    class StopsWithoutTheLastRecord(models.DPExplainableBoostingClassifier):
        def fit(self, X, y, **more):
            if len(X) < 40:
                raise RuntimeError("the fit stopped")
            return super().fit(X, y, **more)

    honest = make_estimator("DPExplainableBoostingClassifier")
    broken = StopsWithoutTheLastRecord(**honest.get_params(deep=False))
    X, y = make_data("DPExplainableBoostingClassifier", 40, 0)

    model, transcript = record(broken, X, y)
    report = replay(broken, (X[:-1], y[:-1]), model, transcript)

    assert not report.holds
    assert report.differences == (
        "with the same answers, the fit on the neighbor stops: the fit stopped",
    )


def test_a_recorded_fit_promises_nothing_whatever_was_forced(tmp_path):
    name = "DPExplainableBoostingClassifier"
    records = make_data(name, 20, 0)
    model, _ = record(make_estimator(name), *records, answers=lambda _, drawn: 0 * drawn)
    dpexplain.io.save(model.explain_global(), tmp_path / "model.json")

    assert not model.guarantee_.private
    assert not dpexplain.io.load(tmp_path / "model.json").releasable
    assert "NOT PRIVATE, nothing is promised" in model.statement().text()
    assert model.stated_guarantee_ == make_estimator(name).fit(*records).guarantee_
