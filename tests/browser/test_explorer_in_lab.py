"""The Explorer in a real JupyterLab: keys, themes, several on one page, and the kernel."""

from __future__ import annotations

import statistics
import time

import pytest

from jupyter_lab import (
    change_theme,
    evaluate_in_kernel,
    open_notebook,
    run_all_cells,
    wait_for_kernel,
)
from page_checks import curve_of, histogram_of, layout_problems, scrub_latency

pytestmark = pytest.mark.browser

DARK, LIGHT = "JupyterLab Dark", "JupyterLab Light"


@pytest.fixture
def notebook(lab, new_page):
    """The page of a notebook whose cells have run."""
    page = new_page(width=1500, height=1500)
    open_notebook(page, lab, "survey.ipynb")
    run_all_cells(page)
    page.locator(".dpx-plot .dpx-curve-main").first.wait_for()
    return page


@pytest.fixture
def explorers(notebook):
    views = notebook.locator(".dpx")
    views.nth(2).locator(".dpx-plot .dpx-curve-main").first.wait_for()
    return [views.nth(i) for i in range(3)]


def press(view, selector: str, *keys: str) -> None:
    view.locator(selector).focus()
    for key in keys:
        view.page.keyboard.press(key)


def guarantee_of(view) -> str:
    return view.locator(".dpx-guarantee").inner_text()


def test_scrubbing_by_keyboard_changes_curve_guarantee_and_histogram_in_both_themes(
    notebook, explorers, pictures
):
    view = explorers[0]
    for theme, is_light in ((LIGHT, True), (DARK, False)):
        change_theme(notebook, theme, is_light=is_light)
        notebook.wait_for_function(
            "name => document.querySelector('.dpx').dataset.theme === name",
            arg="light" if is_light else "dark",
        )
        press(view, ".dpx-scrubber", "Home")
        before = (curve_of(view), guarantee_of(view), histogram_of(view))
        assert "ε = 0.25" in before[1]

        press(view, ".dpx-scrubber", "ArrowRight")
        after = (curve_of(view), guarantee_of(view), histogram_of(view))
        assert "ε = 0.5" in after[1]
        sentence = view.locator(".dpx-sentence").first.text_content()  # in closed details
        assert "at most a factor of 1.65, plus 10⁻⁶" in sentence
        assert all(old != new for old, new in zip(before, after, strict=True))
        view.screenshot(path=pictures / f"lab-{'light' if is_light else 'dark'}.png")


def assert_pictures_come_to_fit(page, within_seconds: float = 15) -> None:
    """A busy machine may draw late; a picture that keeps a wrong width is found."""
    end = time.monotonic() + within_seconds
    while problems := [each for each in layout_problems(page) if each.startswith("width: ")]:
        assert time.monotonic() < end, problems
        page.wait_for_timeout(200)


@pytest.mark.full
def test_pictures_keep_the_width_of_their_place_through_changes_of_theme(notebook, explorers):
    for theme, is_light in ((DARK, False), (LIGHT, True)) * 3:
        change_theme(notebook, theme, is_light=is_light)
        notebook.wait_for_timeout(700)  # styles have been exchanged, possibly more than once
        assert_pictures_come_to_fit(notebook)


@pytest.mark.full
def test_kernel_and_page_tell_each_other_what_is_chosen(notebook, explorers):
    press(explorers[0], ".dpx-scrubber", "End", "ArrowLeft")
    press(explorers[0], ".dpx-plot", "Home")
    wait_for_kernel(notebook, "(first.epsilon, first.bin_index)", "(8.0, 0)")
    assert evaluate_in_kernel(notebook, "first.selection['bin'].tolist()") == "['17 – 20']"

    evaluate_in_kernel(notebook, "first.set_trait('term', 'children')")
    explorers[0].locator("h3 bdi", has_text="children").wait_for()


@pytest.mark.full
def test_reference_is_switched_by_one_key_and_by_its_box(notebook, explorers):
    view = explorers[0]
    curve = view.locator(".dpx-plot .dpx-curve-reference").first
    box = view.get_by_label("Show non-private reference")
    assert curve.is_visible()
    assert view.locator(".dpx-plot .dpx-watermark").text_content() == "not releasable"

    press(view, ".dpx-scrubber", "r")
    curve.wait_for(state="detached")
    assert not box.is_checked()
    assert "reference" not in view.locator(".dpx-metrics").inner_text()
    assert view.locator(".dpx-watermark, .dpx-tick-reference, .dpx-stop-reference").count() == 0
    wait_for_kernel(notebook, "first.show_reference", "False")

    box.check()
    curve.wait_for()


@pytest.mark.full
def test_two_explorers_are_independent_and_a_linked_one_follows(notebook, explorers):
    first, second, third = explorers
    alone = (curve_of_rows(second), guarantee_of(second))
    press(first, ".dpx-scrubber", "Home")
    third.locator(".dpx-epsilon", has_text="ε = 0.25").wait_for()

    assert curve_of(third) == curve_of(first)
    assert (curve_of_rows(second), guarantee_of(second)) == alone
    wait_for_kernel(notebook, "(first.epsilon, second.epsilon)", "(0.25, 1.0)")
    third.locator(".dpx-term", has_text="education").click()
    first.locator(".dpx-shape h3", has_text="Shape of education").wait_for()
    wait_for_kernel(notebook, "(first.term, second.term)", "('education', 'occupation')")


