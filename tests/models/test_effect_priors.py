"""Priors of the estimated effects: jumps, curved dependence and correlations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpexplain.binning import FeatureBins
from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.uncertainty.effects.basis import (
    _axes,
    _ordered,
    basis_of_term,
    projected,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.doubt import unclear_dependence
from dpexplain.models.boosting.uncertainty.effects.dependence.pair_correlations import correlations
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population
from dpexplain.models.boosting.uncertainty.effects.jumps import (
    Jumps,
    JumpSearch,
    given_no_height,
    likely_jumps,
    possible_jumps,
    probabilities,
)
from dpexplain.models.boosting.uncertainty.effects.posterior import (
    Information,
    Posterior,
    curved_dependence,
    posterior,
)
from dpexplain.schema import Numeric

pytestmark = pytest.mark.full


def random_search(seed, strength=0.3):
    """Return a search over two terms with three coefficients each, and its parts."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 8))
    known = Information(strength * rows.T @ rows, strength * rng.normal(size=8))
    possible = [
        Jumps(slice(first, first + 3), rng.normal(size=(3, n)), rng.normal(size=(5, n)), 0.8)
        for first, n in ((1, 4), (4, 2))
    ]
    given_ = ([3, 3], np.array([0.1]), np.array([0.5]), np.ones(2), 0.7, np.ones(2))
    return JumpSearch(known, possible, *given_), known, possible, given_


def brute_force(known, scales, extra):
    """Return log marginal likelihood, mean and covariance for a prior with one more direction."""
    prior = np.diag([1e4, *np.repeat(scales**2, 3), 0.25]) + extra
    before = np.array([0.0] * 7 + [0.1])
    inverse = np.linalg.inv(prior)
    covariance = np.linalg.inv(known.precision + inverse)
    mean = covariance @ (known.pull + inverse @ before)
    # The posterior density at its mean gives the marginal likelihood.
    off = mean - before
    fit = known.pull @ mean - 0.5 * mean @ known.precision @ mean
    size = 0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * np.linalg.slogdet(prior)[1]
    return fit - 0.5 * off @ inverse @ off + size, mean, covariance


@given(seed=st.integers(0, 2**16))
@settings(max_examples=30, deadline=None)
def test_every_possible_jump_has_the_posterior_of_a_prior_with_its_direction(seed):
    search, known, possible, _ = random_search(seed)
    scales = search.after.scales
    base = brute_force(known, scales, 0.0)
    np.testing.assert_allclose(search.after.mean, base[1], rtol=1e-6, atol=1e-9)
    for k, jumps in enumerate(possible):
        weight, height, variance, move = search._weights(k, search.after)
        odds = []
        for c in range(jumps.number):
            u = np.zeros(8)
            u[jumps.block] = jumps.coefficients[:, c]
            one = brute_force(known, scales, 0.64 * np.outer(u, u))
            odds.append(0.5 / jumps.number * np.exp(one[0] - base[0]))
            np.testing.assert_allclose(
                base[1] + height[c] * move[:, c], one[1], rtol=1e-6, atol=1e-8
            )
            np.testing.assert_allclose(
                base[2] + variance[c] * np.outer(move[:, c], move[:, c]),
                one[2], rtol=1e-6, atol=1e-8,
            )  # fmt: skip
        np.testing.assert_allclose(weight, np.array(odds) / (1.0 + sum(odds)), rtol=1e-6)


def test_without_a_likely_jump_the_result_is_the_mixture_of_all():
    search, _, possible, _ = random_search(1, strength=0.01)
    found = search.result()
    assert not search._chosen
    mean, covariance = search.after.mean.copy(), search.after.covariance.copy()
    for k in range(2):
        _, height, variance, move = search._weights(k, search.after)
        weight = probabilities(search._odds[k])
        each = move * height
        middle = each @ weight
        parts = [w * (v * np.outer(m, m) + np.outer(e - middle, e - middle))
                 for w, v, m, e in zip(weight, variance, move.T, each.T, strict=True)]  # fmt: skip
        covariance += sum(parts) + (1.0 - weight.sum()) * np.outer(middle, middle)
        mean += middle
        beyond = possible[k].left * height
        np.testing.assert_allclose(found.left[k], beyond @ weight)
        assert (found.left_moves[k] ** 2).sum() > 0.0
    np.testing.assert_allclose(found.after.mean, mean)
    np.testing.assert_allclose(found.after.covariance + found.moves.T @ found.moves, covariance)


