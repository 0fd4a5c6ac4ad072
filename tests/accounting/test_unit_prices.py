"""The cost for one record of an entry that protects persons, and its proof."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.accounting import (
    RECORD,
    GaussianEvent,
    LaplaceEvent,
    Person,
    PureEvent,
    SubsampledGaussianEvent,
    delta_from_mu,
    epsilon_from_events,
    epsilon_from_mu,
)
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.pld import pld_delta, rounding_margin
from dpexplain.accounting.spending import Spending
from unit_examples import DELTA, EVENT, PATIENT, SAMPLED, charged


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_one_record_of_a_fit_for_persons_costs_an_exchange(rows):
    """The cost is 2/k times the shift of k rows, which is twice a person's shift if k is 1."""
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
    """Within one sum, the accountant uses one adjacency for all samples: the costlier one."""
    epsilons = np.linspace(0, 3, 61)
    added = pld_delta(Spending.of([SAMPLED]), epsilons)
    exchanged = pld_delta(Spending.of([SAMPLED], "replace"), epsilons)

    margin = rounding_margin(Spending.of([SAMPLED]))  # within which both curves are known
    assert (exchanged >= added * (1 - 1e-6) - margin).all()
    mixed = charged((RECORD, [SAMPLED]), (PATIENT, [SAMPLED]))
    both = epsilon_of(Spending.of([SAMPLED, SAMPLED], "replace"), DELTA)
    assert mixed.private_epsilon() == both


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_coins_of_neighbors_can_be_paired_so_that_one_row_is_exchanged_at_most(k, m, seed):
    """In the proof's pairing, rows of D are chosen uniformly, and differ in one row."""
    rng = np.random.default_rng(seed)
    new = set(rng.permutation(m + 1)[:k].tolist())  # row m is the one that is added
    spare = sorted(set(range(m)) - new)
    old = new if m not in new else (new - {m}) | ({int(rng.choice(spare))} if spare else set())

    assert len(old) == min(k, m)
    assert len(new - old) <= 1
    assert len(old - new) <= (1 if m >= k else 0)


def test_paired_coins_choose_rows_evenly():
    """The test is chi-square on the 10 pairs of 5 rows; it fails by chance once in 1e6 runs."""
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
    """Half of the coins exchange the row in use; the exact delta is that of the mixture."""

    def delta(mu_exchanged, epsilon):
        return 0.5 * delta_from_mu(mu_exchanged, math.log(2 * math.exp(epsilon) - 1))

    mu = EVENT.mu
    ledger = charged((PATIENT, [EVENT]))
    assert delta(2 * mu, ledger.private_epsilon()) > 50 * DELTA
    assert delta(2 * mu, ledger.private_epsilon(unit=RECORD)) < DELTA
