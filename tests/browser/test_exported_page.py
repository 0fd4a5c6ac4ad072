"""An exported page: opened from disk without a network, by keyboard, and without scripts."""

from __future__ import annotations

import os

import pytest

import view_examples
from dpexplain import DPExplainableBoostingClassifier, sweep
from dpexplain.datasets import load_adult
from dpexplain_widgets import Explorer, LedgerView, write_page
from page_checks import curve_of, layout_problems, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

SIZE_LIMIT = 150_000
ADULT_LIMIT = 160_000
SEVEN = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@pytest.fixture
def open_export(new_page, tmp_path):
    """Open an exported page offline, and record its requests."""

    def open_export(path, **options):
        page = new_page(offline=True, **options)
        asked = []
        page.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
        page.goto(path.as_uri())
        return page, asked

    return open_export


@pytest.fixture
def exported(tmp_path):
    comparison = view_examples.comparison(n_repeats=2)
    return Explorer(comparison, term="age", epsilon_index=1).export_html(tmp_path / "page.html")


def test_a_page_of_14_features_and_7_epsilons_is_small(tmp_path):
    terms = view_examples.wide_terms(14, 12)
    path = write_page(view_examples.comparison(terms, SEVEN), tmp_path / "page.html")

    assert path.stat().st_size < SIZE_LIMIT


@pytest.mark.skipif("DPEXPLAIN_DATA" not in os.environ, reason="set DPEXPLAIN_DATA to the data")
def test_a_page_of_adult_is_small(tmp_path):
    adult = load_adult()
    model = DPExplainableBoostingClassifier(schema=adult.schema)
    # A page shows nothing of a reference, whose fit takes as long as all others.
    comparison = sweep(model, adult.X, adult.y, SEVEN, reference=False, progress=False)
    path = write_page(comparison, tmp_path / "page.html")

    assert path.stat().st_size <= ADULT_LIMIT


def test_an_exported_page_asks_nobody_and_is_used_by_keyboard(exported, open_export):
    page, asked = open_export(exported)
    page.locator(".dpx-plot .dpx-curve-main").first.wait_for()
    assert asked == [exported.as_uri()]

    seen = set()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    for epsilon in ("0.25", "0.5", "1", "2", "4", "8"):
        assert page.locator(".dpx-epsilon").inner_text() == f"ε = {epsilon}"
        seen.add(curve_of(page))
        page.keyboard.press("ArrowRight")
    assert len(seen) == 6
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 8"

    page.locator(".dpx-terms [tabindex='0']").focus()
    page.keyboard.press("End")
    page.locator(".dpx-plot").focus()
    page.keyboard.press("Home")
    settle(page)
    assert "noisy count" in page.locator(".dpx-readout").inner_text()


def test_an_exported_page_shows_nothing_of_the_reference(exported, open_export):
    page, _ = open_export(exported)
    page.locator(".dpx-plot .dpx-curve-main").first.wait_for()

    assert page.locator("[class*=reference]:visible, .dpx-watermark").count() == 0
    assert page.get_by_label("Show non-private reference").is_hidden()
    assert "AUROC" not in page.locator("body").inner_text()
    assert layout_problems(page) == []


def test_the_privacy_statement_is_on_the_page(exported, open_export):
    page, _ = open_export(exported)
    page.locator(".dpx-plot svg").first.wait_for()
    page.locator("summary", has_text="Privacy statement").click()

    assert page.get_by_text("Promised for everything fitted").is_visible()
    assert not page.locator("#dpx-static").is_visible()


def test_without_scripts_a_picture_is_shown(exported, open_export):
    page, asked = open_export(exported, java_script_enabled=False)

    assert asked == [exported.as_uri()]
    picture = page.locator("#dpx-static svg")
    assert picture.is_visible()
    assert "(0.5, 1e-06)-DP" in picture.text_content()
    assert page.locator("noscript p").is_visible()


def test_a_browser_that_cannot_unfold_the_page_shows_the_picture(exported, open_export, new_page):
    page = new_page(offline=True)
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(exported.as_uri())

    page.get_by_text("This browser is too old").wait_for()
    assert page.locator("#dpx-static svg").is_visible()


def test_every_view_has_a_page_of_its_own(tmp_path, open_export):
    import dpexplain_widgets

    comparison = view_examples.comparison()
    for name in view_examples.view_names():
        view = getattr(dpexplain_widgets, name)(comparison)
        page, _ = open_export(view.export_html(tmp_path / f"{name}.html"))
        page.locator(".dpx .dpx-head").first.wait_for()
        assert page.locator(".dpx").count() == 1


def test_a_ledger_alone_has_a_page(tmp_path, open_export):
    ledger = view_examples.comparison().ledger
    page, _ = open_export(LedgerView(ledger).export_html(tmp_path / "ledger.html"))

    page.get_by_text("survey-1974").first.wait_for()


def test_a_page_that_may_not_leave_says_so_on_top(tmp_path, open_export):
    source = view_examples.comparison()
    path = write_page(source, tmp_path / "a.html", release_safe=False, term="age")
    page, _ = open_export(path)
    page.locator(".dpx-plot .dpx-curve-reference").first.wait_for()

    assert page.locator(".warning").inner_text().startswith("NOT PRIVATE")
    assert page.title().startswith("NOT PRIVATE")
