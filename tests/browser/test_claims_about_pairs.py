"""Claims about a heat map in the page: cells and regions by mouse and keys, and a figure."""

from __future__ import annotations

import re

import pytest

from dpexplain.explain import claim_strip
from dpexplain_widgets import Explorer
from page_checks import layout_problems, words_of
from pair_examples import swept

pytestmark = [pytest.mark.browser, pytest.mark.full]
NAME = "age & children"


@pytest.fixture(scope="module")
def comparison():
    return swept()


def said(page) -> str:
    return words_of(page.locator(".dpx-main .dpx-claim-words").first)


def claims_as(page, strip) -> None:
    assert said(page).split(":")[0] == strip.asked.words.split(":")[0]
    cells = page.locator(".dpx-claim-cell")
    states = [cells.nth(k).get_attribute("data-state") for k in range(cells.count())]
    assert states == [state.replace(" ", "-") for state in strip.states]


def cell_at(page, row, column):
    """Return the middle of a cell of the 6 × 4 grid, in page coordinates."""
    box = page.locator(".dpx-plot image").bounding_box()
    return box["x"] + (column + 0.5) * box["width"] / 4, box["y"] + (5.5 - row) * box["height"] / 6


def test_two_cells_are_compared_by_clicks(comparison, open_page, pictures):
    page = open_page(Explorer(comparison, term=NAME, epsilon_index=2), width=1366)
    assert "Choose a cell" in said(page)
    page.mouse.click(*cell_at(page, 0, 0))
    claims_as(page, claim_strip(comparison, NAME, 0, epsilon=4.0))
    page.keyboard.down("Control")
    page.mouse.click(*cell_at(page, 4, 1))
    page.keyboard.up("Control")
    claims_as(page, claim_strip(comparison, NAME, 0, 17, epsilon=4.0))
    assert "follows from the band of all cells" in words_of(page.locator(".dpx-claim"))
    assert layout_problems(page) == []
    page.screenshot(path=pictures / "pair-1366.png", full_page=True)


def test_a_region_is_one_drag_and_goes_into_a_figure(comparison, open_page, pictures):
    page = open_page(Explorer(comparison, term=NAME, epsilon_index=2), width=1366)
    page.mouse.move(*cell_at(page, 0, 0))
    page.mouse.down()
    page.mouse.move(*cell_at(page, 1, 1), steps=4)
    page.mouse.up()
    claims_as(page, claim_strip(comparison, NAME, (0, 5), epsilon=4.0))
    page.get_by_role("button", name="Add to figure").click()
    assert page.locator(".dpx-figure .dpx-figure-item").count() == 1
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save figure as SVG").click()
    saved.value.save_as(pictures / "pair-figure.svg")
    text = (pictures / "pair-figure.svg").read_text(encoding="utf-8")
    assert "beyond what" in " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    assert "<image" in text


def test_keys_choose_a_region_and_a_second_cell_on_a_phone_in_the_dark(comparison, open_page):
    page = open_page(
        Explorer(comparison, term=NAME, epsilon_index=2), width=380, color_scheme="dark"
    )
    page.locator(".dpx-plot").focus()
    for key in ("Home", "Shift+ArrowUp", "Shift+ArrowRight"):
        page.keyboard.press(key)
    claims_as(page, claim_strip(comparison, NAME, (0, 5), epsilon=4.0))
    for key in ("Home", "c", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    claims_as(page, claim_strip(comparison, NAME, 12, 4, epsilon=4.0))
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_the_strip_leads_to_a_fit_without_the_pair_which_makes_no_claim(comparison, open_page):
    page = open_page(Explorer(comparison, term=NAME, bin_index=0, epsilon_index=2))
    page.locator(".dpx-claim-cell").nth(0).click()
    assert "does not have this pair" in words_of(page.locator(".dpx-main"))
    assert page.locator(".dpx-claim").is_hidden()
