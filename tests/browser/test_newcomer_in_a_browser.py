"""A newcomer's files, made with the wheel: the report in a browser, the sweep in JupyterLab."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from documentation import REPOSITORY
from jupyter_lab import JupyterLab, evaluate_in_kernel, open_notebook, run_all_cells
from newcomer import environment_of_wheel, run, write_tables

pytestmark = [pytest.mark.browser, pytest.mark.full]

TABLE = ("data.csv", "--target", "readmitted", "--schema", "schema.toml", "--epsilon", "0.5", "2")
COMMANDS = (
    ("schema", "draft", "public_sample.csv", "--target", "readmitted", "--out", "schema.toml"),
    ("sweep", *TABLE, "--cap-epsilon", "3", "--out", "sweep.json"),
    ("report", "sweep.json", "--out", "report.html"),
)
CELL = """
import dpexplain, dpexplain.io
from dpexplain_widgets import Explorer
Explorer(dpexplain.io.load("sweep.json"))
""".strip()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    built = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built)]
    subprocess.run([*build, str(REPOSITORY)], check=True, capture_output=True)
    return environment_of_wheel(built, tmp_path_factory.mktemp("newcomer") / "environment")


@pytest.fixture(scope="module")
def followed(environment, tmp_path_factory):
    """Return a folder with what three commands wrote."""
    folder = tmp_path_factory.mktemp("empty")
    write_tables(folder)
    for command in COMMANDS:
        run(folder, environment, "dpexplain", *command)
    return folder


def test_the_report_of_a_newcomer_opens_in_a_browser_without_a_network(followed, new_page):
    page = new_page(offline=True)
    page.goto((followed / "report.html").as_uri())
    page.locator(".dpx-plot svg").first.wait_for()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("End")
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 2"


def test_the_sweep_of_a_newcomer_opens_in_jupyterlab(followed, environment, new_page, tmp_path):
    python = Path(environment["PATH"].split(":")[0]) / "python"
    kernel = tmp_path / "data" / "kernels" / "newcomer"
    kernel.mkdir(parents=True)
    argv = [str(python), "-I", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Newcomer", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    shown = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    shown.metadata["kernelspec"] = {"name": "newcomer", "display_name": "Newcomer"}
    nbformat.write(shown, followed / "look.ipynb")

    lab = JupyterLab(followed, tmp_path)
    try:
        page = new_page()
        open_notebook(page, lab, "look.ipynb")
        run_all_cells(page)
        page.locator(".dpx-plot svg").first.wait_for()
        assert str(python.parents[1]) in evaluate_in_kernel(page, "dpexplain.__file__")
        page.close()  # before the server: a page that loses its kernel complains
    finally:
        lab.stop()
