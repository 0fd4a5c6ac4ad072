"""What the hash chain in a ledger file notices, and what it cannot notice."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from dpexplain.accounting import GaussianEvent, NonPrivateEvent, PrivacyLedger, Provenance
from dpexplain.exceptions import BudgetError
from ledger_files import anew, by_hand

EVENT = GaussianEvent("counts", 50.0)
SHA = "ab" * 32


@pytest.fixture
def path(tmp_path):
    """Make a ledger file with a cap, three charges and a released file."""
    file = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", 2.0, path=file, person="A. Curie", purpose="report")
    for label in ("first", "second", "third"):
        ledger.charge([EVENT], label=label, provenance=Provenance(target="income"))
    ledger.add_release(1, SHA)
    return file


def content(path):
    return json.loads(path.read_text())


def test_entry_says_when_who_why_and_what(path):
    facts = PrivacyLedger.open(path).entries[0].provenance

    assert re.fullmatch(r"\d{4}-\d\d-\d\d", facts.date)
    assert (facts.person, facts.purpose, facts.target) == ("A. Curie", "report", "income")
    assert facts.schema == ""


def test_each_entry_holds_the_hash_of_the_one_before_and_the_head_is_the_same_when_read(path):
    held = content(path)
    ledger = PrivacyLedger.open(path)

    assert len({entry["previous"] for entry in held["entries"]}) == 3
    assert ledger.head == held["head"]
    assert PrivacyLedger.from_json(path.read_text()).head == ledger.head
    assert f"3 entries; head {ledger.head}" in ledger.chain_words()


def without(entries, place):
    return entries[:place] + entries[place + 1 :]


def relabelled(entries, place):
    return [{**e, "label": "other"} if i == place else e for i, e in enumerate(entries)]


BY_HAND = {
    "raised cap": lambda held: {"cap_epsilon": 9.0},
    "no cap": lambda held: {"cap_epsilon": "inf"},
    "another delta": lambda held: {"delta": 1e-5},
    "another data set": lambda held: {"dataset": "other"},
    "another adjacency": lambda held: {"adjacency": "replace"},
    "another unit": lambda held: {"unit": {"type": "record"}},
    "another cap at the start": lambda held: {"cap_at_start": 3.0},
    "first entry removed": lambda held: {"entries": without(held["entries"], 0), "releases": []},
    "last entry removed": lambda held: {"entries": without(held["entries"], 2)},
    "all entries removed": lambda held: {"entries": [], "releases": [], "cap_at_start": None},
    "entries reordered": lambda held: {"entries": held["entries"][::-1]},
    "first entry edited": lambda held: {"entries": relabelled(held["entries"], 0)},
    "last entry edited": lambda held: {"entries": relabelled(held["entries"], 2)},
    "release removed": lambda held: {"releases": []},
    "release moved": lambda held: {"releases": [{**held["releases"][0], "entry": 2}]},
    "head replaced": lambda held: {"head": SHA},
}


@pytest.mark.parametrize("case", BY_HAND)
def test_change_by_hand_is_noticed_by_the_next_charge_and_when_opened(path, case):
    ledger = PrivacyLedger.open(path)
    by_hand(path, **BY_HAND[case](content(path)))
    changed = path.read_bytes()

    with pytest.raises(BudgetError, match=r"hash chain.* by hand.*Nothing was charged"):
        PrivacyLedger.open(path)
    with pytest.raises(BudgetError, match="hash chain"):
        ledger.charge([EVENT], label="fourth")
    assert path.read_bytes() == changed


def test_break_names_the_entry_after_the_changed_one(path):
    by_hand(path, entries=relabelled(content(path)["entries"], 1))

    with pytest.raises(BudgetError, match="breaks at entry 2: entry 1 or one before it"):
        PrivacyLedger.open(path)


def test_chain_written_anew_is_noticed_only_by_a_head_kept_elsewhere(path):
    kept = PrivacyLedger.open(path).head
    anew(path, cap_epsilon=9.0)

    assert PrivacyLedger.open(path).cap_epsilon == 9.0
    assert PrivacyLedger.open(path).head != kept


@pytest.mark.parametrize("version", [1, 3, 4, 6, True, 5.0, None])
def test_file_of_another_version_is_refused_because_it_may_have_no_chain(path, version):
    by_hand(path, version=version)
    with pytest.raises(BudgetError, match=r"version 5.*never released"):
        PrivacyLedger.open(path)


def test_file_with_charges_and_no_cap_at_the_start_is_refused(path):
    anew(path, cap_at_start=None)
    with pytest.raises(BudgetError, match="cap_at_start is missing"):
        PrivacyLedger.open(path)


def test_lowered_cap_moves_the_head_and_stays_readable(path):
    ledger = PrivacyLedger.open(path)
    before = ledger.head
    ledger.lower_cap(1.0)

    assert PrivacyLedger.open(path).head == ledger.head != before


def test_state_of_the_past_has_the_head_of_the_past(path):
    ledger = PrivacyLedger.open(path)
    before = ledger.head
    ledger.charge([EVENT], label="fourth")
    ledger.add_release(3, SHA)
    ledger.lower_cap(1.0)

    assert ledger._store.current().at(3, 1, 2.0, None).head == before


def test_release_is_recorded_once_and_costs_nothing(path):
    ledger = PrivacyLedger.open(path)
    spent, left = ledger.private_epsilon(), ledger.remaining_epsilon
    facts = Provenance(person="B. Bohr")
    assert ledger.add_release(2, SHA, facts) == ledger.add_release(2, SHA, facts)

    assert [file.entry for file in ledger.releases] == [1, 2]
    assert PrivacyLedger.open(path).releases == ledger.releases
    assert (ledger.private_epsilon(), ledger.remaining_epsilon) == (spent, left)


@pytest.mark.parametrize("entry", [3, 4])
def test_release_needs_a_private_entry(path, entry):
    ledger = PrivacyLedger.open(path)
    ledger.charge([NonPrivateEvent("reference", "no noise")], label="fourth")

    with pytest.raises(ValueError, match=rf"entry={entry} must be one of the 4 entries"):
        ledger.add_release(entry, SHA)
    assert len(ledger.releases) == 1


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"date": "31.03.2026"}, "must be a day in UTC"),
        ({"date": "2026-02-30"}, "must be a day in UTC"),
        ({"person": "a\nb"}, "one line"),
        ({"purpose": "x" * 501}, "at most 500"),
        ({"target": 3}, "target=3"),
        ({"schema": "ab"}, "64 hexadecimal digits"),
    ],
)
def test_facts_of_another_form_are_refused(facts, words):
    with pytest.raises(ValueError, match=words):
        Provenance(**facts)


def test_pickled_ledger_keeps_the_person(tmp_path):
    ledger = PrivacyLedger("survey", path=tmp_path / "a.json", person="A. Curie")
    revive, (_, *arguments) = ledger.__reduce__()

    assert pickle.loads(pickle.dumps(ledger)) is ledger
    other = revive("elsewhere", *arguments)
    assert other.charge([EVENT], label="there").provenance.person == "A. Curie"