@given(seed=st.integers(0, 2**16))
@settings(max_examples=20, deadline=None)
def test_odds_of_a_jump_are_averaged_over_the_smoothness_of_the_rest(seed):
    rng = np.random.default_rng(seed)
    rows, u = rng.normal(size=(9, 3)), rng.normal(size=(3, 4))
    known = Information(rows.T @ rows, rng.normal(size=3))
    found, odds = likely_jumps(known, Jumps(slice(0, 3), u, u, 0.8), 0.6)

    def evidence(chosen):
        each = []
        for smoother in (1.0, 0.7, 0.5, 0.35, 0.25, 0.18):
            prior = (0.6 * smoother) ** 2 * np.eye(3) + 0.64 * u[:, chosen] @ u[:, chosen].T
            covariance = np.linalg.inv(known.precision + np.linalg.inv(prior))
            size = np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(prior)[1]
            each.append(0.5 * known.pull @ covariance @ known.pull + 0.5 * size)
        return np.log(np.mean(np.exp(each)))

    wanted = [evidence([*found, c]) - evidence(found) + np.log(0.5 / 4) for c in range(4)]
    np.testing.assert_allclose(odds, wanted, rtol=1e-6, atol=1e-8)
    for n in range(len(found)):
        before = [evidence([*found[:n], c]) - evidence(found[:n]) for c in range(4)]
        assert int(np.argmax(before)) == found[n]
        assert np.exp(before).sum() * 0.5 / 4 > 1.0
    assert len(found) == 4 or np.exp(odds).sum() <= 1.0


def test_a_height_of_zero_gives_the_posterior_without_this_parameter():
    _, known, _, given_ = random_search(2)
    after = posterior(known, *given_)
    rest = given_no_height(after, 7)
    inverse = np.linalg.inv(after.covariance)[:7, :7]
    np.testing.assert_allclose(rest.covariance[:7, :7], np.linalg.inv(inverse), rtol=1e-8)
    assert rest.mean[7] == 0.0
    assert np.abs(rest.covariance[7]).max() < 1e-12


@pytest.mark.parametrize("height", [0.0, 1.5])
def test_a_step_is_found_where_it_is_and_a_straight_line_has_none(height):
    """The sums are taken to reveal each bin of a term with a standard deviation of 0.1."""
    n, rng = 40, np.random.default_rng(0)
    share = np.append(np.full(n, 1.0 / n), 0.0)
    basis = basis_of_edges(np.linspace(0.0, 1.0, n + 1), share)
    place = (np.arange(n) + 0.5) / n
    curve = np.append(0.8 * (place - 0.5) + height * (place > 0.6), 0.0)
    curve[:n] -= curve[:n].mean()
    seen = curve + 0.1 * rng.normal(size=n + 1)
    design = np.column_stack([np.ones(n), basis.functions[:n]]) / 0.1
    known = Information(design.T @ design, design.T @ (seen[:n] / 0.1))
    d = basis.functions.shape[1]
    possible = [possible_jumps(basis, n, ordered=True, block=slice(1, 1 + d), std=0.7)]
    none = np.zeros(0)
    search = JumpSearch(known, possible, [d], none, none, np.array([0.7]), 0.7, np.ones(1))
    found = search.result()
    assert [c for _, c in search._chosen] == ([23] if height else [])
    jumping = basis.functions @ found.after.mean[1:] + found.left[0]
    if height:
        plain = posterior(known, [d], none, none, np.array([0.7]), 0.7, np.ones(1))
        rounded = basis.functions @ plain.mean[1:]
        at = slice(22, 26)
        assert np.abs(jumping - curve)[at].max() < 0.5 * np.abs(rounded - curve)[at].max()


def basis_of_edges(edges, share):
    counts = BinCounts(1e4 * share, np.ones(len(share)), 1, True)
    return basis_of_term(FeatureBins("x", Numeric(0, 1), edges=edges), counts, 1)


def test_unordered_terms_and_two_bins_have_no_jumps():
    share = np.array([0.5, 0.5, 0.0])
    basis = basis_of_edges(np.array([0.0, 0.5, 1.0]), share)
    assert possible_jumps(basis, 2, ordered=True, block=slice(1, 2), std=1.0).number == 0
    assert possible_jumps(basis, 2, ordered=False, block=slice(1, 2), std=1.0).number == 0


