"""Claims about regions of single filters, by pointer and keys, in strips and in a figure."""

from __future__ import annotations

import pytest

import example_filters
from dpexplain.explain import filter_claim_strip
from dpexplain_widgets import Explorer
from page_checks import plain

pytestmark = [pytest.mark.browser, pytest.mark.full]

SIDE = 6


@pytest.fixture(scope="module")
def comparison():
    return example_filters.picture_comparison(side=SIDE).matched()


def stage_of(page):
    return page.locator(".dpx-filter-main .dpx-picture-stage").first


def claims_as(page, strip) -> None:
    claim = page.locator(".dpx-filter .dpx-claim")
    words = plain(claim.locator(".dpx-claim-words").first.text_content())
    assert words == strip.asked.words
    cells = claim.locator(".dpx-claim-cell")
    states = [cells.nth(k).get_attribute("data-state") for k in range(cells.count())]
    assert states == [state.replace(" ", "-") for state in strip.states]
    assert strip.strip_words in plain(claim.text_content())


def test_a_drag_over_a_filter_claims_its_mean_weight(comparison, open_page, pictures):
    names = comparison.first.classes
    view = Explorer(comparison, shown_map="filter", filter_class=names[1], filter_index=2)
    view.epsilon_index = 1
    page = open_page(view, width=1366)
    box = stage_of(page).bounding_box()

    def pixel(row, column):
        return (
            box["x"] + (column + 0.5) * box["width"] / SIDE,
            box["y"] + (row + 0.5) * box["height"] / SIDE,
        )

    page.mouse.move(*pixel(1, 2))
    page.mouse.down()
    page.mouse.move(*pixel(3, 4), steps=5)
    page.mouse.up()
    epsilon = comparison.epsilons[1]
    asked = {"region": ((1, 3), (2, 4)), "place": 2, "epsilon": epsilon}
    claims_as(page, filter_claim_strip(comparison, names[1], **asked))
    page.screenshot(path=pictures / "filter-claim-1366.png", full_page=True)

    # Ctrl-click another filter to subtract it.
    tile = page.locator(".dpx-filter-tile[data-filter='0']")
    tile.click(modifiers=["Control"])
    claims_as(
        page,
        filter_claim_strip(comparison, names[1], **asked, against=names[1], against_place=0),
    )


def test_keys_alone_claim_a_region_of_a_filter_and_put_it_on_a_sheet(
    comparison, open_page, pictures
):
    names = comparison.first.classes
    view = Explorer(comparison, shown_map="filter", filter_class=names[0], filter_index=1)
    view.epsilon_index = 2
    page = open_page(view, width=380, color_scheme="dark")
    stage_of(page).focus()
    for key in ("Home", "ArrowDown", "Shift+ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    strip = filter_claim_strip(comparison, names[0], ((1, 2), (0, 2)), place=1)
    claims_as(page, strip)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("button", name="Add to figure").press("Enter")
    figure = page.locator(".dpx-figure")
    item = figure.locator(".dpx-figure-item")
    assert item.count() == 1
    assert "filter 1 of" in plain(item.locator("h4").text_content())
    assert strip.asked.words in plain(item.text_content())
    page.screenshot(path=pictures / "filter-claim-380-dark.png", full_page=True)
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save figure as SVG").press("Enter")
    saved.value.save_as(pictures / "filter-claim.svg")
    assert "<image" in (pictures / "filter-claim.svg").read_text(encoding="utf-8")

    stage_of(page).focus()
    page.locator(".dpx-scrubber").press("End")
    assert "choose an ε" in page.locator(".dpx-filter .dpx-claim-words").first.text_content()
