"""A model and a view that somebody adds are found everywhere, after few files are touched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from import_graph import ROOT

MOST_FILES = 3

MODEL = '''
from dpexplain.models.boosting import DPExplainableBoostingClassifier


class DPNewcomer(DPExplainableBoostingClassifier):
    """A model that somebody adds."""
'''
FINDS_MODEL = """
import argparse
import dpexplain
import dpexplain.models as models
from dpexplain import Classes, Numeric, Schema
from dpexplain.audit import private_estimators
from dpexplain.cli.options import add_model, private_estimator

assert "DPNewcomer" in models.__all__
assert dpexplain.DPNewcomer is models.DPNewcomer
assert private_estimators()["DPNewcomer"] is models.DPNewcomer
parser = argparse.ArgumentParser()
add_model(parser)
asked = parser.parse_args(["--model", "newcomer"])
schema = Schema({"age": Numeric(0, 1)}, target=Classes(["no", "yes"]))
assert type(private_estimator(asked, schema)) is models.DPNewcomer
from dpexplain._warm import MODELS
assert MODELS["DPNewcomer"].warm
"""

VIEW = '''
from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class NewcomerView(View):
    """A view that somebody adds."""

    _esm = bundle("newcomer.js")
'''
VIEW_SCRIPT = """
import { viewWidget } from "../../kit/view.js";

export function createNewcomer(model, host) {
  return () => {};
}

export default viewWidget("newcomer", createNewcomer);
"""
FINDS_VIEW = """
import dpexplain.io
import dpexplain_widgets
from dpexplain_widgets import Explorer, NewcomerView
from dpexplain_widgets.views.base import stylesheet

assert "NewcomerView" in dpexplain_widgets.__all__
source = dpexplain.io.load("explanation.json")
view = Explorer(source, tab="newcomer")
assert len(view.selection)
assert ".dpx-newcomer" in stylesheet()
assert "createNewcomer" in view.page_module()
assert view.export_html("page.html").exists()
assert NewcomerView(source).export_html("page.html").exists()
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the packages."""
    for package in ("dpexplain", "widgets/dpexplain_widgets"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    return tmp_path


def touched(copy):
    """Files that were there and differ now."""
    found = []
    for path in copy.rglob("*"):
        original = ROOT / path.relative_to(copy)
        if path.is_file() and original.is_file() and original.read_bytes() != path.read_bytes():
            found.append(str(path.relative_to(copy)))
    return found


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.lstrip())


def insert(path, before, line):
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, line + before))


def run(program, copy):
    """Run a program on the copy; its error is that of the test."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), str(copy / "widgets")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_new_model_is_found_everywhere_after_few_files_are_touched(copy):
    put(copy / "dpexplain/models/newcomer.py", MODEL)
    line = '    "DPNewcomer": Listed("dpexplain.models.newcomer", "classes", "newcomer"),\n'
    insert(copy / "dpexplain/models/registry.py", '    "DPRandomForestClassifier": Listed', line)
    run(FINDS_MODEL, copy)
    print(f"\na new model touches {touched(copy)}")
    assert len(touched(copy)) <= MOST_FILES


def test_a_new_view_is_found_everywhere_after_few_files_are_touched(copy, explanation_file):
    views = copy / "widgets/dpexplain_widgets/views"
    static = copy / "widgets/dpexplain_widgets/static/views"
    put(views / "newcomer.py", VIEW)
    put(static / "newcomer/newcomer.js", VIEW_SCRIPT)
    put(static / "newcomer/newcomer.css", ".dpx-newcomer { display: block; }\n")
    line = '    Listed("NewcomerView", "newcomer", "createNewcomer", tab="newcomer"),\n'
    insert(views / "registry.py", '    Listed("ImportanceView"', line)
    explorer = static / "explorer/explorer.js"
    imported = 'import { createNewcomer } from "../newcomer/newcomer.js";\n'
    insert(explorer, "import { createRank }", imported)
    insert(explorer, '  ["local", "One sample"', '  ["newcomer", "Newcomer", createNewcomer],\n')
    shutil.copy(explanation_file, copy / "explanation.json")
    run(FINDS_VIEW, copy)
    print(f"\na new view touches {touched(copy)}")
    assert len(touched(copy)) <= MOST_FILES


@pytest.fixture
def explanation_file(tmp_path_factory):
    import dpexplain.io
    from example_explanations import classifier

    path = tmp_path_factory.mktemp("explanation") / "explanation.json"
    dpexplain.io.save(classifier(), path)
    return path


def test_the_page_has_the_tabs_that_the_table_of_views_lists():
    from dpexplain_widgets.views.registry import VIEWS

    source = Path(ROOT / "widgets/dpexplain_widgets/static/views/explorer/explorer.js").read_text()
    tabs = re.findall(r'^  \["(\w+)", "[\w ]+", (create\w+)\],$', source, re.MULTILINE)
    assert tabs == [(view.tab, view.create) for view in VIEWS if view.tab]
    imported = set(re.findall(r"^import \{ (create(?!Tabs)\w+) \}", source, re.MULTILINE))
    assert imported == {view.create for view in VIEWS if view.create}
