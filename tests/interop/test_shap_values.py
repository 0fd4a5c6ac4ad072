"""Contributions as SHAP's own objects."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPLocallyLinearClassifier,
    DPLogisticRegression,
    Numeric,
    PrivacyWarning,
    Schema,
)
from dpexplain.explain import Guarantee, LocalExplanation
from example_explanations import classifier
from fitted_models import dated, fitted_binary, fitted_classes, table

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(find_spec("shap") is None, reason="needs the extra shap"),
]


def test_values_and_base_add_up_to_the_scores():
    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X, samples_public=True)
    values = local.to_shap()
    assert values.feature_names == ["age", "job", "grade"]
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), local.scores)


@pytest.mark.filterwarnings("ignore:the model is NOT PRIVATE")
def test_several_classes_have_a_last_axis():
    X, _ = table(n=50, seed=4)
    local = fitted_classes().explain_local(X, samples_public=True)
    values = local.to_shap()
    assert values.values.shape == (50, 3, 3)
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), local.scores)


def test_samples_that_are_not_public_and_seeded_effects_cause_a_warning():
    X, _ = table(n=50, seed=4)
    model = fitted_binary()
    local = model.explain_local(X)
    with pytest.warns(PrivacyWarning, match="the samples are not marked public, and a shap"):
        local.to_shap()
    with pytest.warns(PrivacyWarning, match="the samples are not marked public, and a shap"):
        local.to_shap(X, effects=model.explain_global())
    filters, rows = dated(DPLocallyLinearClassifier, n_steps=5)
    with pytest.warns(PrivacyWarning, match="the samples are not marked public, and a shap"):
        filters.explain_local(rows).to_shap()
    seeded = replace(model.explain_global(), guarantee=Guarantee.not_private("seeded noise"))
    with pytest.warns(PrivacyWarning, match="the model is NOT PRIVATE, and a shap"):
        model.explain_local(X, samples_public=True).to_shap(X, effects=seeded)


def test_plots_of_shap_draw_it():
    import shap

    X, _ = table(n=50, seed=4)
    values = fitted_binary().explain_local(X, samples_public=True).to_shap()
    shap.plots.waterfall(values[0], show=False)
    shap.plots.bar(values, show=False)


def test_values_of_the_samples_go_along_only_when_given():
    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X, samples_public=True)
    assert local.to_shap().data.tolist() == [list(row) for row in local.bin_labels]
    expected = X.astype(object).to_numpy()
    for given in (X, X[["grade", "job", "age"]], expected):
        pd.testing.assert_frame_equal(
            pd.DataFrame(local.to_shap(given).data), pd.DataFrame(expected), check_dtype=False
        )


def test_the_beeswarm_is_colored_by_the_values_given():
    import shap

    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X, samples_public=True)
    colored = []
    for values in (local.to_shap(), local.to_shap(X)):
        ax = shap.plots.beeswarm(values, show=False)
        clouds = [cloud.get_array() for cloud in ax.collections]
        colored.append(sum(np.size(cloud) > 1 for cloud in clouds if cloud is not None))
        plt.close("all")
    assert colored == [0, 1]  # age alone is a number


def numeric_table():
    """Make a model of two numbers, and rows with an empty cell."""
    X, score = table(n=400, seed=4)
    X = pd.DataFrame({"age": X["age"], "visits": np.arange(400) % 7})
    schema = Schema({"age": Numeric(17, 90), "visits": Numeric(0, 6)}, target=Classes(["a", "b"]))
    model = DPLogisticRegression(epsilon=4, schema=schema)
    model.fit(X, np.where(score > 3, "b", "a"))
    rows = X.head(60).astype({"age": object})
    rows.loc[rows.index[0], "age"] = None
    return model, rows


def test_a_table_of_numbers_has_numeric_data():
    model, rows = numeric_table()
    for given in (rows, rows.astype({"age": "Float64"}), rows.to_numpy(dtype=object)):
        data = model.explain_local(rows, samples_public=True).to_shap(given).data
        assert data.dtype == float
        assert np.isnan(data[0, 0])
        np.testing.assert_array_equal(data[:, 1], rows["visits"])


@pytest.mark.parametrize("plot", ["beeswarm", "violin", "heatmap", "scatter"])
def test_plots_of_shap_that_need_numbers_draw_a_table_of_numbers(plot):
    import shap

    model, rows = numeric_table()
    values = model.explain_local(rows, samples_public=True).to_shap(rows)
    getattr(shap.plots, plot)(values[:, 0] if plot == "scatter" else values, show=False)
    assert any(axis.collections or axis.images for axis in plt.gcf().axes)
    plt.close("all")


def test_the_numbers_of_a_mixed_table_are_drawn_as_a_violin():
    import shap

    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X, samples_public=True)
    values = local.to_shap(X)
    assert values.data.dtype == object
    numbers = values[:, ["age"]]
    numbers.data = numbers.data.astype(float)
    shap.plots.violin(numbers, show=False)
    assert plt.gcf().axes[0].collections
    plt.close("all")


def test_a_pair_of_features_keeps_its_bin():
    local = LocalExplanation(
        ["age", "age & job"],
        [[0.5, -0.25]],
        0.0,
        "identity",
        bin_labels=[["17 \u2013 30", "17 \u2013 30, a"]],
        guarantee=classifier().guarantee,
        samples_public=True,
    )
    frame = pd.DataFrame({"age": [20.0]})
    assert local.to_shap(frame).data.tolist() == [[20.0, "17 \u2013 30, a"]]
    assert local.to_shap([[20.0]]).data.tolist() == [[20.0, "17 \u2013 30, a"]]


def test_other_rows_than_those_explained_are_refused():
    X, _ = table(n=50, seed=4)
    local = fitted_binary().explain_local(X, samples_public=True)
    with pytest.raises(ValueError, match="X has 49 rows, and the explanation 50 samples"):
        local.to_shap(X[:-1])
    with pytest.raises(ValueError, match="X lacks the column 'job'"):
        local.to_shap(X.drop(columns="job"))
    with pytest.raises(ValueError, match="X lacks the column 'grade'"):
        local.to_shap(X.to_numpy()[:, :2])


def test_plots_of_shap_draw_dates_and_one_of_several_classes():
    import shap

    model, X = dated(DPExplainableBoostingClassifier)
    shap.plots.waterfall(
        model.explain_local(X.head(3), samples_public=True).to_shap()[0], show=False
    )
    X, _ = table(n=5, seed=4)
    with pytest.warns(PrivacyWarning, match="cannot store that label"):
        values = fitted_classes().explain_local(X, samples_public=True).to_shap()
    shap.plots.waterfall(values[0, :, 1], show=False)
    plt.close("all")


def test_contributions_of_filters_add_up_and_are_drawn():
    import shap

    model, X = dated(DPLocallyLinearClassifier, n_steps=5)
    local = model.explain_local(X.head(6), samples_public=True)
    values = local.to_shap()
    assert values.shape == (6, len(local.input_names), 2)
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), local.scores)
    shap.plots.beeswarm(values[:, :, 1], show=False)
    shap.plots.waterfall(values[0, :, 0], show=False)
    plt.close("all")


def test_estimates_of_the_effect_take_the_place_of_contributions_on_request():
    X, _ = table(n=50, seed=4)
    model = fitted_binary()
    found = model.explain_global()
    values = model.explain_local(X, samples_public=True).to_shap(X, effects=found)
    for place, name in enumerate(values.feature_names):
        expected = found[name].effect[found[name].bin_index(X[name])]
        np.testing.assert_array_equal(values.values[:, place], expected)
    assert set(values.base_values) == {found.effect_intercept}


def test_estimates_of_classes_have_the_classes_on_the_last_axis():
    X, _ = table(n=50, seed=4)
    model = DPExplainableBoostingClassifier(schema=fitted_classes().schema, max_rounds=20)
    model.fit(X, np.array(["low", "middle", "high"])[np.arange(50) % 3])
    found, local = model.explain_global(), model.explain_local(X, samples_public=True)
    values = local.to_shap(X, effects=found)
    assert values.values.shape == (50, len(found.term_names), len(found.classes))
    for c, part in enumerate(found.by_class):
        for place, name in enumerate(values.feature_names):
            expected = part[name].effect[part[name].bin_index(X[name])]
            np.testing.assert_array_equal(values.values[:, place, c], expected)
    one = local.for_class(found.classes[1]).to_shap(X, effects=found.by_class[1])
    np.testing.assert_array_equal(one.values, values.values[:, :, 1])
    with pytest.raises(ValueError, match="effects of the same model"):
        local.to_shap(X, effects=found.by_class[1])


def test_estimates_are_refused_where_there_are_none_or_rows_are_missing():
    X, _ = table(n=50, seed=4)
    model = fitted_binary()
    local = model.explain_local(X, samples_public=True)
    with pytest.raises(ValueError, match="estimate of the effect"):
        local.to_shap(X, effects=classifier())
    with pytest.raises(ValueError, match="pass X"):
        local.to_shap(effects=model.explain_global())
