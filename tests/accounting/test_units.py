"""Units are typed: each total names its unit, and is stated only if a bound exists."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given

from dpexplain.accounting import (
    RECORD,
    NonPrivateEvent,
    Person,
    PrivacyLedger,
    epsilon_from_mu,
)
from dpexplain.accounting._units.prices import exchanged_spending, spending_for
from dpexplain.accounting.unit import (
    same_unit,
    unit_from_dict,
    unit_to_dict,
)
from unit_examples import DELTA, EVENT, HOSPITAL, PATIENT, charged, units


@given(units)
def test_unit_survives_plain_data(unit):
    assert unit_from_dict(json.loads(json.dumps(unit_to_dict(unit)))) == unit


@given(units, units)
def test_units_are_the_same_only_if_type_name_and_origin_of_the_name_agree(one, other):
    expected = unit_to_dict(one) | {"max_rows": 0} == unit_to_dict(other) | {"max_rows": 0}
    assert same_unit(one, other) == expected


def test_groupings_without_a_name_are_a_kind_each():
    first, second = Person.unnamed(2), Person.unnamed(2)

    assert not same_unit(first, second)
    assert first.words == second.words == "one person, of whom at most 2 rows are used"


@pytest.mark.parametrize("kind", ["", " ", None, 3, "x" * 201, "a\nb", "a\u202eb"])
def test_kind_must_be_a_short_name(kind):
    with pytest.raises(ValueError, match="kind="):
        Person(kind)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "1"])
def test_number_of_rows_must_be_positive(rows):
    with pytest.raises(ValueError, match="max_rows"):
        Person("patient_id", rows)


@pytest.mark.parametrize("unit", ["one record", "", None, 3])
def test_charge_needs_a_typed_unit(unit):
    with pytest.raises(TypeError, match="must name whom the charge protects"):
        PrivacyLedger("survey").charge([EVENT], label="first", unit=unit)


@pytest.mark.parametrize(
    "content", [None, {}, {"type": "family"}, {"type": "record", "more": 1}, {"type": ["record"]}]
)
def test_damaged_unit_is_refused(content):
    with pytest.raises(ValueError, match="a unit"):
        unit_from_dict(content)


def test_ledger_of_one_kind_states_its_total_for_those_persons():
    ledger = charged((PATIENT, [EVENT]), (Person("patient_id", 5), [EVENT]))

    assert same_unit(ledger.unit, PATIENT)
    assert ledger.private_epsilon() == epsilon_from_mu(math.sqrt(2) / 4, DELTA)
    statement = ledger.statement()
    assert statement.unit == "one person (patient_id)"
    assert "for one person (patient_id)" in statement.everything.covers


def test_mixed_ledger_states_records_and_has_no_bound_for_persons():
    ledger = charged((RECORD, [EVENT]), (PATIENT, [EVENT]))

    assert ledger.unit == RECORD
    assert ledger.private_epsilon() == epsilon_from_mu(math.sqrt(1 + 4) / 4, DELTA)
    assert ledger.private_epsilon(unit=PATIENT) == math.inf
    record, patient = ledger.summary().units
    assert (record.unit, record.unbounded) == ("one record", ())
    assert (patient.unit, patient.unbounded) == ("one person (patient_id)", ("entry 0",))
    for text in (
        ledger.statement().text(),
        ledger.statement().markdown(),
        ledger.summary().words(),
    ):
        assert "o bound for one person" in text


@pytest.mark.parametrize("other", [HOSPITAL, Person.unnamed(1)])
def test_two_kinds_of_persons_have_no_common_total(other):
    ledger = charged((PATIENT, [EVENT]), (other, [EVENT]))

    assert ledger.unit == RECORD
    assert ledger.private_epsilon() == epsilon_from_mu(math.sqrt(8) / 4, DELTA)
    for unit in (PATIENT, other):
        assert ledger.private_epsilon(unit=unit) == math.inf
    assert [bool(total.unbounded) for total in ledger.summary().units] == [False, True, True]


def test_groupings_without_a_name_are_told_in_one_line():
    ledger = charged(*[(Person.unnamed(2), [EVENT]) for _ in range(5)])

    record, unnamed = ledger.summary().units
    assert record.unit == "one record"
    assert "one person of an unnamed grouping: 'entry 1'" in unnamed.words


def test_entry_that_is_not_private_promises_nothing_and_takes_no_unit():
    ledger = charged((RECORD, [NonPrivateEvent("reference", "no noise")]), (PATIENT, [EVENT]))

    assert same_unit(ledger.unit, PATIENT)
    assert ledger.private_epsilon() == epsilon_from_mu(0.25, DELTA)
    assert ledger.total_epsilon() == math.inf


def test_unit_that_is_given_is_the_one_that_totals_are_about():
    ledger = charged((RECORD, [EVENT]), (PATIENT, [EVENT]), unit=Person("patient_id"))

    assert ledger.private_epsilon() == math.inf
    statement = ledger.statement()
    assert statement.unit == "one person (patient_id)"
    assert not statement.everything.private
    assert "no bound for one person (patient_id): 'entry 0' gives it no" in statement.text()
    assert [promise.private for promise in statement.others] == [True]
    assert "no bound for one person (patient_id)" in repr(ledger)


def test_published_entries_are_stated_for_their_own_unit():
    ledger = charged((RECORD, [EVENT]), (PATIENT, [EVENT]), (PATIENT, [EVENT]))

    persons = ledger.release_set([1, 2])
    assert persons.unit == "one person (patient_id)"
    assert persons.epsilon == epsilon_from_mu(math.sqrt(2) / 4, DELTA)
    assert persons.total_epsilon == math.inf
    assert "no bound" in persons.words()
    mixed = ledger.release_set([0, 1])
    assert (mixed.unit, mixed.epsilon) == ("one record", epsilon_from_mu(math.sqrt(5) / 4, DELTA))
    statement = ledger.statement([1, 2])
    assert statement.release.epsilon == persons.epsilon
    assert statement.everything.epsilon == math.inf
    assert "no bound for one person (patient_id)" in statement.everything.covers


def test_frame_counts_for_the_unit_of_the_ledger_and_names_that_of_each_entry():
    table = charged((RECORD, [EVENT]), (PATIENT, [EVENT])).frame()

    assert list(table["unit"]) == ["one record", PATIENT.words]
    assert list(table["epsilon"]) == [epsilon_from_mu(0.25, DELTA)] * 2
    assert table["private_epsilon"].iloc[-1] == epsilon_from_mu(math.sqrt(5) / 4, DELTA)


def test_exchange_of_a_record_counts_twice_its_price():
    entries = charged((PATIENT, [EVENT]), (RECORD, [EVENT])).entries
    one = spending_for(entries, RECORD, "add_remove")
    exchanged = exchanged_spending(entries, RECORD, "add_remove")

    assert one.squared_mu == (4 + 1) / 16
    assert exchanged.squared_mu == 4 * one.squared_mu
