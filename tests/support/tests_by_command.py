"""List which tests ``make test`` runs and which it leaves to ``make test-all``.

``make test-all`` runs all of them. The difference is one mark, ``full``, on a test or a file.
``python tests/support/tests_by_command.py --names`` also lists the tests that are left. The last
line counts the tests of planted mistakes, by their names; most run in the full command.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OF_A_MISTAKE = re.compile(r"::test_\w*(planted|mistake|mutant|notice)")


class Collected:
    """Plugin that stores each test's name and whether it is left to the full run."""

    def __init__(self) -> None:
        self.waits: dict[str, bool] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Store what was collected."""
        for item in session.items:
            self.waits[item.nodeid] = item.get_closest_marker("full") is not None


def collected(folder: Path = REPOSITORY / "tests") -> dict[str, bool]:
    """Map the name of each test in a folder to whether it is left to the full run."""
    found, printed = Collected(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = pytest.main(
            ["--collect-only", "-q", "-p", "no:nbval", "-p", "no:xdist", str(folder)], [found]
        )
    if status:
        raise SystemExit(f"tests could not be collected:\n{printed.getvalue()[-3000:]}")
    return found.waits


def table(waits: dict[str, bool]) -> str:
    """Return a Markdown table of how many tests of each file either command runs."""
    counts = Counter((name.split("::")[0], full) for name, full in waits.items())
    files = sorted({file for file, _ in counts})
    rows = [(file, counts[file, False], counts[file, True]) for file in files]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines = ["| file | `make test` | `make test-all` alone |", "|---|---:|---:|"]
    return "\n".join(lines + [f"| {file} | {daily} | {full} |" for file, daily, full in rows])


def planted(waits: dict[str, bool]) -> str:
    """State how many tests look for planted mistakes."""
    found = [full for name, full in waits.items() if OF_A_MISTAKE.search(name)]
    daily = found.count(False)
    return f"{len(found)} tests look for planted mistakes, {daily} of them in `make test`."


def main(arguments: Sequence[str]) -> int:
    """Print the table, and the names on request."""
    waits = collected()
    print(f"{table(waits)}\n\n{planted(waits)}")
    if "--names" in arguments:
        print("\n" + "\n".join(name for name, full in waits.items() if full))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
