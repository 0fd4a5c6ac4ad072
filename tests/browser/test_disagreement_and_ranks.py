"""The heat map and the bump chart in a page without a kernel: mouse, keys, words."""

from __future__ import annotations

import dataclasses
import math

import pytest

import view_examples
from dpexplain_widgets import DisagreementView, Explorer, RankView
from page_checks import layout_problems, plain, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2, joint=True)


def test_tabs_are_chosen_by_click_and_by_arrows(open_page, comparison):
    page = open_page(Explorer(comparison, term="age"))
    tabs = page.get_by_role("tab")
    assert page.locator("[role=tab][tabindex='0']").count() == 1
    page.get_by_role("tab", name="Disagreement").click()
    assert page.get_by_role("tabpanel").locator("h3").inner_text() == "Where explanations disagree"

    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.get_by_role("tabpanel").locator("h3").inner_text() == "Feature rank by ε"
    page.keyboard.press("Home")
    settle(page)
    assert tabs.first.get_attribute("aria-selected") == "true"
    assert page.locator("[role=tab][aria-selected=true]").count() == 1
    assert "Shape of age" in page.get_by_role("tabpanel").inner_text()


def test_a_cell_sets_term_and_epsilon_by_click_and_by_enter(open_page, comparison):
    page = open_page(Explorer(comparison, term="age", epsilon_index=1, tab="disagreement"), wait="")
    page.locator(".dpx-heat-body .dpx-heat-row", has_text="occupation").locator(
        "[role=gridcell]"
    ).nth(4).click()
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 4"
    assert page.locator(".dpx-term[aria-selected=true]").inner_text().startswith("occupation")

    page.locator(".dpx-heat").focus()
    active = page.locator(".dpx-heat-pointed")
    assert plain(active.get_attribute("aria-label")).startswith("occupation, ε = 4: differs by")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    pointed = page.locator(".dpx-heat").get_attribute("aria-activedescendant")
    words = plain(page.locator(f"#{pointed}").get_attribute("aria-label"))
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 0.25"
    term = page.locator(".dpx-term[aria-selected=true] .dpx-term-name").inner_text()
    assert words.startswith(f"{term}, ε = 0.25: differs by")


@pytest.mark.parametrize("against", ["reference", "epsilon", "repeat"])
def test_the_heat_map_shows_what_python_reads(open_page, comparison, against):
    view = Explorer(comparison, tab="disagreement", against=against, term_order="schema")
    page = open_page(view, wait="")
    frame = view.selection
    shown = page.locator(".dpx-heat-body [role=gridcell]").all_inner_texts()

    # A page holds four digits of the largest number of a curve, which may stand in a bin with
    # hardly anybody: up to 0.05 % of it, and it is up to 40 times the mean size of the curve.
    for text, share in zip(shown, frame["disagreement"], strict=True):
        assert (text == "–") == math.isnan(share)
        assert text == "–" or abs(int(text) - 100 * share) <= 2.5
    full = page.locator(".dpx-heat-6").count() - 1  # one of them is in the legend
    unsure = (abs(frame["disagreement"] - 1) < 0.025).sum()
    assert abs(full - (frame["disagreement"] >= 1).sum()) <= unsure
    released = page.locator(".dpx-heat-mark").is_hidden()
    assert released == bool(frame["private"].all())


def test_without_a_reference_the_heat_map_says_what_it_compares(open_page, comparison):
    alone = dataclasses.replace(comparison, reference=None)
    page = open_page(Explorer(alone, tab="disagreement"), wait="")
    about = page.locator(".dpx-disagreement .dpx-note").first
    assert "No non-private reference is shown" in about.inner_text()
    assert "that of ε = 8 (the largest; pin another" in about.inner_text()

    page.get_by_role("button", name="Pin ε = 1 to compare").click()
    settle(page)
    assert "that of ε = 1 (pinned)" in about.inner_text()


