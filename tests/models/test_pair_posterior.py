"""The posterior of the cells of a pair, the test of a pair, and the candidates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning.counts import BinCounts
from dpexplain.models.additive.pair_tables import Reaction
from dpexplain.models.boosting.pair_terms import (
    choice,
    contrasts,
    evidence,
    grids,
    posterior,
    priors,
)
from dpexplain.models.boosting.pair_terms.levels import Levels
from dpexplain.models.boosting.pair_terms.plan import main_part
from dpexplain.models.boosting.recipe import Schedule
from effort import examples


def make_grid(seed=0, ordered=(True, True), n_groups=5):
    rng = np.random.default_rng(seed)
    sides = []
    for k, has_order in enumerate(ordered):
        people = np.append(rng.uniform(20, 100, 9), rng.choice([0.0, 60.0]))
        counts = BinCounts(people, np.full(10, 1.0), 1, has_order)
        sides.append(grids.side_of(k, counts, rng.normal(0, 1, 10), n_groups))
    return grids.Grid(tuple(sides), 2)


def make_large_grid(seed):
    """Make a grid so large that groups are merged for the prior."""
    rng = np.random.default_rng(seed)
    sides = []
    for k, n_groups in enumerate((24, 13)):
        people = np.append(rng.uniform(20, 100, 40), rng.choice([0.0, 200.0]))
        counts = BinCounts(people, np.full(41, 1.0), 1, True)
        sides.append(grids.side_of(k, counts, rng.normal(0, 1, 41), n_groups))
    return grids.Grid(tuple(sides), 2)


def made_up_sums(grid, seed):
    rng = np.random.default_rng(seed)
    curvature = 200.0 * grid.weight * grid.n_cells * rng.uniform(0.5, 1.5, grid.n_cells)
    mixed = rng.normal(0, 1, (grid.n_cells, grid.n_cells)) / np.sqrt(grid.n_cells)
    errors = np.diag(rng.uniform(1.0, 9.0, grid.n_cells)) + mixed @ mixed.T
    return 30.0 * rng.normal(0, 1, grid.n_cells), curvature, errors


def naive_prior(grid, prior):
    parts = [priors.covariance(s, x) for s, x in zip(grid.sides, prior.lengths, strict=True)]
    n = grid.shape[1]
    cells = [divmod(c, n) for c in range(grid.n_cells)]
    return prior.size**2 * np.array(
        [[parts[0][i, k] * parts[1][j, m] for k, m in cells] for i, j in cells]
    )


@examples(20)
@given(seed=st.integers(0, 999), ordered=st.tuples(st.booleans(), st.booleans()))
def test_the_posterior_is_that_of_the_normal_equations(seed, ordered):
    grid = make_grid(seed, ordered)
    sums, curvature, errors = made_up_sums(grid, seed)
    prior = priors.Prior(0.3, (0.3, 1.0))
    found = posterior.posterior(grid, sums, curvature, errors, prior)
    spread = naive_prior(grid, prior)
    design = np.diag(curvature)
    response = spread @ design @ np.linalg.inv(design @ spread @ design + errors)
    np.testing.assert_allclose(found.response, response, atol=1e-9)
    np.testing.assert_allclose(found.scores, response @ sums, atol=1e-7)


@examples(10)
@given(seed=st.integers(0, 999))
def test_the_likely_prior_has_the_largest_likelihood_of_all(seed):
    grid = make_grid(seed, (True, False))
    sums, curvature, errors = made_up_sums(grid, seed)

    def likelihood(prior):
        design = np.diag(curvature)
        total = design @ naive_prior(grid, prior) @ design + errors
        _, log_det = np.linalg.slogdet(total)
        return -0.5 * (log_det + sums @ np.linalg.solve(total, sums))

    chosen = priors.likely_priors(grid, sums, curvature, errors)[0].prior
    others = [
        priors.Prior(size, (length, priors.LENGTHS[0]))
        for size in priors.SIZES
        for length in priors.LENGTHS
    ]
    best = max(likelihood(prior) for prior in others)
    assert likelihood(chosen) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e15, 1e30])
def test_any_released_numbers_give_finite_scores(size):
    """A release may be anything, and a fit that failed on it would reveal something."""
    grid = make_grid(3)
    rng = np.random.default_rng(0)
    sums = size * rng.normal(0, 1, grid.n_cells)
    curvature = np.abs(size * rng.normal(0, 1, grid.n_cells))
    errors = np.eye(grid.n_cells)
    likely = priors.likely_priors(grid, sums, curvature, errors)
    found = posterior.averaged(grid, sums, curvature, errors, likely, most=8)
    assert np.isfinite(found.scores).all()
    assert np.isfinite(found.responses(curvature, np.zeros(grid.n_cells))[0]).all()
    error = posterior.error_std(grid, sums, curvature, errors, likely, found.scores)
    assert np.isfinite(error).all()
    assert np.isfinite(evidence.log_p_value(grid, sums, np.diag(curvature), errors))


def test_cells_of_rare_special_bins_have_no_score():
    grid = make_grid(2)
    assert any(side.has_rest for side in grid.sides) == (grid.weight == 0.0).any()
    sums, curvature, errors = made_up_sums(grid, 1)
    prior = priors.Prior(1.0, (1.0, 1.0))
    found = posterior.posterior(grid, sums, curvature, errors, prior)
    assert not found.scores[grid.weight == 0.0].any()


@pytest.mark.full
def test_the_test_of_a_pair_rejects_as_often_as_it_states_if_there_are_curves_only():
    grid, rng = make_grid(5, n_groups=4), np.random.default_rng(7)
    _, curvature, errors = made_up_sums(grid, 2)
    half = np.linalg.cholesky(errors)
    log_p = []
    for _ in range(2000):
        rows, columns = (rng.normal(0, 1, n) for n in grid.shape)
        curves = curvature * np.add.outer(rows, columns).ravel()
        sums = curves + half @ rng.normal(0, 1, grid.n_cells)
        log_p.append(evidence.log_p_value(grid, sums, np.diag(curvature), errors))
    share = np.mean(np.exp(log_p) < 0.1)
    assert 0.1 - 5 * np.sqrt(0.09 / 2000) < share < 0.1 + 5 * np.sqrt(0.09 / 2000)


@given(n_samples=st.floats(-10, 1e9), multiplier=st.floats(0.1, 1e4), n_features=st.integers(2, 12))
def test_candidates_are_pairs_of_the_most_important_features(n_samples, multiplier, n_features):
    counts = [BinCounts(np.full(4, 100.0), np.ones(4), 1, True)] * n_features
    curves = [k * np.array([-1.0, 0.0, 1.0, 0.0]) for k in range(n_features)]
    pairs = choice.candidate_pairs(counts, curves, range(n_features), n_samples, multiplier)
    used = {k for pair in pairs for k in pair}
    assert used == set(range(n_features - len(used), n_features))
    assert len(used) >= min(n_features, choice.LEAST_FEATURES)
    assert len(pairs) == len(used) * (len(used) - 1) // 2


@given(n=st.integers(2, 200), share=st.floats(0.01, 0.99))
def test_the_passes_before_the_pairs_are_some_and_not_all(n, share):
    first = main_part(Schedule(n, 3, 0.1, 1.0), share)
    assert 1 <= first.n_epochs < n


def test_hundreds_of_features_have_a_bounded_number_of_candidates():
    counts = [BinCounts(np.full(4, 100.0), np.ones(4), 1, True)] * 500
    curves = [k * np.array([-1.0, 0.0, 1.0, 0.0]) for k in range(500)]
    pairs = choice.candidate_pairs(counts, curves, range(500), 1e9, 0.01)
    assert {k for pair in pairs for k in pair} == set(range(475, 500))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_joined_groups_add_their_sums_and_average_their_scores(seed):
    grid = make_large_grid(seed)
    join = np.kron(*(priors.join(side, priors._MOST_JOINED) for side in grid.sides))
    assert join.sum(axis=0).tolist() == [1.0] * grid.n_cells
    means = [priors._mean_of_joined(s, priors.join(s, priors._MOST_JOINED)) for s in grid.sides]
    assert max(len(mean) for mean in means) <= priors._MOST_JOINED + 1
    sums, curvature, errors = made_up_sums(grid, seed)

    def likelihood(prior):
        parts = [
            mean @ priors.covariance(side, length) @ mean.T
            for side, mean, length in zip(grid.sides, means, prior.lengths, strict=True)
        ]
        design = np.diag(join @ curvature)
        total = prior.size**2 * design @ np.kron(*parts) @ design + join @ errors @ join.T
        _, log_det = np.linalg.slogdet(total)
        return -0.5 * (log_det + join @ sums @ np.linalg.solve(total, join @ sums))

    chosen = priors.likely_priors(grid, sums, curvature, errors)[0].prior
    others = [
        priors.Prior(size, lengths)
        for size in priors.SIZES
        for lengths in product(priors.LENGTHS, repeat=2)
    ]
    assert likelihood(chosen) == pytest.approx(max(map(likelihood, others)), rel=1e-9)


@examples(10)
@given(seed=st.integers(0, 999), ordered=st.tuples(st.booleans(), st.booleans()))
def test_the_error_of_a_score_is_the_variance_of_the_normal_posterior(seed, ordered):
    grid = make_grid(seed, ordered)
    sums, curvature, errors = made_up_sums(grid, seed)
    prior = priors.Prior(0.3, (0.3, 1.0))
    found = posterior.posterior(grid, sums, curvature, errors, prior)
    spread, design = naive_prior(grid, prior), np.diag(curvature)
    gain = spread @ design @ np.linalg.inv(design @ spread @ design + errors)
    naive = np.diag(spread - gain @ design @ spread)
    np.testing.assert_allclose(found.error_variance, naive, atol=1e-9 * prior.size**2)
    noise = ((found.response @ errors) * found.response).sum(axis=1)
    assert (found.error_variance >= noise - 1e-9).all()
    likely = [priors.LikelyPrior(prior, 0.0, np.zeros(grid.n_cells))]
    alone = posterior.error_std(grid, sums, curvature, errors, likely, found.scores)
    np.testing.assert_allclose(alone, np.sqrt(found.error_variance))


@examples(10)
@given(seed=st.integers(0, 999))
def test_the_response_is_the_derivative_of_the_averaged_scores(seed):
    """It contains what a change in a sum does to the weights of the priors."""
    grid = make_grid(seed, (True, False))
    sums, curvature, errors = made_up_sums(grid, seed)

    def found(sums, most=112):
        likely = priors.likely_priors(grid, sums, curvature, errors)
        return posterior.averaged(grid, sums, curvature, errors, likely, most=most)

    step = 1e-3 * np.random.default_rng(seed).normal(0, 1, grid.n_cells)
    moved = found(sums + step).scores - found(sums - step).scores
    of_sums, _ = found(sums).responses(curvature, np.diag(errors))
    np.testing.assert_allclose(moved, 2 * of_sums @ step, rtol=1e-3, atol=1e-8)
    assert len(list(found(sums, most=3).posteriors())) == 3


@examples(10)
@given(seed=st.integers(0, 999), n_visits=st.integers(1, 5), ordered=st.booleans())
def test_sums_of_cells_and_of_blocks_are_combined_by_least_squares(seed, n_visits, ordered):
    grid = make_grid(seed, (ordered, True), n_groups=9)
    levels, rng = Levels.of(grid), np.random.default_rng(seed)
    joined = np.eye(levels.n_blocks)[levels.block_of_cell].T
    expected = rng.normal(0, 1, grid.n_cells)
    designs, seen = [], []
    for visit in range(n_visits):
        of_blocks = visit % 2 == 1
        sums = rng.normal(0, 1, levels.n_blocks if of_blocks else grid.n_cells)
        levels.add(sums, expected, of_blocks=of_blocks)
        designs.append(joined if of_blocks else np.eye(grid.n_cells))
        seen.append(sums + designs[-1] @ expected)
    design = np.concatenate(designs)
    found, noise = levels.combined(2.5)
    naive = np.linalg.lstsq(design, np.concatenate(seen))[0]
    np.testing.assert_allclose(found, naive, atol=1e-9)
    np.testing.assert_allclose(noise, 2.5 * np.linalg.inv(design.T @ design), atol=1e-9)
    assert np.array_equal(levels.leaf_of_cell, levels.block_of_cell)


def test_scores_that_noise_hides_keep_an_error_as_large_as_they_may_be():
    grid = make_grid(3)
    _, curvature, _ = made_up_sums(grid, 3)
    sums, errors = np.zeros(grid.n_cells), 1e6 * np.eye(grid.n_cells)
    likely = priors.likely_priors(grid, sums, curvature, errors)
    found = posterior.averaged(grid, sums, curvature, errors, likely, most=8)
    error = posterior.error_std(grid, sums, curvature, errors, likely, found.scores)
    used = grid.used.ravel()
    of_sums, _ = found.responses(curvature, np.diag(errors))
    noise = np.sqrt(((of_sums @ errors) * of_sums).sum(axis=1))
    assert (error[used] > 10 * noise[used]).all()
    assert error[used].min() > 0.03


@given(seed=st.integers(0, 999), n=st.integers(1, 7), ordered=st.booleans())
def test_one_record_moves_all_contrasts_by_at_most_one(seed, n, ordered):
    grid = make_grid(seed, (ordered, True), n_groups=n)
    found = contrasts.contrasts(grid)
    assert found.dtype == np.int64
    norms = np.linalg.norm(found / contrasts.UNIT, axis=0)
    assert (norms <= 1.0).all()
    assert not norms[~grid.used.ravel()].any()
    assert (norms[grid.used.ravel()] > 0.15).all()


def test_counts_of_cells_are_found_from_exact_contrasts():
    grid = make_grid(4)
    rng = np.random.default_rng(2)
    exact = np.where(grid.used.ravel(), 1000 * grid.weight * rng.uniform(0.5, 1.5, grid.n_cells), 0)
    weights = contrasts.contrasts(grid) / contrasts.UNIT
    noisy = weights @ exact
    found = contrasts.counts_of_cells(grid, weights, noisy, 1000.0, 1e-9)
    apart = contrasts.between_curves(grid)
    expected = weights @ (1000.0 * grid.weight)
    # The released counts of the features replace contrasts with the mean of a side.
    np.testing.assert_allclose((weights @ found)[apart], noisy[apart], atol=1e-6)
    np.testing.assert_allclose((weights @ found)[~apart], expected[~apart], atol=1e-6)
    hidden = contrasts.counts_of_cells(grid, weights, noisy, 1000.0, 1e9)
    np.testing.assert_allclose(hidden, 1000.0 * grid.weight)


@examples(10)
@given(seed=st.integers(0, 999), ordered=st.booleans())
def test_the_response_to_counts_is_the_derivative_of_the_scores(seed, ordered):
    """Check visits to cells and blocks with hardly any noise."""
    grid = make_grid(seed, (ordered, True), n_groups=9)
    sums, curvature, _ = made_up_sums(grid, seed)
    rng = np.random.default_rng(seed)
    sampling = curvature * rng.uniform(0.1, 1.0, grid.n_cells)
    of_blocks = rng.normal(0, 5, Levels.of(grid).n_blocks)
    seen = rng.normal(0, 0.3, (4, grid.n_cells))
    prior = priors.LikelyPrior(priors.Prior(0.5, (0.3, 0.3)), 0.0, np.zeros(grid.n_cells))

    def found(change):
        levels, own = Levels.of(grid), curvature * (1.0 + change)
        for visit, score in enumerate(seen):
            part = of_blocks if visit % 2 else sums
            levels.add(part, own * score, of_blocks=visit % 2 == 1)
        combined, noise = levels.combined(1e-7)
        errors = noise + np.diag(sampling * (1.0 + change))
        return levels, posterior.averaged(grid, combined, own, errors, [prior], most=1)

    step = 1e-4 * rng.normal(0, 1, grid.n_cells)
    levels, mean = found(0.0)
    of_sums, of_counts = mean.responses(curvature, sampling)
    response = of_counts + levels.response_to_counts(of_sums)
    moved = found(step)[1].scores - found(-step)[1].scores
    np.testing.assert_allclose(moved, 2 * response @ step, rtol=1e-3, atol=1e-8)


def test_noise_does_not_count_as_unexplained_by_the_scores():
    """Compare sums that are mostly noise with sums that are not."""
    grid = make_grid()
    sums, curvature, errors = made_up_sums(grid, 0)
    found = posterior.posterior(grid, sums, curvature, errors, priors.Prior(0.5, (0.3, 0.3)))
    expected = -found.response * (curvature * found.scores)
    np.testing.assert_allclose(
        found.response_to_counts(curvature, np.zeros(grid.n_cells)), expected, atol=1e-12
    )
    of_sampling = found.response_to_counts(curvature, np.diag(errors)) - expected
    assert np.abs(of_sampling).max() > 0.0


@examples(10)
@given(seed=st.integers(0, 999))
def test_a_pair_reacts_to_the_mean_error_of_a_curve_in_each_group(seed):
    rng = np.random.default_rng(seed)
    bins, groups = ([0, 0, 1, 2], [0, 1, 1]), ([0, 1, 1, 2], [0, 1])
    means = tuple(np.eye(max(b) + 1)[b].T for b in bins)
    means = tuple(mean / mean.sum(axis=1, keepdims=True) for mean in means)
    per_error = rng.normal(size=(6, 5))
    reaction = Reaction(per_error, means, tuple(np.array(g) for g in groups))
    first, second = rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    found = reaction.to(first, second)
    assert found.shape == (2, 4, 2)
    for draw, row, column in product(range(2), range(4), range(2)):
        cell = groups[0][row] * 2 + groups[1][column]
        errors = [
            np.mean([e[draw, b] for b in range(len(own)) if own[b] == group])
            for own, e in zip(bins, (first, second), strict=True)
            for group in range(max(own) + 1)
        ]
        np.testing.assert_allclose(found[draw, row, column], per_error[cell] @ errors)
