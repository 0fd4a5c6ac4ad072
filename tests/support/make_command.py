"""Run make as a person would, whatever command runs these tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def of_make(name: str) -> bool:
    """Whether a variable was set by the make that runs these tests."""
    return name.startswith("MAKE") or name == "FULL"


def make(repository: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make with the environment's variables, except those set by another make."""
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
