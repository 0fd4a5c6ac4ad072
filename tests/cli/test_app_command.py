"""The command that opens the form in a browser."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from dpexplain.cli import main


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("installed", "options", "started"),
    [
        (("voila", "jupyterlab"), [], ["voila", "--token"]),
        (("voila", "jupyterlab"), ["--host", "lab"], ["jupyter", "lab"]),
        (("jupyterlab",), ["--port", "8899"], ["jupyter", "lab"]),
    ],
)
def test_app_starts_voila_or_the_laboratory(installed, options, started, monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "dpexplain.cli.hosts._installed",
        lambda module: module in installed if module in ("voila", "jupyterlab") else found(module),
    )
    assert main(["app", "--print", "--no-browser", *options]) == 0
    command = capsys.readouterr().out.split()
    # -P: a voila.py or jupyter.py of the current folder is not imported
    assert command[1 : 3 + len(started)] == ["-P", "-m", *started]
    assert "dpexplain-app.ipynb" in command
    assert "--no-browser" in command
    assert ("--ServerApp.port=8899" in command) == ("8899" in options)
    (cell,) = json.loads(Path("dpexplain-app.ipynb").read_text())["cells"]
    assert "ReleaseForm()" in cell["source"]


def test_app_opens_no_notebook_with_other_code(capsys):
    assert main(["app", "--print"]) == 0
    notebook = Path("dpexplain-app.ipynb")
    saved = json.loads(notebook.read_text())
    (cell,) = saved["cells"]
    cell["source"] = cell["source"].splitlines(keepends=True)  # as Jupyter saves it
    notebook.write_text(json.dumps(saved))
    assert main(["app", "--print"]) == 0
    planted = {**saved, "cells": [cell, {**cell, "source": "import os"}]}
    for text in ("{}", "[", json.dumps(planted)):
        notebook.write_text(text)
        capsys.readouterr()
        assert main(["app", "--print"]) == 2
        assert "has other code" in capsys.readouterr().err
        assert notebook.read_text() == text


@pytest.mark.parametrize(
    ("installed", "options", "command"),
    [
        ({"ipywidgets"}, [], '[lab]"'),
        (set(), [], '[lab]"'),  # brings the widgets as well
        ({"voila"}, [], '[widgets]"'),
        ({"ipywidgets", "jupyterlab"}, ["--host", "voila"], "pip install voila."),
    ],
)
def test_app_names_the_command_that_installs_what_is_missing(
    installed, options, command, monkeypatch, capsys
):
    monkeypatch.setattr("dpexplain.cli.hosts._installed", lambda module: module in installed)
    assert main(["app", "--print", *options]) == 2
    message = capsys.readouterr().err
    assert "install it with: " in message
    assert command in message
