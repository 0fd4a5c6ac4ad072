"""Calibrated predictions: the paid release, the line computed from it, and its uses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration_cases import (
    FEATURES,
    check_that_log_loss_falls,
    check_that_trees_pay,
    held_in_several_ways,
    normal_cells,
)
from dpexplain.audit import record
from dpexplain.binning.counts import BinCounts
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting.calibration.line import contributions, fitted_line
from dpexplain.models.boosting.calibration.responses import (
    CLASSES,
    bound_of_numbers,
    event_counts,
    numbers,
)
from dpexplain.models.boosting.calibration.scores import ScoreCells, reweighted, score_cells
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import (
    LOGISTIC,
    SQUARED,
)
from dpexplain.schema import Classes, Range, Schema
from effort import examples

SCHEMA = Schema(FEATURES, target=Classes(["no", "yes"]))
COUNTS = [event_counts(*case) for case in ((1.0, 1.0, 0.5, 0.9), (8.0, 60.0, 4.0, 0.8))]


def draw(n, seed, strength=6.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "z": rng.random(n), "job": rng.choice(["a", "b"], n)})
    score = strength * (X["x"] - 0.5) + 0.3 * strength * (X["job"] == "a")
    y = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"))
    return X, y


def make(**settings):
    return DPExplainableBoostingClassifier(**{"schema": SCHEMA, **settings})


def log_loss(model, X, y):
    p = np.clip(model.predict_proba(X)[:, 1], 1e-9, 1 - 1e-9)
    return -np.mean(np.where(y == "yes", np.log(p), np.log1p(-p)))


# Parts.


@pytest.mark.parametrize("n", [0, 1, 7, 40_000])
def test_scores_are_counted_as_in_a_loop_however_records_are_held(n):
    rng = np.random.default_rng(n)
    bins = [rng.integers(0, 5, n).astype(np.uint8), rng.integers(0, 3, n).astype(np.uint8)]
    target = rng.integers(0, 2, n).astype(np.float32)
    curves = [np.linspace(-2, 2, 5), np.array([0.1, -0.4, 9.0])]
    low, width, n_cells = -1.5, 0.25, 16
    expected = np.zeros((2, n_cells), dtype=np.int64)
    for first, second, own in zip(*bins, target, strict=True):
        score = np.float32(curves[0][first]) + np.float32(curves[1][second])
        place = int((score - np.float32(low)) * np.float32(1 / width) // 1)
        expected[int(own), min(max(place, 0), n_cells - 1)] += 1
    with held_in_several_ways(bins, target, LOGISTIC, curves) as held:
        for records in held:
            found = records.score_counts(low, width, n_cells)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [0, 1, 7, 40_000])
def test_levels_of_residuals_are_counted_as_in_a_loop_however_records_are_held(n):
    rng = np.random.default_rng(n)
    bins = [rng.integers(0, 5, n).astype(np.uint8), rng.integers(0, 3, n).astype(np.uint8)]
    target = rng.uniform(-1, 1, n).astype(np.float32)
    target[::5] = np.nan  # a residual that is no number counts as none
    curves = [np.linspace(-2, 2, 5), np.array([0.1, -0.4, 9.0])]
    low, width, n_cells, bound = -1.5, 0.25, 16, 0.75
    expected = np.zeros((65, n_cells), dtype=np.int64)
    for first, second, own in zip(*bins, target, strict=True):
        score = np.float32(curves[0][first]) + np.float32(curves[1][second])
        place = int((score - np.float32(low)) * np.float32(1 / width) // 1)
        residual = 0.0 if np.isnan(own) else min(max((own - score) / bound, -1.0), 1.0)
        expected[round(32 + 32 * residual), min(max(place, 0), n_cells - 1)] += 1
    with held_in_several_ways(bins, target, SQUARED, curves) as held:
        found = [records.score_counts(low, width, n_cells, bound) for records in held]
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    # In double precision, a residual halfway between two levels may be rounded to the other.
    assert np.abs(found[0].cumsum(axis=0) - expected.cumsum(axis=0)).max() <= 1
    np.testing.assert_array_equal(found[0].sum(axis=0), expected.sum(axis=0))


def _table(score, n_bins=10):
    """Make bins, counts and a released curve of one feature."""
    places = (stats.norm.cdf(score) * n_bins).astype(np.uint8)
    bins = np.minimum(places, n_bins - 1)
    counts = np.append(np.bincount(bins, minlength=n_bins), 0.0)
    return bins, BinCounts(counts, np.ones(n_bins + 1), 1, True)


def test_scores_have_the_mean_and_the_spread_of_independent_features():
    normal = np.random.default_rng(0).standard_normal((100_000, 3))
    bins, counts = zip(*(_table(normal[:, k]) for k in range(3)), strict=True)
    curves = [np.append(0.5 + np.linspace(-1, 1, 10) ** p, 0.0) for p in (1, 1, 3)]
    score = sum(curve[b] for curve, b in zip(curves, bins, strict=True))
    cells = score_cells(counts, curves)
    mean = cells.weights @ cells.middles
    assert mean == pytest.approx(score.mean(), abs=0.01)
    assert cells.weights @ (cells.middles - mean) ** 2 == pytest.approx(score.var(), rel=0.08)
    assert cells.weights.sum() == pytest.approx(1.0)


def test_counts_of_groups_show_how_correlated_features_spread_the_scores():
    rng = np.random.default_rng(0)
    n = 100_000
    normal = rng.multivariate_normal([0, 0, 0], 0.3 * np.eye(3) + 0.7, n)
    bins, counts = zip(*(_table(normal[:, k]) for k in range(3)), strict=True)
    curves = [np.append(np.linspace(-1, 1, 10), 0.0)] * 3
    score = sum(curve[b] for curve, b in zip(curves, bins, strict=True))
    cells = score_cells(counts, curves)
    each = contributions(cells)
    place = np.clip((score - cells.low) / cells.width, 0, len(cells.weights) - 1)
    in_groups = np.bincount(each.group[place.astype(int)], minlength=10).astype(float)

    def variance(found):
        return found.weights @ (found.middles - found.weights @ found.middles) ** 2

    known = reweighted(cells, each.group, in_groups, n, 1.0)
    assert variance(cells) < 0.6 * score.var()
    assert variance(known) == pytest.approx(score.var(), rel=0.15)
    unknown = reweighted(cells, each.group, in_groups, n, 1e9)
    np.testing.assert_allclose(unknown.weights, cells.weights, atol=1e-6)


@examples(50)
@given(
    low=st.floats(-60, 60),
    width=st.floats(1e-6, 2.0),
    seed=st.integers(0, 2**32 - 1),
    concentrated=st.booleans(),
    response=st.sampled_from([CLASSES, numbers(3.0, 0.6), numbers(8.0, 0.9), *COUNTS]),
)
def test_no_contribution_is_larger_than_the_sensitivity(low, width, seed, concentrated, response):
    weights = np.random.default_rng(seed).random(64) ** (200 if concentrated else 1)
    steps = contributions(ScoreCells(low, width, weights / weights.sum()), response).steps
    norms = np.sqrt((steps.astype(object) ** 2).sum(axis=2).astype(float))
    assert norms.max() <= LATTICE
    assert norms.max() > 0.9 * LATTICE


def _sums(cells, each, n, slope, shift):
    """Return the expected sums if the true log-odds are a line in the scores."""
    chance = 1 / (1 + np.exp(-(slope * cells.middles + shift)))
    left = chance - each.expected
    return n * (each.directions * (cells.weights * left)[:, None]).sum(axis=0)


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.6, 0.3), (0.7, -0.2), (3.0, 1.0)])
def test_line_comes_back_from_exact_sums(slope, shift):
    cells, n = normal_cells(), 1e7
    each = contributions(cells)
    line = fitted_line(cells, each, _sums(cells, each, n, slope, shift), n, 1.0)
    assert line.scale == pytest.approx(slope, rel=0.01)
    assert line.shift == pytest.approx(shift, abs=0.01)


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.6, 0.3), (0.7, -0.2)])
def test_line_of_numbers_comes_back_from_exact_sums_in_any_unit(slope, shift):
    cells, n = normal_cells(), 1e7
    each = contributions(cells, numbers(4.0, 0.8))
    left = (slope - 1.0) * cells.middles + shift
    sums = n * (each.directions * (cells.weights * left / 4.0)[:, None]).sum(axis=0)
    line = fitted_line(cells, each, sums, n, 1.0)
    assert line.scale == pytest.approx(slope, rel=0.01)
    assert line.shift == pytest.approx(shift, abs=0.01)
    in_euros = line.converted(100.0, 7.0)
    score = np.array([-1.0, 0.5, 2.0])
    after = in_euros.scale * (7.0 + 100.0 * score) + in_euros.shift
    np.testing.assert_allclose(after, 7.0 + 100.0 * (line.scale * score + line.shift))
    assert in_euros.noise[0, 0] == pytest.approx(100.0**2 * line.noise[0, 0])


def test_the_bound_on_residuals_is_wide_where_there_is_little_noise():
    assert bound_of_numbers(1_000.0, 300.0) == 3.0
    assert bound_of_numbers(20_000.0, 100.0) == pytest.approx(4.8)
    assert bound_of_numbers(1e6, 100.0) == 8.0


@pytest.mark.parametrize(
    "response", [CLASSES, numbers(3.0, 0.6), event_counts(60.0, 60.0, 4.0, 0.8)]
)
def test_line_changes_nothing_if_the_sums_are_noise(response):
    cells = normal_cells()
    each = contributions(cells, response)
    rng = np.random.default_rng(0)
    for noise_std in (1e3, 1e5, 1e8):
        for _ in range(20):
            sums = noise_std * rng.normal(size=2)
            line = fitted_line(cells, each, sums, 1_000.0, noise_std)
            assert 0.9 < line.scale < 1.1
            assert abs(line.shift) < 0.1


@pytest.mark.parametrize("slope", [-3.0, -0.5, 0.0])
@pytest.mark.parametrize("response", [CLASSES, numbers(3.0, 0.6)])
def test_scores_that_the_sums_contradict_become_flat_and_right_on_average(slope, response):
    cells, n = normal_cells(), 1e5
    each = contributions(cells, response)
    outcome = response.mean(each.center + slope * (cells.middles - each.center))
    left = each.directions * (cells.weights * (outcome - each.expected))[:, None]
    line = fitted_line(cells, each, n * left.sum(axis=0), n, 30.0)
    assert 0.002 < line.scale < 0.02
    assert np.isfinite(line.noise).all()
    assert np.sqrt(line.noise[1, 1]) * line.scale < 0.02
    predicted = response.mean(line.scale * cells.middles + line.shift)
    size = np.ptp(outcome) + np.ptp(each.expected)
    assert abs(cells.weights @ (predicted - outcome)) < 0.05 * size


def test_noise_of_the_line_is_that_of_repeated_releases():
    cells, n, noise_std = normal_cells(), 20_000.0, 60.0
    each = contributions(cells)
    exact = _sums(cells, each, n, 1.5, 0.2)
    rng = np.random.default_rng(1)
    lines = [
        fitted_line(cells, each, exact + noise_std * rng.normal(size=2), n, noise_std)
        for _ in range(300)
    ]
    at_center = [line.shift + (line.scale - 1) * line.center for line in lines]
    seen = np.cov([at_center, [np.log(line.scale) for line in lines]])
    stated = np.mean([line.noise for line in lines], axis=0)
    np.testing.assert_allclose(np.diag(stated), np.diag(seen), rtol=0.3)


# Fits.


@pytest.mark.parametrize("settings", [{}, {"outer_bags": 3}, {"pairs": [("x", "z")]}])
def test_scores_are_a_rising_line_of_the_released_ones(settings):
    X, y = draw(3_000, 0)
    model = make(epsilon=2.0, reproducible_seed=1, **settings).fit(X, y)
    released, line = model._released_terms, model._fit.line
    assert line.scale > 1.05  # a short fit leaves scores too close to the average
    before = released.intercept + released.contributions(model._columns(X)).sum(axis=1)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, line.scale * before + line.shift, atol=1e-9)
    explanation = model.explain_global()
    for k, term in enumerate(explanation.terms):
        np.testing.assert_allclose(term.contribution, line.scale * released.scores[k], atol=1e-9)
    np.testing.assert_array_equal(model.explain_local(X).scores, scores)


def skewed(n, seed):
    """Draw numbers whose residuals are skewed, and whose bounds are far away."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "z": rng.random(n), "job": rng.choice(["a", "b"], n)})
    return X, pd.Series((1.0 + 2.0 * X["x"]) * rng.exponential(size=n)).clip(0, 30)


