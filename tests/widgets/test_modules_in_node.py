"""Modules that need no page are tested in JavaScript."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from node import NODE

pytestmark = pytest.mark.full

TESTS = sorted(Path(__file__).parent.glob("modules/*.test.mjs"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_module_does_what_its_own_tests_say(path):
    result = subprocess.run(
        [NODE, "--test", "--test-reporter=tap", path], capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n# pass 0\n" not in result.stdout
