"""How closely curves follow the noise of their own records, and what calibration makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.binning.counts import BinCounts
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import fit as fit_module
from dpexplain.models.boosting.calibration.line import Line, contributions, overfitting
from dpexplain.models.boosting.calibration.overfitting import fitted_parameters, share_of_parameters
from dpexplain.models.boosting.calibration.responses import CLASSES, numbers
from dpexplain.models.boosting.calibration.scores import ScoreCells
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.released import LeafStep, LeafSteps
from dpexplain.models.boosting.structure import random_visits
from dpexplain.schema import Classes, Numeric, Range, Schema
from effort import examples

RATE = 0.3


def drawn(sizes, n_passes, seed, n_leaves=3, n_records=4_000.0):
    """Draw trees of features with these numbers of bins, and steps without sums."""
    rng = np.random.default_rng(seed)
    counts = []
    for size in sizes:
        shares = rng.dirichlet(np.full(size, 2.0))
        counts.append(BinCounts(n_records * np.append(shares, 0.0), np.ones(size + 1), 1, True))
    visits = random_visits(
        counts, n_epochs=n_passes, max_leaves=n_leaves, min_leaf_count=20.0, rng=rng
    )
    steps = []
    for v in visits:
        nothing = np.zeros(len(v.leaf_weight))
        steps.append(LeafStep(1.0, nothing, RATE / v.leaf_weight, False, nothing))
    return counts, visits, LeafSteps.joined(steps)


def parameters(counts, visits, steps, curvature=0.2, direction=None, curves=None):
    curves = [np.arange(len(c.counts), dtype=float) for c in counts] if curves is None else curves
    directions = [direction] * len(counts)
    return fitted_parameters(visits, steps, counts, curves, directions, curvature)


def parameters_of_a_loop(counts, visits, steps, curvature=0.2):
    """Move an error in the residual sum of each bin through all visits, one by one."""
    total = 0.0
    for k, feature in enumerate(counts):
        mass = curvature * np.maximum(feature.counts, 0.0)
        for b in range(len(mass)):
            error = -mass / mass.sum()  # without the error in the mean residual
            error[b] += 1.0
            before = error[b]
            for v, visit in enumerate(visits):
                if visit.feature == k:
                    sums = np.bincount(visit.leaf_of_bin, error, len(visit.leaf_weight))
                    error = error - mass * (steps[v].gain * sums)[visit.leaf_of_bin]
            total += before - error[b]
    return total


@pytest.mark.parametrize("n_passes", [1, 4, 40])
def test_parameters_are_those_of_a_loop_if_all_trees_are_alike(n_passes):
    counts, visits, steps = drawn([7, 12], 1, seed=n_passes)
    first = len(counts)
    again = np.tile(np.arange(first), n_passes)
    alike = type(visits)(
        visits.feature[again], visits.leaf_of_bin[again], visits.leaf_weight[again],
        visits.n_bins, visits.n_leaves[again], visits.n_records,
    )  # fmt: skip
    repeated = LeafSteps.joined([steps[i] for i in again])
    expected = parameters_of_a_loop(counts, alike, repeated)
    assert parameters(counts, alike, repeated) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("n_passes", "n_leaves"), [(20, 3), (100, 3), (100, 5)])
def test_parameters_of_random_trees_are_nearly_those_of_a_loop(n_passes, n_leaves):
    case = drawn([5, 14, 30], n_passes, seed=n_passes, n_leaves=n_leaves)
    assert parameters(*case) == pytest.approx(parameters_of_a_loop(*case), rel=0.05)


@examples(50)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    n_passes=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
    n_records=st.sampled_from([0.0, 1.0, 300.0, 1e7]),
    curvature=st.floats(0.0, 1.0),
)
def test_there_are_at_most_as_many_parameters_as_bins_and_more_after_more_passes(
    sizes, n_passes, seed, n_records, curvature
):
    counts, visits, steps = drawn(sizes, n_passes, seed, n_records=n_records)
    found = parameters(counts, visits, steps, curvature)
    assert -1e-6 <= found <= sum(len(c.counts) - 1 for c in counts) + 1e-6
    twice = type(visits)(
        *(np.concatenate([part, part]) for part in (visits.feature, visits.leaf_of_bin)),
        np.concatenate([visits.leaf_weight] * 2),
        visits.n_bins,
        np.concatenate([visits.n_leaves] * 2),
        visits.n_records,
    )  # fmt: skip
    assert parameters(counts, twice, LeafSteps.joined([steps, steps]), curvature) >= found - 1e-6


def test_a_constrained_curve_has_at_most_as_many_parameters_as_rises():
    counts, visits, steps = drawn([20], 100, seed=0)
    free = parameters(counts, visits, steps)
    two_levels = [np.repeat([0.0, 1.0], [9, 12])]
    for direction, most in (("increasing", 1.0), (None, free)):
        found = parameters(counts, visits, steps, direction=direction, curves=two_levels)
        assert found == pytest.approx(most)
    flat = [np.zeros(21)]
    assert parameters(counts, visits, steps, direction="decreasing", curves=flat) == 0.0


def halves_of(correlations, n=10_000.0, noise_std=0.0):
    """Return sums of pairs of features that are cut at their middle, and their counts."""
    n_features = len(correlations)
    upper = np.array([False, False, True, True])
    counts = [BinCounts(np.full(4, n / 4), np.ones(4), 0, True)] * n_features
    sums = n * np.array(correlations)[np.triu_indices(n_features, 1)]
    return PairSums((upper,) * n_features, sums, noise_std), counts, n


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_copies_of_features_have_the_parameters_of_one(copies):
    blocks = np.kron(np.eye(3), np.ones((copies, copies)))
    assert share_of_parameters(*halves_of(blocks)) == pytest.approx(1.0 / copies, rel=0.01)


@given(noise_std=st.floats(0.0, 300.0), seed=st.integers(0, 99))
def test_noise_in_sums_of_pairs_hardly_changes_the_share_of_parameters(noise_std, seed):
    drawn_ = np.random.default_rng(seed).normal(0, 1 / 100 + noise_std / 10_000, (40, 40))
    found = share_of_parameters(*halves_of(drawn_, noise_std=noise_std))
    assert 0.9 < found <= 1.0


@given(sums=st.sampled_from([0.0, -(2.0**63), 2.0**63]), n=st.sampled_from([-5.0, 0.0, 1e12]))
def test_any_sums_of_pairs_give_a_share_of_parameters(sums, n):
    pairs, counts, _ = halves_of(np.eye(3))
    found = share_of_parameters(replace(pairs, sums=np.full(3, sums)), counts, n)
    assert 0.0 <= found <= 1.0
    assert share_of_parameters(None, counts, n) == 1.0


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:epsilon")
def test_scores_of_nearly_equal_features_are_not_shrunk_to_nothing():
    rng = np.random.default_rng(0)
    own = rng.random(11_000)
    X = pd.DataFrame({f"x{k}": np.clip(own + rng.normal(0, 0.02, 11_000), 0, 1) for k in range(30)})
    y = labels("classes", 3 * own - 1.5, rng)
    model = make("classes", 30, epsilon=50.0, reproducible_seed=0).fit(X[:1000], y[:1000])
    assert 0.5 < slope_among(model, X[1000:], y[1000:]) < 1.5


@pytest.mark.full
def test_scores_follow_the_labels_of_their_records_as_computed():
    """Refit without noise to labels drawn again, with the trees of a private fit."""
    rng = np.random.default_rng(0)
    X, score = drawn_people(3_000, 5, rng)
    chance = 1 / (1 + np.exp(-score))
    model = make("classes", 5, epsilon=8.0, reproducible_seed=1)
    model.fit(X, labels("classes", score, rng))
    fit, terms = model._fit, model._released_terms
    bins = [b.index(c) for b, c in zip(terms.bins, model._columns(X), strict=True)]

    def scores(won):
        found = np.zeros(len(won))
        for visit, step in zip(fit.visits, fit.steps, strict=True):
            leaf = visit.leaf_of_bin[bins[visit.feature]]
            left = np.clip(won - 1 / (1 + np.exp(-found)), -step.clip, step.clip)
            found += (step.gain * np.bincount(leaf, left, len(step.gain)))[leaf]
        return found

    covariances = []
    for _ in range(12):
        first, second = (1.0 * (rng.random(len(X)) < chance) for _ in range(2))
        covariances.append((scores(first) - scores(second)) @ (first - second) / 2)
    curvature = float(np.mean(chance * (1 - chance)))
    counts, directions = fit.binned.counts, fit.monotone
    found = fitted_parameters(fit.visits, fit.steps, counts, fit.bags[0], directions, curvature)
    # One more for the error in the mean residual, which all features follow together.
    assert found + 1.0 == pytest.approx(np.mean(covariances), rel=0.15)


@pytest.mark.parametrize("response", [CLASSES, numbers(4.0, 0.8)])
def test_sums_are_too_large_by_the_covariance_of_outcomes_with_directions(response):
    """Move each score by a small share of the residual of one of two equally likely outcomes."""
    cells = ScoreCells(-5.0, 9.0 / 512, np.ones(512) / 512)
    weights = stats.norm.pdf(cells.middles, -0.5, 1.2)
    cells = ScoreCells(cells.low, cells.width, weights / weights.sum())
    each, n_parameters, n = contributions(cells, response), 3.0, 1e6
    line = Line(1.5, 0.2, 0.0, np.zeros((2, 2)))
    expected = response.mean(line.scale * cells.middles + line.shift)
    std = np.sqrt(response.variance(expected))
    slope = cells.weights @ response.slope(cells.middles)
    sums = np.zeros(2)
    for side in (-1.0, 1.0):
        moved = cells.middles + side * std * n_parameters / (n * slope)
        for j in range(2):
            direction = np.interp(moved, cells.middles, each.directions[:, j])
            sums[j] += n * cells.weights @ (direction * side * std) / 2
    found = overfitting(cells, each, line, n_parameters)
    np.testing.assert_allclose(found, sums, rtol=0.02, atol=0.02 * np.abs(sums).max())


def make(kind, n_features, **settings):
    features = {f"x{k}": Numeric(0, 1) for k in range(n_features)}
    if kind == "classes":
        schema = Schema(features, target=Classes(["no", "yes"]))
        return DPExplainableBoostingClassifier(schema=schema, **settings)
    if kind == "counts":
        settings |= {"objective": "poisson", "schema": Schema(features, target=Range(0, 60))}
        return DPExplainableBoostingRegressor(**settings)
    return DPExplainableBoostingRegressor(schema=Schema(features, target=Range(-8, 8)), **settings)


def drawn_people(n, n_features, rng):
    """Draw people whose score depends on every third feature."""
    values = rng.random((n, n_features))
    curves = (lambda x: 2 * x - 1, lambda x: np.sin(2 * np.pi * x), lambda x: (x > 0.7) - 0.3)
    score = sum(curves[k // 3 % 3](values[:, k]) for k in range(0, n_features, 3))
    return pd.DataFrame(values, columns=[f"x{k}" for k in range(n_features)]), score


def labels(kind, score, rng):
    if kind == "numbers":
        return pd.Series(np.clip(score + 3 * rng.standard_normal(len(score)), -8, 8))
    if kind == "counts":
        rates = np.exp(0.45 * score) * rng.gamma(1.0, 1.0, len(score))
        return pd.Series(rng.poisson(rates).clip(0, 60))
    return pd.Series(np.where(rng.random(len(score)) < 1 / (1 + np.exp(-score)), "yes", "no"))


def slope_among(model, X, y):
    """Return the slope of outcomes on scores, relative to what the model says."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    if isinstance(model, DPExplainableBoostingRegressor):
        if model.objective == "poisson":
            log = np.log(model.predict(X))[:, None]
            return float(PoissonRegressor(alpha=0.0, max_iter=1_000).fit(log, y).coef_[0])
        return float(np.polyfit(model.predict(X), y, 1)[0])

    score = model.decision_function(X)[:, None]
    return float(LogisticRegression(C=np.inf).fit(score, y == "yes").coef_[0, 0])


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "n_features", "epsilon", "least"),
    # Counts need a larger epsilon: their bound is wide, so their sums are noisy.
    [("classes", 30, 8.0, 0.95), ("numbers", 30, 8.0, 0.95), ("counts", 6, 30.0, 0.85)],
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_predictions_for_new_people_are_calibrated_although_curves_follow_noise(
    kind, n_features, epsilon, least, monkeypatch
):
    slopes = {"corrected": [], "not corrected": []}
    for way, found in slopes.items():
        if way == "not corrected":
            monkeypatch.setattr(fit_module, "fitted_parameters", lambda *_: 0.0)
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X, score = drawn_people(30_000, n_features, rng)
            y, n = labels(kind, score, rng), 8_000
            model = make(kind, n_features, epsilon=epsilon, reproducible_seed=seed)
            model.fit(X[:n], y[:n])
            found.append(slope_among(model, X[n:], y[n:]))
    assert np.mean(slopes["not corrected"]) < 0.92
    assert least < np.mean(slopes["corrected"]) < 1.05
