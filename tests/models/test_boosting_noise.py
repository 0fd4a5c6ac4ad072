"""Simulated noise: kernels compared with naive twins, and parts that are what they claim."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from dpexplain import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.binning import FeatureBins, merge_sparse_cells
from dpexplain.datasets import make_additive
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.uncertainty import simulate as noise
from dpexplain.models.boosting.uncertainty.curvature import logistic_curvature, squared_curvature
from dpexplain.models.boosting.uncertainty.leaf_correlations import estimate_correlation
from dpexplain.models.boosting.uncertainty.refits import _kernels_structures as kernels
from dpexplain.models.boosting.uncertainty.refits.replay import replay_trees
from dpexplain.models.boosting.uncertainty.refits.structures import fresh_structures, merged_cells
from dpexplain.models.boosting.uncertainty.simulate import simulate_noise
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from effort import examples

pytestmark = pytest.mark.full

F = np.float32


def small_problem(rng, n_scores=1, direction=0, n_features=3, n_visits=40, n_sim=6, n_fresh=3):
    """Make random trees on features of 3 to 6 bins, the last of which is for missing values."""
    sizes = rng.integers(3, 7, n_features)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    feature = rng.integers(0, n_features, n_visits)
    leaves = [np.append(np.arange(3), rng.integers(0, 3, sizes[k] - 3)) for k in feature]
    leaves = [rng.permutation(leaf).astype(np.uint8) for leaf in leaves]
    leaf_start = 3 * np.arange(n_visits + 1)
    places = np.concatenate([[0], np.cumsum([len(leaf) for leaf in leaves])]).astype(np.int64)
    root = rng.uniform(1, 2, (start[-1], n_scores, n_scores))
    mass = (root @ root.transpose(0, 2, 1)).astype(F)
    share = rng.uniform(1, 5, start[-1])
    share = np.concatenate([share[a:b] / share[a:b].sum() for a, b in itertools.pairwise(start)])
    people = rng.uniform(1, 5, start[-1])
    people[start[1:] - 1] = 0.0
    return {
        "persistent": rng.standard_normal((start[-1], n_scores, n_sim)).astype(F),
        "noise": rng.standard_normal((leaf_start[-1], n_scores, n_fresh)).astype(F),
        "start": start,
        "mass": mass,
        "mean_weight": share.astype(F),
        "visit_feature": feature.astype(np.int64),
        "visit_bins": places[:-1],
        "leaf_of_bin": np.concatenate(leaves),
        "leaf_start": leaf_start,
        "gain": rng.uniform(0.01, 0.03, leaf_start[-1]).astype(F),
        "together": rng.random(n_visits) < 0.2,
        "functions": rng.standard_normal((start[-1], 2)).astype(F),
        "function_start": np.arange(0, 2 * n_features + 1, 2),
        "reactions": 0.3 * rng.standard_normal((2, 2 * n_features, 2 * n_features)).astype(F),
        "mixing": rng.uniform(0.5, 1, (n_scores, n_scores)).astype(F),
        "own_share": rng.uniform(0.5, 1, n_features).astype(F),
        "direction": np.array([direction] + [0] * (n_features - 1)),
        "people": people,
        "unbound": rng.standard_normal(places[-1]),
        "unbound_start": places[:-1],
    }


def naive_replay(p):
    """Run the same recursion, one bin, leaf, score and simulation at a time."""
    n_scores, n_sim = p["persistent"].shape[1:]
    state = np.zeros(p["persistent"].shape)
    own_bins = [slice(a, b) for a, b in itertools.pairwise(p["start"])]
    first = p["function_start"]
    for v, k in enumerate(p["visit_feature"]):
        bins = own_bins[k]
        size = bins.stop - bins.start
        leaf = p["leaf_of_bin"][p["visit_bins"][v] : p["visit_bins"][v] + size]
        update = np.zeros((3, n_scores, n_sim))
        for s in range(n_sim):
            means = np.array([p["mean_weight"][b] @ state[b, :, s] for b in own_bins])
            values = [p["functions"][b].T @ state[b, :, s] for b in own_bins]
            group = p["reactions"][s // (n_sim // 2)]
            reaction = group[first[k] : first[k + 1]] @ np.concatenate(values)
            share = p["own_share"][k]
            others = means.sum(axis=0) - share * means[k]
            for one in range(3):
                total = np.zeros(n_scores)
                if s < p["noise"].shape[2]:
                    total += p["noise"][3 * v + one, :, s]
                for b in np.flatnonzero(leaf == one) + bins.start:
                    total += p["persistent"][b, :, s]
                    total -= p["mass"][b] @ (share * state[b, :, s] + others)
                    total -= p["mixing"] @ (reaction.T @ p["functions"][b])
                update[one, :, s] = total
        if p["together"][v]:
            update[:] = update.sum(axis=0)
        update *= p["gain"][3 * v : 3 * v + 3, None, None]
        state[bins] += update[leaf]
        if p["direction"][k]:
            curve = p["unbound"][p["unbound_start"][v] :][: size - 1]
            for s in range(n_sim):
                state[bins, 0, s][:-1] = nearest(curve + state[bins, 0, s][:-1], p, k) - nearest(
                    curve, p, k
                )
    return state


def nearest(curve, p, k):
    weights = p["people"][p["start"][k] : p["start"][k + 1] - 1]
    fit = IsotonicRegression(increasing=bool(p["direction"][k] > 0))
    return fit.fit_transform(np.arange(len(curve)), curve, sample_weight=weights)


@pytest.mark.parametrize(("n_scores", "direction"), [(1, -1), (1, 0), (1, 1), (3, 0)])
def test_replayed_errors_equal_a_naive_recursion(n_scores, direction):
    problem = small_problem(np.random.default_rng(direction + 7), n_scores, direction)
    state = np.zeros(problem["persistent"].shape, F)
    replay_trees(state, *problem.values())
    np.testing.assert_allclose(state, naive_replay(problem), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("seed", range(20))
def test_cells_merge_in_the_simulation_as_in_a_fit(seed):
    rng = np.random.default_rng(seed)
    counts = rng.normal(rng.choice([0, 5, 40], 30), 8.0)
    spread = rng.choice([1.0, 1.9], 31)
    grid = FeatureBins("x", Numeric(0, 30), np.arange(31.0))
    bins, bin_of_cell = merge_sparse_cells(
        grid, np.append(counts, 0.0), min_count=25.0, noise_std=8.0, noise_ratio=1.5,
        spread=spread,
    )  # fmt: skip
    both = np.stack([np.full(30, 100.0), counts])  # another simulation has no say
    found, n_bins = merged_cells(both, spread[:-1], 25.0, 8.0, 1.5)
    assert n_bins.tolist() == [30, bins.n_value_bins]
    np.testing.assert_array_equal(found[1], bin_of_cell[:30])


def test_simulated_trees_leave_enough_people_in_every_leaf():
    rng = np.random.default_rng(0)
    counts = np.append(rng.uniform(5, 60, 12), 3.0)
    start, sizes = np.array([0, 13, 26]), np.full(2, 13)
    feature, n_leaves = np.zeros((2, 400), np.int64)
    leaves = np.zeros((400, 13), np.uint8)
    kernels.draw_trees(
        np.tile(counts, 2), start, sizes, sizes - 1, np.array([False, True]), 3, 90.0, np.arange(2),
        feature, n_leaves, leaves, np.zeros(13, np.int64), np.zeros(14), np.zeros(4, np.int64),
        np.array([7], np.uint64),
    )  # fmt: skip
    assert (feature.reshape(-1, 2).sum(axis=1) == 1).all()  # each feature once per pass
    for k, n, leaf in zip(feature, n_leaves, leaves, strict=True):
        held = np.bincount(leaf[:12], weights=counts[:12], minlength=n)
        assert len(held) == n
        assert (held >= 90.0).all()
        assert leaf[12] < n
        if k == 0:  # bins that are not shuffled
            assert (np.diff(leaf[:12].astype(int)) >= 0).all()
    seen = set(n_leaves.tolist())
    assert seen == {2, 3}


class Splitmix:
    """Integers of splitmix64, in Python's own arithmetic."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 33) % n

    def shuffle(self, values):
        for i in range(len(values) - 1, 0, -1):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]


