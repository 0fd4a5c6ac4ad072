"""Every figure: composable, labeled, and honest about what it shows."""

from __future__ import annotations

import math
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpexplain import Comparison, PrivacyLedger, plotting
from dpexplain.io import from_json, to_json
from example_explanations import (
    HOSTILE_NAMES,
    age,
    age_and_job,
    classifier,
    job,
    private_guarantee,
    reference,
    samples,
)


def comparison(with_reference=True):
    rows = [(0.5, 0, "AUROC", 0.8, False), (2.0, 0, "AUROC", 0.85, False)]
    if with_reference:
        rows.append((math.inf, 0, "AUROC", 0.9, False))
    return Comparison(
        (0.5, 2.0),
        {0.5: (classifier(), classifier(intercept=0.1)), 2.0: (classifier(),)},
        reference() if with_reference else None,
        pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"]),
        ledger=PrivacyLedger("plots").summary(),
    )


DRAWN = {
    "numeric": lambda **options: plotting.plot_shape_function(
        age(score_unit="log-odds"), **options
    ),
    "categorical": lambda **options: plotting.plot_shape_function(
        job(score_unit="log-odds"), **options
    ),
    "importance": lambda **options: plotting.plot_importance(classifier(), **options),
    "local": lambda **options: plotting.plot_local(samples(samples_public=True), **options),
    "comparison": lambda **options: plotting.plot_comparison(
        comparison(with_reference=False), term="age", **options
    ),
    "comparison of a categorical term": lambda **options: plotting.plot_comparison(
        comparison(with_reference=False), term="job", **options
    ),
}
NOT_PRIVATE = {
    "numeric": lambda: plotting.plot_shape_function(reference()["age"]),
    "categorical": lambda: plotting.plot_shape_function(reference()["job"]),
    "importance": lambda: plotting.plot_importance(reference()),
    "importance with reference": lambda: plotting.plot_importance(
        classifier(), reference=reference()
    ),
    "local": lambda: plotting.plot_local(samples(guarantee=reference().guarantee)),
    "comparison": lambda: plotting.plot_comparison(comparison()),
    "metric": lambda: plotting.plot_metric(comparison()),
}


def words_in(ax):
    """Return all text of the axes and its insets, after drawing."""
    ax.figure.canvas.draw()
    texts = ax.findobj(matplotlib.text.Text)
    return "\n".join(text.get_text() for text in texts if text.get_visible())


def has_watermark(ax):
    return any(text.get_gid() == "watermark" for text in ax.texts)


@pytest.mark.parametrize("name", DRAWN)
def test_plot_draws_into_the_given_axes_and_returns_them(name):
    pyplot.close("all")  # other tests of this process may have left some open
    figure, axes = pyplot.subplots(1, 2)
    assert DRAWN[name](ax=axes[1]) is axes[1]
    assert pyplot.get_fignums() == [figure.number]
    assert not axes[0].has_data()


@pytest.mark.parametrize("name", DRAWN)
def test_plot_without_axes_makes_one_figure(name):
    ax = DRAWN[name]()
    assert isinstance(ax, Axes)
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.full
@pytest.mark.parametrize("name", DRAWN)
def test_score_axis_has_a_unit_and_the_guarantee_is_written_in_words(name):
    words = words_in(DRAWN[name]())
    assert "[log-odds]" in words
    assert "ε = 0.5" in words
    assert "δ = 1e-06" in words


@pytest.mark.parametrize("private", [True, False])
def test_the_figure_of_a_term_says_what_it_adds_to(private):
    explanation = classifier() if private else reference()
    words = f"Contributions to {explanation.score_name}"
    assert explanation.target_name in words
    assert words in words_in(explanation["age"].plot())
    assert words in words_in(from_json(to_json(explanation["age"])).plot())
    assert "Contributions to" not in words_in(plotting.plot_shape_function(age()))


