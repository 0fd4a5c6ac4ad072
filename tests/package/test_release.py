"""What a release says about itself: its version, citation, changelog and policy."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import dpexplain


@pytest.fixture(scope="module")
def citation(repository: Path) -> dict[str, object]:
    return yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))


def test_citation_names_what_the_format_requires(citation):
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == "MIT"


def test_citation_is_of_this_version(citation):
    assert citation["version"] == dpexplain.__version__


def test_a_dated_changelog_and_the_citation_name_the_same_day(citation, repository):
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.escape(dpexplain.__version__)
    (dated,) = re.findall(rf"^## {version} \(([\d-]+|unreleased)\)$", changelog, re.MULTILINE)
    released = date.fromisoformat(citation["date-released"])

    assert dated in ("unreleased", released.isoformat())


def test_changelog_has_a_heading_for_this_version(repository):
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## {re.escape(dpexplain.__version__)}\b", changelog, re.MULTILINE)


def test_version_is_stated_in_one_place_of_the_code(repository):
    stated = [
        path
        for path in (repository / "dpexplain").rglob("*.py")
        if re.search(r"^__version__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert stated == [repository / "dpexplain" / "_utils" / "version.py"]
    with open(repository / "pyproject.toml", "rb") as file:
        assert "version" in tomllib.load(file)["project"]["dynamic"]


def test_every_dependency_has_its_licence_in_the_table(repository):
    with open(repository / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(text for extra in extras for text in extra)]
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## Dependencies\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| ")]
    licensed = {
        name for names, _, licence in rows for name in names.strip().split(", ") if licence.strip()
    }

    assert {Requirement(text).name for text in wanted} - {"dpexplain"} - licensed == set()


def test_authors_and_references_of_the_citation_are_complete(citation):
    for person in citation["authors"]:
        assert {"name"} <= set(person) or {"family-names", "given-names"} <= set(person)
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= set(reference)
    assert len(set(citation["keywords"])) == len(citation["keywords"])
    assert str(citation["cff-version"]) == "1.2.0"
