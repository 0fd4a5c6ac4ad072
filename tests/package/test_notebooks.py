"""Notebooks hold no outputs that could hold data, and their checked cells can fail."""

from __future__ import annotations

import json

import pytest

from notebooks import FOLDER, is_checked

PATHS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_only_checked_cells_keep_outputs_and_each_of_them_has_some(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert "widgets" not in notebook["metadata"]
    code = [
        {**cell, "source": "".join(cell["source"])}
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    assert any(map(is_checked, code))
    for cell in code:
        if is_checked(cell):
            assert cell["outputs"], "a checked cell without a stored output passes unchecked"
            assert cell["execution_count"] is not None
        else:
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
