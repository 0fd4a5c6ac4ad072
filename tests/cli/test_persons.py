"""Persons named on the command line: `--groups` and `--max-rows-per-person`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import dpexplain.io
from dpexplain import Classes, DPLogisticRegression, Numeric, PrivacyLedger, Schema
from dpexplain.accounting import Person
from dpexplain.accounting._ledger.provenance import schema_hash
from dpexplain.cli import main
from dpexplain.cli.main import parser
from dpexplain.cli.tables import private_records
from dpexplain.models.persons import bounded_rows
from dpexplain.tables.chunked_arrow import ArrowTable

SCHEMA = Schema({"age": Numeric(0, 100)}, Classes(["no", "yes"], name="died"), id="record")
TABLE = ["data.csv", "--target", "died", "--schema", "schema.toml"]
MODEL = ["--model", "linear", "--cap-epsilon", "3"]
FIT = ["fit", *TABLE, *MODEL, "--epsilon", "1", "--out", "model.json"]
PERSONS = ["--groups", "patient", "--max-rows-per-person", "2"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},p{i // 3},{i % 97},{'yes' if i % 97 > 50 else 'no'}" for i in range(300)]
    text = "\n".join(["record,patient,age,died", *rows])
    Path("data.csv").write_text(text, encoding="utf-8")
    SCHEMA.to_toml("schema.toml")


def files():
    return {path.name for path in Path().iterdir()}


def test_persons_named_in_the_options_are_in_schema_ledger_file_and_certificate(capsys):
    assert main([*FIT, *PERSONS]) == 0
    assert "pass it to `release` and `verify`" in capsys.readouterr().out
    saved = Schema.from_toml("model.schema.toml")
    assert saved == replace(SCHEMA, person="patient")
    (entry,) = PrivacyLedger.open("data.ledger.json").entries
    assert entry.unit == Person("patient", 2)
    assert entry.provenance.schema == schema_hash(saved)
    shown = dpexplain.io.load("model.json")
    assert shown.guarantee.unit.startswith("one person (patient)")
    assert shown.schema == saved
    sources = ["--ledger", "data.ledger.json", "--schema"]
    release = ["release", "model.json", "--out", "page.html", *sources]
    assert main([*release, "schema.toml"]) == 2
    assert "the schema is not the one of the fit" in capsys.readouterr().err
    assert main([*release, "model.schema.toml"]) == 0
    assert schema_hash(saved) in Path("page.html").read_text(encoding="utf-8")
    verify = ["verify", "page.html", "--release", "model.json", *sources]
    assert main([*verify, "model.schema.toml"]) == 0
    assert main([*verify, "schema.toml"]) == 1


def test_a_fit_of_single_rows_leaves_persons_without_a_total(capsys):
    other = [*FIT, "--ledger", "other.ledger.json", "--replace"]
    for arguments in ([*FIT, *PERSONS], other):
        assert main(arguments) == 0
        assert "no bound" not in capsys.readouterr().out
    assert main([*other, *PERSONS]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "for one record, if the fits were fixed in advance" in said
    assert "otherwise; no bound for one person (patient)" in said
    assert main([*other, *PERSONS, "--epsilon", "9"]) == 3
    assert "at delta=1e-06 for one record, but" in " ".join(capsys.readouterr().err.split())


def test_a_schema_that_names_the_same_column_is_used_as_it_is():
    replace(SCHEMA, person="patient").to_toml("schema.toml")
    assert main([*FIT, *PERSONS]) == 0
    assert not Path("model.schema.toml").exists()


def test_an_id_column_may_turn_out_to_identify_persons():
    replace(SCHEMA, id=["record", "patient"]).to_toml("schema.toml")
    assert main([*FIT, *PERSONS]) == 0
    assert Schema.from_toml("model.schema.toml") == replace(SCHEMA, person="patient")


@pytest.mark.parametrize("command", ["sweep", "report"])
def test_sweeps_and_reports_save_the_schema_too(command):
    out = {"sweep": "all.json", "report": "all.html"}[command]
    assert main([command, *TABLE, *MODEL, *PERSONS, "--epsilon", "1", "--out", out]) == 0
    assert Schema.from_toml("all.schema.toml").person == "patient"
    assert PrivacyLedger.open("data.ledger.json").unit == Person("patient", 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--groups", "patient"], "pass --max-rows-per-person N as well"),
        (["--max-rows-per-person", "2"], "schema.toml names no person column"),
        (["--set", "max_rows_per_person=2"], "schema.toml names no person column"),
        (["--groups", "age", "--max-rows-per-person", "2"], "as a feature or as the target"),
        (["--groups", "died", "--max-rows-per-person", "2"], "as a feature or as the target"),
        (["--groups", "patiant", "--max-rows-per-person", "2"], "did you mean 'patient'?"),
        ([*PERSONS, "--set", "max_rows_per_person=3"], "is set twice"),
        (["--set", "clip=1", "--set", "clip=2"], "is set twice"),
    ],
)
def test_options_that_contradict_each_other_or_the_table_are_refused(options, words, capsys):
    assert main([*FIT, *options]) == 2
    assert words in capsys.readouterr().err
    assert files() == {"data.csv", "schema.toml"}


def test_a_schema_that_names_another_person_column_is_not_overruled(capsys):
    replace(SCHEMA, person="record", id=()).to_toml("schema.toml")
    assert main([*FIT, *PERSONS]) == 2
    assert "schema.toml names 'record' as the person column" in capsys.readouterr().err
    assert main(["schema", "check", *TABLE, "--groups", "patient"]) == 2
    assert files() == {"data.csv", "schema.toml"}


def test_a_check_takes_the_person_column_as_known(capsys):
    check = ["schema", "check", *TABLE]
    assert main(check) == 0
    assert "is it the person column?" in capsys.readouterr().out
    assert main([*check, "--groups", "patient"]) == 0
    printed = capsys.readouterr()
    assert "person column" not in printed.out
    assert "ignored" not in printed.err
    assert "protects them only with --max-rows-per-person" in printed.err
    assert main([*check, *PERSONS]) == 0
    assert "protects them only" not in capsys.readouterr().err


def explained(table):
    """Fit the records that the command reads, with seeded noise."""
    asked = parser().parse_args(["fit", table, *FIT[2:], *PERSONS])
    schema = replace(SCHEMA, person="patient")
    records = private_records(asked, schema)
    model = DPLogisticRegression(schema=schema, max_rows_per_person=2, reproducible_seed=3)
    return model.fit(records.X, records.y).explain_global()


@pytest.mark.parametrize("model", ["linear", "boosting"])
def test_persons_in_a_parquet_file_are_read_as_in_a_text_file(model):
    pytest.importorskip("pyarrow")
    read = pd.read_csv("data.csv").astype({"patient": "category"})
    read.to_parquet("data.parquet")
    assert explained("data.parquet") == explained("data.csv")

    fit = [model if word == "linear" else word for word in FIT[2:]]
    assert main(["fit", "data.parquet", *fit, *PERSONS]) == 0
    (entry,) = PrivacyLedger.open("data.ledger.json").entries
    assert entry.unit == Person("patient", 2)


def test_large_person_ids_in_parquet_stay_apart_beside_an_empty_one():
    pytest.importorskip("pyarrow")
    ids = [2**60, 2**60 + 1, None]
    table = pd.DataFrame({"patient": pd.array(ids, dtype="Int64"), "age": 1.0, "died": "no"})
    table.to_parquet("ids.parquet")
    X, _ = ArrowTable.open("ids.parquet").in_memory("died", ["age", "patient"])
    assert list(X["patient"][:2]) == ids[:2]
    assert pd.isna(X["patient"][2])


def test_one_person_in_parquet_files_of_several_types_keeps_the_rows_of_one():
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    ids = [pa.array([7, None], pa.int64()), pa.array([7.0, 8.0]), pa.array(["7", "07"])]
    ids += [pa.array([b"7", b"8"]), pa.array(["7", "8"]).dictionary_encode()]
    Path("parts").mkdir()
    for k, each in enumerate(ids):
        table = pa.table({"patient": each, "age": [1.0, 2.0], "died": ["no", "no"]})
        write_table(table, f"parts/{k}.parquet")
    X, _ = ArrowTable.open("parts").in_memory("died", ["age", "patient"])
    assert len(bounded_rows(X["patient"], 1)) == 2
    assert len(bounded_rows(X["patient"], 2)) == 4


def test_a_parquet_file_without_the_person_column_is_refused_before_the_charge(capsys):
    pytest.importorskip("pyarrow")
    pd.read_csv("data.csv").drop(columns="patient").to_parquet("data.parquet")
    assert main(["fit", "data.parquet", *FIT[2:], *PERSONS]) == 2
    assert "the person column patient: data.parquet has no such column" in capsys.readouterr().err
    assert files() == {"data.csv", "data.parquet", "schema.toml"}


def test_a_page_of_a_saved_file_takes_neither_option(capsys):
    assert main([*FIT, *PERSONS]) == 0
    assert main(["report", "model.json", "--out", "page.html", *PERSONS]) == 2
    error = capsys.readouterr().err
    assert "--groups" in error
    assert "--max-rows-per-person" in error
