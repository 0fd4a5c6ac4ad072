"""Names that users of InterpretML know are understood, or answered with a replacement."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    DPLogisticRegression,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    LocallyLinearClassifier,
    Numeric,
    Schema,
)
from dpexplain.edit import Monotone, Remove, Scale
from dpexplain.models.interpret_names import METHODS, REPLACEMENTS

PRIVATE = [DPExplainableBoostingClassifier, DPExplainableBoostingRegressor]
BOOSTING = [*PRIVATE, ExplainableBoostingClassifier, ExplainableBoostingRegressor]
SCHEMA = Schema({"age": Numeric(0, 100)}, target=Classes(["no", "yes"]))


@pytest.mark.parametrize("kind", BOOSTING)
@pytest.mark.parametrize("name", sorted(REPLACEMENTS))
def test_a_parameter_of_interpretml_is_answered_with_its_replacement(kind, name):
    if name in inspect.signature(kind).parameters:
        assert kind().get_params()[name] == inspect.signature(kind).parameters[name].default
        return
    with pytest.raises(TypeError, match=f"InterpretML's parameter '{name}'; ") as caught:
        kind(**{name: None})
    assert REPLACEMENTS[name] in str(caught.value)


@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exposure", "make the exposure (such as person-years) a feature"),
        ("weights", "Instead of survey weights, make the columns that they follow from features."),
        ("epsilons", "call sweep(model, X, y, epsilons="),
        ("cap_epsilon", "ledger=PrivacyLedger('survey', cap_epsilon=2)"),
        ("groups", "fit(X, y, groups=...)"),
        ("epsilo", "did you mean 'epsilon'?"),
        ("n_estimators", "Boosting models have max_rounds."),
        ("categorical_features", "declare it in a schema"),
        ("class_weight", "Remove it: weights change how much one record counts."),
    ],
)
def test_what_is_no_parameter_is_answered_with_the_place_where_it_belongs(kind, name, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        kind(**{name: None})


@pytest.mark.parametrize("kind", BOOSTING)
@pytest.mark.parametrize(
    ("name", "words"),
    [("interactions", REPLACEMENTS["interactions"]), ("max_bin", "did you mean 'max_bins'?")],
)
def test_set_params_and_grids_answer_a_parameter_as_the_constructor_does(kind, name, words):
    model = kind()
    with pytest.raises(ValueError, match=re.escape(words)):
        model.set_params(**{name: 3})
    with pytest.raises(ValueError, match=re.escape(words)):
        GridSearchCV(model, {name: [0, 3]}, cv=2).fit([[1.0]] * 4, ["no", "yes"] * 2)
    assert model.set_params(max_bins=8).max_bins == 8


@pytest.mark.parametrize("kind", PRIVATE)
def test_shared_names_are_understood_and_estimators_clone(kind):
    shared = {
        "epsilon": 2.0, "delta": 1e-7, "composition": "gdp", "bin_budget_frac": 0.1, "max_bins": 16,
        "outer_bags": 2, "learning_rate": 0.01, "max_rounds": 30, "max_leaves": 3, "n_jobs": 1,
    }  # fmt: skip
    model = clone(kind(**shared))
    assert shared.items() <= model.get_params().items()


@pytest.fixture(scope="module")
def fitted():
    X = pd.DataFrame({"age": np.arange(0.0, 100.0)})
    model = DPExplainableBoostingClassifier(1.0, schema=SCHEMA, max_rounds=1)
    return model.fit(X, np.where(X["age"] < 50, "no", "yes"))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_of_interpretml_is_offered_or_answered_with_its_replacement(fitted, name):
    with pytest.raises(AttributeError, match=f"InterpretML's '{name}'; ") as caught:
        getattr(fitted, name)
    assert METHODS[name] in str(caught.value)


def test_other_missing_attributes_are_refused_as_python_does(fitted):
    with pytest.raises(AttributeError, match="has no attribute 'coef_of_age_'"):
        getattr(fitted, "coef_of_age" + "_")
    with pytest.raises(NotFittedError):
        len(DPExplainableBoostingClassifier(schema=SCHEMA).term_names_)


def test_replacements_of_methods_work_as_they_are_written(fitted):
    monotone = Monotone("age", direction="increasing").apply(fitted)
    assert np.all(np.diff(monotone.term_scores_[0][:-1]) >= 0)
    halved = Scale("age", factor=0.5).apply(fitted)
    np.testing.assert_allclose(halved.term_importances(), fitted.term_importances() / 2)
    assert not Remove("age").apply(fitted).term_importances().any()


def test_importances_are_in_the_order_of_terms(fitted):
    shown = fitted.explain_global(effect=False)
    found = [shown[name].importance for name in fitted.term_names_]
    assert fitted.term_importances().tolist() == found
    assert fitted.term_importances("min_max")[0] == np.ptp(fitted.term_scores_[0])
    with pytest.raises(ValueError, match="importance_type"):
        fitted.term_importances("gain")


@pytest.mark.full
def test_every_public_attribute_of_a_fitted_model_of_interpretml_is_known(fitted):
    theirs = pytest.importorskip("interpret.glassbox").ExplainableBoostingClassifier
    ebm = theirs(outer_bags=1, interactions=0, max_rounds=2).fit(
        np.arange(100.0)[:, None], np.arange(100) % 2
    )
    public = [name for name in dir(ebm) if not name.startswith("_")]
    known = {*METHODS, *REPLACEMENTS, "available_explanations", "explainer_type"}  # internal
    unknown = {name for name in public if not hasattr(fitted, name)} - known
    # scikit-learn writes these for the arguments of their methods that ours do not have.
    assert {name for name in unknown if not re.fullmatch("set_.*_request", name)} == set()


def test_any_other_unknown_parameter_is_refused_with_names_that_exist():
    with pytest.raises(TypeError, match="Classifier has no parameter 'epsilom'; did you mean 'eps"):
        DPExplainableBoostingClassifier(epsilom=1.0)
    with pytest.raises(TypeError, match=r"no parameter 'qqq'; it has epsilon, .*schema"):
        DPExplainableBoostingRegressor(qqq=1.0)


@pytest.mark.parametrize("package", ["interpret.glassbox", "interpret.privacy"])
@pytest.mark.parametrize("kind", BOOSTING)
@pytest.mark.full
def test_every_parameter_of_interpretml_is_known(package, kind):
    theirs = getattr(pytest.importorskip(package), kind.__name__, None)
    if theirs is None:
        pytest.skip(f"{package} has no such model")
    own = set(inspect.signature(kind).parameters)
    unknown = set(inspect.signature(theirs).parameters) - own - set(REPLACEMENTS)
    assert unknown <= {"n_jobs"}  # our reference models fit in one process


@pytest.mark.full
@pytest.mark.parametrize(
    "model",
    [
        DPLogisticRegression(schema=SCHEMA),
        DPLogisticRegression(schema=SCHEMA).reference_estimator(),
        ExplainableBoostingClassifier(schema=SCHEMA, max_rounds=2, outer_bags=1),
        LocallyLinearClassifier(schema=SCHEMA, max_epochs=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_weights_are_accepted_and_weights_refused_with_the_reason(model):
    X = np.linspace(0, 100, 60)[:, np.newaxis]
    y = np.where(X[:, 0] > 50, "yes", "no")
    model.fit(X, y, sample_weight=None)
    assert model.predict(X).shape == (60,)
    with pytest.raises(TypeError, match=r"fit got sample_weight, which .* not support, because"):
        model.fit(X, y, sample_weight=np.ones(60))
