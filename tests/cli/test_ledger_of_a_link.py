"""A table has one ledger, whichever link or path is used to reach it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from dpexplain.cli.accounts import ledger_place


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "data.csv").write_text("a\n1\n")
    os.symlink(tmp_path / "data.csv", tmp_path / "link.csv")
    os.symlink(tmp_path / "data.csv", tmp_path / "other" / "data.csv")
    os.symlink(tmp_path, tmp_path / "other" / "folder")
    return tmp_path / "data.csv"


_NAMES = ["data.csv", "./data.csv", "other/../data.csv", "link.csv", "other/data.csv"]
_NAMES += ["other/folder/link.csv"]


def place(name, ledger=None):
    return ledger_place(argparse.Namespace(table=Path(name), ledger=ledger, dataset=None))


@pytest.mark.parametrize("name", _NAMES)
def test_default_ledger_is_beside_the_table_itself(table, name):
    assert place(name).address == str(table.with_name("data.ledger.json").resolve())


@pytest.mark.parametrize("name", _NAMES)
def test_row_in_a_database_is_named_by_the_table_itself(table, name):
    pytest.importorskip("sqlalchemy")
    assert place(name, f"sqlite:///{table.parent}/ledgers.db").name == "data"
