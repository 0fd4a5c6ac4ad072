"""Run make as a person would, whatever make or command runs these tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def of_make(name: str) -> bool:
    """Whether a variable comes from the make that runs these tests."""
    return name.startswith("MAKE") or name == "FULL"


def make(repository: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make with variables of the environment, those of another make left out."""
    inherited = {name: value for name, value in os.environ.items() if not of_make(name)}
    # Make need not search for a Python, which takes a second.
    inherited["PYTHON"] = sys.executable
    return subprocess.run(
        ["make", *arguments],
        cwd=repository,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
