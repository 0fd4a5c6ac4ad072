"""The sequential test errs as rarely as stated, and ends as soon as Wald predicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.audit.statistics.sequential import ErrorTest

pytestmark = pytest.mark.full

PARAMETERS = st.floats(0.0, 8.0), st.floats(0.01, 8.0)


def expected_factor(test_of, false_alarm_rate, miss_rate, sign):
    """Return the expected factor of the likelihood ratio (its inverse with sign -1)."""
    factors = []
    for errors in (0, 1, 2):
        test = test_of()
        test.count(errors)
        factors.append(math.exp(sign * test.evidence))
    a, b = false_alarm_rate, miss_rate
    return (1 - a) * (1 - b) * factors[0] + (a + b - 2 * a * b) * factors[1] + a * b * factors[2]


@given(mu=PARAMETERS[0], more=PARAMETERS[1], apart=st.floats(-1.0, 1.0), beyond=st.floats(0.0, 1.0))
def test_the_evidence_is_a_supermartingale_under_either_hypothesis(mu, more, apart, beyond):
    """This holds however errors are split between both worlds: see the module's proof."""

    def test_of():
        return ErrorTest(mu, mu + more, 1e-300)

    stated, larger = stats.norm.cdf(-mu / 2), stats.norm.cdf(-(mu + more) / 2)
    rate = stated + beyond * (0.5 - stated)
    a, b = rate * (1 + apart), rate * (1 - apart)
    assert expected_factor(test_of, a, b, 1) <= 1.0 + 1e-12
    rate = larger * beyond
    a, b = rate * (1 + apart), rate * (1 - apart)
    assert expected_factor(test_of, a, b, -1) <= 1.0 + 1e-12


def decide(test, rate, rng):
    pairs = 0
    while not test.decided:
        test.count(int(rng.binomial(2, rate)))
        pairs += 1
    return test.refutes, pairs


@pytest.mark.parametrize(("at", "wrong"), [(1.5, True), (2.6, False)])
def test_wrong_decisions_are_as_rare_as_is_said(at, wrong):
    """At a doubt of 5%, at most 5% + 3 deviations of 1,000 tests with fixed draws are wrong."""
    rng = np.random.default_rng(3)
    rate = stats.norm.cdf(-at / 2)
    refuted = [decide(ErrorTest(1.5, 2.6, 0.05), rate, rng)[0] for _ in range(1000)]
    assert np.mean(np.array(refuted) == wrong) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


def test_a_decision_takes_as_many_guesses_as_wald_says():
    """The expected number is the required evidence over that of a guess, plus an overshoot.

    One pair of guesses adds at most 2 * 0.15. The mean of 200 tests has an error of a few pairs.
    """
    rng = np.random.default_rng(4)
    p, q = stats.norm.cdf(-0.75), stats.norm.cdf(-1.3)
    drift = 2 * (q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p)))
    pairs = np.mean([decide(ErrorTest(1.5, 2.6, 1e-7), q, rng)[1] for _ in range(200)])
    assert math.log(1e7) / drift - 15 < pairs < (math.log(1e7) + 0.3) / drift + 15


def test_guesses_after_the_decision_change_nothing():
    test = ErrorTest(0.5, 2.0, 1e-3)
    while not test.decided:
        test.count(0)
    evidence = test.evidence
    for _ in range(100):
        test.count(2)
    assert test.refutes
    assert test.evidence == evidence


@pytest.mark.parametrize(("mu", "larger"), [(1.0, 1.0), (2.0, 1.0), (-1.0, 1.0), (math.nan, 1.0)])
def test_hypotheses_that_are_not_apart_are_refused(mu, larger):
    with pytest.raises(ValueError, match="below larger"):
        ErrorTest(mu, larger, 1e-7)


@pytest.mark.parametrize("doubt", [0.0, 1.0, math.nan])
def test_a_doubt_that_is_no_probability_is_refused(doubt):
    with pytest.raises(ValueError, match="doubt"):
        ErrorTest(1.0, 2.0, doubt)
