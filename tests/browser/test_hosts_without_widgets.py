"""The page that replaces a view where widgets do not run: live, reopened, and converted."""

from __future__ import annotations

import re

import nbformat
import pytest

from jupyter_lab import RUN_MS, open_notebook, run_all_cells
from page_checks import curve_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

CELLS = (
    "import os\nos.environ['KAGGLE_KERNEL_RUN_TYPE'] = 'Interactive'\n"
    "import dpexplain.io\nfrom dpexplain_widgets import Explorer",
    "explorer = Explorer(dpexplain.io.load('survey.json'), term='age', epsilon_index=2)\nexplorer",
)
# What nbconvert's own scripts say without a network.
OF_HOST = ("net::", "is not defined")


@pytest.fixture
def kaggle(new_notebook):
    """Make a notebook for a host that is known to run no widgets."""
    return new_notebook("kaggle.ipynb", CELLS)


def framed_explorer(page):
    """Wait for the Explorer inside the frame of the output."""
    frame = page.frame_locator(".dpx-page > iframe")
    frame.locator(".dpx-plot .dpx-curve-main").first.wait_for(timeout=RUN_MS)
    return frame.locator(".dpx").first


def moves(page, view) -> None:
    before = curve_of(view)
    view.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")
    view.locator(".dpx-epsilon", has_text="ε = 2").wait_for()
    assert curve_of(view) != before


def saved(page, lab, name):
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
    return nbformat.read(lab.notebooks / name, as_version=4)


def test_the_page_runs_in_the_output_and_in_the_notebook_that_nbconvert_makes(
    lab, kaggle, new_page, pictures, tmp_path
):
    from nbconvert import HTMLExporter

    page = new_page(width=1400, height=1200)
    open_notebook(page, lab, kaggle)
    run_all_cells(page)
    moves(page, framed_explorer(page))
    assert not page.locator(".dpx-instead").is_visible()
    page.screenshot(path=pictures / "page-in-lab.png")

    text, _ = HTMLExporter().from_notebook_node(saved(page, lab, kaggle))
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    page = new_page(width=1366, offline=True, hosts=OF_HOST)
    page.goto((tmp_path / "page.html").as_uri())
    moves(page, framed_explorer(page))
    assert not page.locator(".dpx-instead").is_visible()
    assert page.evaluate("window.stolen") is None
    page.screenshot(path=pictures / "page-nbconvert.png")


def test_a_viewer_that_removes_frames_and_styles_shows_picture_and_table(
    lab, kaggle, new_page, pictures, tmp_path
):
    page = new_page(width=1400, height=1200)
    open_notebook(page, lab, kaggle)
    run_all_cells(page)
    framed_explorer(page)
    (output,) = saved(page, lab, kaggle).cells[1].outputs
    left = re.sub(
        r"<iframe.*?</iframe>|<style>.*?</style>", "", output.data["text/html"], flags=re.S
    )
    (tmp_path / "page.html").write_text(left, encoding="utf-8")
    page = new_page(width=900, offline=True)
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("img").evaluate("image => image.naturalWidth") > 1000
    assert page.locator("table").is_visible()
    page.screenshot(path=pictures / "page-removed.png")
