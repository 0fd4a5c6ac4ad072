"""Health checks of every private model: what each detects, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpexplain
import dpexplain.models.alarms as health_tests
from dpexplain import (
    Categorical,
    Classes,
    DPBoostClassifier,
    DPBoostedTreesClassifier,
    DPBoostRegressor,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    DPLinearRegression,
    DPLocallyLinearClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HealthWarning,
    Numeric,
    Range,
    Schema,
)
from dpexplain.audit import record, replay
from dpexplain.models.alarms import LaplaceCount, alarms_of_counts, laplace_tail, of_counted_classes
from dpexplain.models.registry import MODELS

FEATURES = {"age": Numeric(18, 90), "job": Categorical(["a", "b", "c"])}
CLASSES = Schema(FEATURES, target=Classes(["no", "yes"]))
N = 6_000

ALL_KINDS = {"features", "class", "records", "target"}
TELLS = {
    DPExplainableBoostingClassifier: (ALL_KINDS, {}),
    DPExplainableBoostingRegressor: (ALL_KINDS - {"class"}, {}),
    DPLogisticRegression: (ALL_KINDS, {}),
    DPLinearRegression: (ALL_KINDS - {"class"}, {}),
    DPRandomForestClassifier: ({"class", "records"}, {"n_trees": 3}),
    DPBoostedTreesClassifier: ({"class", "records", "target"}, {"n_trees": 2, "depth": 2}),
    DPLocallyLinearClassifier: ({"records", "target"}, {}),
    DPBoostClassifier: (set(), {"n_trees": 2}),
    DPBoostRegressor: (set(), {"n_trees": 2}),
}


def records(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(18, 90, n), "job": rng.choice(["a", "b", "c"], n)})
    y = rng.choice(["no", "yes"], n)
    return X, y if kind._target_kind is Classes else rng.uniform(0, 10, n)


def model_of(kind, **settings):
    target = Classes(["no", "yes"]) if kind._target_kind is Classes else Range(0, 10)
    schema = Schema(FEATURES, target=target)
    quick = {"max_rounds": 1} if "ExplainableBoosting" in kind.__name__ else {}
    return kind(**{"epsilon": 3.0, "schema": schema, **quick, **TELLS[kind][1], **settings})


def fitted(kind, X, y, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpexplain.models.private.warn_of_alarms", lambda *_, **__: None)
        return model_of(kind, **settings).fit(X, y)


def kinds(model):
    return {each.kind for each in model.health().alarms}


def test_every_private_model_is_here():
    private = {getattr(dpexplain, name) for name in MODELS if name.startswith("DP")}
    assert set(TELLS) == private


@pytest.mark.full
@pytest.mark.parametrize("kind", TELLS)
def test_clean_tables_raise_no_alarm_and_the_health_check_says_what_it_cannot_tell(kind):
    tells = TELLS[kind][0]
    health = (
        fitted(kind, *records(kind), n_public=N if "target" in tells else None).health()
        if "target" in tells
        else fitted(kind, *records(kind)).health()
    )
    assert not health.alarms
    (unchecked,) = [each.words for each in health if "check" in each.kind] or [""]
    if not tells:
        assert repr(health).startswith("no check\n- nothing can be checked")
    else:
        assert ("features" in unchecked) == ("features" not in tells)
        asked = kind._target_kind is Classes
        assert ("classes" in unchecked) == (asked and "class" not in tells)


@pytest.mark.full
@pytest.mark.parametrize("kind", TELLS)
def test_mistakes_raise_the_alarms_that_the_releases_allow(kind):
    tells = TELLS[kind][0]
    X, y = records(kind)
    found = kinds(fitted(kind, X.assign(age="3,5 years", job="z"), y))
    assert found == ({"missing", "other"} if "features" in tells else set())
    wrong = np.where(y == "yes", "Y", y) if kind._target_kind is Classes else y
    if "class" in tells:
        assert kinds(fitted(kind, X, wrong)) == {"class"}
    nobody = np.full(N, "?")
    # Two fits: a noisy count of nobody is more than three standard deviations in one of 740.
    said = ["records" in kinds(fitted(kind, X, nobody)) for _ in range(2)]
    assert any(said) == ("records" in tells)
    if "target" in tells:
        half = np.where(np.arange(N) % 2, y.astype(object), "")
        assert kinds(fitted(kind, X, half, n_public=N)) == {"target"}
        assert kinds(fitted(kind, X, half)) == set()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DPRandomForestClassifier, {"leaf_mechanism": "exponential"}),
        (DPBoostedTreesClassifier, {"variant": "paper"}),
    ],
)
def test_settings_that_release_no_counts_are_said_to_check_nothing(kind, settings):
    X, _ = records(kind, 200)
    health = fitted(kind, X, np.full(200, "?"), **settings).health()
    assert [each.kind for each in health] == ["no check"]


@pytest.mark.parametrize("kind", [DPLogisticRegression, DPRandomForestClassifier])
def test_fit_warns_and_a_file_keeps_the_alarm(kind):
    X, _ = records(kind)
    with pytest.warns(HealthWarning, match="almost nobody is in class yes"):
        model = model_of(kind).fit(X, np.full(N, "no"))
    (alarm,) = [words for words in model.explain_global().alarms if "class yes" in words]
    assert alarm == "almost nobody is in class yes: do the labels match?"


@pytest.mark.parametrize("kind", [DPLogisticRegression, DPRandomForestClassifier])
def test_several_classes_are_counted_one_by_one(kind):
    X, _ = records(kind)
    labels = ["low", "mid", "high"]
    y = np.random.default_rng(1).choice(labels, N)
    schema = Schema(FEATURES, target=Classes(labels))
    assert not fitted(kind, X, y, schema=schema).health().alarms
    model = fitted(kind, X, np.where(y == "mid", "low", y), schema=schema)
    (alarm,) = model.health().alarms
    assert alarm.words.startswith("almost nobody is in class mid")


def test_counts_of_classes_have_the_stated_noise():
    """The sums of squares of 40 real fits, in units of the stated variance."""
    n, rare = 1_500, 300
    y = np.where(np.arange(n) < rare, "yes", "no")
    for kind in (DPRandomForestClassifier, DPBoostedTreesClassifier):
        X, _ = records(kind, n)
        scaled = []
        for seed in range(40):
            model = fitted(kind, X, y, reproducible_seed=seed)
            for count, held in zip(model._class_counts, (n - rare, rare), strict=True):
                std = count.scale * np.sqrt(2.0 * count.n_inside)
                scaled.append((count.inside - held) / std)
        # Sums of at least twelve Laplace draws: the fourth moment is at most 3.5, so the variance
        # of a square is at most 2.5; six standard deviations, and both classes are independent.
        assert abs(np.mean(np.square(scaled)) - 1.0) < 6.0 * np.sqrt(2.5 / len(scaled))
        assert abs(np.mean(scaled)) < 6.0 / np.sqrt(len(scaled))


def test_sums_of_gradients_count_the_classes_with_the_stated_noise():
    n, rare = 1_500, 300
    X, _ = records(DPLogisticRegression, n)
    y = np.where(np.arange(n) < rare, "yes", "no")
    for clip in (1.0, 0.3):
        scaled = []
        for seed in range(40):
            fit = fitted(DPLogisticRegression, X, y, reproducible_seed=seed, clip=clip)._fit
            std = fit.target_std / min(1.0, clip / 0.5)
            scaled.append((fit.class_sums[0] - (rare - n / 2)) / std)
        low, high = stats.chi2.ppf([1e-6, 1.0 - 1e-6], len(scaled))
        assert low < np.square(scaled).sum() < high
        assert abs(np.mean(scaled)) < 6.0 / np.sqrt(len(scaled))


@pytest.mark.parametrize(
    "scales", [((1.0, 1),), ((1.0, 64),), ((2.0, 3), (0.5, 40)), ((3.0, 1), (0.1, 9))]
)
def test_tails_of_laplace_noise_are_bounded_and_not_by_much(scales):
    rng, n = np.random.default_rng(3), 100_000
    drawn = sum(rng.laplace(0.0, scale, (m, n)).sum(axis=0) for scale, m in scales)
    for level in (0.05, 0.01):
        critical = np.quantile(drawn, 1.0 - level)
        # Six standard deviations of an empirical quantile's level. For one draw, the bound exceeds
        # the tail by a factor of about e times the excess in units of its scale.
        slack = 6.0 * np.sqrt(level / n)
        assert level - slack <= laplace_tail(critical, scales) <= 16.0 * level
    assert laplace_tail(0.0, scales) == laplace_tail(-1.0, scales) == 1.0


@pytest.mark.full
@pytest.mark.parametrize("level", [0.01, 0.5])
def test_false_alarms_about_counted_classes_are_at_most_as_frequent_as_stated(monkeypatch, level):
    """A class holds just as many records as allowed, which is the worst for its test."""
    monkeypatch.setattr(health_tests, "FALSE_ALARMS", level)
    rng, n_fits, n = np.random.default_rng(1), 3_000, 50_000.0
    rare = health_tests.FEWEST_IN_CLASS * n
    alarms = 0
    for _ in range(n_fits):
        noise = rng.laplace(0.0, 20.0, (2, 16)).sum(axis=1)
        yes = LaplaceCount(rare + noise[0], n - rare + noise[1], 20.0, 16, 16)
        no = LaplaceCount(yes.outside, yes.inside, 20.0, 16, 16)
        alarms += bool(alarms_of_counts(("no", "yes"), (no, yes), None))
    # A correct check exceeds this once in a billion runs.
    assert alarms <= stats.binom.isf(1e-9, n_fits, level)
    assert alarms > 0 or level < 0.1


def test_a_class_with_half_of_what_is_allowed_is_found():
    rare = 0.5 * health_tests.FEWEST_IN_CLASS * 1e6
    yes = LaplaceCount(rare, 1e6 - rare, 20.0, 16, 16)
    no = LaplaceCount(yes.outside, yes.inside, 20.0, 16, 16)
    first, second = of_counted_classes(("no", "yes"), (no, yes))
    assert first.p_value == 1.0
    assert second.p_value < 1e-6


@pytest.mark.parametrize(
    "kind",
    [
        DPLogisticRegression,
        DPRandomForestClassifier,
        DPBoostedTreesClassifier,
        DPLocallyLinearClassifier,
    ],
)
def test_health_follows_from_the_releases_alone(kind):
    X, y = records(kind, 60)
    X.loc[:40, "age"] = np.nan
    quick = {"n_public": 60, "n_steps": 50} if kind is DPLocallyLinearClassifier else {}
    estimator = model_of(kind, structure_seed=1, **quick)
    model, transcript = record(estimator, X, y)
    neighbor = (X.iloc[1:], y[1:])
    assert replay(estimator, neighbor, model, transcript).holds
    other, _ = record(estimator, *neighbor, answers=transcript.answers)
    assert other.health() == model.health()


def test_noise_that_hides_a_small_table_is_a_note_and_no_alarm():
    X, y = records(DPBoostedTreesClassifier, 2_000)
    model = fitted(DPBoostedTreesClassifier, X, y, n_trees=20, epsilon=1.0)
    assert [each.kind for each in model.health()] == ["unchecked"]
    assert "small numbers of records" in model.health().findings[0].words
