"""The form without code: from a table to a verified page, and each mistake in one sentence."""

from __future__ import annotations

import importlib.util
import json
from html import unescape
from pathlib import Path

import pytest
from ipywidgets import Widget

from dpexplain import PrivacyLedger, Schema
from dpexplain.accounting import Person
from dpexplain.app import ReleaseForm
from dpexplain.certificate import verify
from dpexplain.cli import main
from dpexplain_widgets import Explorer
from form_tables import click, filled, messy_lines, state_of, write_messy


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_messy(tmp_path)
    yield tmp_path
    Widget.close_all()


def said(form, name):
    """What is written at a field or in a message."""
    place = form.fields[name].said if name in form.fields else form.messages[name].value
    return unescape(place)


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
    assert "model.json" in said(form, "fit")
    assert "model.html" in said(form, "page")
    assert "model.certificate.html: verified" in said(form, "certificate")
    found = verify(
        "model.certificate.html", "data.ledger.json", "model.json", schema="model.schema.toml"
    )
    assert found.passed
    ledger = PrivacyLedger.open("data.ledger.json")
    assert (ledger.cap_epsilon, ledger.unit) == (3.0, Person("patient_id", 2))
    (entry,) = ledger.entries
    assert (entry.provenance.person, entry.provenance.purpose) == ("A. Curie", "annual report")
    assert "A. Curie" in Path("model.certificate.html").read_text()


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
    assert "at most 74 times of 100" in said(form, "meaning")
    assert "2.8 to 1" in said(form, "meaning")
    form.fields["epsilon"].control.value = "many"
    assert said(form, "meaning") == ""


MISTAKES = {
    "no table": ({"table": ""}, "table", "Enter the file with the records"),
    "missing table": ({"table": "none.csv"}, "table", "none.csv: no such file."),
    "wrong kind of table": ({"table": "dictionary.txt"}, "table", "no such file"),
    "wrong separator": ({"separator": ","}, "target", "no such column"),
    "two separators": ({"separator": ";;"}, "separator", "must be one ASCII character"),
    "odd encoding": ({"encoding": "utf-16"}, "encoding", "cannot be read line by line"),
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
    "no person": ({"person": ""}, "person", "Enter the person responsible"),
    "no purpose": ({"purpose": ""}, "purpose", "Enter what the release is for"),
    "missing folder": ({"out": "none/model.json"}, "out", "the folder does not exist"),
    "wrong suffix": ({"out": "model.txt"}, "out", "must end in .json"),
    "model exists": ({"out": "taken.json"}, "out", "taken.json exists"),
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


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:Zorblax@host/b", "postgresql://host/b?password=Zorblax"],
)
def test_password_in_an_address_is_not_kept(address):
    form = filled()
    form.fields["ledger"].control.value = address
    assert "holds a password" in said(form, "ledger")
    assert "Zorblax" not in json.dumps(state_of(form))
    form.fields["ledger"].control.value = "postgresql://ann@host:5432/b"
    assert said(form, "ledger") == ""


def test_draft_needs_a_public_sample_that_is_not_the_table(folder):
    Path("sample.csv").write_text("age,job,died\n30,nurse,no\n41,clerk,yes\n99,clerk,no\n")
    form = filled(sample="sample.csv", schema="")
    click(form, "draft")
    assert "confirm that the sample is public" in said(form, "sample")
    form.public.value = True
    form.fields["sample"].control.value = "data.csv"
    click(form, "draft")
    assert "This is the table itself" in said(form, "sample")
    assert not list(folder.glob("*.toml"))

    form.fields["sample"].control.value = "sample.csv"
    click(form, "draft")
    assert form.fields["schema"].control.value == "sample.schema.toml"
    assert set(Schema.from_toml("sample.schema.toml").features) == {"age", "job"}
    assert "To decide" in said(form, "drafted")
    click(form, "draft")
    assert "sample.schema.toml exists" in said(form, "sample")


def test_comparison_with_the_schema_is_in_a_file_and_never_in_the_form():
    form = filled()
    states = []
    for odd in ("7", "Zorblax"):
        write_messy(Path(), [*messy_lines(), f"900;901;{odd};1;0"])
        click(form, "check")
        states.append(state_of(form))

    assert "Zorblax" in Path("data.NOT-PRIVATE.txt").read_text()
    assert Path("data.NOT-PRIVATE.txt").read_text().startswith("NOT PRIVATE")
    assert "data.NOT-PRIVATE.txt" in said(form, "checked")
    assert states[0] == states[1]


def test_unexpected_error_shows_its_type_and_nothing_else(monkeypatch, capsys):
    def broken(*_):
        raise KeyError("Zorblax of line 7")

    monkeypatch.setattr("dpexplain.cli.fits.private_records", broken)
    form = filled()
    click(form, "fit", "confirm")

    assert "unexpected KeyError" in said(form, "fit")
    assert "Zorblax" not in json.dumps(said(form, "fit")) + "".join(capsys.readouterr())
    assert not Path("data.ledger.json").exists()


def test_second_click_does_not_charge_twice():
    form = filled()
    click(form, "fit", "confirm", "confirm")
    assert len(PrivacyLedger.open("data.ledger.json").entries) == 1
    click(form, "fit")
    assert "model.json exists" in said(form, "out")


def test_every_control_has_a_label_and_the_text_form_is_short():
    form = filled()
    assert all(field.control.description for field in form.fields.values())
    assert len(repr(form)) < 100
    with pytest.raises(TypeError, match="no answer named 'tabel'"):
        ReleaseForm(tabel="data.csv")


@pytest.mark.parametrize(
    ("installed", "options", "started"),
    [
        (("voila", "jupyterlab"), [], ["voila", "--token"]),
        (("voila", "jupyterlab"), ["--host", "lab"], ["jupyter", "lab"]),
        (("jupyterlab",), ["--port", "8899"], ["jupyter", "lab"]),
    ],
)
def test_app_starts_voila_or_the_laboratory(installed, options, started, monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "dpexplain.cli.hosts._installed",
        lambda module: module in installed if module in ("voila", "jupyterlab") else found(module),
    )
    assert main(["app", "--print", "--no-browser", *options]) == 0
    command = capsys.readouterr().out.split()
    assert command[2 : 2 + len(started)] == started
    assert "dpexplain-app.ipynb" in command
    assert "--no-browser" in command
    assert ("--ServerApp.port=8899" in command) == ("8899" in options)
    (cell,) = json.loads(Path("dpexplain-app.ipynb").read_text())["cells"]
    assert "ReleaseForm()" in cell["source"]


def test_app_says_what_is_missing_and_keeps_a_notebook_that_exists(monkeypatch, capsys):
    Path("dpexplain-app.ipynb").write_text("{}")
    assert main(["app", "--print"]) == 0
    assert Path("dpexplain-app.ipynb").read_text() == "{}"
    monkeypatch.setattr("dpexplain.cli.hosts._installed", lambda module: module == "ipywidgets")
    assert main(["app", "--print"]) == 2
    assert "the extra 'lab'" in capsys.readouterr().err
