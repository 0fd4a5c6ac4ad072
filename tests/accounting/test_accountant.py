"""Totals of mixed releases: order, monotonicity, safe rounding and extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
    accountant,
    epsilon_from_events,
    epsilon_from_mu,
    subsampled_noise_multiplier,
)
from dpexplain.accounting.pld import pld_epsilon
from dpexplain.accounting.rdp import rdp_delta, rdp_epsilon
from dpexplain.accounting.spending import Spending
from effort import examples

few = examples(6)
multipliers = st.floats(0.7, 20)
counts = st.integers(1, 500)
subsampled = st.builds(
    SubsampledGaussianEvent, st.just("steps"), multipliers, st.floats(1e-3, 0.5), counts
)
private = (
    subsampled
    | st.builds(GaussianEvent, st.just("sums"), multipliers, counts)
    | st.builds(LaplaceEvent, st.just("counts"), multipliers, st.integers(1, 20))
    | st.builds(
        DiscreteLaplaceEvent,
        st.just("leaves"),
        st.integers(50, 9000),
        st.integers(1, 50),
        st.integers(1, 20),
    )
    | st.builds(PureEvent, st.just("choices"), st.floats(0.01, 2), st.integers(1, 20))
)
collections = st.lists(private, min_size=1, max_size=4)
deltas = st.sampled_from([1e-3, 1e-6, 1e-9])
# Grids differ between two collections, so that their rounding may differ by this share.
GRID = 2e-3


@pytest.mark.full
@few
@given(collections, deltas, st.randoms(use_true_random=False))
def test_order_and_grouping_of_events_are_irrelevant(events, delta, rng):
    shuffled = list(events)
    rng.shuffle(shuffled)

    assert epsilon_from_events(shuffled, delta) == epsilon_from_events(events, delta)
    parts = Spending.together([Spending.of(events[:1]), Spending.of(events[1:])])
    assert parts.subsampled == Spending.of(events).subsampled
    assert parts.squared_mu == pytest.approx(Spending.of(events).squared_mu, rel=1e-15)


@pytest.mark.full
@few
@given(collections, private, deltas)
def test_one_more_event_never_costs_less(events, extra, delta):
    before, after = (epsilon_from_events(e, delta) for e in (events, [*events, extra]))

    assert after >= before * (1 - GRID)


@pytest.mark.full
@few
@given(subsampled, st.floats(1.01, 3), deltas)
def test_epsilon_falls_with_noise_and_grows_with_sampling_and_steps(event, factor, delta):
    def spent(noise=event.noise_multiplier, q=event.sampling_probability, n=event.count):
        return epsilon_from_events([SubsampledGaussianEvent("steps", noise, q, n)], delta)

    assert spent(noise=event.noise_multiplier * factor) <= spent() * (1 + GRID)
    assert spent(q=min(1.0, event.sampling_probability * factor)) >= spent() * (1 - GRID)
    assert spent(n=math.ceil(event.count * factor)) >= spent() * (1 - GRID)


@pytest.mark.full
@few
@given(collections, st.floats(1.01, 1e3))
def test_epsilon_falls_with_delta(events, factor):
    assert epsilon_from_events(events, 1e-9 * factor) <= epsilon_from_events(events, 1e-9)


@pytest.mark.full
@few
@given(collections, deltas)
def test_replacing_a_record_is_no_easier_to_hide_than_adding_one(events, delta):
    one = epsilon_from_events(events, delta)
    replaced = epsilon_from_events(events, delta, replace=True)

    # A group of two: epsilon at most doubles where delta grows by 1 + exp(epsilon).
    assert one * (1 - GRID) <= replaced
    doubled = 2 * epsilon_from_events(events, delta / (1 + math.exp(min(one, 700.0))))
    assume(one < 20)
    if doubled >= 2 * one:  # at the fixed point of that rule or beyond, it is a bound
        inner = doubled / 2
        bound = 2 * epsilon_from_events(events, delta / (1 + math.exp(inner)))
        assert replaced <= bound * (1 + GRID)


@few
@given(subsampled, deltas)
def test_sampling_every_record_is_a_gaussian_release(event, delta):
    whole = SubsampledGaussianEvent("steps", event.noise_multiplier, 1.0, event.count)
    mu = math.sqrt(event.count) / event.noise_multiplier

    assert epsilon_from_events([whole], delta) == pytest.approx(epsilon_from_mu(mu, delta))
    assert epsilon_from_events([event], delta) <= epsilon_from_events([whole], delta)
    replaced = epsilon_from_events([whole], delta, replace=True)
    assert replaced == pytest.approx(epsilon_from_mu(2 * mu, delta))


@few
@given(subsampled, st.sampled_from([1e-4, 1e-6]))
def test_rdp_and_pld_bracket_each_other(event, delta):
    spending = Spending.of([event])
    tight, loose = pld_epsilon(spending, delta), rdp_epsilon(spending, delta)
    assume(math.isfinite(tight) and tight > 1e-2)

    # Both are upper bounds; Rényi divergences give away a factor, most for a single release.
    assert tight <= loose * (1 + GRID)
    assert loose <= 3 * tight + 0.1


def test_nothing_costs_nothing_and_something_open_costs_everything():
    assert epsilon_from_events([], 1e-6) == 0.0
    assert epsilon_from_events([NonPrivateEvent("a", "b")], 1e-6) == math.inf
    with pytest.raises(TypeError, match="is not an event"):
        epsilon_from_events(["steps"], 1e-6)


# Epsilon from 1e-4 to 1e3 and delta down to 1e-15, for all that is not in closed form.
@pytest.mark.full
@pytest.mark.parametrize("delta", [1e-15, 1e-12, 1e-6])
@pytest.mark.parametrize(
    ("epsilon", "rate"), [(1e-4, 0.05), (1e-2, 0.001), (1.0, 0.01), (1e3, 0.05)]
)
def test_calibration_is_stable_at_the_extremes(epsilon, delta, rate):
    noise = subsampled_noise_multiplier(epsilon, delta, 1000, rate)
    spent = epsilon_from_events([SubsampledGaussianEvent("steps", noise, rate, 1000)], delta)

    assert 0 < noise < math.inf
    assert spent <= epsilon
    # Where one bound takes over from another, epsilon jumps by less than that.
    assert spent >= epsilon * (1 - 1e-2)


@pytest.mark.parametrize("delta", [1e-15, 1e-6, 0.5])
@pytest.mark.parametrize(
    "event",
    [
        SubsampledGaussianEvent("steps", 1.0, 0.01, 2**53),
        SubsampledGaussianEvent("steps", 1e-300, 0.5),
        SubsampledGaussianEvent("steps", 1e300, 1e-300, 2**53),
        SubsampledGaussianEvent("steps", 5e-324, 5e-324),
        LaplaceEvent("counts", 1e-300, 2**53),
        LaplaceEvent("counts", 1e300),
        DiscreteLaplaceEvent("leaves", 1, 2**53, 2**53),
        DiscreteLaplaceEvent("leaves", 2**53, 1, 2**53),
        DiscreteLaplaceEvent("leaves", 2**53, 2**53),
        PureEvent("choice", 1e300, 2**53),
        PureEvent("choice", 5e-324),
        GaussianEvent("sums", 5e-324, 2**53),
        GaussianEvent("sums", 1e-154),
    ],
)
def test_absurd_parameters_give_a_number(event, delta):
    for replace in (False, True):
        for events in ([event], [event, event], [event, PureEvent("choice", 0.1)]):
            assert 0.0 <= epsilon_from_events(events, delta, replace=replace) <= math.inf


def test_few_pure_releases_cost_their_sum_and_many_less():
    few_of_them, many = [PureEvent("choice", 0.5, 2)], [PureEvent("choice", 0.01, 10_000)]

    assert epsilon_from_events(few_of_them, 1e-9) == pytest.approx(1.0, rel=1e-6)
    assert epsilon_from_events(many, 1e-6) < 0.1 * 100


@pytest.mark.full
def test_rdp_alone_serves_where_dp_accounting_is_missing(monkeypatch):
    steps = [SubsampledGaussianEvent("steps", 1.0, 0.01, 500)]
    with_it = epsilon_from_events(steps, 1e-6)
    monkeypatch.setattr(accountant, "pld_available", lambda: False)

    with pytest.raises(ModuleNotFoundError, match=r'pip install .*\[subsampled\]"'):
        epsilon_from_events(steps, 1e-6)
    with pytest.raises(ModuleNotFoundError, match="accountant='rdp'"):
        subsampled_noise_multiplier(1.0, 1e-6, 500, 0.01)
    assert with_it < epsilon_from_events(steps, 1e-6, accountant="rdp") < 1.5 * with_it
    assert subsampled_noise_multiplier(1.0, 1e-6, 500, 0.01, accountant="rdp") > 0


@pytest.mark.parametrize(
    "event", [LaplaceEvent("counts", 1.0), PureEvent("choice", 1.0)], ids=["laplace", "pure"]
)
def test_moments_accountant_says_what_it_does_not_know(event):
    with pytest.raises(ValueError, match="accountant='moments' supports only Gaussian"):
        epsilon_from_events([event], 1e-6, accountant="moments")
    with pytest.raises(ValueError, match="under add/remove adjacency"):
        epsilon_from_events([GaussianEvent("a", 1.0)], 1e-6, replace=True, accountant="moments")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"n_steps": 0}, "n_steps"),
        ({"sampling_probability": 0.0}, "sampling_probability"),
        ({"sampling_probability": math.nan}, "sampling_probability"),
        ({"accountant": "prv"}, "accountant"),
        ({"adjacency": "label"}, "adjacency"),
    ],
)
def test_calibration_names_the_wrong_parameter(change, name):
    good = dict(epsilon=1.0, delta=1e-6, n_steps=10, sampling_probability=0.1)

    with pytest.raises(ValueError, match=f"{name}="):
        subsampled_noise_multiplier(**{**good, **change})


def test_rdp_curve_and_rdp_epsilon_are_inverse():
    spending = Spending.of([SubsampledGaussianEvent("steps", 1.3, 0.01, 800)])
    epsilon = rdp_epsilon(spending, 1e-7)

    assert rdp_delta(spending, np.array([epsilon]))[0] == pytest.approx(1e-7, rel=1e-6)
