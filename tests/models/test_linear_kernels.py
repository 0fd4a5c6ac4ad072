"""Kernels of linear models, compared with naive numpy twins to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.boosting.records import _kernels_sums as boosting
from dpexplain.models.boosting.records._kernels_exp import _exp32
from dpexplain.models.linear import _kernels_moments as _kernels
from dpexplain.models.linear._kernels_moments import RESIDUAL_STEPS, VALUE_STEPS
from effort import examples

pytestmark = pytest.mark.full

N_BINS = np.array([4, 3, 5])
START = np.array([0, 4, 7])
COORDINATE = np.array([1, 1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 7])
N_COORDINATES = 8


def made_up(n, seed, n_classes=1):
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(0, b, n) for b in N_BINS], axis=1).astype(np.uint16)
    value = rng.integers(-VALUE_STEPS, VALUE_STEPS + 1, 12)
    target = rng.integers(0, max(n_classes, 2), n).astype(np.float32)
    table = (4 * rng.standard_normal((12, n_classes))).astype(np.float32)
    intercept = rng.standard_normal(n_classes).astype(np.float32)
    return cells, value, target, table, intercept


def dense(cells, value):
    """Return the coordinates of all records, in steps, as a matrix of Python integers."""
    X = np.zeros((len(cells), N_COORDINATES), dtype=object)
    X[:] = 0
    X[:, 0] = VALUE_STEPS
    for k in range(cells.shape[1]):
        place = START[k] + cells[:, k].astype(int)
        for i, p in enumerate(place):
            X[i, COORDINATE[p]] = int(value[p])
    return X


def total(X, steps):
    """Return exact sums of coordinates times steps, without overflow."""
    sums = np.zeros((N_COORDINATES, steps.shape[1]), dtype=object)
    sums[:] = 0
    for x, r in zip(X, steps, strict=True):
        sums += np.outer(x, [int(v) for v in r])
    return sums


def same(found, expected):
    return found.tolist() == expected.tolist()


def scores(cells, table, intercept):
    score = np.tile(intercept, (len(cells), 1))
    for k in range(cells.shape[1]):
        score = (score + table[START[k] + cells[:, k].astype(int)]).astype(np.float32)
    return score


def lattice(residual, inverse_clip):
    clipped = np.clip((residual * inverse_clip).astype(np.float32), -1, 1).astype(np.float32)
    fine = np.rint(clipped * np.float32(boosting.LATTICE)).astype(np.int64)
    return np.floor_divide(fine + 128, 256)


@examples(30)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1))
def test_second_moments_equal_the_product_of_the_dense_matrix(n, seed):
    cells, value, *_ = made_up(n, seed)
    X = dense(cells, value)
    expected = np.triu((X.T @ X if n else np.zeros((N_COORDINATES,) * 2)).astype(np.int64))
    found = _kernels.second_moments(cells, START, COORDINATE, value, N_COORDINATES)
    assert same(found, expected)


@examples(30)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1))
def test_target_moments_equal_naive_sums(n, seed):
    cells, value, *_ = made_up(n, seed)
    target = np.random.default_rng(seed).uniform(-1, 1, n).astype(np.float32)
    steps = lattice(target, np.float32(1))[:, None]
    expected = [
        *total(dense(cells, value), steps)[:, 0],
        sum(int(s) ** 2 >> 2 for s in steps[:, 0]),
    ]
    found = _kernels.target_moments(cells, START, COORDINATE, value, target, N_COORDINATES)
    assert found.tolist() == expected


@examples(30)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1), clip=st.sampled_from([1.0, 0.2]))
def test_logistic_gradient_equals_naive_sums(n, seed, clip):
    cells, value, target, table, intercept = made_up(n, seed)
    inverse = np.float32(1 / clip)
    p = np.array([boosting._logistic32(s) for s in scores(cells, table, intercept)[:, 0]])
    steps = lattice((target - p.astype(np.float32)).astype(np.float32), inverse)[:, None]
    found = _kernels.logistic_gradient(
        cells, START, COORDINATE, value, target, intercept, table, inverse, N_COORDINATES
    )
    assert same(found, total(dense(cells, value), steps))


def residuals_of_classes(score, target, inverse):
    """Return the residual steps of one record, class by class."""
    e = np.array([_exp32(np.float32(s - score.max())) for s in score], dtype=np.float32)
    whole = np.float32(0)
    for one in e:
        whole = np.float32(whole + one)
    p = (e / whole).astype(np.float32)
    own = np.float32(1) - p[int(target)]
    factor = np.float32(1) / own if own * inverse > 1 else inverse
    y = (np.arange(len(score)) == target).astype(np.float32)
    return lattice(y - p, factor)


@examples(20)
@given(n=st.integers(1, 30), seed=st.integers(0, 2**32 - 1), clip=st.sampled_from([1.0, 0.2]))
def test_softmax_gradient_equals_naive_sums(n, seed, clip):
    cells, value, target, table, intercept = made_up(n, seed, n_classes=3)
    inverse = np.float32(1 / clip)
    score = scores(cells, table, intercept)
    steps = np.array(
        [residuals_of_classes(s, t, inverse) for s, t in zip(score, target, strict=True)]
    )
    found = _kernels.softmax_gradient(
        cells, START, COORDINATE, value, target, intercept, table, inverse, N_COORDINATES
    )
    assert same(found, total(dense(cells, value), steps))


@pytest.mark.parametrize("n_classes", [1, 3])
def test_sums_do_not_depend_on_order_and_add_up_over_parts(n_classes):
    cells, value, target, table, intercept = made_up(200, 3, n_classes)
    kernel = _kernels.logistic_gradient if n_classes == 1 else _kernels.softmax_gradient

    def gradient(rows):
        return kernel(
            np.ascontiguousarray(cells[rows]),
            START,
            COORDINATE,
            value,
            target[rows],
            intercept,
            table,
            np.float32(1),
            N_COORDINATES,
        )

    rows = np.random.default_rng(0).permutation(200)
    assert same(gradient(rows), gradient(np.arange(200)))
    assert same(gradient(rows[:77]) + gradient(rows[77:]), gradient(rows))


def test_the_largest_record_reaches_the_stated_norms():
    cells, target = np.zeros((1, 3), np.uint16), np.ones(1, np.float32)
    value = np.full(12, VALUE_STEPS)
    moments = _kernels.second_moments(cells, START, COORDINATE, value, N_COORDINATES)
    assert np.sqrt((moments.astype(float) ** 2).sum()) == np.sqrt(4 * 5 / 2) * VALUE_STEPS**2
    products = _kernels.target_moments(cells, START, COORDINATE, value, target, N_COORDINATES)
    assert np.sqrt((products.astype(float) ** 2).sum()) == np.sqrt(5) * VALUE_STEPS * RESIDUAL_STEPS
