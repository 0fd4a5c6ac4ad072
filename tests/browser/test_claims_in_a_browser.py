"""Claims in the page: two bins chosen by mouse, keyboard or list, a sentence, and a strip."""

from __future__ import annotations

import pytest

import view_examples
from dpexplain.explain import claim_strip
from dpexplain_widgets import Explorer

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(joint=True)


def words_of(part) -> str:
    return part.text_content().replace("\u2068", "").replace("\u2069", "").replace("−", "-")


def states_of(page) -> list[str]:
    cells = page.locator(".dpx-claim-cell")
    return [cells.nth(k).get_attribute("data-state") for k in range(cells.count())]


def test_control_and_click_compare_two_bins_and_the_strip_says_where_it_holds(
    comparison, open_page, pictures
):
    page = open_page(Explorer(comparison, term="age", epsilon_index=4), width=1366)
    plot = page.locator(".dpx-shape .dpx-plot")
    assert not page.locator(".dpx-claim").is_visible()
    box = plot.bounding_box()
    plot.click(position={"x": 0.15 * box["width"], "y": 120})
    assert "Can I say this?" in words_of(page.locator(".dpx-claim-words"))
    plot.click(position={"x": 0.55 * box["width"], "y": 120}, modifiers=["Control"])
    other = int(page.get_by_label("Compare with", exact=True).input_value())
    one = int(plot.get_attribute("aria-valuenow")) - 1
    strip = claim_strip(comparison, "age", one, other, epsilon=comparison.epsilons[4])
    said = words_of(page.locator(".dpx-claim-words"))
    assert said.split(":")[0] == strip.asked.words.split(":")[0]
    assert states_of(page) == [state.replace(" ", "-") for state in strip.states]
    assert strip.strip_words in words_of(page.locator(".dpx-claim"))
    page.screenshot(path=pictures / "claim-1366.png", full_page=True)

    page.locator(".dpx-claim-cell").nth(0).click()
    page.locator(".dpx-epsilon", has_text=f"ε = {comparison.epsilons[0]:g}").wait_for()
    assert words_of(page.locator(".dpx-claim-words")).startswith("At ε = 0.25")


def test_keys_alone_make_a_claim_about_categories_in_the_dark_on_a_phone(
    comparison, open_page, pictures
):
    page = open_page(
        Explorer(comparison, term="occupation", epsilon_index=4), width=380, color_scheme="dark"
    )
    page.locator(".dpx-shape .dpx-plot").focus()
    for key in ("Home", "c", "ArrowDown"):
        page.keyboard.press(key)
    strip = claim_strip(comparison, "occupation", 1, 0, epsilon=comparison.epsilons[4])
    said = words_of(page.locator(".dpx-claim-words"))
    assert said.split(":")[0].startswith(strip.asked.words.split(" have ")[0][:60])
    assert states_of(page) == [state.replace(" ", "-") for state in strip.states]
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    cells = page.locator(".dpx-claim-cell")
    assert min(cells.nth(k).bounding_box()["height"] for k in range(cells.count())) >= 40
    page.locator(".dpx-claim").scroll_into_view_if_needed()
    page.screenshot(path=pictures / "claim-380-dark.png")


def test_the_list_takes_a_bin_back_and_the_reference_makes_no_claim(comparison, open_page):
    page = open_page(Explorer(comparison, term="age", bin_index=3, second_bin=9, epsilon_index=4))
    assert page.locator(".dpx-claim-strip").is_visible()
    page.get_by_label("Compare with", exact=True).select_option("")
    assert not page.locator(".dpx-claim-strip").is_visible()
    page.get_by_label("Compare with", exact=True).select_option("9")
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("End")
    assert "choose an ε" in words_of(page.locator(".dpx-claim-words"))
