"""The estimate of the effect is a layer of its own; figures warn if it may not hold."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpexplain import plotting
from dpexplain.explain import GlobalExplanation, NoiseModel
from dpexplain.plotting.shape_function import score_limits
from example_explanations import age, job

pytestmark = pytest.mark.full

ESTIMATE = "estimated effect in the population (95% band)"
NOISE = "±2σ of privacy noise, given bins and trees"
KNOWN = {"effect": [-1.5, 0.5, 1.0, 0.0], "effect_std": [0.1] * 4, "effect_factor": 3.0}
WITH_EFFECT = [age(**KNOWN), job(**KNOWN)]


def figure_axes():
    return Figure(figsize=(6.4, 3.8), layout="constrained").subplots()


def legend_words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def small_print(ax):
    return " ".join(text.get_text() for text in reversed(ax.texts))  # written from below


def estimated_model(**changes):
    terms = (age(**KNOWN), job(**{**KNOWN, "effect": [0.01] * 4}))
    rng = np.random.default_rng(0)
    scatter = NoiseModel((4, 4), 0.05 * rng.standard_normal((9, 9)), [0.05] * 9)
    fields = {
        "link": "logit",
        "guarantee": terms[0].guarantee,
        "classes": ("no", "yes"),
        "effect_scatter": scatter,
        "effect_intercept": 0.0,
    }
    return GlobalExplanation(**{"terms": terms, "intercept": 0.1, **fields, **changes})


@pytest.mark.parametrize("shape", WITH_EFFECT)
@pytest.mark.parametrize(
    ("show", "estimate", "noise"),
    [("both", True, True), ("effect", True, False), ("released", False, True)],
)
def test_each_layer_is_drawn_on_request(shape, show, estimate, noise):
    words = legend_words(plotting.plot_shape_function(shape, ax=figure_axes(), show=show))
    assert (ESTIMATE in words) == estimate
    assert (NOISE in words) == noise


@pytest.mark.parametrize("shape", [age(), job()])
def test_a_curve_without_an_estimate_is_drawn_as_released_and_says_so(shape):
    ax = plotting.plot_shape_function(shape, ax=figure_axes(), show="effect")
    assert NOISE in legend_words(ax)
    assert "not estimated" in small_print(ax)


def test_an_unknown_layer_is_refused():
    with pytest.raises(ValueError, match="'both', 'released' or 'effect'"):
        plotting.plot_shape_function(age(), show="truth")
    with pytest.raises(ValueError, match="'both', 'released' or 'effect'"):
        plotting.plot_importance(estimated_model(), show="truth")


def test_the_estimate_is_dashed_and_the_released_curve_is_not():
    ax = plotting.plot_shape_function(age(**KNOWN), ax=figure_axes())
    drawn = {patch.get_label(): patch for patch in ax.patches}
    assert drawn[ESTIMATE].get_linestyle() not in ("-", "solid")
    np.testing.assert_array_equal(drawn[ESTIMATE].get_data().values, KNOWN["effect"][:3])


def test_the_axis_holds_the_layers_that_are_drawn():
    shape = age(**KNOWN)
    assert score_limits([shape], "effect")[0] < -1.5 - 0.3 + 1e-9
    assert score_limits([shape], "both")[0] < -1.5
    assert score_limits([shape], "released")[0] > -1.5


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (age(**{**KNOWN, "effect_std": [5.0] * 4}), "includes 0 in every bin"),
        (age(**KNOWN, structure_std=[9.0] * 4), "shows one that is certain"),
        (age(**KNOWN), ""),
    ],
)
def test_a_figure_says_if_an_effect_is_hardly_known(shape, words):
    ax = plotting.plot_shape_function(shape, ax=figure_axes())
    assert words in small_print(ax)
    assert bool(shape.effect_note) == bool(words)
    assert shape.effect_caution == ""


def test_a_term_of_a_model_carries_the_note_of_the_model():
    few = estimated_model()  # 60 people
    assert "records" in few.effect_note
    ax = few.plot("age", ax=figure_axes())
    assert "With about 60 records" in small_print(ax)
    assert "With about 60 records" in small_print(few.plot_importance(ax=figure_axes()))


def test_importances_mark_effects_that_are_certain():
    model = estimated_model()
    assert model.terms_with_effect == ("age",)
    words = legend_words(plotting.plot_importance(model, ax=figure_axes()))
    assert any(each.endswith(", certain") for each in words)
    assert any(each.endswith("not certain") for each in words)
    released = legend_words(plotting.plot_importance(model, ax=figure_axes(), show="released"))
    assert not any("certain" in each for each in released)


def test_importances_of_effects_alone_are_ordered_by_them():
    big = dataclasses.replace(job(**KNOWN), contribution=[0.0] * 4)
    model = estimated_model(terms=(age(**{**KNOWN, "effect": [0.1] * 4}), big))
    names = [
        [label.get_text() for label in plotting.plot_importance(model, show=show).get_yticklabels()]
        for show in ("both", "effect")
    ]
    assert names == [["age", "job"], ["job", "age"]]


def test_small_multiples_name_the_layers_that_are_drawn():
    model = estimated_model()
    heads = {
        show: plotting.plot_global(model, show=show)[0].figure.get_suptitle()
        for show in ("both", "released", "effect")
    }
    assert [ESTIMATE in heads[show] for show in heads] == [True, False, True]
    assert [NOISE in heads[show] for show in heads] == [True, True, False]


@pytest.mark.parametrize("shape", WITH_EFFECT)
@pytest.mark.parametrize("size", [None, (4.8, 3.0)])
def test_legend_and_small_print_are_above_the_axes_and_apart(shape, size):
    one_of = dataclasses.replace(shape.guarantee, unit="one person, of whom 2 rows are used " * 2)
    shape = dataclasses.replace(shape, guarantee=one_of)
    ax = None if size is None else Figure(figsize=size, layout="constrained").subplots()
    ax = plotting.plot_shape_function(shape, ax=ax)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    small = [text.get_window_extent() for text in ax.texts]
    assert legend.y0 >= ax.get_window_extent().y1 - 1
    assert min(box.y0 for box in small) >= legend.y1 - 1
    assert max(box.x1 for box in [*small, legend]) <= ax.figure.bbox.x1 + 1
    plt.close(ax.figure)
