"""The Explorer in Notebook 7, which receives keys before a view does."""

from __future__ import annotations

import pytest

from jupyter_lab import evaluate_in_kernel, open_notebook, run_all_cells, wait_for_kernel
from page_checks import curve_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

# What Notebook 7.6 says of its own settings while any notebook opens, an empty one too.
OF_NOTEBOOK = ("reading 'schema'",)


@pytest.fixture
def page(notebook_seven, new_page):
    """The page of a notebook whose cells have run."""
    page = new_page(width=1500, height=1500, hosts=OF_NOTEBOOK)
    open_notebook(page, notebook_seven, "survey.ipynb")
    run_all_cells(page)
    page.locator(".dpx").nth(2).locator(".dpx-plot .dpx-curve-main").first.wait_for()
    return page


def test_keys_scrub_and_read_bins_and_nothing_happens_to_the_cells(page, pictures):
    first, third = (page.locator(".dpx").nth(place) for place in (0, 2))
    cells = page.locator(".jp-Notebook .jp-Cell")
    kinds = "window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.type)"
    before = (cells.count(), page.evaluate(kinds), curve_of(first))
    first.locator(".dpx-scrubber").focus()
    for key, epsilon in (("End", "inf"), ("ArrowLeft", "8.0"), ("ArrowLeft", "4.0")):
        page.keyboard.press(key)
        wait_for_kernel(page, "first.epsilon", epsilon)
    third.locator(".dpx-epsilon", has_text="ε = 4").wait_for()
    assert curve_of(third) == curve_of(first) != before[2]
    assert evaluate_in_kernel(page, "second.epsilon") == "1.0"

    # In command mode: cut, insert above and below, delete, change type to text and to raw.
    for key in ("x", "a", "b", "d", "d", "m", "r"):
        page.keyboard.press(key)
    wait_for_kernel(page, "first.show_reference", "False")
    assert (cells.count(), page.evaluate(kinds)) == before[:2]

    first.locator(".dpx-plot").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    wait_for_kernel(page, "first.bin_index", "1")
    page.screenshot(path=pictures / "notebook-seven.png")


def test_shortcuts_with_a_modifier_still_reach_the_notebook(page):
    page.locator(".dpx-scrubber").first.focus()
    page.keyboard.press("Control+Shift+C")

    page.locator(".lm-CommandPalette, .jp-ModalCommandPalette").first.wait_for()
