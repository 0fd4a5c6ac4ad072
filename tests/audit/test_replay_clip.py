"""Transcript replay of releases that adapt the fit: the number of people, and the clip."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.binning import NoisyCount
from dpexplain.mechanisms import NoiseSource
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import clipping
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.schema import Classes, Numeric, Range, Schema
from effort import examples
from replays import driven, neighbor_of

pytestmark = pytest.mark.full

FEATURES = {"age": Numeric(0, 100), "dose": Numeric(0, 1)}


def make_regressor(**settings_):
    schema = Schema(FEATURES, target=Range(-1, 3))
    defaults = {"schema": schema, "structure_seed": 3, "max_rounds": 5}
    return DPExplainableBoostingRegressor(**{**defaults, **settings_})


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(0, 100, n), "dose": rng.uniform(0, 1, n)})
    return X, pd.Series(rng.choice([-1.0, 0.5, 1.0, 3.0], n))


@examples(30)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    adjacency=st.sampled_from(["add_remove", "replace"]),
    epsilon=st.sampled_from([0.1, 1.0, 20.0]),
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_an_adapted_clip_stays_within_the_guarantee(n, seed, adjacency, epsilon):
    estimator = make_regressor(adjacency=adjacency, epsilon=epsilon)
    data = make_data(n, seed)
    model, transcript = record(estimator, *data, answers=driven(seed, "boosting"))
    neighbor = neighbor_of(data, adjacency, [100.0, 1.0], -1.0)
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


def test_every_question_about_the_clip_is_in_the_transcript_and_has_the_noise_of_a_tree():
    _, transcript = record(make_regressor(max_rounds=6), *make_data(200, 1))
    boosting = [p for p in transcript.phases if p.label == "boosting"]
    assert len(boosting) == 6 * len(FEATURES) + 3
    assert len(set(boosting)) == 1
    assert transcript.phases[0].label == "count"
    assert boosting[0].noise_multiplier == pytest.approx(
        make_regressor(max_rounds=6).planned_events(make_data(2, 0)[0])[-1].noise_multiplier
    )


@pytest.mark.parametrize("max_rounds", [5, None])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_noise_wider_than_any_that_was_checked_before_the_charge_is_never_drawn(
    adjacency, max_rounds, monkeypatch
):
    """The widest and the narrowest scale are checked; a fit uses only scales in between."""
    checked, drawn = [], []
    check, draw = NoiseSource.check_sigma, NoiseSource.draw_int
    monkeypatch.setattr(
        NoiseSource, "check_sigma", lambda self, s: checked.append(s) or check(self, s)
    )
    estimator = make_regressor(
        adjacency=adjacency, max_rounds=max_rounds, max_rows_per_person=3, outer_bags=2
    )
    X, y = make_data(60, 1)
    estimator.planned_events(X)
    monkeypatch.setattr(NoiseSource, "check_sigma", check)
    monkeypatch.setattr(
        NoiseSource, "draw_int", lambda self, s, size: drawn.append(s) or draw(self, s, size)
    )
    estimator.fit(X, y, groups=np.arange(60))
    assert len(drawn) == 8  # three for rounds of counts, two for pairs, one for calibration
    assert min(checked) <= min(drawn) * (1 + 1e-12)
    assert max(drawn) <= max(checked) * (1 + 1e-12)


def test_a_clip_that_the_user_gives_is_not_asked_about():
    _, transcript = record(make_regressor(clip=0.2), *make_data(50, 1))
    assert sum(p.label == "boosting" for p in transcript.phases) == 5 * len(FEATURES)


def test_the_clip_approaches_the_wanted_quantile_of_the_residuals():
    """Half of the residuals are 0 and half 0.6 half-ranges, so quantiles above 1/2 are 0.6.

    At epsilon 40, noise is tiny, and what remains are the geometric steps: up from below 0.6 by
    at most exp(0.5 * 0.45), down from above it by at most exp(-0.5 * 0.45).
    """
    X = pd.DataFrame({"age": np.full(4000, 50.0), "dose": np.full(4000, 0.5)})
    y = pd.Series(np.tile([1.0, 2.2], 2000))
    model = make_regressor(epsilon=40, max_rounds=60, learning_rate=1e-6, structure_seed=None)
    with pytest.warns(UserWarning, match="epsilon"):
        model.fit(X, y)
    step = np.exp(0.5 * 0.46)
    assert 0.6 / step < model.clip_ / 2.0 < 0.6 * step


def test_the_number_of_people_decides_how_fine_the_cells_are():
    schema = Schema(FEATURES, target=Classes(["no", "yes"]))
    few, many = (
        DPExplainableBoostingClassifier(epsilon=1.0, schema=schema).fit(
            make_data(n, 0)[0], ["no", "yes"] * (n // 2)
        )
        for n in (100, 20_000)
    )
    assert few.explain_global()["age"].n_bins <= 34
    assert many.explain_global()["age"].n_bins > 64


# Planted mistakes.


def exact_number_of_people(monkeypatch):
    def exact(n_samples, mechanism, *, noise_multiplier, sensitivity=1.0):
        honest(n_samples, mechanism, noise_multiplier=noise_multiplier, sensitivity=sensitivity)
        return NoisyCount(float(n_samples), noise_multiplier)

    honest = boosting_private.release_count
    monkeypatch.setattr(boosting_private, "release_count", exact)


def question_with_too_little_noise(monkeypatch):
    honest = clipping.AdaptiveClip.__init__

    def louder(self, *arguments):
        honest(self, *arguments)
        self._inside, self._outside = 4 * self._inside, 4 * self._outside

    monkeypatch.setattr(clipping.AdaptiveClip, "__init__", louder)


def clip_from_exact_residuals(monkeypatch):
    def ask(self, records):
        inside, n_all = (int(n) for n in records.within(self._clip))
        self._mechanism.release(np.zeros(1, dtype=np.int64))
        share = inside / max(n_all, 1) - self._plan.clip_quantile
        self._clip = self._plan.next_clip(self._clip, share)

    monkeypatch.setattr(clipping.AdaptiveClip, "_ask", ask)


def count_with_an_eighth_of_the_noise(monkeypatch):
    honest = boosting_private.Budget.count_multiplier.fget
    monkeypatch.setattr(
        boosting_private.Budget, "count_multiplier", property(lambda self: honest(self) / 8)
    )


@pytest.mark.parametrize(
    "mutant",
    [
        exact_number_of_people,
        question_with_too_little_noise,
        clip_from_exact_residuals,
        count_with_an_eighth_of_the_noise,
    ],
    ids=lambda m: m.__name__,
)
def test_replay_catches_a_planted_mistake_about_people_or_clip(mutant, monkeypatch):
    data = make_data(30, 5)
    estimator = make_regressor(max_rounds=8)
    model, transcript = record(estimator, *data)
    assert replay(estimator, without(data, 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, *data)
    found = [replay(estimator, without(data, i), model, transcript) for i in range(30)]
    assert not all(report.holds for report in found)
