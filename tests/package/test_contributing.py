"""CONTRIBUTING.md names existing commands, files and packages."""

from __future__ import annotations

import re

import pytest

from import_graph import PACKAGES, ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# A path starts at the root, or in a package where a sentence says which.
STARTS = ("", "dpexplain/", "widgets/dpexplain_widgets/")
BUILT = {"build/docs"}


def commands():
    return set(re.findall(r"^([a-z][a-z-]*):.*##", MAKEFILE, re.MULTILINE))


def paths():
    """Return names in code font that look like paths, without placeholders."""
    found = set(re.findall(r"`([\w./-]+)`", PAGE))
    files = {name for name in found if re.search(r"\.(py|js|css|md|toml|ts)$", name)}
    folders = {name for name in found if "/" in name and not name.startswith(".")}
    return sorted((files | folders) - BUILT)


def rooms(folder):
    """Return the packages in a folder, including those of models and explanations."""
    for path in sorted(folder.iterdir()):
        if (path / "__init__.py").exists():
            yield path
            if path.name in ("models", "boosting", "explain"):
                yield from rooms(path)


def test_every_command_that_make_lists_has_a_line_and_no_other():
    table = PAGE[PAGE.index("| command |") : PAGE.index("## Architecture")]
    named = set(re.findall(r"`make ([a-z][a-z-]*)", table))
    assert named == commands() - {"help"}


def test_every_command_in_the_text_exists():
    assert set(re.findall(r"`make ([a-z][a-z-]*)", PAGE)) <= commands()


@pytest.mark.parametrize("name", paths())
def test_every_path_in_the_text_exists(name):
    assert any((ROOT / start / name).exists() for start in STARTS)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_in_the_architecture_or_below_it(package):
    text = PAGE[PAGE.index("## Architecture") : PAGE.index("## Who may import whom")]
    missing = [room.name for room in rooms(ROOT / package) if f"{room.name}/" not in text]
    assert missing == []


def test_no_room_is_drawn_that_does_not_exist():
    text = PAGE[PAGE.index("## Architecture") : PAGE.index("## Who may import whom")]
    known = {room.name for package in PACKAGES for room in rooms(ROOT / package)}
    assert set(re.findall(r"\b([a-z_]+)/", text)) <= known
