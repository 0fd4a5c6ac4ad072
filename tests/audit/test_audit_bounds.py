"""What counted errors prove: exact limits, valid bounds and known power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.accounting import delta_from_mu
from dpexplain.audit.statistics.bounds import Guesses, largest_rate


@given(trials=st.integers(1, 500), data=st.data(), doubt=st.sampled_from([0.025, 1e-4, 1e-9]))
def test_limits_are_those_of_clopper_and_pearson(trials, data, doubt):
    errors = data.draw(st.integers(0, trials))
    interval = stats.binomtest(errors, trials).proportion_ci(1 - 2 * doubt, "exact")
    assert largest_rate(errors, trials, doubt) == pytest.approx(interval.high, rel=1e-6)


@given(
    n=st.integers(1, 300),
    m=st.integers(1, 300),
    data=st.data(),
    confidence=st.sampled_from([0.5, 0.95, 1 - 1e-6]),
)
def test_bounds_are_finite_and_grow_with_doubt_and_with_fewer_errors(n, m, data, confidence):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    guesses, better = Guesses(n, a, m, b), Guesses(n, max(0, a - 1), m, b)
    for bound in (Guesses.mu_bound, lambda g, c: g.epsilon_bound(1e-6, c)):
        assert 0.0 <= bound(guesses, confidence) < math.inf
        assert bound(guesses, confidence) <= bound(better, confidence)
        assert bound(guesses, confidence) >= bound(guesses, 1 - 1e-9)


@pytest.mark.parametrize("mu", [0.5, 1.5, 3.0])
def test_a_bound_on_a_gaussian_release_exceeds_mu_as_rarely_as_is_said(mu):
    """Each of two limits errs in 2.5% of 2,000 audits; jointly, at most 5% + 5 deviations.

    One limit too high is not yet a bound too high, so the share is well below. The limits lie
    1.96 standard deviations above the rates (2.4 with what is left to skewness).
    """
    rng = np.random.default_rng(7)
    n, audits = 400, 2000
    false_alarms = rng.binomial(n, stats.norm.sf(mu / 2), audits)
    misses = rng.binomial(n, stats.norm.cdf(-mu / 2), audits)
    bounds = np.array(
        [
            Guesses(n, int(a), n, int(b)).mu_bound(0.95)
            for a, b in zip(false_alarms, misses, strict=True)
        ]
    )
    assert (bounds > mu).mean() < 0.05 + 5 * math.sqrt(0.05 * 0.95 / audits)
    rate_std = math.sqrt(stats.norm.sf(mu / 2) * stats.norm.cdf(mu / 2) / n)
    assert bounds.mean() > mu - 2 * 2.4 * rate_std / stats.norm.pdf(mu / 2)


def test_a_bound_on_epsilon_agrees_with_the_curve_of_a_gaussian_release():
    """With exact error rates, the curve at the bound on epsilon is at least delta."""
    mu, n = 1.0, 10**9
    for threshold in (-1.0, 0.5, 2.0):
        false_alarms = round(n * stats.norm.sf(threshold))
        misses = round(n * stats.norm.cdf(threshold - mu))
        epsilon = Guesses(n, false_alarms, n, misses).epsilon_bound(1e-5, 0.95)
        assert delta_from_mu(mu, epsilon) >= 1e-5


def test_an_attacker_who_always_says_the_same_proves_nothing():
    for guesses in (Guesses(50, 50, 50, 0), Guesses(50, 0, 50, 50), Guesses(50, 25, 50, 25)):
        assert guesses.mu_bound(0.95) == 0.0
        assert guesses.epsilon_bound(1e-6, 0.95) == 0.0


def test_a_perfect_attacker_proves_about_the_logarithm_of_the_fits():
    epsilon = Guesses(1000, 0, 1000, 0).epsilon_bound(0.0, 0.95)
    # No error in 1000 fits: a rate of at most log(1 / 0.025) / 1000.
    assert epsilon == pytest.approx(math.log(1000 / math.log(40)), abs=0.01)
