"""`make` lists its commands, and reports what is missing before it starts."""

from __future__ import annotations

import re
from pathlib import Path

from make_command import make

PROMISED = {
    "attack",
    "explore",
    "test",
    "audit",
    "bench",
    "bench-accuracy",
    "bench-cold",
    "bench-recipe",
    "bench-parts",
    "bench-ui",
    "papers",
    "lint",
    "format",
    "types",
    "unit",
    "doctest",
} | {
    "notebooks",
    "browser",
    "dist",
    "docs",
    "notebooks-full",
    "oldest",
    "test-all",
    "tests-by-command",
    "clean",
    "binder-check",
    "fuzz",
}


def listed(help_text: str) -> dict[str, str]:
    return dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", help_text, flags=re.MULTILINE))


def phony_targets(repository: Path) -> set[str]:
    text = (repository / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^\.PHONY: (.+)$", text, flags=re.MULTILINE))


def test_make_alone_lists_every_command_with_its_purpose(repository):
    commands = listed(make(repository).stdout)

    assert set(commands) == phony_targets(repository)
    assert set(commands) >= PROMISED


def test_every_command_is_complete(repository):
    result = make(repository, "--dry-run", *sorted(PROMISED))

    assert result.returncode == 0, result.stderr


def parts_of(repository: Path, command: str) -> set[str]:
    """Return the parts that a command runs, each of them a command."""
    plan = make(repository, "--dry-run", command).stdout.replace("\\\n", " ")
    (line,) = [line for line in plan.splitlines() if "parts.py" in line]
    words = re.split(" --(at-once|nice|limit) ", line.split("parts.py")[1])[0].split()
    parts = set(words) - {"--beside"}
    assert parts <= phony_targets(repository)
    return parts


def test_make_test_runs_each_kind_of_test_without_the_deep_ones(repository):
    assert parts_of(repository, "test") == {"lint", "unit", "notebooks", "browser"}

    lint = make(repository, "--dry-run", "lint").stdout
    for tool in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
        assert tool in lint
    assert '-m "not browser and not full"' in make(repository, "--dry-run", "unit").stdout
    assert '-m "browser and not full"' in make(repository, "--dry-run", "browser").stdout
    one = make(repository, "--dry-run", "notebooks").stdout
    assert "FAST=1" in one
    assert one.rstrip().endswith("notebooks/01_explore.ipynb")


def test_make_test_all_leaves_no_test_out(repository):
    # The check of Binder runs every notebook with all its data, as `make notebooks-full` does.
    added = {"doctest", "oldest", "install-check", "binder-check"}
    assert parts_of(repository, "test-all") == parts_of(repository, "test") | added

    for part in ("unit", "browser"):
        assert "not full" not in make(repository, "--dry-run", part, FULL="1").stdout
    assert ".ipynb" not in make(repository, "--dry-run", "notebooks-full").stdout
    assert "--hypothesis-profile=full" in make(repository, "--dry-run", "unit", FULL="1").stdout
    assert "--doctest-modules" in make(repository, "--dry-run", "doctest").stdout


def test_missing_python_is_said_clearly(repository, tmp_path):
    result = make(repository, "explore", f"VENV={tmp_path / 'venv'}", "PYTHON=")

    assert result.returncode != 0
    assert "needs Python 3.11 or later" in result.stderr
    assert not (tmp_path / "venv").exists()


def test_old_python_is_said_clearly(repository, tmp_path):
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)

    result = make(repository, "explore", f"VENV={tmp_path / 'venv'}", f"PYTHON={old}")

    assert result.returncode != 0
    assert "is older or does not start" in result.stderr


def test_missing_browser_fails_continuous_integration_only(repository, tmp_path):
    """Runs the recipe of `make browser` with a search that finds no browser."""
    stand_in = tmp_path / "venv" / "bin" / "python"
    stand_in.parent.mkdir(parents=True)
    stand_in.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    stand_in.chmod(0o755)
    arguments = ("browser", f"VENV={tmp_path / 'venv'}", "--old-file", f"{tmp_path}/venv/.test")
    (tmp_path / "venv" / ".test").touch()

    alone = make(repository, *arguments, CI="false")
    integration = make(repository, *arguments, CI="true")

    assert "BROWSER TESTS DID NOT RUN" in alone.stdout
    assert alone.returncode == 0
    assert "BROWSER TESTS DID NOT RUN" in integration.stdout
    assert integration.returncode != 0
