"""Units are typed: each total names whom it is about, and is stated only where a bound exists."""

from __future__ import annotations

import copy
import itertools
import json
import math
import multiprocessing
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.accounting import (
    RECORD,
    GaussianEvent,
    LaplaceEvent,
    LedgerSummary,
    NonPrivateEvent,
    Person,
    PrivacyLedger,
    PureEvent,
    Record,
    SubsampledGaussianEvent,
    delta_from_mu,
    epsilon_from_events,
    epsilon_from_mu,
)
from dpexplain.accounting._units.prices import exchanged_spending, spending_for
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.pld import pld_delta
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.unit import (
    OtherUnit,
    same_unit,
    unit_from_dict,
    unit_from_text,
    unit_to_dict,
)
from dpexplain.exceptions import BudgetError
from dpexplain.statement import PrivacyStatement, statement_of

DELTA = 1e-6
EVENT = GaussianEvent("counts", noise_multiplier=4.0)  # epsilon 1.06 at delta 1e-6
SAMPLED = SubsampledGaussianEvent("steps", 2.0, 0.01, 100)
PATIENT, HOSPITAL = Person("patient_id", 1), Person("hospital", 1)

units = st.one_of(
    st.just(RECORD),
    st.builds(Person, st.sampled_from(["patient_id", "hospital"]), st.integers(1, 9)),
    st.builds(Person, st.sampled_from(["patient_id", "entry 0"]), st.none(), st.booleans()),
    st.builds(OtherUnit, st.sampled_from(["one household", "patient_id"])),
)


_NAMES = (f"survey {number}" for number in itertools.count())


def charged(*charges, **settings):
    ledger = PrivacyLedger(next(_NAMES), **settings)
    for place, (unit, events) in enumerate(charges):
        ledger.charge(events, label=f"entry {place}", unit=unit, adjacency=ledger.adjacency)
    return ledger


# --- the type ------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("unit", ["one record", "", None, 3, OtherUnit("one household")])
def test_charge_needs_a_typed_unit(unit):
    with pytest.raises(TypeError, match="must name whom the charge protects"):
        PrivacyLedger("survey").charge([EVENT], label="first", unit=unit)


@pytest.mark.parametrize(
    "content", [None, {}, {"type": "family"}, {"type": "record", "more": 1}, {"type": ["record"]}]
)
def test_damaged_unit_is_refused(content):
    with pytest.raises(ValueError, match="a unit"):
        unit_from_dict(content)


# --- prices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_one_record_of_a_fit_for_persons_costs_an_exchange(rows):
    """Two k-ths of the shift of k rows: twice the shift of the person where k is 1."""
    ledger = charged((Person("patient_id", rows), [EVENT]))

    assert ledger.private_epsilon() == epsilon_from_mu(0.25, DELTA)
    record = epsilon_from_mu(2 / rows * 0.25, DELTA)
    assert ledger.private_epsilon(unit=RECORD) == pytest.approx(record, rel=1e-12)


def test_person_without_a_number_of_rows_counts_as_a_whole():
    ledger = charged((Person("patient_id"), [EVENT]))

    assert ledger.private_epsilon(unit=RECORD) == epsilon_from_mu(0.5, DELTA)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(
    ("event", "exchanged"),
    [
        (GaussianEvent("sums", 4.0, 3), GaussianEvent("sums", 2.0, 3)),
        (LaplaceEvent("sums", 4.0, 3), LaplaceEvent("sums", 2.0, 3)),
        (PureEvent("choice", 0.1, 3), PureEvent("choice", 0.2, 3)),
        (
            SubsampledGaussianEvent("steps", 4.0, 1.0, 3),
            SubsampledGaussianEvent("steps", 2.0, 1.0, 3),
        ),
    ],
)
def test_record_price_of_each_kind_of_event(event, exchanged, adjacency):
    ledger = charged((PATIENT, [event]), adjacency=adjacency)
    expected = epsilon_from_events([exchanged], DELTA, adjacency=adjacency)

    assert ledger.private_epsilon(unit=RECORD) == pytest.approx(expected, rel=1e-9)


