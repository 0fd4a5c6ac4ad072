"""What every test shares: one thread per library, no window, how hard properties are searched."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from effort import register_profiles, waits_as_a_whole
from entropy import MARKERS, NamedEntropy, repeats

# Tests run side by side and kernels have threads of their own: numerical libraries keep to one.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

BROWSER = Path(__file__).parent / "browser"

register_profiles(repeated=repeats())


def pytest_configure(config: pytest.Config) -> None:
    """Draw noise and coins from streams that repeat, where the verdict is about the code alone."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.pluginmanager.register(NamedEntropy(repeats()))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file unread whose tests all wait, in a run without them: importing takes long."""
    if "not browser" in config.option.markexpr and collection_path == BROWSER:
        return True
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    if is_test and "not full" in config.option.markexpr and waits_as_a_whole(collection_path):
        return True
    return None  # whatever pytest says otherwise


@pytest.fixture(autouse=True)
def _no_ledger_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget ledgers of other tests: each begins as a process that has seen none."""
    monkeypatch.setattr("dpexplain.accounting._ledger.duplicates._CHARGED", {})
    monkeypatch.setattr("dpexplain.accounting._ledger.process._LEDGERS", {})


@pytest.fixture(autouse=True)
def _no_figure_is_left_open() -> Iterator[None]:
    """Close figures, wherever a test drew them: the next one counts its own."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Folder of the repository that holds these tests."""
    return Path(__file__).resolve().parents[1]
