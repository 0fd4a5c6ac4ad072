"""Shared by every test: one thread per library, no windows, and search profiles."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import one_thread  # noqa: F401 - before anything that loads numpy
from chromium import find_chromium
from effort import register_profiles, waits_as_a_whole
from entropy import MARKERS, NamedEntropy, repeats

os.environ.setdefault("MPLBACKEND", "Agg")

BROWSER = Path(__file__).parent / "browser"
CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

register_profiles(repeated=repeats())


def pytest_configure(config: pytest.Config) -> None:
    """Draw noise and coins from repeatable streams, so that verdicts depend on code alone."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.pluginmanager.register(NamedEntropy(repeats()))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files whose tests are all left out of this run, because imports are slow."""
    if "not browser" in config.option.markexpr and collection_path == BROWSER:
        return True
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    if is_test and "not full" in config.option.markexpr and waits_as_a_whole(collection_path):
        return True
    return None  # whatever pytest says otherwise


@pytest.fixture(autouse=True)
def _no_ledger_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget ledgers of other tests, so that each test starts like a new process."""
    monkeypatch.setattr("dpexplain.accounting._ledger.duplicates._CHARGED", {})
    monkeypatch.setattr("dpexplain.accounting._ledger.process._LEDGERS", {})


@pytest.fixture(autouse=True)
def _no_figure_is_left_open() -> Iterator[None]:
    """Close all figures of a test, because the next test counts its own."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder of the repository that contains these tests."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """Return the path of a Chromium that starts; skip if there is none, except on CI."""
    path = find_chromium()
    if path is not None:
        return path
    reason = "no Chromium that starts: install one, or name it in DPEXPLAIN_CHROMIUM"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(chromium_path: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def load(repository, monkeypatch):
    """Import a module of the studies by its name."""
    for folder in ("benchmarks", "papers"):
        monkeypatch.syspath_prepend(str(repository / "tests" / folder))
    return importlib.import_module