def naive_tree(rng, counts, n_special, shuffled, max_leaves, least):
    """Return the leaf of each bin and the number of leaves."""
    n = len(counts) - n_special
    order = list(range(n))
    if shuffled:
        rng.shuffle(order)
    leaves, tries, ends = min(max_leaves, n), 0, [0, n]
    cumulated = np.append(0.0, np.cumsum(counts[order]))
    while leaves > 1:
        ends = [0, *sorted(1 + rng.below(n - 1) for _ in range(leaves - 1)), n]
        if min(np.diff(ends)) > 0 and min(np.diff(cumulated[ends])) >= least:
            break
        tries = (tries + 1) % 16
        leaves, ends = (leaves, ends) if tries else (leaves - 1, [0, n])
    leaf = np.empty(len(counts), np.int64)
    leaf[order] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    leaf[n:] = [rng.below(leaves) for _ in range(n_special)]
    return leaf, leaves


@pytest.mark.parametrize("least", [0.0, 30.0, 90.0, 400.0])
@pytest.mark.parametrize("seed", range(5))
def test_drawn_trees_equal_those_of_a_naive_twin(seed, least):
    rng = np.random.default_rng(seed)
    sizes = np.array([13, 4, 9])
    start = np.append(0, np.cumsum(sizes))
    counts = rng.normal(rng.choice([0.0, 5.0, 60.0], start[-1]), 8.0)
    shuffled, n_visits, most = np.array([False, True, True]), 60, 5
    feature, n_leaves = np.zeros((2, n_visits), np.int64)
    leaves, state = np.zeros((n_visits, 13), np.uint8), np.array([seed], np.uint64)
    kernels.draw_trees(
        counts, start, sizes, sizes - 1, shuffled, most, least, np.arange(3), feature, n_leaves,
        leaves, np.zeros(13, np.int64), np.zeros(14), np.zeros(most + 1, np.int64), state,
    )  # fmt: skip
    naive, features = Splitmix(seed), list(range(3))
    for v in range(n_visits):
        if v % 3 == 0:
            naive.shuffle(features)
        k = features[v % 3]
        own = counts[start[k] : start[k + 1]]
        leaf, n = naive_tree(naive, own, 1, shuffled[k], most, least)
        assert (feature[v], n_leaves[v]) == (k, n)
        np.testing.assert_array_equal(leaves[v, : sizes[k]], leaf)
    assert state[0] == naive.state


