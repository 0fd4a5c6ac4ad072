"""The public names exist and have types; a wrong name gets a helpful error."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

import dpexplain

PARTS = (
    "accounting",
    "certificate",
    "compare",
    "datasets",
    "edit",
    "explain",
    "interop",
    "io",
    "models",
    "plotting",
    "schema",
    "statement",
)
# Public as well, imported by their full names by those who audit or extend the library.
IMPORTED = ("app", "audit", "binning", "cli", "exceptions", "mechanisms", "tables")


@pytest.mark.parametrize("name", dpexplain.__all__)
def test_public_name_loads(name):
    assert getattr(dpexplain, name) is not None


def test_names_for_type_checkers_are_the_names_that_load():
    with open(dpexplain.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    typed = {
        alias.name: node.module.removeprefix("dpexplain.")
        for node in block.body
        for alias in node.names
    }

    assert typed == dpexplain._PART_OF_NAME
    assert {*typed, "__version__"} == set(dpexplain.__all__)


@pytest.mark.parametrize("part", PARTS)
def test_part_is_reached_by_its_own_name(part):
    assert getattr(dpexplain, part) is importlib.import_module(f"dpexplain.{part}")


def test_parts_reached_by_their_own_names_are_these():
    assert set(PARTS) == set(dpexplain._PUBLIC_PARTS)


@pytest.mark.parametrize("part", sorted({*PARTS, *IMPORTED}))
def test_every_name_a_part_lists_exists(part):
    package = importlib.import_module(f"dpexplain.{part}")

    assert package.__all__
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def test_completion_offers_every_public_name():
    assert {*dpexplain.__all__, *PARTS} <= set(dir(dpexplain))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Explainer'"):
        dpexplain.Explainer  # noqa: B018


def test_version_is_a_release_number():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", dpexplain.__version__)
