"""Transcript replay of step lengths that follow the releases of the first passes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_fit
from dpexplain.models.boosting.released import LeafSteps
from dpexplain.models.boosting.structure import Visits
from dpexplain.models.boosting.uncertainty import pace
from dpexplain.schema import Classes, Numeric, Range, Schema
from effort import examples

pytestmark = pytest.mark.full

FEATURES = {"age": Numeric(0, 100), "dose": Numeric(0, 1)}


def make(kind, **settings_):
    target = Classes(["no", "yes"]) if kind == "Classifier" else Range(-1, 3)
    defaults = {"schema": Schema(FEATURES, target=target), "structure_seed": 3, "max_rounds": 8}
    models = {
        "Classifier": DPExplainableBoostingClassifier,
        "Regressor": DPExplainableBoostingRegressor,
    }
    return models[kind](**{**defaults, **settings_})


def make_data(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(0, 100, n), "dose": rng.uniform(0, 1, n)})
    steep = X["age"] > 50
    if kind == "Classifier":
        return X, pd.Series(np.where(steep, "yes", "no"))
    return X, pd.Series(np.where(steep, 2.5, -0.5))


def without_first(data):
    return tuple(part.iloc[1:] for part in data)


@examples(30)
@given(
    kind=st.sampled_from(["Classifier", "Regressor"]),
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    adjacency=st.sampled_from(["add_remove", "replace"]),
    n_bags=st.sampled_from([1, 2]),
)
def test_paced_steps_stay_within_the_guarantee(kind, n, seed, adjacency, n_bags):
    """The forced answers are any numbers, so steps become as short and as long as they can."""
    estimator = make(kind, adjacency=adjacency, outer_bags=n_bags)
    data = make_data(kind, n, seed)
    model, transcript = record(estimator, *data)
    rng = np.random.default_rng(seed)
    answers = [
        rng.choice([-1, 1], a.shape) * rng.integers(0, 2 ** int(rng.integers(1, 40)), a.shape)
        if p.label == "boosting"
        else a
        for p, a in zip(transcript.phases, transcript.answers, strict=True)
    ]
    model, transcript = record(estimator, *data, answers=answers)
    if adjacency == "replace":
        neighbor = tuple(part.copy() for part in data)
        neighbor[0].iloc[0] = [100.0, 1.0]
        neighbor[1].iloc[0] = "no" if kind == "Classifier" else -1.0
    else:
        neighbor = without_first(data)
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_a_pace_that_depends_on_a_record_is_noticed(kind, monkeypatch):
    honest_fit, honest_paces = boosting_estimator.fit_private, boosting_fit.paces

    def fit_private(binned, records, *parts, **settings_):
        n_records = sum(map(len, records.local()))
        monkeypatch.setattr(
            boosting_fit, "paces", lambda *released: honest_paces(*released) / (1 + n_records % 2)
        )
        return honest_fit(binned, records, *parts, **settings_)

    monkeypatch.setattr(boosting_estimator, "fit_private", fit_private)
    data = make_data(kind, 40)
    model, transcript = record(make(kind), *data)
    assert not replay(make(kind), without_first(data), model, transcript).holds


def paces_of(sums, n_leaves=3, scatter=0.0):
    """Return the factors of two features with eight visits each and noise of 1 in every sum."""
    visits = Visits(
        np.tile([0, 1], 8),
        np.tile(np.arange(3, dtype=np.uint8) % n_leaves, (16, 1)),
        np.tile([100.0, 200.0, 300.0], (16, 1)),
        np.array([3, 3]),
        np.full(16, n_leaves),
    )
    sums = np.tile(sums, (8, 1))[:, :n_leaves].ravel()
    start = np.arange(0, 16 * n_leaves + 1, n_leaves)
    zeros = np.zeros(len(sums))
    taken = LeafSteps(np.full(16, 2.0), sums, zeros, np.zeros(16, bool), zeros, start)
    return pace.paces(visits, taken, 0.5, scatter)


def test_steps_follow_the_contrasts_and_not_the_mean_that_leaves_share():
    low, high = pace._RANGE
    even = [100.0, 200.0, 300.0]
    assert paces_of([even, even]) == pytest.approx([low, low])
    assert paces_of([[-50.0, 0.0, 50.0], [0.0, 50.0, -50.0]]) == pytest.approx([high, high])
    one, other = paces_of([[-1.5, 0.0, 1.5], even])
    assert high >= one > other >= low
    assert paces_of([[-3.0, 0.0, 3.0], even], scatter=1.0) == pytest.approx([low, low])
    assert paces_of([even, even], n_leaves=1) == pytest.approx([low, low])


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e6, 2.0**63])
def test_factors_stay_in_their_range_for_any_answers(size):
    found = paces_of([[-size, size, 0.0], [0.0, 0.0, size]])
    assert ((found >= pace._RANGE[0]) & (found <= pace._RANGE[1])).all()


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_only_the_second_half_of_the_passes_is_paced(kind):
    factors = make(kind, max_rounds=11).fit(*make_data(kind, 500))._fit.pace
    assert factors.shape == (11, 2)
    assert (factors[:5] == 1.0).all()
    assert (factors[5:] == factors[5]).all()


@pytest.mark.parametrize(
    "settings_", [{"learning_rate": 0.1}, {"preset": "paper"}, {"max_rounds": 3}], ids=str
)
def test_given_step_lengths_and_short_fits_are_kept(settings_):
    fitted = make("Classifier", **settings_).fit(*make_data("Classifier", 500))
    assert (fitted._fit.pace == 1.0).all()
