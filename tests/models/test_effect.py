"""The estimate of the effect in the population, which undoes shrinkage."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpexplain.io import from_json, to_json
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting.uncertainty.effects import _kernels_expected as _kernels
from dpexplain.models.boosting.uncertainty.effects import estimate
from dpexplain.models.boosting.uncertainty.effects.effect import estimate_effect
from dpexplain.models.boosting.uncertainty.effects.posterior import (
    covariance_of_shrinkage,
    information,
)
from dpexplain.models.boosting.uncertainty.effects.trajectory import Trajectory
from dpexplain.models.boosting.uncertainty.normal import mean_and_variances
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning"),
]

FEATURES = {"x": Numeric(0, 1), "z": Numeric(0, 1), "job": Categorical(["a", "b", "c"])}
OF_JOB = {"a": -0.6, "b": 0.2, "c": 0.8}


def draw(n, seed, kind="classes"):
    """Draw independent features, the second of which has no effect."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"x": rng.uniform(0, 1, n), "z": rng.uniform(0, 1, n), "job": rng.choice(list("abc"), n)}
    )
    score = 3.0 * (X["x"] - 0.5) + X["job"].map(OF_JOB)
    if kind == "numbers":
        return X, pd.Series(score + rng.normal(0, 1, n)).clip(-6, 6)
    return X, pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"))


def fitted(n=4_000, seed=0, epsilon=1.0, kind="classes", **settings):
    numbers = kind == "numbers"
    target = Range(-6, 6) if numbers else Classes(["no", "yes"])
    estimator = DPExplainableBoostingRegressor if numbers else DPExplainableBoostingClassifier
    schema = Schema(FEATURES, target=target)
    model = estimator(epsilon=epsilon, schema=schema, structure_seed=seed, **settings)
    return model.fit(*draw(n, seed, kind))


def truth(term):
    """Return the true curve per bin, centered like the term."""
    if term.name == "z":
        curve = np.zeros(term.n_bins)
    elif term.name == "job":
        curve = np.array([*OF_JOB.values(), 0.0, 0.0])
    else:
        curve = np.append(3.0 * ((term.bin_edges[1:] + term.bin_edges[:-1]) / 2 - 0.5), 0.0)
    return curve - term.weights @ curve


# Parts.


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_noise_in_a_count_is_an_error_of_all_sums_of_its_feature(kind):
    """The part of each bin in a sum is the derivative for points that the bin alone contains."""
    model = fitted(1_500, 3, kind=kind)
    released = model._fit, model._released_terms, model._objective(model.schema_)
    whole = estimate.Estimate(*released, estimate.CAREFUL)
    trajectory, population = whole._trajectory, whole._population
    truth, curves = np.sin(population.scores[:, 0]), np.zeros(len(trajectory._shares))
    together = np.zeros((3, 3))
    errors = trajectory._count_errors
    sizes = [len(counts.counts) for counts in model._fit.binned.counts]
    values = [(c.variance**0.5 / c.counts)[: -c.n_special] for c in model._fit.binned.counts]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for start, own in zip(starts, values, strict=False):
        np.testing.assert_allclose(errors[start : start + len(own)], own)
    alone = [population.bins[:, [k]] == np.arange(n) for k, n in enumerate(sizes)]
    inside = np.concatenate(alone, axis=1).astype(np.float64)
    assumed = population, truth, whole._functions, (inside, inside[:, :0]), curves, together
    found = list(trajectory.by_feature(*assumed))
    precision, pull, of_features = trajectory.known(*assumed)
    trajectory._count_errors = np.zeros_like(errors)
    plain = list(trajectory.by_feature(*assumed))
    first = sum(functions.shape[1] for functions in whole._functions)
    for own, (before, pulled), (start, end) in zip(found, plain, pairwise(starts), strict=True):
        # With errors of variance 1, adding shared errors changes the inverse of the information.
        shared = np.zeros((len(before), end - start))
        shared[np.arange(first + start, first + end), np.arange(end - start)] = errors[start:end]
        lost = np.linalg.inv(np.eye(end - start) + shared.T @ before @ shared)
        kept = np.eye(len(before)) - before @ shared @ lost @ shared.T
        np.testing.assert_allclose(own[0], kept @ before, atol=1e-9 * before.max())
        np.testing.assert_allclose(own[1], kept @ pulled, atol=1e-9 * np.abs(pulled).max())
    np.testing.assert_allclose(precision, sum(own[0] for own in found), rtol=1e-9)
    np.testing.assert_allclose(pull, sum(own[1] for own in found), rtol=1e-9)
    ends = np.cumsum([functions.shape[1] for functions in whole._functions])
    for own, (part, _), end in zip(of_features, found, ends, strict=True):
        np.testing.assert_array_equal(own, part[:, end - own.shape[1] : end])


