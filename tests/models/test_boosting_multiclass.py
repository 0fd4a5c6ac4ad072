"""More than two classes: one tree per visit, and a score and explanation per class."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from chunked_tables import FEATURES as CHUNKED_FEATURES
from chunked_tables import ListTable, assert_same_fit, cut, make_table
from dpexplain import sweep
from dpexplain.audit import record
from dpexplain.compare import MulticlassComparison, epsilon_to_stand_out, faithfulness
from dpexplain.compare._metrics import macro_auroc, measure
from dpexplain.explain import MulticlassExplanation, total_score
from dpexplain.explain.additive.local_explanation import rest_scores
from dpexplain.io import from_json, to_json
from dpexplain.mechanisms import SeededCoins
from dpexplain.models import DPExplainableBoostingClassifier, ExplainableBoostingClassifier
from dpexplain.models.boosting.objectives import softmax
from dpexplain.plotting import plot_comparison, plot_global, plot_importance, plot_local
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.payload import build_payload
from effort import examples

pytestmark = pytest.mark.full


FEATURES = {"age": Numeric(0, 80, unit="years", step=1), "ward": Categorical(["A", "B"])}
TRIAGE = Schema(FEATURES, target=Classes(["home", "bed", "theatre"], name="triage"))
BOTH = [
    ExplainableBoostingClassifier(schema=TRIAGE, max_rounds=40),
    DPExplainableBoostingClassifier(schema=TRIAGE, epsilon=4),
]
both = pytest.mark.parametrize("estimator", BOTH, ids=lambda e: type(e).__name__)


def make_data(n=6000, seed=0):
    """Make additive scores of three classes over two features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(0, 81, n), "ward": rng.choice(["A", "B"], n)})
    old, b = (X["age"] > 40).to_numpy(), (X["ward"] == "B").to_numpy()
    scores = np.stack([-1.0 * old, 1.0 * old, 1.5 * b], axis=1)
    return X, np.array(["home", "bed", "theatre"])[(scores + rng.gumbel(size=(n, 3))).argmax(1)]


def schema_of(data):
    """Return a schema of public data, whose bounds may be read from the data."""
    low, high = data.data.min(axis=0), data.data.max(axis=0)
    features = {
        f"x{i}": Numeric(float(a), float(max(b, a + 1)))
        for i, (a, b) in enumerate(zip(low, high, strict=True))
    }
    return Schema(features, target=Classes([str(name) for name in data.target_names]))


@both
def test_probabilities_are_the_softmax_of_the_scores(estimator):
    X, y = make_data(1000)
    model = estimator.fit(X, y)
    scores, p = model.decision_function(X), model.predict_proba(X)
    assert p.shape == scores.shape == (1000, 3)
    exact = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, exact, rtol=1e-12)
    assert (model.predict(X) == model.classes_[p.argmax(axis=1)]).all()


@both
def test_explanations_of_the_classes_add_up_to_the_scores_bit_by_bit(estimator):
    X, y = make_data(1000)
    model = estimator.fit(X, y)
    local, explanation = model.explain_local(X.head(40)), model.explain_global()
    assert local.scores.tobytes() == model.decision_function(X.head(40)).tobytes()
    assert local.predictions.tobytes() == model.predict_proba(X.head(40)).tobytes()
    for c, name in enumerate(TRIAGE.target.names):
        one, shapes = local.for_class(name), explanation.for_class(name)
        at = [shapes[t].evaluate(X.head(40)[t]) for t in shapes]
        assert np.array_equal(one.contributions, np.stack(at, axis=1))
        assert total_score(one.contributions, shapes.intercept).tobytes() == (
            np.ascontiguousarray(local.scores[:, c]).tobytes()
        )
        assert one.predictions.tobytes() == np.ascontiguousarray(local.predictions[:, c]).tobytes()


@both
def test_curves_are_centered_over_classes_and_over_people(estimator):
    explanation = estimator.fit(*make_data(1000)).explain_global()
    for term in explanation.term_names:
        parts = [part[term] for part in explanation.by_class]
        assert np.abs(sum(part.contribution for part in parts)).max() < 1e-12
        for part in parts:
            # A missing bin that may be empty contributes 0 and weighs nothing.
            filled = np.where(part.contribution != 0, part.weights, 0.0)
            assert filled @ part.contribution == pytest.approx(0.0, abs=1e-9)
    assert explanation.intercept.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.named_entropy
@both
def test_the_effects_behind_the_classes_are_found(estimator):
    """With 6,000 records at epsilon 4, the noise is a few percent, and so is a bin's error."""
    explanation = estimator.fit(*make_data()).explain_global()

    def effect(name, term, values):
        low, high = explanation.for_class(name)[term].evaluate(values)
        return high - low

    bed, home = (effect(name, "age", [20, 60]) for name in ("bed", "home"))
    assert bed - home == pytest.approx(2.0, abs=0.4)
    theatre, home = (effect(name, "ward", ["A", "B"]) for name in ("theatre", "home"))
    assert theatre - home == pytest.approx(1.5, abs=0.3)


