"""A cap applies to the unit of the first private charge, in memory and in files."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle

import pytest

from dpexplain.accounting import (
    RECORD,
    GaussianEvent,
    NonPrivateEvent,
    Person,
    PrivacyLedger,
    epsilon_from_mu,
)
from dpexplain.exceptions import BudgetError
from ledger_files import anew
from unit_examples import DELTA, EVENT, HOSPITAL, PATIENT, charged


def test_cap_is_for_the_unit_of_the_first_private_charge():
    persons = charged(
        (RECORD, [NonPrivateEvent("reference", "no noise")]), (PATIENT, [EVENT]), cap_epsilon=2.0
    )
    records = charged((RECORD, [EVENT]), cap_epsilon=2.0)

    persons.charge([EVENT], label="more rows", unit=Person("patient_id", 7))
    for ledger, unit in ((persons, RECORD), (persons, HOSPITAL), (persons, Person.unnamed(1))):
        before = ledger.to_json()
        assert not ledger.affordable([GaussianEvent("tiny", 1e6)], unit=unit)
        with pytest.raises(BudgetError, match=r"no bound; pass max_rows_per_person= and groups="):
            ledger.charge([GaussianEvent("tiny", 1e6)], label="tiny", unit=unit)
        assert ledger.to_json() == before
    with pytest.raises(BudgetError, match="is left in the ledger"):
        records.charge([EVENT], label="as dear as two", unit=PATIENT)
    records.charge([EVENT], label="more rows", unit=Person("patient_id", 4))
    assert records.private_epsilon() == epsilon_from_mu(math.sqrt(1 + 0.25) / 4, DELTA)


def test_cap_for_a_unit_that_was_given_holds_from_the_first_charge():
    ledger = PrivacyLedger("survey", 2.0, unit=Person("patient_id"))

    with pytest.raises(BudgetError, match=r"the cap of the ledger protects one person \(patient"):
        ledger.charge([EVENT], label="rows")
    ledger.charge([EVENT], label="persons", unit=PATIENT)
    assert len(ledger.entries) == 1


def test_grouping_without_a_name_cannot_be_charged_again_under_a_cap():
    ledger = charged((Person.unnamed(1), [EVENT]), cap_epsilon=3.0)

    with pytest.raises(BudgetError, match="name the grouping"):
        ledger.charge([EVENT], label="again", unit=Person.unnamed(1))


def test_cap_that_comes_later_is_for_a_unit_that_has_a_bound():
    ledger = charged((PATIENT, [EVENT]), (RECORD, [EVENT]))

    with pytest.raises(BudgetError, match=r"no bound; pass another unit=, such as RECORD"):
        ledger.lower_cap(3.0)
    with pytest.raises(BudgetError, match="is already spent"):
        ledger.lower_cap(2.0, unit=RECORD)
    ledger.lower_cap(3.0, unit=RECORD)
    with pytest.raises(BudgetError, match="protects one record, and continues to do so"):
        ledger.lower_cap(2.9, unit=PATIENT)
    with pytest.raises(TypeError, match="must name whom"):
        ledger.lower_cap(2.9, unit="one record")
    ledger.lower_cap(2.9)
    assert (ledger.unit, ledger.cap_epsilon) == (RECORD, 2.9)


def charge_in_process(path, unit, answers):
    try:
        PrivacyLedger.open(path).charge([EVENT], label="other process", unit=unit)
    except BudgetError as error:
        answers.put(str(error))
    else:
        answers.put("charged")


@pytest.mark.full
def test_processes_race_for_the_unit_of_a_cap_and_one_wins(tmp_path):
    path = tmp_path / "ledger.json"
    PrivacyLedger("survey", 9.0, path=path)
    spawning = multiprocessing.get_context("spawn")
    answers = spawning.Queue()
    racing = [
        spawning.Process(target=charge_in_process, args=(path, unit, answers))
        for unit in (PATIENT, HOSPITAL)
    ]
    for process in racing:
        process.start()
    said = sorted(answers.get(timeout=120) for _ in racing)
    for process in racing:
        process.join()

    assert said[0] == "charged"
    assert "has no bound" in said[1]
    (entry,) = PrivacyLedger.open(path).entries
    assert entry.unit in (PATIENT, HOSPITAL)


def test_file_keeps_the_unit_and_ledgers_of_another_unit_do_not_join(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", 2.0, path=path, unit=Person("patient_id"))
    ledger.charge([EVENT], label="persons", unit=PATIENT)

    assert PrivacyLedger.open(path).unit == Person("patient_id")
    assert PrivacyLedger("survey", 2.0, path=path, unit=Person("patient_id")).entries
    assert PrivacyLedger("survey", 2.0, path=path, unit=PATIENT).entries  # rows do not matter
    for unit in (None, RECORD, Person("hospital")):
        with pytest.raises(BudgetError, match=r"unit=Person\(kind='patient_id'"):
            PrivacyLedger("survey", 2.0, path=path, unit=unit)


@pytest.mark.parametrize("change", [{"unit": {"type": "record"}}, {"cap_at_start": 9.0}])
def test_file_whose_cap_was_given_another_unit_by_hand_is_refused(tmp_path, change):
    path = tmp_path / "ledger.json"
    ledger = charged((PATIENT, [EVENT]), cap_epsilon=2.0, path=path)
    anew(path, **change)

    with pytest.raises(BudgetError, match="contains dataset='survey"):
        ledger.charge([EVENT], label="second", unit=PATIENT)


def test_copies_and_pickles_keep_units_and_the_unit_of_the_cap(tmp_path):
    ledger = charged((Person.unnamed(1), [EVENT]), cap_epsilon=4.0, path=tmp_path / "a.json")

    assert copy.deepcopy(ledger) is ledger
    assert pickle.loads(pickle.dumps(ledger)) is ledger
    again = PrivacyLedger.from_json(ledger.to_json(), path=tmp_path / "b.json")
    assert again.entries == ledger.entries
    assert again.to_json() == ledger.to_json()
    with pytest.raises(BudgetError, match="no bound"):
        again.charge([EVENT], label="rows")
