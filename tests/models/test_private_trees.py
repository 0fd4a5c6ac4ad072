"""Private tree ensembles: kernels, explanations, sensitivities and planted mistakes."""

from __future__ import annotations

import contextlib
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    DPBoostClassifier,
    DPBoostedTreesClassifier,
    DPBoostRegressor,
    DPRandomForestClassifier,
)
from dpexplain.audit import record, replay
from dpexplain.edit import EditLog, Remove
from dpexplain.interop import to_interpret, to_onnx
from dpexplain.io import from_json, to_json
from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosted_trees import boosted_trees as boosted
from dpexplain.models.boosted_trees import losses
from dpexplain.models.dpboost import boosting
from dpexplain.models.random_forest import forest
from dpexplain.models.trees import _kernels_nodes as _kernels
from dpexplain.models.trees.structure import Trees, candidates_of, grid_of, leaf_of
from dpexplain.models.trees.terms import counted_spread, ways_of
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(0, 100, unit="years"),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}
SMALL = {"n_trees": 3, "depth": 2}
MODELS = {
    DPRandomForestClassifier: Classes(["no", "yes"]),
    DPBoostClassifier: Classes(["no", "yes"]),
    DPBoostRegressor: Range(0, 10),
    DPBoostedTreesClassifier: Classes(["no", "yes"]),
}
models_ = pytest.mark.parametrize("model", MODELS)


