"""Visits in one call give the same fit as single visits, to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    Numeric,
    Range,
    Schema,
)
from dpexplain.models.boosting.records import binned
from dpexplain.models.boosting.records._kernels_sums import LATTICE, _work, visit_in_turn
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.records.in_turn import PartInTurn, visit_in_numpy
from dpexplain.schema import Categorical

FEATURES = {
    "age": Numeric(0, 100),
    "income": Numeric(0, 1e5),
    "job": Categorical(["clerk", "nurse", "smith", "baker", "miner", "monk"]),
}


def data_of(kind, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(-5, 110, n), rng.uniform(0, 1e5, n)
    job = rng.choice([*FEATURES["job"].categories, "other", None], n)
    X = pd.DataFrame({"age": age, "income": income, "job": job})
    y = np.sin(age / 20) + income / 1e5 + rng.normal(0, 0.5, n)
    return X, np.where(y > 0.5, "yes", "no") if kind == "Classifier" else y


def model_of(kind, **settings):
    target = Classes(["no", "yes"]) if kind == "Classifier" else Range(-3, 3)
    owner = {
        "Classifier": DPExplainableBoostingClassifier,
        "Regressor": DPExplainableBoostingRegressor,
    }[kind]
    given = {"epsilon": 4.0, "structure_seed": 1, "reproducible_seed": 2, **settings}
    return owner(schema=Schema(FEATURES, target=target), **given)


def everything(model):
    fit = model._fit
    steps = [(s.clip, s.together, *s.sums, *s.gain, *s.update) for s in fit.steps]
    return [np.concatenate([t for bag in fit.bags for t in bag]), np.concatenate(steps)]


@pytest.fixture
def calls(monkeypatch):
    made, honest = [], PartInTurn.add

    def add(self, first, last, answers):
        made.append(last - first)
        honest(self, first, last, answers)

    monkeypatch.setattr(PartInTurn, "add", add)
    return made


@pytest.fixture(params=["compiled", "numpy", "first numpy, then compiled"])
def way(request, monkeypatch):
    """Let a part of the visits be made in numpy."""
    pays = {
        "compiled": lambda n_steps: True,
        "numpy": lambda n_steps: False,
        "first numpy, then compiled": lambda n_steps, calls=[]: bool(calls.append(0) or calls[2:]),
    }[request.param]
    monkeypatch.setattr(visit_in_turn, "pays", pays)
    return request.param


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"preset": "paper"}, {"outer_bags": 2}, {"max_rounds": 1}, {"pairs": 1, "epsilon": 8.0}],
    ids=str,
)
def test_a_fit_in_one_call_is_the_fit_visit_by_visit(kind, settings, way, calls, monkeypatch):
    together = model_of(kind, **settings).fit(*data_of(kind))
    assert sum(calls) >= len(together._fit.visits) - len(FEATURES)
    n_calls = len(calls)
    monkeypatch.setattr(Records, "stacked", lambda *_: None)
    alone = model_of(kind, **settings).fit(*data_of(kind))
    assert len(calls) == n_calls
    for own, expected in zip(everything(together), everything(alone), strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("n", [0, 1, 40])
def test_a_fit_of_few_records_is_the_same_either_way(n, way, monkeypatch):
    X, y = data_of("Regressor")
    together = model_of("Regressor").fit(X[:n], y[:n])
    monkeypatch.setattr(Records, "stacked", lambda *_: None)
    alone = model_of("Regressor").fit(X[:n], y[:n])
    for own, expected in zip(everything(together), everything(alone), strict=True):
        np.testing.assert_array_equal(own, expected)


def test_large_tables_wide_bins_and_constraints_are_visited_one_by_one(calls, monkeypatch):
    X, y = data_of("Classifier", 500)
    model_of("Classifier", monotone_constraints={"age": "increasing"}).fit(X, y)
    model_of("Classifier", n_jobs=2).fit(X, y)
    monkeypatch.setattr(binned, "_MOST_STACKED", 3)
    model_of("Classifier").fit(X, y)
    assert calls == []
    wide = [np.zeros(5, np.uint16), np.zeros(5, np.uint8)]
    assert Records(wide, [300, 2], np.zeros(5, np.float32), binned.LOGISTIC).stacked(5) is None
    poisson = Records(wide[1:], [2], np.zeros(5, np.float32), binned.POISSON)
    assert poisson.stacked(5) is None


def test_no_message_about_the_visits_shows_records(monkeypatch):
    """A traceback with the values of variables prints them by their repr."""
    shown, honest = [], PartInTurn.add

    def add(self, first, last, answers):
        shown.append(repr(self))
        honest(self, first, last, answers)

    monkeypatch.setattr(PartInTurn, "add", add)
    model_of("Regressor", max_rounds=1).fit(*data_of("Regressor", 20))
    assert shown == ["<PartInTurn of 3 visits>"]


def test_no_visit_by_visit_fit_equals_one_with_another_sum(monkeypatch):
    """The comparison above would notice a sum that is off by a single lattice step."""
    honest = PartInTurn.add

    def off_by_one(self, first, last, answers):
        honest(self, first, last, answers)
        answers[self.start[last] - 1] += 1

    X, y = data_of("Classifier")
    expected = everything(model_of("Classifier").fit(X, y))
    monkeypatch.setattr(PartInTurn, "add", off_by_one)
    own = everything(model_of("Classifier").fit(X, y))
    assert not np.array_equal(own[1], expected[1])


EXTREMES = [np.inf, -np.inf, np.nan, 0.0, 1e-38]
FLOATS = st.floats(-(2.0**100), 2.0**100, width=32) | st.sampled_from(EXTREMES)


@given(
    odds=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 50),
    n_bins=st.lists(st.integers(1, 90), min_size=1, max_size=3),
    scores=st.lists(FLOATS, min_size=50, max_size=50),
    targets=st.lists(FLOATS, min_size=50, max_size=50),
    noise=st.integers(0, 60),
    clip=st.floats(1e-6, 1e6),
    first=st.integers(0, 6),
)
def test_numpy_visits_as_the_compiled_loop_does(
    odds, seed, n, n_bins, scores, targets, noise, clip, first
):
    """Scores, targets and answers are any numbers, also those that no honest fit has."""
    rng = np.random.default_rng(seed)
    n_visits, most = 6, max(n_bins)
    feature = rng.integers(0, len(n_bins), n_visits)
    n_leaves = np.array([rng.integers(1, min(5, n_bins[k]) + 1) for k in feature])
    leaf_of_bin = np.stack([rng.integers(0, leaves, most) for leaves in n_leaves])
    start = np.concatenate([[0], np.cumsum(n_leaves)])
    before = (
        np.stack([rng.integers(0, size, n) for size in n_bins]).astype(np.uint8),
        int(rng.integers(0, len(n_bins))),
    )
    update = rng.normal(1.0, 0.3, most).astype(np.float32)
    curves = rng.normal(0.0, 1.0, (len(n_bins), most))
    trees = (
        np.array(n_bins), feature, leaf_of_bin.astype(np.uint8),
        rng.uniform(1e-3, 9.0, (n_visits, 5)), start,
    )  # fmt: skip
    answers = rng.integers(-(2**noise), 2**noise, start[-1], endpoint=True)
    scale = np.float32(1.0 / clip), clip / LATTICE, 0.1, 20.0
    score, target = np.array(scores[:n], np.float32), np.array(targets[:n], np.float32)
    work = np.empty(most, np.float32), *_work()
    given_ = score, curves, answers
    found = []
    for steps in ([(visit_in_turn, 0, 6)], [(visit_in_numpy, 0, first), (visit_in_turn, first, 6)]):
        s, c, a = (each.copy() for each in given_)
        for visit, begin, end in steps:
            visit(begin, end, odds, s, target, *before, update.copy(), c, *trees, a, *scale, *work)
        found.append((s, c, a))
    for own, expected in zip(*found, strict=True):
        np.testing.assert_array_equal(own, expected)


def test_only_released_numbers_decide_whether_the_loop_is_compiled(monkeypatch):
    asked = []
    monkeypatch.setattr(visit_in_turn, "pays", lambda n_steps: asked.append(n_steps) or False)
    X, y = data_of("Classifier")
    fitted = model_of("Classifier").fit(X, y)
    visits = fitted._fit.visits
    n_released = visits.n_records
    assert asked == pytest.approx(np.array(asked) // n_released * n_released)
    assert sum(asked) / n_released == pytest.approx(len(visits), abs=len(FEATURES))
