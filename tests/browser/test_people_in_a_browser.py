"""A table of people in the page: sorted, pointed at, and marked if they are not public."""

from __future__ import annotations

import re

import numpy as np
import pytest

import view_examples
from dpexplain.explain import decisions
from dpexplain_widgets import Explorer
from page_checks import layout_problems
from view_examples import survey_people as people

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(joint=True)


@pytest.fixture
def table_of(comparison, open_page):
    """Open a page on the table of people."""

    def table_of(*, public, **options):
        view = Explorer(
            comparison, epsilon_index=3, samples=people(130), samples_public=public, tab="local"
        )
        page = open_page(view, **options)
        page.get_by_text("All samples: which decisions are certain?").click()
        return page, page.locator(".dpx-people")

    return table_of


def column(table, k):
    return [each.strip() for each in table.locator(f"tbody tr > :nth-child({k})").all_inner_texts()]


def test_people_are_sorted_by_certainty_and_by_how_many_fits_agree(comparison, table_of, pictures):
    page, table = table_of(public=True, width=1366)
    wanted = decisions(comparison, people(130), epsilon=comparison.epsilons[3], samples_public=True)
    assert table.locator("tbody tr").count() == 100
    table.get_by_role("button", name="certainty").click()
    of_python = wanted["certainty"].set_axis([str(each) for each in wanted.index])
    shown = of_python[column(table, 1)].to_numpy()
    assert shown == pytest.approx(np.sort(of_python)[:100], abs=2e-3)  # a page rounds its numbers
    assert shown[0] < 0.6 < shown[-1]
    assert table.locator("th[aria-sort=ascending]").inner_text() == "certainty"
    page.screenshot(path=pictures / "people-1366.png", full_page=True)
    table.get_by_role("button", name="same in fits").click()
    fewest = sorted(wanted["same_fits"])[:100]
    assert [int(text.split()[0]) for text in column(table, 7)] == pytest.approx(fewest, abs=1)
    table.get_by_role("button", name="same in fits").click()
    assert column(table, 7)[0].startswith(str(wanted["same_fits"].max()))
    assert "NOT PRIVATE" not in page.locator(".dpx-main").inner_text()


def test_a_person_is_opened_from_the_table_and_shown_over_epsilon(table_of):
    page, table = table_of(public=True)
    name = column(table, 1)[4]
    table.get_by_role("button", name=name, exact=True).click()
    assert page.get_by_label("Sample", exact=True).input_value() == "4"
    assert table.locator("tr[aria-current=true] th").inner_text() == name
    words = page.locator(".dpx-prediction").get_attribute("aria-label")
    assert len(re.findall(r"95% between", words)) == 6
    assert words.endswith("compared with 0.5")


def test_people_who_are_not_public_are_marked_and_stay_out_of_pictures(table_of, pictures):
    page, table = table_of(public=False, width=380, color_scheme="dark")
    assert page.get_by_text("NOT PRIVATE: these samples are not marked as public").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert layout_problems(page) == []
    page.locator(".dpx-people").scroll_into_view_if_needed()
    page.screenshot(path=pictures / "people-380-dark.png")
    name = column(table, 1)[2]
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG", exact=True).click()
    saved.value.save_as(pictures / "local.svg")
    text = (pictures / "local.svg").read_text(encoding="utf-8")
    assert f">{name}<" not in text
    assert "same in reruns" not in text


def test_without_a_threshold_a_regression_says_what_is_missing(open_page):
    source = view_examples.comparison(joint=True, classes=None)
    page = open_page(Explorer(source, samples=people(5), samples_public=True, tab="local"))
    page.get_by_text("All samples: which decisions are certain?").click()
    page.get_by_text("Decisions need a threshold").wait_for()
    page.get_by_label("Threshold", exact=True).fill("0.1")
    page.get_by_label("Threshold", exact=True).press("Enter")
    assert page.locator(".dpx-people tbody tr").count() == 5
