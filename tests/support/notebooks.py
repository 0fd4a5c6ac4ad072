"""Run notebooks and keep the outputs of checked cells only.

``python tests/support/notebooks.py`` rewrites every notebook: cells marked
``# NBVAL_CHECK_OUTPUT`` keep what they print (nbval compares it), all others lose their
outputs, and no widget state is stored, since it would hold data. Printed are the CPU seconds of
each, with those of the processes that it starts.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "notebooks"
MARK = "# NBVAL_CHECK_OUTPUT"


def is_checked(cell: Any) -> bool:
    """Whether nbval compares what the cell prints."""
    return cell["cell_type"] == "code" and MARK in cell["source"]


def stripped(notebook: Any) -> Any:
    """Return the notebook with outputs in checked cells only."""
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["metadata"] = {}
        if not is_checked(cell):
            cell["outputs"], cell["execution_count"] = [], None
    notebook["metadata"] = {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    return notebook


def main() -> None:
    """Run every notebook, write it back and say what it took."""
    import nbformat
    from nbclient import NotebookClient

    before = _cpu_seconds()
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": FOLDER}}).execute()
        nbformat.write(stripped(notebook), path)
        after = _cpu_seconds()
        print(f"{path.name}: {after - before:.0f} CPU seconds", file=sys.stderr)
        before = after


def _cpu_seconds() -> float:
    """CPU seconds of all kernels that have ended, and of what they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