def test_a_curve_may_change_more_if_the_values_of_few_records_are_far_apart():
    """The first bin has 0.1% of the records, and all others the same number of them."""
    n = 41
    share = np.append(np.append(0.001, np.full(n - 1, 0.999 / (n - 1))), 0.0)
    inner = np.linspace(0.5, 1.0, n)
    changes = []
    for low in (0.0, 0.475):
        basis = basis_of_edges(np.append(low, inner), share)
        apart = basis.functions[1] - basis.functions[0]
        changes.append(apart @ apart + basis.left_out[0] + basis.left_out[1])
    # The ratio is 21. On the axis halfway between values and ranks alone, it would be 4.8.
    assert changes[0] > 10.0 * changes[1]


def test_an_ordered_bin_without_records_continues_the_curve():
    """The estimate there is the expected value, given the other bins, under the prior."""
    edges = np.array([0.0, 1.0, 2.0, 3.5, 4.0, 9.0])
    share = np.array([0.3, 0.3, 0.0, 0.4, 0.0, 0.0])
    basis = basis_of_edges(edges, share)
    seen, empty = share > 0.0, np.array([False, False, True, False, True, False])
    curve = np.array([-1.0, 0.2, 0.0, 0.6, 0.0, 0.0])
    curve[seen] -= share[seen] @ curve[seen]
    found = basis.functions @ projected(basis, curve)
    np.testing.assert_allclose(found[seen], curve[seen], atol=1e-4)
    axes = _axes(edges, share[:5])
    prior = np.mean([_ordered(x) for x in axes], axis=0)
    centering = np.eye(5) - share[:5]
    prior = centering @ prior @ centering.T
    prior /= share[:5] @ np.diag(prior)
    weights = prior[np.ix_(empty[:5], seen[:5])] @ np.linalg.pinv(prior[np.ix_(seen[:5], seen[:5])])
    np.testing.assert_allclose(found[empty], weights @ curve[seen], atol=1e-3)
    open_ = (
        prior
        - prior[:, seen[:5]] @ np.linalg.pinv(prior[np.ix_(seen[:5], seen[:5])]) @ prior[seen[:5]]
    )
    np.testing.assert_allclose(basis.left_out[:5][empty[:5]], np.diag(open_)[empty[:5]], atol=1e-3)
    assert basis.left_out[5] == 1.0
    assert not basis.functions[5].any()


# Curved dependence.


@pytest.mark.parametrize("ordered", [True, False])
def test_a_bin_that_holds_everyone_has_no_uncertain_effect(ordered):
    counts = BinCounts(np.array([-20.0, 1e4, 9.0, -4.0]), np.full(4, 600.0), 2, ordered)
    basis = basis_of_term(FeatureBins("x", Numeric(0, 1), edges=np.arange(3.0)), counts, 1)
    assert basis.shares.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert not basis.functions.any()
    assert basis.left_out.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_curved_dependence_leaves_each_feature_as_it_is():
    shares = [np.full(16, 1 / 16)] * 3
    population = Population([np.arange(16)] * 3, shares, 2048, np.zeros(3))
    population.draw(np.array([0.6, 0.0, -0.3]))
    found = population.curved_functions(np.array([0, 2]))
    assert found.shape == (2048, 6)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(found.std(axis=0), 1.0)
    for columns, pair in ((found[:, :3], (0, 1)), (found[:, 3:], (1, 2))):
        for k in pair:
            z = population.scores[:, k]
            np.testing.assert_allclose(columns.T @ np.c_[z, z**2, z**3] / 2048, 0.0, atol=1e-8)
    assert population.curved_functions(np.zeros(0, dtype=np.intp)).shape == (2048, 0)


def dependence(rng, size):
    """Test for dependence on three curves, of which the first may exist."""
    slopes = rng.normal(size=(60, 7))
    missing = rng.normal(size=60) + size * slopes[:, 4]
    known = Information(slopes.T @ slopes, slopes.T @ missing)
    precision = known.precision[:4, :4] + 1e-9 * np.eye(4)
    covariance = np.linalg.inv(precision)
    after = Posterior(covariance @ known.pull[:4], covariance, np.ones(1), np.zeros(4))
    return curved_dependence(known, after, np.eye(4), 3)


def test_dependence_is_found_as_often_as_stated():
    rng = np.random.default_rng(0)
    fits = np.array([dependence(rng, 0.0).chance.min() for _ in range(1_000)])
    # Corrected for three directions: at most 5%, and nearly that for independent directions.
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], 1_000, [0.035, 0.05])
    assert low <= (fits < 0.05).sum() <= high
    assert dependence(rng, 2.0).chance.min() < 1e-8


