"""Contributions as SHAP's own object."""

from __future__ import annotations

import numpy as np
import pytest

from fitted_models import fitted_binary, fitted_classes, table

shap = pytest.importorskip("shap")


def test_values_and_base_add_up_to_the_scores():
    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X)
    values = local.to_shap()
    assert values.feature_names == ["age", "job", "grade"]
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), local.scores)


@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
def test_several_classes_have_a_last_axis():
    X, _ = table(n=50, seed=4)
    local = fitted_classes().explain_local(X)
    values = local.to_shap()
    assert values.values.shape == (50, 3, 3)
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), local.scores)


def test_plots_of_shap_draw_it():
    X, _ = table(n=50, seed=4)
    values = fitted_binary().explain_local(X).to_shap()
    shap.plots.waterfall(values[0], show=False)
    shap.plots.bar(values, show=False)
