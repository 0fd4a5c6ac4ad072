"""The conda recipe asks for what pyproject.toml asks for; it cannot be built here."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import dpexplain

ROOT = Path(__file__).resolve().parents[2]
# conda-forge calls it matplotlib-base where no window is opened.
NAMES = {"matplotlib-base": "matplotlib"}


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docs" / "start" / "conda_recipe.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def needed(requirements: list[str]) -> dict[str, str]:
    """Map each package, except Python, to its versions."""
    found = [Requirement(text) for text in requirements if not text.startswith("python ")]
    return {NAMES.get(each.name, each.name): str(each.specifier) for each in found}


def test_recipe_needs_the_core_dependencies_and_those_of_the_dashboards(recipe, project):
    extras = project["project"]["optional-dependencies"]["widgets"]

    assert needed(recipe["requirements"]["run"]) == needed(
        project["project"]["dependencies"] + extras
    )


def test_recipe_builds_with_the_same_backend(recipe, project):
    host = needed(recipe["requirements"]["host"])

    assert host.pop("pip") == ""
    assert host == needed(project["build-system"]["requires"])


def test_recipe_states_the_name_version_license_and_command(recipe, project):
    stated = project["project"]
    (command,) = recipe["build"]["python"]["entry_points"]

    assert recipe["context"] == {
        "name": stated["name"],
        "version": dpexplain.__version__,
        "python_min": stated["requires-python"].removeprefix(">="),
    }
    assert recipe["about"]["license"] == stated["license"]
    assert recipe["about"]["summary"] == stated["description"]
    assert dict([command.split(" = ")]) == stated["scripts"]


def test_recipe_finds_the_repository(recipe):
    folder = ROOT / "docs" / "start" / recipe["source"]["path"]

    assert (folder.resolve() / "pyproject.toml").is_file()
