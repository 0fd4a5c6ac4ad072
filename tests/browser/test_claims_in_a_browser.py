"""Claims in the page: two bins chosen by mouse, keyboard or list, a sentence, and a strip."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import view_examples
from dpexplain.explain import claim_strip
from dpexplain_widgets import Explorer
from example_explanations import at
from page_checks import plain, words_of

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(joint=True)


PEOPLE = pd.DataFrame(
    {
        "age": [25.0, 52.0], "years married": [1.0, 22.0], "capital gain": [0.0, 7000.0],
        "rating of the marriage": ["very good", "poor"], "occupation": ["student", "white-collar"],
        "children": ["no", "yes"], "education": [12.0, 18.0],
    }
)  # fmt: skip


def states_of(page) -> list[str]:
    cells = page.locator(".dpx-claim-cell")
    return [cells.nth(k).get_attribute("data-state") for k in range(cells.count())]


def first_words(page) -> str:
    return words_of(page.locator(".dpx-main .dpx-claim-words").first)


def claims_as(page, strip) -> None:
    """Check that the page states Python's claim, up to the rounding of its numbers."""
    assert first_words(page).split(":")[0] == strip.asked.words.split(":")[0]
    assert states_of(page) == [state.replace(" ", "-") for state in strip.states]
    assert strip.strip_words in words_of(page.locator(".dpx-claim").first)


def bins_of(comparison, term: str, named: str, place: int) -> tuple[int, int]:
    """Return the first and last bin of a range of numbers, such as "24 – 35"."""
    low, high = named.split(" – ")
    labels = comparison.explanations[comparison.epsilons[place]][0][term].bin_labels
    (first,) = [k for k, label in enumerate(labels) if label.startswith(f"{low} – ")]
    (last,) = [k for k, label in enumerate(labels) if label.endswith(f" – {high}")]
    return first, last


def test_control_and_click_compare_two_bins_and_the_strip_says_where_it_holds(
    comparison, open_page, pictures
):
    page = open_page(Explorer(comparison, term="age", epsilon_index=4), width=1366)
    plot = page.locator(".dpx-shape .dpx-plot")
    box = plot.bounding_box()
    plot.click(position={"x": 0.15 * box["width"], "y": 120})
    plot.click(position={"x": 0.55 * box["width"], "y": 120}, modifiers=["Control"])
    other = int(page.get_by_label("Compare with", exact=True).input_value())
    one = int(plot.get_attribute("aria-valuenow")) - 1
    claims_as(page, claim_strip(comparison, "age", *at(one, other), epsilon=comparison.epsilons[4]))
    page.screenshot(path=pictures / "claim-1366.png", full_page=True)

    page.locator(".dpx-claim-cell").nth(0).click()
    page.locator(".dpx-epsilon", has_text=f"ε = {comparison.epsilons[0]:g}").wait_for()
    assert first_words(page).startswith("At ε = 0.25")


def test_keys_alone_make_a_claim_about_categories_in_the_dark_on_a_phone(
    comparison, open_page, pictures
):
    page = open_page(
        Explorer(comparison, term="occupation", epsilon_index=4), width=380, color_scheme="dark"
    )
    page.locator(".dpx-shape .dpx-plot").focus()
    for key in ("Home", "c", "ArrowDown"):
        page.keyboard.press(key)
    claims_as(
        page, claim_strip(comparison, "occupation", *at(1, 0), epsilon=comparison.epsilons[4])
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    cells = page.locator(".dpx-claim-cell")
    assert min(cells.nth(k).bounding_box()["height"] for k in range(cells.count())) >= 40
    page.locator(".dpx-claim").scroll_into_view_if_needed()
    page.screenshot(path=pictures / "claim-380-dark.png")


def test_the_list_takes_a_bin_back_and_the_reference_makes_no_claim(comparison, open_page):
    page = open_page(Explorer(comparison, term="age", bin_index=3, second_bin=9, epsilon_index=4))
    assert "than records with" in first_words(page)
    page.get_by_label("Compare with", exact=True).select_option("")
    assert "than the average" in first_words(page)
    page.get_by_label("Compare with", exact=True).select_option("9")
    assert "than records with" in first_words(page)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("End")
    assert "choose an ε" in first_words(page)
    assert not page.locator(".dpx-claim-strip").is_visible()
    assert page.get_by_text("Add to figure").is_hidden()


# Each task below is a question that a reader asks, answered in at most three interactions.


def test_a_range_against_the_rest_is_one_drag(comparison, open_page, pictures):
    """Do people in their thirties differ from all others?"""
    page = open_page(Explorer(comparison, term="age", epsilon_index=3), width=1366)
    box = page.locator(".dpx-shape .dpx-plot").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 120)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 140, steps=4)
    page.mouse.up()
    named = re.search(r"age = (.+?) have", first_words(page))[1]
    ends = bins_of(comparison, "age", named, 3)
    claims_as(page, claim_strip(comparison, "age", *at(ends), epsilon=comparison.epsilons[3]))
    assert "is in any other bin" in words_of(page.locator(".dpx-claim"))
    page.screenshot(path=pictures / "range-1366.png", full_page=True)


