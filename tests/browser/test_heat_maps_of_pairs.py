"""Heat maps of pairs: seen, pointed at, read by keys, and words where curves are meant."""

from __future__ import annotations

import dataclasses
import re

import pytest

from dpexplain.edit import EditLog, Set
from dpexplain_widgets import EditView, Explorer
from page_checks import layout_problems, settle
from pair_examples import PEOPLE, paired, swept

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture
def open_pairs(new_page, tmp_path):
    """Open a page of an explanation with pairs; it is not private, so nothing is left out."""

    def open_pairs(**choices):
        explorer = Explorer(paired(), samples=PEOPLE, term="age & job", **choices)
        page = new_page(offline=True)
        page.goto(explorer.export_html(tmp_path / "page.html", release_safe=False).as_uri())
        page.locator(".dpx-head").first.wait_for()
        return page

    return open_pairs


def readout(page):
    settle(page)
    return page.locator(".dpx-readout").inner_text()


def test_a_cell_is_read_by_keys_and_by_pointing(open_pairs):
    page = open_pairs()
    plot = page.locator(".dpx-plot[aria-roledescription='heat map']")
    image = plot.locator("image")
    image.wait_for()
    assert "3 by 4 cells, from −5 at" in plot.get_attribute("aria-label")

    plot.focus()
    page.keyboard.press("Home")
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert "50 – 80" in readout(page)
    assert "contribution +1 (odds × 2.72) · count 1" in readout(page)
    assert "job" in plot.get_attribute("aria-valuetext")
    assert plot.get_attribute("aria-valuenow") == "7"

    box = image.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 4)
    assert "missing" in readout(page)
    assert "contribution +6" in readout(page)
    assert plot.locator(".dpx-heat-cell-frame").count() == 2
    assert layout_problems(page) == []


def test_colors_are_symmetric_at_zero(open_pairs):
    page = open_pairs()
    image = page.locator(".dpx-plot image")
    image.wait_for()
    colors = page.evaluate(
        """async (image) => {
          const picture = new Image();
          picture.src = image.getAttribute("href");
          await picture.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [picture.width, picture.height];
          const context = canvas.getContext("2d");
          context.drawImage(picture, 0, 0);
          const at = (x, y) => Array.from(context.getImageData(x, y, 1, 1).data.slice(0, 3));
          return { zero: at(1, 1), most: at(3, 0), least: at(0, 2) };
        }""",
        image.element_handle(),
    )
    # Rows go upwards: cell 5, which adds nothing, is the second of the middle row.
    assert colors["zero"] == [255, 255, 255]
    assert colors["most"][2] > colors["most"][0]
    assert colors["least"][0] > colors["least"][2]


def test_other_parts_show_the_pair_or_say_why_not(open_pairs):
    page = open_pairs()
    page.locator(".dpx-tab", has_text="All terms").click()
    page.locator(".dpx-small image").first.wait_for()
    assert page.locator(".dpx-small image").count() == 2
    page.locator(".dpx-tab", has_text="One sample").click()
    page.locator(".dpx-waterfall svg").wait_for()
    assert "age & job" in page.locator(".dpx-waterfall").inner_text()
    assert page.locator(".dpx-input").count() == 2
    page.locator(".dpx-tab", has_text="Shape").click()
    page.locator(".dpx-term", has_text="town").click()
    assert "age & town" in page.locator(".dpx-tab-panel h3").inner_text()
    page.locator(".dpx-term", has_text=re.compile("^job")).click()
    page.locator(".dpx-tab-panel h3", has_text="Shape of").wait_for()


