"""What a stranger types: a file behind an address, explored without a model."""

from __future__ import annotations

import pytest

from jupyter_lab import RUN_MS, evaluate_in_kernel, open_notebook, run_all_cells

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_an_address_becomes_an_explorer_without_loading_models(
    lab, new_notebook, new_page, pictures
):
    cells = (
        "import dpexplain\nfrom dpexplain_widgets import Explorer",
        f"Explorer(dpexplain.io.load('{lab.url}/files/survey.json'))",
    )
    name = new_notebook("stranger.ipynb", cells)
    page = new_page(width=1400, height=1000)
    open_notebook(page, lab, name)
    run_all_cells(page)
    page.locator(".dpx-plot svg").first.wait_for(timeout=RUN_MS)
    page.screenshot(path=pictures / "stranger.png")

    heavy = (
        "[m for m in ('numba', 'sklearn', 'dpexplain.models') if m in __import__('sys').modules]"
    )
    assert evaluate_in_kernel(page, heavy) == "[]"
