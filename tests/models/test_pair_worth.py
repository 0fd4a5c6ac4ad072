"""Pairs are fitted if they are expected to gain more than the passes that they replace."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pair_terms import grids, priors, worth
from effort import examples

N_PASSES, N_FEATURES, N_LEAVES = 40, 3, 3


def make_grid(seed, *, special=0.0):
    """Make a grid of four groups on each side, possibly with rare special bins."""
    rng = np.random.default_rng(seed)
    counts = BinCounts(np.append(rng.uniform(200, 1000, 9), special), np.ones(10), 1, True)
    sides = [grids.side_of(k, counts, rng.normal(0, 1, 10), 4) for k in range(2)]
    return grids.Grid(tuple(sides), 2)


def make_fit(sums, *, noise=1.0, weight=100.0, rate=0.5):
    """Make what a fit has released after its passes, with leaves of one size."""
    n_visits = len(sums) // N_LEAVES
    return SimpleNamespace(
        steps=SimpleNamespace(
            sums=sums,
            gain=np.full(len(sums), rate / weight),
            start=N_LEAVES * np.arange(n_visits + 1),
        ),
        visits=SimpleNamespace(leaf_weight=np.full((n_visits, N_LEAVES), weight)),
        schedule=SimpleNamespace(n_epochs=n_visits // N_FEATURES),
        leaf_noise_std=np.full(n_visits, noise),
    )


def sums_of_passes(size):
    """Return exact leaf sums whose fall is that of a loss which approaches its limit like 1 / n."""
    passes = np.arange(1, N_PASSES + 1)
    own = size / np.sqrt(passes * (passes + 1.0))
    return np.repeat(own, N_FEATURES * N_LEAVES)


def fall_of_a_pass(size, n, *, weight=100.0, rate=0.5):
    """Return the fall in the n-th pass without noise."""
    one = size**2 / (n * (n + 1.0)) * (rate - rate**2 / 2.0) / weight
    return N_FEATURES * N_LEAVES * one


@pytest.mark.parametrize("n_more", [1, 20])
def test_a_loss_that_approaches_its_limit_slowly_is_predicted_to_go_on(n_more):
    fit = make_fit(sums_of_passes(3000.0), noise=1e-3)
    expected = sum(fall_of_a_pass(3000.0, n) for n in range(N_PASSES + 1, N_PASSES + 1 + n_more))
    assert worth.fall_of_passes(fit, n_more, 1.0) == pytest.approx(expected, rel=1e-3)


@pytest.mark.full
def test_noise_in_the_sums_does_not_count_as_a_fall():
    """Steps on noise raise the loss a little, which is part of what is expected."""
    rng, exact = np.random.default_rng(2), sums_of_passes(30.0)
    drawn = exact + rng.normal(size=(400, len(exact)))
    found = np.mean([worth.fall_of_passes(make_fit(each), 20, 1.0) for each in drawn])
    naive = np.mean([worth.fall_of_passes(make_fit(each, noise=1e-9), 20, 1.0) for each in drawn])
    without = worth.fall_of_passes(make_fit(exact, noise=1e-9), 20, 1.0)
    assert 0.7 * without < found < without < 0.7 * naive


@given(size=st.floats(0.0, 1e3), noise=st.floats(0.1, 1e3), n_more=st.integers(1, 100))
def test_more_passes_could_gain_more_and_never_less_than_nothing(size, noise, n_more):
    exact = sums_of_passes(size)
    one, two = (worth.fall_of_passes(make_fit(exact, noise=noise), n, 1.0) for n in (n_more, 200))
    assert 0.0 <= one < two or one == two == 0.0


@pytest.mark.full
@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
def test_a_pair_is_expected_to_gain_what_its_fit_gains_on_average(size):
    """Scores are drawn from the prior; contrasts and sums of the fit have fresh noise."""
    grid, rng = make_grid(5), np.random.default_rng(3)
    curvature, variance = 3000.0 * grid.weight, np.diag(rng.uniform(1.0, 400.0, grid.n_cells))
    errors = rng.uniform(1.0, 400.0, grid.n_cells)
    prior = np.kron(*(priors.covariance(side, 1.0) for side in grid.sides))
    root = np.linalg.cholesky(size**2 * prior + 1e-12 * np.eye(grid.n_cells))
    half = np.linalg.cholesky(variance)
    own = size**2 * prior
    gain = own * curvature @ np.linalg.inv(curvature[:, None] * own * curvature + np.diag(errors))
    expected, actual = [], []
    for _ in range(200):
        scores = root @ rng.normal(size=grid.n_cells)
        seen = curvature * scores + half @ rng.normal(size=grid.n_cells)
        contrasts = worth.Contrasts(grid, seen, np.diag(curvature), variance)
        expected.append(worth.fall_of_pair(contrasts, curvature, errors))
        sums = curvature * scores + np.sqrt(errors) * rng.normal(size=grid.n_cells)
        fitted = gain @ sums
        actual.append(curvature @ (scores * fitted - fitted**2 / 2.0))
    assert np.mean(expected) == pytest.approx(np.mean(actual), rel=0.2)


@examples(30)
@given(size=st.sampled_from([0.0, 1e-30, 1.0, 1e15, 1e30]), seed=st.integers(0, 99))
def test_any_released_numbers_give_finite_expectations(size, seed):
    """A release may be anything, and a fit that failed on it would reveal something."""
    grid, rng = make_grid(seed, special=seed % 3), np.random.default_rng(seed)
    sums = size * rng.normal(0, 1, grid.n_cells)
    curvature = np.abs(size * rng.normal(0, 1, grid.n_cells))
    seen = worth.Contrasts(grid, sums, np.diag(curvature), np.eye(grid.n_cells))
    assert np.isfinite(worth.fall_of_pair(seen, curvature, np.ones(grid.n_cells)))
    leaves = size * rng.normal(0, 1, N_FEATURES * N_LEAVES * (1 + seed % 5))
    assert np.isfinite(worth.fall_of_passes(make_fit(leaves), 1 + seed, 0.8))