def test_record_price_of_samples_is_that_of_a_person_exchanged():
    person = charged((Person("patient_id", 4), [SAMPLED]))
    expected = epsilon_from_events([SAMPLED], DELTA, replace=True)

    assert person.private_epsilon(unit=RECORD) == expected
    assert person.summary().units[1].replace_epsilon == math.inf
    replaced = charged((PATIENT, [SAMPLED]), adjacency="replace")
    assert replaced.private_epsilon(unit=RECORD) == math.inf
    assert "no bound for one record" in replaced.statement().text()


def test_samples_that_are_counted_as_exchanged_cover_those_with_one_record_more():
    """In one sum the accountant has one adjacency for all samples: the larger of the two."""
    epsilons = np.linspace(0, 3, 61)
    added = pld_delta(Spending.of([SAMPLED]), epsilons)
    exchanged = pld_delta(Spending.of([SAMPLED], "replace"), epsilons)

    assert (exchanged >= added * (1 - 1e-6)).all()
    mixed = charged((RECORD, [SAMPLED]), (PATIENT, [SAMPLED]))
    both = epsilon_of(Spending.of([SAMPLED, SAMPLED], "replace"), DELTA)
    assert mixed.private_epsilon() == both


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_coins_of_neighbours_can_be_paired_so_that_one_row_is_exchanged_at_most(k, m, seed):
    """The pairing of the proof: its rows of D are an even choice, and differ in one row."""
    rng = np.random.default_rng(seed)
    new = set(rng.permutation(m + 1)[:k].tolist())  # row m is the one that is added
    spare = sorted(set(range(m)) - new)
    old = new if m not in new else (new - {m}) | ({int(rng.choice(spare))} if spare else set())

    assert len(old) == min(k, m)
    assert len(new - old) <= 1
    assert len(old - new) <= (1 if m >= k else 0)


def test_paired_coins_choose_rows_evenly():
    """Chi-square on the 10 pairs of 5 rows; wrong once in a million runs for the right pairing."""
    rng, k, m, n = np.random.default_rng(1), 2, 5, 20_000
    counts: dict[frozenset[int], int] = {}
    for _ in range(n):
        new = set(rng.permutation(m + 1)[:k].tolist())
        spare = sorted(set(range(m)) - new)
        old = frozenset(new if m not in new else (new - {m}) | {int(rng.choice(spare))})
        counts[old] = counts.get(old, 0) + 1

    assert len(counts) == 10
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6


def test_the_old_statement_was_false_and_the_new_one_holds():
    """Half of the coins exchange the row in use: exact delta of that mixture."""

    def delta(mu_exchanged, epsilon):
        return 0.5 * delta_from_mu(mu_exchanged, math.log(2 * math.exp(epsilon) - 1))

    mu = EVENT.mu
    ledger = charged((PATIENT, [EVENT]))
    assert delta(2 * mu, ledger.private_epsilon()) > 50 * DELTA
    assert delta(2 * mu, ledger.private_epsilon(unit=RECORD)) < DELTA


# --- totals --------------------------------------------------------------------------------------


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
    assert "one person of an unnamed grouping, to whom 'entry 1'" in unnamed.words


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
    assert "no bound for one person (patient_id), to whom 'entry 0'" in statement.text()
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


# --- caps ----------------------------------------------------------------------------------------


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

    with pytest.raises(BudgetError, match=r"the cap of the ledger is about one person \(patient"):
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
    with pytest.raises(BudgetError, match="was spent already"):
        ledger.lower_cap(2.0, unit=RECORD)
    ledger.lower_cap(3.0, unit=RECORD)
    with pytest.raises(BudgetError, match="protects one record, and goes on doing so"):
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
    assert "for whom it has no bound" in said[1]
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
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    with pytest.raises(BudgetError, match="holds dataset='survey"):
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


# --- older files ---------------------------------------------------------------------------------


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
    assert json.loads(path.read_text())["version"] == 3


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
