"""The form charges once for one fit, and replaces no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpexplain import PrivacyLedger
from dpexplain.app import checking, work
from dpexplain.exceptions import BudgetError
from form_tables import click, filled, said

pytestmark = pytest.mark.usefixtures("folder")


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
