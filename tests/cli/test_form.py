"""The form without code: from a table to a verified page, and each mistake in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpexplain import PrivacyLedger
from dpexplain.accounting import Person
from dpexplain.app import ReleaseForm
from dpexplain.certificate import verify
from dpexplain_widgets import Explorer
from form_tables import click, filled, said

pytestmark = pytest.mark.usefixtures("folder")


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


def test_second_click_does_not_charge_twice():
    form = filled()
    click(form, "fit", "confirm", "confirm")
    assert len(PrivacyLedger.open("data.ledger.json").entries) == 1
    click(form, "fit")
    assert "model.json exists" in said(form, "out")


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        *("model.json", "model.schema.toml", "model.html"),
        *("model.certificate.html", "model.certificate.pdf"),
    ],
)
def test_ledger_is_never_one_of_the_files_of_the_model(name, folder):
    form = filled(ledger=name)
    click(form, "fit")
    assert name in said(form, "out")
    click(form, "confirm")
    assert not Path(name).exists()


@pytest.mark.full
@pytest.mark.parametrize("name", ["u@host", "a=b.json"])
def test_name_of_a_ledger_that_could_hold_a_password_is_refused(name):
    form = filled(ledger=name)
    click(form, "fit")
    assert "could hold a password" in said(form, "ledger")
    assert not Path(name).exists()


@pytest.mark.full
@pytest.mark.parametrize("name", ["model.json", "model.schema.toml", "model.certificate.html"])
def test_file_that_appears_before_the_confirmation_is_kept_and_nothing_is_charged(name):
    form = filled()
    click(form, "fit")
    Path(name).write_text("mine")
    click(form, "confirm")
    assert f"{name} exists" in said(form, "out")
    assert Path(name).read_text() == "mine"
    assert form.done is None
    assert not Path("data.ledger.json").exists()


@pytest.mark.full
def test_pages_and_certificates_replace_no_file_and_are_of_this_fit():
    form = filled()
    click(form, "fit", "confirm")
    for button, name in (
        ("page", "model.html"),
        ("certificate", "model.certificate.html"),
        ("certificate", "model.certificate.pdf"),
    ):
        Path(name).write_text("mine")
        click(form, button)
        assert f"{name} exists" in said(form, button)
        assert Path(name).read_text() == "mine"
        Path(name).unlink()
    Path("model.json").write_text(Path("model.json").read_text() + "\n")
    click(form, "certificate")
    assert "is not the file that this fit saved" in said(form, "certificate")
    assert not list(Path().glob("model.certificate.*"))


@pytest.mark.full
def test_certificate_that_could_not_be_verified_is_removed_and_can_be_written_again(monkeypatch):
    form = filled()
    click(form, "fit", "confirm")
    with monkeypatch.context() as patch:
        patch.setattr(work, "verify", _unreachable)
        click(form, "certificate")
    assert "edger is away" in said(form, "certificate")
    assert not list(Path().glob("model.certificate.*"))

    click(form, "certificate")
    assert "model.certificate.pdf: verified" in said(form, "certificate")


def _unreachable(*_, **__):
    raise BudgetError("ledger is away")


@pytest.mark.full
@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("dpexplain.io.save", MemoryError()),
        ("dpexplain.cli.fits.record_file", KeyError("Zorblax")),
        ("dpexplain.app.form.ReleaseForm._show_results", RuntimeError("no view")),
    ],
)
def test_error_after_the_charge_says_that_the_charge_remains(place, error, monkeypatch):
    def broken(*_):
        raise error

    form = filled()
    click(form, "fit", "confirm")
    form.fields["out"].control.value = "second.json"
    click(form, "fit")
    first = form.done
    monkeypatch.setattr(place, broken)
    click(form, "confirm")

    assert len(PrivacyLedger.open("data.ledger.json").entries) == 2
    form.fields["purpose"].control.value = "another"  # what was said about the charge stays
    assert "the charge remains in the ledger" in said(form, "done")
    assert "Zorblax" not in said(form, "done")
    words = checking.budget_words(form.answers())
    assert words
    assert words in said(form, "budget")
    assert form.done is not first, "the page of the first fit would be taken for that of the second"
    assert not form.results.children
    assert Path("second.schema.toml").exists() == Path("second.json").exists()


def test_a_refused_fit_is_not_said_to_be_charged_because_another_one_was(monkeypatch):
    first, second = filled(epsilon="2.5"), filled(epsilon="2.5", out="second.json")
    click(first, "fit")
    click(second, "fit")
    fit = work.fit

    def after_the_other(planned):
        monkeypatch.setattr(work, "fit", fit)
        click(second, "confirm")
        return fit(planned)

    monkeypatch.setattr(work, "fit", after_the_other)
    click(first, "confirm")
    assert len(PrivacyLedger.open("data.ledger.json").entries) == 1
    assert first.done is None
    assert "The fit was charged" not in said(first, "done") + said(first, "fit")
    assert "cap" in said(first, "fit")


def test_file_with_the_columns_of_the_table_is_no_dictionary():
    lines = Path("data.csv").read_text(encoding="utf-8").splitlines()
    Path("some.csv").write_text("\n".join(lines[:3]) + "\r\n", encoding="utf-8")
    form = filled(schema="some.csv")
    click(form, "read")
    assert "has the columns of the table" in said(form, "schema")


@pytest.mark.full
def test_rest_of_the_budget_counts_fits_charged_meanwhile():
    first, second = filled(), filled(out="second.json")
    click(first, "fit")
    click(second, "fit", "confirm")
    click(first, "confirm")
    state = PrivacyLedger.open("data.ledger.json")._store.current()
    assert checking.left_words(state) in said(first, "done")
    assert checking.left_words(state) not in said(second, "done")


@pytest.mark.full
def test_later_mistake_and_the_key_leave_the_place_of_the_model():
    form = filled()
    click(form, "fit", "confirm")
    form.fields["schema"].control.value = "none.toml"
    click(form, "read")
    form.fields["key"].control.value = "key.pem"
    assert "The model is in model.json" in said(form, "done")


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