@pytest.mark.full
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_without_noise_it_is_not_worse_than_additive_trees_of_scikit_learn(load):
    data = load()
    y = data.target_names[data.target].astype(str)
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    ours = ExplainableBoostingClassifier(schema=schema_of(data), outer_bags=2)
    theirs = HistGradientBoostingClassifier(interaction_cst="no_interactions")
    scores = []
    for model in (ours, theirs):
        p = model.fit(data.data[half], y[half]).predict_proba(data.data[~half])
        order = np.argsort(np.asarray(model.classes_))
        scores.append(roc_auc_score(y[~half], p[:, order], multi_class="ovr"))
    assert scores[0] >= scores[1] - 0.005


@pytest.mark.named_entropy
def test_a_private_model_of_ten_classes_beats_guessing():
    data = load_digits()
    y = data.target_names[data.target].astype(str)
    model = DPExplainableBoostingClassifier(epsilon=8, schema=schema_of(data))
    p = model.fit(data.data, y).predict_proba(data.data)
    assert roc_auc_score(y, p, multi_class="ovr") > 0.9


@examples(100)
@given(n_classes=st.integers(3, 300), clip=st.sampled_from([1.0, 0.3, 0.01]))
def test_lattice_and_single_precision_cost_a_little_sensitivity(n_classes, clip):
    schema = Schema({"x": Numeric(0, 1)}, target=Classes([str(i) for i in range(n_classes)]))
    excess = softmax(schema).sensitivity(clip) - np.sqrt(2)
    assert np.sqrt(n_classes) / 2 / 2**20 < excess < 3e-3


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_noise_covers_the_vector_of_all_classes(adjacency):
    model = DPExplainableBoostingClassifier(
        schema=TRIAGE, structure_seed=0, max_rounds=2, adjacency=adjacency
    )
    X, y = make_data(200)
    phases = {p.label: p for p in record(model, X, y)[1].phases}
    factor = 1.0 if adjacency == "add_remove" else 2.0
    steps = phases["boosting"].sensitivity_int
    assert steps > factor * np.sqrt(2) * 2**20
    assert steps == pytest.approx(factor * np.sqrt(2) * 2**20, rel=1e-5)
    event = model.planned_events(X)[-1]
    assert event.noise_multiplier == pytest.approx(phases["boosting"].sigma_int / steps)


@both
def test_several_bags_show_how_much_each_class_differs(estimator):
    model = type(estimator)(schema=TRIAGE, outer_bags=3, max_rounds=5).fit(*make_data(500))
    shape = model.explain_global().for_class("bed")["ward"]
    assert (shape.bag_std[:2] > 0).all()


@both
def test_constraints_are_refused_where_each_class_has_a_score(estimator):
    model = type(estimator)(schema=TRIAGE, monotone_constraints={"age": 1})
    with pytest.raises(ValueError, match=r"3 classes; .* of_class=label\)\.apply\(model\)"):
        model.fit(*make_data(10))


@both
def test_files_give_back_what_was_written(estimator):
    X, y = make_data(300)
    model = estimator.fit(X, y)
    for thing in (model.explain_global(), model.explain_local(X.head(3))):
        assert from_json(to_json(thing)) == thing


def test_views_of_several_classes_say_how_to_choose_one():
    X, y = make_data(500)
    model = BOTH[1].fit(X, y)
    comparison = sweep(
        DPExplainableBoostingClassifier(schema=TRIAGE, max_rounds=3),
        X,
        y,
        epsilons=(1, 4),
        evaluate=(X, y),
        progress=False,
    )
    assert isinstance(comparison, MulticlassComparison)
    explanation, local = model.explain_global(), model.explain_local(X.head(2))
    for draw, shown in (
        (plot_global, explanation),
        (plot_importance, explanation),
        (plot_local, local),
        (plot_comparison, comparison),
    ):
        arguments = {"term": "age"} if draw is plot_comparison else {}
        with pytest.raises(ValueError, match=r"one class at a time; pass \.for_class\(label\)"):
            draw(shown, **arguments)
    for method in (explanation.plot, local.plot, comparison.plot):
        with pytest.raises(ValueError, match="for_class"):
            method()
    with pytest.raises(KeyError, match=r"\.for_class\('bed'\) is the explanation of this class"):
        explanation["bed"]
    with pytest.raises(KeyError, match=r"for_class\(label\)\['age'\]"):
        explanation["age"]
    for wrong in (
        lambda: epsilon_to_stand_out(comparison, "age"),
        lambda: faithfulness(explanation, explanation),
    ):
        with pytest.raises(ValueError, match=r"one class at a time; pass \.for_class\(label\)"):
            wrong()
    for shown, name in (
        (comparison, "faithfulness"),
        (comparison, "effects"),
        (explanation, "terms"),
    ):
        with pytest.raises(AttributeError, match=rf"\.for_class\(label\)\.{name}, where .* 'bed'"):
            getattr(shown, name)
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        getattr(explanation, "no" + "such")