@given(seed=st.integers(0, 2**16))
@settings(max_examples=30, deadline=None)
def test_information_accounts_for_errors_that_leaves_share(seed):
    rng = np.random.default_rng(seed)
    trajectory, n_bins = object.__new__(Trajectory), 4
    leaf, row = rng.integers(0, 3, (5, n_bins)), np.sort(rng.integers(0, 2, 5))
    member = [(own == np.arange(3)[:, None]).astype(float) for own in leaf]
    trajectory._start = np.array([0, n_bins])
    trajectory._count_errors = rng.choice([0.0, 0.1, 1.0, 100.0], n_bins)
    trajectory._groups = [
        [(a, np.concatenate([member[v] for v in range(5) if row[v] == a]), np.flatnonzero(
            np.repeat(row, 3) == a)) for a in np.unique(row)]
    ]  # fmt: skip
    missing, std = rng.normal(size=15), rng.uniform(0.5, 2.0, 15)
    slopes, inside = rng.normal(size=(2, n_bins, 3)), rng.normal(size=(2, n_bins))
    precision, pull = trajectory._per_leaf(0, missing, slopes, inside, std)
    of_leaf = np.concatenate([m @ slopes[a] for m, a in zip(member, row, strict=True)])
    loads = [m * inside[a] * trajectory._count_errors for m, a in zip(member, row, strict=True)]
    loads = np.concatenate(loads) / std[:, None]
    of_leaf /= std[:, None]
    weights = np.linalg.inv(np.eye(15) + loads @ loads.T)
    np.testing.assert_allclose(precision, of_leaf.T @ weights @ of_leaf, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(pull, of_leaf.T @ weights @ missing, rtol=1e-6, atol=1e-6)


def test_information_about_people_is_less_than_that_about_the_sample_and_the_records():
    rng = np.random.default_rng(1)
    slopes, root = rng.normal(size=(40, 4)), rng.normal(size=(9, 4))
    fisher, here, missing = root.T @ root, rng.normal(size=4), rng.normal(size=40)
    of_sums = slopes.T @ slopes
    found = information(of_sums, slopes.T @ missing + of_sums @ here, fisher)
    expected = np.linalg.inv(np.linalg.inv(of_sums) + np.linalg.inv(fisher))
    np.testing.assert_allclose(found.precision, expected, rtol=1e-5)
    alone = np.linalg.solve(of_sums, slopes.T @ missing) + here
    np.testing.assert_allclose(found.pull, expected @ alone, rtol=1e-4, atol=1e-6)


def test_mean_and_variances_are_those_of_the_inverse():
    rng = np.random.default_rng(4)
    root, pull = rng.normal(size=(9, 6)), rng.normal(size=6)
    precision = root.T @ root
    mean, variances = mean_and_variances(precision, pull)
    covariance = np.linalg.inv(precision)
    np.testing.assert_allclose(mean, covariance @ pull, rtol=1e-9)
    np.testing.assert_allclose(variances, np.diag(covariance), rtol=1e-9)


@pytest.mark.parametrize("kind", [_kernels.LOGISTIC, _kernels.NORMAL])
def test_expected_sums_are_those_of_a_naive_loop(kind):
    rng = np.random.default_rng(2)
    n_people, sizes = 60, [4, 3]
    start = np.array([0, 4, 7])
    bins = np.column_stack([rng.integers(0, b, n_people) for b in sizes])
    truth_, functions = rng.normal(size=n_people), [rng.normal(size=(n, n - 2)) for n in sizes]
    columns = np.concatenate([own[bins[:, k]] for k, own in enumerate(functions)], axis=1)
    scores = rng.normal(size=(n_people, 2))
    visit_feature = np.array([0, 1, 0, 1])
    leaves = [rng.integers(0, 2, sizes[k]) for k in visit_feature]
    updates = [rng.normal(size=sizes[k]) for k in visit_feature]
    clips, anchor = np.array([0.7, 0.6, 0.8, 0.5]), np.array([0, 0, -1, 1])
    left, shares = rng.normal(size=7), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.2, 0.3])
    together, each, spread = np.array([[0.0, 0.3], [0.3, 0.0]]), 2.5, 0.9
    sums, reach, weights = np.zeros(8), np.zeros(8), np.zeros((2, 2, n_people, 2))
    _kernels.expected_sums(
        bins, start, truth_, each, spread, kind, 0.1, visit_feature,
        np.concatenate(leaves).astype(np.int64), np.array([0, 4, 7, 11]), np.concatenate(updates),
        np.array([0, 2, 4, 6, 8]), clips, anchor, left.copy(), shares, together, sums, reach,
        weights,
    )  # fmt: skip
    values = np.column_stack([np.ones(n_people), scores])
    found = [
        _kernels.per_bin(k, bins + start[:2], functions, *weights[:, k], values) for k in (0, 1)
    ]
    slopes = np.concatenate([np.concatenate(own, axis=2) for own in found], axis=1)
    expected, wanted, room = np.zeros(8), np.zeros((2, 7, 6)), np.zeros(8)
    score, lacks = np.full(n_people, 0.1), left.copy()
    for v, k in enumerate(visit_feature):
        residual, reaction = _naive(kind, truth_, score, clips[v], spread)
        other = 1 - k
        own = slice(start[other], start[other + 1])
        mean = shares[own] @ lacks[own]
        variance = shares[own] @ (lacks[own] - mean) ** 2
        for m in range(n_people):
            leaf = 2 * v + leaves[v][bins[m, k]]
            expected[leaf] += each * residual[m]
            room[leaf] += each * reaction[m] * np.sqrt(together[k, other] * variance)
            if anchor[v] >= 0:
                row = wanted[anchor[v], start[k] + bins[m, k]]
                row[:3] += each * reaction[m] * columns[m]
                row[3] += each * residual[m]
                row[4:] += each * residual[m] * scores[m]
            score[m] += updates[v][bins[m, k]]
        lacks[start[k] : start[k + 1]] -= updates[v]
    # The normal twin integrates on 20,001 points.
    exact = 1e-9 if kind == _kernels.LOGISTIC else 1e-5
    np.testing.assert_allclose(sums, expected, rtol=exact, atol=exact)
    np.testing.assert_allclose(slopes, wanted, rtol=exact, atol=exact)
    # Shares of the first feature add up to 1, as those of the second do.
    np.testing.assert_allclose(reach, room, rtol=1e-9)


