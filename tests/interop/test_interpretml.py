"""InterpretML's models are imported and explanations exported, with equal scores."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dpexplain
from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import MulticlassExplanation, from_interpret
from dpexplain.interop import to_interpret
from dpexplain_widgets import Explorer
from fitted_models import (
    FEATURES,
    FITTED,
    dated,
    fitted_binary,
    fitted_classes,
    in_days,
    table,
)

pytestmark = pytest.mark.full

interpret = pytest.importorskip("interpret")


@pytest.fixture(scope="module")
def theirs():
    """Fit a classifier with InterpretML."""
    from interpret.glassbox import ExplainableBoostingClassifier

    X, score = table()
    kinds = ["continuous", "nominal", ["low", "mid", "high"]]
    model = ExplainableBoostingClassifier(
        interactions=0, outer_bags=2, max_rounds=50, feature_types=kinds, n_jobs=1
    )
    return model.fit(X, np.where(score > 3, "yes", "no"))


def scores_of(explanation, X):
    return explanation.intercept + sum(term.evaluate(X[term.name]) for term in explanation.terms)


def test_an_imported_classifier_gives_the_scores_of_the_model(theirs):
    X, _ = table(seed=1)
    explanation = from_interpret(theirs, target_name="income")
    np.testing.assert_allclose(scores_of(explanation, X), theirs.decision_function(X), atol=1e-12)
    assert explanation.classes == ("no", "yes")
    assert explanation["grade"].ordered
    assert explanation["age"].bag_std is not None
    assert "not private" in explanation.guarantee.short.lower()


def test_an_imported_model_is_saved_drawn_and_shown(theirs, tmp_path):
    explanation = from_interpret(theirs)
    path = dpexplain.io.save(explanation, tmp_path / "theirs.json")
    assert dpexplain.io.load(path) == explanation
    assert explanation["age"].plot() is not None


def test_a_stated_epsilon_is_named_and_not_vouched_for():
    from interpret.privacy import DPExplainableBoostingClassifier as TheirPrivate

    X, score = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TheirPrivate(epsilon=1.0, delta=1e-6, privacy_bounds={"age": (17, 90)}, n_jobs=1)
        model.fit(X.fillna({"age": 50, "job": "a"}), np.where(score > 3, "yes", "no"))
    explanation = from_interpret(model)
    assert not explanation.guarantee.private
    assert "states epsilon = 1" in " ".join(explanation.guarantee.notes)
    assert explanation["age"].bin_edges[0] == 17.0


def test_several_classes_come_in_with_equal_probabilities():
    from interpret.glassbox import ExplainableBoostingClassifier

    X, score = table()
    labels = np.select([score < 2, score < 4], ["low", "middle"], "high")
    model = ExplainableBoostingClassifier(interactions=0, outer_bags=1, max_rounds=20, n_jobs=1)
    model.fit(X, labels)
    explanation = from_interpret(model)
    assert isinstance(explanation, MulticlassExplanation)
    scores = np.stack([scores_of(part, X) for part in explanation.by_class], axis=1)
    np.testing.assert_allclose(scores.mean(axis=1), 0.0, atol=1e-9)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        odds / odds.sum(axis=1, keepdims=True), model.predict_proba(X), atol=1e-9
    )


def with_pairs(kind="classes", **settings):
    """Fit an InterpretML model with pairs: two numbers, and a number with a category."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    X, score = table()
    score = score + np.where(X["job"] == "a", 0.1, -0.1) * X["age"].fillna(40)
    settings = {"outer_bags": 1, "max_rounds": 20, "n_jobs": 1, "random_state": 0, **settings}
    settings["feature_types"] = ["continuous", "nominal", "nominal"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what InterpretML does not draw
        if kind == "number":
            return ExplainableBoostingRegressor(**settings).fit(X, score)
        labels = np.where(score > 3, "yes", "no")
        if kind == "several":
            labels = np.select([score < 1, score < 4], ["low", "middle"], "high")
        return ExplainableBoostingClassifier(**settings).fit(X, labels)


@pytest.fixture(scope="module")
def paired():
    return with_pairs(interactions=[("age", "job"), ("age", "grade")])


def test_pairs_come_in_with_the_scores_of_the_model(paired):
    X, _ = table(seed=1)
    explanation = from_interpret(paired, target_name="income")
    assert [pair.name for pair in explanation.pairs] == ["age & job", "age & grade"]
    assert explanation.pair("age & job").importance > 0.1
    assert list(explanation) == ["age", "job", "grade"]
    local = explanation.explain_local(X)
    np.testing.assert_allclose(local.scores, paired.decision_function(X), atol=1e-12)
    assert local.term_names[-2:] == ("age & job", "age & grade")
    assert local.bin_labels[0][3] == "missing, missing"
    assert local.bin_labels[1][3].endswith(f", {X['job'].iloc[1]}")


def test_pairs_of_several_classes_come_in_with_equal_probabilities():
    model = with_pairs("several", interactions=[("age", "job")])
    X, _ = table(seed=1)
    local = from_interpret(model).explain_local(X)
    for name in model.classes_:
        place = list(model.classes_).index(name)
        np.testing.assert_allclose(
            local.for_class(name).predictions, model.predict_proba(X)[:, place], atol=1e-9
        )


@pytest.mark.parametrize("kind", ["classes", "number", "several"])
def test_pairs_go_back_with_equal_scores_and_open_again_as_they_were(kind):
    model = with_pairs(kind, interactions=[("age", "job"), ("job", "grade")])
    X, _ = table(seed=2)
    explanation = from_interpret(model)
    with pytest.warns(PrivacyWarning, match="a model of InterpretML cannot store that label"):
        theirs = to_interpret(explanation)
    if kind == "number":
        np.testing.assert_allclose(theirs.predict(X), model.predict(X), atol=1e-9)
    else:
        np.testing.assert_allclose(theirs.predict_proba(X), model.predict_proba(X), atol=1e-9)
    parts = getattr(explanation, "by_class", (explanation,))
    again = from_interpret(theirs)
    for one, other in zip(parts, getattr(again, "by_class", (again,)), strict=True):
        for pair in one.pairs:
            np.testing.assert_allclose(
                other.pair(pair.name).contribution, pair.contribution, atol=1e-12
            )
    if kind != "several":  # InterpretML itself draws no pairs of several classes
        assert theirs.explain_global().data(3)["type"] == "interaction"


def test_terms_of_three_features_are_left_out_with_a_warning_that_names_them():
    model = with_pairs(interactions=[("age", "job", "grade")])
    with pytest.warns(UserWarning, match=r"1 terms of three or more .*age & job & grade"):
        explanation = from_interpret(model)
    assert len(explanation) == 3
    assert explanation.pairs == ()


def test_pairs_are_drawn_saved_and_listed(paired, tmp_path):
    explanation = from_interpret(paired)
    path = dpexplain.io.save(explanation, tmp_path / "pairs.json")
    assert dpexplain.io.load(path) == explanation
    pair = explanation.pair("age & job")
    assert dpexplain.io.from_json(dpexplain.io.to_json(pair)) == pair
    frame = pair.frame()
    assert len(frame) == pair.contribution.size
    assert frame["count"].sum() == len(table()[0])
    assert "age & job" in explanation.importances().index
    assert explanation.plot("age & job").get_xlabel() == "job"
    assert len(explanation.plot()) == 5
    assert len(explanation.plot_importance().get_yticklabels()) == 5


def test_pairs_go_to_shap_with_the_other_contributions(paired):
    pytest.importorskip("shap")
    X, _ = table(seed=3)
    local = from_interpret(paired).explain_local(X.head(3))
    with pytest.warns(PrivacyWarning, match=r"a shap\.Explanation cannot store that label"):
        shap = local.to_shap()
    assert shap.feature_names[-2:] == ["age & job", "age & grade"]
    np.testing.assert_allclose(
        shap.values.sum(axis=1) + shap.base_values, paired.decision_function(X.head(3)), atol=1e-9
    )


def test_a_comparison_refuses_pairs_and_says_how_to_leave_them_out(paired):
    explanation = from_interpret(paired)
    with pytest.raises(KeyError, match="the pairs are 'age & job'"):
        explanation.pair("age & income")
    assert explanation.without_pairs().pairs == ()


def test_other_models_are_refused_in_words():
    with pytest.raises(TypeError, match="expected a fitted ExplainableBoosting"):
        from_interpret(object())
    from interpret.glassbox import ExplainableBoostingRegressor

    with pytest.raises(ValueError, match="not fitted"):
        from_interpret(ExplainableBoostingRegressor())
    with pytest.raises(TypeError, match=r"InterpretML.*from_interpret"):
        Explorer(ExplainableBoostingRegressor())


def test_a_model_of_a_single_class_is_refused_with_the_reason():
    from interpret.glassbox import ExplainableBoostingClassifier

    X, _ = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ExplainableBoostingClassifier(interactions=0, outer_bags=2, max_rounds=2)
        model.fit(X, np.full(len(X), "yes"))
    with pytest.raises(ValueError, match="records of a single class"):
        from_interpret(model)


@pytest.mark.parametrize("fitted", FITTED)
@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
def test_an_exported_model_gives_the_scores_of_the_explanation_to_the_last_bit(fitted):
    model = fitted()
    X, _ = table(seed=2)
    theirs = to_interpret(model.explain_global())
    np.testing.assert_array_equal(
        theirs._predict_score(X)
        if not hasattr(theirs, "classes_")
        else theirs.decision_function(X),
        model.explain_local(X).scores,
    )
    if hasattr(theirs, "classes_"):
        np.testing.assert_allclose(theirs.predict_proba(X), model.predict_proba(X), atol=1e-12)
        assert list(theirs.predict(X)) == list(model.predict(X))


def test_an_exported_model_explains_and_writes_itself_with_the_tools_of_interpretml(tmp_path):
    theirs = to_interpret(fitted_binary().explain_global())
    assert theirs.explain_global().data(0)["type"] == "univariate"
    theirs.to_json(str(tmp_path / "model.json"))
    assert (tmp_path / "model.json").stat().st_size > 500


@pytest.mark.parametrize("fitted", FITTED)
@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
@pytest.mark.filterwarnings("ignore:JSON formats are in beta")
def test_interpretml_reads_the_file_of_an_exported_model_and_predicts_the_same(fitted, tmp_path):
    theirs = to_interpret(fitted().explain_global())
    theirs.to_json(str(tmp_path / "model.json"))
    read = type(theirs)()._from_json(str(tmp_path / "model.json"))
    X, _ = table(seed=2)
    assert list(read.predict(X)) == list(theirs.predict(X))
    if hasattr(theirs, "classes_"):
        np.testing.assert_array_equal(read.predict_proba(X), theirs.predict_proba(X))
    kept = from_interpret(theirs)
    again = from_interpret(read)
    for one, other in zip(
        getattr(kept, "by_class", (kept,)), getattr(again, "by_class", (again,)), strict=True
    ):
        for term in one.terms:
            np.testing.assert_array_equal(other[term.name].contribution, term.contribution)


@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
@pytest.mark.filterwarnings("ignore:JSON formats are in beta")
def test_interpretml_reads_the_file_of_an_exported_model_with_pairs(paired, tmp_path):
    theirs = to_interpret(from_interpret(paired))
    theirs.to_json(str(tmp_path / "model.json"))
    read = type(theirs)()._from_json(str(tmp_path / "model.json"))
    X, _ = table(seed=2)
    np.testing.assert_array_equal(read.predict_proba(X), theirs.predict_proba(X))


def test_the_histogram_of_an_exported_model_holds_the_released_counts():
    explanation = fitted_binary().explain_global()
    age = explanation["age"]
    shown = to_interpret(explanation).explain_global().data(0)["density"]
    people = np.maximum(age.count[: age.n_value_bins], 0)
    assert sum(shown["scores"]) == pytest.approx(people.sum())
    assert len(shown["names"]) == len(shown["scores"]) + 1
    assert (shown["names"][0], shown["names"][-1]) == (17.0, 90.0)


def test_a_model_of_dates_goes_over_and_takes_days():
    model, X = dated(dpexplain.DPExplainableBoostingClassifier)
    theirs = to_interpret(model.explain_global())
    np.testing.assert_allclose(theirs.predict_proba(in_days(X)), model.predict_proba(X), atol=1e-12)
    values = from_interpret(theirs)["visit"].evaluate(in_days(X)["visit"])
    np.testing.assert_array_equal(values, model.explain_global()["visit"].evaluate(X["visit"]))


def test_a_round_trip_through_interpretml_keeps_every_curve():
    explanation = fitted_binary().explain_global()
    again = from_interpret(to_interpret(explanation))
    for term in explanation.terms:
        np.testing.assert_array_equal(again[term.name].contribution, term.contribution)


def linear(seed):
    """Fit a quick private model; seeds differ in the noise."""
    X, score = table()
    schema = dpexplain.Schema(FEATURES, target=dpexplain.Classes(["no", "yes"]))
    model = dpexplain.DPLogisticRegression(epsilon=4, schema=schema, reproducible_seed=seed)
    return model.fit(X, np.where(score > 3, "yes", "no"))


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_exported_models_are_merged_to_their_mean_by_records():
    from interpret.glassbox import merge_ebms

    X, _ = table(seed=2)
    theirs = [to_interpret(linear(seed).explain_global()) for seed in (1, 2)]
    share = np.array([each.bag_weights_[0] for each in theirs])
    scores = np.stack([each.decision_function(X) for each in theirs])
    mean = share @ scores / share.sum()
    assert np.abs(scores[0] - scores[1]).max() > 0.01
    np.testing.assert_allclose(merge_ebms(theirs).decision_function(X), mean, atol=1e-12)


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_exported_models_are_scaled_reduced_and_importances_read():
    X, _ = table(seed=2)
    model = linear(1)
    theirs = to_interpret(model.explain_global())
    before = theirs.eval_terms(X)
    np.testing.assert_allclose(before, model.eval_terms(X), atol=1e-12)
    importances = theirs.term_importances()
    np.testing.assert_allclose(
        importances, model.explain_global().importances()[theirs.term_names_]
    )
    theirs.scale("age", 0.5)
    np.testing.assert_allclose(theirs.eval_terms(X)[:, 0], before[:, 0] / 2, atol=1e-12)
    np.testing.assert_allclose(theirs.bagged_scores_[0][0], theirs.term_scores_[0])
    theirs.remove_terms(["age"])
    np.testing.assert_allclose(
        theirs.decision_function(X), theirs.intercept_ + before[:, 1:].sum(axis=1), atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_the_uncertainty_of_an_exported_model_is_that_of_one_bag():
    X, _ = table(seed=2)
    model = linear(1)
    theirs = to_interpret(model.explain_global())
    found = theirs.predict_with_uncertainty(X)
    np.testing.assert_allclose(found[:, 0], theirs.decision_function(X), atol=1e-12)
    assert (found[:, 1] == 0).all()
    assert (model.explain_local(X).score_std > 0).all()


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_an_exported_model_is_drawn_by_interpretml():
    pytest.importorskip("plotly")
    X, score = table(seed=2)
    theirs = to_interpret(linear(1).explain_global())
    overall = theirs.explain_global()
    rows = theirs.explain_local(X[:3], np.where(score > 3, "yes", "no")[:3])
    for figure in (
        overall.visualize(),
        overall.visualize(0),
        overall.visualize(1),
        rows.visualize(0),
    ):
        assert len(figure.data) > 0


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_interpretml_shows_an_exported_model_in_a_notebook(monkeypatch):
    # dash is no dependency of the tests: its extension makes JupyterLab ask for a rebuild.
    for name in ("plotly", "dash", "dash_cytoscape"):
        pytest.importorskip(name)
    import interpret
    import IPython.display
    from interpret.provider import InlineProvider

    shown = []
    monkeypatch.setattr(IPython.display, "display", shown.append)
    before = interpret.get_visualize_provider()
    interpret.set_visualize_provider(InlineProvider())
    try:
        interpret.show(to_interpret(linear(1).explain_global()).explain_global())
    finally:
        interpret.set_visualize_provider(before)
    text = "".join(each.data for each in shown).replace("\\", "")
    for name in FEATURES:
        assert f'"{name}"' in text


def test_the_explanation_of_one_class_is_no_model():
    explanation = fitted_classes().explain_global()
    with pytest.raises(ValueError, match="the explanation of all classes"):
        to_interpret(explanation.for_class("low"))
    with pytest.raises(TypeError, match="expected what explain_global"):
        to_interpret(explanation.for_class("low")["age"])
