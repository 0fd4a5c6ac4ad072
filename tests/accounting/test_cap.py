"""The cap as a privacy filter: it accepts what fits, and what it accepts holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
    delta_from_mu,
    epsilon_from_events,
    mu_from_epsilon,
    subsampled_noise_multiplier,
)
from dpexplain.accounting.cap import Cap, _tail, approximate_mu
from dpexplain.accounting.gdp import mu_of_pure
from dpexplain.accounting.pld import pld_delta
from dpexplain.accounting.spending import Spending
from dpexplain.exceptions import BudgetError
from effort import examples

pytestmark = pytest.mark.full

DELTA = 1e-6
STEPS = SubsampledGaussianEvent("steps", 2.0, 0.01, 400)
few = examples(8)
events = (
    st.builds(GaussianEvent, st.just("sums"), st.floats(3, 50), st.integers(1, 5))
    | st.builds(PureEvent, st.just("choice"), st.floats(0.01, 0.7))
    | st.builds(LaplaceEvent, st.just("counts"), st.floats(2, 50), st.integers(1, 3))
    | st.builds(
        DiscreteLaplaceEvent,
        st.just("leaves"),
        st.integers(20, 500),
        st.integers(1, 10),
        st.integers(1, 3),
    )
    | st.sampled_from([STEPS, SubsampledGaussianEvent("steps", 1.2, 0.02, 100)])
)


@few
@given(st.floats(0.5, 4), st.lists(events, max_size=6))
def test_whatever_is_accepted_stays_below_the_cap(cap, charges):
    ledger = PrivacyLedger("survey", cap, DELTA)
    for event in charges:
        if ledger.affordable([event]):
            ledger.charge([event], label="fit")
        else:
            with pytest.raises(BudgetError, match="is left in the ledger"):
                ledger.charge([event], label="fit")

    assert ledger.total_epsilon() <= cap * (1 + 1e-3)  # the share that a grid may add
    assert 0.0 <= ledger.remaining_epsilon <= cap


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_first_fit_may_spend_the_whole_cap_of_any_kind(epsilon):
    noise = subsampled_noise_multiplier(epsilon, DELTA, 500, 0.01)
    for event in (
        SubsampledGaussianEvent("steps", noise, 0.01, 500),
        PureEvent("choice", epsilon),
        LaplaceEvent("counts", 1 / epsilon),
        DiscreteLaplaceEvent("leaves", 1024, int(1024 * epsilon)),
        GaussianEvent("sums", 1 / mu_from_epsilon(epsilon, DELTA)),
    ):
        ledger = PrivacyLedger(f"survey, {type(event).__name__}", epsilon, DELTA)
        ledger.charge([NonPrivateEvent("reference", "without noise")], label="reference")
        ledger.charge([event], label="all of it")
        assert ledger.total_epsilon(DELTA) == math.inf
        assert ledger.private_epsilon() <= epsilon
        assert not ledger.affordable([GaussianEvent("sums", 100 / epsilon)])
        ledger.charge([NonPrivateEvent("reference", "again")], label="costs nothing of the cap")


def test_sweep_that_is_charged_at_once_counts_by_its_exact_total():
    sweep = [("fit", [SubsampledGaussianEvent("steps", s, 0.01, 500)]) for s in (1.0, 2.0, 4.0)]
    total = epsilon_from_events([event for _, part in sweep for event in part], DELTA)
    PrivacyLedger("survey", total, DELTA).charge_all(sweep)
    with pytest.raises(BudgetError, match="this sweep needs"):
        PrivacyLedger("survey, less", 0.999 * total, DELTA).charge_all(sweep, what="sweep")


def test_later_subsampled_fits_cost_a_few_percent_more_than_their_total():
    ledger = PrivacyLedger("survey", 2.0, DELTA)
    while ledger.affordable([STEPS]):
        ledger.charge([STEPS], label="fit")

    # Adaptivity and the grid give away less than a tenth.
    assert 0.9 * 2.0 <= ledger.total_epsilon() + 0.1 <= 2.1


def test_pure_fits_add_up_to_the_cap_one_by_one():
    ledger = PrivacyLedger("survey", 1.0, DELTA)
    for _ in range(4):
        ledger.charge([PureEvent("choice", 0.25)], label="fit")

    assert not ledger.affordable([PureEvent("choice", 0.01)])


def test_pure_and_gaussian_fits_share_a_cap():
    ledger = PrivacyLedger("survey", 4.0, DELTA)
    ledger.charge([GaussianEvent("sums", 1 / mu_from_epsilon(1.0, DELTA))], label="boosting")
    ledger.charge([PureEvent("choice", 1.0)], label="trees")

    assert ledger.total_epsilon() < 2.5
    assert ledger.affordable([GaussianEvent("sums", 1 / mu_from_epsilon(0.5, DELTA))])


def test_shares_of_delta_do_not_exceed_delta():
    cap = Cap(3.0, DELTA)
    (_, main), *mixed, (all_pure, nothing) = cap._limits

    spent = delta_from_mu(main, 3.0) + sum(delta_from_mu(mu, 3.0 - e) for e, mu in mixed)
    # Two ways of counting, each with a series of tails.
    tails = 2 * sum(_tail(place, DELTA) for place in range(100_000))
    assert spent + tails <= DELTA
    assert (all_pure, nothing) == (3.0, 0.0)


@pytest.mark.parametrize("tail", [1e-6, 1e-9])
@pytest.mark.parametrize(
    "event", [STEPS, SubsampledGaussianEvent("steps", 0.9, 0.01, 2000), PureEvent("c", 0.1, 50)]
)
def test_mu_of_mixed_releases_covers_their_whole_curve(event, tail):
    spending = Spending.of([event])
    mu = approximate_mu(spending, tail)
    epsilons = np.linspace(0, 12, 397)
    needed = pld_delta(spending, epsilons)
    covered = np.array([tail + (1 - tail) * delta_from_mu(mu, e) for e in epsilons])

    assert (needed <= covered * (1 + 1e-9)).all()
    assert mu < spending.gaussian_bound
    assert approximate_mu(spending, tail / 10) >= mu * (1 - 1e-6)


@examples(50)
@given(st.floats(1e-6, 10))
def test_mu_of_a_pure_mechanism_covers_randomized_response(epsilon):
    mu = mu_of_pure(epsilon)
    for share in (0.0, 0.3, 0.9, 0.999):
        # Delta of randomized response at a share of its epsilon.
        needed = -math.expm1(-(1 - share) * epsilon) / (1 + math.exp(-epsilon))
        assert delta_from_mu(mu, share * epsilon) >= needed * (1 - 1e-9)
    assert delta_from_mu(mu * (1 - 1e-6), 0.0) < math.tanh(epsilon / 2)


def test_mu_that_is_a_little_smaller_does_not_cover():
    spending = Spending.of([STEPS])
    mu = 0.98 * approximate_mu(spending, 1e-9)
    epsilons = np.linspace(0, 4, 800)
    covered = np.array([1e-9 + delta_from_mu(mu, e) for e in epsilons])

    assert (pld_delta(spending, epsilons) > covered).any()
