"""Transcript replay of cells that are split where noisy counts are large."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import DPExplainableBoostingClassifier
from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.binning import refined
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.models.boosting.recipe import DEFAULT
from dpexplain.schema import Categorical, Classes, Numeric, Schema

pytestmark = pytest.mark.full

SCHEMA = Schema(
    {"income": Numeric(0, 1e9), "age": Numeric(0, 100), "job": Categorical(["clerk", "nurse"])},
    target=Classes(["no", "yes"]),
)


def make_estimator(**settings):
    return DPExplainableBoostingClassifier(
        4.0, schema=SCHEMA, structure_seed=7, max_rounds=3, **settings
    )


def make_data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "age": 40.0 + rng.uniform(0, 0.01, n),
            "job": rng.choice(["clerk", "nurse"], n),
        }
    )
    return X, pd.Series(rng.choice(["no", "yes"], n))


def n_split(model):
    binned = model._fit.binned
    sizes = zip(binned.cell_spread, binned.first_cells, strict=True)
    return [len(spread) - cells.n_bins for spread, cells in sizes]


@pytest.mark.parametrize("settings", [{}, {"adjacency": "replace"}], ids=str)
@pytest.mark.parametrize("row", [0, 7, 599])
def test_a_record_moves_no_count_of_any_round_further_than_stated(settings, row):
    data = make_data()
    other = without(data, row)
    if settings.get("adjacency") == "replace":
        X, y = data[0].copy(), data[1].copy()
        X.iloc[row], y.iloc[row] = (9e8, 99.0, "nurse"), "no" if y.iloc[row] == "yes" else "yes"
        other = X, y
    model, transcript = record(make_estimator(**settings), *data)
    income, age, job = n_split(model)
    assert income > 20
    assert age > 20
    assert job == 0
    assert [p.label for p in transcript.phases][:4] == ["count", *["histograms"] * 3 * 3][:4]
    assert replay(make_estimator(**settings), other, model, transcript).holds


def test_hostile_counts_split_what_they_say_whatever_the_records_are():
    """A release may return any answer: here, large counts in cells without records."""
    data = make_data()
    model, transcript = record(make_estimator(), *data)
    rng = np.random.default_rng(1)
    count, *first = transcript.answers[:4]
    hostile = [count, *(np.where(rng.random(len(a)) < 0.2, 1_000 << 20, 0) for a in first)]
    hostile, transcript = record(make_estimator(), *data, answers=hostile)
    assert n_split(hostile) != n_split(model)
    for row in (0, 599):
        assert replay(make_estimator(), without(data, row), hostile, transcript).holds


# Planted mistakes. An audit that misses one of them proves nothing.


def split_by_exact_counts(monkeypatch):
    honest, exact = refined.release_histograms, []

    def release(cell_counts, *arguments, **settings):
        exact[:] = cell_counts
        return honest(cell_counts, *arguments, **settings)

    def parts(estimate, *about):
        counts = np.asarray(exact.pop(0))
        return np.where(counts == 600, 32, 1)  # with one record less, it is not

    monkeypatch.setattr(refined, "release_histograms", release)
    monkeypatch.setattr(refined, "_parts", parts)


def a_round_without_noise(monkeypatch):
    honest = refined.release_histograms

    def release(cell_counts, mechanism, **settings):
        noisy = honest(cell_counts, mechanism, **settings)
        return refined.NoisyHistograms(tuple(c.astype(float) for c in cell_counts), noisy.noise_std)

    monkeypatch.setattr(refined, "release_histograms", release)


def finest_counts_kept(monkeypatch):
    honest = boosting_private.release_refined

    def kept(finest_counts, *arguments, **settings):
        found = honest(finest_counts, *arguments, **settings)
        first = found.histograms.counts[0].copy()
        first[0] += 1e-3 * finest_counts[0].sum()
        counts = (first, *found.histograms.counts[1:])
        histograms = refined.NoisyHistograms(
            counts, found.histograms.noise_std, spread=found.histograms.spread
        )
        return refined.RefinedHistograms(found.starts, histograms, found.first)

    monkeypatch.setattr(boosting_private, "release_refined", kept)


@pytest.mark.parametrize(
    ("mutant", "reason"),
    [
        (split_by_exact_counts, "release"),
        (a_round_without_noise, "attribute"),
        (finest_counts_kept, "attribute"),
    ],
    ids=lambda m: getattr(m, "__name__", m),
)
def test_replay_catches_a_planted_mistake_for_its_own_reason(mutant, reason, monkeypatch):
    data = make_data()
    data[0]["age"] = 40.0
    mutant(monkeypatch)
    model, transcript = record(make_estimator(), *data)
    report = replay(make_estimator(), without(data, 0), model, transcript)
    assert not report.holds
    assert any(reason in difference for difference in report.differences), report.differences


def test_a_round_too_many_is_refused_before_it_is_released(monkeypatch):
    monkeypatch.setattr(
        "dpexplain.models.boosting.recipe.DEFAULT",
        type(DEFAULT)(**{**vars(DEFAULT), "bin_rounds": (0.25, 0.25, 0.5, 0.25)}),
    )
    with pytest.raises(RuntimeError, match="the charge stays"):
        make_estimator().fit(*make_data())
