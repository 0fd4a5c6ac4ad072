"""The fused kernels, compared with naive numpy twins, and their guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.boosting.nonprivate.greedy import greedy_tree
from dpexplain.models.boosting.records import _kernels_sums as _kernels
from dpexplain.models.boosting.records._kernels_sums import _BLOCK, _STRETCH, LATTICE
from effort import examples

LOSSES = ["logistic", "squared"]
LENGTHS = [_BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK + 900, _STRETCH - 1, _STRETCH, _STRETCH + 1]


def naive_residual(loss, score, target):
    """Return residuals in float32, operation by operation as in the kernel."""
    return target - (score if loss == "squared" else score / (np.float32(1) + score))


def naive_moved(loss, score, value):
    """Return scores after an update, which multiplies the odds of the logistic loss."""
    if loss == "squared":
        return score + value
    return np.clip(score * value, _kernels.LEAST_ODDS, _kernels.MOST_ODDS)


def naive_logistic(score):
    """Return the logistic function in float32, operation by operation as in `_logistic32`."""
    f = np.float32
    z = np.clip(score * f(0.5), f(-_kernels._TANH_LIMIT), f(_kernels._TANH_LIMIT))
    u = z * z
    p = _kernels._P0F + u * (
        _kernels._P1F + u * (_kernels._P2F + u * (_kernels._P3F + u * _kernels._P4F))
    )
    q = f(1) + u * (_kernels._Q1F + u * (_kernels._Q2F + u * (_kernels._Q3F + u * _kernels._Q4F)))
    return f(0.5) + f(0.5) * z * p / q


def naive_leaf_sums(loss, score, target, last_bins, last_update, bins, leaf_of_bin, n_leaves, clip):
    with np.errstate(invalid="ignore", over="ignore"):
        score[:] = naive_moved(loss, score, last_update[last_bins])
        scaled = naive_residual(loss, score, target) * np.float32(1.0 / clip)
    finite = np.where(np.isnan(scaled), np.float32(0), scaled)
    steps = np.rint(np.clip(finite, -1, 1) * np.float32(LATTICE)).astype(np.int64)
    sums = np.zeros(n_leaves, dtype=np.int64)
    np.add.at(sums, leaf_of_bin[bins], steps)
    return sums


def draw_case(seed, n, loss, n_bins=40, n_leaves=3):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 2, n) if loss == "logistic" else rng.uniform(-1, 1, n)
    scores, update = rng.normal(0, 3, n), rng.normal(0, 1, n_bins)
    if loss == "logistic":
        scores, update = _kernels.odds_factors(scores), _kernels.odds_factors(update)
    return {
        "score": scores.astype(np.float32),
        "target": target.astype(np.float32),
        "last_bins": rng.integers(0, n_bins, n).astype(np.uint8),
        "last_update": update.astype(np.float32),
        "bins": rng.integers(0, n_bins, n).astype(np.uint8),
        "leaf_of_bin": rng.integers(0, n_leaves, n_bins).astype(np.uint8),
    }


def kernel_sums(loss, case, clip, n_leaves=3):
    kernel = getattr(_kernels, f"{loss}_leaf_sums")
    score = case["score"].copy()
    arguments = [case[k] for k in ("target", "last_bins", "last_update", "bins", "leaf_of_bin")]
    return kernel(score, *arguments, n_leaves, np.float32(1.0 / clip)), score


@pytest.mark.parametrize("loss", LOSSES)
@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.one_of(st.integers(0, 70), st.sampled_from(LENGTHS)),
    clip=st.sampled_from([1.0, 0.5, 0.3, 0.07]),
)
def test_leaf_sum_kernel_equals_naive_numpy_for_every_tail_length(loss, seed, n, clip):
    case = draw_case(seed, n, loss)
    sums, score = kernel_sums(loss, case, clip)
    naive = {**case, "score": case["score"].copy()}
    expected = naive_leaf_sums(loss, **naive, n_leaves=3, clip=clip)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(score, naive["score"])


def draw_table(rng, n_bins, n_values, *, neighbors):
    """Draw values per bin, either in runs of neighbors or scattered."""
    value_of_bin = np.sort(rng.integers(0, n_values, n_bins))
    value_of_bin[-1] = rng.integers(0, n_values)  # missing values take a random side
    return value_of_bin if neighbors else rng.permutation(value_of_bin)


@pytest.mark.full
@pytest.mark.parametrize("loss", LOSSES)
@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([0, 1, 31, 64, _BLOCK, _BLOCK + 64]),
    n_bins=st.sampled_from([1, 2, 5, 17, 63, 64, 65, 256, 300]),
    n_values=st.integers(1, 7),
    neighbors=st.booleans(),
)
def test_every_way_to_look_up_a_bin_gives_the_same(loss, seed, n, n_bins, n_values, neighbors):
    """Cases: few values in runs, few among few bins, and neither; one and two bytes per bin."""
    rng = np.random.default_rng(seed)
    update = rng.normal(0, 1, n_values).astype(np.float32)
    update[0] = rng.choice([0.0, -0.0, 30.0, np.nan, np.inf])
    bin_type = np.uint8 if n_bins <= 256 else np.uint16
    case = {
        **draw_case(seed, n, loss),
        "last_bins": rng.integers(0, n_bins, n).astype(bin_type),
        "last_update": update[draw_table(rng, n_bins, n_values, neighbors=neighbors)],
        "bins": rng.integers(0, n_bins, n).astype(bin_type),
        "leaf_of_bin": draw_table(rng, n_bins, n_values, neighbors=neighbors).astype(np.uint8),
    }
    sums, score = kernel_sums(loss, case, 0.3, n_leaves=n_values)
    naive = {**case, "score": case["score"].copy()}
    expected = naive_leaf_sums(loss, **naive, n_leaves=n_values, clip=0.3)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(score, naive["score"])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 7, *LENGTHS])
def test_leaf_sums_and_scores_are_bit_identical_under_row_permutations(loss, n):
    case = draw_case(n, n, loss)
    sums, score = kernel_sums(loss, case, 0.3)
    order = np.random.default_rng(1).permutation(n)
    rows = ("score", "target", "last_bins", "bins")
    shuffled = {k: v[order] if k in rows else v for k, v in case.items()}
    shuffled_sums, shuffled_score = kernel_sums(loss, shuffled, 0.3)
    np.testing.assert_array_equal(shuffled_sums, sums)
    assert shuffled_score.tobytes() == score[order].tobytes()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("place", [0, 3, _BLOCK - 1, _BLOCK, 2999])
def test_one_record_moves_one_leaf_sum_by_at_most_the_clip(loss, place):
    """Removing a record shifts its neighbors between vector body, tail and blocks."""
    case = draw_case(5, 3000, loss)
    case["score"] *= 100  # far beyond the clip
    sums, _ = kernel_sums(loss, case, 0.3)
    rows = ("score", "target", "last_bins", "bins")
    fewer = {k: np.delete(v, place) if k in rows else v for k, v in case.items()}
    difference = sums - kernel_sums(loss, fewer, 0.3)[0]
    assert np.count_nonzero(difference) <= 1
    assert np.abs(difference).max() <= LATTICE
    assert difference[case["leaf_of_bin"][case["bins"][place]]] == difference.sum()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_a_score_that_is_not_a_number_never_moves_a_sum_beyond_the_clip(loss, bad):
    """A NaN cast to an integer would become the smallest integer."""
    case = draw_case(3, 1, loss)
    case["score"][0] = bad
    sums, _ = kernel_sums(loss, case, 1.0)
    assert np.abs(sums).sum() <= LATTICE


@pytest.mark.parametrize("loss", LOSSES)
def test_bin_sum_kernel_equals_naive_numpy(loss):
    case = draw_case(9, 5000, loss)
    kernel = getattr(_kernels, f"{loss}_bin_sums")
    score = case["score"].copy()
    sums = kernel(score, case["target"], case["last_bins"], case["last_update"], case["bins"], 40)
    moved = naive_moved(loss, case["score"], case["last_update"][case["last_bins"]])
    residual = naive_residual(loss, moved, case["target"]).astype(np.float64)
    p = case["target"] - residual
    curvature = p * (1 - p) if loss == "logistic" else np.ones(5000)
    expected = [np.bincount(case["bins"], weights=w, minlength=40) for w in (residual, curvature)]
    # Float32 terms, up to 160 of them per bin.
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=160 * 1e-6)


def test_the_logistic_function_of_the_kernels_is_within_2e_7_of_the_exact_one():
    score = np.linspace(-60, 60, 200_001).astype(np.float32)
    p = naive_logistic(score).astype(np.float64)
    assert np.abs(p - 1 / (1 + np.exp(-score.astype(np.float64)))).max() < 2e-7
    assert (p >= 0).all()
    assert (p <= 1).all()


@examples(60)
@given(st.lists(st.floats(-80, 80), min_size=1, max_size=9))
def test_factors_are_exponentials_and_a_vector_gives_the_bits_of_a_scalar(update):
    factors = _kernels.odds_factors(np.array(update))
    expected = np.exp(np.clip(update, -60, 60))
    np.testing.assert_allclose(factors, expected, rtol=1e-7)
    scalar = _kernels._factor.__wrapped__
    assert factors.tobytes() == np.array([scalar(u) for u in update]).tobytes()


def test_thousands_of_updates_leave_odds_within_2e_5_of_their_exact_value():
    """Each product is rounded once, by at most 2**-24; 4,000 of them add up to a random walk."""
    rng = np.random.default_rng(0)
    updates = rng.normal(0, 0.02, (4000, 500))
    odds = np.ones(500, np.float32)
    for factor in _kernels.odds_factors(updates):
        odds *= factor
    error = np.log(odds.astype(np.float64)) - updates.sum(axis=0)
    # Two roundings per step, that of the factor and that of the product: a standard deviation of
    # at most 2**-24 * sqrt(2 * 4000 / 3) = 3.1e-6.
    assert np.abs(error).max() < 6 * 3.1e-6


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), n_bins=st.integers(1, 12))
def test_greedy_tree_with_two_leaves_takes_the_best_of_all_cuts(seed, n_bins):
    rng = np.random.default_rng(seed)
    g, h = rng.normal(size=n_bins), rng.uniform(0.1, 3, n_bins)
    values = greedy_tree(g, h, 2, 0.2)

    def loss_drop(values):
        return float((2 * values * g - values**2 * h).sum())

    best = loss_drop(np.full(n_bins, g.sum() / h.sum())) if h.sum() >= 0.2 else 0.0
    for cut in range(1, n_bins):
        if min(h[:cut].sum(), h[cut:].sum()) >= 0.2:
            left, right = g[:cut].sum() / h[:cut].sum(), g[cut:].sum() / h[cut:].sum()
            best = max(best, loss_drop(np.r_[np.full(cut, left), np.full(n_bins - cut, right)]))
    assert loss_drop(values) == pytest.approx(best, abs=1e-9)
    assert len(np.unique(values)) <= 2
