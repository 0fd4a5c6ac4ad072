"""The examples for Voilà and marimo: the Explorer draws, follows keys, and the kernel follows."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import dpexplain.io
import view_examples
from jupyter_lab import RUN_MS, Marimo, Voila
from page_checks import CHART

pytestmark = [pytest.mark.browser, pytest.mark.full]

# What Voilà 0.5 says of extensions of JupyterLab that are installed beside it, and of the fonts
# that it asks the network for, as marimo does.
WITHOUT_NETWORK = "net::"
OF_VOILA = ("getter for the shared module", WITHOUT_NETWORK)
MARKS = "marks => marks.map((mark) => mark.outerHTML).join()"
EXAMPLES = Path(__file__).parents[2] / "docs" / "howto" / "hosts"


@pytest.fixture
def folder(tmp_path):
    """The examples of the documentation, next to the comparison that they load."""
    notebooks = tmp_path / "notebooks"
    shutil.copytree(EXAMPLES, notebooks)
    dpexplain.io.save(view_examples.comparison(), notebooks / "comparison.json")
    return notebooks


@pytest.fixture
def serve(tmp_path):
    """Start a host over a folder, where it is installed, and end it after the test."""
    running = []

    def serve(host, notebooks):
        if importlib.util.find_spec(host.module) is None:
            pytest.skip(f"{host.module} is not installed: pip install {host.module}")
        scratch = tmp_path / host.module
        scratch.mkdir()
        running.append(host(notebooks, scratch))
        return running[-1]

    yield serve
    for host in running:
        host.stop()


def scrub(page, view, to: str) -> None:
    """Press a key on the scale of a view: its chart must follow."""
    chart = view.locator(CHART)
    before = chart.evaluate_all(MARKS)
    view.locator(".dpx-scrubber").focus()
    page.keyboard.press(to)
    view.locator(".dpx-epsilon", has_text="ε = 2").wait_for()
    assert chart.evaluate_all(MARKS) != before


def test_in_voila_keys_scrub_two_linked_explorers_and_the_kernel_hears(
    folder, serve, new_page, pictures
):
    host = serve(Voila, folder)
    page = new_page(hosts=OF_VOILA)
    page.goto(f"{host.url}/voila/render/explore_in_voila.ipynb", timeout=RUN_MS)
    first, second = (page.locator(".dpx").nth(place) for place in (0, 1))
    first.locator(CHART).first.wait_for(timeout=RUN_MS)
    page.get_by_text("Selected: ε = 1", exact=True).wait_for(timeout=RUN_MS)

    scrub(page, first, "ArrowRight")
    page.get_by_text("Selected: ε = 2", exact=True).wait_for()
    second.locator(".dpx-epsilon", has_text="ε = 2").wait_for()
    page.screenshot(path=pictures / "voila.png")


def test_in_marimo_keys_scrub_and_cells_that_use_the_explorer_run_anew(
    folder, serve, new_page, pictures
):
    (folder / "explore_in_marimo.py").rename(folder / "app.py")
    host = serve(Marimo, folder)
    page = new_page(hosts=(WITHOUT_NETWORK,))
    page.goto(host.url, timeout=RUN_MS)
    view = page.locator(".dpx").first
    view.locator(CHART).first.wait_for(timeout=RUN_MS)
    page.get_by_text("Selected: ε = 1, ").wait_for()

    scrub(page, view, "ArrowRight")
    page.get_by_text("Selected: ε = 2, ").wait_for()
    page.screenshot(path=pictures / "marimo.png")
