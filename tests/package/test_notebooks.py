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


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_a_notebook_opens_with_what_a_reader_will_learn(path):
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    assert first["cell_type"] == "markdown"
    text = "".join(first["source"])
    assert text.startswith("# ")
    assert "You will learn" in " ".join(text.split())


def test_the_gallery_lists_every_notebook_with_what_it_teaches():
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    for path in PATHS:
        (line,) = [line for line in readme.splitlines() if f"](notebooks/{path.name}) |" in line]
        assert len(line.split("|")[2].split()) >= 5, "a row says what is learnt"
    index = (FOLDER.parent / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert "../../notebooks/*" in index
