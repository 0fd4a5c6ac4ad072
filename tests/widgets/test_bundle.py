"""The front end's modules are bundled into one, and follow rules for strings and styles."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import dpexplain_widgets
import view_examples
from dpexplain_widgets.export import bundle as bundling

PATHS = {path.name: path for path in bundling.STATIC.rglob("*.js")}
MODULES = sorted(PATHS)
ENTRIES = (
    "explorer.js",
    "filter.js",
    "importance.js",
    "ledger.js",
    "overview.js",
    "page.js",
    "shape.js",
)


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Return an empty folder to which each test adds its own modules."""
    monkeypatch.setattr(bundling, "STATIC", tmp_path)
    bundling.bundle.cache_clear()
    yield tmp_path
    bundling.bundle.cache_clear()


def without_comments(source: str) -> str:
    return re.sub(r"^\s*(//|\*|/\*).*$", "", source, flags=re.MULTILINE)


@pytest.mark.parametrize("entry", ENTRIES)
def test_bundle_imports_nothing_and_holds_each_module_once(entry):
    text = bundling.bundle(entry)

    assert not re.search(r"^\s*import\b", text, re.MULTILINE)
    headings = re.findall(r"^// (\w+\.js)$", text, re.MULTILINE)
    assert headings[-1] == entry
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize("entry", sorted(set(ENTRIES) - {"page.js"}))
def test_bundle_of_a_view_has_one_default_export_and_no_other(entry):
    exports = re.findall(r"^export .*$", bundling.bundle(entry), re.MULTILINE)

    assert exports == [f'export default viewWidget("{entry[:-3]}", create{entry[:-3].title()});']


def test_page_without_kernel_is_a_script_that_exports_nothing():
    assert not re.search(r"^export\b", bundling.bundle("page.js"), re.MULTILINE)


def test_script_of_a_page_shows_the_view_and_has_neither_exports_nor_comments():
    view = bundling.bundle("explorer.js")
    script = bundling.page_script(view)

    assert len(script) < 0.75 * len(view)
    assert not re.search(r"^(export|import)\b|^\s|^//|^/\*", script, re.MULTILINE)
    for text in ("Privacy parameter epsilon", "Which ε do I need?", "pointerleave"):
        assert text in script


def test_a_part_that_is_left_out_takes_what_it_alone_needs_with_it():
    whole, less = bundling.bundle("explorer.js"), bundling.bundle("explorer.js", ("createEdit",))

    assert "// edit.js" in whole
    assert not re.search(r"createEdit|^// edit", less, re.MULTILINE)
    assert "// state.js" in less
    assert set(less.splitlines()) <= set(whole.splitlines())


def test_a_page_needs_a_view():
    with pytest.raises(ValueError, match="one default export, got 0"):
        bundling.page_script("const a = 1;\n")


# What unfolds a page stands in it as it is, and names every sign that a folded text may hold.
@pytest.mark.parametrize("module", sorted({*MODULES} - {"page_loader.js"}))
def test_no_template_runs_over_a_line_so_that_indentation_means_nothing(module):
    lines = PATHS[module].read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if line.count("`") % 2] == []


def test_a_module_stands_after_what_it_needs():
    text = bundling.bundle("explorer.js")
    order = re.findall(r"^// (\w+\.js)$", text, re.MULTILINE)
    for name in order:
        source = PATHS[name].read_text(encoding="utf-8")
        needed = re.findall(r'from "\.{1,2}/(?:[\w./]*/)?(\w+\.js)";', source)
        assert all(order.index(other) < order.index(name) for other in needed)


def test_top_level_names_of_all_modules_differ():
    names = [
        name
        for module in MODULES
        for _, name in bundling._DECLARATION.findall(PATHS[module].read_text("utf-8"))
    ]

    assert sorted(names) == sorted(set(names))


def test_a_name_used_twice_is_refused(modules):
    (modules / "one.js").write_text("export function draw() {}\n")
    (modules / "two.js").write_text('import { draw } from "./one.js";\nconst draw = 1;\n')

    with pytest.raises(ValueError, match=r"one\.js and two\.js both declare 'draw'"):
        bundling.bundle("two.js")


def test_a_circle_of_imports_is_refused(modules):
    (modules / "one.js").write_text('import { b } from "./two.js";\nexport const a = 1;\n')
    (modules / "two.js").write_text('import { a } from "./one.js";\nexport const b = 1;\n')

    with pytest.raises(ValueError, match=r"circular import: one\.js -> two\.js -> one\.js"):
        bundling.bundle("one.js")


def test_an_import_that_nobody_exports_is_refused(modules):
    (modules / "one.js").write_text("const hidden = 1;\n")
    (modules / "two.js").write_text('import { hidden } from "./one.js";\n')

    with pytest.raises(ValueError, match=r"two\.js imports \['hidden'\] that one\.js does not"):
        bundling.bundle("two.js")


@pytest.mark.parametrize(
    "line", ['import * as all from "./one.js";', 'import x from "lib";', "import('./one.js');"]
)
def test_an_import_of_another_form_is_refused(modules, line):
    (modules / "one.js").write_text("export const a = 1;\n")
    (modules / "two.js").write_text(f"{line}\n")

    with pytest.raises(ValueError, match="an unsupported import"):
        bundling.bundle("two.js")


@pytest.mark.parametrize("name", ["absent.js", "../explorer.js", "shape.css"])
def test_an_unknown_module_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r"no module .*; the modules are bin_ticks\.js"):
        bundling.bundle(name)


@pytest.mark.parametrize("module", MODULES)
def test_module_never_turns_text_into_markup_or_code(module):
    source = without_comments(PATHS[module].read_text(encoding="utf-8"))
    forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|srcdoc"

    assert not re.search(forbidden, source)


@pytest.mark.parametrize("module", MODULES)
def test_module_asks_nothing_of_the_network(module):
    source = PATHS[module].read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'`]+", source))

    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|@import", source)


@pytest.mark.parametrize("module", MODULES)
def test_lines_and_files_of_modules_stay_short(module):
    lines = PATHS[module].read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 300
    assert max(map(len, lines)) <= 120


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("entry", ENTRIES)
def test_bundle_is_valid_javascript(entry, tmp_path):
    path = tmp_path / "bundle.mjs"
    path.write_text(bundling.bundle(entry), encoding="utf-8")
    result = subprocess.run(["node", "--check", str(path)], capture_output=True, text=True)

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", view_examples.view_names())
def test_every_view_carries_its_own_bundle_and_the_style(name):
    view = getattr(dpexplain_widgets, name)

    assert view._esm == bundling.bundle(f"{view.__module__.rpartition('.')[2]}.js")
    assert view._css == bundling.stylesheet()
