"""Bins partition the line, depend on public knowledge, and merge where people are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning import (
    FeatureBins,
    counts_per_bin,
    declared_cells,
    merge_sparse_cells,
    quantile_bins,
    release_histograms,
)
from dpexplain.binning._kernels_bins import find_bins
from dpexplain.binning.histograms import COUNT_LATTICE
from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.schema import Categorical, Numeric
from effort import examples

bounds = st.tuples(
    st.floats(-1e6, 1e6, allow_subnormal=False), st.floats(1e-3, 1e6, allow_subnormal=False)
).map(lambda t: (t[0], t[0] + t[1]))


def naive_index(edges, value):
    """Find a bin by the package's convention: [left, right), the last one closed."""
    for i in range(len(edges) - 1):
        if edges[i] <= value < edges[i + 1]:
            return i
    return len(edges) - 2 if value >= edges[-1] else 0


@examples(60)
@given(
    ends=bounds,
    n_cells=st.integers(2, 300),
    spacing=st.sampled_from(["mixed", "equal"]),
    step=st.sampled_from([None, 1.0, 0.5]),
)
def test_cells_increase_span_the_bounds_and_are_not_more_than_asked_for(
    ends, n_cells, spacing, step
):
    step = step if step is not None and step <= ends[1] - ends[0] else None
    feature = Numeric(*ends, step=step)
    cells = declared_cells("x", feature, n_cells, spacing)
    assert (np.diff(cells.edges) > 0).all()
    assert cells.n_value_bins <= n_cells + 1
    assert cells.edges[0] <= feature.low
    assert cells.edges[-1] >= feature.high - (step or 0)


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_edges=st.sampled_from([0, 1, 2, 3, 7, 8, 126, 127, 254, 300]),
    n_values=st.sampled_from([0, 1, 100, 1023, 1024, 1025, 3000]),
)
def test_bins_are_found_as_numpy_finds_them(seed, n_edges, n_values):
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.normal(size=n_edges))
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, *edges]
    values = np.where(
        rng.random(n_values) < 0.5, rng.normal(size=n_values), rng.choice(special, n_values)
    )
    expected = np.searchsorted(edges, values, side="right")
    expected[np.isnan(values)] = n_edges + 1
    index = np.empty(n_values, np.uint16)
    find_bins(values, edges, n_edges + 1, index)
    np.testing.assert_array_equal(index, expected)


@examples(60)
@given(ends=bounds, n_cells=st.integers(2, 60), shares=st.lists(st.floats(0, 1), max_size=30))
def test_every_value_is_in_exactly_the_bin_whose_interval_holds_it(ends, n_cells, shares):
    feature = Numeric(*ends)
    cells = declared_cells("x", feature, n_cells)
    values = np.array([feature.low + s * (feature.high - feature.low) for s in shares] + [np.nan])
    values = np.clip(values, feature.low, feature.high)
    index = cells.index(values)
    assert index[-1] == cells.n_value_bins
    assert [int(i) for i in index[:-1]] == [naive_index(cells.edges, v) for v in values[:-1]]


def test_whole_years_get_cells_named_by_their_value():
    cells = declared_cells("age", Numeric(17, 90, step=1), 128)
    np.testing.assert_array_equal(cells.edges, np.arange(17, 92) - 0.5)
    np.testing.assert_array_equal(cells.index(np.array([17.0, 18.0, 90.0])), [0, 1, 73])


def test_coarse_cells_never_split_a_step():
    cells = declared_cells("age", Numeric(0, 1000, step=1), 16)
    np.testing.assert_array_equal(cells.edges % 1, 0.5)


def test_mixed_cells_resolve_a_skewed_column_that_equal_cells_do_not():
    gain = Numeric(0, 100_000)
    values = np.random.default_rng(0).lognormal(6, 1.5, 10_000).clip(0, 100_000)
    largest = [
        np.bincount(declared_cells("gain", gain, 64, s).index(values)).max()
        for s in ("mixed", "equal")
    ]
    assert largest[0] < 0.25 * len(values) < 0.6 * len(values) < largest[1]


def test_a_range_with_zero_inside_is_resolved_on_both_sides_of_it():
    edges = declared_cells("balance", Numeric(-1000, 1000), 64).edges
    assert ((edges > -1) & (edges < 0)).any()
    assert ((edges > 0) & (edges < 1)).any()


def test_categories_are_cells_with_other_and_missing_behind_them():
    cells = declared_cells("job", Categorical(["a", "b"]), 64)
    assert cells.edges is None
    assert (cells.n_value_bins, cells.n_bins, cells.special) == (2, 4, ("other", "missing"))


