from __future__ import annotations

import contextlib
import copy
import math
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from dpexplain.accounting import (
    RECORD,
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    LedgerEntry,
    NonPrivateEvent,
    Person,
    PrivacyLedger,
    SubsampledGaussianEvent,
    epsilon_from_mu,
    gdp_noise_multiplier,
    mu_from_epsilon,
)
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.exceptions import BudgetError, PrivacyWarning

DELTA = 1e-6


def fit_events(epsilon, delta=DELTA, n_releases=60):
    multiplier = gdp_noise_multiplier(n_releases, epsilon, delta)
    return [GaussianEvent("boosting", multiplier, n_releases)]


REFERENCE = [NonPrivateEvent("reference", "fitted without noise")]


def test_new_ledger_has_spent_nothing():
    ledger = PrivacyLedger("survey", cap_epsilon=2.0)

    assert ledger.total_epsilon() == 0.0
    assert ledger.remaining_epsilon == pytest.approx(2.0, rel=1e-8)
    assert ledger.entries == ()
    assert len(ledger.frame()) == 0
    assert ledger.summary().words() == "Nothing has been spent on 'survey'."


def test_sweep_spends_the_published_total():
    ledger = PrivacyLedger("survey", delta=1e-5)
    for epsilon in (0.5, 1, 2, 4, 8):
        ledger.charge(fit_events(epsilon, 1e-5), label=f"fit {epsilon}")

    assert round(ledger.total_epsilon(), 2) == 9.96
    assert ledger.summary().naive_epsilon == pytest.approx(15.5, rel=1e-6)
    assert "epsilon = 9.959 at delta = 1e-05" in ledger.summary().words()


@given(st.permutations([0.1, 0.5, 1.0, 2.0, 3.0]))
def test_order_of_charges_is_irrelevant(epsilons):
    ledger, in_order = PrivacyLedger("survey"), PrivacyLedger("survey, sorted")
    for epsilon in epsilons:
        ledger.charge(fit_events(epsilon), label="fit")
    in_order.charge([event for e in sorted(epsilons) for event in fit_events(e)], label="all")

    assert ledger.total_epsilon() == in_order.total_epsilon()


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=8))
def test_total_grows_with_each_charge_and_stays_below_the_sum(epsilons):
    ledger = PrivacyLedger("survey")
    totals = [0.0]
    for epsilon in epsilons:
        ledger.charge(fit_events(epsilon), label="fit")
        totals.append(ledger.total_epsilon())

    assert totals == sorted(totals)
    assert totals[-1] <= sum(epsilons)
    assert totals[-1] >= max(epsilons) * (1 - 1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 2.0, 7.3])
def test_fit_of_exactly_the_cap_is_accepted(epsilon):
    ledger = PrivacyLedger("survey", cap_epsilon=epsilon)
    split = mu_from_epsilon(epsilon, DELTA)
    bins, train = split * math.sqrt(0.2), split * math.sqrt(0.8)
    events = [
        GaussianEvent("histograms", math.sqrt(14) / bins, 14),
        GaussianEvent("boosting", math.sqrt(840) / train, 840),
    ]

    assert ledger.affordable(events)
    ledger.charge(events, label="fit")
    assert epsilon * (1 - 1e-6) <= ledger.total_epsilon() <= epsilon
    assert not ledger.affordable(fit_events(epsilon * 1e-2))


@given(st.floats(0.5, 5), st.lists(st.floats(0.05, 3), max_size=12))
def test_cap_is_never_exceeded_whatever_is_asked_for(cap, epsilons):
    ledger = PrivacyLedger("survey", cap_epsilon=cap)
    for epsilon in epsilons:
        events = fit_events(epsilon)
        if ledger.affordable(events):
            ledger.charge(events, label="fit")
        else:
            with pytest.raises(BudgetError):
                ledger.charge(events, label="fit")

    # The exact value: the reported one is rounded up, and even that does not pass the cap.
    assert ledger.total_epsilon() <= cap


