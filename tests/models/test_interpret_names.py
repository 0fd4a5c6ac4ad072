"""What users of InterpretML write is understood, or answered with the replacement."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

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
from dpexplain.models.interpret_names import REPLACEMENTS

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
def test_shared_names_are_understood_and_estimators_clone(kind):
    shared = {
        "epsilon": 2.0, "delta": 1e-7, "composition": "gdp", "bin_budget_frac": 0.1, "max_bins": 16,
        "outer_bags": 2, "learning_rate": 0.01, "max_rounds": 30, "max_leaves": 3, "n_jobs": 1,
    }  # fmt: skip
    model = clone(kind(**shared))
    assert shared.items() <= model.get_params().items()


def test_any_other_unknown_parameter_is_refused_as_python_does():
    with pytest.raises(TypeError, match="unexpected keyword argument 'epsilom'"):
        DPExplainableBoostingClassifier(epsilom=1.0)


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
