"""Splines whose smoothness follows from the curve and its noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.edit.splines import smooth_as_noise_allows

PLACES = np.cumsum(np.random.default_rng(5).uniform(0.5, 3.0, 40))
WEIGHTS = np.random.default_rng(6).gamma(2.0, 1.0, 40)
WEIGHTS /= WEIGHTS.sum()


def naive(places, values, weights, std):
    """Compute the same estimate with explicit inverses, without the limit."""
    mean, x = np.average(values, weights=weights), (places - places[0]) / np.ptp(places)
    size = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    noise = np.diag(np.maximum(std, 0.01 * size) ** 2)
    total = part = 0.0
    for share in np.geomspace(0.05, 50, 10):
        signal = np.array(
            [
                [
                    100 * (1 + a * b) + share**2 * min(a, b) ** 2 * (3 * max(a, b) - min(a, b)) / 6
                    for b in x
                ]
                for a in x
            ]
        )
        signal *= size**2
        inverse = np.linalg.inv(signal + noise)
        sign, log_volume = np.linalg.slogdet(signal + noise)
        assert sign > 0
        chance = np.exp(-0.5 * (values - mean) @ inverse @ (values - mean) - 0.5 * log_volume)
        total, part = total + chance, part + chance * (signal @ inverse @ (values - mean))
    return mean + part / total


@pytest.mark.parametrize("seed", range(4))
def test_smoothed_curve_is_the_average_of_posterior_means_by_their_likelihood(seed):
    rng = np.random.default_rng(seed)
    std = rng.uniform(0.3, 0.6, 40)
    values = np.sin(PLACES / 12) + rng.normal(0, 0.15, 40)
    expected = naive(PLACES, values, WEIGHTS, std)
    assert (np.abs(expected - values) < 1.5 * std).all()
    found = smooth_as_noise_allows(PLACES, values, WEIGHTS, std)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_straight_line_stays_and_noise_around_it_goes():
    line = 0.05 * PLACES - 1.0
    rng = np.random.default_rng(0)
    std = np.full(40, 0.2)
    kept = smooth_as_noise_allows(PLACES, line, WEIGHTS, std)
    np.testing.assert_allclose(kept, line, atol=0.01)
    noisy = line + rng.normal(0, 0.2, 40)
    smoothed = smooth_as_noise_allows(PLACES, noisy, WEIGHTS, std)
    before, after = (np.sqrt(np.mean((c - line) ** 2)) for c in (noisy, smoothed))
    assert after < 0.6 * before


def test_a_curve_without_noise_stays():
    values = np.sin(PLACES / 3)
    found = smooth_as_noise_allows(PLACES, values, WEIGHTS, np.zeros(40))
    np.testing.assert_array_equal(found, values)


def test_a_constant_curve_stays():
    found = smooth_as_noise_allows(PLACES, np.full(40, 0.3), np.zeros(40), np.ones(40))
    np.testing.assert_allclose(found, 0.3)


@given(st.integers(0, 10_000), st.integers(2, 30), st.floats(1e-6, 10.0))
def test_smoothed_curve_is_finite_and_stays_within_the_limit(seed, n, noise):
    rng = np.random.default_rng(seed)
    values, std = rng.normal(0, 1, n), noise * rng.uniform(0, 1, n)
    places, weights = np.cumsum(rng.uniform(0.01, 1, n)), np.maximum(rng.normal(1, 1, n), 0)
    found = smooth_as_noise_allows(places, values, weights, std)
    assert np.isfinite(found).all()
    assert (np.abs(found - values) <= 1.5 * std + 1e-12).all()
