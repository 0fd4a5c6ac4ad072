"""Kernels with an exponential, compared with naive numpy twins, and their guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.boosting.records import _kernels_exp as kernels
from dpexplain.models.boosting.records._kernels_sums import _BLOCK, LATTICE
from effort import examples

pytestmark = pytest.mark.full

N_CLASSES = {"poisson": 1, "softmax": 4}
LENGTHS = [_BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK + 900]
every_loss = pytest.mark.parametrize("loss", N_CLASSES)
f = np.float32


def naive_exp(exponent):
    """Return the exponential in float32, operation by operation as in the kernels."""
    z = np.clip(exponent, f(-16), f(0)) * f(1 / 16)
    u = z * z
    even, odd = f(1680) + u * (f(180) + u), z * (f(840) + u * f(20))
    e = (even + odd) / (even - odd)
    for _ in range(4):
        e = e * e
    return e


def naive_softmax(score):
    e = naive_exp(score - score.max(axis=0))
    total = np.zeros(score.shape[1], f)
    for c in range(len(score)):
        total += e[c]
    return e / total


def naive_steps(loss, case, clip):
    """Return each record's lattice steps after the pending update, shape (n_classes, n)."""
    inverse = f(1 / clip)
    if loss == "poisson":
        case["score"] += case["last_update"][case["last_bins"]]
        scaled = ((case["target"] - naive_exp(case["score"])) * inverse)[None, :]
    else:
        case["score"] += case["last_update"][:, case["last_bins"]]
        own = case["target"] == np.arange(len(case["score"]))[:, None]
        p = naive_softmax(case["score"])
        rest = f(1) - p[own.argmax(axis=0), np.arange(p.shape[1])]
        with np.errstate(divide="ignore"):
            factor = np.where(rest * inverse > 1, f(1) / rest, inverse)
        scaled = (np.where(own, f(1), f(0)) - p) * factor
    finite = np.where(np.isnan(scaled), f(0), scaled)
    return np.rint(np.clip(finite, -1, 1) * f(LATTICE)).astype(np.int64)


def naive_leaf_sums(loss, case, clip, n_leaves=3):
    sums = np.zeros((n_leaves, N_CLASSES[loss]), np.int64)
    np.add.at(sums, case["leaf_of_bin"][case["bins"]], naive_steps(loss, case, clip).T)
    return sums[:, 0] if loss == "poisson" else sums


def draw_case(seed, n, loss, n_bins=40, n_leaves=3):
    rng = np.random.default_rng(seed)
    shape = () if loss == "poisson" else (N_CLASSES[loss],)
    target = rng.uniform(0, 1, n) if loss == "poisson" else rng.integers(0, N_CLASSES[loss], n)
    return {
        "score": rng.normal(0, 4, (*shape, n)).astype(f),
        "target": target.astype(f),
        "last_bins": rng.integers(0, n_bins, n).astype(np.uint8),
        "last_update": rng.normal(0, 1, (*shape, n_bins)).astype(f),
        "bins": rng.integers(0, n_bins, n).astype(np.uint8),
        "leaf_of_bin": rng.integers(0, n_leaves, n_bins).astype(np.uint8),
    }


def kernel_sums(loss, case, clip, n_leaves=3):
    score = case["score"].copy()
    arguments = [case[k] for k in ("target", "last_bins", "last_update", "bins", "leaf_of_bin")]
    kernel = getattr(kernels, f"{loss}_leaf_sums")
    return kernel(score, *arguments, n_leaves, f(1 / clip)), score


def rows(case, chosen):
    by_row = ("score", "target", "last_bins", "bins")
    return {k: np.ascontiguousarray(v[..., chosen]) if k in by_row else v for k, v in case.items()}


@every_loss
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
    np.testing.assert_array_equal(sums, naive_leaf_sums(loss, naive, clip))
    assert score.tobytes() == naive["score"].tobytes()


@every_loss
@pytest.mark.parametrize("n", [1, 7, *LENGTHS])
def test_leaf_sums_and_scores_are_bit_identical_under_row_permutations(loss, n):
    case = draw_case(n, n, loss)
    sums, score = kernel_sums(loss, case, 0.3)
    order = np.random.default_rng(1).permutation(n)
    shuffled_sums, shuffled_score = kernel_sums(loss, rows(case, order), 0.3)
    np.testing.assert_array_equal(shuffled_sums, sums)
    assert shuffled_score.tobytes() == score[..., order].tobytes()


@every_loss
@pytest.mark.parametrize("place", [0, 3, _BLOCK - 1, _BLOCK, 2999])
def test_one_record_moves_the_sums_of_one_leaf_by_itself_alone(loss, place):
    """Removing a record shifts its neighbors between vector body, tail and blocks."""
    case = draw_case(5, 3000, loss)
    sums, _ = kernel_sums(loss, case, 0.3)
    difference = sums - kernel_sums(loss, rows(case, np.arange(3000) != place), 0.3)[0]
    alone, _ = kernel_sums(loss, rows(case, [place]), 0.3)
    np.testing.assert_array_equal(difference, alone)


@every_loss
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_a_score_that_is_not_a_number_never_moves_a_sum_beyond_the_clip(loss, bad):
    """A NaN cast to an integer would become the smallest integer."""
    case = draw_case(3, 1, loss)
    case["score"][..., 0] = bad
    sums, _ = kernel_sums(loss, case, 1.0)
    assert np.abs(sums).max() <= LATTICE


@every_loss
def test_bin_sum_kernel_equals_naive_numpy(loss):
    case = draw_case(9, 5000, loss)
    score = case["score"].copy()
    arguments = [case[k] for k in ("target", "last_bins", "last_update", "bins")]
    sums = getattr(kernels, f"{loss}_bin_sums")(score, *arguments, 40)
    if loss == "poisson":
        p = naive_exp(case["score"] + case["last_update"][case["last_bins"]])[None, :]
        residual, curvature = case["target"] - p, p
    else:
        p = naive_softmax(case["score"] + case["last_update"][:, case["last_bins"]])
        residual = (case["target"] == np.arange(len(p))[:, None]) - p
        curvature = p * (1 - p)
    for found, terms in zip(sums, (residual, curvature), strict=True):
        expected = [np.bincount(case["bins"], weights=w, minlength=40) for w in terms]
        # Float32 terms, up to 180 of them per bin.
        np.testing.assert_allclose(found.reshape(40, -1).T, expected, rtol=1e-5, atol=180 * 1e-6)


def test_the_exponential_of_the_kernels_is_within_a_share_of_5e_6():
    exponent = np.linspace(-16, 0, 200_001).astype(f)
    exact = np.exp(exponent.astype(np.float64))
    assert np.abs(naive_exp(exponent) / exact - 1).max() < 5e-6
    assert naive_exp(f(0)) == 1
    assert naive_exp(f(5)) == 1
    assert naive_exp(f(-50)) == naive_exp(f(-16))
