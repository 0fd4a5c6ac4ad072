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


def test_the_bar_is_one_row_on_a_tablet(page):
    page.set_viewport_size({"width": 1024, "height": 768})
    settle(page)
    assert page.locator(".dpx-sticky").bounding_box()["height"] <= BAR


@pytest.mark.parametrize("width", [820, 560, 380])
def test_every_epsilon_stays_in_sight_when_a_cell_becomes_narrow(page, width):
    page.set_viewport_size({"width": width, "height": 768})
    settle(page)
    inside = page.locator(".dpx-overview").bounding_box()
    scale = page.locator(".dpx-scrubber svg").bounding_box()
    assert scale["x"] + scale["width"] <= inside["x"] + inside["width"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_tabs_are_one_row_and_long_words_are_whole_next_to_the_files_of_a_lab(page):
    page.set_viewport_size({"width": 944, "height": 768})  # a cell on a screen of 1366 pixels
    settle(page)
    tops = page.locator(".dpx-tab").evaluate_all(
        "tabs => tabs.filter(tab => tab.checkVisibility()).map(tab => tab.offsetTop)"
    )
    assert len(tops) == 6
    assert len(set(tops)) == 1
    name = page.locator(".dpx-term-name").first
    before = name.bounding_box()
    name.evaluate("name => { name.textContent = 'Voraufenthalte'; }")
    assert name.bounding_box()["height"] <= before["height"]
    assert page.locator(".dpx-term").first.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_at_most_half_of_the_words_of_the_first_explorer_are_in_sight(page):
    assert 100 < page.evaluate(_WORDS) <= WORDS


def test_a_tooltip_follows_the_pointer_and_leaves_with_it(page):
    box = page.locator(".dpx-plot").bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 120)
    settle(page)
    tip = page.locator(".dpx-tip")
    shown = tip.bounding_box()
    assert abs(shown["x"] - box["x"] - 0.4 * box["width"]) < 300
    assert page.locator(".dpx-readout-title").inner_text() in tip.inner_text()
    page.mouse.move(box["x"] + 0.98 * box["width"], box["y"] + 120)
    settle(page)
    assert tip.bounding_box()["x"] + tip.bounding_box()["width"] <= SCREEN["width"]
    page.mouse.move(2, 2)
    settle(page)
    assert tip.count() == 0


_COUNT_MOTION = """() => {
  window.dpxMoved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, options) {
    window.dpxMoved.push(options.duration);
    return animate.call(this, frames, options);
  };
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_curve_moves_to_another_epsilon_unless_a_reader_wants_no_motion(open_page, motion):
    source = view_examples.comparison(joint=True)
    page = open_page(Explorer(source, term="age", epsilon_index=2), reduced_motion=motion)
    page.evaluate(_COUNT_MOTION)
    page.wait_for_timeout(300)  # soon after a drawing, a reader scrubs, and nothing moves
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.evaluate("dpxMoved") == ([] if motion == "reduce" else [120, 120])


def test_curves_are_named_at_their_ends_at_the_same_place_at_every_stop(open_page):
    source = view_examples.comparison(joint=True)
    page = open_page(Explorer(source, term="age", epsilon_index=1, pinned_epsilon=4.0))
    names = page.locator(".dpx-plot .dpx-end")
    assert set(names.all_text_contents()) == {"ε = 0.5", "ε = 4", "reference"}
    left = [box["x"] for box in (names.nth(i).bounding_box() for i in range(3))]
    assert len(set(left)) == 1
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    settle(page)
    assert names.first.bounding_box()["x"] == left[0]


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


def test_stops_stay_where_they_are_whatever_the_bar_says(page):
    said = {
        "ε = 1": "all above noise",
        "ε = 8": "9 of 14 above noise",
        "ε = 0.25": "10 of 14 above noise",
    }
    write = "(each, words) => { each.textContent = words; }"
    widths = set()
    for epsilon, count in said.items():
        page.locator(".dpx-epsilon").evaluate(write, epsilon)
        page.locator(".dpx-noise-count").evaluate(write, count)
        widths.add(page.locator(".dpx-scrubber").bounding_box()["width"])
    assert len(widths) == 1


# The widths of the charts in the first frame after a choice, and those some frames later.
_FIRST_FRAME = """async (place) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const charts = document.querySelector(".dpx-tab-panel").getElementsByClassName("dpx-svg");
  const widths = () => Array.from(charts, (each) => each.getBoundingClientRect().width);
  await frame();
  document.querySelector(place).click();
  await frame();
  const first = widths();
  for (let k = 0; k < 4; k += 1) await frame();
  return [first, widths()];
}"""


@pytest.mark.parametrize("tab", ["shape", "terms", "rank", "local"])
def test_the_first_frame_of_a_tab_shows_its_charts_at_their_width(open_page, tab):
    view = Explorer(view_examples.comparison(joint=True), term="occupation", tab="disagreement")
    page = open_page(view, wait="")
    first, later = page.evaluate(_FIRST_FRAME, f".dpx-tab[id$='-{tab}']")
    assert first == later
    assert len(first) > 0


def test_a_term_of_another_kind_is_drawn_once(open_page):
    page = open_page(Explorer(view_examples.comparison(joint=True), term="age"))
    first, later = page.evaluate(_FIRST_FRAME, ".dpx-term:has([title='occupation'])")
    assert first == later


_ALL_PLACES = """() => Array.from(
  document.querySelectorAll(".dpx-tab-panel > *, .dpx-planner, .dpx-terms, .dpx-ledger"),
  (each) => { const { left, top } = each.getBoundingClientRect(); return [left, top]; },
)"""
_CHARTS = ".dpx-tab-panel :is(.dpx-plot, .dpx-heat, .dpx-rank-frame, svg.dpx-svg) >> visible=true"


@pytest.mark.parametrize("tab", ["shape", "edit", "terms", "disagreement", "rank", "local"])
def test_no_part_of_a_tab_moves_while_a_reader_points_or_goes_to_another_epsilon(open_page, tab):
    view = Explorer(view_examples.comparison(joint=True), term="age", epsilon_index=2, tab=tab)
    page = open_page(view, width=1366, wait="")
    settle(page)
    places = page.evaluate(_ALL_PLACES)
    box = page.locator(_CHARTS).first.bounding_box()
    for share in (0.3, 0.5, 0.8):
        x, y = box["x"] + share * box["width"], box["y"] + share * box["height"]
        page.mouse.move(x, y)
        settle(page)
        assert page.evaluate(_ALL_PLACES) == places
    page.mouse.move(2, 2)
    page.locator(".dpx-scrubber").focus()
    chart = page.locator(_CHARTS).first
    keys = [
        "ArrowRight",
        "ArrowRight",
        "ArrowLeft",
        *(["End", "ArrowLeft"] if tab == "shape" else []),
    ]
    for key in keys:  # the last stop is the reference, about which less is said above the chart
        page.keyboard.press(key)
        settle(page)
        assert chart.bounding_box() == box


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
