"""Pairs are fitted if they are expected to gain more than the passes that they replace."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pair_terms import grids, priors, worth
from dpexplain.models.boosting.structure import Visits
from effort import examples

N_PASSES, N_FEATURES, N_LEAVES = 40, 3, 3


def make_grid(seed, *, special=0.0):
    """Make a grid of four groups on each side, possibly with rare special bins."""
    rng = np.random.default_rng(seed)
    counts = BinCounts(np.append(rng.uniform(200, 1000, 9), special), np.ones(10), 1, True)
    sides = [grids.side_of(k, counts, rng.normal(0, 1, 10), 4) for k in range(2)]
    return grids.Grid(tuple(sides), 2)


def make_fit(sums, *, noise=1.0, weight=100.0, rate=0.5):
    """Make what a fit has released after its passes, with leaves of one bin."""
    n_visits = len(sums) // N_LEAVES
    bins = np.arange(N_LEAVES, dtype=np.uint8)
    return SimpleNamespace(
        steps=SimpleNamespace(
            sums=sums,
            gain=np.full(len(sums), rate / weight),
            start=N_LEAVES * np.arange(n_visits + 1),
        ),
        visits=Visits(
            feature=np.tile(np.arange(N_FEATURES), n_visits // N_FEATURES),
            leaf_of_bin=np.tile(bins, (n_visits, 1)),
            leaf_weight=np.full((n_visits, N_LEAVES), weight),
            n_bins=np.full(N_FEATURES, N_LEAVES),
            n_leaves=np.full(n_visits, N_LEAVES),
            n_records=weight * N_LEAVES,
        ),
        schedule=SimpleNamespace(n_epochs=n_visits // N_FEATURES),
        binned=SimpleNamespace(
            counts=[SimpleNamespace(counts=np.full(N_LEAVES, weight))] * N_FEATURES
        ),
        leaf_noise_std=np.full(n_visits, noise),
    )


def sums_of_passes(size):
    """Return exact leaf sums that do not change between passes."""
    return np.full(N_PASSES * N_FEATURES * N_LEAVES, float(size))


@pytest.mark.parametrize("n_more", [1, 20])
def test_a_loss_that_keeps_falling_is_predicted_to_go_on_more_slowly(n_more):
    """A pass lets it fall by the squared sums times gain; later ones by less, like 1 / n."""
    fit = make_fit(sums_of_passes(3000.0), noise=1e-3)
    of_pass = N_FEATURES * N_LEAVES * 3000.0**2 * 0.5 / 100.0
    n = np.arange(1, N_PASSES + n_more + 1)
    shares = (1 / n[N_PASSES:]).sum() / (1 / n[N_PASSES // 2 : N_PASSES]).mean()
    assert worth.fall_of_passes(fit, n_more) == pytest.approx(of_pass * shares, rel=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("size", [0.0, 10.0])
def test_the_fall_is_rarely_below_what_sums_without_noise_show(size):
    """It is two standard errors above it on average."""
    rng, exact = np.random.default_rng(2), sums_of_passes(size)
    drawn = [exact + 30.0 * rng.normal(size=len(exact)) for _ in range(400)]
    found = np.array([worth.fall_of_passes(make_fit(each, noise=30.0), 20) for each in drawn])
    without = worth.fall_of_passes(make_fit(exact, noise=1e-9), 20)
    assert np.mean(found >= without) > 0.9


@pytest.mark.full
def test_back_and_forth_is_no_fall():
    """Noise that later passes undo moves curves in both directions."""
    signs = np.repeat((-1.0) ** np.arange(N_PASSES), N_FEATURES * N_LEAVES)
    assert worth.fall_of_passes(make_fit(3000.0 * signs, noise=1e-9), 20) == pytest.approx(0.0)


@given(size=st.floats(0.0, 1e3), noise=st.floats(0.1, 1e3), n_more=st.integers(1, 100))
def test_more_passes_could_gain_more_and_never_less_than_nothing(size, noise, n_more):
    fit = make_fit(sums_of_passes(size), noise=noise)
    one, two = (worth.fall_of_passes(fit, n) for n in (n_more, 200))
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
    assert np.isfinite(worth.fall_of_passes(make_fit(leaves), 1 + seed))