def test_a_range_against_the_rest_is_two_keys(comparison, open_page):
    """Are the oldest different? Home and End with Shift reach the ends of the axis."""
    page = open_page(Explorer(comparison, term="education", epsilon_index=5))
    page.locator(".dpx-shape .dpx-plot").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    claims_as(
        page, claim_strip(comparison, "education", *at((0, 1)), epsilon=comparison.epsilons[5])
    )


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_two_ranges_are_compared_by_two_drags_or_a_few_keys(comparison, open_page, pictures, by):
    """Do people with little education differ from those with much?"""
    dark = by == "keys"
    page = open_page(
        Explorer(comparison, term="education", epsilon_index=4),
        width=380 if dark else 1366, color_scheme="dark" if dark else "light",
    )  # fmt: skip
    plot = page.locator(".dpx-shape .dpx-plot")
    count = int(plot.get_attribute("aria-valuemax"))
    compared = page.get_by_label("Compare with", exact=True)
    if by == "mouse":
        box = plot.bounding_box()
        for low, high, key in ((0.15, 0.35, None), (0.6, 0.9, "Control")):
            if key:
                page.keyboard.down(key)
            page.mouse.move(box["x"] + low * box["width"], box["y"] + 120)
            page.mouse.down()
            page.mouse.move(box["x"] + high * box["width"], box["y"] + 140, steps=4)
            page.mouse.up()
            if key:
                page.keyboard.up(key)
    else:
        plot.focus()
        keys = ["End", "Shift+ArrowLeft", "Shift+ArrowLeft", "c"]
        for key in [*keys, "Home", "Shift+ArrowRight"]:
            page.keyboard.press(key)
            if key == "c":
                assert "no bin in common" in first_words(page)
    second = tuple(map(int, compared.input_value().split(",")))
    named = re.search(r"education = (.+?) have", first_words(page))[1]
    first = bins_of(comparison, "education", named, 4)
    strip = claim_strip(comparison, "education", *at(first, second), epsilon=comparison.epsilons[4])
    claims_as(page, strip)
    assert words_of(page.locator(".dpx-main .dpx-claim-words").nth(1)).startswith("Of ")
    if by == "keys":
        assert second == (count - 3, count - 2)  # a range leaves out "missing"
    page.locator(".dpx-shape").scroll_into_view_if_needed()
    page.screenshot(path=pictures / f"ranges-{by}.png", full_page=True)
    assert page.locator(".dpx-shape .dpx-column-second").count() == 1
    compared.select_option("")
    epsilon = comparison.epsilons[4]
    claims_as(page, claim_strip(comparison, "education", *at(first), epsilon=epsilon))


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_the_sign_of_one_category_is_one_click_or_key(comparison, open_page, by):
    """Do people with children have higher odds than the average?"""
    page = open_page(Explorer(comparison, term="children", epsilon_index=4))
    plot = page.locator(".dpx-shape .dpx-plot")
    if by == "mouse":
        plot.click(position={"x": 200, "y": 70})
    else:
        plot.focus()
        page.keyboard.press("Home")
    claims_as(page, claim_strip(comparison, "children", *at(0), epsilon=comparison.epsilons[4]))


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_the_rank_of_a_term_is_read_when_it_is_chosen(comparison, open_page, by):
    """Is the rating of the marriage really more important than the years?"""
    page = open_page(Explorer(comparison, term="age", epsilon_index=5))
    terms = page.locator(".dpx-terms")
    if by == "mouse":
        terms.get_by_text("rating of the marriage").first.click()
        name = "rating of the marriage"
    else:
        terms.locator("[tabindex='0']").focus()
        page.keyboard.press("ArrowDown")
        name = page.locator(".dpx-shape h3 bdi").text_content()
    claims_as(page, claim_strip(comparison, name, epsilon=comparison.epsilons[5]))


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_a_decision_about_a_person_takes_a_tab_a_sample_and_a_threshold(
    comparison, open_page, pictures, by
):
    """Is this person above 30% for certain, and from which ε?"""
    page = open_page(
        Explorer(comparison, epsilon_index=4, samples=PEOPLE, samples_public=True),
        width=1366, color_scheme="dark" if by == "keys" else "light",
    )  # fmt: skip
    if by == "mouse":
        page.get_by_role("tab", name="One sample").click()
    else:
        page.get_by_role("tab", name="Shape").focus()
        page.keyboard.press("End")
    page.get_by_label("Sample", exact=True).select_option("1")
    page.get_by_label("Threshold", exact=True).fill("0.3")
    page.get_by_label("Threshold", exact=True).press("Enter")
    epsilon = comparison.epsilons[4]
    asked = {"record": PEOPLE.iloc[[1]], "threshold": 0.3, "epsilon": epsilon}
    claims_as(page, claim_strip(comparison, samples_public=True, **asked))
    page.screenshot(path=pictures / f"decision-1366-{by}.png", full_page=True)


