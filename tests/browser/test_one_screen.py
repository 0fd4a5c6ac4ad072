"""One screen of a small laptop holds the bar and the chart, and using them moves nothing."""

from __future__ import annotations

import pytest

import view_examples
from dpexplain_widgets import Explorer
from page_checks import settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

SCREEN = {"width": 1366, "height": 768}
BAR = 60
WORDS = 275  # half of what the first Explorer showed

# Words with a letter that are drawn, without the options of closed boxes.
_WORDS = """() => {
  const walker = document.createTreeWalker(document.querySelector(".dpx"), NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("option, style, .dpx-announcement")) continue;
    if (!node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    count += (node.data.match(/[^\\s]*\\p{L}[^\\s]*/gu) ?? []).length;
  }
  return count;
}"""
_PLACES = """() => Array.from(
  document.querySelectorAll(".dpx-plot, .dpx-claim, .dpx-planner, .dpx-terms, .dpx-tabs"),
  (each) => each.getBoundingClientRect().top,
)"""


@pytest.fixture
def page(open_page):
    source = view_examples.comparison(joint=True)
    page = open_page(Explorer(source))
    page.set_viewport_size(SCREEN)
    settle(page)
    return page


def test_bar_and_chart_fit_on_one_screen(page):
    bar = page.locator(".dpx-sticky").bounding_box()
    chart = page.locator(".dpx-plot").bounding_box()

    assert bar["height"] <= BAR
    assert bar["y"] >= 0
    assert chart["y"] + chart["height"] <= SCREEN["height"]
    for part in (".dpx-scrubber", ".dpx-epsilon", ".dpx-chips", ".dpx-metrics"):
        inside = page.locator(f".dpx-sticky {part}").bounding_box()
        assert inside["height"] > 0, part


def test_at_most_half_of_the_words_of_the_first_explorer_are_in_sight(page):
    assert 100 < page.evaluate(_WORDS) <= WORDS


def test_the_bar_stays_in_sight_while_the_page_scrolls(page):
    page.evaluate("scrollTo(0, 400)")
    settle(page)
    bar = page.locator(".dpx-sticky").bounding_box()

    assert page.evaluate("scrollY") > 100
    assert -2 <= bar["y"] <= 2
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 0.25"


def test_the_whole_guarantee_is_one_click_away(page):
    page.get_by_text("Guarantee and noise").click()
    words = page.locator(".dpx-overview-more").inner_text()

    assert "changes the probability of any result by at most a factor of" in words
    assert "differential privacy for one record" in words


def test_reading_bins_and_scrubbing_move_nothing(page):
    places = page.evaluate(_PLACES)
    box = page.locator(".dpx-plot").bounding_box()
    for share in (0.2, 0.5, 0.8):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 120)
        settle(page)
        assert page.evaluate(_PLACES) == places
    page.mouse.move(2, 2)
    page.locator(".dpx-scrubber").focus()
    bar = page.locator(".dpx-sticky").bounding_box()
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
        settle(page)
        assert page.locator(".dpx-sticky").bounding_box() == bar


def test_bars_of_categories_keep_their_width_on_a_phone(open_page):
    page = open_page(Explorer(view_examples.comparison(), term="occupation"), width=380)
    settle(page)
    axis = page.locator(".dpx-rows-head .dpx-rule-axis").bounding_box()

    assert axis["width"] >= 120
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_edits_are_shown_in_all_views_at_a_switch_and_undone_by_keys(open_page):
    page = open_page(
        Explorer(view_examples.comparison(), term="age", epsilon_index=1, tab="edit"),
        wait=".dpx-edit-plot svg",
    )
    assert page.get_by_label("Edited", exact=True).is_hidden()
    page.get_by_label("Operation", exact=True).select_option("average")
    page.get_by_role("button", name="Apply").click()
    settle(page)
    assert "dpx-edit-plot" in page.evaluate("document.activeElement.className")

    page.get_by_role("tab", name="Shape").click()
    curve = page.locator(".dpx-plot .dpx-curve-main").first
    released = curve.get_attribute("d")
    page.get_by_label("Edited", exact=True).check()
    settle(page)
    assert curve.get_attribute("d") != released
    assert "edited" in page.locator(".dpx-legend").first.inner_text()
    assert page.locator(".dpx-plot .dpx-band").count() == 0

    page.get_by_role("tab", name="Edit").click()
    page.locator(".dpx-edit-plot").focus()
    page.keyboard.press("Control+z")
    settle(page)
    assert "(undone)" in page.locator(".dpx-edit-history").inner_text()
    page.get_by_role("tab", name="Shape").click()
    assert curve.get_attribute("d") == released