def test_the_edit_view_lists_edits_of_pairs_that_were_made_in_python(new_page, tmp_path):
    view = EditView(paired(), term="age & job")
    where = {"age": (20, 50), "job": ["nurse"]}
    view.edit_log = EditLog().edit(Set("age & job", value=0.5, where=where))
    page = new_page(offline=True)
    page.goto(view.export_html(tmp_path / "page.html", release_safe=False).as_uri())
    page.get_by_text("Only curves can be edited on this page").wait_for()
    page.get_by_text("between 20 and 50").wait_for()
    words = page.locator(".dpx-edit-history").inner_text().translate({0x2068: "", 0x2069: ""})
    assert "set: age & job for age between 20 and 50 and job nurse to 0.5" in words
    page.get_by_role("button", name="Undo", exact=True).click()
    assert page.get_by_role("button", name="Undo", exact=True).is_disabled()
    page.get_by_role("button", name="Redo", exact=True).click()

    view.term = "age"
    page.goto(view.export_html(tmp_path / "curve.html", release_safe=False).as_uri())
    page.get_by_text("edits a pair of features; view.edited shows its effect").wait_for()
    page.get_by_text("Edits of pairs of features are not included.").wait_for()


@pytest.fixture
def open_sweep(new_page, tmp_path):
    """Open a page of private models that differ in their pairs."""

    def open_sweep(**choices):
        explorer = Explorer(swept(), term="age & children", **choices)
        page = new_page(offline=True)
        page.goto(explorer.export_html(tmp_path / "page.html").as_uri())
        page.locator(".dpx-head").first.wait_for()
        return page

    return open_sweep


def test_cells_that_may_be_noise_are_hatched_and_read_with_their_band(open_sweep):
    page = open_sweep(epsilon_index=1)
    plot = page.locator(".dpx-plot[aria-roledescription='heat map']")
    plot.locator("image").wait_for()
    (pair,) = swept().explanations[1.0][0].pairs
    inside = int((~pair.signal).sum())
    assert f"{inside} of 16 may be noise" in plot.get_attribute("aria-label")
    outlines = plot.locator("path[fill^='url']").get_attribute("d")
    assert outlines.count("M") == inside
    assert "hatched: may be noise" in page.locator(".dpx-heat-scale").inner_text()

    plot.focus()
    page.keyboard.press("Home")
    words = readout(page)
    assert "outside the noise band of ±" in words
    assert "signal" in words
    assert "noisy count 400" in words
    page.keyboard.press("End")
    assert "may be all noise" in readout(page)
    assert "may be all noise" in plot.get_attribute("aria-valuetext")
    bar = page.locator(".dpx-term", has_text="age & children")
    assert "above the noise" in bar.get_attribute("aria-label")
    assert bar.locator("rect[fill^='url']").count() >= 1
    assert layout_problems(page) == []


def test_the_page_shows_the_pair_of_each_epsilon_or_says_that_there_is_none(open_sweep):
    page = open_sweep(epsilon_index=0)
    plot = page.locator(".dpx-plot[aria-roledescription='heat map']")
    page.get_by_text("The model at ε = 0.5 does not have this pair of features").wait_for()
    page.get_by_text("; models at ε = 1, 4 have it.").wait_for()
    assert plot.is_hidden()
    row = page.locator(".dpx-term", has_text="age & children")
    assert "not in this model" in row.get_attribute("aria-label")
    for expected in ("4 by 4 cells", "6 by 4 cells"):
        page.locator(".dpx-scrubber").focus()
        page.keyboard.press("ArrowRight")
        plot.locator("image").wait_for()
        settle(page)
        assert expected in plot.get_attribute("aria-label")
    for tab in ("All terms", "Disagreement", "Ranks", "One sample"):
        page.locator(".dpx-tab", has_text=tab).click()
        settle(page)
        shown = page.locator(".dpx-tab-panel").inner_text()
        assert ("education & children" in shown) is (tab != "Ranks")
        assert layout_problems(page) == []


def test_the_planner_says_what_it_does_not_know_of_a_pair(open_page):
    comparison = swept()
    everywhere = {4.0: comparison.explanations[4.0]}
    one = dataclasses.replace(comparison, epsilons=(4.0,), explanations=everywhere)
    for found, words in (
        (comparison, "age & children exists at ε = 1 and 4 only."),
        (one, "age & children above noise: not computed for a pair of features."),
    ):
        page = open_page(Explorer(found, term="age & children"), wait=".dpx-plan-term bdi")
        assert page.locator(".dpx-plan-term").inner_text() == words