@given(st.floats(0.5, 5), st.floats(0.05, 0.95))
def test_what_remains_can_be_spent_and_no_more(cap, share):
    ledger = PrivacyLedger("survey", cap_epsilon=cap)
    ledger.charge(fit_events(share * cap), label="first")
    left = ledger.remaining_epsilon

    assert left >= cap * (1 - share) * (1 - 1e-6)
    assert not ledger.affordable(fit_events(left * (1 + 1e-6)))
    ledger.charge(fit_events(left), label="rest")
    assert ledger.remaining_epsilon < 1e-3 * cap


def test_refusal_says_what_is_needed_what_is_left_and_what_to_do():
    ledger = PrivacyLedger("survey", cap_epsilon=1.0, delta=1e-5)
    ledger.charge(fit_events(0.95, 1e-5), label="first")

    with pytest.raises(
        BudgetError,
        match=r"^this fit needs epsilon=0\.40 at delta=1e-05, but 0\.2\d of 1\.00 is left in the "
        r"ledger \(budgets compose, so more is left than the cap minus the total\); "
        r"lower epsilon\.$",
    ):
        ledger.charge(fit_events(0.4, 1e-5), label="second")
    with pytest.raises(BudgetError, match="this sweep needs"):
        ledger.charge(fit_events(0.4, 1e-5), label="second", what="sweep")


def test_refusal_by_an_empty_or_a_spent_ledger_needs_no_word_on_composition():
    ledger = PrivacyLedger("survey", cap_epsilon=1.0)
    with pytest.raises(BudgetError, match=r"1\.00 of 1\.00 is left in the ledger; lower epsilon"):
        ledger.charge(fit_events(1.1), label="too much")
    ledger.charge(fit_events(1.0), label="all of it")
    with pytest.raises(BudgetError, match=r"but 0\.00\d* of 1\.00 is left in the ledger; lower"):
        ledger.charge(fit_events(0.1), label="more")


def test_refusal_of_small_budgets_keeps_digits():
    ledger = PrivacyLedger("survey", cap_epsilon=0.002)

    with pytest.raises(BudgetError, match=r"epsilon=0\.00300 .* but 0\.00200 of 0\.00200 is left"):
        ledger.charge(fit_events(0.003), label="fit")


def test_refused_charge_changes_nothing():
    ledger = PrivacyLedger("survey", cap_epsilon=1.0)
    ledger.charge(fit_events(0.5), label="first")
    before = ledger.to_json()

    with pytest.raises(BudgetError):
        ledger.charge([*fit_events(0.1), *fit_events(0.9), *REFERENCE], label="too much")
    assert ledger.to_json() == before
    ledger.charge(fit_events(0.1), label="still possible")


@pytest.mark.parametrize("events", [[], ["counts"], [None], [GaussianEvent]])
def test_charge_of_something_else_is_refused(events):
    ledger = PrivacyLedger("survey")

    with pytest.raises(ValueError, match="event"):
        ledger.charge(events, label="fit")
    with pytest.raises(ValueError, match="event"):
        ledger.affordable(events)
    assert ledger.entries == ()


@pytest.mark.parametrize("label", ["", None, 3])
def test_charge_needs_a_label(label):
    with pytest.raises(ValueError, match="label="):
        PrivacyLedger("survey").charge(REFERENCE, label=label)


@pytest.mark.parametrize("multiplier", [5e-324, 1e-160, 1.1e290])
def test_noise_whose_total_no_float_holds_is_refused(multiplier):
    ledger = PrivacyLedger("extremes")
    for event in (
        GaussianEvent("sums", multiplier),
        SubsampledGaussianEvent("gradients", multiplier, 0.1),
        LaplaceEvent("counts", multiplier),
    ):
        with pytest.raises(ValueError, match=r"noise_multiplier=.* must be a number in"):
            ledger.charge([event], label="fit")
    assert ledger.entries == ()


EXTREMES = st.sampled_from([1e-20, 1e-9, 1e-3, 0.1, 1.0, 1e3, 1e15, 1e50])