@examples(60)
@given(
    counts=st.lists(st.floats(-50, 500), min_size=3, max_size=60),
    min_count=st.floats(1, 400),
    ratio=st.floats(0, 4),
)
def test_merging_keeps_the_total_and_gives_every_bin_enough_people(counts, min_count, ratio):
    counts = np.array(counts)
    cells = FeatureBins("x", Numeric(0, 1), np.linspace(0, 1, len(counts)))
    bins, bin_of_cell = merge_sparse_cells(
        cells, counts, min_count=min_count, noise_std=10.0, noise_ratio=ratio
    )
    merged = counts_per_bin(counts, bin_of_cell, bins.n_bins)
    assert merged.sum() == pytest.approx(counts.sum())
    assert set(bins.edges) <= set(cells.edges)
    assert (np.diff(bin_of_cell.astype(int)) >= 0).all()
    assert bin_of_cell[-1] == bins.n_value_bins  # missing stays alone
    # What is left over joins the last bin, and can take some of its people away again.
    assert (merged[: bins.n_value_bins - 1] >= min_count - 1e-9).all()


def test_a_grid_without_people_becomes_one_bin():
    cells = declared_cells("x", Numeric(0, 1), 16)
    bins, bin_of_cell = merge_sparse_cells(
        cells, np.zeros(cells.n_bins), min_count=5.0, noise_std=1.0, noise_ratio=1.0
    )
    assert bins.n_value_bins == 1
    np.testing.assert_array_equal(bins.edges, [0.0, 1.0])
    assert set(bin_of_cell) == {0, 1}


class Exact(NoiseSource):
    """Draws zeros, to show what is released without noise."""

    def draw_int(self, sigma_int, size):
        return np.zeros(size, dtype=np.int64)


def test_released_counts_are_the_histograms_plus_the_noise_of_the_mechanism():
    cells = [
        declared_cells("x", Numeric(0, 10), 5, "equal"),
        declared_cells("c", Categorical(["a", "b"]), 5),
    ]
    index = [cells[0].index(np.array([1.0, 1.5, 9.0, np.nan])), np.array([0, 1, 2, 3], np.uint8)]
    counts = [np.bincount(i, minlength=c.n_bins) for i, c in zip(index, cells, strict=True)]
    released = release_histograms(counts, Mechanism(Exact()), noise_multiplier=2.0)
    np.testing.assert_array_equal(released.counts[0], [2, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(released.counts[1], [1, 1, 1, 1])
    assert released.noise_std == 2.0
    assert released.n_samples == 4.0


def test_the_estimate_of_the_sample_size_has_the_derived_spread():
    """Totals of variance cells x sigma^2, weighted by 1 / cells: sigma^2 / sum(1 / cells).

    400 estimates give a standard deviation with relative error 1 / sqrt(800) = 3.5 %; 6.5 of those,
    or of the standard errors of the mean, are exceeded once in a hundred million runs.
    """
    cells = [
        declared_cells("x", Numeric(0, 1), 63, "equal"),
        declared_cells("c", Categorical(["a", "b"]), 5),
    ]
    counts = [np.r_[1000, np.zeros(c.n_bins - 1, np.int64)] for c in cells]
    mechanism = Mechanism(NoiseSource("rounded"))
    estimates = [
        release_histograms(counts, mechanism, noise_multiplier=3.0).n_samples for _ in range(400)
    ]
    expected = 3.0 / np.sqrt(1 / 64 + 1 / 4)
    assert np.std(estimates) == pytest.approx(expected, rel=6.5 / np.sqrt(800))
    assert np.mean(estimates) == pytest.approx(1000, abs=6.5 * expected / np.sqrt(400))


def test_counts_are_released_on_a_fine_lattice():
    """With integer counts, a discrete Gaussian of few steps spends more than is charged."""
    released = release_histograms(
        [np.array([3, 0, 0, 0])], Mechanism(NoiseSource()), noise_multiplier=1.0
    )
    steps = released.counts[0] * COUNT_LATTICE
    np.testing.assert_array_equal(steps, np.rint(steps))
    assert (released.counts[0] % 1 != 0).any()


def test_quantile_bins_hold_about_equally_many_records():
    values = np.random.default_rng(0).lognormal(0, 1, 8000).clip(0, 100)
    bins = quantile_bins("x", Numeric(0, 100), values, 16)
    held = np.bincount(bins.index(values), minlength=bins.n_bins)[:-1]
    assert bins.n_value_bins == 16
    assert held.min() > 490
    assert held.max() < 510


def test_few_distinct_values_get_a_bin_each():
    bins = quantile_bins("x", Numeric(0, 10, step=1), np.array([1.0, 4.0, np.nan, 4.0]), 16)
    np.testing.assert_array_equal(bins.edges, [-0.5, 2.5, 10.5])
