"""The form without code: from a table to a verified page, and each mistake in one sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpexplain import PrivacyLedger, Schema
from dpexplain.accounting import Person
from dpexplain.app import ReleaseForm
from dpexplain.certificate import verify
from dpexplain_widgets import Explorer
from form_tables import click, filled, said

pytestmark = pytest.mark.usefixtures("folder")


def test_the_price_of_a_fit_is_rounded_up():
    form = filled(epsilon="1.23444")
    click(form, "read", "fit")
    assert "This fit costs ε = 1.235. Spent before it: ε = 0; after it: ε = 1.235" in said(
        form, "price"
    )


def test_form_leads_from_a_messy_table_to_a_verified_page(folder):
    form = filled()
    click(form, "read")
    assert "creatinine" in said(form, "rules")
    assert "No source" not in said(form, "rules")  # a dictionary is a source by itself
    assert "patient_id identifies persons" in said(form, "rules")

    assert "Nothing is spent on this table yet" in said(form, "budget")
    click(form, "fit")
    assert "This fit costs ε = 1. Spent before it: ε = 0; after it: ε = 1" in said(form, "price")
    assert not Path("data.ledger.json").exists(), "asking for the price must not charge"
    click(form, "confirm", "page", "certificate")

    assert "Spent on this table so far: ε = 1, with a cap of 3" in said(form, "budget")
    assert any(isinstance(part, Explorer) for part in form.results.children)
    assert "model.json" in said(form, "done")
    assert "model.html" in said(form, "page")
    assert "model.certificate.pdf: verified" in said(form, "certificate")
    for page in ("model.certificate.html", "model.certificate.pdf"):
        assert verify(page, "data.ledger.json", "model.json", schema="model.schema.toml").passed
    ledger = PrivacyLedger.open("data.ledger.json")
    assert (ledger.cap_epsilon, ledger.unit) == (3.0, Person("patient_id", 2))
    (entry,) = ledger.entries
    assert (entry.provenance.person, entry.provenance.purpose) == ("A. Curie", "annual report")
    assert "A. Curie" in Path("model.certificate.html").read_text()


def without_the_person():
    lines = Path("dictionary.csv").read_text().splitlines(keepends=True)
    Path("open.csv").write_text("".join(line for line in lines if "patient_id" not in line))
    return {"schema": "open.csv"}


@pytest.mark.full
def test_a_person_column_that_the_dictionary_lacks_is_named_in_the_form():
    form = filled(**without_the_person(), groups="patient_id")
    click(form, "read")
    assert "patient_id identifies persons" in said(form, "rules")
    click(form, "fit", "confirm", "certificate")

    (entry,) = PrivacyLedger.open("data.ledger.json").entries
    assert entry.unit == Person("patient_id", 2)
    assert Schema.from_toml("model.schema.toml").person == "patient_id"
    assert "model.certificate.pdf: verified" in said(form, "certificate")


def test_a_schema_that_was_read_from_records_is_refused(folder):
    read = replace(Schema.from_dictionary("dictionary.csv", target="died"), read_from_records=True)
    read.to_toml("read.toml")
    form = filled(schema="read.toml")
    click(form, "fit")
    assert "no fit with it is private" in said(form, "schema")
    assert not Path("data.ledger.json").exists()


@pytest.mark.parametrize(
    ("groups", "field", "words"),
    [
        ("", "rows", "No column identifies persons: enter it in step 2"),
        ("patient", "groups", "The table has no column"),
        ("creatinine", "groups", "as a feature or as the target"),
    ],
)
def test_a_wrong_person_column_is_said_at_its_field(groups, field, words, folder):
    form = filled(**without_the_person(), groups=groups)
    click(form, "fit")
    assert words in said(form, field)
    assert "--" not in said(form, field)
    assert not Path("data.ledger.json").exists()


@pytest.mark.full
def test_price_states_the_budget_before_and_after_a_second_fit():
    form = filled(cap="2")
    click(form, "fit", "confirm")
    form.fields["out"].control.value = "second.json"
    form.fields["epsilon"].control.value = "0.5"
    click(form, "fit")

    assert "Spent before it: ε = 1; after it: ε = 1.1" in said(form, "price")
    click(form, "cancel", "confirm")
    assert len(PrivacyLedger.open("data.ledger.json").entries) == 1
    assert not Path("second.json").exists()


def test_a_changed_answer_withdraws_the_question():
    form = filled()
    click(form, "fit")
    form.fields["epsilon"].control.value = "3"
    click(form, "confirm")

    assert not Path("data.ledger.json").exists()
    assert said(form, "price") == ""


def test_epsilon_is_explained_as_odds_while_it_is_entered():
    form = filled()
    assert "at most 74 times out of 100" in said(form, "meaning")
    assert "2.8 to 1" in said(form, "meaning")
    form.fields["epsilon"].control.value = "8"
    assert "right possibly more than 99 times out of 100" in said(form, "meaning")
    form.fields["epsilon"].control.value = "many"
    assert said(form, "meaning") == ""


MISTAKES = {
    "no table": ({"table": ""}, "table", "Enter the file with the records"),
    "missing table": ({"table": "none.csv"}, "table", "none.csv: no such file."),
    "wrong kind of table": ({"table": "dictionary.txt"}, "table", "no such file"),
    "wrong separator": ({"separator": ","}, "target", "no such column"),
    "two separators": ({"separator": ";;"}, "separator", "must be one ASCII character"),
    "odd encoding": ({"encoding": "utf-32"}, "encoding", "cannot be read line by line"),
    "missing schema": ({"schema": "none.toml"}, "schema", "none.toml: no such file"),
    "missing dictionary": ({"schema": "none.csv"}, "schema", "none.csv: no such file"),
    "no target": ({"target": ""}, "target", "Enter the column to predict"),
    "target not in schema": ({"target": "dies"}, "target", "dies"),
    "target is an id": ({"target": "record_no"}, "target", "record_no"),
    "no epsilon": ({"epsilon": ""}, "epsilon", "Enter the privacy loss"),
    "epsilon in words": ({"epsilon": "one"}, "epsilon", "a number such as 0.5, not 'one'"),
    "negative epsilon": ({"epsilon": "-1"}, "epsilon", "epsilon"),
    "budget exceeded": ({"epsilon": "4"}, "epsilon", "This fit needs epsilon=4.0"),
    "no cap": ({"cap": ""}, "cap", "This ledger is new"),
    "bad cap": ({"cap": "0"}, "cap", "cap_epsilon=0.0"),
    "bad delta": ({"delta": "2"}, "delta", "delta=2.0"),
    "rows not given": ({"rows": ""}, "rows", "patient_id identifies persons"),
    "rows in words": ({"rows": "few"}, "rows", "a whole number such as 3, not 'few'"),
    "two person columns": ({"groups": "record_no"}, "groups", "as the person column"),
    "no person": ({"person": ""}, "person", "Enter the person responsible"),
    "no purpose": ({"purpose": ""}, "purpose", "Enter what the release is for"),
    "missing folder": ({"out": "none/model.json"}, "out", "the folder does not exist"),
    "wrong suffix": ({"out": "model.txt"}, "out", "must end in .json"),
    "model exists": ({"out": "taken.json"}, "out", "taken.json exists"),
    "no folder for the ledger": ({"ledger": "none/l.json"}, "ledger", "none: no such folder"),
    "damaged ledger": ({"ledger": "taken.json"}, "ledger", "taken.json"),
}


@pytest.fixture
def records_read(monkeypatch):
    """Times that the records of a private table were read."""
    read = []
    monkeypatch.setattr("dpexplain.cli.fits.private_records", lambda *_: read.append(1))
    return read


def test_mistake_is_said_at_its_field_before_anything_is_read_or_charged(records_read, folder):
    Path("taken.json").write_text("{}")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    form = filled()
    right = vars(form.answers())
    for name, (changed, field, words) in MISTAKES.items():
        for key, value in changed.items():
            form.fields[key].control.value = value
        kept = vars(form.answers())
        click(form, "fit")

        assert words in said(form, field), name
        assert said(form, field).startswith('<div class="dpexplain-mistake" role="alert">'), name
        assert [key for key in form.fields if form.fields[key].said] == [field], name
        assert "--" not in said(form, field), "options are for the command line"
        assert "Nothing was charged" in said(form, "fit"), name
        click(form, "confirm")
        assert vars(form.answers()) == kept == {**right, **changed}, name
        for key in changed:
            form.fields[key].control.value = right[key]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not records_read


def test_weak_guarantee_is_stated_before_the_charge():
    form = filled(epsilon="12", cap="20")
    click(form, "fit")
    assert said(form, "price").count("epsilon=12 is a weak guarantee") == 1


@pytest.mark.full
def test_tab_is_a_separator():
    Path("data.csv").write_text(Path("data.csv").read_text().replace(";", "\t"))
    form = filled(separator="\t")
    click(form, "fit")
    assert "This fit costs" in said(form, "price")


@pytest.mark.full
def test_dictionary_may_have_the_encoding_of_the_table():
    for file in ("data.csv", "dictionary.csv"):
        text = Path(file).read_text().replace("creatinine", "Kreatinin µmol/l")
        Path(file).write_text(text, encoding="cp1252")
    form = filled()
    click(form, "fit")
    assert "not UTF-8 text" in said(form, "schema")
    form.fields["encoding"].control.value = "cp1252"
    click(form, "fit")
    assert "This fit costs" in said(form, "price")


@pytest.mark.full
def test_ledger_in_the_home_of_nobody_is_a_mistake():
    form = filled()
    form.fields["ledger"].control.value = "~nobody_of_that_name/l.json"
    click(form, "fit")
    assert "home directory" in said(form, "ledger")


def test_every_control_has_a_label_and_the_text_form_is_short():
    form = filled()
    assert all(field.control.description for field in form.fields.values())
    assert len(repr(form)) < 100
    with pytest.raises(TypeError, match="no answer named 'tabel'"):
        ReleaseForm(tabel="data.csv")