def _naive(kind, truth_, score, clip, spread):
    if kind == _kernels.LOGISTIC:
        q, p = 1 / (1 + np.exp(-truth_)), 1 / (1 + np.exp(-score))
        up, down = np.minimum(1 - p, clip), np.minimum(p, clip)
        return q * up - (1 - q) * down, q * (1 - q) * (up + down)
    apart = truth_ - score
    points = np.linspace(-9.0, 9.0, 20_001)
    weights = stats.norm.pdf(points)
    weights /= weights.sum()
    clipped = np.clip(apart[:, None] + spread * points, -clip, clip)
    inside = stats.norm.cdf((clip - apart) / spread) - stats.norm.cdf((-clip - apart) / spread)
    return clipped @ weights, inside


# The whole.


def test_shrinkage_of_terms_is_as_much_alike_as_their_features():
    features = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    off, owner = np.array([0.5, 1.0, -2.0, 3.0, 4.0]), np.array([0, 1, 1, 2, 3])
    found = covariance_of_shrinkage(off, owner, features)
    assert found[1:3, 1:3] == pytest.approx(np.outer(off[1:3], off[1:3]))
    assert np.diag(found) == pytest.approx(off**2)
    assert found[1, 3] == pytest.approx(0.81 * off[1] * off[3])
    assert not found[4, :4].any()
    assert not found[0, 1:].any()


def fitted_along_a_curve(*, curved):
    """Fit two features, one of which is high at both ends of the other one, or independent."""
    rng = np.random.default_rng(1)
    x, z = rng.uniform(0, 1, (2, 8_000))
    X = pd.DataFrame({"x": x, "z": np.clip(3.6 * (x - 0.5) ** 2 + 0.1 * z, 0, 1) if curved else z})
    score = 4.0 * np.abs(X["x"] - 0.5) - 3.0 * X["z"]
    y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-score)), "yes", "no")
    schema = Schema({name: FEATURES[name] for name in ("x", "z")}, target=Classes(["no", "yes"]))
    return DPExplainableBoostingClassifier(4.0, schema=schema, reproducible_seed=0).fit(X, y)


