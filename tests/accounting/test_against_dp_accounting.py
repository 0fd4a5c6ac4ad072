"""The closed form, compared with an independent implementation of accounting."""

from __future__ import annotations

import math
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import compose_mu, delta_from_mu, epsilon_from_mu, mu_from_epsilon
from effort import examples

dp_accounting = pytest.importorskip("dp_accounting")
pld = pytest.importorskip("dp_accounting.pld")

few = examples(25)
epsilons = st.floats(-2, 1).map(lambda exponent: 10.0**exponent)
deltas = st.floats(-10, -2).map(lambda exponent: 10.0**exponent)


@few
@given(epsilons, deltas)
def test_noise_multiplier_is_theirs(epsilon, delta):
    # Their root finder stops at an absolute error of 1e-3 by default.
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta, tol=1e-9)

    assert 1 / mu_from_epsilon(epsilon, delta) == pytest.approx(theirs, rel=1e-7)


@few
@given(st.floats(0.05, 5), st.floats(0, 5))
def test_delta_is_theirs(mu, epsilon):
    loss = pld.privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu)
    theirs = loss.get_delta_for_epsilon(epsilon)

    # They subtract two probabilities below 1, which costs absolute accuracy of about 1e-15.
    assert delta_from_mu(mu, epsilon) == pytest.approx(theirs, rel=1e-8, abs=1e-14)


@examples(15)
@given(
    st.lists(st.tuples(st.floats(1.5, 20), st.integers(1, 4)), min_size=1, max_size=3),
    st.sampled_from([1e-5, 1e-6]),
)
def test_composition_is_bracketed_by_privacy_loss_distributions(releases, delta):
    interval = 1e-3

    def theirs(*, pessimistic: bool) -> float:
        singles = [
            pld.privacy_loss_distribution.from_gaussian_mechanism(
                multiplier,
                pessimistic_estimate=pessimistic,
                value_discretization_interval=interval,
                use_connect_dots=False,
            ).self_compose(count)
            for multiplier, count in releases
        ]
        together = reduce(lambda one, other: one.compose(other), singles)
        return together.get_epsilon_for_delta(delta)

    mu = compose_mu(math.sqrt(count) / multiplier for multiplier, count in releases)
    epsilon = epsilon_from_mu(mu, delta)

    # Each composition rounds the loss by at most one interval, up or down.
    n_compositions = sum(count for _, count in releases)
    low, high = theirs(pessimistic=False), theirs(pessimistic=True)
    assert low <= epsilon <= high
    assert high - low <= 2 * n_compositions * interval


def test_4200_releases_of_a_fit_spend_what_their_accountant_says():
    single = pld.privacy_loss_distribution.from_gaussian_mechanism(
        273.79, value_discretization_interval=1e-4
    )
    theirs = single.self_compose(4200).get_epsilon_for_delta(1e-6)

    # Their estimate is pessimistic, by 7e-5 where it was published for this noise.
    assert epsilon_from_mu(math.sqrt(4200) / 273.79, 1e-6) == pytest.approx(theirs, abs=2e-4)
