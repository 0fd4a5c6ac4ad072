"""A notebook keeps the state of dashboards: the documented command removes it from the file."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from ipywidgets import Widget

import view_examples
from dpexplain_widgets import Explorer

pytestmark = pytest.mark.full

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbconvert")


def cleared(path: Path, command: str) -> str:
    """Run a command for a notebook with the state of a dashboard; return what the file has then."""
    comparison = view_examples.comparison([view_examples.survey_terms()[k] for k in (0, 4, 5)])
    rows = pd.DataFrame({"children": ["yes"], "age": [31.4159], "occupation": ["student"]})
    view = Explorer(comparison, rows.set_index(pd.Index(["Zorblax"])))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("Explorer(comparison)")])
    state = "application/vnd.jupyter.widget-state+json"
    notebook.metadata["widgets"] = {state: Widget.get_manager_state(widgets=[view])}
    nbformat.write(notebook, path)
    assert "Zorblax" in path.read_text(encoding="utf-8")
    words = shlex.split(command)
    assert (words[0], words[-1]) == ("jupyter", "notebook.ipynb")
    asked = [sys.executable, "-m", *words[:-1], str(path)]
    subprocess.run(asked, check=True, capture_output=True)
    return path.read_text(encoding="utf-8")


def test_the_documented_command_removes_records_of_dashboards(
    repository: Path, tmp_path: Path
) -> None:
    page = (repository / "docs" / "howto" / "real_data.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`(jupyter nbconvert [^`]*)`", page)
    path = tmp_path / "notebook.ipynb"
    assert not re.search(r"Zorblax|31\.4159|payload", cleared(path, command))
    assert "Explorer(comparison)" in path.read_text(encoding="utf-8")
    outputs_only = "jupyter nbconvert --clear-output --inplace notebook.ipynb"
    assert "Zorblax" in cleared(path, outputs_only)
