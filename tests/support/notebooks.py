"""Run notebooks, and keep the outputs of checked cells and a picture of each dashboard.

``python tests/support/notebooks.py [--pictures] [NAME ...]`` rewrites the notebooks, or those
named: cells marked ``# NBVAL_CHECK_OUTPUT`` keep what they print (nbval compares it), cells that
display a dashboard keep its picture and its table (nbval does not compare them), and all others
lose their outputs. Pictures of dashboards show private fits only, as that is what a dashboard
leaves for viewers that run no code. A cell whose metadata describe its figures keeps them; whoever
writes the description states there why it may be public (`OPEN_TO_ALL`). Existing pictures stay
unless ``--pictures`` retakes them: noise makes each run differ. No widget state is stored, since
it would hold data. The CPU seconds of each notebook are printed, with those of the processes that
it starts.
"""

from __future__ import annotations

import argparse
import base64
import io
import re
import resource
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "notebooks"
MARK = "# NBVAL_CHECK_OUTPUT"
COLORS = 96
# A figure is of a private fit, or of records that are simulated or published anyway.
OPEN_TO_ALL = re.compile(r"ε = \d|simulated|published")


def is_checked(cell: Any) -> bool:
    """Whether nbval compares what the cell prints."""
    return cell["cell_type"] == "code" and MARK in cell["source"]


def stripped(notebook: Any, kept: dict[str, tuple[Any, Any]]) -> Any:
    """Return the notebook with only the outputs of checked cells and pictures.

    `kept` maps IDs of cells to pictures that stay as they are.
    """
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        if is_checked(cell):
            cell["metadata"] = {}
        else:
            found = pictured(cell["outputs"])
            found = found if found[0] else described(cell)
            cell["outputs"], cell["metadata"] = kept.get(cell["id"], found) if found[0] else found
            if not cell["outputs"]:  # nbval accepts outputs of numbered cells only
                cell["execution_count"] = None
    notebook["metadata"] = {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    return notebook


def pictured(outputs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the picture and table of a dashboard, and metadata that describe the picture.

    Some viewers remove pictures inside HTML, so the picture is an output of its own.
    """
    for output in outputs:
        data = output.get("data", {})
        if "dpx-still" not in data.get("text/html", "") or "image/png" not in data:
            continue
        (table,) = re.findall(
            r"<img [^>]*>(<div>.*</div>)</div></div>$", data["text/html"], re.DOTALL
        )
        picture = {"image/png": data["image/png"]}
        parts = [(picture, output["metadata"]), ({"text/html": table}, {})]
        words = {"mystnb": {"image": {"alt": _title(data["image/png"])}}}
        return [_display(*part) for part in parts], words
    return [], {}


def described(cell: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the figures of a cell whose metadata describe them, and the descriptions."""
    words = cell["metadata"].get("mystnb")
    if words is None:
        return [], {}
    figures = [
        few_colors(base64.b64decode(output["data"]["image/png"]))
        for output in cell["outputs"]
        if output.get("data", {}).get("text/plain", "").startswith("<Figure size")
    ]
    encoded = [base64.b64encode(figure).decode() for figure in figures]
    return [_display({"image/png": text}, {}) for text in encoded], {"mystnb": words}


def few_colors(png: bytes) -> bytes:
    """Return a picture with few colors: a quarter of the size, with no visible change."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    few.save(small, "png", optimize=True)
    return small.getvalue()


def _display(data: dict[str, str], metadata: dict[str, Any]) -> Any:
    import nbformat

    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def _title(picture: str) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        return str(image.text["Title"])


def main() -> None:
    """Run notebooks, write them back, and print their CPU seconds."""
    import nbformat
    from nbclient import NotebookClient

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", action="store_true", help="take pictures anew")
    parser.add_argument("names", nargs="*", type=Path, help="notebooks; all if none is named")
    asked = parser.parse_args()
    before = _cpu_seconds()
    for path in asked.names or sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        there = {c.id: (c.outputs, c.metadata) for c in code if c.outputs and not is_checked(c)}
        resources = {"metadata": {"path": FOLDER}}
        NotebookClient(notebook, timeout=300, record_timing=False, resources=resources).execute()
        nbformat.write(stripped(notebook, {} if asked.pictures else there), path)
        after = _cpu_seconds()
        print(f"{path.name}: {after - before:.0f} CPU seconds", file=sys.stderr)
        before = after


def _cpu_seconds() -> float:
    """Return the CPU seconds of all ended kernels and their child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
