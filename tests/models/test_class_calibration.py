"""Calibrated probabilities of several classes: the release, the line from it, and its uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_cases import FEATURES, check_that_log_loss_falls, check_that_trees_pay
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain.models.boosting.calibration import classes
from dpexplain.models.boosting.calibration.classes import (
    ClassLine,
    Population,
    class_overfitting,
    class_sums,
    fitted_class_line,
    population,
)
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import Records, softmax_loss
from dpexplain.models.boosting.records.chunked import ChunkedRecords
from dpexplain.models.boosting.records.class_sums import GROUP_WEIGHT, LARGEST, SIZES, ClassSums
from dpexplain.models.boosting.records.threads import Team
from dpexplain.schema import Classes, Schema
from effort import examples

LABELS = ["low", "middle", "high"]
SCHEMA = Schema(FEATURES, target=Classes(LABELS))


def draw(n, seed, strength=5.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "z": rng.random(n), "job": rng.choice(["a", "b"], n)})
    score = np.column_stack([strength * X["x"], strength * X["z"], 2.0 + (X["job"] == "a")])
    place = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    return X, pd.Series(np.array(LABELS)[place])


def make(**settings):
    return DPExplainableBoostingClassifier(**{"schema": SCHEMA, **settings})


def log_loss(model, X, y):
    own = np.asarray(model.classes_) == np.asarray(y)[:, None]
    return -np.log(model.predict_proba(X)[own]).mean()


# Parts.


def one_by_one(each, score, target):
    """Compute each record's vector with a loop, as the documentation says."""
    found = []
    for own, label in zip(score.T.astype(float), target, strict=True):
        odds = np.exp(own - own.max())
        p, z = odds / odds.sum(), (own - own.mean() - each.center) / each.spread
        residuals = np.eye(len(p)) - p
        vectors = np.column_stack([residuals, residuals @ z])
        vector = vectors[int(label)] / np.sqrt((vectors**2).sum(axis=1).max())
        group = np.zeros((len(p), len(SIZES) + 1))
        group[p.argmax(), (np.sqrt((z**2).mean()) > SIZES).sum()] = GROUP_WEIGHT
        found.append(np.append(vector, group) / LARGEST)
    return np.array(found).reshape(-1, each.n_sums)


@pytest.mark.parametrize("n_classes", [3, 4, 11])
@pytest.mark.parametrize("n", [0, 1, 7, 500, 20_000])
def test_sums_over_classes_are_those_of_a_loop_however_records_are_held(n, n_classes):
    rng = np.random.default_rng(n)
    bins = [rng.integers(0, 5, n).astype(np.uint8), rng.integers(0, 3, n).astype(np.uint8)]
    target = rng.integers(0, n_classes, n).astype(np.float32)
    curves = [3.0 * rng.normal(size=(size, n_classes)) for size in (5, 3)]
    center = rng.normal(size=n_classes)
    each = ClassSums(center - center.mean(), 1.7)
    given = bins, [5, 3], target, softmax_loss(n_classes)
    whole = Records(*given)
    team = Team(2)
    try:
        cut = n // 3
        halves = ChunkedRecords([whole.rows(0, cut), whole.rows(cut, n)])
        shared = team.sharing(Records(*given), n)
        alone = ChunkedRecords([whole.rows(k, k + 1) for k in range(min(n, 500))] or [whole])
        found = []
        for records in (whole, halves, shared, alone):
            for feature, curve in enumerate(curves):
                records.apply(feature, curve)
            found.append(records.class_sums(each))
        first = Records([b[:500] for b in bins], [5, 3], target[:500], softmax_loss(n_classes))
        for feature, curve in enumerate(curves):
            first.apply(feature, curve)
    finally:
        team.close()
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[3], first.class_sums(each))
    score = np.float32(curves[0].T)[:, bins[0]] + np.float32(curves[1].T)[:, bins[1]]
    expected = LATTICE * one_by_one(each, score[:, :500], target[:500]).sum(axis=0)
    assert np.abs(first.class_sums(each) - expected).max() <= 2.0 * min(n, 500)


