"""What a release states about itself: one version, a citation, a changelog, a policy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import dpexplain


@pytest.fixture(scope="module")
def citation(repository: Path) -> dict[str, object]:
    return yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))


def test_citation_names_what_the_format_requires(citation):
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == "MIT"


def test_citation_is_of_this_version(citation):
    assert citation["version"] == dpexplain.__version__


def test_changelog_has_a_heading_for_this_version(repository):
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## {re.escape(dpexplain.__version__)}\b", changelog, re.MULTILINE)


def test_version_is_stated_in_one_place_of_the_code(repository):
    stated = [
        path
        for path in (repository / "dpexplain").rglob("*.py")
        if re.search(r"^__version__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert stated == [repository / "dpexplain" / "__init__.py"]
    assert 'dynamic = ["version"]' in (repository / "pyproject.toml").read_text(encoding="utf-8")
