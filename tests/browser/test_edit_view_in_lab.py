"""The edit view with a kernel: what Python measures and denoises, and who handles undo."""

from __future__ import annotations

import pytest

from jupyter_lab import evaluate_in_kernel, open_notebook, run_all_cells, wait_for_kernel
from page_checks import settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

SOURCES = """() => JSON.stringify(Array.from(
  window.jupyterapp.shell.currentWidget.content.model.cells, (cell) => cell.sharedModel.source))"""


@pytest.fixture
def notebook(lab, new_page):
    """The page of a notebook with two edit views: on public data, and on private ones."""
    page = new_page(width=1500, height=2600)
    open_notebook(page, lab, "edits.ipynb")
    run_all_cells(page)
    page.locator(".dpx-edit-plot svg").nth(1).wait_for()
    return page


@pytest.fixture
def views(notebook):
    return notebook.locator(".dpx").nth(0), notebook.locator(".dpx").nth(1)


def apply(view, name: str) -> None:
    view.get_by_label("Operation", exact=True).select_option(name)
    view.get_by_role("button", name="Apply", exact=True).click()


def metrics_of(view):
    return view.locator("div:has(> h4:text-is('Metrics')) > p")


def curve(view) -> str:
    settle(view.page)
    return str(view.locator(".dpx-edit-plot .dpx-curve-main").get_attribute("d"))


def measured(view, times: int) -> None:
    """Ask for a measurement of private data, and agree to pay for it."""
    view.get_by_role("button", name="Measure", exact=True).click()
    view.get_by_role("button", name="Yes, charge the ledger").click()
    wait_for_kernel(view.page, "len(charged)", str(times))


def test_metrics_on_public_data_are_free_and_those_of_the_edited_model(notebook, views):
    public, _ = views
    found = []
    for name in ("increasing", "remove"):
        apply(public, name)
        public.get_by_role("button", name="Measure", exact=True).click()
        shown = "public.evaluation['metrics'] == on_public_ages(public.edited)"
        wait_for_kernel(notebook, shown, "True")
        metrics_of(public).filter(has_text="mean score").wait_for()
        found.append(metrics_of(public).inner_text())

    assert public.get_by_role("button", name="Yes, charge the ledger").is_hidden()
    assert all(words.endswith("Public data: free.") for words in found)
    assert not found[0].startswith("mean score 0 ·")
    assert found[1].startswith("mean score 0 ·")  # the term was removed


def test_metrics_on_private_data_are_asked_for_and_charged_before_they_are_read(notebook, views):
    _, private = views
    metrics_of(private).filter(has_text="of the ledger 'held out'").wait_for()

    private.get_by_role("button", name="Measure", exact=True).click()
    assert (
        "These data are private. One measurement costs epsilon" in metrics_of(private).inner_text()
    )
    private.get_by_role("button", name="No", exact=True).click()
    assert evaluate_in_kernel(notebook, "len(held_out.summary().entries)") == "0"
    assert evaluate_in_kernel(notebook, "private.evaluation_request") == "0"

    measured(private, times=1)
    metrics_of(private).filter(has_text="AUROC 0.75").wait_for()
    measured(private, times=2)
    assert evaluate_in_kernel(notebook, "charged") == "[1, 2]"
    assert evaluate_in_kernel(notebook, "len(held_out.summary().entries)") == "2"


def test_a_ledger_that_cannot_pay_stops_the_measurement_in_words(notebook, views):
    _, private = views
    evaluate_in_kernel(
        notebook,
        "private.measure_edits(on_private_data, ledger=held_out, price=[GaussianEvent('all', 1)])",
    )
    metrics_of(private).filter(has_text="costs epsilon").wait_for()
    private.get_by_role("button", name="Measure", exact=True).click()
    private.get_by_role("button", name="Yes, charge the ledger").click()
    metrics_of(private).filter(has_text="not measured: BudgetError").wait_for()

    assert evaluate_in_kernel(notebook, "charged") == "[]"


@pytest.mark.parametrize("redo", ["Control+y", "Control+Shift+Z"])
def test_undo_and_redo_by_key_belong_to_the_view_and_not_to_the_notebook(notebook, views, redo):
    public, _ = views
    notebook.evaluate("window.jupyterapp.commands.execute('notebook:insert-cell-below')")
    notebook.evaluate("window.jupyterapp.commands.execute('notebook:enter-edit-mode')")
    notebook.keyboard.type("kept = 1")  # what the undo of the notebook would take back
    notebook.keyboard.press("Escape")
    cells = notebook.evaluate(SOURCES)
    assert '"kept = 1"' in cells
    released = curve(public)
    apply(public, "decreasing")  # the score rises with age, whatever the noise
    edited = curve(public)
    assert edited != released
    wait_for_kernel(notebook, "len(public.edit_log.operations)", "1")

    public.locator(".dpx-edit-plot").focus()
    notebook.keyboard.press("Control+z")
    assert curve(public) == released
    wait_for_kernel(
        notebook, "(public.edit_log.operations, public.edit_log.can_redo)", "((), True)"
    )
    notebook.keyboard.press(redo)
    assert curve(public) == edited
    wait_for_kernel(notebook, "len(public.edit_log.operations)", "1")

    mode = "window.jupyterapp.shell.currentWidget.content.mode"
    assert notebook.evaluate(mode) == "command"
    assert notebook.evaluate(SOURCES) == cells
