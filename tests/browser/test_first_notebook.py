"""What somebody sees who has typed `make explore`: the first notebook, run in JupyterLab."""

from __future__ import annotations

import pytest

from jupyter_lab import change_theme, open_notebook, run_all_cells
from page_checks import CHART, histogram_of, layout_problems

pytestmark = [pytest.mark.browser, pytest.mark.full]

FIRST_EPSILONS = {"survey": ("0.1", "0.25", "0.5"), "visits": ("0.25", "1", "4")}
THEMES = {"JupyterLab Light": True, "JupyterLab Dark": False}

_ERRORS = """() => {
  const cells = Array.from(window.jupyterapp.shell.currentWidget.content.model.cells);
  return cells
    .filter((cell) => cell.type === "code")
    .flatMap((cell) => cell.outputs.toJSON())
    .filter((output) => output.output_type === "error")
    .map((output) => output.evalue);
}"""


def test_all_cells_run_and_both_explorers_follow_the_keyboard_in_both_themes(
    lab, new_page, pictures
):
    page = new_page(width=1500, height=1500)
    open_notebook(page, lab, "01_explore.ipynb")
    run_all_cells(page)
    assert page.evaluate(_ERRORS) == []
    for place, (name, epsilons) in enumerate(FIRST_EPSILONS.items()):
        view = page.locator(".dpx").nth(place)
        view.locator(".dpx-plot svg").first.wait_for()
        for theme, is_light in THEMES.items():
            change_theme(page, theme, is_light=is_light)
            view.locator(".dpx-scrubber").focus()
            page.keyboard.press("Home")
            seen = []
            for epsilon in epsilons:
                assert f"ε = {epsilon}" in view.locator(".dpx-guarantee").inner_text()
                seen.append(_shown(view))
                page.keyboard.press("ArrowRight")
            assert len(set(seen)) == 3
            view.screenshot(path=pictures / f"notebook-{name}-{theme.split()[1].lower()}.png")
    assert layout_problems(page) == []


def _shown(view):
    """Return what is drawn: the marks of the model and of the noisy histogram."""
    marks = view.locator(CHART)
    return (
        str(marks.evaluate_all("marks => marks.map((m) => m.outerHTML)")),
        str(histogram_of(view)),
    )