def settled(merge, share, correlation=0.0, own_share=1.0, n_rounds=600):
    """Fit two features of six cells repeatedly; return scores, intercepts and their target."""
    start, n = np.array([0, 6, 12]), 12
    people = np.tile([100.0, 50.0, 200.0, 80.0, 70.0, 0.0], 2)
    target = np.concatenate([np.linspace(-1, 1, 6), np.array([0.5, -0.5, 0.2, 0.0, 1.0, 0.0])])
    weights = people[:6] / people[:6].sum()
    means = np.array([weights @ target[:6], weights @ target[6:]])
    curves = target - np.repeat(means, 6)
    slope = np.arange(6.0) - weights @ np.arange(6.0)
    slope /= np.sqrt(share * people[:6] @ slope**2)
    reactions = np.full((1, 2, 2), correlation)
    np.fill_diagonal(reactions[0], 1.0 - own_share)
    scores, intercepts = fresh_structures(
        np.tile(people, (3, 1)), start, np.array([1, 1]), np.array([merge, False]),
        np.array([False, True]), np.tile(np.arange(6), 2), np.array([0, 0]), share * people,
        curves, 0.4, np.zeros((1, n)), np.full(12, 0.25),
        (share * people * np.tile(slope, 2))[:, None], np.array([0, 1, 2]), reactions,
        np.full(2, own_share), np.ones(n), 0.0, share, 40.0, 0.0, n_rounds, 3, share * 40.0,
        share * 25.0, 0.1,
        np.arange(3, dtype=np.uint64),
    )  # fmt: skip
    shown = np.tile([True] * 5 + [False], 2)
    return scores[:, shown], intercepts, curves[shown], np.tile(slope[:5], 2)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_structures_without_noise_settle_at_their_target(merge, share, correlation):
    """Every structure ends at the same centered curves, however features are correlated."""
    scores, intercepts, curves, _ = settled(merge, share, correlation, own_share=0.8)
    np.testing.assert_allclose(scores, np.tile(curves, (3, 1)), atol=1e-3)
    np.testing.assert_allclose(intercepts, 0.4, atol=1e-3)


