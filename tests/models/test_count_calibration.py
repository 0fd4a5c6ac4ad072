"""Calibrated counts: levels of counts, the bound on their residuals, and expected counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_cases import FEATURES, held_in_several_ways, normal_cells
from dpexplain.models import DPExplainableBoostingRegressor
from dpexplain.models.boosting.calibration.line import ENDS, contributions, fitted_line
from dpexplain.models.boosting.calibration.responses import bound_of_counts, event_counts
from dpexplain.models.boosting.calibration.scores import reweighted
from dpexplain.models.boosting.records.binned import POISSON, count_levels
from dpexplain.schema import Range, Schema
from effort import examples


@pytest.mark.parametrize("n", [0, 1, 7, 40_000])
@pytest.mark.parametrize("high", [3.0, 77.5, 2_000.0])
def test_counts_are_counted_as_in_a_loop_however_records_are_held(n, high):
    rng = np.random.default_rng(n)
    bins = [rng.integers(0, 5, n).astype(np.uint8), rng.integers(0, 3, n).astype(np.uint8)]
    given = np.minimum(rng.negative_binomial(0.3, 0.3 / (0.3 + high / 4), n), high)
    target = (given / high).astype(np.float32)
    curves = [np.linspace(-4, -2, 5), np.array([0.1, -0.4, 9.0])]
    low, width, n_cells, levels = -4.25, 0.25, 16, count_levels(high)
    expected = np.zeros((len(levels), n_cells), dtype=np.int64)
    for first, second, own in zip(*bins, given, strict=True):
        score = np.float32(curves[0][first]) + np.float32(curves[1][second])
        place = int((score - np.float32(low)) * np.float32(1 / width) // 1)
        level = int(np.abs(levels - own).argmin())
        expected[level, min(max(place, 0), n_cells - 1)] += 1
    with held_in_several_ways(bins, target, POISSON, curves) as held:
        for records in held:
            found = records.score_counts(low, width, n_cells, high)
            np.testing.assert_array_equal(found, expected)


@examples(100)
@given(high=st.floats(1e-3, 1e300))
def test_small_counts_are_levels_and_large_ones_are_close_to_one(high):
    levels = count_levels(high)
    assert (np.diff(levels) > 0).all()
    assert levels[0] == 0.0
    assert levels[-1] == pytest.approx(high)
    assert len(levels) <= 465
    assert np.isin(np.arange(min(np.ceil(high), 64.0)), levels).all()
    assert high > 1e10 or (levels[65:] <= 1.051 * levels[64:-1]).all()


def test_noise_in_the_count_of_a_group_far_away_does_not_change_the_mean_rate():
    cells, n = normal_cells(1.0, 0.0), 5_000.0
    group = np.searchsorted(ENDS, cells.middles)
    counts = n * np.bincount(group, cells.weights, 10)
    counts[-1] += 30.0
    for far_matters in (True, False):
        found = reweighted(cells, group, counts, n, 20.0, far_matters=far_matters)
        ratio = (found.weights @ np.exp(found.middles)) / (cells.weights @ np.exp(cells.middles))
        assert bool(ratio < 1.03) is far_matters


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.3, 0.4), (0.7, -0.2)])
def test_line_of_counts_comes_back_from_exact_sums(slope, shift):
    cells, n, high = normal_cells(0.6, -3.5), 1e7, 60.0
    response = event_counts(20.0, high, 5.0, 0.9)
    each = contributions(cells, response)
    rates = np.exp(slope * cells.middles + shift) * high
    left = rates / 20.0 - each.expected
    sums = n * (each.directions * (cells.weights * left)[:, None]).sum(axis=0)
    line = fitted_line(cells, each, sums, n, 1.0)
    assert line.scale == pytest.approx(slope, rel=0.01)
    assert line.shift == pytest.approx(shift, abs=0.02)


def test_the_bound_on_residuals_of_counts_is_wide_where_there_is_little_noise():
    cells = normal_cells(0.6, -3.5)
    bounds = [bound_of_counts(cells, 60.0, n, 40.0) for n in (1.0, 1e3, 1e4, 1e9)]
    assert bounds[0] == 1.0
    assert bounds[-1] == 60.0
    assert bounds == sorted(set(bounds))
    rare = bound_of_counts(normal_cells(0.6, -8.0), 60.0, 1e4, 40.0)
    assert 1.0 <= rare < 2.0


def drawn_counts(n, seed, intercept=0.0):
    """Draw counts with a long upper tail, whose public bound is far away."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "z": rng.random(n), "job": rng.choice(["a", "b"], n)})
    rates = np.exp(intercept + X["x"] + 0.5 * (X["job"] == "a")) * rng.gamma(0.5, 2.0, n)
    return X, pd.Series(rng.poisson(rates).clip(0, 60))


def of_counts(**settings):
    schema = Schema(FEATURES, target=Range(0, 60))
    return DPExplainableBoostingRegressor(**{"schema": schema, "objective": "poisson", **settings})


@pytest.mark.parametrize("settings", [{}, {"outer_bags": 3}, {"monotone_constraints": {"x": 1}}])
def test_expected_counts_are_right_on_average_if_they_are_calibrated(settings):
    X, y = drawn_counts(20_000, 0)
    ratios = {}
    for calibrated in (False, True):
        model = of_counts(epsilon=4.0, reproducible_seed=1, calibrated=calibrated, **settings)
        ratios[calibrated] = float(model.fit(X, y).predict(X).mean() / y.mean())
    assert ratios[False] < 0.85
    assert 0.96 < ratios[True] < 1.04


@pytest.mark.filterwarnings("ignore:epsilon")
def test_rare_counts_are_right_on_average_too():
    """Residuals of rare events are small, so rounding them would shift the rates."""
    X, y = drawn_counts(50_000, 0, intercept=-4.0)
    model = of_counts(epsilon=20.0, reproducible_seed=1).fit(X, y)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.05)


def test_logarithms_of_expected_counts_are_a_rising_line_of_the_released_ones():
    X, y = drawn_counts(5_000, 0)
    model = of_counts(epsilon=2.0, reproducible_seed=1).fit(X, y)
    released, line = model._released_terms, model._fit.line
    before = released.intercept + released.contributions(model._columns(X)).sum(axis=1)
    after = line.scale * before + line.shift
    np.testing.assert_allclose(np.log(model.predict(X)), after, atol=1e-9)
    explanation = model.explain_global()
    for k, term in enumerate(explanation.terms):
        np.testing.assert_allclose(term.contribution, line.scale * released.scores[k], atol=1e-9)


@pytest.mark.parametrize("clip", [1e-9, None, 1.0])
@pytest.mark.parametrize("high", [1.0, 60.0, 1e6, 1e12])
def test_counts_of_any_size_give_a_finite_line(high, clip):
    X, y = drawn_counts(300, 0)
    schema = Schema(FEATURES, target=Range(0, high))
    for scale in (0.0, 1.0, high / 100.0):
        model = of_counts(schema=schema, clip=clip, reproducible_seed=1).fit(X, scale * y)
        line = model._fit.line
        assert np.isfinite([line.scale, line.shift, *line.noise.ravel()]).all()
        assert np.isfinite(model.predict(X)).all()
