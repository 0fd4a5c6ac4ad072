"""Pairs of features in the non-private boosting models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from dpexplain.compare import sweep
from dpexplain.io import load, save
from dpexplain.models import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.boosting.nonprivate.pair_trees import pair_tree
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "noise": Numeric(0, 1),
}
ESTIMATORS = {
    "numbers": (ExplainableBoostingRegressor, DPExplainableBoostingRegressor),
    "classes": (ExplainableBoostingClassifier, DPExplainableBoostingClassifier),
}


def schema_of(kind):
    return Schema(FEATURES, target=Range(-4, 4) if kind == "numbers" else Classes(["no", "yes"]))


def make(kind="numbers", **settings):
    return ESTIMATORS[kind][0](**{"schema": schema_of(kind), "outer_bags": 2, **settings})


def make_data(n=3000, seed=0, kind="numbers"):
    """Make data in which age and dose interact and ward acts alone, with missing cells."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(float),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c"], n).astype(object),
            "noise": rng.uniform(0, 1, n),
        }
    )
    score = 1.5 * np.sign(X["age"] - 50) * np.sign(X["dose"] - 0.3) + (X["ward"] == "a")
    noise = rng.normal(0, 0.5, n) if kind == "numbers" else rng.logistic(size=n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X.loc[rng.random(n) < 0.01, "ward"] = "unknown"
    y = score + noise
    return X, y.clip(-4, 4) if kind == "numbers" else pd.Series(np.where(y > 0, "yes", "no"))


@pytest.fixture(scope="module", params=["numbers", "classes"])
def fitted(request):
    X, y = make_data(kind=request.param)
    return make(request.param, pairs=[("dose", "age"), ("age", "ward")]).fit(X, y), X


def scores(model, X):
    return model.predict(X) if hasattr(model, "objective") else model.decision_function(X)


def test_the_explanation_predicts_what_the_model_predicts(fitted):
    model, X = fitted
    explanation = model.explain_global()
    assert model.term_names_ == ["age", "dose", "ward", "noise", "age & dose", "age & ward"]
    np.testing.assert_array_equal(explanation.predict(X), model.predict(X))
    local, plain = model.explain_local(X[:50]), explanation.explain_local(X[:50])
    np.testing.assert_array_equal(local.contributions, model.eval_terms(X[:50]))
    np.testing.assert_array_equal(local.contributions, plain.contributions)
    np.testing.assert_array_equal(local.scores, scores(model, X[:50]))
    assert local.noise_std is None


def test_pairs_are_marked_not_private_and_have_no_noise(fitted, tmp_path):
    model, X = fitted
    explanation = model.explain_global()
    for pair in explanation.pairs:
        assert pair.guarantee.private is False
        assert pair.noise_std is pair.total_std is pair.band is None
        assert "NOT PRIVATE" in pair._repr_html_()
    read = load(save(explanation, tmp_path / "model.json"))
    np.testing.assert_array_equal(read.predict(X), model.predict(X))


def test_rows_and_columns_of_a_pair_have_mean_zero_over_the_records(fitted):
    """What depends on a single feature belongs to its curve."""
    for pair in fitted[0]._terms.pairs:
        size = np.abs(pair.scores).max() * pair.counts.sum()
        used = pair.scores.any(axis=1), pair.scores.any(axis=0)
        people = pair.counts * np.outer(*used)
        assert np.abs((people * pair.scores).sum(axis=0)).max() < 1e-9 * size
        assert np.abs((people * pair.scores).sum(axis=1)).max() < 1e-9 * size


def test_counts_of_cells_are_the_records_in_them(fitted):
    model, X = fitted
    for pair in model.explain_global().pairs:
        cells = pair.cell_index(*(X[name] for name in pair.feature_names))
        found = np.bincount(cells, minlength=pair.count.size)
        np.testing.assert_array_equal(found, pair.count.ravel())


def test_rare_special_bins_contribute_nothing_and_common_ones_do(fitted):
    pair = fitted[0].explain_global().pair("age & ward")
    assert pair.axes[1].bin_labels == ("a", "b", "c", "other", "missing")
    assert not pair.contribution[:, 3:].any()
    assert fitted[0].explain_global().pair("age & dose").contribution[-1].any()


def test_pairs_find_an_effect_that_curves_cannot_show(fitted):
    table = fitted[0].explain_global().pair("age & dose")
    low, high = (table.evaluate([10, 10], [0.1, 0.9]), table.evaluate([90, 90], [0.1, 0.9]))
    assert low[0] > 0.5 > -0.1 > low[1]
    assert high[1] > 0.1 > -0.5 > high[0]


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_single_pair_that_is_chosen_is_the_planted_one(kind):
    X, y = make_data(kind=kind)
    model = make(kind, pairs=1, outer_bags=1).fit(X, y)
    assert model.term_names_[4:] == ["age & dose"]


@pytest.mark.full
def test_pairs_are_rarely_chosen_if_there_are_none():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(10):
        X, y = make_data(1000, seed)
        model = make(pairs="auto", max_rounds=50).fit(X, rng.permutation(y))
        found.append(len(model.term_names_) - 4)
    assert np.mean(found) < 1.5  # of 6 candidates, each tested at the 5% level


def test_without_schema_and_with_few_records_a_fit_with_pairs_works():
    X, y = make_data(12)
    model = ExplainableBoostingRegressor(pairs=[("age", "noise")], outer_bags=1).fit(X, y)
    assert model.term_names_[-1] == "age & noise"
    assert np.isfinite(model.predict(X)).all()


def test_repeated_fits_have_equal_pairs():
    X, y = make_data(500)
    first, second = (make(pairs=2, max_rounds=20).fit(X, y) for _ in range(2))
    for own, other in zip(first.term_scores_, second.term_scores_, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"schema": Schema(FEATURES, target=Range(0, 9)), "objective": "poisson"}, "poisson"),
        ({"pairs": [("age", "doze")]}, "Did you mean 'dose'"),
        ({"pairs": "all"}, "must be 'auto'"),
        ({"monotone_constraints": {"age": 1}, "pairs": [("age", "dose")]}, "monotone constraint"),
    ],
    ids=["counts", "an unknown name", "a word", "a constrained feature"],
)
def test_what_pairs_do_not_work_with_is_refused_before_data_are_read(settings, words):
    X = make_data(20)[0]
    with pytest.raises(ValueError, match=words):
        make(**{"pairs": 1, **settings}).fit(X, [object()] * 20)