@given(
    charges=st.lists(
        st.tuples(
            EXTREMES,
            st.sampled_from([1, 1000]),
            st.sampled_from([GaussianEvent, LaplaceEvent]),
            st.sampled_from([RECORD, Person("patient", 1), Person("patient", 10**6)]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_is_charged_has_a_total(charges):
    entries = [
        LedgerEntry("fit", (kind("sums", multiplier, count),), unit)
        for multiplier, count, kind, unit in charges
    ]
    totals = LedgerState("extremes").with_entries(tuple(entries)).unit_totals()
    assert all(total.epsilon >= 0 for total in totals)


@pytest.mark.parametrize("unit", [RECORD, Person("patient", 10**6)])
@pytest.mark.parametrize("multiplier", [1e-20, 1e50])
def test_extreme_noise_beside_noise_of_another_kind_has_a_total(multiplier, unit):
    ledger = PrivacyLedger("extremes")
    events = [SubsampledGaussianEvent("gradients", multiplier, 0.1, 10)]
    ledger.charge([*events, DiscreteLaplaceEvent("counts", 1, 1)], label="fit", unit=unit)
    assert ledger.total_epsilon() >= 0


def test_reference_makes_the_total_infinite_and_leaves_the_private_one():
    ledger = PrivacyLedger("survey", cap_epsilon=1.0)
    ledger.charge(fit_events(1.0), label="private")
    ledger.charge(REFERENCE, label="reference")

    assert ledger.total_epsilon() == math.inf
    assert ledger.private_epsilon() == pytest.approx(1.0, rel=1e-6)
    assert [entry.private for entry in ledger.entries] == [True, False]
    assert "total infinite" in ledger.summary().words()
    assert "NOT PRIVATE" in repr(ledger)


def test_total_can_be_stated_at_another_delta():
    ledger = PrivacyLedger("survey")
    ledger.charge(fit_events(1.0), label="fit")
    mu = ledger.entries[0].mu

    assert ledger.total_epsilon(1e-9) == epsilon_from_mu(mu, 1e-9)
    assert ledger.private_epsilon(1e-9) == ledger.total_epsilon(1e-9) > ledger.total_epsilon()


def test_charges_of_another_adjacency_are_refused():
    ledger = PrivacyLedger("survey", adjacency="replace")

    with pytest.raises(BudgetError, match=r"'replace' .* 'add_remove', which cannot be added"):
        ledger.charge(fit_events(1.0), label="fit")
    assert ledger.entries == ()
    ledger.charge(fit_events(1.0), label="fit", adjacency="replace")
    assert len(ledger.entries) == 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"dataset": ""}, "dataset"),
        ({"dataset": None}, "dataset"),
        ({"cap_epsilon": 0}, "cap_epsilon"),
        ({"cap_epsilon": math.nan}, "cap_epsilon"),
        ({"cap_epsilon": "2"}, "cap_epsilon"),
        ({"delta": 0}, "delta"),
        ({"adjacency": "label"}, "adjacency"),
    ],
)
def test_wrong_limits_are_named(arguments, name):
    with pytest.raises(ValueError, match=f"{name}="):
        PrivacyLedger(**{"dataset": "survey", **arguments})


def test_table_passed_as_dataset_is_not_shown():
    with pytest.raises(ValueError, match="dataset=<a DataFrame>") as caught:
        PrivacyLedger(pd.DataFrame({"income": [123456]}))
    assert "123456" not in str(caught.value)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, clone])
def test_copies_share_the_spending(copied):
    ledger = PrivacyLedger("survey", cap_epsilon=1.0)
    twin = copied(ledger)
    twin.charge(fit_events(0.9), label="by the copy")

    assert ledger.total_epsilon() == pytest.approx(0.9, rel=1e-6)
    with pytest.raises(BudgetError):
        ledger.charge(fit_events(0.9), label="again")


def test_threads_lose_no_charge_and_do_not_pass_the_cap():
    ledger = PrivacyLedger("survey", cap_epsilon=math.inf)
    capped = PrivacyLedger("survey with a cap", cap_epsilon=1.0)
    events = fit_events(0.3)
    barrier = threading.Barrier(8)

    def spend():
        barrier.wait()
        for _ in range(5):
            ledger.charge(events, label="fit")
            with contextlib.suppress(BudgetError):
                capped.charge(events, label="fit")

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ledger.entries) == 40
    assert capped.total_epsilon() <= 1.0
    assert not capped.affordable(events)