def test_one_class_goes_into_every_view():
    X, y = make_data(500)
    model = BOTH[1].fit(X, y)
    bed = model.explain_global().for_class("bed")
    assert bed.score_name == "log-odds of triage = bed against the average class"
    assert bed.score_unit == bed["age"].score_unit == "log-odds"
    bed.plot("age")
    bed.plot_importance()
    assert "P(bed)" in model.explain_local(X.head(2)).for_class("bed")._repr_html_()
    model.explain_local(X.head(2)).for_class("bed").plot(0)
    assert build_payload(bed)["target"]["shown_class"] == "bed"


def test_a_sweep_of_several_classes_has_one_ledger_and_one_table_of_metrics():
    X, y = make_data(500)
    model = DPExplainableBoostingClassifier(schema=TRIAGE, max_rounds=3)
    comparison = sweep(model, X, y, epsilons=(1, 4), evaluate=(X, y), progress=False)
    assert comparison.classes == ("home", "bed", "theatre")
    assert comparison.epsilons == (1.0, 4.0)
    assert set(comparison.metrics["metric"]) == {"macro AUROC"}
    assert len(comparison.ledger.entries) == 3
    bed = comparison.for_class("bed")
    assert bed.ledger == comparison.ledger
    assert bed.reference.of_class == "bed"
    bed.plot("age")
    Explorer(bed)
    assert list(comparison.importances().index) == ["age", "ward"]
    assert set(comparison.frame()["class"]) == {"home", "bed", "theatre"}
    assert from_json(to_json(comparison)) == comparison
    assert not comparison.private
    assert "MulticlassComparison" in repr(comparison)
    with pytest.raises(KeyError, match=r"no class 'Bed'.*Did you mean 'bed'"):
        comparison.for_class("Bed")


@both
def test_importance_is_the_mean_over_classes(estimator):
    explanation = estimator.fit(*make_data(500)).explain_global()
    assert isinstance(explanation, MulticlassExplanation)
    means = {
        term: np.mean([part[term].importance for part in explanation.by_class])
        for term in explanation.term_names
    }
    assert explanation.importances().to_dict() == pytest.approx(means)
    assert "importance" in explanation._repr_html_()
    assert "3 classes of triage" in repr(explanation)


def test_parts_that_do_not_belong_together_are_refused():
    explanation = BOTH[1].fit(*make_data(300)).explain_global()
    for parts in (explanation.by_class[::-1], explanation.by_class[:2], explanation.by_class[:1]):
        with pytest.raises(ValueError, match="by_class"):
            MulticlassExplanation(parts)


@examples(100)
@given(st.lists(st.lists(st.floats(-700, 700), min_size=3, max_size=3), min_size=1, max_size=5))
def test_rest_scores_are_the_logarithm_of_what_the_others_weigh(rows):
    scores = np.array(rows)
    exact = np.stack(
        [np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1) for c in range(3)], axis=1
    )
    np.testing.assert_allclose(rest_scores(scores), exact, rtol=1e-12, atol=1e-12)


def test_macro_auroc_equals_scikit_learn_and_leaves_out_classes_that_do_not_occur():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200)
    texts = y.astype(str).astype(object)
    expected = roc_auc_score(y, p, multi_class="ovr")
    assert macro_auroc(texts, ["0", "1", "2"], p) == pytest.approx(expected)
    padded = np.column_stack([p, np.zeros(200)])
    assert macro_auroc(texts, ["0", "1", "2", "3"], padded) == pytest.approx(expected)
    assert np.isnan(macro_auroc(texts, ["a", "b", "c"], p))
    model = BOTH[1].fit(*make_data(100))
    assert np.isnan(measure(model, make_data(100)[0], [None] * 100)[1])


@pytest.mark.parametrize("n_bags", [1, 2])
def test_parts_of_any_size_give_the_model_of_the_whole(n_bags, monkeypatch):
    monkeypatch.setattr(DPExplainableBoostingClassifier, "_coins", lambda self: SeededCoins(1))
    table = make_table("DPExplainableBoostingClassifier", 500)
    table["visits"] = np.where(table["age"] > 70, "often", table["visits"])
    schema = Schema(CHUNKED_FEATURES, target=Classes(["no", "yes", "often"]))
    model = DPExplainableBoostingClassifier(
        schema=schema, structure_seed=7, max_rounds=4, outer_bags=n_bags
    )
    assert_same_fit(model, table, ListTable(cut(table, [3, 3, 250])), None)