def make_data(target, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "income": rng.uniform(0, 1e6, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    score = (X["age"] - 50) / 15 + 2.0 * (X["job"] == "nurse") - 1.0
    if isinstance(target, Range):
        return X, (5 + score).clip(0, 10)
    if len(target.labels) == 2:
        return X, pd.Series(np.where(rng.logistic(size=n) < score, "yes", "no"))
    scores = np.c_[0 * score, score, -score] + rng.gumbel(size=(n, 3))
    return X, pd.Series(np.array(target.labels)[scores.argmax(axis=1)])


def make(model, target=None, **settings):
    schema = Schema(FEATURES, target=target or MODELS[model])
    return model(schema=schema, **{**SMALL, "structure_seed": 1, **settings})


# --- kernels and explanations -----------------------------------------------------------------


def made_up_trees(n_trees=2, depth=3, seed=0):
    rng = np.random.default_rng(seed)
    bins = grid_of(Schema(FEATURES), 4)
    candidates = candidates_of(bins)
    splits = candidates.at_random(n_trees * (2**depth - 1), rng).reshape(n_trees, -1)
    trees = Trees(splits, rng.standard_normal((n_trees, 2**depth, 1)))
    cells = np.stack([rng.integers(0, b.n_bins, 40) for b in bins], axis=1).astype(np.uint16)
    return bins, candidates, trees, cells


def walked(cells, splits, candidates):
    """Walk down to the leaf of one record."""
    depth, place = int(math.log2(len(splits) + 1)), 0
    for level in range(depth):
        split = splits[2**level - 1 + place]
        b = int(cells[candidates.feature[split]])
        place = 2 * place + (candidates.low[split] <= b <= candidates.high[split])
    return place


@pytest.mark.parametrize("seed", range(5))
def test_records_walk_down_as_one_by_one(seed):
    _, candidates, trees, cells = made_up_trees(seed=seed)
    for splits in trees.splits:
        expected = [walked(row, splits, candidates) for row in cells]
        assert leaf_of(cells, splits, candidates).tolist() == expected


def test_sums_per_node_and_leaf_equal_naive_ones():
    bins, candidates, _, cells = made_up_trees()
    rng = np.random.default_rng(1)
    place, steps = rng.integers(-1, 4, 40), rng.integers(-99, 99, (40, 2))
    found = _kernels.node_sums(cells, candidates.start, place, steps, 4, candidates.n_bins)
    right = candidates.right_sums(found)
    for node, c in itertools.product(range(4), range(len(candidates))):
        k = candidates.feature[c]
        inside = (cells[:, k] >= candidates.low[c]) & (cells[:, k] <= candidates.high[c])
        assert right[node, c].tolist() == steps[(place == node) & inside].sum(axis=0).tolist()
    leaves = _kernels.leaf_sums(place, steps, 4)
    assert leaves.tolist() == [steps[place == leaf].sum(axis=0).tolist() for leaf in range(4)]
    assert sum(b.n_bins for b in bins) == candidates.n_bins


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_shapley_values_equal_those_of_all_orders_of_the_features(seed):
    """Features are independent: unknown ones are averaged over every combination of bins."""
    bins, candidates, trees, cells = made_up_trees(seed=seed)
    rng = np.random.default_rng(seed)
    spread = [rng.dirichlet(np.ones(b.n_bins)) for b in bins]
    ways = ways_of(trees, candidates, [b.n_bins for b in bins], spread)
    found = _kernels.shapley_values(
        cells[:3], ways.feature, ways.share, ways.inside, ways.values, len(bins)
    )
    grid = np.array(list(itertools.product(*(range(b.n_bins) for b in bins))), dtype=np.uint16)
    chance = np.prod([s[grid[:, k]] for k, s in enumerate(spread)], axis=0)

    def expected_score(row, known):
        people = grid.copy()
        people[:, list(known)] = row[list(known)]
        return float(chance @ trees.scores(people, candidates)[:, 0])

    for row, values in zip(cells[:3], found, strict=True):
        expected = np.zeros(len(bins))
        for order in itertools.permutations(range(len(bins))):
            for i, k in enumerate(order):
                gain = expected_score(row, order[: i + 1]) - expected_score(row, order[:i])
                expected[k] += gain / math.factorial(len(bins))
        np.testing.assert_allclose(values[:, 0], expected, atol=1e-12)


def passing(splits, leaf, candidates, k, n_values):
    """Walk up from a leaf to find the values of feature k that lead to it."""
    found, node = set(range(n_values)), len(splits) + leaf
    while node:
        right, node = node % 2 == 0, (node - 1) // 2
        c = splits[node]
        if candidates.feature[c] == k:
            inside = set(range(candidates.low[c], candidates.high[c] + 1))
            found = found & inside if right else found - inside
    return sorted(found)


@pytest.mark.parametrize("seed", range(3))
def test_people_per_bin_are_spread_evenly_inside_of_their_leaves(seed):
    bins, candidates, trees, _ = made_up_trees(seed=seed)
    people = np.random.default_rng(seed).normal(5, 4, trees.values.shape[:2])
    found = counted_spread(trees, candidates, bins, people)
    for k, b in enumerate(bins):
        expected = np.zeros(b.n_bins)
        for splits, in_leaf in zip(trees.splits, people, strict=True):
            for leaf, n in enumerate(in_leaf):
                reached = passing(splits, leaf, candidates, k, b.n_value_bins)
                expected[reached] += max(n, 0.0) / max(len(reached), 1) / len(trees.splits)
        np.testing.assert_allclose(found[k], expected, atol=1e-9)


@models_
def test_contributions_and_intercept_add_up_to_the_score_of_the_leaves(model):
    X, y = make_data(MODELS[model], 500)
    fitted = make(model, epsilon=5).fit(X, y)
    local = fitted.explain_local(X[:30])
    score = fitted.predict(X[:30]) if model is DPBoostRegressor else None
    score = fitted.decision_function(X[:30]) if score is None else score
    np.testing.assert_allclose(local.scores, score, atol=1e-9)


@models_
@pytest.mark.parametrize("several", [False, True])
def test_curves_of_trees_are_no_model_to_predict_with_or_to_edit(model, several):
    if several and model is DPBoostRegressor:
        pytest.skip("of classes")
    target = Classes(["home", "moved", "readmitted"]) if several else MODELS[model]
    X, y = make_data(target, 300)
    fitted = make(model, target).fit(X, y)
    explanation = fitted.explain_global()
    one = explanation.by_class[0] if several else explanation
    assert one.main_effects_only
    assert from_json(to_json(one)).main_effects_only
    with pytest.raises(ValueError, match="explain_local or predict"):
        explanation.explain_local(X)
    for export in (to_onnx, to_interpret):
        with pytest.raises(ValueError, match="would predict differently"):
            export(explanation)
    with pytest.raises(TypeError, match="predicts from the leaves"):
        EditLog().edit(Remove("age")).apply(fitted)


@models_
def test_trees_with_one_split_are_their_curves(model):
    X, y = make_data(MODELS[model], 300)
    fitted = make(model, depth=1, epsilon=5).fit(X, y)
    scores = fitted.explain_global().explain_local(X).scores
    np.testing.assert_allclose(scores, fitted.explain_local(X).scores, atol=1e-9)


@models_
def test_a_summary_tells_how_much_there_is_to_read(model):
    X, y = make_data(MODELS[model], 100)
    summary = make(model).fit(X, y).structure_summary()
    assert summary["depth"].tolist() == [2, 2, 2]
    assert summary["leaves"].tolist() == [4, 4, 4]
    assert (summary["different_features"] <= 3).all()


@models_
def test_with_little_noise_the_pattern_is_learned(model):
    X, y = make_data(MODELS[model])
    more = {"n_trees": 9, "depth": 3, "epsilon": 10}
    fitted = make(model, **more).fit(X, y)
    curve = fitted.explain_global()["age"]
    assert curve.evaluate([95.0])[0] > curve.evaluate([5.0])[0]
    assert not fitted.guarantee_.delta


@pytest.mark.parametrize("model", [m for m in MODELS if m is not DPBoostRegressor])
def test_several_classes_have_probabilities_that_add_up(model):
    target = Classes(["home", "moved", "readmitted"])
    X, y = make_data(target)
    fitted = make(model, target, epsilon=10, n_trees=6, depth=3).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
    assert set(fitted.predict(X)) <= set(target.labels)
    assert len(fitted.explain_global().by_class) == 3


@models_
def test_a_coarse_grid_has_so_many_cuts(model):
    X, y = make_data(MODELS[model], 100)
    fitted = make(model, max_bins=5).fit(X, y)
    assert [b.n_value_bins for b in fitted._bins] == [5, 5, 3]


def test_the_twin_of_dpboost_puts_all_records_into_every_tree_and_filters_none():
    """With one-leaf trees, the residuals of boosting can be computed by hand."""
    target = Range(0, 10)
    X = pd.DataFrame({"age": [50.0] * 20, "income": [1.0] * 20, "job": ["nurse"] * 20})
    y = pd.Series([10.0] + [0.0] * 19)  # far beyond the others: filtered in private fits
    settings = {"n_trees": 30, "trees_per_ensemble": 30, "depth": 1, "regularisation": 0.0}
    twin = make(DPBoostRegressor, target, learning_rate=0.5, **settings).reference_estimator()
    expected = y.mean() + (5.0 - y.mean()) * 0.5**30
    np.testing.assert_allclose(twin.fit(X, y).predict(X), expected, atol=1e-3)


def test_leaves_that_are_not_clipped_have_the_noise_of_the_lemma():
    X, y = make_data(Range(0, 10), 300)
    settings = {"n_trees": 20, "trees_per_ensemble": 20, "learning_rate": 0.3}
    estimator = make(DPBoostRegressor, leaf_clipping="none", **settings)
    _, transcript = record(estimator, X, y)
    phases = [phase for phase in transcript.phases if phase.label == "leaves"]
    stated = [phase.sensitivity_int for phase in phases]
    assert stated == pytest.approx([boosting.LATTICE / 1.1 + 1] * 20)


def test_ensembles_of_the_parallel_variant_share_the_budget():
    estimator = make(DPBoostRegressor, variant="para", n_trees=6, trees_per_ensemble=3, epsilon=4)
    plan = estimator._plan(1)
    assert (plan.n_ensembles, plan.tree_epsilon) == (2, 2.0)


# --- losses and sensitivities -----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5, 1.0])
def test_link_weight_and_surrogate_belong_together(alpha):
    u = np.linspace(0.01, 0.99, 99)
    u = u[np.abs(u - 0.5) > 1e-9]
    np.testing.assert_allclose(1.0 - losses.weight(losses.link(u, alpha), alpha), u, atol=1e-12)
    z = np.linspace(-5, 5, 2001)
    slope = np.gradient(losses.surrogate(z, alpha), z)
    smooth = np.abs(np.abs(z) - 2 * (1 - alpha)) > 0.05
    np.testing.assert_allclose(slope[smooth], -losses.weight(z, alpha)[smooth], atol=2e-3)
    # Its conjugate is the Bayes risk: properness.
    risk = losses.criterion_value("m_alpha", u, 1.0 - u, alpha)
    wide = np.linspace(-60, 60, 240_001)
    least = [
        np.min(v * losses.surrogate(wide, alpha) + (1 - v) * losses.surrogate(-wide, alpha))
        for v in (0.2, 0.5, 0.7)
    ]
    expected = np.interp([0.2, 0.7], u, risk)
    np.testing.assert_allclose([least[0], least[2]], expected, atol=2e-3)


@pytest.mark.parametrize("name", losses.CRITERIA)
def test_adding_a_record_raises_a_criterion_by_its_sensitivity_at_most(name):
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(3000):
        m, alpha = int(rng.integers(2, 30)), rng.random()
        weights = rng.random(m) if rng.random() < 0.5 else np.ones(m)
        positive = rng.random(m) < rng.random()
        p, q = weights[positive].sum(), weights[~positive].sum()
        change = losses.criterion_value(name, p + 1.0, q, alpha) - losses.criterion_value(
            name, p, q, alpha
        )
        bound = losses.criterion_sensitivity(name, m + 1, alpha)
        assert -1e-9 <= change <= bound + 1e-9
        largest = max(largest, float(change) / bound)
    alone = losses.criterion_value(name, np.float64(1.0), np.float64(28.0), 1.0)
    largest = max(largest, float(alone) / losses.criterion_sensitivity(name, 29, 1.0))
    assert largest > 0.85  # the bound is reached, or nearly


def gain(gradients, lam):
    return sum(gradients) ** 2 / (len(gradients) + lam)


def test_a_record_changes_gains_and_leaves_within_the_lemmas():
    rng = np.random.default_rng(0)
    up, down, leaf = 0.0, 0.0, 0.0
    for _ in range(5000):
        lam = float(rng.choice([0.1, 1.0]))
        rest = rng.choice([-1.0, 1.0], rng.integers(0, 20)) * rng.random() ** 0.1
        g = float(rng.choice([-1.0, 1.0]))
        change = gain([*rest, g], lam) - gain(rest, lam)
        up, down = max(up, change), min(down, change)
        value = abs(sum(rest) / (len(rest) + lam) - (sum(rest) + g) / (len(rest) + 1 + lam))
        leaf = max(leaf, value * (1 + lam))
    assert up <= 1.0 + 1e-9
    assert -3.0 <= down < -1.5
    assert 0.99 < leaf <= 1.0 + 1e-9


# --- planted mistakes -------------------------------------------------------------------------


def extreme(model, n=6):
    """Make equal records with the largest gradient, the last of which is removed."""
    target = MODELS[model]
    end = target.high if isinstance(target, Range) else target.labels[1]
    X = pd.DataFrame({"age": [100.0] * n, "income": [1e6] * n, "job": ["smith"] * n})
    y = pd.Series([end] * n)
    return (X, y), (X[:-1], y[:-1])


def reports(estimator, n=1):
    found = []
    present, absent = extreme(type(estimator), n)
    for _ in range(5):
        model, transcript = record(estimator, *present)
        found.append(replay(estimator, absent, model, transcript))
    return found


@pytest.mark.full
@models_
@pytest.mark.parametrize("n", [1, 2, 6])
def test_extreme_records_stay_within_the_guarantee(model, n):
    assert all(report.holds for report in reports(make(model), n))


def test_a_leaf_that_counts_twice_is_noticed(monkeypatch):
    honest = forest.leaf_sums
    monkeypatch.setattr(forest, "leaf_sums", lambda *a: 2 * honest(*a))
    assert not any(report.holds for report in reports(make(DPRandomForestClassifier)))


def test_leaves_with_the_noise_of_a_third_of_their_sensitivity_are_noticed(monkeypatch):
    estimator = make(DPBoostRegressor, n_trees=1, trees_per_ensemble=1)
    assert all(report.holds for report in reports(estimator))
    honest = boosting.Plan.leaf_sensitivity
    monkeypatch.setattr(boosting.Plan, "leaf_sensitivity", lambda self, k: honest(self, k) / 3)
    assert not any(report.holds for report in reports(estimator))


def test_geometric_clipping_bounds_what_a_late_tree_releases():
    """Tree 19 at a rate of 0.3 has values within 0.7^19 = 0.0011, and noise for twice that."""
    X, y = make_data(Range(0, 10), 300)
    estimator = make(DPBoostRegressor, n_trees=20, trees_per_ensemble=20, learning_rate=0.3)
    _, transcript = record(estimator, X, y)
    leaves = [
        (phase, query)
        for phase, query in zip(transcript.phases, transcript.queries, strict=True)
        if phase.label == "leaves"
    ]
    phase, query = leaves[19]
    assert np.abs(query).max() <= 0.7**19 * boosting.LATTICE + 1
    assert phase.sensitivity_int == pytest.approx(2 * 0.7**19 * boosting.LATTICE + 1)


def test_records_that_are_in_every_tree_of_an_ensemble_are_noticed(monkeypatch):
    class Everywhere(np.ndarray):
        """Object equal to every number."""

        def __eq__(self, other):
            return np.ones(self.shape, dtype=bool)

        __hash__ = None

    monkeypatch.setattr(
        boosting, "_drawn_trees", lambda plan, size, n, coins: np.zeros(n, int).view(Everywhere)
    )
    found = reports(make(DPBoostRegressor, n_trees=4, trees_per_ensemble=4))
    assert any("disjoint" in text for report in found for text in report.overspent)


def test_a_criterion_with_the_sensitivity_of_another_is_noticed(monkeypatch):
    """With both classes in one node, Gini changes by up to 4, so a stated 0.1 is too small."""
    monkeypatch.setattr(boosted, "criterion_sensitivity", lambda *a: 0.1)
    estimator = make(DPBoostedTreesClassifier)
    X, y = make_data(MODELS[DPBoostedTreesClassifier], 30)
    model, transcript = record(estimator, X, y)
    report = replay(estimator, (X[:-1], y[:-1]), model, transcript)
    assert any("splits" in text for text in report.overspent)


# --- alphas by released weights ---------------------------------------------------------------


def by_weight(**settings):
    more = {"criterion": "m_alpha", "calibration": "weight", "n_public": 200, "epsilon": 4.0}
    return make(DPBoostedTreesClassifier, **{**more, **settings})


def replay_without_last(estimator):
    X, y = make_data(MODELS[DPBoostedTreesClassifier], 60)
    model, transcript = record(estimator, X, y)
    return replay(estimator, (X[:-1], y[:-1]), model, transcript)


@pytest.mark.parametrize("variant", ["corrected", "paper"])
def test_alphas_follow_released_weights_and_are_paid_out_of_the_splits(variant):
    estimator = by_weight(variant=variant, depth=3)
    X, y = make_data(MODELS[DPBoostedTreesClassifier], 150)
    _, transcript = record(estimator, X, y)
    labels = [phase.label for phase in transcript.phases]
    one_tree = ["splits", *["node weights", *["splits"] * 2, "node weights", *["splits"] * 4]]
    assert labels == [*one_tree, "leaves"] * 3
    places = [k for k, label in enumerate(labels) if label == "node weights"]
    sensitivity = 1.0 if variant == "corrected" else 2.0
    for place, n in zip(places, [2, 4] * 3, strict=True):
        spreads = [phase.spread_int for phase in transcript.phases[place + 1 : place + 1 + n]]
        # The sensitivity is linear in alpha, and alphas of a level add up to one.
        least, most = (losses.criterion_sensitivity("m_alpha", 200, a) for a in (0.0, 1.0))
        expected = sensitivity * (most + (n - 1) * least) * 2**20 + n * 3.0
        assert sum(spreads) == pytest.approx(expected)
        order = np.argsort(np.maximum(transcript.answers[place], 0))
        assert np.all(np.diff(np.array(spreads)[order]) >= 0)
    events = {}
    for event in estimator.planned_events(X):
        epsilon = getattr(event, "epsilon", None) or 1 / event.noise_multiplier
        events[event.label] = events.get(event.label, 0.0) + event.count * epsilon
    assert events["node weights"] == pytest.approx(0.05 * 4.0)
    assert sum(events.values()) <= 4.0 * (1 + 1e-9)


@pytest.mark.parametrize("setting", [{"depth": 1}, {"criterion": "gini"}, {"calibration": "depth"}])
def test_no_weights_are_released_where_no_alpha_needs_them(setting):
    X, _ = make_data(MODELS[DPBoostedTreesClassifier], 1)
    labels = {event.label for event in by_weight(**setting).planned_events(X)}
    assert labels == {"leaves", "splits"}


def test_with_much_noise_alphas_are_those_of_the_depth():
    estimator = by_weight(epsilon=1e-4)
    candidates = candidates_of(grid_of(estimator.schema, 4))
    sums = np.zeros((2, candidates.n_bins, 2), dtype=np.int64)
    sums[0, 0, 0] = 50 * boosted.WEIGHT_STEPS
    for epsilon, expected in ((1e-4, [0.5, 0.5]), (1e4, [1.0, 0.0])):
        estimator.set_params(epsilon=epsilon)
        alphas = estimator._alphas(sums, candidates, 1, Silent())
        assert alphas == pytest.approx(expected, abs=0.001)


class Silent:
    """Mechanism that adds no noise."""

    def phase(self, phase):
        return contextlib.nullcontext()

    def release(self, query):
        return query


def test_alphas_by_exact_weights_are_noticed(monkeypatch):
    assert replay_without_last(by_weight()).holds
    honest = DPBoostedTreesClassifier._alphas

    def exact(self, sums, candidates, level, mechanism):
        honest(self, sums, candidates, level, mechanism)
        return honest(self, sums, candidates, level, Silent())

    monkeypatch.setattr(DPBoostedTreesClassifier, "_alphas", exact)
    found = replay_without_last(by_weight()).differences
    assert any("'splits'" in text for text in found), found


def test_node_weights_that_are_not_paid_for_are_refused_and_noticed(monkeypatch):
    honest = DPBoostedTreesClassifier._releases
    monkeypatch.setattr(DPBoostedTreesClassifier, "_releases", lambda *a: honest(*a)[:-1])
    X, y = make_data(MODELS[DPBoostedTreesClassifier], 60)
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        by_weight().fit(X, y)
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    assert any("node weights" in text for text in replay_without_last(by_weight()).overspent)