@examples(100)
@given(
    n_classes=st.integers(3, 12),
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([1e-6, 0.1, 1.0, 10.0, 1e4]),
    spread=st.sampled_from([1e-6, 1e-3, 1.0, 1e3]),
    odd=st.sampled_from([0.0, np.nan, np.inf, -np.inf, 3e38]),
)
def test_no_contribution_is_larger_than_the_sensitivity(n_classes, seed, size, spread, odd):
    rng = np.random.default_rng(seed)
    score = (size * rng.normal(size=(n_classes, 64))).astype(np.float32)
    score[rng.integers(n_classes), :8] = odd
    target = rng.integers(-1, n_classes + 1, 64).astype(np.float32)
    target[:4] = np.nan
    center = rng.normal(size=n_classes)
    each = ClassSums(center - center.mean(), spread)
    sums = [each.of(score[:, k : k + 1], target[k : k + 1]) for k in range(64)]
    norms = [sum(int(v) ** 2 for v in own) for own in sums]
    assert max(norms) <= LATTICE**2
    every = [each.of(score[:, 9:10], np.array([c], np.float32)) for c in range(n_classes)]
    assert max(sum(int(v) ** 2 for v in own) for own in every) > (0.99 * LATTICE) ** 2


def people_with(std=1.2, n=20_000, n_classes=3, seed=0):
    scores = std * np.random.default_rng(seed).normal(size=(n_classes, n))
    scores += np.linspace(-0.5, 0.5, n_classes)[:, None]
    return Population(scores - scores.mean(axis=0), np.full(n, 1.0 / n))


def softmax(scores):
    odds = np.exp(scores - scores.max(axis=0))
    return odds / odds.sum(axis=0)


def sums_of(people, each, n, scale, shift):
    """Return the expected sums if the true scores are a line in the scores."""
    p, z, weight = each.parts(people.scores)
    left = n * people.weights * weight * (softmax(scale * people.scores + shift[:, None]) - p)
    return np.append(left.sum(axis=1), (left * z).sum())


TRUE = [
    (1.0, np.zeros(3)),
    (1.6, np.array([0.3, -0.1, -0.2])),
    (0.7, np.array([-0.2, 0.0, 0.2])),
    (2.5, np.array([1.0, 0.0, -1.0])),
]


@pytest.mark.parametrize(("scale", "shift"), TRUE)
def test_scale_and_shifts_come_back_from_exact_sums(scale, shift):
    people, n = people_with(), 1e7
    each = class_sums(people)
    line = fitted_class_line(people, each, sums_of(people, each, n, scale, shift), n, 1.0)
    assert line.scale == pytest.approx(scale, rel=0.01)
    np.testing.assert_allclose(line.shift, shift, atol=0.01)
    assert line.shift.sum() == pytest.approx(0.0, abs=1e-9)


def test_errors_in_scale_and_shifts_hardly_depend_on_each_other():
    people = people_with(n_classes=4)
    each = class_sums(people)
    line = fitted_class_line(people, each, np.zeros(5), 20_000.0, 100.0)
    std = np.sqrt(np.diag(line.noise))
    correlation = line.noise / std / std[:, None]
    assert np.abs(correlation[-1, :-1]).max() < 0.2


def test_probabilities_hardly_change_if_the_sums_are_noise():
    people = people_with()
    each, rng = class_sums(people), np.random.default_rng(0)
    for noise_std in (1e3, 1e5, 1e8):
        for _ in range(20):
            sums = noise_std * rng.normal(size=4)
            line = fitted_class_line(people, each, sums, 1_000.0, noise_std)
            assert 0.9 < line.scale < 1.1
            assert np.abs(line.shift).max() < 0.1


