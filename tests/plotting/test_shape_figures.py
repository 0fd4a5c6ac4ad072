"""Shape figures: nothing is cut off, no labels overlap, and noise is where it belongs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpexplain import plotting
from dpexplain.explain import ShapeFunction
from dpexplain.plotting import _numeric
from dpexplain.plotting.shape_function import score_limits
from effort import examples
from example_explanations import age, job

pytestmark = pytest.mark.full

few = examples(25, HealthCheck.function_scoped_fixture)
number = st.floats(-1e4, 1e4).map(lambda value: round(value, 6))


@st.composite
def drawable(draw):
    """Draw a shape function with realistic numbers."""
    edges = sorted(draw(st.lists(number, min_size=2, max_size=12, unique=True)))
    size = len(edges)
    column = st.lists(number, min_size=size, max_size=size)
    return ShapeFunction(
        "feature",
        "numeric",
        draw(column),
        draw(column),
        bin_edges=edges,
        guarantee=age().guarantee,
        noise_std=np.abs(draw(column)),
        special=("missing",),
    )


def figure_axes(width=6.4, height=3.8):
    return Figure(figsize=(width, height), layout="constrained").subplots()


def label_boxes(ax):
    ax.figure.canvas.draw()
    boxes = [
        label.get_window_extent() for label in ax.get_xticklabels() if label.get_text().strip()
    ]
    return sorted(boxes, key=lambda box: box.x0)


@few
@given(drawable(), st.sampled_from(["auto", "value", "bins"]), st.sampled_from([2.5, 6.4]))
def test_tick_labels_never_overlap(shape, spacing, width):
    ax = plotting.plot_shape_function(shape, ax=figure_axes(width), spacing=spacing)
    for left, right in itertools.pairwise(label_boxes(ax)):
        assert left.x1 <= right.x0


@few
@given(drawable())
def test_every_contribution_lies_inside_the_picture(shape):
    low, high = score_limits([shape])
    assert low < min(0, shape.contribution.min())
    assert max(0, shape.contribution.max()) < high
    ax = plotting.plot_shape_function(shape, ax=figure_axes())
    assert ax.get_ylim()[0] < low
    assert high <= ax.get_ylim()[1]


def test_band_of_an_empty_bin_does_not_flatten_the_curve():
    shape = age(count=[100, 100, 100, 0], noise_std=[0.01, 0.01, 0.01, 50.0])
    low, high = score_limits([shape])
    assert high - low < 3 * np.ptp(shape.contribution)


def test_special_bins_stand_apart_from_the_value_axis():
    place = _numeric.positions(age(), "value")
    assert place.left[3] > place.edges[-1]
    assert place.right[3] > place.left[3]
    ax = plotting.plot_shape_function(age(), ax=figure_axes())
    assert ax.get_xlim()[1] > place.right[3]
    assert [label.get_text() for label in ax.get_xticklabels()][-1] == "missing"


def test_skewed_feature_gets_bins_of_equal_width_and_says_so():
    skewed = age(bin_edges=[0, 1, 5000, 100_000], count=[900, 10, 10, 0])
    assert _numeric.resolved_spacing(skewed, "auto") == "bins"
    ax = plotting.plot_shape_function(skewed, ax=figure_axes())
    assert "not to scale" in ax.get_xlabel()

    long = age(bin_edges=[0, 1.359283332, 1.359283333, 100_000], count=[900, 10, 10, 0])
    labels = [label.get_text() for label in plotting.plot_shape_function(long).get_xticklabels()]
    assert max(map(len, labels)) <= len("missing"), labels

    skewed = age(bin_edges=[-0.5, 0.5, 5000.5, 100_000.5], count=[900, 10, 10, 0])
    labels = [label.get_text() for label in plotting.plot_shape_function(skewed).get_xticklabels()]
    assert labels == ["0", "1", "5,001", "missing"]  # 100,000 would run into "missing"


def test_feature_with_many_even_bins_is_drawn_to_scale():
    assert _numeric.resolved_spacing(age(), "auto") == "value"
    n = 255
    even = age(
        bin_edges=np.linspace(0, 1, n + 1),
        contribution=np.zeros(n + 1),
        count=np.r_[np.ones(n), 0],
        noise_std=None,
        step=None,
    )
    assert _numeric.resolved_spacing(even, "auto") == "value"


def legend_words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("shape", [age(), job()])
def test_noise_is_drawn_and_explained_where_it_is_known(shape):
    words = legend_words(plotting.plot_shape_function(shape, ax=figure_axes()))
    assert "±2σ of privacy noise, given bins and trees" in words
    assert "may be noise (0 inside the band)" in words


@pytest.mark.parametrize("shape", [age(noise_std=None), job(noise_std=None)])
def test_shape_without_noise_has_no_legend(shape):
    assert legend_words(plotting.plot_shape_function(shape, ax=figure_axes())) == []


def test_contributions_outside_their_band_are_not_called_noise():
    certain = age(noise_std=[0.001] * 4)
    words = legend_words(plotting.plot_shape_function(certain, ax=figure_axes()))
    assert words == ["±2σ of privacy noise, given bins and trees"]


@pytest.mark.parametrize(("private", "word"), [(True, "noisy"), (False, "exact")])
def test_counts_say_whether_they_are_noisy(private, word):
    from dpexplain.explain import Guarantee

    guarantee = age().guarantee if private else Guarantee.not_private("reference")
    ax = plotting.plot_shape_function(age(guarantee), ax=figure_axes())
    captions = [text.get_text() for text in ax.child_axes[0].texts]
    assert captions == [f"records per bin ({word}, at most 30)"]


def test_negative_noisy_counts_have_no_bar():
    ax = plotting.plot_shape_function(age(), ax=figure_axes())
    assert [bar.get_height() for bar in ax.child_axes[0].patches] == [10, 20, 30, 0]


def test_many_categories_are_cut_to_those_that_matter_and_say_so():
    categories = tuple(f"category {index}" for index in range(50))
    contribution = np.r_[np.linspace(0, 1, 50), 0.0, 0.0]
    shape = job(categories=categories, contribution=contribution, count=np.ones(52), noise_std=None)
    ax = plotting.plot_shape_function(shape, ax=figure_axes(), max_categories=10)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [*categories[40:], "other", "missing"]
    assert "40 more not drawn (see max_categories)" in [text.get_text() for text in ax.texts]


def test_categories_are_drawn_from_top_to_bottom():
    ax = plotting.plot_shape_function(job(), ax=figure_axes())
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "nurse", "clerk", "other", "missing",
    ]  # fmt: skip
    assert ax.yaxis_inverted()


def test_a_band_that_runs_out_of_the_picture_ends_where_the_counts_begin():
    shape = age(noise_std=[0.1, 50.0, 0.1, 0.1], count=[50.0, 0.0, 50.0, 1.0])
    ax = figure_axes()
    plotting.plot_shape_function(shape, ax=ax)
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3]  # from the bottom up
    middle = float(np.mean(shape.bin_edges[1:3]))
    column, _ = ax.transData.transform((middle, 0.0))
    heights = [ax.transAxes.transform((0, share))[1] for share in (0.02, _numeric.STRIP, 0.3)]
    below, edge, above = (pixels[int(height), int(column)] for height in heights)
    assert below.tolist() == edge.tolist() == [255, 255, 255]
    assert above.tolist() != [255, 255, 255]


def test_a_title_replaces_the_name_of_the_term_and_not_the_guarantee():
    named, titled = (age().plot(title=title) for title in (None, "Visits by age"))
    assert (named.get_title(loc="left"), titled.get_title(loc="left")) == ("age", "Visits by age")
    words = [{text.get_text() for text in ax.texts} for ax in (named, titled)]
    assert words[0] == words[1]
    assert any("Differentially private" in each for each in words[1])
