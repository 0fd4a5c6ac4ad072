"""Each test runs in `make test-all`; `make test` runs some from every area."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from effort import waits_as_a_whole
from make_command import make
from tests_by_command import planted

# Attacks and hostile input take long by nature; what they try is in the code of other areas.
ALL_WAIT = {"attacks", "hardening"}


def expression(repository, command, **environment):
    """Return the marks by which a command of make selects tests."""
    plan = make(repository, "--dry-run", command, **environment)
    return re.search(r'-m "([^"]+)"', plan.stdout)[1]


def collected(repository, session):
    """Map each test that pytest finds to whether it is left to the full command.

    What this session found is not looked for again, which takes half a minute.
    """
    whole, folder = repository / "tests", repository / "tests"
    asked = session.config.option
    found = {}
    if [Path(each).resolve() for each in session.config.args] == [whole] and (
        (asked.markexpr.strip(), asked.keyword, asked.deselect) == ("not browser", "", None)
    ):
        found = {i.nodeid: i.get_closest_marker("full") is not None for i in session.items}
        folder = whole / "browser"
    command = (
        "import json, pathlib, sys, tests_by_command as t\n"
        "print(json.dumps(t.collected(pathlib.Path(sys.argv[1]))))"
    )
    result = subprocess.run(
        [sys.executable, "-c", command, str(folder)], cwd=repository / "tests/support",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    return found | json.loads(result.stdout)


def area(name):
    return name.split("/")[1] if name.count("/") > 1 else "tests"


@pytest.mark.full
def test_the_full_command_runs_every_test_and_the_daily_one_a_part_from_every_area(
    repository, request
):
    # Each test is in exactly one of these two.
    whole = {expression(repository, part, FULL="1").strip() for part in ("unit", "browser")}
    assert whole == {"not browser", "browser"}

    waits = collected(repository, request.session)
    daily = [name for name, full in waits.items() if not full]
    assert 0 < len(daily) < len(waits)
    assert {area(name) for name in waits} - {area(name) for name in daily} == ALL_WAIT


def test_a_file_waits_as_a_whole_if_one_line_at_its_top_says_so(tmp_path):
    file = tmp_path / "test_x.py"
    for text, waits in {
        "pytestmark = pytest.mark.full\n": True,
        "import x\n\npytestmark = [pytest.mark.browser, pytest.mark.full]\n": True,
        "pytestmark = pytest.mark.browser\n\n@pytest.mark.full\ndef test_x(): ...\n": False,
        "    pytestmark = pytest.mark.full\n": False,
    }.items():
        file.write_text(text, encoding="utf-8")
        assert waits_as_a_whole(file) is waits


def test_tests_of_planted_mistakes_are_counted():
    waits = {
        "a.py::test_a_planted_leak_is_found": True,
        "a.py::test_noise_that_repeats_is_noticed": False,
    }

    assert planted(waits | {"a.py::test_x": True}).startswith("2 tests")
    assert "1 of them" in planted(waits)
