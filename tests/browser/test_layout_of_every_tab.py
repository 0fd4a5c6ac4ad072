"""Every tab at three widths, in light and dark: nothing is cut, small or overlapping.

``DPEXPLAIN_PICTURES=folder`` keeps the screenshots of this review.
"""

from __future__ import annotations

import pytest

import view_examples
from dpexplain_widgets import Explorer
from example_filters import filter_comparison, picture_comparison, some_pictures
from page_checks import layout_problems, settle
from pair_examples import swept

pytestmark = [pytest.mark.browser, pytest.mark.full]

TABS = ("Shape", "Edit", "All terms", "Disagreement", "Ranks", "One sample")
REVIEWED = pytest.mark.parametrize(
    ("width", "scheme"), [(w, s) for w in (380, 1024, 1400) for s in ("light", "dark")]
)


@pytest.fixture
def review(pictures):
    """Take a picture of a page, and record its faults; any fault fails the test at its end."""
    faults = {}

    def look(page, name):
        page.evaluate("scrollTo(0, 0)")  # below, the bar at the top would be over the rest
        settle(page)
        page.screenshot(path=pictures / f"{name}.png", full_page=True)
        faults[name] = layout_problems(page)

    yield look
    assert {name: found for name, found in faults.items() if found} == {}


@pytest.fixture
def survey_view():
    people = view_examples.survey_people(12)
    source = view_examples.comparison(joint=True)
    return Explorer(source, people, samples_public=True, term="age", epsilon_index=2)


@REVIEWED
def test_every_tab_of_curves_is_laid_out_without_fault(
    open_page, review, survey_view, width, scheme
):
    page = open_page(survey_view, width=width, color_scheme=scheme)
    assert page.get_by_role("tab").all_inner_texts() == list(TABS)
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        review(page, f"{tab.replace(' ', '-').lower()}-{width}-{scheme}")
    page.get_by_text("All samples").click()
    review(page, f"all-samples-{width}-{scheme}")
    page.locator(".dpx-term", has_text="occupation").click()
    for tab in ("Shape", "Edit"):
        page.get_by_role("tab", name=tab, exact=True).click()
        review(page, f"{tab.lower()}-of-categories-{width}-{scheme}")


@REVIEWED
def test_pairs_and_filters_are_laid_out_without_fault(open_page, review, width, scheme):
    page = open_page(Explorer(swept(), term="age & children"), width=width, color_scheme=scheme)
    review(page, f"pair-{width}-{scheme}")
    choices = {"shown_map": "filter", "filter_class": "class 1", "against_filter": 3}
    drawn = Explorer(
        picture_comparison(), some_pictures(), samples_public=True, pinned_epsilon=2.0, **choices
    )
    page = open_page(drawn, width=width, color_scheme=scheme)
    review(page, f"filters-{width}-{scheme}")
    table = Explorer(filter_comparison(), [[30, "clerk"], [80, "cook"]], samples_public=True)
    page = open_page(table, width=width, color_scheme=scheme)
    review(page, f"filters-of-a-table-{width}-{scheme}")
