"""The Explorer in Voilà and in marimo: it draws, follows keys, and the kernel follows it."""

from __future__ import annotations

import importlib.util

import nbformat
import pytest

import dpexplain.io
import view_examples
from jupyter_lab import RUN_MS, Marimo, Voila
from page_checks import curve_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

# What Voilà 0.5 says of extensions of JupyterLab that are installed beside it, and of the fonts
# that it asks the network for, as marimo does.
WITHOUT_NETWORK = "net::"
OF_VOILA = ("getter for the shared module", WITHOUT_NETWORK)
# Two Explorers and a text that only the kernel can write.
VOILA = (
    "import dpexplain.io\nfrom dpexplain_widgets import Explorer\nfrom ipywidgets import HTML\n"
    "first = Explorer(dpexplain.io.load('survey.json'), term='age', epsilon_index=2)\nfirst",
    "second = Explorer(first.payload, term='age', epsilon_index=2)\n"
    "link = first.link(second, ['epsilon_index'])\nsecond",
    "heard = HTML('ε heard: 1')\n"
    "first.observe(lambda change: setattr(heard, 'value', f'ε heard: {first.epsilon:g}'), "
    "'epsilon_index')\nheard",
)
MARIMO = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    import dpexplain.io
    from dpexplain_widgets import Explorer

    first = mo.ui.anywidget(
        Explorer(dpexplain.io.load("survey.json"), term="age", epsilon_index=2)
    )
    first
    return first, mo


@app.cell
def _(first, mo):
    first.value
    mo.md(f"ε heard: {first.widget.epsilon:g}")
    return
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the comparison that the notebooks load."""
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    dpexplain.io.save(view_examples.comparison(), notebooks / "survey.json")
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
    """Press a key on the scale of a view: its curve and the kernel must follow."""
    before = curve_of(view)
    view.locator(".dpx-scrubber").focus()
    page.keyboard.press(to)
    page.wait_for_function(
        "([view, before]) => view.querySelector('.dpx-plot .dpx-curve-main')?.getAttribute('d')"
        " !== before",
        arg=[view.element_handle(), before],
    )


def test_in_voila_keys_scrub_two_linked_explorers_and_the_kernel_hears(
    folder, serve, new_page, pictures
):
    cells = [nbformat.v4.new_code_cell(source) for source in VOILA]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, folder / "app.ipynb")
    host = serve(Voila, folder)
    page = new_page(hosts=OF_VOILA)
    page.goto(f"{host.url}/voila/render/app.ipynb", timeout=RUN_MS)
    first, second = (page.locator(".dpx").nth(place) for place in (0, 1))
    second.locator(".dpx-plot .dpx-curve-main").first.wait_for(timeout=RUN_MS)
    page.get_by_text("ε heard: 1", exact=True).wait_for()

    scrub(page, first, "ArrowRight")
    page.get_by_text("ε heard: 2", exact=True).wait_for()
    second.locator(".dpx-epsilon", has_text="ε = 2").wait_for()
    assert curve_of(second) == curve_of(first)
    page.screenshot(path=pictures / "voila.png")


def test_in_marimo_keys_scrub_and_cells_that_use_the_explorer_run_anew(
    folder, serve, new_page, pictures
):
    (folder / "app.py").write_text(MARIMO, encoding="utf-8")
    host = serve(Marimo, folder)
    page = new_page(hosts=(WITHOUT_NETWORK,))
    page.goto(host.url, timeout=RUN_MS)
    view = page.locator(".dpx").first
    view.locator(".dpx-plot .dpx-curve-main").first.wait_for(timeout=RUN_MS)
    page.get_by_text("ε heard: 1", exact=True).wait_for()

    scrub(page, view, "ArrowRight")
    page.get_by_text("ε heard: 2", exact=True).wait_for()
    page.screenshot(path=pictures / "marimo.png")
