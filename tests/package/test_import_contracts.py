"""The contracts on who imports whom notice an import that breaks them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

# Where an import is planted, the import, and the contract that must notice it.
PLANTED = [
    ("dpexplain/io/__init__.py", "import dpexplain_widgets", "Views stand on comparisons"),
    ("dpexplain/explain/__init__.py", "import dpexplain.compare", "Views stand on comparisons"),
    (
        "dpexplain/explain/__init__.py",
        "import scipy.stats",
        "Explanations need numpy, pandas and schemas",
    ),
    ("dpexplain/compare/__init__.py", "import dpexplain.models", "never see a model"),
    ("dpexplain/edit/__init__.py", "import dpexplain.models", "never see a model"),
    ("dpexplain/edit/__init__.py", "import dpexplain.compare", "Views stand on comparisons"),
    ("dpexplain/accounting/__init__.py", "import dpexplain.mechanisms", "Models stand on bins"),
    ("dpexplain/datasets/__init__.py", "import dpexplain.models", "Datasets know schemas only"),
    (
        "dpexplain/schema/schema.py",
        "import dpexplain.accounting",
        "import no part that stands on them",
    ),
]


def copy_packages(repository: Path, folder: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "dpexplain", folder / "dpexplain", ignore=ignored)
    shutil.copytree(
        repository / "widgets" / "dpexplain_widgets",
        folder / "widgets" / "dpexplain_widgets",
        ignore=ignored,
    )
    shutil.copy(repository / "pyproject.toml", folder)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(folder / "widgets")])
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def broken_contracts(report: str) -> list[str]:
    return [line for line in report.splitlines() if " BROKEN" in line]


@pytest.mark.parametrize(("file", "planted", "contract"), PLANTED)
def test_planted_import_breaks_its_contract(repository, tmp_path, file, planted, contract):
    copy_packages(repository, tmp_path)
    with open(tmp_path / file, "a", encoding="utf-8") as module:
        module.write(f"\n{planted}\n")

    result = lint_imports(tmp_path)

    assert result.returncode == 1, result.stdout + result.stderr
    assert any(contract in line for line in broken_contracts(result.stdout)), result.stdout


def test_contracts_are_kept(repository, tmp_path):
    copy_packages(repository, tmp_path)

    result = lint_imports(tmp_path)

    assert result.returncode == 0, result.stdout + result.stderr