def of_numbers(**settings):
    schema = Schema(FEATURES, target=Range(0, 30))
    return DPExplainableBoostingRegressor(**{"schema": schema, **settings})


@pytest.mark.parametrize("settings", [{}, {"outer_bags": 3}, {"pairs": [("x", "z")]}])
def test_predicted_numbers_are_right_on_average_if_they_are_calibrated(settings):
    X, y = skewed(20_000, 0)
    errors = {}
    for calibrated in (False, True):
        model = of_numbers(epsilon=4.0, reproducible_seed=1, calibrated=calibrated, **settings)
        errors[calibrated] = float((y - model.fit(X, y).predict(X)).mean())
    assert errors[False] > 0.2
    assert abs(errors[True]) < 0.3 * errors[False]


def test_predicted_numbers_are_a_rising_line_of_the_released_ones():
    X, y = skewed(5_000, 0)
    model = of_numbers(epsilon=2.0, reproducible_seed=1, monotone_constraints={"x": 1}).fit(X, y)
    released, line = model._released_terms, model._fit.line
    assert line.scale > 0
    before = released.intercept + released.contributions(model._columns(X)).sum(axis=1)
    np.testing.assert_allclose(model.predict(X), line.scale * before + line.shift, atol=1e-9)
    assert (np.diff(model.explain_global()["x"].contribution[:-1]) >= 0).all()