@pytest.mark.parametrize("curved", [False, True])
def test_dependence_of_another_form_than_assumed_is_warned_about(curved):
    explanation = fitted_along_a_curve(curved=curved).explain_global()
    assert ("may be outside the effect band" in explanation.effect_caution) is curved
    assert bool(explanation.effect_cautions) is curved


@pytest.mark.parametrize("curved", [False, True])
def test_what_tables_hide_widens_the_bands_of_both_features(curved, monkeypatch):
    model = fitted_along_a_curve(curved=curved)
    wide = model.explain_global()
    monkeypatch.setattr(estimate, "errors_within_groups", lambda *_: iter(()))
    model.__dict__.pop("_effect")
    narrow = model.explain_global()
    for name in ("x", "z"):
        np.testing.assert_array_equal(wide[name].effect, narrow[name].effect)
        seen = narrow[name].effect_std > 0
        ratios = wide[name].effect_std[seen] / narrow[name].effect_std[seen]
        assert (ratios > 1.0 - 1e-6).all()
        assert bool(np.median(ratios) > 1.1) is curved


@pytest.mark.parametrize("classes", [["no", "yes"], ["no", "yes", "perhaps"]])
def test_how_numbers_depend_on_categories_is_said_to_be_unclear(classes):
    rng = np.random.default_rng(2)
    X, _ = draw(6_000, 2)
    X["z"] = np.clip(0.5 * X["z"] + X["job"].map({"a": 0.0, "b": 0.1, "c": 0.5}), 0, 1)
    score = 3.0 * X["z"] - 1.5 * (X["job"] == "a")
    y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-score)), "yes", rng.choice(classes, len(X)))
    schema = Schema(FEATURES, target=Classes(classes))
    # With other noise, another feature can be named: in about one of twenty fits.
    model = DPExplainableBoostingClassifier(8.0, schema=schema, reproducible_seed=1).fit(X, y)
    explanation = model.explain_global()
    for part in getattr(explanation, "by_class", (explanation,)):
        assert part["z"].unclear_with == "job"
        assert part["job"].unclear_with == "z"
        assert not part["x"].unclear_with


@pytest.mark.parametrize("same", [False, True])
def test_terms_are_said_to_be_related_if_their_features_are(same):
    rng = np.random.default_rng(3)
    x, z = rng.uniform(0, 1, (2, 6_000))
    X = pd.DataFrame({"x": x, "z": np.clip(x + 0.02 * z, 0, 1) if same else z})
    score = 1.2 * (np.sin(25 * X["x"]) + np.sin(25 * X["z"]))  # waves: a short fit shrinks both
    y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-score)), "yes", "no")
    features = {name: FEATURES[name] for name in ("x", "z")}
    schema = Schema(features, target=Classes(["no", "yes"]))
    # At epsilon 1, noise in the counts often hides which errors of such curves are related.
    model = DPExplainableBoostingClassifier(4.0, schema=schema, reproducible_seed=0).fit(X, y)
    assert ("related" in model.explain_global().effect_note) is same


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_bands_of_the_effect_contain_the_truth(kind):
    """Whole curves of 24 fits with three terms each: nominal 95%, required 85%.

    Terms of one fit are taken to hold or fail together, so that 24 count. Fewer than the quantile
    below of them would be wrong by chance once in a million times.
    """
    n_fits, inside = 24, []
    for seed in range(n_fits):
        explanation = fitted(2_000, seed, kind=kind).explain_global()
        for term in explanation.terms:
            low, high = term.effect_band
            people = term.weights > 0.002
            inside.append(bool(((low <= truth(term)) & (truth(term) <= high))[people].all()))
    least = stats.binom.ppf(1e-6, n_fits, 0.85) / n_fits
    assert np.mean(inside) >= least


def test_the_estimate_undoes_the_shrinkage_of_a_short_fit():
    """At epsilon 0.5 with 2,000 people, curves show about half of the effect.

    Standard errors of the mean over 16 fits are below 0.05 for both.
    """
    shown, estimated = [], []
    for seed in range(16):
        term = fitted(2_000, seed, epsilon=0.5).explain_global()["x"]
        true = truth(term)
        shown.append(term.weights @ (term.contribution * true) / (term.weights @ true**2))
        estimated.append(term.weights @ (term.effect * true) / (term.weights @ true**2))
    assert abs(1 - np.mean(estimated)) < abs(1 - np.mean(shown))


