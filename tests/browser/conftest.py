"""Pages that record their errors, and a JupyterLab with notebooks of dashboards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

import dpexplain.io
import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.export.page import offline_page, state_of
from fitted_models import fitted_binary
from jupyter_lab import JupyterLab, NotebookSeven
from notebooks import FOLDER
from page_checks import console_problem

EXPLORERS = (
    "import dpexplain.io\nfrom dpexplain_widgets import Explorer\n"
    "comparison = dpexplain.io.load('survey.json')",
    "first = Explorer(comparison, term='age', epsilon_index=2)\nfirst",
    "second = Explorer(comparison, term='occupation', epsilon_index=2)\nsecond",
    "third = Explorer(comparison, term='age', epsilon_index=2)\n"
    "link = first.link(third, ['epsilon_index', 'term'])\nthird",
)

FIT = """
from dpexplain.compare import sweep
from dpexplain.datasets import load_fair
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain_widgets import ImportanceView, LedgerView, OverviewView, ShapeView

data = load_fair()
model = DPExplainableBoostingClassifier(schema=data.schema)
evaluate = (data.X[::5], data.y[::5])
comparison = sweep(model, data.X, data.y, (0.5, 2), evaluate=evaluate, progress=False)
"""
VIEWS = (
    FIT.strip(),
    "overview = OverviewView(comparison)\noverview",
    "importance = ImportanceView(comparison)\nimportance",
    "shape = ShapeView(comparison, term='occupation')\nshape",
    "ledger = LedgerView(comparison)\nledger",
)
EDITS = (
    """
import dpexplain.io
import numpy as np
from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent
from dpexplain_widgets import EditView

explanation = dpexplain.io.load("fitted.json")
ages = np.linspace(18, 90, 50)
""".strip(),
    """
def on_public_ages(edited):
    return {"mean score": float(edited["age"].evaluate(ages).mean())}

public = EditView(explanation, term="age")
public.measure_edits(on_public_ages)
public
""".strip(),
    """
held_out = PrivacyLedger("held out", cap_epsilon=0.5, delta=1e-6)
charged = []

def on_private_data(edited):
    charged.append(len(held_out.summary().entries))
    return {"AUROC": 0.75}

private = EditView(explanation, term="age")
private.measure_edits(on_private_data, ledger=held_out, price=[GaussianEvent("AUROC", 20.0)])
private
""".strip(),
)


@pytest.fixture
def new_page(browser: Any) -> Iterator[Any]:
    """Make pages with `new_page(width=..., ...)`; any console message fails the test.

    Errors that contain one of the words `hosts` come from the program around the view.
    """
    contexts: list[Any] = []
    problems: list[str] = []

    def make(
        width: int = 1400, height: int = 1000, hosts: tuple[str, ...] = (), **options: Any
    ) -> Any:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()

        def note(problem: str | None) -> None:
            if problem is not None and not any(words in problem for words in hosts):
                problems.append(problem)

        page.on("pageerror", lambda error: note(f"page error: {error}"))
        page.on("console", lambda message: note(console_problem(message)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def open_page(new_page, tmp_path):
    """Open a page of Explorers from a file, with every request refused."""

    def open_page(*views, width: int = 1400, wait: str = ".dpx-plot :is(svg, canvas)", **options):
        path = tmp_path / "page.html"
        states = [state_of(view, view.page_traits) for view in views]
        path.write_text(offline_page(states), encoding="utf-8")
        page = new_page(width=width, offline=True, **options)
        page.goto(path.as_uri())
        for place in range(len(views)):
            page.locator(".dpx").nth(place).locator(wait or ".dpx-tab-panel > *").first.wait_for()
        return page

    return open_page


@pytest.fixture
def open_one(new_page, tmp_path):
    """Open a page of one view of any kind, with every request refused."""

    def open_one(view, width: int = 1000, **options):
        path = view.export_html(tmp_path / "one.html", release_safe=False)
        page = new_page(width=width, offline=True, **options)
        page.goto(path.as_uri())
        page.locator(".dpx .dpx-head").first.wait_for()
        return page

    return open_one


@pytest.fixture
def survey():
    return Explorer(view_examples.comparison(n_repeats=2), term="age", epsilon_index=1)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for screenshots: DPEXPLAIN_PICTURES if set, else a temporary one."""
    named = os.environ.get("DPEXPLAIN_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def notebook(sources: Sequence[str]) -> Any:
    """Make a notebook with a named kernel, so that JupyterLab does not ask for one."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterLab]:
    notebooks = tmp_path_factory.mktemp("notebooks")
    comparison = view_examples.comparison(n_repeats=2)
    dpexplain.io.save(comparison, notebooks / "survey.json")
    nbformat.write(notebook(EXPLORERS), notebooks / "survey.ipynb")
    nbformat.write(notebook(VIEWS), notebooks / "views.ipynb")
    dpexplain.io.save(fitted_binary().explain_global(), notebooks / "fitted.json")
    nbformat.write(notebook(EDITS), notebooks / "edits.ipynb")
    shutil.copy(FOLDER / "01_explore.ipynb", notebooks)
    server = JupyterLab(notebooks, tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def notebook_seven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookSeven]:
    seven = pytest.importorskip("notebook", reason="Notebook 7 is not installed")
    if int(seven.__version__.split(".")[0]) < 7:
        pytest.skip(f"Notebook {seven.__version__} is not Notebook 7")
    notebooks = tmp_path_factory.mktemp("notebooks")
    dpexplain.io.save(view_examples.comparison(n_repeats=2), notebooks / "survey.json")
    nbformat.write(notebook(EXPLORERS), notebooks / "survey.ipynb")
    server = NotebookSeven(notebooks, tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()


@pytest.fixture
def lab(lab_server: JupyterLab) -> Iterator[JupyterLab]:
    yield lab_server
    lab_server.end_sessions()


@pytest.fixture
def new_notebook(lab: JupyterLab) -> Callable[[str, Sequence[str]], str]:
    """Write a notebook with these cells into the folder of JupyterLab, and return its name."""

    def write(name: str, sources: Sequence[str]) -> str:
        nbformat.write(notebook(sources), lab.notebooks / name)
        return name

    return write