def test_the_line_of_a_fit_with_pairs_is_the_same_in_any_unit():
    X, y = skewed(5_000, 0)
    lines = []
    for unit in (1.0, 1_024.0):  # a power of two, for equal rounding
        schema = Schema(FEATURES, target=Range(0, 30 * unit))
        model = of_numbers(schema=schema, epsilon=2.0, reproducible_seed=1, pairs=[("x", "z")])
        lines.append(model.fit(X, unit * y)._fit.line)
        assert model._fit.pair_tables
    assert lines[1].scale == pytest.approx(lines[0].scale)
    assert lines[1].shift == pytest.approx(1_024.0 * lines[0].shift)


def test_noise_of_the_average_prediction_is_in_the_band_of_the_intercept():
    """Repeat the release that calibrates, and nothing else."""
    X, y = skewed(5_000, 0)
    estimator = of_numbers(epsilon=1.0, structure_seed=1)
    model, transcript = record(estimator, X, y)
    averages, stated = [], []
    for _ in range(40):
        answers = iter(transcript.answers)

        def forge(phase, drawn, answers=answers):
            answer = next(answers)
            return drawn if phase.label == "calibration" else answer

        model, _ = record(estimator, X, y, answers=forge)
        averages.append(model.predict(X).mean())
        stated.append(model._fit.line.noise[0, 0])
    ratio = np.std(averages, ddof=1) / np.sqrt(np.mean(stated))
    # The standard deviation of 40 draws is within 45% of the true one in all but 1 in 10,000 cases.
    assert 0.55 < ratio < 1.5


