"""Notebooks keep only checked outputs and releasable pictures, and their checks can fail."""

from __future__ import annotations

import base64
import io
import json

import nbformat
import pytest
from PIL import Image

import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.export import hosts
from dpexplain_widgets.export.fallback import beside_view
from notebooks import FOLDER, OPEN_TO_ALL, is_checked, stripped

MOST_BYTES = 60_000
LEAST_PICTURES = 3
PATHS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_checked_cells_keep_outputs_and_others_at_most_pictures_that_all_may_see(path):
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
        ran = "nbval refuses outputs of a cell that looks as if it had not been run"
        assert (cell["execution_count"] is not None) == bool(cell["outputs"]), ran
        if cell["outputs"] and not is_checked(cell):
            check_pictures(cell)


def check_pictures(cell):
    """Check that pictures are small, described, private, and state their guarantee."""
    words = cell["metadata"]["mystnb"]["image"]["alt"]
    *figures, last = (output["data"] for output in cell["outputs"])
    if set(last) == {"text/html"}:
        assert words.startswith("Importances")
        assert "-DP" in "".join(last["text/html"])
        assert "NOT PRIVATE" not in "".join(last["text/html"])
        with Image.open(io.BytesIO(base64.b64decode(figures[0]["image/png"]))) as image:
            assert "-differential privacy" in image.text["Description"]
    else:
        assert OPEN_TO_ALL.search(words), words
        figures.append(last)
    for figure in figures:
        assert set(figure) == {"image/png"}
        assert len(base64.b64decode(figure["image/png"])) < MOST_BYTES


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_a_preview_of_a_notebook_shows_its_pictures(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", ())]
    pictures = [out for out in outputs if "image/png" in out.get("data", {})]
    assert len(pictures) >= LEAST_PICTURES


def ran(source):
    """Make a notebook with the static output of a view, as after a run."""
    still, sizes = hosts._still(Explorer(source))
    outputs = [
        nbformat.v4.new_output("display_data", data=data, metadata=metadata)
        for data, metadata in (
            ({"text/plain": "Explorer", "application/vnd.jupyter.widget-view+json": {}}, {}),
            (beside_view(still, "abc"), sizes),
        )
    ]
    cell = nbformat.v4.new_code_cell("explorer", outputs=outputs, execution_count=3)
    return nbformat.v4.new_notebook(cells=[cell])


def test_the_picture_of_a_dashboard_stays_until_it_is_taken_anew():
    comparison = view_examples.comparison(epsilons=(1.0,))
    (first,) = stripped(ran(comparison), {}).cells
    assert [set(out["data"]) for out in first.outputs] == [{"image/png"}, {"text/html"}]
    assert "<img" not in first.outputs[1]["data"]["text/html"]
    assert "abc" not in json.dumps(first.outputs)

    later = ran(view_examples.comparison(epsilons=(1.0,), seed=1))
    later.cells[0].id = first.id
    (again,) = stripped(later, {first.id: (first.outputs, first.metadata)}).cells
    assert again.outputs == first.outputs


def test_a_dashboard_of_what_is_not_private_leaves_nothing():
    reference = view_examples.comparison(epsilons=(1.0,)).reference
    (cell,) = stripped(ran(reference), {}).cells
    assert (cell.outputs, cell.execution_count) == ([], None)


def test_figures_stay_in_cells_that_have_words_for_them_alone():
    with io.BytesIO() as file:
        Image.new("RGB", (40, 30), "orange").save(file, "png")
        png = base64.b64encode(file.getvalue()).decode()
    figure = {"image/png": png, "text/plain": "<Figure size 400x300 with 1 Axes>"}
    data = [{"text/plain": "a value"}, figure, {"image/png": png, "text/plain": "a view"}]
    outputs = [nbformat.v4.new_output("display_data", data=each) for each in data]
    words = {"mystnb": {"image": {"alt": "A curve at ε = 1"}}}
    with_words, without = stripped(
        nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_code_cell(outputs=outputs, execution_count=1, metadata=metadata)
                for metadata in (words, {})
            ]
        ),
        {},
    ).cells

    assert [set(output.data) for output in with_words.outputs] == [{"image/png"}]
    assert with_words.metadata == words
    assert (without.outputs, without.execution_count, without.metadata) == ([], None, {})


def test_words_that_do_not_say_why_all_may_see_a_figure_are_refused():
    assert OPEN_TO_ALL.search("The curve of age at ε = 0.5")
    assert OPEN_TO_ALL.search("The fit without privacy to simulated patients")
    assert not OPEN_TO_ALL.search("The curve of age of our patients")


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
