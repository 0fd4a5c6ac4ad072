"""Imports among the modules of this repository, read from the source without running it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("dpexplain", "widgets/dpexplain_widgets")


class Import(NamedTuple):
    """An import of one of our modules by another."""

    importer: str
    imported: str
    kind: str
    """ "eager" (on import), "types" (for a type checker) or "lazy" (inside a function)."""
    function: str
    """Innermost function that it stands in; "" outside of all."""


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Return the files of the packages by module name."""
    found = {}
    for package in PACKAGES:
        base = (root / package).parent
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(root: Path = ROOT) -> list[Import]:
    """Return the imports among the modules of the packages."""
    modules = sources(root)
    return [
        Import(module, name, kind, function)
        for module, path in modules.items()
        for names, kind, function in _statements(ast.parse(path.read_text()), "eager", "")
        for name in {name if name in modules else name.rpartition(".")[0] for name in names}
        if name in modules and name != module
    ]


def _statements(node: ast.AST, kind: str, function: str) -> Iterator[tuple[list[str], str, str]]:
    """Return names that a statement may import; members as ``module.member``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield [alias.name for alias in child.names], kind, function
        elif isinstance(child, ast.ImportFrom):
            yield [f"{child.module}.{alias.name}" for alias in child.names], kind, function
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _statements(child, "lazy", child.name)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            yield from _statements(child, "types", function)
        else:
            yield from _statements(child, kind, function)


def above(found: list[Import]) -> dict[str, set[str]]:
    """Return the modules that each module reaches by eager and type-only imports."""
    direct = defaultdict(set)
    for each in found:
        if each.kind != "lazy":
            direct[each.importer].add(each.imported)
    reached: dict[str, set[str]] = {}
    for module in list(direct):
        seen: set[str] = set()
        waiting = [module]
        while waiting:
            for name in direct.get(waiting.pop(), set()) - seen:
                seen.add(name)
                waiting.append(name)
        reached[module] = seen
    return reached


def bases_of_one(root: Path = ROOT) -> dict[str, str]:
    """Return classes used only by a single child, with the name of the child.

    A base that is also called, caught, compared or named in a type serves a purpose of its own.
    """
    children: dict[str, list[str]] = defaultdict(list)
    used: set[str] = set()
    for path in sources(root).values():
        tree = ast.parse(path.read_text())
        inherited: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    name = _last_name(base)
                    children[name].append(node.name)
                    inherited |= {id(each) for each in ast.walk(base)}
            elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in inherited:
                used.add(_last_name(node))
    own = {
        node.name
        for path in sources(root).values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    return {
        name: found[0]
        for name, found in children.items()
        if len(found) == 1 and name in own and name not in used
    }


def _last_name(node: ast.AST) -> str:
    """Return ``C`` for ``C``, ``module.C`` and ``C[T]``."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
