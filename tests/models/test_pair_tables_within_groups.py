"""Dependence within the groups of a table: how it is interpolated, and how wrong that may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pair_tables.joint_counts import PairTables
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.uncertainty.effects.dependence.between_groups import (
    displaced,
    neighbors,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import copula_cells, runs_of
from dpexplain.models.boosting.uncertainty.effects.dependence.estimated_tables import (
    EstimatedTables,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.joint import dependence_of
from dpexplain.models.boosting.uncertainty.effects.dependence.within_groups import (
    errors_within_groups,
)
from effort import examples

N = 100_000.0


def shares_and_groups(draw_sizes, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(draw_sizes)), draw_sizes)
    share = rng.uniform(0.1, 1.0, len(groups))
    return share / share.sum(), groups


@examples(60)
@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=6), seed=st.integers(0, 99))
def test_weights_of_neighbors_lead_from_center_to_center(sizes, seed):
    share, groups = shares_and_groups(sizes, seed)
    near, weight = neighbors(share, groups)
    assert (np.abs(near - groups) == 1).all()
    assert ((weight >= -0.5) & (weight <= 1.0)).all()
    middle = np.cumsum(share) - share / 2
    center = np.bincount(groups, share * middle) / np.bincount(groups, share)
    reached = center[groups] + weight * (center[near] - center[groups])
    within = weight > -0.5
    np.testing.assert_allclose(reached[within], middle[within])


@examples(60)
@given(n_points=st.lists(st.integers(0, 9), min_size=3, max_size=5), seed=st.integers(0, 99))
def test_displaced_ranks_are_those_of_a_loop(n_points, seed):
    rng = np.random.default_rng(seed)
    n_points[0] += 1
    sizes = np.array(n_points)
    group = np.repeat(np.arange(len(sizes)), sizes)
    ranks = rng.uniform(0, 1, len(group))
    ranks = ranks[np.lexsort([ranks, group])]
    rows = rng.uniform(0.1, 1.0, (len(sizes), 4))
    below = np.cumsum(rows, axis=1) / rows.sum(axis=1, keepdims=True)
    ends = np.array([0.2, 0.5, 0.6, 1.0])
    near = np.where(group > 0, group - 1, 1)
    weight = rng.uniform(-0.5, 1.0, len(group))
    moves = []
    for g, n in enumerate(sizes):
        of_table = np.interp((np.arange(n) + 0.5) / max(n, 1), [0, *below[g]], [0, *ends])
        moves.append((ranks[group == g], of_table - ranks[group == g]))
    expected = []
    for rank, g, k, w in zip(ranks, group, near, weight, strict=True):
        own = np.interp(rank, *moves[g])
        other = np.interp(rank, *moves[k]) if sizes[k] else own
        expected.append(rank + (1 - w) * own + w * other)
    found = displaced(ranks, sizes, below, ends, near, weight)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def along_a_curve(n_bins, n_groups):
    """Return a joint distribution in which the second feature is high at both ends of the first."""
    x = (np.arange(n_bins) + 0.5) / n_bins
    center = 4.0 * (x - 0.5) ** 2
    joint = np.exp(-0.5 * ((x - center[:, None]) / 0.1) ** 2)
    joint /= joint.sum(axis=1, keepdims=True) * n_bins
    groups = np.arange(n_bins) // (n_bins // n_groups)
    table = np.zeros((n_groups, n_groups))
    np.add.at(table, (groups[:, None], groups), joint)
    return joint, groups, table


def dependence_from_table(joint, groups, table, *, special=0.0):
    shares = [joint.sum(axis=1), joint.sum(axis=0)]
    shares = [np.append(s * (1 - special), special) for s in shares]
    counts = [BinCounts(N * s, np.ones(len(s)), 1, True) for s in shares]
    if special:
        table = np.pad(table, (0, 1)) * (1 - special)
        table[-1, -1] = special
    of_bins = np.append(groups, groups[-1] + bool(special))
    tables = PairTables((of_bins, of_bins), ((0, 1),), (N * table,), 5.0)
    upper = np.arange(len(of_bins)) >= len(of_bins) // 2
    pairs = PairSums((upper, upper), np.zeros(1), 5.0, np.array([0.4]), tables)
    order = [np.arange(len(s)) for s in shares]
    return dependence_of(pairs, counts, order, shares, N, 4096)


def means_by_bin(bins, n_bins):
    n = np.bincount(bins[:, 0], minlength=n_bins)
    return (np.bincount(bins[:, 0], bins[:, 1], minlength=n_bins) / np.maximum(n, 1))[:n_bins]


def test_dependence_along_a_curve_is_not_a_staircase():
    joint, groups, table = along_a_curve(48, 6)
    true = joint @ np.arange(48) / joint.sum(axis=1)
    found = dependence_from_table(joint, groups, table)
    bins = found.population.bins
    smooth = means_by_bin(bins, 48)
    stairs = np.array([true[groups == g].mean() for g in range(6)])[groups]
    assert np.sqrt(np.mean((smooth - true) ** 2)) < np.sqrt(np.mean((stairs - true) ** 2)) / 2
    for k, share in enumerate([joint.sum(axis=1), joint.sum(axis=0)]):
        np.testing.assert_allclose(np.bincount(bins[:, k], minlength=48) / 4096, share, atol=5e-4)


@pytest.mark.parametrize("special", [1e-3, 1.0 - 1e-3, 1.0 - 1e-7, 1.0])
def test_a_feature_may_be_missing_for_nearly_everybody(special):
    share, groups = np.append(np.full(4, (1 - special) / 4), special), np.array([0, 0, 1, 1, 2])
    shares = [share, np.full(4, 0.25)]
    counts = [
        BinCounts(N * shares[0], np.ones(5), 1, True),
        BinCounts(N * shares[1], np.ones(4), 0, True),
    ]
    table = N * np.outer(np.bincount(groups, share), [0.5, 0.5])
    tables = PairTables((groups, groups[:4]), ((0, 1),), (table,), 5.0)
    upper = (groups > 1, groups[:4] > 0)
    pairs = PairSums(upper, np.zeros(1), 5.0, np.array([0.4]), tables)
    order = [np.arange(5), np.arange(4)]
    found = dependence_of(pairs, counts, order, shares, N, 1024).population.bins
    for bins, own in zip(found.T, shares, strict=True):
        np.testing.assert_allclose(np.bincount(bins, minlength=len(own)) / 1024, own, atol=1e-3)


def test_the_table_of_a_population_stays_close_to_the_released_one():
    joint, groups, table = along_a_curve(48, 6)
    bins = dependence_from_table(joint, groups, table).population.bins
    seen = np.zeros_like(table)
    np.add.at(seen, (groups[bins[:, 0]], groups[bins[:, 1]]), 1 / 4096)
    assert np.abs(seen - table).sum() / 2 < 0.1
    alone = np.outer(table.sum(axis=1), table.sum(axis=0))
    assert np.abs(alone - table).sum() / 2 > 0.4


def test_points_with_a_missing_value_keep_the_share_that_the_table_states():
    joint, groups, table = along_a_curve(48, 6)
    bins = dependence_from_table(joint, groups, table, special=0.25).population.bins
    missing = bins == 48
    np.testing.assert_array_equal(missing[:, 0], missing[:, 1])
    assert missing[:, 0].mean() == pytest.approx(0.25, abs=1e-3)


def test_groups_of_one_bin_hide_no_dependence():
    share = np.full(12, 1 / 12)
    alone = runs_of(np.arange(12), share, np.arange(12), 12)
    together = runs_of(np.arange(12), share, np.arange(12) // 4, 12)
    whole = runs_of(np.arange(12), share, np.zeros(12, dtype=np.intp), 12)
    assert alone.within == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < together.within < whole.within < 1.0
    draws = np.random.default_rng(0).standard_normal(200_000)
    of_bin = np.argsort(np.argsort(draws)) * 12 // len(draws)
    means = np.array([draws[of_bin == b].mean() for b in range(12)])
    assert whole.within == pytest.approx(means.var(), abs=0.01)
    assert together.within == pytest.approx(means.reshape(3, 4).var(axis=1).mean(), abs=0.01)


@pytest.mark.parametrize("other_form", [False, True])
def test_doubt_grows_only_with_dependence_that_the_copula_does_not_show(other_form):
    joint, groups, table = along_a_curve(48, 6)
    share = joint.sum(axis=1)
    order = np.arange(48)
    runs = tuple(runs_of(order, s, groups, 48) for s in (share, joint.sum(axis=0)))
    (cells,) = copula_cells(*runs, np.array([0.1]))
    ratios = table / cells if other_form else np.ones_like(table)
    tables = PairTables((groups, groups), ((0, 1),), (N * table,), 5.0)
    found = EstimatedTables(tables, runs, (ratios,), (np.zeros_like(table),))
    within = found.within_groups(np.array([0.1]))
    assert within[0, 1] == within[1, 0]
    assert (np.diag(within) == 0.0).all()
    if other_form:
        assert 0.01 < within[0, 1] < runs[0].within + runs[1].within
    else:
        assert within[0, 1] == pytest.approx(0.0, abs=1e-6)


def test_means_may_be_wrong_by_a_part_of_what_they_do_not_explain():
    joint, groups, table = along_a_curve(48, 6)
    found = dependence_from_table(joint, groups, table)
    bins = found.population.bins
    curves = np.concatenate([np.linspace(-1.0, 1.0, 49), np.linspace(-2.0, 1.0, 49)])
    errors = dict(errors_within_groups(found.population, curves, found.within))
    assert set(errors) == {0, 1}
    for feature, error in errors.items():
        other = np.split(curves, 2)[1 - feature][bins[:, 1 - feature]]
        mean = np.array(
            [
                other[bins[:, feature] == b].mean() if (bins[:, feature] == b).any() else np.nan
                for b in range(49)
            ]
        )
        left = (other - mean[bins[:, feature]]).var()
        assert (error[bins[:, feature]] ** 2).mean() == pytest.approx(found.within[0, 1] * left)
        there = np.isfinite(mean)
        scale = np.sqrt(found.within[0, 1] * left / (mean[bins[:, feature]] - other.mean()).var())
        np.testing.assert_allclose(error[there], scale * (mean[there] - other.mean()), atol=1e-12)
        assert (error[~there] == 0.0).all()


def test_no_mean_is_wrong_where_tables_hide_nothing():
    joint, groups, table = along_a_curve(48, 6)
    found = dependence_from_table(joint, groups, table)
    assert not list(errors_within_groups(found.population, np.ones(98), np.zeros((2, 2))))
