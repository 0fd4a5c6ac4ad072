"""Guarantees printed for adaptive use hold if somebody stops after seeing results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting import (
    RECORD,
    GaussianEvent,
    LaplaceEvent,
    Person,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
    epsilon_from_mu,
    mu_from_epsilon,
)
from dpexplain.accounting._ledger.odometer import limit_of, odometer_epsilon, share
from dpexplain.accounting.cap import TAIL_SHARE, _tail
from dpexplain.accounting.spending import Spending
from effort import examples

pytestmark = pytest.mark.full

DELTA = 1e-6
EVENT = GaussianEvent("counts", noise_multiplier=4.0)
CHANCE = 1e-6
"""Chance with which a test of a right statement fails."""


def stopped_surplus(epsilons, mu, *, n_runs, eagerness, seed=0):
    """Sum over stopping times t of P(S_t) - exp(epsilon_t) Q(S_t), as a mean over runs.

    Fit with mu again and again, and stop when the privacy loss has passed the epsilon that is
    stated at that moment by `eagerness` standard deviations. Each run adds between 0 and 1.
    """
    rng = np.random.default_rng(seed)
    loss, alive, surplus = np.zeros(n_runs), np.ones(n_runs, bool), np.zeros(n_runs)
    for t, epsilon in enumerate(epsilons, 1):
        loss[alive] += mu * mu / 2 + mu * rng.standard_normal(alive.sum())
        stop = alive & (loss > epsilon + eagerness * mu * math.sqrt(t))
        surplus[stop] = -np.expm1(epsilon - loss[stop])
        alive &= ~stop
    return surplus


def deviation(mean, n_runs):
    """Return how far a mean of values in [0, 1] may exceed its expectation (Bernstein)."""
    log = math.log(1 / CHANCE)
    return math.sqrt(2 * mean * log / n_runs) + log / n_runs


@pytest.mark.parametrize("eagerness", [0.25, 0.5])
@pytest.mark.parametrize("delta", [1e-2, 1e-3])
def test_stopping_by_results_breaks_the_plain_total_and_not_the_odometer(delta, eagerness):
    mu, n_fits, n_runs = 0.05, 1000, 20_000
    spent = [Spending(squared_mu=mu * mu)] * n_fits
    plain = [epsilon_from_mu(mu * math.sqrt(t), delta) for t in range(1, n_fits + 1)]
    odometer = [odometer_epsilon(spent[:t], delta) for t in range(1, n_fits + 1)]

    broken = stopped_surplus(plain, mu, n_runs=n_runs, eagerness=eagerness).mean()
    kept = stopped_surplus(odometer, mu, n_runs=n_runs, eagerness=eagerness).mean()

    assert broken - deviation(broken, n_runs) > 1.5 * delta
    assert kept <= delta + deviation(delta, n_runs)


def test_statement_prints_the_odometer_beside_the_total():
    ledger = PrivacyLedger("survey", delta=1e-3)
    for _ in range(5):
        ledger.charge([EVENT], label="fit")
    statement = ledger.statement()

    expected = odometer_epsilon([Spending.of([EVENT])] * 5, 1e-3)
    assert statement.everything.adaptive_epsilon == ledger.adaptive_epsilon == expected
    assert ledger.summary().adaptive_epsilon == expected > ledger.private_epsilon()
    text = statement.text()
    assert "if number and budgets of the fits were fixed before any result was seen" in text
    assert "if results decided which fits followed, or when to stop: epsilon = " in text
    assert f"else {expected:.4g}" in repr(ledger)
    assert f"epsilon = {upper_number(expected)}" in ledger._repr_html_()


def test_shares_and_tails_do_not_exceed_delta():
    shares = math.fsum(share(place, DELTA) for place in range(200_000))
    tails = math.fsum(_tail(place, DELTA) for place in range(200_000))

    assert shares + tails <= DELTA
    assert shares + tails >= 0.99 * DELTA
    assert TAIL_SHARE > 0


@given(st.floats(1e-9, 1e3), st.floats(1.0, 1e9))
def test_limit_is_the_least_of_a_series_that_is_fixed_by_the_first_entry(first, factor):
    place, limit = limit_of(first * factor, first)
    multiples = [1]
    while len(multiples) < place:
        multiples.append(max(multiples[-1] + 1, int(1.1 * multiples[-1])))

    assert limit == multiples[-1] * first >= first * factor
    assert place == 1 or multiples[-2] * first < first * factor
    assert multiples[-1] <= max(1.1 * factor, factor + 1) * (1 + 1e-9)


@given(st.integers(1, 50))
def test_equal_fits_meet_their_limits_without_a_gap(n):
    square = Spending.of([EVENT]).squared_mu
    _, limit = limit_of(math.fsum([square] * n), square)

    assert n > 19 or limit == math.fsum([square] * n)


def test_one_fit_reads_its_own_epsilon_at_the_first_share():
    for event in (EVENT, SubsampledGaussianEvent("steps", 2.0, 0.01, 50), PureEvent("a", 0.5)):
        ledger = PrivacyLedger(f"survey {event}")
        ledger.charge([event], label="fit")
        first = ledger.entries[0].epsilon(share(0, DELTA))

        assert ledger.adaptive_epsilon == max(first, ledger.private_epsilon())
        assert ledger.adaptive_epsilon <= 1.05 * ledger.private_epsilon()


def test_pure_fits_read_their_plain_sum_whatever_results_decided():
    entries = [
        Spending.of([PureEvent("choice", 0.25)]),
        Spending.of([LaplaceEvent("counts", 4.0, 2)]),
    ]
    assert odometer_epsilon(entries, DELTA) == 0.75


@pytest.mark.parametrize(
    ("n", "most"), [(2, 1.13), (5, 1.19), (20, 1.26), (100, 1.28), (1000, 1.26)]
)
def test_reading_of_equal_fits_is_not_far_above_their_total(n, most):
    mu = mu_from_epsilon(1.0, DELTA)
    total = epsilon_from_mu(mu * math.sqrt(n), DELTA)

    assert total < odometer_epsilon([Spending(squared_mu=mu * mu)] * n, DELTA) < most * total


events = (
    st.builds(GaussianEvent, st.just("sums"), st.floats(3, 50), st.integers(1, 5))
    | st.builds(PureEvent, st.just("choice"), st.floats(0.01, 0.7))
    | st.builds(LaplaceEvent, st.just("counts"), st.floats(2, 50), st.integers(1, 3))
    | st.just(SubsampledGaussianEvent("steps", 2.0, 0.01, 400))
)


@examples(10)
@given(st.lists(events, min_size=1, max_size=4))
def test_reading_never_falls_and_covers_the_total(charges):
    ledger = PrivacyLedger("this fit alone")
    readings = [0.0]
    for event in charges:
        ledger.charge([event], label="fit")
        readings.append(ledger.adaptive_epsilon)
        assert readings[-1] >= ledger.private_epsilon()

    assert readings == sorted(readings)
    assert math.isfinite(readings[-1])


def test_reading_of_fits_of_all_kinds_is_finite_and_starts_anywhere():
    gaussian, pure = Spending.of([EVENT]), Spending.of([PureEvent("choice", 1.0)])

    assert odometer_epsilon([], DELTA) == odometer_epsilon([Spending()], DELTA) == 0.0
    assert odometer_epsilon([pure, gaussian], DELTA) < 2.7
    assert odometer_epsilon([gaussian, Spending(squared_mu=math.inf)], DELTA) == math.inf


def test_cap_from_the_start_is_what_holds_for_adaptive_use():
    ledger = PrivacyLedger("survey", 3.0)
    ledger.lower_cap(2.5)  # before the first charge: nothing was seen yet
    assert ledger.adaptive_epsilon == 0.0
    ledger.charge([EVENT], label="fit")
    assert ledger.adaptive_epsilon == 2.5

    ledger.lower_cap(2.0)  # perhaps because of results
    assert ledger.adaptive_epsilon == 2.5
    again = PrivacyLedger.from_json(ledger.to_json())
    assert again.adaptive_epsilon == 2.5


def test_cap_that_came_after_results_does_not_replace_the_odometer(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    ledger.charge([EVENT], label="fit")
    reading = ledger.adaptive_epsilon
    ledger.lower_cap(1.2)

    assert PrivacyLedger.open(path).adaptive_epsilon == ledger.adaptive_epsilon == reading


def test_units_without_the_cap_read_the_odometer():
    ledger = PrivacyLedger("survey", 9.0)
    ledger.charge([EVENT], label="fit", unit=Person("patient_id", 1))
    patient, record = ledger.summary().units

    assert patient.adaptive_epsilon == 9.0
    assert record.unit == RECORD.words
    assert record.adaptive_epsilon == epsilon_from_mu(0.5, share(0, DELTA))