def test_a_term_without_an_effect_is_not_said_to_have_one():
    named = ["z" in fitted(3_000, seed).explain_global().terms_with_effect for seed in range(20)]
    # Nominal 3 % over all terms: more than 7 of 20 once in a million times.
    assert sum(named) <= stats.binom.ppf(1 - 1e-6, 20, 0.03)


def test_ranks_and_directions_speak_of_the_effect():
    explanation = fitted(8_000, epsilon=4.0).explain_global()
    table = explanation.ranking()
    assert set(table["basis"]) == {"effect"}
    assert table.loc["x", "direction"] == "rising"
    assert table.loc["x", "direction_certainty"] > 0.999
    assert table.loc["z", "rank_low"] == 3
    assert explanation["x"].effect_directions == ("rising",)
    assert "The released curves show about" in explanation.effect_words


def test_an_estimate_costs_no_noise_and_comes_back_the_same():
    model = fitted()
    first, second = (
        estimate_effect(model._fit, model._terms, model._objective(model.schema_))[0]
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.errors, second.errors)
    for a, b in zip(first.curves, second.curves, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("settings", [{"outer_bags": 2}, {"preset": "paper", "max_rounds": 20}])
def test_bags_and_the_paper_preset_have_an_estimate(settings):
    term = fitted(1_500, **settings).explain_global()["x"]
    assert np.isfinite(term.effect).all()
    assert (term.effect_std >= 0).all()


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.1), (3, 50.0), (40, 0.01)])
def test_few_people_leave_everything_open(n, epsilon):
    with pytest.warns() if epsilon > 10 else pytest.MonkeyPatch.context():
        explanation = fitted(n, epsilon=epsilon).explain_global()
    for term in explanation.terms:
        assert np.isfinite(term.effect).all()
        assert not term.effect_signal.any()


def test_an_estimate_is_kept_in_files_and_older_files_are_read():
    explanation = fitted(1_000).explain_global()
    text = to_json(explanation)
    again = from_json(text)
    np.testing.assert_array_equal(again["x"].effect, explanation["x"].effect)
    assert to_json(again) == text
    document = json.loads(text)
    content = document["content"]
    for name in ("effect_scatter", "effect_intercept"):
        del content[name]
    for term in content["terms"]:
        for name in ("effect", "effect_std", "effect_factor", "count_std"):
            del term[name]
    older = from_json(json.dumps(document))
    assert older["x"].effect is None
    assert older.effect_words == ""


@pytest.mark.parametrize(
    ("kind", "recorded"),
    [
        (
            "classes",
            [-0.54922198, 0.0559802085, 0.502468829, -0.719460008, 0.0908740792, 0.640744064,
             0.109066142, 0.095836781, 0.111060077, 2.90916965],
        ),
        (
            "numbers",
            [-0.620487182, 0.0267257435, 0.604037881, -0.673589171, 0.0535085835, 0.631335699,
             0.0464961192, 0.0466170031, 0.0471861487, 2.92079471],
        ),
    ],
)  # fmt: skip
def test_estimates_of_two_classes_and_numbers_are_those_recorded_before_other_kinds(kind, recorded):
    """The released curve, the estimate, its error, and the factor of the band.

    They were recorded when categories were trusted like numbers, and again when dense cells of
    numbers were first counted in finer cells, which changes the fit but not how it is read. The
    factor was recorded again when errors of shrinkage became independent for independent features,
    and all but the released curve when terms were allowed to jump and the prior of correlations
    was learned from all pairs, and once more when counts became uncertain and the prior got a
    second axis, when tables of pairs were released, when weights were learned until no others fit
    better, when the first steps got fewer points, when dependence within groups was interpolated,
    and when all sums of a feature shared what it may leave wrong.
    """
    model = fitted(1_500, 3, kind=kind, reproducible_seed=5, calibrated=False)
    term = model.explain_global()["job"]
    found = [*term.contribution[:3], *term.effect[:3], *term.effect_std[:3], term.effect_factor]
    np.testing.assert_allclose(found, recorded, rtol=1e-5)
