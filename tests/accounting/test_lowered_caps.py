"""A cap can be set or lowered and never raised; entries name whom they protect."""

from __future__ import annotations

import json

import pytest

from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent
from dpexplain.exceptions import BudgetError
from dpexplain.statement import statement_of

EVENT = GaussianEvent("counts", noise_multiplier=4.0)  # epsilon 1.06 at delta 1e-6


def test_ledger_without_a_cap_takes_one_and_keeps_within_it():
    ledger = PrivacyLedger("survey")
    ledger.charge([EVENT], label="first")

    ledger.lower_cap(1.2)

    assert ledger.cap_epsilon == 1.2
    with pytest.raises(BudgetError, match="left in the ledger"):
        ledger.charge([EVENT], label="second")
    ledger.lower_cap(1.1)
    assert ledger.cap_epsilon == 1.1


@pytest.mark.parametrize(
    ("cap", "words"), [(3.0, "never raised"), (float("inf"), "never raised"), (0.5, "was spent")]
)
def test_cap_is_neither_raised_nor_set_below_what_was_spent(cap, words):
    ledger = PrivacyLedger("survey", cap_epsilon=2.0)
    ledger.charge([EVENT], label="first")

    with pytest.raises(BudgetError, match=words):
        ledger.lower_cap(cap)

    assert ledger.cap_epsilon == 2.0
    with pytest.raises(ValueError, match="cap_epsilon"):
        ledger.lower_cap(0.0)


def test_file_holds_a_lowered_cap_and_other_ledgers_of_it_follow(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", cap_epsilon=4.0, path=path)
    other = PrivacyLedger.open(path)
    other.charge([EVENT], label="first")

    ledger.lower_cap(1.2)

    assert PrivacyLedger.open(path).cap_epsilon == other.cap_epsilon == 1.2
    assert not other.affordable([EVENT])
    with pytest.raises(BudgetError, match=r"lower_cap\(\) sets or lowers"):
        PrivacyLedger("survey", cap_epsilon=4.0, path=path)


def test_file_whose_cap_was_raised_by_hand_is_refused(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", cap_epsilon=2.0, path=path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "cap_epsilon": 9.0}))

    with pytest.raises(BudgetError, match="cap_epsilon=9"):
        ledger.charge([EVENT], label="first")


def test_entries_name_whom_they_protect_in_file_table_and_statement(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    ledger.charge([EVENT], label="rows")
    persons = "one person, of whom at most 3 rows are used"
    ledger.charge([EVENT], label="persons", unit=persons)

    again = PrivacyLedger.open(path)

    assert [entry.unit for entry in again.entries] == ["one record", persons]
    assert list(again.frame()["unit"]) == ["one record", persons]
    assert persons in again._repr_html_()
    assert statement_of(again.summary()).unit == "one record"
    of_persons = statement_of(again.summary(), [1])
    assert of_persons.unit == persons
    assert f"not every fit on the ledger protects {persons}" in of_persons.everything.covers


def test_ledger_of_persons_alone_speaks_of_persons():
    ledger = PrivacyLedger("survey")
    persons = "one person, of whom at most 3 rows are used"
    ledger.charge_all([("a", [EVENT]), ("b", [EVENT])], unit=persons)

    statement = ledger.statement()

    assert statement.unit == persons
    assert "one record" not in statement.everything.covers


def test_file_that_does_not_name_units_yet_is_read_as_of_records():
    ledger = PrivacyLedger("survey")
    ledger.charge([EVENT], label="first")
    content = json.loads(ledger.to_json())
    del content["entries"][0]["unit"]

    old = PrivacyLedger.from_json(json.dumps({**content, "version": 1}))

    assert old.entries == ledger.entries
    with pytest.raises(ValueError, match="unit"):
        PrivacyLedger.from_json(json.dumps(content))


def test_charge_for_nobody_is_refused():
    with pytest.raises(ValueError, match="must name whom"):
        PrivacyLedger("survey").charge([EVENT], label="first", unit=" ")
