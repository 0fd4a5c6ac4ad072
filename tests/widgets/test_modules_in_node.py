"""Modules that need no page are tested where they run, in JavaScript."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.glob("modules/*.test.mjs"))

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_module_does_what_its_own_tests_say(path):
    result = subprocess.run(
        ["node", "--test", "--test-reporter=tap", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n# pass 0\n" not in result.stdout
