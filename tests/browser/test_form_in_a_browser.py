"""The form without code in Voilà: with the keyboard, on a narrow page, in light and dark."""

from __future__ import annotations

import nbformat
import pytest

from form_tables import write_messy
from jupyter_lab import RUN_MS, Voila
from page_checks import CHART, layout_problems

pytestmark = [pytest.mark.browser, pytest.mark.full]

OF_VOILA = ("getter for the shared module", "net::")
ANSWERS = {
    "Table with the records": "data.csv",
    "Separator between cells": ";",
    "Data dictionary (CSV)": "dictionary.csv",
    "Column to predict": "died",
    "Privacy loss ε": "1",
    "Most rows used per person": "2",
    "Cap: the largest total": "3",
    "Person responsible": "A. Curie",
    "Purpose of the release": "annual report",
}
UNLABELED = """() => Array.from(document.querySelectorAll('.dpexplain-form :is(input, select)'))
  .filter((each) => each.closest('.dpx') === null && !(each.labels?.length > 0))
  .map((each) => each.outerHTML)"""
WIDER = """() => Array.from(document.querySelectorAll(
    '.dpexplain-form :is(input, select, button, label, p, h3)'))
  .filter((each) => each.closest('.dpx') === null && each.offsetParent !== null)
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.outerHTML)"""


@pytest.fixture
def open_form(tmp_path, new_page):
    """Open the form in a page of Voilà, in a folder with the messy table."""
    pytest.importorskip("voila")
    running = []

    def open_form(theme: str, width: int = 380):
        folder, scratch = tmp_path / "notebooks", tmp_path / "scratch"
        folder.mkdir()
        scratch.mkdir()
        write_messy(folder)
        cell = nbformat.v4.new_code_cell("from dpexplain.app import ReleaseForm\n\nReleaseForm()")
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(
            nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel}),
            folder / "app.ipynb",
        )
        running.append(Voila(folder, scratch))
        page = new_page(width=width, height=1400, hosts=OF_VOILA)
        page.goto(f"{running[-1].url}/voila/render/app.ipynb?theme={theme}", timeout=RUN_MS)
        page.get_by_role("button", name="Fit …").wait_for(timeout=RUN_MS)
        return page

    yield open_form
    for host in running:
        host.stop()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_form_is_filled_with_the_keyboard_on_a_narrow_page(theme, open_form, pictures):
    page = open_form(theme)
    assert page.evaluate(UNLABELED) == []
    assert page.evaluate(WIDER) == []
    order = page.locator(".dpexplain-form input[type=text]")
    order.first.focus()
    page.keyboard.press("Tab")
    assert order.nth(1).evaluate("each => each === document.activeElement")

    page.get_by_label("Table with the records").fill("none.csv")
    page.get_by_role("button", name="Fit …").press("Enter")
    page.get_by_role("alert").filter(has_text="none.csv: no such file.").wait_for(timeout=RUN_MS)
    page.screenshot(path=pictures / f"form-mistake-{theme}.png")

    for label, answer in ANSWERS.items():
        page.get_by_label(label).fill(answer)
        page.keyboard.press("Tab")
    page.get_by_label("Model", exact=True).select_option("linear")
    page.get_by_role("button", name="Read the schema").press("Enter")
    page.get_by_text("laboratory manual").first.wait_for()
    page.get_by_role("button", name="Fit …").press("Enter")
    page.get_by_text("This fit costs ε = 1").wait_for()
    assert page.evaluate(WIDER) == []
    page.screenshot(path=pictures / f"form-price-{theme}.png", full_page=True)

    page.get_by_role("button", name="Yes, charge the ledger").press("Enter")
    page.locator(CHART).first.wait_for(timeout=RUN_MS)
    page.get_by_role("button", name="Write and verify the certificate").press("Enter")
    page.get_by_text("model.certificate.pdf: verified").wait_for()
    assert page.evaluate(WIDER) == []
    assert layout_problems(page) == []
    page.screenshot(path=pictures / f"form-done-{theme}.png", full_page=True)