def slope_of_records(model, X, y):
    """Return the slope of the best line from scores to log-odds, after one Newton step."""
    score = model.decision_function(X)
    p = 1 / (1 + np.exp(-score))
    won = (y == "yes").to_numpy()
    return 1 + ((won - p) @ score) / ((p * (1 - p)) @ (score - score.mean()) ** 2)


def test_scores_of_pairs_are_calibrated_with_the_curves():
    X, y = draw(20_000, 0, strength=2.0)
    rng = np.random.default_rng(1)
    joint = np.where((X["x"] > 0.5) == (X["z"] > 0.5), 2.5, -2.5)
    y = pd.Series(np.where(rng.random(len(X)) < 1 / (1 + np.exp(-joint)), "yes", "no"))
    found = {
        calibrated: make(
            epsilon=4.0, reproducible_seed=1, pairs=[("x", "z")], calibrated=calibrated
        ).fit(X, y)
        for calibrated in (False, True)
    }
    slopes = {kind: slope_of_records(model, X, y) for kind, model in found.items()}
    assert slopes[False] > 1.1
    assert slopes[True] == pytest.approx(1.0, abs=0.05)
    model = found[True]
    line, (before,), (after,) = model._fit.line, model._released_terms.pairs, model._terms.pairs
    np.testing.assert_allclose(after.scores, line.scale * before.scores)
    np.testing.assert_allclose(after.sampling_std, line.scale * before.sampling_std)
    of_line = (line.scale * before.scores) ** 2 * line.noise[1, 1]
    variance = line.scale**2 * before.noise_std**2 + of_line
    np.testing.assert_allclose(after.noise_std, np.sqrt(variance))
    (pair,) = model.explain_global(effect=False).pairs
    np.testing.assert_array_equal(pair.contribution, after.scores)


