"""Say which tests ``make test`` runs and which it leaves to ``make test-all``, file by file.

``make test-all`` runs all of them. The difference is one mark, ``full``, on a test or a file.
``python tests/support/tests_by_command.py --names`` lists the tests that are left, too.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


class Collected:
    """Plugin that keeps, for each test, its name and whether it waits for the full run."""

    def __init__(self) -> None:
        self.waits: dict[str, bool] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep what was found."""
        for item in session.items:
            self.waits[item.nodeid] = item.get_closest_marker("full") is not None


def collected(folder: Path = REPOSITORY / "tests") -> dict[str, bool]:
    """Map the name of each test below a folder to whether it waits for the full run."""
    found, printed = Collected(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = pytest.main(
            ["--collect-only", "-q", "-p", "no:nbval", "-p", "no:xdist", str(folder)], [found]
        )
    if status:
        raise SystemExit(f"tests could not be collected:\n{printed.getvalue()[-3000:]}")
    return found.waits


def table(waits: dict[str, bool]) -> str:
    """Number of tests of each file that either command runs, as Markdown."""
    counts = Counter((name.split("::")[0], full) for name, full in waits.items())
    files = sorted({file for file, _ in counts})
    rows = [(file, counts[file, False], counts[file, True]) for file in files]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines = ["| file | `make test` | `make test-all` alone |", "|---|---:|---:|"]
    return "\n".join(lines + [f"| {file} | {daily} | {full} |" for file, daily, full in rows])


def main(arguments: Sequence[str]) -> int:
    """Print the table, and the names if asked for."""
    waits = collected()
    print(table(waits))
    if "--names" in arguments:
        print("\n" + "\n".join(name for name, full in waits.items() if full))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
