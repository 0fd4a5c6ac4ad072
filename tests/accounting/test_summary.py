from __future__ import annotations

import math

import pytest

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting import (
    EntrySummary,
    GaussianEvent,
    LedgerSummary,
    NonPrivateEvent,
    PrivacyLedger,
)


@pytest.fixture
def content():
    ledger = PrivacyLedger("survey", 2.0)
    ledger.charge([GaussianEvent("counts", 5.0)], label="fit")
    ledger.charge([NonPrivateEvent("fit", "without noise")], label="reference")
    return ledger.summary().to_dict()


def test_infinity_is_written_as_a_word(content):
    assert content["total_epsilon"] == "inf"
    assert content["entries"][1]["epsilon"] == "inf"
    assert LedgerSummary.from_dict(content).total_epsilon == math.inf


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", 3),
        ("delta", 2.0),
        ("adjacency", "label"),
        ("cap_epsilon", -1.0),
        ("total_epsilon", "infinite"),
        ("private_epsilon", None),
        ("naive_epsilon", math.nan),
        ("entries", {}),
        ("entries", [None]),
    ],
)
def test_wrong_field_is_refused(content, field, value):
    with pytest.raises(
        ValueError, match=r"must be|expected|needs exactly|no choice|not a valid choice"
    ):
        LedgerSummary.from_dict({**content, field: value})


def test_missing_and_unknown_fields_are_refused(content):
    with pytest.raises(ValueError, match="LedgerSummary needs exactly these fields"):
        LedgerSummary.from_dict({**content, "more": 1})
    entry = content["entries"][0]
    with pytest.raises(ValueError, match="EntrySummary needs exactly these fields"):
        EntrySummary.from_dict({key: entry[key] for key in entry if key != "mu"})


@pytest.mark.parametrize(
    ("field", "value"),
    [("private", 1), ("label", None), ("events", "gaussian"), ("events", [{"type": "laplace"}])],
)
def test_wrong_entry_is_refused(content, field, value):
    with pytest.raises(ValueError, match=r"must be|expected|needs exactly"):
        EntrySummary.from_dict({**content["entries"][0], field: value})


def test_words_of_one_entry_speak_of_one():
    ledger = PrivacyLedger("survey", 2.0, delta=1e-5)
    ledger.charge([GaussianEvent("counts", 5.0)], label="fit")
    epsilon = ledger.total_epsilon()

    assert ledger.summary().words() == (
        f"One entry on 'survey': epsilon = {upper_number(epsilon)} at delta = 1e-05 "
        "(one record added or removed). That is for fits fixed in advance; if results decided "
        "which fits follow or when to stop, epsilon = 2 (the cap). The cap is 2."
    )


def test_words_of_several_entries_compare_with_adding():
    ledger = PrivacyLedger("survey", adjacency="replace")
    for _ in range(2):
        ledger.charge([GaussianEvent("counts", 5.0)], label="fit", adjacency="replace")
    summary = ledger.summary()

    assert summary.words() == (
        "All 2 entries on 'survey' together, if published together: "
        f"epsilon = {upper_number(summary.private_epsilon)} at delta = 1e-06 "
        "(one record replaced by another), "
        f"where simple addition would give {upper_number(summary.naive_epsilon)}. "
        "That is for fits fixed in advance; if results decided which fits follow or when to "
        f"stop, epsilon = {upper_number(summary.adaptive_epsilon)}."
    )
    assert summary.private_epsilon < summary.naive_epsilon


def test_words_without_private_release_give_no_finite_epsilon():
    ledger = PrivacyLedger("survey", 2.0)
    ledger.charge([NonPrivateEvent("fit", "without noise")], label="reference")

    assert ledger.summary().words() == (
        "1 entry on 'survey', no private release; epsilon is infinite. The cap is 2."
    )
    assert repr(ledger) == (
        "PrivacyLedger('survey', 1 entry NOT PRIVATE, no private release; epsilon is infinite)"
    )
    assert "epsilon = 0" not in ledger._repr_html_()


@pytest.mark.parametrize(("n_private", "who"), [(1, "One entry"), (2, "All 2 entries")])
def test_words_beside_a_reference_count_the_private_entries_only(n_private, who):
    ledger = PrivacyLedger("survey")
    for _ in range(n_private):
        ledger.charge([GaussianEvent("counts", 5.0)], label="fit")
    ledger.charge([NonPrivateEvent("fit", "without noise")], label="reference")
    words = ledger.summary().words()

    assert words.startswith(f"{who} with private releases on 'survey'")
    assert f"epsilon = {upper_number(ledger.private_epsilon())} at" in words
    assert ("simple addition" in words) == (n_private > 1)
    assert "make the total infinite" in words
    entries = "1 entry" if n_private == 1 else "2 entries"
    assert repr(ledger) == (
        f"PrivacyLedger('survey', {entries} with private releases, epsilon "
        f"{upper_number(ledger.private_epsilon())} at delta 1e-06 if fixed in advance, else "
        f"{upper_number(ledger.adaptive_epsilon)}; 1 entry NOT PRIVATE)"
    )


def test_entry_that_is_private_in_part_counts_with_its_private_part():
    ledger = PrivacyLedger("survey")
    mixed = [GaussianEvent("counts", 5.0), NonPrivateEvent("fit", "without noise")]
    ledger.charge(mixed, label="both")

    assert ledger.summary().n_private == 1
    assert ledger.summary().words().startswith("One entry with private releases on 'survey'")
