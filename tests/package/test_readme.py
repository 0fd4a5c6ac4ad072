"""The README is short, and its code runs with only the extra that it names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

MAX_LINES = 130
# Installed name -> imported name, where the two differ.
IMPORTED = {"interpret-core": "interpret", "dp-accounting": "dp_accounting"}


@pytest.fixture(scope="module")
def readme(repository: Path) -> str:
    return (repository / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short(readme):
    assert len(readme.splitlines()) <= MAX_LINES


def test_the_readme_names_the_two_first_commands(readme):
    assert "\nmake explore " in readme
    assert "\nmake test " in readme


def missing_after_installing_widgets(repository: Path) -> set[str]:
    """Return the import names of what the other extras would install."""
    with open(repository / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    installed = {Requirement(text).name for text in [*project["dependencies"], *extras["widgets"]]}
    absent = {
        Requirement(text).name
        for extra in ("bench", "dask", "examples", "interop", "subsampled")
        for text in extras[extra]
    }
    return {IMPORTED.get(name, name) for name in absent - installed}


@pytest.mark.full
def test_the_ten_lines_run_after_installing_the_widgets_extra(readme, repository, tmp_path):
    (lines,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    absent = missing_after_installing_widgets(repository)
    assert "statsmodels" in absent
    hidden = f"import sys; sys.modules.update(dict.fromkeys({sorted(absent)}))\n"

    result = subprocess.run(
        [sys.executable, "-c", hidden + lines],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