def test_pairs_with_several_classes_are_refused():
    X = make_data(20)[0]
    schema = Schema(FEATURES, target=Classes(["a", "b", "c"]))
    with pytest.raises(ValueError, match="more than two classes"):
        make("classes", schema=schema, pairs=1).fit(X, [object()] * 20)
    with pytest.raises(ValueError, match="more than two classes"):
        make("classes", schema=None, pairs=1).fit(X, ["a", "b", "c", "a"] * 5)


@pytest.mark.parametrize(
    ("pairs", "of_reference"),
    [(0, 0), ("auto", 3), (2, 2), ([("age", "dose")], [("age", "dose")])],
)
def test_the_reference_of_a_private_model_has_at_most_as_many_pairs(pairs, of_reference):
    estimator = ESTIMATORS["numbers"][1](schema=schema_of("numbers"), pairs=pairs)
    assert estimator.reference_estimator().pairs == of_reference


@pytest.mark.full
def test_a_sweep_compares_a_pair_with_the_reference():
    X, y = make_data(1500)
    estimator = DPExplainableBoostingRegressor(
        schema=schema_of("numbers"), pairs=[("age", "dose")], reproducible_seed=0, max_rounds=4
    )
    comparison = sweep(estimator, X, y, epsilons=[4.0], reference=make(pairs=[("age", "dose")]))
    assert comparison.pair_names == ("age & dose",)
    assert (comparison.importances().loc["age & dose"] > 0.1).all()
    assert comparison.reference.pair("age & dose").guarantee.private is False


def tree_of(gradient, curvature, least):
    """A naive twin of `pair_tree`."""

    def explained(leaves):
        return sum(gradient[leaf].sum() ** 2 / max(curvature[leaf].sum(), 1e-12) for leaf in leaves)

    def valid(leaves):
        return all(curvature[leaf].sum() >= least for leaf in leaves)

    n_rows, n_columns = gradient.shape
    best, chosen = -1.0, []
    for turned in (False, True):
        rows, columns = (n_columns, n_rows) if turned else (n_rows, n_columns)
        for cut in range(1, rows):
            parts = []
            for part in (slice(0, cut), slice(cut, rows)):
                both = [
                    [(part, slice(0, at)), (part, slice(at, columns))] for at in range(1, columns)
                ]
                both = [[leaf[::-1] for leaf in leaves] if turned else leaves for leaves in both]
                whole = (slice(None), part) if turned else (part, slice(None))
                parts.append([[whole], *(leaves for leaves in both if valid(leaves))])
                parts[-1] = max(parts[-1], key=explained) if valid([whole]) else None
            if None not in parts and explained([*parts[0], *parts[1]]) > best:
                chosen = [*parts[0], *parts[1]]
                best = explained(chosen)
    values = np.zeros(gradient.shape)
    for leaf in chosen:
        values[leaf] = gradient[leaf].sum() / curvature[leaf].sum()
    return values


def test_a_tree_on_a_grid_equals_its_naive_twin():
    rng = np.random.default_rng(0)
    for shape, least in product([(4, 5), (6, 3), (1, 4), (2, 2)], [1.0, 8.0, 100.0]):
        gradient, curvature = rng.normal(size=shape), rng.integers(0, 6, shape).astype(float)
        gradient[curvature == 0.0] = 0.0
        found = pair_tree(gradient, curvature, least)
        np.testing.assert_allclose(found, tree_of(gradient, curvature, least), atol=1e-12)
