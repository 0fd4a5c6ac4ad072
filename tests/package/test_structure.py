"""Structure: few files per folder, one meaning per name, imports in one direction.

``make unit PYTEST_ARGS="-s -k test_structure"`` prints the numbers.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import import_graph
from import_graph import PACKAGES, ROOT

LONGEST_FOLDER, MODULES_AT_ROOT, USES_OF_A_NAME = 16, 5, 2
FIRST_LINE = 80
DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Conveniences on plain data, the only names for which something imports what stands on it.
UPWARD = {"plot", "to_shap"}
# Bases with a single child that are ideas of their own. Any other goes back into its child.
IDEAS = {
    "LedgerReading": "what a ledger says, without anything that charges it",
    "NoisyModel": "noise and effects of all curves together, without what they look like",
    "NoisyFilters": "noise of all filters together, as NoisyModel for curves",
    "InterpretData": "names of InterpretML that make sense for one score; InterpretManner has all",
    "ScoresNumbers": "scores of numbers read by a schema, as ScoresClasses for labels",
    "FromInterpret": "declarations in the manner of InterpretML, which are no part of a schema",
}


def files(package):
    return [
        path
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".js", ".css") and "__pycache__" not in path.parts
    ]


def test_at_most_five_modules_lie_at_the_root_of_a_package():
    for package in PACKAGES:
        found = sorted(path.name for path in (ROOT / package).glob("*.py"))
        print(f"\n{package}: {len(found)} modules at the root: {', '.join(found)}")
        assert len(found) <= MODULES_AT_ROOT


def test_no_folder_holds_more_than_sixteen_files():
    counts = Counter(path.parent for package in PACKAGES for path in files(package))
    longest = [(n, str(folder.relative_to(ROOT))) for folder, n in counts.most_common(5)]
    print(f"\n{len(counts)} folders; the fullest: {longest}")
    assert longest[0][0] <= LONGEST_FOLDER


def test_no_name_of_a_module_is_used_more_than_twice():
    places = defaultdict(list)
    for package in PACKAGES:
        for path in Path(ROOT / package).rglob("*.py"):
            if path.name != "__init__.py":
                places[path.name].append(str(path.parent.relative_to(ROOT)))
    twice = {name: found for name, found in places.items() if len(found) >= USES_OF_A_NAME}
    print(f"\n{len(twice)} names are used twice: {', '.join(sorted(twice))}")
    assert {name: found for name, found in twice.items() if len(found) > USES_OF_A_NAME} == {}


@pytest.mark.full
def test_no_modules_import_each_other_on_import_or_for_types():
    found = import_graph.imports()
    circles = [module for module, reached in import_graph.above(found).items() if module in reached]
    kinds = Counter(each.kind for each in found)
    print(f"\n{dict(kinds)} imports; modules in a circle: {circles}")
    assert circles == []


@pytest.mark.full
def test_only_named_conveniences_import_what_stands_on_the_importer():
    found = import_graph.imports()
    above = import_graph.above(found)
    upward = [
        each
        for each in found
        if each.kind == "lazy" and each.importer in above.get(each.imported, set())
    ]
    print(f"\nupward lazy imports, by function: {dict(Counter(each.function for each in upward))}")
    assert {each.function for each in upward} == UPWARD


def test_a_base_that_only_one_child_uses_is_an_idea_of_its_own():
    found = import_graph.bases_of_one()
    print(f"\n{len(found)} bases that only one child uses: {found}")
    assert set(found) == set(IDEAS)


def test_a_base_that_only_one_child_uses_is_found(tmp_path):
    package = tmp_path / "dpexplain"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(
        "class Lonely: ...\nclass Shared: ...\nclass Caught(Exception): ...\nclass Named: ...\n"
    )
    (package / "b.py").write_text(
        "from dpexplain import a\n"
        "class Child(a.Lonely, a.Shared, a.Caught, a.Named): ...\n"
        "class Other(a.Shared):\n    def of(self, named: a.Named): ...\n"
        "try: ...\nexcept a.Caught: ...\n"
    )
    assert import_graph.bases_of_one(tmp_path) == {"Lonely": "Child"}


def test_the_import_graph_sees_each_kind_of_import(tmp_path):
    package = tmp_path / "dpexplain"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(
        "import dpexplain.b\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from dpexplain.c import C\n"
        "def f():\n    from dpexplain import b, c\n"
    )
    (package / "b.py").write_text("from dpexplain.a import f\n")
    (package / "c.py").write_text("C = int\n")
    found = import_graph.imports(tmp_path)
    assert {(each.imported[10:], each.kind, each.function) for each in found} == {
        ("a", "eager", ""),
        ("b", "eager", ""),
        ("c", "types", ""),
        ("b", "lazy", "f"),
        ("c", "lazy", "f"),
    }
    assert "dpexplain.a" in import_graph.above(found)["dpexplain.a"]


def test_the_first_line_of_a_docstring_has_at_most_eighty_characters():
    longer = []
    for package in PACKAGES:
        for path in Path(ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, DESCRIBED):
                    line, *_ = (ast.get_docstring(node) or "").splitlines() or [""]
                    longer += [f"{path}: {line}"] if len(line) > FIRST_LINE else []
    assert longer == []
