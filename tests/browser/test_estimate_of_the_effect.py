"""The effect estimate in a page without a kernel: drawing, reading, switching, saving."""

from __future__ import annotations

import dataclasses

import pytest

import view_examples
from dpexplain_widgets import Explorer
from page_checks import curve_of, layout_problems, plain, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.with_effects(view_examples.comparison())


def test_the_switch_shows_one_curve_or_both_and_is_reached_by_keys(open_page, comparison):
    page = open_page(Explorer(comparison, term="age", show_reference=False))
    curve = page.locator(".dpx-shape .dpx-plot")
    assert curve.locator(".dpx-curve-main").count() == 2  # the line, and a dash for missing values
    assert curve.locator(".dpx-curve-effect").count() == 2
    assert curve.locator(".dpx-effect-band").count() == 2
    released = curve_of(page)

    box = page.get_by_label("Show", exact=True)
    box.focus()
    page.keyboard.press("End")  # the last of the choices
    settle(page)
    assert curve.locator(".dpx-curve-main").count() == 0
    assert curve.locator(".dpx-band").count() == 0
    assert curve.locator(".dpx-curve-effect").count() == 2
    assert "the estimated effect in the population alone" in curve.get_attribute("aria-label")

    box.select_option("released")
    settle(page)
    assert curve.locator(".dpx-curve-effect, .dpx-effect-band").count() == 0
    assert curve_of(page) != ""
    assert released != ""


def test_a_bin_is_read_with_its_estimate_and_so_is_the_table(open_page, comparison):
    page = open_page(Explorer(comparison, term="age", bin_index=1, show_reference=False))
    words = plain(page.locator(".dpx-shape .dpx-readout").inner_text())
    assert "estimated effect in the population" in words
    assert "95% band" in words
    page.locator(".dpx-shape summary", has_text="Numbers as a table").click()
    heads = page.locator(".dpx-shape table th[scope=col]").all_inner_texts()
    assert "estimated effect in the population" in heads
    assert "high end of its 95% band" in heads


@pytest.mark.parametrize("term", ["age", "occupation"])
@pytest.mark.parametrize(("width", "shown"), [(380, "both"), (1366, "effect")])
def test_nothing_overlaps_or_is_cut_off(open_page, comparison, width, term, shown):
    page = open_page(Explorer(comparison, term=term, shown_curve=shown), width=width)
    assert layout_problems(page) == []


def test_a_model_without_estimates_says_so_and_offers_no_switch(open_page):
    page = open_page(Explorer(view_examples.comparison(), term="age"))
    assert not page.get_by_label("Show", exact=True).is_visible()
    assert "the true effect can lie outside" in page.locator(".dpx-shape .dpx-caution").inner_text()


def with_age(comparison, **changes):
    """Change the estimate of age in all fits of a comparison."""
    fits = {
        epsilon: tuple(
            dataclasses.replace(
                fit,
                terms=[
                    dataclasses.replace(term, **changes) if term.name == "age" else term
                    for term in fit.terms
                ],
            )
            for fit in repeats
        )
        for epsilon, repeats in comparison.explanations.items()
    }
    return dataclasses.replace(comparison, explanations=fits)


@pytest.mark.parametrize(
    ("changes", "words", "is_warning"),
    [
        ({"unclear_with": "occupation"}, "may be outside the effect band", True),
        ({"effect_factor": 1e3}, "includes 0 in every bin", False),
    ],
)
def test_a_warning_about_a_band_looks_unlike_a_note_on_it(
    open_page, comparison, changes, words, is_warning
):
    page = open_page(Explorer(with_age(comparison, **changes), term="age"), width=380)
    said = page.locator(".dpx-shape [role=note]")
    assert words in plain(said.inner_text())
    assert page.locator(".dpx-shape .dpx-caution").count() == int(is_warning)
    assert layout_problems(page) == []


def test_ranks_name_the_warnings_and_notes_of_other_terms(open_page, comparison):
    words = "the ranks of others may be wrong"
    warned = with_age(comparison, unclear_with="occupation")
    page = open_page(Explorer(warned, tab="rank"), width=380, wait="")
    settle(page)
    assert words in page.locator(".dpx-rank .dpx-note").first.inner_text()
    assert layout_problems(page) == []
