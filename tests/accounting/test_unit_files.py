"""Files, summaries and statements of older versions, which describe units in words."""

from __future__ import annotations

import json
import math

import pytest

from dpexplain.accounting import (
    RECORD,
    LedgerSummary,
    Person,
    PrivacyLedger,
    Record,
    epsilon_from_mu,
)
from dpexplain.accounting.unit import (
    OtherUnit,
    unit_from_text,
)
from dpexplain.statement import PrivacyStatement, statement_of
from unit_examples import DELTA, EVENT, HOSPITAL, PATIENT, charged


def older_file(version, *units):
    entries = [
        {
            "label": f"entry {place}",
            "unit": unit,
            "events": [{"type": "gaussian", "label": "a", "noise_multiplier": 4.0, "count": 1}],
        }
        for place, unit in enumerate(units)
    ]
    if version == 1:
        for entry in entries:
            del entry["unit"]
    return json.dumps(
        {
            "format": "dpexplain/ledger", "version": version, "dataset": "survey",
            "cap_epsilon": "inf", "delta": DELTA, "adjacency": "add_remove", "entries": entries,
        }
    )  # fmt: skip


PERSONS = "one person, of whom at most 3 rows are used"


def test_file_that_words_its_units_opens_and_persons_of_two_entries_need_not_be_the_same():
    records = PrivacyLedger.from_json(older_file(2, "one record", "one record"))
    persons = PrivacyLedger.from_json(older_file(2, PERSONS, PERSONS))
    one = PrivacyLedger.from_json(older_file(2, PERSONS))
    unknown = PrivacyLedger.from_json(older_file(2, "one household"))

    assert records.private_epsilon() == epsilon_from_mu(math.sqrt(2) / 4, DELTA)
    assert persons.unit == RECORD
    assert persons.private_epsilon() == pytest.approx(
        epsilon_from_mu(math.sqrt(2) * 2 / 3 / 4, DELTA), rel=1e-12
    )
    assert one.private_epsilon() == epsilon_from_mu(0.25, DELTA)
    assert one.entries[0].unit.words == PERSONS
    assert unknown.unit == OtherUnit("one household")
    assert unknown.private_epsilon(unit=RECORD) == math.inf


def test_file_without_units_may_be_about_persons_and_is_priced_so():
    old = PrivacyLedger.from_json(older_file(1, None))

    assert old.private_epsilon(unit=RECORD) == epsilon_from_mu(0.5, DELTA)


def test_older_file_is_charged_and_written_anew(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text(older_file(2, "one record", PERSONS))
    ledger = PrivacyLedger.open(path)
    before = ledger.entries
    ledger.charge([EVENT], label="new")

    assert PrivacyLedger.open(path).entries[:2] == before
    assert json.loads(path.read_text())["version"] == 4


def test_summary_that_words_its_units_is_read_and_its_totals_computed_anew():
    old = charged((PATIENT, [EVENT]), (HOSPITAL, [EVENT])).summary().to_dict()
    for field in ("unit", "units", "adaptive_epsilon"):
        del old[field]
    for entry in old["entries"]:
        entry["unit"] = PERSONS
    old["private_epsilon"] = 0.1

    read = LedgerSummary.from_dict(old)

    assert read.unit == "one record"
    assert read.private_epsilon == pytest.approx(
        epsilon_from_mu(math.sqrt(2) * 2 / 3 / 4, DELTA), rel=1e-12
    )
    assert LedgerSummary.from_dict(read.to_dict()) == read
    with pytest.raises(ValueError, match="needs exactly these fields"):
        LedgerSummary.from_dict({name: old[name] for name in old if name != "delta"})


def test_statement_of_an_older_version_is_read():
    statement = charged((RECORD, [EVENT]), (PATIENT, [EVENT])).statement()
    content = statement.to_dict()
    assert PrivacyStatement.from_dict(json.loads(json.dumps(content))) == statement

    del content["others"]
    for name in ("release", "everything"):
        del content[name]["adaptive_epsilon"]
    read = PrivacyStatement.from_dict(content)
    assert read.others == ()
    assert read.everything.epsilon == statement.everything.epsilon
    assert "results decided" not in read.text()


def test_summary_made_without_units_has_a_statement():
    content = charged((RECORD, [EVENT])).summary()
    bare = LedgerSummary(
        **{
            name: getattr(content, name)
            for name in (
                "dataset", "delta", "adjacency", "cap_epsilon", "total_epsilon",
                "private_epsilon", "replace_epsilon", "naive_epsilon", "entries",
            )
        }
    )  # fmt: skip
    assert statement_of(bare).everything.epsilon == content.private_epsilon


def test_units_have_words_and_equal_values():
    assert Record() == RECORD
    assert unit_from_text("one record", 0) == RECORD
    assert Person("patient_id").words == "one person (patient_id)"
    assert "<b>" not in charged((Person("<b>x</b>", 1), [EVENT]))._repr_html_()
