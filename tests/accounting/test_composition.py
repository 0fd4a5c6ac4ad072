from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import (
    classic_noise_multiplier,
    compose_mu,
    epsilon_from_mu,
    gdp_noise_multiplier,
    mu_from_epsilon,
)

# 300 epochs over 14 features at delta 1e-6, the whole budget on training: epsilon, multiplier
# by strong composition, by Gaussian DP, and the mu of the latter.
REFERENCE = [
    (0.5, 1328.0, 522.19, 0.12411),
    (1, 681.3, 273.79, 0.23670),
    (2, 349.1, 144.55, 0.44833),
    (4, 178.7, 77.349, 0.83786),
    (8, 91.4, 42.315, 1.53155),
]
mus = st.lists(st.floats(0, 100), max_size=30)


@pytest.mark.parametrize(("epsilon", "strong", "exact", "mu"), REFERENCE)
def test_noise_of_4200_releases_is_the_published_one(epsilon, strong, exact, mu):
    # Half a unit of the last digit that the table gives.
    assert classic_noise_multiplier(4200, epsilon, 1e-6) == pytest.approx(strong, abs=0.05)
    assert gdp_noise_multiplier(4200, epsilon, 1e-6) == pytest.approx(exact, rel=1.5e-5)
    assert mu_from_epsilon(epsilon, 1e-6) == pytest.approx(mu, abs=5e-6)


@pytest.mark.parametrize(
    ("epsilons", "delta", "total"),
    [
        ([0.5, 1, 2, 4, 8], 1e-5, 9.96),
        ([0.5, 1, 2, 4, 8], 1e-6, 9.83),
        ([0.5, 1, 2, 4, 8] * 5, 1e-5, 28.3),
        ([0.5, 1, 2, 4, 8] * 25, 1e-5, 91.4),
        ([1, 1, 1, 1], 1e-5, 2.15),
    ],
)
def test_models_of_a_sweep_cost_less_together_than_the_sum(epsilons, delta, total):
    mu = compose_mu(mu_from_epsilon(epsilon, delta) for epsilon in epsilons)
    digits = len(str(total).split(".")[1])

    assert round(epsilon_from_mu(mu, delta), digits) == total
    assert total < sum(epsilons)


@given(mus, st.randoms(use_true_random=False))
def test_order_of_releases_is_irrelevant(values, rng: random.Random):
    shuffled = list(values)
    rng.shuffle(shuffled)

    assert compose_mu(shuffled) == compose_mu(values)


@given(mus, st.floats(0, 100))
def test_one_more_release_never_costs_less(values, extra):
    assert compose_mu([*values, extra]) >= compose_mu(values)


@given(st.integers(1, 10_000), st.floats(0.01, 10), st.floats(1e-10, 1e-3))
def test_releases_at_the_calibrated_noise_spend_the_budget_and_no_more(count, epsilon, delta):
    multiplier = gdp_noise_multiplier(count, epsilon, delta)
    spent = epsilon_from_mu(math.sqrt(count) / multiplier, delta)

    assert epsilon * (1 - 1e-6) <= spent <= epsilon


@given(st.integers(1, 10_000), st.floats(0.01, 1000), st.floats(1e-10, 1e-3))
def test_strong_composition_never_needs_less_noise_than_the_exact_one(count, epsilon, delta):
    exact = gdp_noise_multiplier(count, epsilon, delta)

    assert classic_noise_multiplier(count, epsilon, delta) >= exact


def test_strong_composition_is_not_trusted_where_its_formula_promises_too_much():
    epsilon, delta = 1000.0, 1e-6
    formula = math.sqrt(8 * math.log(math.e + epsilon / delta)) / epsilon

    assert epsilon_from_mu(1 / formula, delta) > epsilon
    assert classic_noise_multiplier(1, epsilon, delta) == gdp_noise_multiplier(1, epsilon, delta)


@pytest.mark.parametrize("mu", [-0.1, math.nan, "1"])
def test_compose_refuses_what_is_no_parameter(mu):
    with pytest.raises(ValueError, match="mu="):
        compose_mu([1.0, mu])


@pytest.mark.parametrize("count", [0, 1.5, True])
def test_number_of_releases_is_a_positive_integer(count):
    with pytest.raises(ValueError, match="n_releases="):
        gdp_noise_multiplier(count, 1.0, 1e-6)
