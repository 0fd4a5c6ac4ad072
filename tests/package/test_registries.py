"""New models, views and kinds of explanations work after touching only a few files."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from import_graph import ROOT

pytestmark = pytest.mark.full

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

EXPLANATION = '''
"""An explanation kind that somebody adds."""
import dataclasses

from dpexplain.explain._record import Record
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Newcomer(Record, ModelDisplay):
    """Importances of a model."""

    model: GlobalExplanation
    guarantee: Guarantee

    def frame(self):
        return self.model.importances().rename_axis("term").reset_index()

    def plot(self, term=None):
        from dpexplain.plotting.newcomer import plot_newcomer

        return plot_newcomer(self)
'''
EXPLANATION_FIGURE = '''
"""Figure of a kind that somebody adds."""


def plot_newcomer(newcomer):
    from matplotlib import pyplot

    ax = pyplot.figure().subplots()
    newcomer.model.importances().plot.barh(ax=ax)
    return ax
'''
EXPLANATION_FILE = '''
"""File of a kind that somebody adds."""
from dpexplain.explain.newcomer import Newcomer
from dpexplain.io._codecs import global_from_plain, global_to_plain


def newcomer_to_plain(newcomer):
    return {"model": global_to_plain(newcomer.model)}


def newcomer_from_plain(value, where):
    model = global_from_plain(value["model"], where)
    return Newcomer(model, model.guarantee)
'''
FINDS_EXPLANATION = """
import contextlib, io
import dpexplain.io
from dpexplain.cli import main
from dpexplain.compare import releasable
from dpexplain.explain.newcomer import Newcomer
from dpexplain_widgets import Explorer

model = dpexplain.io.load("explanation.json")
newcomer = Newcomer(model, model.guarantee)
dpexplain.io.save(newcomer, "newcomer.json")
assert dpexplain.io.load("newcomer.json") == newcomer
assert releasable(newcomer) is newcomer

def printed(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*arguments]) == 0
    return out.getvalue()

assert newcomer.guarantee.statement()[:30] in printed("explain", "newcomer.json")
assert printed("explain", "newcomer.json", "--csv").startswith("term,importance")
term = model.terms[0].name
assert "importance" in printed("explain", "newcomer.json", "--term", term)
printed("explain", "newcomer.json", "--plot", "newcomer.png")
printed("report", "newcomer.json", "--out", "newcomer.html")
view = Explorer(newcomer)
assert view.payload["terms"][0]["name"] == term
assert view.export_html("page.html").exists()
"""


@pytest.fixture
def copy(tmp_path):
    """Copy the packages."""
    for package in ("dpexplain", "widgets/dpexplain_widgets"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    return tmp_path


def touched(copy):
    """Return existing files that have changed."""
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
    """Run a program on the copy; an error fails the test."""
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


def test_a_new_explanation_kind_is_shown_everywhere_after_few_files_are_touched(
    copy, explanation_file
):
    put(copy / "dpexplain/explain/newcomer.py", EXPLANATION)
    put(copy / "dpexplain/plotting/newcomer.py", EXPLANATION_FIGURE)
    put(copy / "dpexplain/io/_newcomer.py", EXPLANATION_FILE)
    kinds = copy / "dpexplain/io/kinds.py"
    insert(kinds, "from dpexplain.statement.st", "from dpexplain.io import _newcomer\n")
    line = "_Kind(_newcomer.Newcomer, _newcomer.newcomer_to_plain, _newcomer.newcomer_from_plain)"
    insert(kinds, '    "pair": _Kind(', f'    "newcomer": {line},\n')
    payload = copy / "widgets/dpexplain_widgets/payload/payload.py"
    imported = "from dpexplain.explain.newcomer import Newcomer\n"
    insert(payload, "from dpexplain.explain._by_class import", imported)
    line = "    Newcomer: lambda shown: _explanation_payload(shown.model),\n"
    insert(payload, "    LedgerSummary: _ledger_payload", line)
    shutil.copy(explanation_file, copy / "explanation.json")
    run(FINDS_EXPLANATION, copy)
    print(f"\na new explanation kind touches {touched(copy)}")
    assert len(touched(copy)) <= MOST_FILES


def test_a_kind_that_does_not_say_whether_it_may_be_released_cannot_be_made():
    from dpexplain.explain.display import ExplanationDisplay

    class Careless(ExplanationDisplay):
        def frame(self): ...
        def plot(self): ...

    with pytest.raises(TypeError, match="releasable"):
        Careless()


def test_every_kind_that_can_be_saved_and_shown_is_a_display():
    """The others do not explain models."""
    from dpexplain.explain.display import Display
    from dpexplain.io.kinds import _KINDS

    others = {name for name, kind in _KINDS.items() if not issubclass(kind.type, Display)}
    assert others == {"guarantee", "ledger", "statement", "edit-log"}


def asks_for_attributes(path):
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "hasattr" for call in calls)


def test_nothing_that_shows_explanations_recognizes_them_by_their_attributes():
    rooms = [ROOT / "dpexplain" / name for name in ("cli", "explain", "io", "interop", "plotting")]
    rooms.append(ROOT / "widgets/dpexplain_widgets")
    found = {
        path.name for room in rooms for path in room.rglob("*.py") if asks_for_attributes(path)
    }
    # Models of another package are known by what they have, without importing it.
    assert found == {"from_interpretml.py"}


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
