"""Estimators at the end of scikit-learn's pipelines: names, frames, metadata, copies."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpexplain import (
    BudgetError,
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPLocallyLinearClassifier,
    ExplainableBoostingClassifier,
    Numeric,
    PrivacyLedger,
    Schema,
    SchemaError,
    sweep,
)
from dpexplain.exceptions import HealthWarning

TARGET = Classes(["no", "yes"])
SCHEMA = Schema({"age": Numeric(17, 90), "job": Categorical(["a", "b"])}, target=TARGET)
RENAMED = Schema(
    {"young__age": Numeric(17, 65), "same__job": Categorical(["a", "b"])}, target=TARGET
)
STEP = "dpexplainableboostingclassifier"


def rows(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(17, 91, n), "job": rng.choice(["a", "b"], n)})
    return X, np.where(X["age"] + rng.normal(0, 10, n) > 50, "yes", "no")


def pipeline(schema, names=True, **settings):
    """Make a pipeline of steps that learn nothing from records, and a private model."""
    young = FunctionTransformer(lambda X: X.clip(17, 65), feature_names_out="one-to-one")
    steps = ColumnTransformer(
        [("young", young, ["age"]), ("same", "passthrough", ["job"])],
        verbose_feature_names_out=names,
    )
    return make_pipeline(steps, DPExplainableBoostingClassifier(4, schema=schema, **settings))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_terms_have_the_names_that_a_column_transformer_gives(container):
    pytest.importorskip(container)
    X, y = rows()
    steps = pipeline(RENAMED).set_output(transform=container).fit(X, y)
    assert list(steps[-1].explain_global()) == ["young__age", "same__job"]
    assert steps[-1].feature_names_in_.tolist() == ["young__age", "same__job"]
    assert steps.predict(X).shape == (300,)


def test_arrays_without_names_are_read_in_the_order_of_the_schema():
    X, y = rows()
    steps = pipeline(SCHEMA).fit(X, y)
    plain = steps[-1].predict_proba(X.assign(age=X["age"].clip(17, 65)))
    np.testing.assert_array_equal(steps.predict_proba(X), plain)


def test_a_schema_with_other_names_is_told_which_ones_the_transformer_gave():
    X, y = rows()
    with pytest.raises(SchemaError, match="'age' \\(did you mean 'young__age'\\?\\)"):
        pipeline(SCHEMA).set_output(transform="pandas").fit(X, y)
    pipeline(SCHEMA, names=False).set_output(transform="pandas").fit(X, y)


def test_groups_reach_the_model_by_its_parameter_and_by_routing():
    X, y = rows()
    people = np.arange(300) // 2
    settings = {"max_rows_per_person": 2}
    by_name = pipeline(SCHEMA, names=False, **settings).fit(X, y, **{f"{STEP}__groups": people})
    with sklearn.config_context(enable_metadata_routing=True):
        steps = pipeline(SCHEMA, names=False, **settings)
        steps[-1].set_fit_request(groups=True)
        by_routing = steps.fit(X, y, groups=people)
    for steps in (by_name, by_routing):
        assert "person" in steps[-1].guarantee_.unit


def test_weights_of_records_are_refused_before_a_charge():
    X, y = rows()
    ledger = PrivacyLedger("weights", cap_epsilon=9, delta=1e-6)
    model = DPExplainableBoostingClassifier(1, schema=SCHEMA, ledger=ledger)
    with pytest.raises(TypeError, match=r"which private fits do not support.*make the columns"):
        model.fit(X, y, sample_weight=np.ones(300))
    assert ledger.entries == ()


def test_pipelines_are_cloned_pickled_and_searched():
    X, y = rows()
    model = ExplainableBoostingClassifier(schema=SCHEMA, max_rounds=5)
    searched = GridSearchCV(make_pipeline(model), {f"{STEP[2:]}__max_leaves": [2, 3]}, cv=2)
    assert clone(searched.fit(X, y).best_estimator_)[-1].max_rounds == 5
    again = pickle.loads(pickle.dumps(searched.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), searched.predict_proba(X))
    assert permutation_importance(again, X, y, n_repeats=1).importances_mean[0] > 0.1


def test_a_search_over_private_fits_pays_for_each_and_stops_at_the_cap():
    X, y = rows()
    ledger = PrivacyLedger("search", cap_epsilon=5, delta=1e-6)
    model = DPExplainableBoostingClassifier(4, schema=SCHEMA, ledger=ledger)
    with pytest.raises(BudgetError, match="cap"):
        GridSearchCV(model, {"max_leaves": [2, 3]}, cv=2, error_score="raise").fit(X, y)
    assert len(ledger.entries) >= 1


LEAVING = Schema(SCHEMA.features, target=Classes(["stayed", "churned"]))


@pytest.mark.parametrize("model", [DPExplainableBoostingClassifier, DPLocallyLinearClassifier])
def test_classes_that_are_not_sorted_are_told_to_those_who_clone_the_model(model):
    estimator = model(4, schema=LEAVING)
    with pytest.warns(UserWarning, match=r"'stayed', 'churned' are in the order of the schema"):
        copy = clone(estimator)
    assert copy.schema == LEAVING
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(estimator)
        clone(pickle.loads(pickle.dumps(copy)))  # as a grid search does in each process
        clone(model(4, schema=SCHEMA))
        clone(model(4))


def test_a_sweep_does_not_warn_of_classes_that_are_not_sorted():
    X, y = rows()
    model = DPExplainableBoostingClassifier(schema=LEAVING, max_rounds=2, ledger="unsorted")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", HealthWarning)
        sweep(model, X, np.where(y == "yes", "churned", "stayed"), epsilons=(4,), progress=False)


def test_the_scorer_of_the_warning_ranks_models_whatever_the_order_of_the_classes():
    X, y = rows(2_000)
    found = {}
    for labels in (["no", "yes"], ["yes", "no"]):
        model = ExplainableBoostingClassifier(
            schema=Schema(SCHEMA.features, target=Classes(labels))
        )
        model.fit(X[:1_000], y[:1_000])
        found[labels[0]] = roc_auc_score(
            y[1_000:] == model.classes_[1], model.predict_proba(X[1_000:])[:, 1]
        )
    assert found["no"] == pytest.approx(found["yes"], abs=0.03)
    assert found["no"] > 0.85