def test_terms_are_chosen_in_the_bump_chart_by_click_and_by_keys(open_page, comparison):
    page = open_page(Explorer(comparison, term="age", epsilon_index=1, tab="rank"), wait="")
    plot, readout = page.locator(".dpx-rank-plot"), page.locator(".dpx-rank .dpx-readout")
    plot.focus()
    page.keyboard.press("Home")
    settle(page)
    first = plain(readout.inner_text())
    assert ": rank 1 of 7 at ε = 0.5; could be rank " in first
    assert "95% confidence" in first
    page.keyboard.press("ArrowDown")
    settle(page)
    assert ": rank 2 of 7 at ε = 0.5" in plain(readout.inner_text())
    page.keyboard.press("ArrowRight")
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 1"
    assert plot.get_attribute("aria-valuetext") + "." == readout.inner_text()

    page.locator(".dpx-rank-term:not(.dpx-rank-chosen) .dpx-rank-name").nth(3).click()
    settle(page)
    assert plain(readout.inner_text()) != first
    assert page.locator(".dpx-rank-ribbon").count() == 1


def test_the_reference_stands_apart_in_the_bump_chart_and_can_be_hidden(open_page, comparison):
    page = open_page(Explorer(comparison, tab="rank"), wait="")
    assert page.locator(".dpx-rank-point-reference").count() == 7
    assert page.locator(".dpx-rank-mark").is_visible()
    page.locator(".dpx-rank-plot").focus()
    page.keyboard.press("r")
    settle(page)
    assert page.locator(".dpx-rank-point-reference").count() == 0
    assert page.locator(".dpx-rank-mark").is_hidden()


def test_ranks_in_the_table_are_those_that_python_reads(open_page, comparison):
    view = Explorer(comparison, tab="rank", term_order="schema")
    page = open_page(view, wait="")
    page.locator("summary", has_text="Numbers as a table").click()
    rows = page.locator(".dpx-rank .dpx-table tbody tr")
    rows.first.wait_for()
    frame = view.selection
    for place, (term, group) in enumerate(frame.groupby("term", sort=False)):
        cells = rows.nth(place).inner_text().split("\t")
        assert cells[0] == term
        assert [int(cell.split(" ")[0]) for cell in cells[1:]] == group["rank"].tolist()


@pytest.mark.parametrize("width", [480, 900, 1400])
@pytest.mark.parametrize("tab", ["disagreement", "rank"])
def test_no_label_is_cut_or_over_another(open_page, pictures, comparison, tab, width):
    page = open_page(Explorer(comparison, tab=tab), width=width, wait="")
    settle(page)

    assert layout_problems(page) == []
    page.screenshot(path=pictures / f"{tab}-{width}.png", full_page=True)


def test_a_hundred_terms_and_twenty_epsilons_stay_usable(open_page, pictures):
    epsilons = tuple(0.1 * 1.3**k for k in range(20))
    wide = view_examples.comparison(view_examples.wide_terms(100, 6), epsilons)
    page = open_page(Explorer(wide, term="group 1"))
    assert page.locator(".dpx-term").count() < 30
    page.locator(".dpx-term[tabindex='0']").focus()
    page.keyboard.press("End")
    settle(page)
    last = page.locator(".dpx-term[aria-selected=true]")
    assert last.get_attribute("aria-posinset") == "100"
    assert last.bounding_box()["y"] < page.locator(".dpx-terms").bounding_box()["y"] + 520

    page.get_by_label("Find").fill("measurement 9")
    settle(page)
    assert page.locator(".dpx-importance [role=status]").inner_text() == "8 of 100 terms"
    for tab in ("Disagreement", "Ranks"):
        page.get_by_role("tab", name=tab).click()
        settle(page)
        assert layout_problems(page) == []
    page.get_by_label("Find").fill("")
    page.get_by_role("tab", name="Disagreement").click()
    settle(page)
    assert page.locator(".dpx-heat-body .dpx-heat-row").count() < 40
    page.screenshot(path=pictures / "hundred-terms.png", full_page=True)
    page.get_by_label("Find").fill("no such term")
    assert page.get_by_text("No matching term").is_visible()


@pytest.mark.parametrize("view", [DisagreementView, RankView])
def test_each_view_stands_alone_and_says_its_guarantee(open_one, comparison, view):
    page = open_one(view(comparison, epsilon_index=1))
    words = page.locator(".dpx-standalone-words")

    assert "ε = 0.5 · δ = 10⁻⁶" in words.inner_text()
    page.get_by_label("ε", exact=True).select_option(label="2")
    settle(page)
    assert "ε = 2 ·" in words.inner_text()
    assert layout_problems(page) == []
