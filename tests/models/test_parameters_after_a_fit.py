"""Parameters that are changed after a fit are about the next one."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

import dpexplain.models as models
from dpexplain import Classes, Numeric, Range, Schema, io
from dpexplain.audit import private_estimators

OTHERS = {
    "epsilon": 0.01,
    "delta": 1e-9,
    "schema": Schema({"a": Numeric(-9, 9), "b": Numeric(-9, 9)}, target=Classes(["x", "y"])),
    "ledger": "another",
    "preset": "paper",
    "composition": "gdp",
    "adjacency": "replace",
    "max_rows_per_person": 7,
    "outer_bags": 3,
    "calibrated": False,
    "clip": 0.1,
    "learning_rate": 0.3,
    "max_rounds": 2,
    "n_steps": 2,
    "sampling_probability": 0.5,
    "n_trees": 2,
    "depth": 1,
    "max_bins": 4,
    "scaling": "public",
    "bin_budget_frac": 0.5,
    "pair_budget_frac": 0.5,
    "tree_budget_frac": 0.5,
    "leaf_mechanism": "exponential",
    "regularisation": 9.0,
    "objective": "poisson",
    "calibration": 0.3,
    "alpha": 0.5,
    "variant": "paper",
    "criterion": "entropy",
    "loss": "square",
    "trees_per_ensemble": 2,
    "n_filters": 5,
    "n_basis": 1,
    "inverse_temperature": 9.0,
    "pairs": [("a", "b")],
    "monotone_constraints": {"a": "increasing"},
    "structure_seed": 7,
    "reproducible_seed": 7,
    "noise_backend": "rounded",
}


@pytest.mark.parametrize("name", sorted(private_estimators()))
def test_they_change_nothing_of_the_explanation(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((300, 2)), columns=["a", "b"])
    regression = name.endswith(("Regressor", "LinearRegression"))
    target = Range(0, 2) if regression else Classes(["no", "yes"])
    y = X["a"] if regression else np.where(rng.random(300) < X["a"], "yes", "no")
    schema = Schema({"a": Numeric(0, 1), "b": Numeric(0, 1)}, target=target)
    fitted = getattr(models, name)(epsilon=4.0, schema=schema).fit(X, y)
    known = fitted.get_params()
    untouched = copy.deepcopy(fitted)
    expected = io.to_json(untouched.explain_global()), untouched.statement(), untouched.health()
    for parameter, value in OTHERS.items():
        if parameter in known:
            changed = copy.deepcopy(fitted).set_params(**{parameter: value})
            found = io.to_json(changed.explain_global()), changed.statement(), changed.health()
            assert found == expected, parameter