def test_the_figure_of_a_count_names_factors_and_the_expected_count_in_equal_decimals():
    made = plotting.plot_local(
        samples(
            link="log",
            classes=None,
            target_name="readmissions",
            contributions=[[2.05e-05, -0.104], [0.0, 0.0]],
        )
    )
    words = words_in(made)
    assert "-0.104 (× 0.901)" in words
    assert "0.000 (× 1)" in words
    assert "×: factor of the expected readmissions" in words
    assert "expected readmissions = 0.426" in words
    assert made.get_xlabel().endswith("[log of the expected readmissions]")
    assert "×" not in words_in(plotting.plot_local(samples()))


def test_a_long_unit_of_the_score_overlaps_no_other_panel():
    visits = classifier(link="log", classes=None, target_name="visits to a doctor per year")
    for ax in visits.plot():
        assert "per year" not in ax.get_ylabel() + ax.get_xlabel()
    assert visits["age"].plot().get_ylabel().startswith("contribution\n[log of the expected visits")


@pytest.mark.parametrize("name", DRAWN)
def test_private_figures_have_no_watermark(name):
    assert not has_watermark(DRAWN[name]())


@pytest.mark.full
@pytest.mark.parametrize("name", NOT_PRIVATE)
def test_what_is_not_private_is_watermarked_in_the_picture(name):
    ax = NOT_PRIVATE[name]()
    assert has_watermark(ax)
    assert "NOT PRIVATE" in words_in(ax)


def test_feature_axis_has_the_unit_of_the_feature():
    assert plotting.plot_shape_function(age()).get_xlabel() == "age [years]"


@pytest.mark.full
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot"])
def test_text_and_curves_stand_out_from_the_background(name, style):
    with matplotlib.style.context(style):
        ax = DRAWN[name]()
        face = np.array(matplotlib.colors.to_rgb(ax.get_facecolor()))
        for text in (ax.xaxis.label, *ax.get_xticklabels()):
            assert np.abs(np.array(matplotlib.colors.to_rgb(text.get_color())) - face).max() > 0.3


def test_colors_follow_the_style():
    def color():
        ax = plotting.plot_importance(classifier())
        return ax.patches[0].get_facecolor()

    light = color()
    with matplotlib.style.context("dark_background"):
        assert color() != light


def test_transparent_figure_takes_its_colors_from_the_text():
    from dpexplain.plotting._style import theme

    with matplotlib.rc_context({"axes.facecolor": "none", "figure.facecolor": "none"}):
        assert not theme(pyplot.subplots()[1]).dark
        with matplotlib.rc_context({"axes.labelcolor": "white"}):
            assert theme(pyplot.subplots()[1]).dark


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
def test_hostile_names_are_drawn_as_text(name):
    shape = age(name=name, unit=name)
    terms = (shape, job(categories=(name, "clerk" + name)))
    explanation = classifier(terms=terms, model_name=name, target_name=name, classes=("no", name))
    plotting.plot_global(explanation)
    plotting.plot_importance(explanation)
    plotting.plot_shape_function(explanation.terms[1])
    plotting.plot_local(samples(target_name=name, bin_labels=((name, name),) * 2))
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()


def test_dollar_signs_are_no_mathematics():
    ax = plotting.plot_shape_function(age(name="$x^2$ and $y$"))
    assert r"\$x^2\$" in ax.get_xlabel()


def test_samples_that_are_not_public_are_marked():
    assert "not marked public" in words_in(plotting.plot_local(samples()))
    assert "not marked public" not in words_in(plotting.plot_local(samples(samples_public=True)))