def test_structures_of_features_that_determine_each_other_share_one_curve():
    """How two equal slopes share the effect depends on the trees; their sum does not."""
    scores, _, curves, slope = settled(False, 1.0, 1.0, n_rounds=300)
    left = (scores - curves) * np.tile([100.0, 50.0, 200.0, 80.0, 70.0], 2) * slope
    first, second = left[:, :5].sum(axis=1), left[:, 5:].sum(axis=1)
    assert np.abs(first + second).max() < 0.05 * np.abs(first - second).max()


def test_random_whole_numbers_are_uniform():
    """The 7 counts of 70,000 draws have a standard deviation of 93; the test allows five."""
    seed = np.array([1], np.uint64)
    draws = np.bincount([kernels._below(seed, 7) for _ in range(70_000)], minlength=7)
    assert np.abs(draws - 10_000).max() < 5 * 93


@pytest.fixture(scope="module", params=["classification", "regression"])
def fitted(request):
    data = make_additive("smooth", 4_000, task=request.param, random_state=1)
    kind = {
        "classification": DPExplainableBoostingClassifier,
        "regression": DPExplainableBoostingRegressor,
    }[request.param]
    model = kind(epsilon=2.0, schema=data.schema, structure_seed=3, max_rounds=30)
    return model.fit(data.X, data.y)


def test_an_explanation_carries_three_parts_of_noise_and_their_joint_scatter(fitted):
    explanation = fitted.explain_global()
    total = np.concatenate([shape.total_std for shape in explanation.values()])
    np.testing.assert_allclose(explanation.noise.std[:-1], total, rtol=1e-5)
    for shape in explanation.values():
        assert (shape.noise_std > 0).all()
        assert (shape.sampling_std > 0).all()
        assert shape.simultaneous_factor > 1.9
    assert (explanation["x1"].structure_std[:-1] > 0).all()


def test_the_same_model_always_says_the_same(fitted):
    first = fitted.explain_global()
    del fitted.__dict__["_noise"]
    assert fitted.explain_global() == first


def test_local_explanations_carry_the_scatter_of_their_bins(fitted):
    X = make_additive("smooth", 20, random_state=2).X
    local, shapes = fitted.explain_local(X), fitted.explain_global()
    for k, shape in enumerate(shapes.values()):
        at = shape.bin_index(X[shape.name])
        np.testing.assert_array_equal(local.noise_std[:, k], shape.noise_std[at])
        np.testing.assert_allclose(local.total_std[:, k], shape.total_std[at])
    assert (local.score_std > 0).all()


def test_less_leaf_noise_narrows_the_privacy_part_in_proportion(fitted, monkeypatch):
    """The same seed draws the same errors, so the ratio is exact up to single precision."""
    objective, fit, terms = fitted._objective(fitted.schema_), fitted._fit, fitted._terms
    curvature = objective.curvature(terms, fitted.clip_, None)
    rng = np.random.default_rng(0)
    coupling = estimate_correlation(
        fit, curvature.per_score, rng, bound=objective.bound, scale=objective.scale
    )
    # How features go together is estimated from the noise as well, so it is held.
    monkeypatch.setattr(noise, "estimate_correlation", lambda *a, **k: coupling)
    half = dataclasses.replace(fit, leaf_noise_ratio=fit.leaf_noise_ratio / 2)
    stds = [
        simulate_noise(f, terms, objective, n_structures=12)[0].privacy.std(0) for f in (fit, half)
    ]
    np.testing.assert_allclose(stds[1], stds[0] / 2, rtol=1e-3)


