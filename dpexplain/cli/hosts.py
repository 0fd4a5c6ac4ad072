"""``dpexplain app`` and ``open``: the notebooks and programs that show results."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dpexplain.io
from dpexplain._utils.extras import needed
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import add_command, check_place

NOTEBOOK = Path("dpexplain-app.ipynb")
_CELL = "from dpexplain.app import ReleaseForm\n\nReleaseForm()"
_HOSTS = {"voila": "voila", "lab": "jupyterlab"}
_PORTS = {"voila": "--port={}", "lab": "--ServerApp.port={}"}


def add_commands(commands: Any) -> None:
    """Add the ``app`` and ``open`` commands."""
    app = add_command(
        commands,
        "app",
        summary="Open a form that leads from a table to a signed page without code, in the "
        "browser: with Voila if it is installed, otherwise in JupyterLab.",
        examples="dpexplain app\ndpexplain app --port 8866 --no-browser",
    )
    app.add_argument(
        "--host",
        choices=tuple(_HOSTS),
        help="program that shows the form; default: the first of these that is installed",
    )
    app.add_argument("--port", type=_port, help="port of the server on this computer")
    app.add_argument(
        "--no-browser", action="store_true", help="open no browser; the program prints the address"
    )
    app.add_argument(
        "--print",
        action="store_true",
        dest="only_print",
        help=f"print what would be run, and write the notebook {NOTEBOOK}",
    )
    app.set_defaults(run=run_app)

    opener = add_command(
        commands,
        "open",
        summary="Open a page in the browser, or a notebook or saved comparison in JupyterLab.",
        examples="dpexplain open report.html\ndpexplain open sweep.json",
    )
    opener.add_argument("file", type=Path, help=".html, .ipynb or .json file")
    opener.add_argument(
        "--print",
        action="store_true",
        dest="only_print",
        help="print what would be opened; a saved file still gets the notebook that shows it",
    )
    opener.set_defaults(run=run_open)


def run_app(asked: argparse.Namespace) -> int:
    """Write a notebook that contains the form to the current folder, and open it."""
    host = asked.host or next((each for each in _HOSTS if _installed(_HOSTS[each])), "lab")
    _check_installed(_HOSTS[host], "lab" if host == "lab" else "voila")  # `lab` brings the widgets
    _check_installed("ipywidgets", "widgets")
    if not NOTEBOOK.exists():
        check_place(NOTEBOOK, suffixes=(".ipynb",))
        dpexplain.io.write_file(NOTEBOOK, notebook_text([_CELL]))
    elif _code(NOTEBOOK) != [_CELL]:
        raise CommandError(
            f"{NOTEBOOK} in this folder has other code than the notebook that this command writes, "
            "and opening it would run that code; rename or delete it."
        )
    options = [_PORTS[host].format(asked.port)] * (asked.port is not None)
    options += ["--no-browser"] * asked.no_browser
    # The address holds a secret, so that other users of the computer cannot open the form.
    start = ["voila", "--token"] if host == "voila" else ["jupyter", "lab"]
    return run_program([*start, str(NOTEBOOK), *options], only_print=asked.only_print)


def run_open(asked: argparse.Namespace) -> int:
    """Open a page in the browser, or a notebook or saved result in JupyterLab."""
    path: Path = asked.file
    if not path.is_file():
        raise CommandError(f"{path}: no such file.")
    suffix = path.suffix.lower()
    if suffix in (".html", ".htm"):
        address = path.resolve().as_uri()
        if asked.only_print:
            print(address)
        elif not webbrowser.open(address):
            raise CommandError(f"no browser was found; open {address} in one.")
        return 0
    if suffix not in (".ipynb", ".json"):
        raise CommandError(f"{path}: expected a name that ends in .html, .ipynb or .json.")
    notebook = path if suffix == ".ipynb" else _notebook_for(path)
    return run_program(["jupyter", "lab", str(notebook)], only_print=asked.only_print)


def _notebook_for(path: Path) -> Path:
    """Return the notebook that shows a saved file; write it if it does not exist."""
    dpexplain.io.load(path)  # an error is clearer here than in the notebook
    notebook = path.with_suffix(".ipynb")
    if not notebook.exists():
        cells = [
            "import dpexplain\nfrom dpexplain_widgets import Explorer",
            f"shown = dpexplain.io.load({path.name!r})\nExplorer(shown)",
        ]
        dpexplain.io.write_file(notebook, notebook_text(cells))
    return notebook


def run_program(arguments: Sequence[str], *, only_print: bool) -> int:
    """Run a Python module and wait for it to finish, or only print the command.

    Parameters
    ----------
    arguments : sequence of str
        Name and arguments of the module, such as ``["jupyter", "lab"]``.
    only_print : bool
        Whether to print the command instead of running it.

    Returns
    -------
    int
        Exit status.
    """
    # With -P, a file such as voila.py in the current folder is not taken for the module.
    command = [sys.executable, "-P", "-m", *arguments]
    if only_print:
        print(" ".join(command))
        return 0
    return subprocess.call(command)


def notebook_text(cells: Sequence[str]) -> str:
    """Return the contents of a notebook file with the given code cells.

    Parameters
    ----------
    cells : sequence of str
        Source of each cell.

    Returns
    -------
    str
    """
    content = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for number, source in enumerate(cells)
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1) + "\n"


def _code(notebook: Path) -> list[str] | None:
    """Return the nonempty code cells of a notebook; None if it cannot be read."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return [source for source in code if source.strip()]


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _check_installed(module: str, extra: str) -> None:
    if not _installed(module):
        voila = "the form needs voila; install it with: pip install voila"
        words = voila if extra == "voila" else needed("the form", module, extra)
        raise CommandError(f"{words}.")


def _port(text: str) -> int:
    """Parse a port, for argparse."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text} must be a number from 1 to 65535")
    return int(text)