@pytest.mark.full
@pytest.mark.parametrize("link", ["logit", "log"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_of_a_waterfall_stay_inside_the_axes_and_its_promise_inside_the_figure(sign, link):
    sizes = np.array([0.2, 0.16, 0.07, 0.05, 0.05, 0.014, 0.006])
    names = [f"a feature with a long name {k}" for k in range(len(sizes))]
    explanation = samples(
        term_names=names,
        contributions=sign * sizes[None],
        bin_labels=[["a long category"] * len(sizes)],
        intercept=-1.16,
        link=link,
        classes=("low", "high") if link == "logit" else None,
    )
    ax = plotting.plot_local(explanation)
    ax.figure.draw_without_rendering()
    small_print = next(text for text in ax.texts if text.get_text().startswith("Model: "))
    assert small_print.get_window_extent().x1 <= ax.figure.bbox.x1
    inside = ax.get_window_extent()
    numbers = [text for text in ax.texts if text.get_text()[:1] in "+-\u2212"]
    assert len(numbers) == len(sizes)
    for text in numbers:
        extent = text.get_window_extent()
        assert inside.x0 <= extent.x0, text.get_text()
        assert extent.x1 <= inside.x1, text.get_text()


@pytest.mark.full
def test_comparison_carries_both_labels_and_leaves_the_reference_out_on_request():
    words = words_in(plotting.plot_comparison(comparison()))
    assert "Each model alone" in words
    assert "if published together" in words
    assert "non-private" in words
    alone = plotting.plot_comparison(comparison(), show_reference=False)
    assert "non-private" not in words_in(alone)
    assert not has_watermark(alone)


def test_comparison_draws_a_curve_that_knows_all_parts_of_its_noise():
    def with_parts(noise_std):
        shape = age(
            noise_std=noise_std,
            structure_std=[0.05] * 4,
            sampling_std=[0.2] * 4,
            simultaneous_factor=3.0,
        )
        one = classifier(terms=(shape, job()))
        return Comparison((1.0,), {1.0: (one,)}, ledger=PrivacyLedger("parts").summary())

    narrow, wide = (
        plotting.plot_comparison(with_parts([std] * 4), term="age").get_ylim()
        for std in (0.1, 100.0)
    )
    assert narrow == wide  # curves of several epsilons are drawn without bands
    assert narrow[0] < -0.5
    assert narrow[1] > 0.5


@pytest.mark.full
def test_comparison_without_a_term_takes_the_most_important_one():
    assert "job" in words_in(plotting.plot_comparison(comparison()))


@pytest.mark.full
def test_explanation_draws_one_term_or_all():
    explanation = classifier()
    assert len(explanation.plot()) == len(explanation.plot(None)) == 2
    ax = pyplot.subplots()[1]
    assert explanation.plot("age", ax) is explanation.plot("age", ax=ax) is ax
    alone = explanation["job"].plot(caution=explanation.effect_cautions["job"])
    assert words_in(explanation.plot("job")) == words_in(alone)
    with pytest.raises(KeyError, match=r"Did you mean 'age'\?"):
        explanation.plot("agee")
    with pytest.raises(ValueError, match="ax= takes one term"):
        explanation.plot(ax=ax)


def test_unknown_names_are_answered_with_those_there_are():
    with pytest.raises(KeyError, match=r"the terms are 'age', 'job'\. Did you mean 'age'\?"):
        comparison().plot("agee")
    with pytest.raises(ValueError, match="must be one of 'AUROC'"):
        plotting.plot_metric(comparison(), metric="RMSE")
    with pytest.raises(KeyError, match="the terms are"):
        plotting.plot_global(classifier(), terms=["Age"])
    with pytest.raises(ValueError, match="sample=5"):
        plotting.plot_local(samples(), sample=5)
    with pytest.raises(ValueError, match="spacing"):
        plotting.plot_shape_function(age(), spacing="log")


def test_metric_is_drawn_against_epsilon_and_called_a_diagnostic():
    ax = plotting.plot_metric(comparison(with_reference=False))
    assert ax.get_xscale() == "log"
    assert "not private" in words_in(ax)


@pytest.mark.full
def test_small_multiples_share_the_score_axis_and_leave_out_the_least_important():
    terms = tuple(age(name=f"feature {index}", count=[index, 1, 1, 1]) for index in range(5))
    panels = plotting.plot_global(classifier(terms=terms), max_terms=4, n_columns=3)
    assert len(panels) == 4
    assert len({panel.get_ylim() for panel in panels}) == 1
    assert "1 more terms not drawn" in panels[0].figure.get_suptitle()
    assert "±2σ of privacy noise, given bins and trees" in panels[0].figure.get_suptitle()


def test_small_multiples_fit_into_a_part_of_a_figure():
    figure = Figure(figsize=(10, 8), layout="constrained")
    left, right = figure.subfigures(1, 2)
    panels = plotting.plot_global(classifier(), figure=left, n_columns=1)
    right.subplots()
    assert all(panel.figure is left for panel in panels)
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(("term", "kind"), [(None, "bars"), ("age", "importance")])
def test_an_explanation_refuses_a_kind_of_plot_that_it_does_not_have(term, kind):
    with pytest.raises(ValueError, match=f"kind='{kind}' must be one of 'terms'"):
        classifier().plot(term, kind=kind)
    assert not pyplot.get_fignums()


def test_explanations_draw_themselves():
    _, ax = pyplot.subplots()
    assert age().plot(ax) is ax
    assert classifier().plot_importance(pyplot.subplots()[1]).get_xlabel()
    assert classifier().plot(kind="importance", ax=ax) is ax
    assert len(classifier().plot()) == 2
    assert "Sample 1" in words_in(samples().plot(1))
    assert "age" in words_in(comparison().plot("age"))


@pytest.mark.full
def test_naming_the_plots_does_not_load_matplotlib():
    code = (
        "import sys, dpexplain.plotting as p; p.plot_shape_function; "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_guarantee_in_words_names_the_unit_of_privacy():
    from dpexplain.plotting._style import guarantee_words

    assert guarantee_words(private_guarantee()) == (
        "Differentially private: ε = 0.5, δ = 1e-06 for one record (add/remove), this fit alone"
    )


def hatched_cells(ax):
    """Return the lower left corners of the hatched cells, as (row, column)."""
    (marks,) = (each for each in ax.collections if each.get_gid() == "may-be-noise")
    corners = [path.vertices.min(axis=0) for path in marks.get_paths()]
    return sorted((round(y + 0.5), round(x + 0.5)) for x, y in corners)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_cells_of_a_pair_that_may_be_noise_are_hatched_and_the_figure_says_so(style):
    pair = age_and_job(score_unit="log-odds")
    with pyplot.style.context(style):
        ax = plotting.plot_pair(pair)
        assert hatched_cells(ax) == [tuple(cell) for cell in np.argwhere(~pair.signal).tolist()]
        assert any("Hatched: may be noise" in text.get_text() for text in ax.texts)
        assert ax.figure.axes[1].get_ylabel() == "contribution [log-odds]"
        pyplot.close(ax.figure)


def test_a_pair_without_noise_has_no_hatching():
    ax = plotting.plot_pair(age_and_job(noise_std=None))
    assert not [each for each in ax.collections if each.get_gid() == "may-be-noise"]
    assert not any("Hatched" in text.get_text() for text in ax.texts)
    pyplot.close(ax.figure)


def test_bars_of_pairs_show_their_noise_and_a_reference_may_lack_the_pair():
    weak = age_and_job(name="weak", noise_std=np.ones((3, 3)))
    model = classifier(pairs=(age_and_job(), weak))
    ax = plotting.plot_importance(model, reference=reference())
    names = [label.get_text() for label in ax.get_yticklabels()]
    bars = {round(bar.get_y() + 0.33): bar for bar in ax.patches if bar.get_hatch() is None}
    assert bars[names.index("weak")].get_alpha() == 0.35
    assert bars[names.index("age & job")].get_alpha() is None
    floors = [bar.get_width() for bar in ax.patches if bar.get_hatch()]
    assert floors[names.index("weak")] == pytest.approx(weak.noise_floor)
    (ticks,) = (line.get_xdata() for line in ax.lines if line.get_marker() == "|")
    assert np.isnan(ticks).tolist() == [name in ("weak", "age & job") for name in names]
    pyplot.close(ax.figure)
