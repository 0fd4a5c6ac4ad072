"""Looks at candidate pairs: the mean of both, what they cost, and the level of the test."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import joint_budget
from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.fit import n_leaf_releases, set_aside
from dpexplain.models.boosting.pair_terms import choice, evidence, grids
from dpexplain.models.boosting.pair_terms.contrasts import UNIT, contrasts
from dpexplain.models.boosting.pair_terms.looks import Look
from dpexplain.models.boosting.recipe import Schedule


@given(noise=st.tuples(st.floats(0.1, 9.0), st.floats(0.1, 9.0)), seed=st.integers(0, 99))
def test_two_looks_are_weighted_by_their_precision(noise, seed):
    rng = np.random.default_rng(seed)
    parts = [tuple(rng.normal(0, 1, n) for n in (3, 5)) for _ in noise]
    first, second = (Look(part, std) for part, std in zip(parts, noise, strict=True))
    both = first.with_another(second)
    weight = np.array(noise) ** -2.0
    assert both.noise_std == pytest.approx(weight.sum() ** -0.5)
    for k, own in enumerate(both.of_pairs):
        expected = (weight[0] * parts[0][k] + weight[1] * parts[1][k]) / weight.sum()
        np.testing.assert_allclose(own, expected)


@pytest.mark.parametrize("may_add", [True, False])
@given(
    n_epochs=st.integers(3, 200), n_features=st.integers(2, 40), clip=st.sampled_from([None, 0.9])
)
def test_every_way_through_the_choice_spends_the_same_budget(may_add, n_epochs, n_features, clip):
    plan = Schedule(n_epochs, 3, 0.1, 1.0, clip_quantile=clip)
    shares = {"choice_share": 0.05, "second_share": 0.1, "grid_share": 0.3}
    budget = Budget(joint_budget(1.0, 1e-6, 0.1), 1.0, 1.0, 1.0, **shares)
    aside = set_aside(plan, budget, n_features, may_add=may_add)
    made = [aside.plan, aside.looked, aside.curves]
    assert 1 <= aside.curves.n_epochs < aside.looked.n_epochs < aside.plan.n_epochs
    assert plan == (aside.looked if may_add else aside.plan)
    n = [n_leaf_releases(each, n_features) for each in made]
    of_passes = np.array(n) / budget.leaf_multiplier(n[0]) ** 2
    looks = np.array([0.0, aside.second_look, aside.second_look + aside.grids.squared_mu])
    total = of_passes + looks + budget.choice_squared_mu
    np.testing.assert_allclose(total, budget.split.mu_train**2, rtol=1e-12)


@pytest.mark.full
def test_two_looks_keep_the_level_although_the_first_one_selects():
    """Without interactions, the smallest p-value is rarely below the level."""
    rng, level, n_runs = np.random.default_rng(5), 0.2, 1000
    counts = [BinCounts(rng.uniform(20, 100, 10), np.ones(10), 0, True) for _ in range(4)]
    sides = [grids.side_of(k, c, np.arange(10.0), 4) for k, c in enumerate(counts)]
    candidates = [grids.Grid(pair, 4) for pair in combinations(sides, 2)]
    rows = [contrasts(grid) / UNIT for grid in candidates]
    n_wrong = 0

    def p_values(look, kept):
        log_p = []
        for k, sums in zip(kept, look.of_pairs, strict=True):
            sampling = (rows[k] * 30.0 * candidates[k].weight) @ rows[k].T
            variance = look.noise_std**2 * np.eye(len(sums)) + sampling
            log_p.append(evidence.log_p_value(candidates[k], sums, rows[k], variance))
        return np.array(log_p)

    def look_at(kept, noise):
        return Look(tuple(exact[k] + rng.normal(0, noise, len(exact[k])) for k in kept), noise)

    for _ in range(n_runs):
        cells = [np.sqrt(30.0 * g.weight) * rng.normal(0, 1, g.n_cells) for g in candidates]
        exact = [row @ cell for row, cell in zip(rows, cells, strict=True)]
        first = look_at(range(6), 2.0)
        kept = np.argsort(p_values(first, range(6)))[:3]
        both = first.of(kept).with_another(look_at(kept, 1.0))
        n_wrong += p_values(both, kept).min() < np.log(level / len(candidates))
    # Five standard errors of a share fail once in millions of runs.
    assert n_wrong / n_runs < level + 5 * np.sqrt(level * (1 - level) / n_runs)
    assert n_wrong / n_runs > level / 4  # the test is not empty


@given(n=st.integers(0, 9), most=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_first_look_counts_the_best_pairs_that_noise_rarely_shows(n, most, seed):
    rng = np.random.default_rng(seed)
    found = [choice._Candidate(-rng.exponential(3.0), (0, k), k, None, None) for k in range(n)]
    gains = {one.place: float(rng.uniform()) for one in found}

    class OfPlaces(choice._Tests):
        def falls(self, some, n_fitted):
            assert n_fitted == most
            return [gains[one.place] for one in some]

    tests = OfPlaces(found, *[None] * 7, most, None)
    near = sorted(gains[one.place] for one in found if np.exp(one.log_p) < 1 / n)
    assert tests.could_gain(found) == pytest.approx(sum(near[::-1][:most]))
