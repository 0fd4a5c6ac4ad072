"""The form neither shows nor stores cells of the table, passwords or error messages."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpexplain import Classes, Date, Schema
from dpexplain.exceptions import PrivacyWarning
from form_tables import click, filled, messy_lines, said, state_of, write_messy

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.full
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:Zorblax@host/b",
        "postgresql://host/b?password=Zorblax",
        "postgresql://ann:Zor blax@host/b",
        "postgresql:ann:Zorblax@host/b",
        "ann:Zorblax@host/b",
        "postgresql://host/b?sslkey=k&pass%77ord=Zorblax",
        "postgresql://ann:Zorblax/b",
        "postgresql://ann%3AZorblax@host/b",
        "host=h user=u password=Zorblax dbname=d",
        "host=h pwd = Zorblax",
    ],
)
def test_password_in_an_address_is_not_kept(address):
    form = filled(ledger=address)
    assert "holds a password" in said(form, "ledger")
    assert "blax" not in json.dumps(state_of(form))
    for name in ("table", "schema", "out", "key", "purpose", "ledger"):
        form.fields[name].control.value = address
        assert "holds a password" in said(form, name)
    assert "blax" not in json.dumps(state_of(form))
    form.fields["ledger"].control.value = "postgresql://ann@host:5432/b"
    assert said(form, "ledger") == ""


def test_no_other_ledger_is_charged_in_place_of_an_address_with_a_password():
    form = filled()
    form.fields["ledger"].control.value = "postgresql://ann:Zorblax@host/b"
    click(form, "fit")
    assert "holds a password" in said(form, "ledger")
    assert said(form, "price") == ""
    form.fields["ledger"].control.value = "own.json"
    click(form, "fit")
    assert "own.json?" in said(form, "price")


@pytest.mark.parametrize(
    "text", ["C:\\tables\\data.csv", "postgresql://[::1]:5432/b", "sqlite:////a/b.db", "to a@b.org"]
)
def test_text_without_a_password_is_kept(text):
    form = filled(ledger=text, purpose=text)
    assert (form.answers().ledger, form.answers().purpose) == (text, text)
    assert (said(form, "ledger"), said(form, "purpose")) == ("", "")


@pytest.mark.full
def test_draft_needs_a_public_sample_that_is_not_the_table(folder):
    Path("sample.csv").write_text("age;job;died\n30;nurse;no\n41;clerk;yes\n99;clerk;no\n")
    form = filled(sample="sample.csv", schema="")
    click(form, "draft")
    assert "confirm that the sample is public" in said(form, "sample")
    form.public.value = True
    Path("hard.csv").hardlink_to("data.csv")
    shutil.copy("data.csv", "copy.csv")
    for name in ("data.csv", "hard.csv", "copy.csv"):
        form.fields["sample"].control.value = name
        click(form, "draft")
        assert "confirm that the sample is public" in said(form, "sample")  # of the new sample
        form.public.value = True
        click(form, "draft")
        assert "This is the table itself" in said(form, "sample")
    assert not list(folder.glob("*.toml"))

    form.fields["sample"].control.value = "sample.csv"
    form.fields["table"].control.value = ""
    form.public.value = True
    click(form, "draft")
    assert "Enter the file with the records" in said(form, "table")
    form.fields["table"].control.value = "data.csv"
    assert not form.public.value
    form.public.value = True
    click(form, "draft")
    assert form.fields["schema"].control.value == "sample.schema.toml"
    with pytest.warns(PrivacyWarning, match="it is a draft"):
        assert set(Schema.from_toml("sample.schema.toml").features) == {"age", "job"}
    assert "To decide" in said(form, "drafted")
    click(form, "draft")
    assert "sample.schema.toml exists" in said(form, "sample")


@pytest.mark.full
def test_part_of_a_folder_of_tables_is_no_public_sample(folder):
    Path("parts").mkdir()
    shutil.copy("data.csv", "parts/part-0.parquet")  # it is refused before it is read
    shutil.copy("data.csv", "elsewhere.parquet")
    for name in ("parts/part-0.parquet", "elsewhere.parquet", "parts"):
        form = filled(table="parts", sample=name)
        form.public.value = True
        click(form, "draft")
        assert "part of it" in said(form, "sample"), name


@pytest.mark.full
def test_table_as_data_dictionary_is_refused_without_a_cell(folder):
    Path("people.csv").write_text("name,type,min,max\nid,id,,\nAda Zorblax,diabetes,1,2\n")
    shutil.copy("people.csv", "copy.csv")
    for table in ("people.csv", "copy.csv"):
        form = filled(table=table, schema="people.csv", separator="", target="type")
        click(form, "read", "check", "fit")
        assert "This is the table itself or a copy" in said(form, "schema")
        assert "Zorblax" not in json.dumps(state_of(form))
    form = filled(table="", schema="people.csv")
    click(form, "read")
    assert "Enter the file with the records" in said(form, "table")


@pytest.mark.full
def test_comparison_with_the_schema_is_in_a_file_and_never_in_the_form():
    form, found = filled(), Path("data.NOT-PRIVATE.txt")
    states = []
    for odd in ("7", "Zorblax"):
        write_messy(Path(), [*messy_lines(), f"900;901;{odd};1;0"])
        found.unlink(missing_ok=True)
        click(form, "check")
        states.append(state_of(form))

    assert "Zorblax" in found.read_text()
    assert found.read_text().startswith("NOT PRIVATE")
    assert stat.S_IMODE(found.stat().st_mode) == 0o600
    assert "data.NOT-PRIVATE.txt" in said(form, "checked")
    assert states[0] == states[1]

    found.write_text("notes")
    click(form, "check")
    assert "data.NOT-PRIVATE.txt exists" in said(form, "checked")
    assert found.read_text() == "notes"


@pytest.mark.full
def test_failed_comparison_is_described_in_the_file_alone(monkeypatch):
    form, found = filled(), Path("data.NOT-PRIVATE.txt")
    click(form, "check")
    state = state_of(form)
    found.unlink()

    def broken(*_):
        raise KeyError("Zorblax of line 7")

    monkeypatch.setattr("dpexplain.app.work.checked", broken)
    click(form, "check")
    assert state_of(form) == state
    assert "Zorblax of line 7" in found.read_text()


@pytest.mark.full
def test_parquet_table_is_compared_as_a_fit_reads_it():
    dates = pa.array([15_000, 2**30], pa.int32()).cast(pa.date32())  # pandas refuses the second
    pq.write_table(pa.table({"day": dates, "y": ["0", "1"]}), "data.parquet")
    schema = Schema({"day": Date("2000-01-01", "2030-01-01")}, target=Classes(["0", "1"], name="y"))
    schema.to_toml("days.toml")
    form = filled(table="data.parquet", schema="days.toml", target="y", separator="", rows="")
    click(form, "check")
    assert "data.NOT-PRIVATE.txt" in said(form, "checked")
    assert "day" in Path("data.NOT-PRIVATE.txt").read_text()
    assert "failed" not in Path("data.NOT-PRIVATE.txt").read_text()


def test_unexpected_error_shows_neither_its_text_nor_its_type(monkeypatch, capsys):
    def broken(*_):
        raise KeyError("Zorblax of line 7")

    monkeypatch.setattr("dpexplain.cli.fits.private_records", broken)
    form = filled()
    click(form, "fit", "confirm")

    assert "unexpected error" in said(form, "fit")
    assert "KeyError" not in said(form, "fit")
    assert "charge" not in said(form, "fit")
    assert not list(Path().glob("model*")), "files of a fit that failed are removed"
    assert "Zorblax" not in json.dumps(said(form, "fit")) + "".join(capsys.readouterr())
    assert not Path("data.ledger.json").exists()


@pytest.mark.full
@pytest.mark.parametrize("name", ["u@host", "a=b.json"])
def test_name_of_a_ledger_that_could_hold_a_password_is_refused(name):
    form = filled(ledger=name)
    click(form, "fit")
    assert "could hold a password" in said(form, "ledger")
    assert not Path(name).exists()


def test_file_with_the_columns_of_the_table_is_no_dictionary():
    lines = Path("data.csv").read_text(encoding="utf-8").splitlines()
    Path("some.csv").write_text("\n".join(lines[:3]) + "\r\n", encoding="utf-8")
    form = filled(schema="some.csv")
    click(form, "read")
    assert "has the columns of the table" in said(form, "schema")
