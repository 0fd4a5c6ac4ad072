"""The figure of a page: charts with claims about ranges, saved as one sheet."""

from __future__ import annotations

import pytest

import view_examples
from dpexplain.explain import claim_strip
from dpexplain_widgets import Explorer
from example_explanations import at
from page_checks import plain

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(joint=True)


@pytest.mark.parametrize(("width", "scheme"), [(1366, "light"), (380, "dark")])
def test_every_claim_about_two_ranges_has_a_chart_that_marks_them(
    comparison, open_page, new_page, pictures, width, scheme
):
    view = Explorer(
        comparison, term="age", bin_range=[2, 5], second_range=[14, 19], epsilon_index=4
    )
    page = open_page(view, width=width, color_scheme=scheme)
    add = page.get_by_role("button", name="Add to figure")
    add.click()
    add.click()  # the same claim once more
    plot = page.locator(".dpx-shape .dpx-plot")
    plot.focus()
    for key in ("Home", "Shift+ArrowRight"):
        page.keyboard.press(key)
    add.click()
    page.locator(".dpx-claim-cell").nth(5).click()
    add.click()

    figure = page.locator(".dpx-figure")
    asked = [((2, 5), 4), ((0, 1), 4), ((0, 1), 5)]
    items = figure.locator(".dpx-figure-item")
    assert items.count() == len(asked)
    lefts = []
    for k, (ends, place) in enumerate(asked):
        strip = claim_strip(
            comparison, "age", *at(ends, (14, 19)), epsilon=comparison.epsilons[place]
        )
        words = plain(items.nth(k).locator(".dpx-claim-words").first.text_content())
        assert words.split(":")[0] == strip.asked.words.split(":")[0]
        assert strip.strip_words in plain(items.nth(k).text_content())
        marks = items.nth(k).locator(".dpx-column-range, .dpx-column-second")
        assert marks.count() == 2
        lefts.append([marks.nth(m).get_attribute("x") for m in range(2)])
    assert lefts[0] != lefts[1] == lefts[2]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figure.scroll_into_view_if_needed()
    page.screenshot(path=pictures / f"ranges-of-a-figure-{width}.png", full_page=True)

    files = {}
    for ending in ("html", "svg", "png"):
        with page.expect_download() as saved:
            figure.get_by_role("button", name=f"Save figure as {ending.upper()}").click()
        assert saved.value.suggested_filename == f"figure.{ending}"
        files[ending] = pictures / f"ranges-{width}.saved.{ending}"
        saved.value.save_as(files[ending])
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    text = plain(files["svg"].read_text(encoding="utf-8"))
    sheet = new_page(width=width, offline=True)
    sheet.goto(files["html"].as_uri())
    assert sheet.title() == "Figure"
    for shown in (text, plain(sheet.locator("svg").first.text_content())):
        assert shown.count("add/remove adjacency") == len(asked)
        assert "reference" not in shown
    sheet.screenshot(path=pictures / f"ranges-page-{width}.png", full_page=True)