@pytest.mark.named_entropy
def test_a_term_that_could_not_be_fitted_carries_noise_and_not_certainty():
    """With too few people for two leaves, its curve is zero, but not known to be zero.

    Everybody is in one ward. A leaf of the other one would need a noisy count of zero people that
    is five standard deviations of its noise, which the test checks first.
    """
    rng = np.random.default_rng(0)
    dose = rng.random(4_000)
    X = pd.DataFrame({"dose": dose, "ward": "A"})
    y = np.where(dose + rng.logistic(0, 0.3, 4_000) > 0.5, "yes", "no")
    features = {"dose": Numeric(0, 1), "ward": Categorical(["A", "B"])}
    schema = Schema(features, target=Classes(["no", "yes"]))
    model = DPExplainableBoostingClassifier(epsilon=1.0, schema=schema).fit(X, y)
    wards = model._fit.binned.counts[1]
    assert model._fit.min_leaf_count > 5 * np.sqrt(wards.variance[1])
    explanation = model.explain_global()
    assert explanation["ward"].importance < 1e-12
    assert (explanation["ward"].noise_std > 0.01).all()
    assert explanation.terms_above_noise == ("dose",)


@pytest.mark.named_entropy
def test_shuffled_labels_show_nothing_above_noise():
    """Under a rule of 97%, fewer than 9 of 12 fits would show this with probability 2e-4."""
    rng = np.random.default_rng(0)
    data = make_additive("clinical", 3_000, random_state=0)
    quiet = 0
    for _ in range(12):
        y = data.y.sample(frac=1.0, random_state=int(rng.integers(2**31))).to_numpy()
        model = DPExplainableBoostingClassifier(epsilon=1.0, schema=data.schema).fit(data.X, y)
        quiet += model.explain_global().terms_above_noise == ()
    assert quiet >= 9


def one_bin(people, intercept):
    """Make a model of one term with one bin and no missing values."""
    bins = FeatureBins("x", Numeric(0, 1), np.array([0.0, 1.0]))
    parts = (bins,), (np.zeros(2),), (np.array([people, 0.0]),)
    return AdditiveTerms(*parts, intercept, link="identity", monotone=(None,), bag_std=None)


@examples(30)
@given(score=st.floats(-6, 6), clip=st.floats(0.3, 1.0))
def test_curvature_and_variance_of_a_clipped_residual_are_those_of_two_outcomes(score, clip):
    """One term with one bin: the probability is known, and so are both outcomes."""
    terms = one_bin(10.0, score)
    found = logistic_curvature(terms, clip, None)
    p = 1 / (1 + np.exp(-score))
    outcomes, chances = np.clip([1 - p, -p], -clip, clip), np.array([p, 1 - p])
    mean = chances @ outcomes
    assert found.variance[0][0] == pytest.approx(10 * chances @ (outcomes - mean) ** 2)
    inside = chances @ (np.abs([1 - p, -p]) <= clip)
    assert found.mass[0][0] == pytest.approx(10 * p * (1 - p) * inside)


@examples(20)
@given(inside=st.floats(0.5, 0.99))
def test_the_variance_of_clipped_residuals_is_that_of_clipped_normal_ones(inside):
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(200_000)
    clip = np.quantile(np.abs(normal), inside)
    terms = one_bin(1.0, 0.0)
    found = squared_curvature(terms, 1.0, inside).variance[0][0]
    # The standard error of a variance from 200,000 draws is about 0.3 %.
    assert found == pytest.approx(np.var(np.clip(normal / clip, -1, 1)), rel=0.02)
