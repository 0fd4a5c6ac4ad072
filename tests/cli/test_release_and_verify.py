"""From a table to a verified certificate: ``fit``, ``release`` and ``verify``."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dpexplain.io
from certified import SCHEMA, certified
from dpexplain import PrivacyLedger
from dpexplain.cli import main
from dpexplain.explain.display import ONE_OF_A_SWEEP
from ledger_files import by_hand

VERIFY = ["verify", "certificate.html", "--ledger", "ledger.json", "--release", "model.json"]
RELEASE = ["release", "model.json", "--ledger", "ledger.json", "--out", "again.html"]


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return certified(tmp_path)


def test_three_commands_lead_from_a_table_to_a_verified_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(17, 91, 200),
        "job": rng.choice(["nurse", "clerk"], 200),
        "income": rng.choice(["no", "yes"], 200),
    }
    pd.DataFrame(table).to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    sources = ["--ledger", "data.ledger.json", "--schema", "schema.toml"]
    fit = ["fit", "data.csv", "--target", "income", "--schema", "schema.toml", "--epsilon", "1"]
    fit += ["--model", "linear", "--cap-epsilon", "3", "--person", "A. Curie", "--quiet"]

    for name in ("first", "second"):  # equal fits: the recorded hash tells them apart
        assert main([*fit, "--purpose", name, "--out", f"{name}.json"]) == 0
    assert main(["release", "second.json", *sources, "--out", "page.html"]) == 0
    capsys.readouterr()
    assert main(["verify", "page.html", *sources, "--release", "second.json"]) == 0

    printed = capsys.readouterr().out
    assert printed.endswith("verified\n")
    assert "FAILED" not in printed
    facts = [entry.provenance for entry in PrivacyLedger.open("data.ledger.json").entries]
    assert [(each.person, each.purpose) for each in facts] == [
        ("A. Curie", "first"),
        ("A. Curie", "second"),
    ]
    assert {each.target for each in facts} == {"income"}
    assert len({each.schema for each in facts}) == 1
    page = (tmp_path / "page.html").read_text()
    assert "A. Curie" in page
    assert "second" in page


def test_one_fit_of_a_sweep_is_saved_released_and_verified(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(17, 91, 90), "job": rng.choice(["nurse", "clerk"], 90)})
    X.assign(income=rng.choice(["no", "yes"], 90)).to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    swept = ["sweep", "data.csv", "--target", "income", "--schema", "schema.toml", "--quiet"]
    assert main([*swept, "--epsilon", "1", "2", "--model", "linear", "--out", "sweep.json"]) == 0
    sources = ["--ledger", "data.ledger.json", "--schema", "schema.toml"]
    for command in (
        ["release", "sweep.json", *sources, "--out", "page.html"],
        ["predict", "sweep.json", "data.csv", "--out", "found.csv"],
    ):
        assert main(command) == 2
        assert ONE_OF_A_SWEEP in capsys.readouterr().err
    before = len(PrivacyLedger.open("data.ledger.json").entries)

    comparison = dpexplain.io.load("sweep.json")
    dpexplain.io.save(comparison.explanations[2][0], "model.json")
    assert main(["release", "model.json", *sources, "--out", "page.html"]) == 0
    assert main(["verify", "page.html", *sources, "--release", "model.json"]) == 0
    assert main(["predict", "model.json", "data.csv", "--out", "found.csv"]) == 0
    assert len(PrivacyLedger.open("data.ledger.json").entries) == before


def test_failed_check_is_status_one_with_its_line(made, capsys):
    by_hand(made.ledger, cap_epsilon=9.0)

    assert main(VERIFY) == 1
    printed = capsys.readouterr().out
    assert "FAILED  ledger" in printed
    assert "by hand" in printed
    assert printed.endswith("NOT VERIFIED\n")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["verify", "none.html", *VERIFY[2:]], "none.html: no such file"),
        ([*RELEASE[:-1], "model.json"], "the command reads or updates this file"),
        ([*RELEASE[:-1], "page.txt"], "must end in .html or .htm or .pdf or .md or .json"),
        ([*RELEASE, "--schema", "none.toml"], "none.toml: no such file"),
        ([*RELEASE, "--entry", "0"], "entry=0 does not promise"),
        ([*RELEASE, "--person", "a\nb"], "person="),
    ],
)
def test_wrong_input_is_status_two_and_changes_nothing(made, capsys, command, words):
    before = made.ledger.read_bytes()

    assert main(command) == 2
    assert words in capsys.readouterr().err
    assert made.ledger.read_bytes() == before
    assert not (made.folder / "again.html").exists()


def test_release_writes_json_as_well_and_prints_the_head(made, capsys):
    assert main([*RELEASE[:-1], "again.json"]) == 0
    assert json.loads((made.folder / "again.json").read_text())["format"] == "dpexplain/certificate"
    assert PrivacyLedger.open(made.ledger).head in capsys.readouterr().out


def test_ledger_command_prints_the_head_of_the_chain(made, capsys):
    assert main(["ledger", "ledger.json"]) == 0
    assert "Chained: 3 entries; head" in capsys.readouterr().out


@pytest.mark.full
def test_one_release_writes_several_forms_that_all_verify(made, capsys):
    assert main([*RELEASE, "--out", "again.pdf", "--out", "again.json", "--out", "again.md"]) == 0
    saved = capsys.readouterr().out
    for name in ("again.html", "again.pdf", "again.json", "again.md"):
        assert f"saved to {name}\n" in saved
        assert main(["verify", name, *VERIFY[2:]]) == 0


@pytest.mark.full
def test_verification_loads_neither_models_nor_figures(made):
    code = (
        "import sys\nfrom dpexplain.certificate import verify\n"
        "assert verify('certificate.html', 'ledger.json', 'model.json').passed\n"
        "print([m for m in ('dpexplain.models', 'matplotlib', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
