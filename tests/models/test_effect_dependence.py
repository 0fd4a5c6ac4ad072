"""How features depend on each other: what is released, and what is estimated from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import upper_half
from dpexplain.models.boosting.pairs import pair_sums
from dpexplain.models.boosting.records.binned import LOGISTIC, Records
from dpexplain.models.boosting.records.chunked import ChunkedRecords
from dpexplain.models.boosting.records.threads import Team
from dpexplain.models.boosting.uncertainty.effects.dependence import doubt
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import both_below
from dpexplain.models.boosting.uncertainty.effects.dependence.pair_correlations import (
    correlations,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population

pytestmark = pytest.mark.full


@pytest.mark.parametrize("others", [[], np.linspace(-0.99, 0.99, 40)], ids=["alone", "many"])
@pytest.mark.parametrize("correlation", [-0.95, -0.3, 0.0, 0.6, 0.95])
def test_the_chance_of_being_below_both_is_that_of_scipy(correlation, others):
    a, b = np.array([-1.2, 0.0, 0.7, 2.5]), np.array([0.3, 0.0, -1.5, 1.0])
    normal = stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    expected = normal.cdf(np.column_stack([a, b]))
    found = both_below(a, b, np.append(others, correlation))[-1]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_correlations_come_back_from_exact_sums_of_pairs():
    rng = np.random.default_rng(0)
    n, true = 400_000, 0.7
    z = rng.multivariate_normal([0, 0], [[1, true], [true, 1]], n)
    bins = [np.minimum((stats.norm.cdf(z[:, k]) * 10).astype(np.uint8), 9) for k in range(2)]
    counts = [_counts(np.bincount(b, minlength=10)) for b in bins]
    upper = tuple(upper_half(c, np.zeros(11)) for c in counts)
    records = Records(bins, [11, 11], np.zeros(n, np.float32), LOGISTIC)
    sums = pair_sums(records, upper).astype(np.float64)
    mean, std = correlations(_pairs(upper, sums, 1.0), counts, n)
    # The sum has standard deviation sqrt(n) at most, and the correlation moves it by 0.89 n.
    assert abs(mean[0] - true) < 5.0 / np.sqrt(n) + 0.005
    assert std[0] < 0.01


def test_correlations_are_the_prior_where_nothing_was_bought():
    counts = [_counts(np.full(4, 10.0))] * 3
    mean, std = correlations(None, counts, 40.0)
    np.testing.assert_array_equal(mean, np.zeros(3))
    assert (std > 0.3).all()


def _counts(people):
    people = np.append(np.asarray(people, dtype=np.float64), 0.0)
    return BinCounts(people, np.ones(len(people)), 1, True)


def _pairs(upper, sums, std):
    from dpexplain.models.boosting.pairs import PairSums

    return PairSums(upper, sums, std)


def test_halves_are_cut_by_value_and_categories_by_their_curve():
    ordered = _counts([10, 10, 10, 10])
    np.testing.assert_array_equal(upper_half(ordered, np.zeros(5))[:4], [False, False, True, True])
    free = BinCounts(ordered.counts, ordered.variance, 1, False)
    upper = upper_half(free, np.array([3.0, -1.0, 2.0, -2.0, 0.0]))
    np.testing.assert_array_equal(upper[:4], [True, False, True, False])


@pytest.mark.parametrize("n", [0, 1, 7, 65_536, 65_537, 140_000])
def test_sums_of_pairs_are_those_of_a_loop_however_records_are_held(n):
    rng = np.random.default_rng(n)
    sizes = [5, 3, 9]
    bins = [rng.integers(0, b, n).astype(np.uint8) for b in sizes]
    upper = tuple(rng.random(b) < 0.5 for b in sizes)
    target = np.zeros(n, np.float32)
    same = [
        int((upper[i][bins[i]] == upper[j][bins[j]]).sum()) for i, j in [(0, 1), (0, 2), (1, 2)]
    ]
    expected = np.array([2 * k - n for k in same])
    whole = Records(bins, sizes, target, LOGISTIC)
    cut = n // 3
    halves = ChunkedRecords([whole.rows(0, cut), whole.rows(cut, n)])
    np.testing.assert_array_equal(pair_sums(whole, upper), expected)
    np.testing.assert_array_equal(pair_sums(halves, upper), expected)
    team = Team(2)
    try:
        np.testing.assert_array_equal(pair_sums(team.sharing(whole, len(whole)), upper), expected)
    finally:
        team.close()


def test_a_population_has_the_counts_and_the_correlations_it_is_given():
    shares = [np.array([0.25, 0.5, 0.25]), np.full(8, 0.125), np.array([0.5, 0.5])]
    order = [np.arange(3), np.arange(8), np.array([1, 0])]
    population = Population(order, shares, 4096, np.zeros(3))
    population.draw(np.array([0.8, 0.0, -0.5]))
    for k, share in enumerate(shares):
        found = np.bincount(population.bins[:, k]) / population.n_records
        np.testing.assert_allclose(found, share, atol=2 / population.n_records)
    seen = np.corrcoef(population.scores.T)
    # 4,096 even points: an eighth of what as many random ones would be off by is plenty.
    np.testing.assert_allclose(seen[np.triu_indices(3, 1)], [0.8, 0.0, -0.5], atol=0.02)


def test_means_may_be_wrong_for_three_unordered_categories_if_nothing_was_released():
    ordered, two, three = (
        _counts(np.ones(5)),
        *(BinCounts(np.ones(n + 1), np.ones(n + 1), 1, False) for n in (2, 3)),
    )
    found = doubt.doubts(None, None, [ordered, two, three], np.zeros((8, 3), dtype=np.int64), 8.0)
    expected = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    np.testing.assert_allclose(found, doubt.UNKNOWN**2 * np.array(expected))


def test_impossible_correlations_are_moved_to_possible_ones():
    population = Population([np.arange(2)] * 3, [np.full(2, 0.5)] * 3, 256, np.zeros(3))
    population.draw(np.array([0.95, 0.95, -0.95]))
    assert np.linalg.eigvalsh(population.matrix)[0] > 0
    np.testing.assert_allclose(np.diag(population.matrix), 1.0)
