"""Tables of pairs: which are released, what they count, and how a population agrees with them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, DPExplainableBoostingClassifier, Numeric, Schema
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import groups_of_bins
from dpexplain.models.boosting.pair_tables.joint_counts import PairTables
from dpexplain.models.boosting.pair_tables.mixtures import learned_weights
from dpexplain.models.boosting.pair_tables.strongest import spanning_pairs, strengths
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.records.binned import LOGISTIC, Records
from dpexplain.models.boosting.records.chunked import ChunkedRecords
from dpexplain.models.boosting.records.threads import Team
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import (
    as_correlation,
    copula_cells,
    runs_of,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.estimated_tables import (
    agreeing,
    in_order,
    largest_square,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.joint import dependence_of


def counts_of(people, *, ordered=True):
    people = np.append(np.asarray(people, dtype=np.float64), 0.0)
    return BinCounts(people, np.ones(len(people)), 1, ordered)


@pytest.mark.parametrize("n", [0, 1, 7, 20_000])
def test_joint_counts_are_those_of_a_loop_however_records_are_held(n):
    rng = np.random.default_rng(n)
    sizes, pairs = [5, 3, 300], [(0, 1), (2, 0)]
    bins = [rng.integers(0, b, n).astype(np.uint16 if b > 256 else np.uint8) for b in sizes]
    groups = [np.arange(b) % 3 for b in sizes]
    expected = [np.zeros((3, 3), dtype=np.int64) for _ in pairs]
    for table, (i, j) in zip(expected, pairs, strict=True):
        np.add.at(table, (groups[i][bins[i]], groups[j][bins[j]]), 1)
    flat = np.concatenate([table.ravel() for table in expected])
    whole = Records(bins, sizes, np.zeros(n, np.float32), LOGISTIC)
    halves = ChunkedRecords([whole.rows(0, n // 3), whole.rows(n // 3, n)])
    np.testing.assert_array_equal(whole.joint_counts(groups, pairs), flat)
    np.testing.assert_array_equal(halves.joint_counts(groups, pairs), flat)
    team = Team(2)
    try:
        held = team.sharing(whole, len(whole))
        np.testing.assert_array_equal(held.joint_counts(groups, pairs), flat)
    finally:
        team.close()


def test_groups_join_neighbors_and_rare_categories():
    ordered = groups_of_bins(counts_of([10, 10, 10, 10, 20, 20]), 4)
    assert ordered.tolist() == [0, 0, 1, 1, 2, 3, 3]  # the last one is special and empty
    missing = BinCounts(np.array([10.0, 10.0, 50.0]), np.ones(3), 1, True)
    assert groups_of_bins(missing, 4).max() == 2
    names = groups_of_bins(counts_of([5, 30, 1, 20, 2], ordered=False), 3)
    assert names.tolist() == [2, 0, 2, 1, 2, 2]
    assert groups_of_bins(counts_of([1, 2], ordered=False), 4).tolist() == [0, 1, 2]


@pytest.mark.parametrize("people", [[0.0], [0.0, 0.0], [-5.0, 3.0], [1e300, 1.0]])
@pytest.mark.parametrize("ordered", [False, True])
def test_groups_are_numbered_without_gaps_whatever_the_counts(people, ordered):
    groups = groups_of_bins(counts_of(people, ordered=ordered), 4)
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))


def test_spanning_pairs_form_trees_of_the_strongest():
    pairs = list(combinations(range(5), 2))
    strength = dict.fromkeys(pairs, 0.0) | {(0, 1): 0.5, (1, 2): 0.4, (0, 2): 0.3, (3, 4): 0.2}
    found = spanning_pairs(pairs, np.array(list(strength.values())), 5)
    assert {tuple(sorted(pair)) for pair in found} == {(0, 1), (1, 2), (3, 4)}
    seen = set()
    for first, second in found:
        assert second not in seen
        seen |= {first, second}
    assert len(spanning_pairs(pairs, np.zeros(10), 5)) == 1  # never none


def test_strengths_are_zero_for_what_chance_explains_and_right_for_the_rest():
    distances = np.full(40, 300.0)
    distances[:4] = 8_000.0
    found = strengths(distances, np.full(40, 300.0), 50.0, 10_000.0)
    np.testing.assert_allclose(found[:4], 0.4, rtol=0.1)
    assert (found[4:] < 0.01).all()
    assert np.isfinite(strengths(np.array([1e300]), np.ones(1), 1e-3, 0.0)).all()


def test_learned_weights_fit_all_observations():
    likelihood = np.eye(3)[[0] * 90 + [1] * 10] + 1e-9
    np.testing.assert_allclose(learned_weights(likelihood, np.zeros(3)), [0.9, 0.1, 0.0], atol=1e-3)
    np.testing.assert_allclose(
        learned_weights(likelihood, np.array([0.0, 0.0, 100.0])), [0.45, 0.05, 0.5], atol=1e-3
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_other_weights_are_much_more_likely(seed):
    rng = np.random.default_rng(seed)
    likelihood = np.exp(-0.5 * (rng.normal(0, 2, (60, 1)) - np.linspace(-6, 6, 25)) ** 2)
    added = rng.choice([0.0, 0.2, 3.0], 25)

    def log_likelihood(weights):
        of_weights = added[added > 0.0] @ np.log(weights[added > 0.0])
        return float(np.log(likelihood @ weights).sum() + of_weights)

    best = np.full(25, 1 / 25)
    for _ in range(3000):
        owned = best * likelihood
        best = (owned / owned.sum(axis=1, keepdims=True)).sum(axis=0) + added
        best /= best.sum()
    found = learned_weights(likelihood, added)
    assert found.sum() == pytest.approx(1.0)
    assert log_likelihood(best) - 0.1 < log_likelihood(found) < log_likelihood(best) + 1e-6


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.6])
def test_cells_of_a_copula_have_the_margins_and_the_correlation(correlation):
    order, share = np.array([2, 0, 1, 3]), np.array([0.1, 0.2, 0.3, 0.4])
    first = runs_of(np.arange(6), np.full(6, 1 / 6), np.array([0, 0, 1, 1, 2, 2]))
    second = runs_of(order, share, np.array([0, 1, 0, 1]))
    (cells,) = copula_cells(first, second, np.array([correlation]))
    np.testing.assert_allclose(cells.sum(axis=1), np.full(3, 1 / 3), atol=1e-4)
    np.testing.assert_allclose(cells.sum(axis=0), [0.4, 0.6], atol=1e-4)
    if correlation == 0.0:
        np.testing.assert_allclose(cells, np.outer(cells.sum(axis=1), cells.sum(axis=0)), atol=1e-9)
        alone = np.outer(cells.sum(axis=1), cells.sum(axis=0))
        assert largest_square(cells - alone, alone) < 1e-9


def test_a_distance_is_that_of_a_correlation():
    assert as_correlation(np.array([0.0]), 8)[0] == 0.0
    assert as_correlation(np.array([1.0]), 8)[0] == pytest.approx(0.995)
    sizes = [as_correlation(np.array([x]), n)[0] for n in (2, 8) for x in (0.1, 0.3)]
    assert sizes[0] < sizes[1]
    assert sizes[2] < sizes[3]


def test_fitting_in_turn_keeps_margins_and_odds():
    table = np.array([[4.0, 1.0], [1.0, 4.0]])
    found = agreeing(table, np.array([0.3, 0.7]), np.array([0.6, 0.4]))
    np.testing.assert_allclose(found.sum(axis=1), [0.3, 0.7], atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=0), [0.6, 0.4], atol=1e-6)
    assert found[0, 0] * found[1, 1] / found[0, 1] / found[1, 0] == pytest.approx(16.0)


@pytest.mark.parametrize("seed", range(5))
def test_bins_in_order_are_those_of_a_search_for_each_rank(seed):
    rng = np.random.default_rng(seed)
    order, sizes = rng.permutation(7), rng.integers(0, 50, 4)
    below = np.cumsum(rng.dirichlet(np.ones(7), 4), axis=1)
    expected = [
        order[np.minimum(np.searchsorted(own, (np.arange(n) + 0.5) / n), 6)]
        for own, n in zip(below, sizes, strict=True)
    ]
    np.testing.assert_array_equal(in_order(order, below, sizes), np.concatenate(expected))
    assert (in_order(order, np.full((1, 7), np.nan), np.array([3])) == order[-1]).all()


def test_a_population_agrees_with_tables_of_another_form():
    """The second feature is large at both ends of the first; the third follows the second."""
    shares = [np.full(4, 0.25), np.array([0.5, 0.5]), np.array([0.5, 0.5])]
    along = np.array([[0.02, 0.23], [0.23, 0.02], [0.23, 0.02], [0.02, 0.23]])
    same = np.array([[0.45, 0.05], [0.05, 0.45]])
    n = 100_000.0
    groups = tuple(np.append(np.arange(len(s)), len(s) - 1) for s in shares)
    counts = [counts_of(n * s) for s in shares]
    tables = PairTables(groups, ((0, 1), (1, 2)), (n * along, n * same), 30.0)
    upper = tuple(np.arange(len(s) + 1) >= len(s) // 2 for s in shares)
    sums = n * np.array([0.0, 0.0, 0.8])
    pairs = PairSums(upper, sums, 30.0, np.array([0.42, 0.3, 0.4]), tables)
    order = [np.arange(len(s) + 1) for s in shares]
    found = dependence_of(pairs, counts, order, [np.append(s, 0.0) for s in shares], n, 4096)
    bins = found.population.bins
    for (i, j), table in zip(tables.pairs, (along, same), strict=True):
        seen = np.zeros(table.shape)
        np.add.at(seen, (bins[:, i], bins[:, j]), 1 / len(bins))
        np.testing.assert_allclose(seen, table, atol=0.01)
    assert found.squares[0, 1] == pytest.approx(0.84**2, abs=0.03)
    assert found.squares[0, 2] == 0.0
    assert found.together(found.correlation)[0, 1] >= found.squares[0, 1]
    assert (np.diag(found.doubt) == 0.0).all()


def test_a_fit_releases_tables_of_the_pairs_that_depend_most():
    rng = np.random.default_rng(0)
    n = 6_000
    x, z, w = rng.uniform(0, 1, (3, n))
    kind = np.where(np.abs(x - 0.5) > 0.25, "a", rng.choice(["b", "c"], n))
    X = pd.DataFrame({"x": x, "z": z, "w": w, "kind": kind})
    y = rng.choice(["no", "yes"], n)
    numbers = {name: Numeric(0, 1) for name in ("x", "z", "w")}
    schema = Schema(
        {**numbers, "kind": Categorical(["a", "b", "c"])}, target=Classes(["no", "yes"])
    )
    # Another pair can get a table, too, if its noise is large.
    model = DPExplainableBoostingClassifier(4.0, schema=schema, reproducible_seed=0).fit(X, y)
    pairs = model._fit.pairs
    assert {0, 3} in [set(pair) for pair in pairs.tables.pairs]
    assert pairs.strengths.argmax() == 2  # the pair (0, 3)
    for (i, j), table in zip(pairs.tables.pairs, pairs.tables.counts, strict=True):
        groups = pairs.tables.groups
        assert table.shape == (groups[i].max() + 1, groups[j].max() + 1)
        assert table.sum() == pytest.approx(n, abs=8 * pairs.tables.noise_std * table.size**0.5)