def test_two_curves_at_two_epsilons_are_one_sheet(comparison, open_page, pictures, tmp_path):
    """Send one sheet with what holds about age at ε = 1 and at ε = 8, and about occupation."""
    page = open_page(Explorer(comparison, term="age", bin_index=3, epsilon_index=2), width=1366)
    add = page.get_by_role("button", name="Add to figure")
    add.click()
    page.locator(".dpx-claim-cell").nth(5).click()
    add.click()
    page.locator(".dpx-terms").get_by_text("occupation").first.click()
    add.click()
    figure = page.locator(".dpx-figure")
    assert figure.locator(".dpx-figure-item").count() == 3
    figure.scroll_into_view_if_needed()
    page.screenshot(path=pictures / "figure-1366.png", full_page=True)
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save figure as SVG").click()
    saved.value.save_as(pictures / "figure.svg")
    text = (pictures / "figure.svg").read_text(encoding="utf-8")
    whole = " ".join(part.strip() for part in re.findall(r"<text[^>]*>([^<]*)</text>", text))
    assert "reference" not in whole
    assert "releasable" not in whole
    assert whole.count("add/remove adjacency") >= 3
    assert re.search(r"\d{4}-\d\d-\d\d", whole)
    assert "At ε = 1," in plain(whole)
    assert "At ε = 8," in plain(whole)
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save figure as PNG").click()
    assert saved.value.suggested_filename == "figure.png"
    saved.value.save_as(pictures / "figure.png")
    figure.get_by_role("button", name="Clear figure").click()
    assert figure.is_hidden()


def test_a_figure_takes_no_record_that_is_not_public(comparison, open_page, pictures):
    page = open_page(
        Explorer(comparison, epsilon_index=4, tab="local", samples=PEOPLE, sample=0), width=380
    )
    page.get_by_role("button", name="Add to figure").click()
    assert page.locator(".dpx-figure").is_hidden()
    assert "not marked as public" in words_of(page.locator(".dpx-claim"))
    page.get_by_label("Sample", exact=True).select_option("")
    page.get_by_role("button", name="Add to figure").click()
    assert page.locator(".dpx-figure .dpx-figure-item").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.screenshot(path=pictures / "figure-380.png", full_page=True)
