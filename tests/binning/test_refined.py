"""Cells that are split where records are dense."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import GaussianEvent
from dpexplain.binning import (
    cells_from,
    coarse_cells,
    declared_cells,
    fine_cells,
    first_cells,
    release_histograms,
    release_refined,
)
from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.schema import Categorical, Numeric
from effort import examples

ROUNDS = (0.25, 0.25, 0.5)
KINDS = (
    Numeric(0, 1e6),
    Numeric(-1e5, 3e5),
    Numeric(-5, -1),
    Numeric(1e9, 2e9),
    Numeric(0, 1),
    Numeric(0, 100, step=1),
    Numeric(0, 1e5, step=1),
    Numeric(0, 1e9, step=0.01),
)


class Exact(NoiseSource):
    """Draws zeros, to show what is released without noise."""

    def draw_int(self, sigma_int, size):
        return np.zeros(size, dtype=np.int64)


@cache
def grids(feature):
    declared = declared_cells("x", feature, 256)
    return declared, fine_cells(declared)


def refined(columns, features, mechanism, *, n_cells=128, shares=ROUNDS, multiplier=10.0):
    """Release the histograms of some columns; return their finest cells and counts, too."""
    declared, finest = zip(*map(grids, features), strict=True)
    exact = [
        np.bincount(f.index(c), minlength=f.n_bins) for f, c in zip(finest, columns, strict=True)
    ]
    starts = [
        first_cells(f, coarse_cells(d, n_cells)[0]) for f, d in zip(finest, declared, strict=True)
    ]
    released = release_refined(
        exact,
        starts,
        mechanism,
        noise_multiplier=multiplier,
        sensitivity=1.0,
        shares=shares,
        n_records=len(columns[0]),
        n_cells=n_cells,
    )
    return finest, exact, starts, released


@pytest.mark.parametrize("feature", KINDS, ids=str)
@pytest.mark.parametrize("n_features", [1, 3_000])
def test_fine_cells_keep_the_edges_of_the_grid_and_fit_an_index_of_two_bytes(feature, n_features):
    cells = declared_cells("x", feature, 256)
    fine = fine_cells(cells, n_features)
    assert set(cells.edges) <= set(fine.edges)
    assert (np.diff(fine.edges) > 0).all()
    assert fine.n_bins <= min(1 << 16, max(2 * len(cells.edges), (1 << 22) // n_features))
    for n_cells in (32, 128, 256):
        coarse = coarse_cells(cells, n_cells)[0]
        starts = first_cells(fine, coarse)
        np.testing.assert_array_equal(cells_from(fine, starts).edges, coarse.edges)
        values = np.linspace(feature.low, feature.high, 999)
        of_fine = np.searchsorted(starts, fine.index(values), side="right") - 1
        np.testing.assert_array_equal(of_fine, coarse.index(values))


def test_fine_cells_of_a_step_are_never_smaller_than_the_step():
    assert fine_cells(declared_cells("age", Numeric(0, 100, step=1), 32)).n_value_bins == 101
    edges = fine_cells(declared_cells("money", Numeric(0, 1e9, step=0.01), 256)).edges
    assert np.diff(edges).min() == pytest.approx(0.01)


def test_categories_are_never_split():
    job = Categorical(["a", "b"])
    finest, _, _, released = refined([np.zeros(1_000, np.int32)], [job], Mechanism(Exact()))
    assert finest[0].edges is None
    np.testing.assert_array_equal(released.histograms.counts[0], [1_000, 0, 0, 0])


@pytest.mark.parametrize("wider", [1e2, 1e3, 1e4])
@pytest.mark.parametrize("place", [0.0, 3.0, 100.0])
def test_bounds_that_are_far_too_wide_leave_enough_cells_where_values_are(wider, place):
    """Cells that hold over two in five values are split; others are as fine as is useful.

    Far from zero, coarse cells are wider than all values together.
    """
    values = place + np.random.default_rng(0).standard_normal(20_000)
    feature = Numeric(-4.0 * wider, 4.0 * wider)
    finest, exact, starts, released = refined([values], [feature], Mechanism(Exact()))
    middle = np.quantile(values, [0.05, 0.95])
    edges = cells_from(finest[0], released.starts[0]).edges
    before = cells_from(finest[0], starts[0]).edges

    def inside(edges):
        return int(((edges > middle[0]) & (edges < middle[1])).sum())

    sums = np.add.reduceat(exact[0], released.starts[0])
    assert sums.max() <= 0.4 * len(values)
    if np.add.reduceat(exact[0], starts[0]).max() > 0.4 * len(values):
        # Near zero, cells are as fine as anyone wants; far away, as fine as 65,536 cells allow.
        assert inside(edges) >= (10 if place == 100.0 and wider == 1e4 else 20)
        assert inside(edges) > inside(before)
    else:
        assert place < 100.0
        np.testing.assert_array_equal(edges, before)
    np.testing.assert_allclose(released.histograms.counts[0], sums, atol=1e-6)


@examples(30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 3_000),
    feature=st.sampled_from(KINDS),
    n_cells=st.sampled_from([32, 64, 256]),
)
def test_split_cells_cover_the_same_range_and_keep_the_records(seed, n, feature, n_cells):
    rng = np.random.default_rng(seed)
    width = (feature.high - feature.low) * 10.0 ** rng.uniform(-6, 0)
    values = np.clip(
        rng.uniform(feature.low, feature.high) + width * rng.standard_normal(n),
        feature.low,
        feature.high,
    )
    values[rng.random(n) < 0.05] = np.nan
    finest, exact, starts, released = refined(
        [values], [feature], Mechanism(Exact()), n_cells=n_cells
    )
    (now,), (fine,) = released.starts, finest
    assert now[0] == 0
    assert (np.diff(now) > 0).all()
    assert set(starts[0]) <= set(now)
    assert now[-1] == fine.n_value_bins  # missing values keep a cell of their own
    assert released.histograms.counts[0].sum() == pytest.approx(n)
    np.testing.assert_allclose(
        released.histograms.counts[0], np.add.reduceat(exact[0], now), atol=1e-6
    )


def test_a_single_round_is_an_ordinary_histogram():
    column = [np.random.default_rng(0).uniform(0, 1e6, 500)]
    _, exact, starts, released = refined(
        column, [KINDS[0]], Mechanism(NoiseSource(reproducible_seed=3)), shares=(1.0,)
    )
    once = release_histograms(
        [np.add.reduceat(exact[0], starts[0])],
        Mechanism(NoiseSource(reproducible_seed=3)),
        noise_multiplier=10.0,
    )
    np.testing.assert_array_equal(released.histograms.counts[0], once.counts[0])
    np.testing.assert_array_equal(released.first.counts[0], once.counts[0])
    np.testing.assert_array_equal(released.histograms.spread[0], 1.0)


def test_estimates_vary_as_stated_whether_or_not_their_cells_were_split():
    """All records are in one place, so the same cells are split each time.

    With m releases, a variance has relative error sqrt(2 / m), and the mean over k cells that are
    nearly independent sqrt(2 / (m k)); six of those are exceeded once in a hundred million runs. A
    count may differ from the truth only by noise: the mean of m is within 6 / sqrt(m) of it.
    """
    values = np.full(50_000, 0.37)
    mechanism, m = Mechanism(NoiseSource("rounded")), 300
    runs = [refined([values], [Numeric(0, 1000)], mechanism, n_cells=32) for _ in range(m)]
    starts = [r[3].starts[0] for r in runs]
    assert all(np.array_equal(s, starts[0]) for s in starts)
    truth = np.add.reduceat(runs[0][1][0], starts[0])
    drawn = np.stack([r[3].histograms.counts[0] for r in runs]) - truth
    spread = runs[0][3].histograms.spread[0]
    never, once, twice = spread < 1.01, (spread > 1.2) & (spread < 1.4), spread > 1.7
    assert (never | once | twice).all()
    for part in (never, once, twice):
        assert part.any()
        found = (drawn[:, part] ** 2).mean() / 100.0 / spread[part].mean()
        assert found == pytest.approx(1.0, abs=6.0 * np.sqrt(2.0 / (m * part.sum())))
    assert (np.abs(drawn.mean(axis=0)) < 6.0 * 10.0 * np.sqrt(spread / m)).all()
    # Sums vary no more than independent cells would.
    total = np.var(drawn.sum(axis=1)) / 100.0
    assert total < spread.sum() * (1.0 + 6.0 * np.sqrt(2.0 / m))
    first = np.stack([r[3].first.counts[0] for r in runs])
    of_first = first - np.add.reduceat(runs[0][1][0], runs[0][2][0])
    stated = runs[0][3].first.spread[0]
    assert set(stated) == {1.0, 4.0}
    for value in (1.0, 4.0):
        found = (of_first[:, stated == value] ** 2).mean() / 100.0 / value
        n_cells = (stated == value).sum()
        assert found == pytest.approx(1.0, abs=6.0 * np.sqrt(2.0 / (m * n_cells)))


def test_all_rounds_together_spend_what_one_histogram_costs():
    """The allowance of one histogram at the full budget covers them, and not one round more."""
    values = np.random.default_rng(0).lognormal(0, 1, 5_000)
    charged = [GaussianEvent("histograms", noise_multiplier=10.0)]
    mechanism = Mechanism(Exact(), charged)
    refined([values], [KINDS[0]], mechanism)
    mechanism = Mechanism(Exact(), charged)
    with pytest.raises(RuntimeError, match="histograms"):
        refined([values], [KINDS[0]], mechanism, shares=(*ROUNDS, 0.01))
