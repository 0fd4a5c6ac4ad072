"""Figures of locally linear models: one scale, visible noise, honest labels."""

from __future__ import annotations

import dataclasses

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from dpexplain import plotting
from dpexplain.explain import FilterNoise
from dpexplain.plotting._weights import picture
from example_explanations import HOSTILE_NAMES
from example_filters import (
    filter_bank,
    filter_comparison,
    image_bank,
    reference_bank,
    some_inputs,
)

pytestmark = pytest.mark.full


MAKES = {"table": filter_bank, "pictures": image_bank}


def sample(make, public=True):
    bank = make()
    return bank.explain(some_inputs(2, len(bank.input_names)), samples_public=public)


FIGURES = {
    "class means": lambda make: plotting.plot_filters(make()),
    "filters": lambda make: plotting.plot_filters(make(), what="filters"),
    "one sample": lambda make: plotting.plot_filter_explanation(sample(make)),
    "comparison": lambda make: plotting.plot_filter_comparison(
        filter_comparison(make, with_reference=False)
    ),
    "contrast": lambda make: plotting.plot_weights(make().contrast("high", "low")),
    "shares": lambda make: plotting.plot_weightings(sample(make)),
}


def first(panels):
    return np.ravel(np.asarray(panels, dtype=object))[0]


def words_of(panels):
    """Return all text of a figure, after drawing."""
    figure = first(panels).figure
    figure.canvas.draw()
    texts = figure.findobj(matplotlib.text.Text)
    return "\n".join(text.get_text() for text in texts if text.get_visible())


def watermarks(panels):
    axes = first(panels).figure.axes
    return [text for ax in axes for text in ax.texts if text.get_gid() == "watermark"]


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("name", FIGURES)
def test_figures_state_the_guarantee_and_have_no_watermark_if_private(name, make):
    panels = FIGURES[name](make)
    words = words_of(panels)
    assert "ε = 0.5" in words
    assert "δ = 1e-06" in words
    assert not watermarks(panels)
    assert len(pyplot.get_fignums()) == 1
    pyplot.close("all")


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_zero_is_the_color_of_the_paper_and_signs_have_two_hues(make, style):
    with matplotlib.style.context(style):
        bank = image_bank() if make is image_bank else filter_bank()
        panels = plotting.plot_filters(bank)
        if make is filter_bank:
            heights = [bar.get_height() for bar in panels[0].patches]
            faces = [bar.get_facecolor() for bar in panels[0].patches]
            blue = [face[2] > face[0] for face in faces]
            assert blue == [height >= 0 for height in heights]
            low, high = panels[0].get_ylim()
            assert low == -high
        else:
            image = np.asarray(panels[0].get_images()[0].get_array())
            weights = bank.class_means()[0].reshape(4, 5)
            blue = image[..., 2] > image[..., 0]
            sized = np.abs(weights) > 0.02
            np.testing.assert_array_equal(blue[sized], weights[sized] > 0)
    pyplot.close("all")


def test_all_panels_share_one_scale():
    bank = filter_bank()
    panels = plotting.plot_filters(bank, what="filters")
    assert len({ax.get_ylim() for ax in panels.ravel()}) == 1
    assert panels.shape == (3, 3)
    shown = plotting.plot_filters(bank, what="filters", max_filters=2)
    assert shown.shape == (3, 2)
    assert "1 more filters per class not drawn" in words_of(shown)
    pyplot.close("all")


def test_filters_are_sorted_by_signal_to_noise_on_request():
    scale = np.array([0.1, 3.0, 1.0])[None, :, None]
    bank = filter_bank(noise=None)
    noise = FilterNoise(np.ones((3, 3, 4)), np.ones((3, 3)))
    bank = dataclasses.replace(
        type(bank).from_weights(
            bank.filters * scale,
            bank.biases,
            classes=bank.classes,
            input_names=bank.input_names,
            guarantee=bank.guarantee,
        ),
        noise=noise,
    )
    ratios = bank.signal_to_noise()
    sorted_titles = [ax.get_title() for ax in plotting.plot_filters(bank, what="filters")[0]]
    order = np.argsort(-ratios[0])
    assert [title.split(",")[0] for title in sorted_titles] == [f"#{m}" for m in order]
    given = plotting.plot_filters(bank, what="filters", sort=False)[0]
    assert [ax.get_title().split(",")[0] for ax in given] == ["#0", "#1", "#2"]
    pyplot.close("all")


