"""axe-core finds no problems on light or dark pages in any tab; printing shows all."""

from __future__ import annotations

from functools import partial

import pytest

import axe
import view_examples
from dpexplain_widgets import Explorer
from page_checks import settle
from pair_examples import swept

pytestmark = [pytest.mark.browser, pytest.mark.full]

# A page of ours is one part of a document of others, which has headings and landmarks of its own.
violations = partial(axe.violations, selector=".dpx", without=("page-has-heading-one", "region"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_part_of_the_explorer(open_page, scheme):
    source = view_examples.comparison(n_repeats=2)
    page = open_page(
        Explorer(source, term="age", epsilon_index=1), color_scheme=scheme, bypass_csp=True
    )
    assert violations(page) == []
    for tab in page.get_by_role("tab").all():
        tab.click()
        settle(page)
        assert violations(page) == []
    for summary in page.locator(".dpx summary:visible").all():
        summary.click()
    assert violations(page) == []


def test_axe_finds_nothing_in_claims_about_extremes_pairs_and_people(open_page):
    people = {"samples": view_examples.survey_people(30), "samples_public": False}
    source = swept()
    page = open_page(
        Explorer(source, term="age", extreme="highest", epsilon_index=2, **people), bypass_csp=True
    )
    assert page.get_by_text("the highest").first.is_visible()
    assert violations(page) == []
    page.locator(".dpx-terms").get_by_text("age & children", exact=True).first.click()
    page.locator(".dpx-plot").focus()
    for key in ("Home", "Shift+ArrowUp", "c", "ArrowRight"):
        page.keyboard.press(key)
    settle(page)
    assert violations(page) == []
    page.get_by_role("tab", name="One sample").click()
    page.get_by_text("All samples: which decisions are certain?").click()
    page.get_by_role("button", name="certainty").click()
    settle(page)
    assert violations(page) == []


def test_axe_sees_a_planted_fault(open_page, survey):
    page = open_page(survey, bypass_csp=True)
    page.evaluate("document.querySelector('.dpx-scrubber').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.dpx-note').style.color = '#bbbbbb'")

    assert {each.split(":")[0] for each in violations(page)} >= {"color-contrast"}


def test_what_is_printed_is_light_whole_and_without_buttons(open_page, survey, pictures):
    page = open_page(survey, color_scheme="dark")
    page.emulate_media(media="print")
    settle(page)

    assert page.locator(".dpx-save, .dpx-button").locator("visible=true").count() == 0
    terms = page.locator(".dpx-terms")
    assert terms.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
    ground = page.locator(".dpx-panel").evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    page.screenshot(path=pictures / "print.png", full_page=True)