def test_frame_lists_events_with_their_cost():
    ledger = PrivacyLedger("survey")
    ledger.charge(fit_events(0.5), label="private")
    ledger.charge([*fit_events(1.0), *REFERENCE], label="mixed")
    frame = ledger.frame()

    assert frame["entry"].tolist() == [0, 1, 1]
    assert frame["event"].tolist() == ["boosting", "boosting", "reference"]
    assert frame["private"].tolist() == [True, True, False]
    np.testing.assert_allclose(frame["epsilon"], [0.5, 1.0, math.inf], rtol=1e-6)
    assert frame["private_epsilon"].is_monotonic_increasing
    assert frame["private_epsilon"].iloc[-1] == ledger.private_epsilon()


def test_release_set_states_the_published_part_and_the_total():
    ledger = PrivacyLedger("survey", delta=1e-5)
    for epsilon in (0.5, 1, 2):
        ledger.charge(fit_events(epsilon, 1e-5), label=f"fit {epsilon}")
    ledger.charge(REFERENCE, label="reference")
    published = ledger.release_set([1])

    assert published.epsilon == pytest.approx(1.0, rel=1e-6)
    assert published.labels == ("fit 1",)
    assert published.total_epsilon == ledger.private_epsilon()
    assert "that choice also costs budget" in published.words()
    assert ledger.release_set([0, 3]).epsilon == math.inf
    assert ledger.release_set([]).epsilon == 0.0


@pytest.mark.parametrize("indices", [[1], [-1], [0, 0], [0.0]])
def test_release_set_refuses_unknown_entries(indices):
    ledger = PrivacyLedger("survey")
    ledger.charge(fit_events(1.0), label="fit")

    with pytest.raises(ValueError, match="entry_indices"):
        ledger.release_set(indices)


def test_html_escapes_every_name():
    evil = "<img src=x onerror=alert(1)>\"'&"
    ledger = PrivacyLedger(evil)
    ledger.charge([GaussianEvent(evil, 2.0), NonPrivateEvent(evil, evil)], label=evil)
    text = ledger._repr_html_()

    assert "<img" not in text
    assert text.count("&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;") >= 4
    assert "NOT PRIVATE" in text


def test_second_ledger_of_a_name_warns_while_the_first_lives():
    first = PrivacyLedger("survey", cap_epsilon=1.0)
    unused = PrivacyLedger("survey", cap_epsilon=1.0)
    first.charge(fit_events(0.5), label="fit")

    with pytest.warns(PrivacyWarning, match="another ledger of 'survey' in this process"):
        PrivacyLedger("survey", cap_epsilon=1.0)  # as if a cell of a notebook were run again
    with pytest.warns(PrivacyWarning, match="use one ledger"):
        unused.charge(fit_events(0.5), label="fit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unused.charge(fit_events(0.1), label="has been told already")
        PrivacyLedger("another survey", cap_epsilon=1.0)
        del first, unused
        PrivacyLedger("survey", cap_epsilon=1.0).charge(fit_events(0.5), label="the only one")


def test_ledgers_of_one_file_are_no_twins(tmp_path):
    first = PrivacyLedger("survey", path=tmp_path / "ledger.json")
    first.charge(fit_events(0.5), label="fit")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivacyLedger("survey", path=tmp_path / "ledger.json").charge(fit_events(0.5), label="fit")
    with pytest.warns(PrivacyWarning, match="another ledger of 'survey'"):
        PrivacyLedger("survey", path=tmp_path / "other.json")


def test_nothing_to_charge_is_said():
    with pytest.raises(ValueError, match="no charges given"):
        PrivacyLedger("survey").charge_all([])


@pytest.mark.parametrize("name", ["reset", "clear"])
def test_a_ledger_says_why_it_cannot_be_reset(name):
    with pytest.raises(AttributeError, match="what was released cannot be taken back"):
        getattr(PrivacyLedger("a lesson"), name)