def test_masked_pixels_are_exactly_those_inside_the_noise():
    bank = image_bank()
    weights = bank.class_mean("low")
    plain = np.asarray(weights.plot().get_images()[0].get_array())
    masked = np.asarray(weights.plot(mask_noise=True).get_images()[0].get_array())
    changed = (plain != masked).any(axis=2)
    np.testing.assert_array_equal(changed, ~weights.above_noise.reshape(4, 5))
    assert changed.any()
    assert not changed.all()
    pyplot.close("all")


def test_whiskers_are_two_standard_deviations():
    weights = filter_bank().class_mean("low")
    ax = weights.plot()
    (bars,) = ax.containers[-1].lines[2]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 0], weights.weights - 2 * weights.noise_std)
    np.testing.assert_allclose(ends[:, 1], weights.weights + 2 * weights.noise_std)
    pyplot.close("all")


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_samples_that_are_not_public_are_marked_in_the_picture(make):
    private = plotting.plot_filter_explanation(sample(make, public=False))
    assert "not marked public" in words_of(private)
    assert len(watermarks(private)) >= 3
    assert "not marked public" not in words_of(plotting.plot_filter_explanation(sample(make)))
    shares = plotting.plot_weightings(sample(make, public=False))
    assert watermarks(shares)
    pyplot.close("all")


def test_reference_is_watermarked_and_left_out_on_request():
    comparison = filter_comparison(image_bank)
    panels = plotting.plot_filter_comparison(comparison, classes=["low", "high"])
    assert panels.shape == (2, 3)
    assert len(watermarks(panels)) == 2
    assert "NOT PRIVATE" in words_of(panels)
    alone = plotting.plot_filter_comparison(comparison, show_reference=False)
    assert alone.shape == (3, 2)
    assert not watermarks(alone)
    assert "NOT PRIVATE" not in words_of(alone)
    assert watermarks(plotting.plot_filters(reference_bank()))
    pyplot.close("all")


def test_figures_fit_into_a_part_of_a_figure():
    figure = Figure(figsize=(12, 8), layout="constrained")
    left, right = figure.subfigures(1, 2)
    assert first(plotting.plot_filters(image_bank(), figure=left)).figure is left
    found = plotting.plot_filter_explanation(sample(image_bank), figure=right)
    assert first(found).figure is right
    assert not pyplot.get_fignums()


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
def test_hostile_names_of_filters_are_drawn_as_text(name):
    bank = filter_bank(
        classes=("a", "b", name),
        input_names=("x", "y", "z", name),
        preparation=None,
        target_name=name,
        model_name=name,
    )
    plotting.plot_filters(bank)
    plotting.plot_weights(bank.class_mean(name))
    plotting.plot_filter_explanation(bank.explain(some_inputs(1)), label=name)
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((6,), (1, 6)), ((2, 3), (2, 3)), ((1, 2, 3), (1, 6)), ((2, 1, 3), (2, 3))],
)
def test_grids_of_any_shape_become_pictures(shape, expected):
    values = np.arange(6)
    shown = picture(values, shape)
    assert shown.shape == expected
    assert sorted(shown.ravel()) == list(values)


def test_unknown_choices_are_answered_with_those_there_are():
    with pytest.raises(ValueError, match="'class_means' or 'filters'"):
        plotting.plot_filters(filter_bank(), what="all")
    with pytest.raises(ValueError, match="max_filters=0"):
        plotting.plot_filters(filter_bank(), max_filters=0)
    with pytest.raises(ValueError, match="limit="):
        plotting.plot_weights(filter_bank().class_mean("low"), limit=-1.0)
    with pytest.raises(ValueError, match="sample=7"):
        plotting.plot_filter_explanation(sample(filter_bank), sample=7)
    with pytest.raises(KeyError, match="the classes are"):
        plotting.plot_filter_explanation(sample(filter_bank), label="tall")
    with pytest.raises(KeyError, match="the classes are"):
        plotting.plot_filter_comparison(filter_comparison(), classes=["tall"])


def test_explanations_of_filters_draw_themselves():
    assert len(filter_bank().plot()) == 3
    assert len(sample(filter_bank).plot(1, mask_noise=True)) == 4
    assert filter_comparison().plot().shape == (3, 3)
    assert filter_bank().filter("low", 1).plot().get_ylabel() == "log-odds per unit of input"
    pyplot.close("all")