def test_records_of_several_bags_get_the_score_of_the_mean_curves():
    """Otherwise, the sums would describe the scores of other curves."""
    X, y = draw(20_000, 0)
    slopes = []
    for n_bags in (1, 4):
        model = make(epsilon=8.0, reproducible_seed=1, outer_bags=n_bags).fit(X, y)
        slopes.append(slope_of_records(model, X, y))
    np.testing.assert_allclose(slopes, 1.0, atol=0.05)


def test_band_includes_the_noise_of_the_line():
    X, y = draw(3_000, 0)
    model = make(epsilon=1.0, reproducible_seed=1).fit(X, y)
    line, released = model._fit.line, model._released_terms
    (draws,) = model._noise_draws()
    (before,) = (d for d in _uncalibrated_draws(model))
    more = (draws.privacy**2).mean(0) - line.scale**2 * (before.privacy**2).mean(0)
    curve = line.scale * np.concatenate(released.scores)
    expected = curve**2 * line.noise[1, 1]
    at = np.argmax(expected)
    # Two independent errors, with a chance covariance over the draws.
    both = 2 * np.sqrt(expected[at] * line.scale**2 * (before.privacy[:, at] ** 2).mean())
    chance = 4 * both / np.sqrt(len(before.privacy)) + 0.2 * expected[at]
    assert abs(more[at] - expected[at]) < chance
    assert more.sum() > 0


def _uncalibrated_draws(model):
    from dpexplain.models.boosting.uncertainty.simulate import simulate_noise

    return simulate_noise(model._fit, model._released_terms, model._objective(model.schema_))


@pytest.mark.full
def test_calibration_lowers_the_log_loss_of_short_fits():
    check_that_log_loss_falls(draw, make, log_loss, 3_000)


def test_calibration_is_charged_and_paid_for_by_the_trees():
    check_that_trees_pay(draw, make, "test of calibration")


@pytest.mark.parametrize("share", [0.95, 0.99])
def test_trees_keep_budget_if_pair_sums_take_almost_all(share):
    estimator = make(pair_budget_frac=share)
    mu = {e.label: e.mu for e in estimator.planned_events(draw(2, 0)[0])}
    total = mu["boosting"] ** 2 + mu["calibration"] ** 2 + mu["pairs"] ** 2
    assert mu["pairs"] ** 2 == pytest.approx(share * total)
    assert mu["boosting"] ** 2 >= 0.499 * (1.0 - share) * total
    assert estimator.fit(*draw(50, 0)).n_rounds_ >= 1


@pytest.mark.parametrize(
    "settings",
    [
        {"calibrated": False},
        {"preset": "paper"},
        {"composition": "gdp"},
    ],
)
def test_nothing_is_charged_where_nothing_is_calibrated(settings):
    planned = make(**settings).planned_events(draw(2, 0)[0])
    assert "calibration" not in {e.label for e in planned}
