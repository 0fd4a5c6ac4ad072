"""The wheel and the source archive, built once for the tests of packaging."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOSTED = "https://example.org/team/dpexplain"


@pytest.fixture(scope="session")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the source archive and the wheel built from it, as for a release."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    result = subprocess.run(
        [*command, str(repository)],
        env={**os.environ, "DPEXPLAIN_REPOSITORY": HOSTED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder
