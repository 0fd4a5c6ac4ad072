"""Every command takes the address of a database where it takes a ledger file."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

from certified import SCHEMA
from dpexplain import PrivacyLedger
from dpexplain.cli import main

pytest.importorskip("sqlalchemy")


@pytest.fixture
def fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(17, 91, 200),
        "job": rng.choice(["nurse", "clerk"], 200),
        "income": rng.choice(["no", "yes"], 200),
    }
    pd.DataFrame(table).to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    command = ["fit", "data.csv", "--target", "income", "--schema", "schema.toml"]
    return [*command, "--model", "linear", "--epsilon", "1", "--out", "model.json", "--ledger"]


def test_fit_release_and_verify_share_a_ledger_in_a_database(fit, tmp_path, capsys):
    address = f"sqlite:///{tmp_path}/ledgers.db"
    assert main([*fit, f"{address}#other%20data", "--quiet"]) == 0
    assert main([*fit, address, "--cap-epsilon", "1.2", "--replace"]) == 0
    assert main([*fit, address, "--quiet", "--replace"]) == 3  # beyond the cap
    sources = ["--ledger", f"{address}#data", "--schema", "schema.toml"]
    assert main(["release", "model.json", *sources, "--out", "page.html"]) == 0
    assert main(["verify", "page.html", *sources, "--release", "model.json"]) == 0
    capsys.readouterr()
    assert main(["ledger", f"{address}#data"]) == 0

    assert "Left under the cap of epsilon 1.2" in capsys.readouterr().out
    assert len(PrivacyLedger.open(f"{address}#other data").entries) == 1
    with sqlite3.connect(tmp_path / "ledgers.db") as connection:
        connection.execute(
            "UPDATE dpexplain_ledgers SET document = replace(document, '1.2', '9.2')"
        )
    assert main(["verify", "page.html", *sources, "--release", "model.json"]) == 1
    assert "FAILED  ledger" in capsys.readouterr().out


def test_database_that_cannot_be_reached_is_told_before_the_table_is_read(fit, capsys, monkeypatch):
    pytest.importorskip("psycopg")

    def reading(*_):
        raise AssertionError("the table was read")

    monkeypatch.setattr("dpexplain.cli.fits.private_records", reading)
    for address, status in (
        ("postgresql://anna:hunter2@127.0.0.1:1/budgets", 3),
        ("mysql://anna:hunter2@127.0.0.1/budgets", 2),
    ):
        assert main([*fit, address]) == status
        assert main(["ledger", address]) == 2
    said = capsys.readouterr()
    assert "hunter2" not in said.out + said.err
    assert "check that the server is running" in said.err


@pytest.mark.full
def test_refused_command_leaves_no_ledger_in_the_database(fit, tmp_path):
    address = f"sqlite:///{tmp_path}/ledgers.db"
    fit[fit.index("--epsilon") + 1] = "-1"
    assert main([*fit, address]) == 2
    fit[fit.index("--epsilon") + 1] = "1"
    assert main([*fit, address, "--delta", "1e-5", "--max-rows-per-person", "2"]) == 2
    assert main(["ledger", f"{address}#data"]) == 2
    assert main([*fit, address, "--quiet"]) == 0
