"""The commands for all tests run every part, whatever fails, and summarize them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from parts import counted
from tests_by_command import table

MAKEFILE = """
good:
\t@echo "====== 3 passed, 1 skipped in 0.12s ======"
bad:
\t@echo "= 1 failed, 2 passed, 1 error in 61.00s (0:01:01) ="; exit 1
silent:
\t@echo nothing
hangs:
\t@echo began; sleep 600 & wait
level:
\t@echo "priority $$(nice)"
"""


def run_parts(repository, folder, *arguments):
    (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    runner = repository / "tests" / "support" / "parts.py"
    return subprocess.run(
        [sys.executable, str(runner), *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    "order",
    [
        ("bad", "good", "silent"),
        ("good", "--beside", "bad", "silent"),
        ("good", "--beside", "bad", "silent", "--at-once", "2"),
    ],
)
def test_every_part_runs_and_a_failed_one_is_named(repository, tmp_path, order):
    result = run_parts(repository, tmp_path, *order)

    assert result.returncode == 1
    assert "3 passed, 1 skipped in 0.12s" in result.stdout
    assert "nothing" in result.stdout
    lines = result.stdout.splitlines()
    assert lines[-2].endswith("failed parts: bad")
    assert lines[-1] == "5 passed, 2 failed, 1 skipped"
    (row,) = [line.split() for line in lines if line.startswith("bad ")]
    assert row[1] == "FAILED"
    assert row[3:] == ["2", "1", "1", "-"]


@pytest.mark.parametrize("order", [("hangs", "--beside", "good"), ("good", "--beside", "hangs")])
def test_a_part_that_hangs_is_stopped_and_fails(repository, tmp_path, order):
    result = run_parts(repository, tmp_path, *order, "--limit", "3")

    assert result.returncode == 1
    assert "began" in result.stdout
    assert "make hangs was stopped" in result.stdout
    lines = result.stdout.splitlines()
    assert lines[-2].endswith("failed parts: hangs")
    assert lines[-1] == "3 passed, 0 failed, 1 skipped"


@pytest.mark.skipif(shutil.which("nice") is None, reason="no nice")
def test_parts_beside_the_others_give_way_where_asked(repository, tmp_path):
    of_this = os.nice(0)
    result = run_parts(repository, tmp_path, "level", "--beside", "level", "--nice", "3")

    priorities = re.findall(r"priority (\d+)", result.stdout)
    assert sorted(priorities, key=int) == [str(of_this), str(min(of_this + 3, 19))]


def test_when_all_went_well_the_status_says_so(repository, tmp_path):
    result = run_parts(repository, tmp_path, "good", "--beside", "silent")

    assert result.returncode == 0
    assert result.stdout.splitlines()[-2].endswith("all parts ok")


def test_only_closing_lines_are_counted():
    lines = ["12 passed\n", "we skipped 3 failed in words\n", "== 1 failed, 4 passed in 2.50s ==\n"]

    assert dict(counted(lines)) == {"failed": 1, "passed": 4}


def test_tests_are_listed_by_the_command_that_runs_them():
    lines = table({"a.py::x": False, "a.py::y": True, "b.py::z": True}).splitlines()

    assert lines[2:] == ["| a.py | 1 | 1 |", "| b.py | 0 | 1 |", "| all | 1 | 2 |"]