@examples(100)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(3, 6))
def test_no_rounding_error_makes_the_spread_of_certain_scores_useless(seed, n_classes):
    """Without a spread, no contribution has a bound."""
    rng = np.random.default_rng(seed)
    scores = 15.0 * rng.integers(-5, 6, (n_classes, 1)) + np.zeros((1, 200))
    scores += rng.choice([0.0, 1.0, 60.0]) * rng.random((n_classes, 200))
    scores[0] += 90.0
    people = Population(scores - scores.mean(axis=0), np.full(200, 1.0 / 200))
    each = class_sums(people)
    assert 0.0 < each.spread < np.inf
    sums = each.of(people.scores[:, :1], np.zeros(1))
    assert sum(int(v) ** 2 for v in sums) <= LATTICE**2


@pytest.mark.parametrize(
    ("center", "spread"), [(0.0, np.nan), (0.0, 0.0), (0.0, np.inf), (np.nan, 1.0)]
)
def test_contributions_without_a_bound_are_never_summed(center, spread):
    with pytest.raises(ValueError, match="finite center"):
        ClassSums(np.full(3, center), spread)


@pytest.mark.parametrize("scale", [-3.0, 0.0])
def test_scores_that_the_sums_contradict_become_flat(scale):
    people, n = people_with(), 1e5
    each = class_sums(people)
    shift = (1.0 - scale) * each.center
    line = fitted_class_line(people, each, sums_of(people, each, n, scale, shift), n, 30.0)
    assert 0.002 < line.scale < 0.02
    assert np.isfinite(line.noise).all()


def test_noise_of_scale_and_shifts_is_that_of_repeated_releases():
    people, n, noise_std = people_with(n=3_000), 20_000.0, 60.0
    each = class_sums(people)
    exact = sums_of(people, each, n, 1.5, np.array([0.2, 0.0, -0.2]))
    rng = np.random.default_rng(1)
    lines = [
        fitted_class_line(people, each, exact + noise_std * rng.normal(size=4), n, noise_std)
        for _ in range(300)
    ]
    at_center = [[*(m.shift + (m.scale - 1) * m.center), np.log(m.scale)] for m in lines]
    seen = np.var(at_center, axis=0)
    stated = np.mean([np.diag(line.noise) for line in lines], axis=0)
    np.testing.assert_allclose(stated, seen, rtol=0.3)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_the_excess_of_the_sums_is_what_records_add_to_their_own_scores(n_classes):
    """Move each score by a fraction of its residual, and see how much larger the sums become."""
    n, n_parameters = 4_000, 12.0
    people = people_with(n=n, n_classes=n_classes)
    each = class_sums(people)
    line = ClassLine(1.3, np.zeros(n_classes), each.center, np.zeros((n_classes + 1,) * 2))
    found = class_overfitting(people, each, line, lambda curvature: n_parameters * curvature)
    chance, rng = softmax(1.3 * people.scores), np.random.default_rng(2)
    _, z, weight = each.parts(people.scores)
    seen = []
    for _ in range(100):
        y = (rng.random(n) > chance.cumsum(axis=0)).sum(axis=0)
        residual = (np.arange(n_classes)[:, None] == y) - chance
        _, moved_z, moved = each.parts(people.scores + n_parameters / n * residual)
        now, then = residual * moved, residual * weight
        seen.append(np.append((now - then).sum(axis=1), (now * moved_z - then * z).sum()))
    error = np.std(seen, axis=0) / 10
    np.testing.assert_allclose(found, np.mean(seen, axis=0), atol=(5 * error + 0.02).max())
    assert found[-1] > 1.0


