from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpexplain.accounting import delta_from_mu, epsilon_from_mu, gdp, mu_from_epsilon

epsilons = st.floats(-4, 3).map(lambda exponent: 10.0**exponent)
deltas = st.floats(-15, -1).map(lambda exponent: 10.0**exponent)

# mu, epsilon, delta: the closed form in 80-digit arithmetic.
EXACT_DELTAS = [
    (1.2e-5, 1e-4, 5.5069452464448639e-23),
    (1e-4, 0.0, 3.9894228023520675e-5),
    (1e-3, 5e-3, 5.3595470410572128e-11),
    (0.0625, 0.5, 6.0563312679768132e-18),
    (0.1, 0.01, 0.035252970759279498),
    (0.125, 0.5, 1.144800228386924e-6),
    (0.25, 1.0, 2.9242721048564073e-6),
    (1.0, 0.0, 0.38292492254802621),
    (1.0, 1.0, 0.12693673750664395),
    (1.0, 8.0, 3.6508216874217909e-15),
    (2.0, 30.0, 9.6621066829751802e-46),
    (5.0, 10.0, 0.61662373041021237),
    (10.0, 100.0, 1.8797170020519157e-7),
    (40.0, 1000.0, 2.5362965149565509e-7),
]
# epsilon, delta, mu: its root in the same arithmetic.
EXACT_MUS = [
    (1e-4, 1e-15, 1.6269791064235168e-5),
    (1e-4, 1e-6, 5.8000911693203371e-5),
    (1.0, 1e-6, 0.23670438066343571),
    (8.0, 1e-15, 0.9811148287238988),
    (1000.0, 1e-15, 37.499591543296021),
    (1000.0, 1e-5, 40.680531013332807),
]


@pytest.mark.parametrize(("mu", "epsilon", "delta"), EXACT_DELTAS)
def test_delta_is_the_closed_form_rounded_up(mu, epsilon, delta):
    assert delta <= delta_from_mu(mu, epsilon) <= delta * (1 + 3e-10)


@pytest.mark.parametrize(("mu", "epsilon", "delta"), EXACT_DELTAS)
def test_epsilon_is_the_closed_form_rounded_up(mu, epsilon, delta):
    # Rounding delta down to the table's digits moves epsilon up by at most 1e-9 here.
    assert epsilon * (1 - 1e-12) <= epsilon_from_mu(mu, delta) <= epsilon * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("epsilon", "delta", "mu"), EXACT_MUS)
def test_mu_is_the_closed_form_rounded_down(epsilon, delta, mu):
    assert mu * (1 - 1.5e-9) <= mu_from_epsilon(epsilon, delta) <= mu


@given(epsilons, deltas)
@example(1e-4, 1e-15)
@example(1e3, 1e-15)
@example(1e3, 0.1)
def test_mu_and_epsilon_are_inverse_up_to_safe_rounding(epsilon, delta):
    mu = mu_from_epsilon(epsilon, delta)

    assert epsilon_from_mu(mu, delta) <= epsilon
    assert delta_from_mu(mu, epsilon) <= delta
    # Lowering mu by a share of 1e-9 is all that is given away.
    assert delta_from_mu(mu * (1 + 3e-9), epsilon) > delta


@given(epsilons, epsilons, deltas)
def test_more_epsilon_buys_more_mu(first, second, delta):
    low, high = sorted((first, second))

    assert mu_from_epsilon(low, delta) <= mu_from_epsilon(high, delta)


@given(epsilons, deltas, deltas)
def test_more_delta_buys_more_mu(epsilon, first, second):
    low, high = sorted((first, second))

    assert mu_from_epsilon(epsilon, low) <= mu_from_epsilon(epsilon, high)


@given(st.floats(1e-6, 50), st.floats(0, 1000), st.floats(0, 1000))
def test_delta_falls_with_epsilon(mu, first, second):
    low, high = sorted((first, second))

    # Two neighboring values may differ by the error of the computation, never by more.
    assert delta_from_mu(mu, low) >= delta_from_mu(mu, high) * (1 - 1e-10)


@given(st.floats(0.09, 0.11), st.floats(0, 1))
def test_both_ways_to_compute_delta_meet(mu, epsilon):
    near = epsilon / mu - mu / 2
    narrow = gdp._log_density(near) + gdp._log_mills_drop(near, mu)
    ratio = gdp._log_mills(near + mu) - gdp._log_mills(near)
    wide = gdp._log_upper_tail(near) + math.log1p(-math.exp(ratio))

    assert narrow == pytest.approx(wide, abs=1e-11)


def test_mills_ratio_has_no_seam():
    before, after = math.nextafter(12.0, 0.0), 12.0

    assert gdp._log_mills(before) == pytest.approx(gdp._log_mills(after), abs=1e-13)
    assert gdp._mills_deficit(before) == pytest.approx(gdp._mills_deficit(after), rel=1e-10)


def test_no_release_spends_nothing():
    assert epsilon_from_mu(0.0, 1e-6) == 0.0
    assert delta_from_mu(0.0, 0.0) == 0.0


def test_no_noise_spends_everything():
    assert epsilon_from_mu(math.inf, 1e-6) == math.inf
    assert epsilon_from_mu(1e200, 1e-6) == math.inf
    assert delta_from_mu(math.inf, 1.0) == 1.0


def test_tiny_mu_is_covered_by_delta_alone():
    # At epsilon 0 the curve is erf(mu / sqrt(8)), which is below delta here.
    assert math.erf(2e-6 / math.sqrt(8)) < 1e-6
    assert epsilon_from_mu(2e-6, 1e-6) == 0.0


@pytest.mark.parametrize("mu", [-1.0, math.nan, True, "1"])
def test_mu_must_be_a_number_of_at_least_zero(mu):
    with pytest.raises(ValueError, match="mu="):
        epsilon_from_mu(mu, 1e-6)
    with pytest.raises(ValueError, match="mu="):
        delta_from_mu(mu, 1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, True])
def test_mu_from_epsilon_refuses_what_is_no_budget(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        mu_from_epsilon(epsilon, 1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ValueError, match="delta="):
        mu_from_epsilon(1.0, delta)
    with pytest.raises(ValueError, match="delta="):
        epsilon_from_mu(1.0, delta)