@pytest.mark.full
def test_tabs_keep_their_keys_from_the_notebook_and_tell_python(notebook, explorers):
    first = explorers[0]
    first.get_by_role("tab", name="Shape").focus()
    parts = (
        ("Edit", "edit"),
        ("All terms", "terms"),
        ("Disagreement", "disagreement"),
        ("Ranks", "rank"),
    )
    for name, trait in parts:
        first.page.keyboard.press("ArrowRight")
        first.locator("[role=tab][aria-selected=true]", has_text=name).wait_for()
        wait_for_kernel(notebook, "first.tab", repr(trait))
    first.locator(".dpx-rank-plot").focus()
    first.page.keyboard.press("Home")
    wait_for_kernel(notebook, "first.selection['term'].nunique()", "7")


def curve_of_rows(view) -> list[str]:
    bars = view.locator(".dpx-plot .dpx-bar-main")
    return bars.evaluate_all("bars => bars.map((bar) => bar.getAttribute('width'))")


@pytest.mark.full
def test_ids_of_all_views_on_a_page_differ(explorers):
    ids = explorers[0].page.evaluate(
        "Array.from(document.querySelectorAll('.dpx [id]'), (element) => element.id)"
    )

    assert len(ids) >= 9
    assert len(ids) == len(set(ids))


@pytest.mark.full
def test_keys_inside_a_view_do_not_reach_the_notebook(notebook, explorers):
    cells = notebook.locator(".jp-Notebook .jp-Cell")
    count = cells.count()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    press(explorers[0], ".dpx-scrubber", "Home")
    place = notebook.evaluate(active)

    # In command mode: collapse heading, cut, insert above and below, delete, change type.
    press(explorers[0], ".dpx-scrubber", "ArrowRight", "ArrowRight", "x", "a", "b", "d", "d", "m")
    assert "ε = 1" in guarantee_of(explorers[0])
    press(explorers[0], ".dpx-scrubber", "ArrowLeft", "ArrowDown", "ArrowUp", "j", "k")
    assert "ε = 0.5" in guarantee_of(explorers[0])

    assert cells.count() == count
    assert notebook.evaluate(active) == place
    assert notebook.evaluate("document.activeElement.className") == "dpx-scrubber"


@pytest.mark.full
def test_shortcuts_with_a_modifier_still_reach_the_notebook(notebook, explorers):
    explorers[0].locator(".dpx-scrubber").focus()
    notebook.keyboard.press("Control+Shift+C")

    notebook.locator(".lm-CommandPalette, .jp-ModalCommandPalette").first.wait_for()
    notebook.keyboard.press("Escape")


@pytest.mark.full
def test_each_view_stands_alone_on_a_real_fit(lab, new_page, pictures):
    page = new_page(width=1500, height=2600)
    open_notebook(page, lab, "views.ipynb")
    run_all_cells(page)
    page.locator(".dpx-ledger-grid > .dpx-table-box tbody tr").first.wait_for()
    page.locator(".dpx-plot .dpx-bar-main").first.wait_for()
    page.locator(".jp-NotebookPanel").screenshot(path=pictures / "lab-views.png")

    assert page.locator(".dpx").count() == 4
    assert page.locator(".dpx-scrubber").count() == 1
    page.locator(".dpx-shape").get_by_label("Term").select_option("age")
    wait_for_kernel(page, "shape.term", "'age'")
    wait_for_kernel(page, "importance.term == overview.term", "True")
    page.locator(".dpx-importance").get_by_label("ε", exact=True).select_option(label="2")
    wait_for_kernel(page, "(importance.epsilon, shape.epsilon)", "(2.0, 0.5)")
    for name in ("overview", "importance", "shape"):
        words = page.locator(f".dpx-{name}").inner_text()
        assert "Adding or removing one record changes the probability" in words
    assert "Each model alone: ε = 0.5, 2" in page.locator(".dpx-ledger").inner_text()

    press(page.locator(".dpx-shape"), ".dpx-plot", "r")
    page.locator(".dpx-shape .dpx-plot .dpx-curve-reference").first.wait_for(state="detached")
    wait_for_kernel(page, "(shape.show_reference, overview.show_reference)", "(False, True)")


@pytest.mark.full
def test_scrubbing_is_measured(explorers, capsys):
    press(explorers[0], ".dpx-scrubber", "Home")
    times = scrub_latency(explorers[0].page, explorers[0].locator(".dpx-scrubber"), moves=24)

    assert len(times) == 24
    median, slow = statistics.median(times), sorted(times)[22]
    with capsys.disabled():
        print(f"\nscrubbing in JupyterLab: median {median:.0f} ms, 95th percentile {slow:.0f} ms")
