"""The folder in which a form is filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipywidgets import Widget

from form_tables import write_messy


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder that holds a messy table and its dictionary."""
    monkeypatch.chdir(tmp_path)
    write_messy(tmp_path)
    yield tmp_path
    Widget.close_all()