def test_counts_of_groups_show_how_correlated_features_spread_the_scores():
    X, y = draw(20_000, 0)
    X["z"] = 1.0 - X["x"]
    model, seen = make(epsilon=8.0, reproducible_seed=1), []
    with pytest.MonkeyPatch.context() as patch:

        def line_of(people, *others):
            seen.append(people)
            return fitted_class_line(people, *others)

        patch.setattr(classes, "fitted_class_line", line_of)
        model.fit(X, y)
    scores = model._released_terms.contributions(model._columns(X)).sum(axis=1)
    scores = (scores + model._released_terms.intercept).T
    people = seen[-1]
    alone = population(model._fit.binned.counts, model._fit.bags[0])

    def size(people):
        mean = people.scores @ people.weights
        return ((people.scores - mean[:, None]) ** 2 @ people.weights).sum()

    true = size(Population(scores, np.full(len(X), 1.0 / len(X))))
    assert size(alone) < 0.8 * true
    assert size(people) == pytest.approx(true, rel=0.1)


# Fits.


@pytest.mark.parametrize("settings", [{}, {"outer_bags": 3}])
def test_scores_of_classes_are_a_line_of_the_released_ones(settings):
    X, y = draw(3_000, 0)
    model = make(epsilon=1.0, reproducible_seed=1, **settings).fit(X, y)
    released, line = model._released_terms, model._fit.line
    assert line.scale > 1.05  # a short fit leaves probabilities too close to the average
    before = released.intercept + released.contributions(model._columns(X)).sum(axis=1)
    expected = softmax((line.scale * before + line.shift).T).T
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    explanation = model.explain_global()
    for c, label in enumerate(model.classes_):
        own = explanation.for_class(label)
        for k, term in enumerate(own.terms):
            curve = line.scale * released.scores[k][:, c]
            np.testing.assert_allclose(term.contribution, curve, atol=1e-9)
        assert own.intercept == pytest.approx(model.intercept_[c])
    np.testing.assert_allclose(explanation.predict_proba(X), model.predict_proba(X), atol=1e-9)


def test_noise_of_scale_and_shifts_is_in_the_bands_of_the_classes():
    X, y = draw(3_000, 0)
    model = make(epsilon=1.0, reproducible_seed=1).fit(X, y)
    line = model._fit.line
    draws = model._noise_draws()
    model._fit = replace(model._fit, line=None)
    for c, (after, before) in enumerate(zip(draws, model._noise_draws(), strict=True)):
        more = (after.privacy**2).mean(0) - line.scale**2 * (before.privacy**2).mean(0)
        own = model._released_terms.of_class(c)
        moved = line.scale * np.append(np.concatenate(own.scores), own.intercept - line.center[c])
        expected = moved**2 * line.noise[-1, -1]
        expected[-1] += line.noise[c, c] + 2 * moved[-1] * line.noise[c, -1]
        both = 2 * np.sqrt(expected * line.scale**2 * (before.privacy**2).mean(0))
        assert (np.abs(more - expected) < 5 * both / np.sqrt(80) + 0.6 * expected + 1e-12).all()


def test_bags_of_classes_get_the_score_of_the_mean_curves():
    """Otherwise, the sums would describe the scores of other curves."""
    X, y = draw(20_000, 0)
    scales = {}
    for n_bags in (1, 4):
        model = make(epsilon=8.0, reproducible_seed=1, outer_bags=n_bags).fit(X, y)
        p = model.predict_proba(X)
        own = np.asarray(model.classes_) == np.asarray(y)[:, None]
        score = np.log(p) - np.log(p).mean(axis=1, keepdims=True)
        reaction = p * (score - (p * score).sum(axis=1, keepdims=True))
        scales[n_bags] = 1.0 + ((own - p) * score).sum() / (reaction * score).sum()
    np.testing.assert_allclose(list(scales.values()), 1.0, atol=0.05)


@pytest.mark.full
def test_calibration_lowers_the_log_loss_of_classes():
    check_that_log_loss_falls(draw, make, log_loss, 4_000)


def test_the_sums_of_classes_are_charged_and_paid_for_by_the_trees():
    check_that_trees_pay(draw, make, "test of calibrated classes")