def test_the_strength_of_dependence_is_estimated_without_bias_and_bounded():
    rng = np.random.default_rng(1)
    found = [dependence(rng, 0.7) for _ in range(500)]
    strength = np.mean([each.strength[0, 0] for each in found])
    assert strength == pytest.approx(0.49, abs=0.04)
    beyond = sum((each.least > [[0.49, 0.0, 0.0]]).any() for each in found)
    assert beyond <= stats.binom.ppf(1 - 1e-6, 500, 0.1)  # 5% on either side
    assert all((each.least <= each.strength).all() for each in found)
    assert min(each.chance.min() for each in found) >= 0.0


def test_without_any_direction_nothing_contradicts():
    after = Posterior(np.zeros(2), np.eye(2), np.ones(1), np.zeros(2))
    found = curved_dependence(Information(np.eye(2), np.ones(2)), after, np.eye(2), 3)
    assert found.chance.shape == found.strength.shape == found.least.shape == (0, 3)
    assert found.moves.shape == (2, 0, 3)


def test_estimates_move_as_far_as_dependence_that_was_left_out_moves_them():
    rng = np.random.default_rng(2)
    slopes = rng.normal(size=(60, 5))
    missing = 0.7 * slopes[:, 4]  # without noise
    known = Information(slopes.T @ slopes, slopes.T @ missing)
    covariance = np.linalg.inv(known.precision[:4, :4])
    after = Posterior(covariance @ known.pull[:4], covariance, np.ones(1), np.zeros(4))
    found = curved_dependence(known, after, np.eye(4), 1)
    np.testing.assert_allclose(found.moves[:, 0, 0], after.mean, rtol=1e-9)


LARGE, SMALL = 1.5, 0.5


@pytest.mark.parametrize(
    ("correlation", "largest", "expected"),
    [
        (-0.4, LARGE, (1, 0, None)),
        (0.25, LARGE, (None,) * 3),  # hardly related
        (0.9, SMALL, (None,) * 3),  # hardly visible
    ],
)
def test_dependence_is_unclear_if_features_are_correlated(correlation, largest, expected):
    matrix = np.eye(3)
    matrix[0, 1] = matrix[1, 0] = correlation
    assert unclear_dependence(np.zeros((3, 3)), matrix, np.full(3, largest)) == expected


def test_the_feature_that_could_move_a_curve_most_is_named():
    moved = np.array([[0.0, 0.4, 0.6], [0.1, 0.0, 0.2], [0.7, 0.9, 0.0]])
    matrix = np.full((3, 3), 0.8) + 0.2 * np.eye(3)
    matrix[1, 2] = matrix[2, 1] = 0.5
    assert unclear_dependence(moved, np.eye(3), np.full(3, LARGE)) == (2, None, 1)
    assert unclear_dependence(moved, matrix, np.full(3, LARGE)) == (2, 0, 1)


# Correlations.


def pair_sums(rng, true, noise_std, n):
    """Return released sums for features of 10 equal bins, all pairs, and their counts."""
    n_features = 8
    counts = [BinCounts(np.append(np.full(10, n / 10.0), 0.0), np.ones(11), 1, True)] * n_features
    upper = (np.arange(11) >= 5,) * n_features
    alike = 2.0 / np.pi * np.arcsin(true)
    noise = np.hypot(noise_std, np.sqrt(n)) * rng.normal(size=len(true))
    return PairSums(sums=n * alike + noise, noise_std=noise_std, upper=upper), counts


def test_correlations_near_zero_are_learned_from_all_pairs():
    """Without the independent pairs, the error would be that of the sums, about 0.03."""
    rng, n = np.random.default_rng(0), 10_000
    true = np.zeros(28)
    true[[0, 13]] = 0.9, -0.5
    errors, strong, hits = [], [], 0
    for _ in range(20):
        mean, std = correlations(*pair_sums(rng, true, 150.0, n), n)
        errors.append(mean[true == 0.0])
        strong.append(mean[true != 0.0])
        hits += np.sum(np.abs(mean - true) <= 3.0 * std)
    assert np.sqrt(np.mean(np.square(errors))) < 0.015
    np.testing.assert_allclose(np.mean(strong, axis=0), [0.9, -0.5], atol=0.03)
    assert hits >= stats.binom.ppf(1e-6, 20 * 28, 0.99)
