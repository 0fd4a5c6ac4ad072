"""Products of short integers are exact, up to the largest operands that they allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.models.locally_linear import _kernels_products as products
from effort import examples


def product(left, right, kind=np.int16):
    """Multiply matrices of any shape by the kernel, and cut off the padding."""
    out = products.zeros(len(left), left.shape[1], right.shape[1])
    products.add_products(
        products.padded(left, products.N_ROWS),
        products.padded(right, products.N_COLUMNS, kind),
        0,
        out,
    )
    return out[:, : left.shape[1], : right.shape[1]]


def naive(left, right):
    return np.einsum("kil,kjl->kij", left.astype(np.int64), right.astype(np.int64))


@examples(40)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(*(st.integers(1, 20) for _ in range(3))),
    st.sampled_from([1, 31, 32, 33, products.CHUNK, products.CHUNK + 1, 2500]),
)
def test_products_are_those_of_whole_numbers(seed, shape, n_products):
    rng = np.random.default_rng(seed)
    n_matrices, n, m = shape
    largest = int(rng.integers(1, 2**14))
    other = products.largest_factor(n_products, largest)
    left = rng.integers(-other, other + 1, (n_matrices, n, n_products))
    right = rng.integers(-largest, largest + 1, (n_matrices, m, n_products))
    assert np.array_equal(product(left, right), naive(left, right))
    small = rng.integers(-128, 128, right.shape)
    left = left // max(1, -(-other // products.largest_factor(n_products, 128)))
    assert np.array_equal(product(left, small, np.int8), naive(left, small))


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize("n_products", [1, 785, products.CHUNK, 4096])
def test_the_largest_operands_overflow_no_part(n_products, signs):
    largest = 2**14
    other = products.largest_factor(n_products, largest)
    left = np.full((1, 3, n_products), signs[0] * other)
    right = np.full((1, 4, n_products), signs[1] * largest)
    assert (product(left, right) == signs[0] * signs[1] * n_products * other * largest).all()


def test_one_step_beyond_the_largest_operand_overflows():
    """The bound is that of eight parts; a register with more parts would hold more."""
    n_products, largest = products.CHUNK, 2**14
    other = products.largest_factor(n_products, largest)
    per_part = n_products // 8
    assert per_part * other * largest < 2**31 <= per_part * (other + 1) * largest


@examples(30)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 15),
    st.integers(1, 4),
    st.tuples(*(st.integers(1, 9) for _ in range(3))),
)
def test_limbs_add_up_to_the_values_and_multiply_like_them(seed, bits, n_limbs, shape):
    rng = np.random.default_rng(seed)
    bound = 2 ** (bits * n_limbs - 1) - 1
    values = rng.integers(-bound, bound + 1, shape)
    values[rng.random(shape) < 0.2] = bound
    values[rng.random(shape) < 0.2] = -bound
    found = products.limbs(values, bits, n_limbs)
    assert np.abs(found.astype(int)).max() <= 2 ** (bits - 1)
    parts = np.split(found[:, : n_limbs * shape[1]].astype(np.int64), n_limbs, axis=1)
    whole = sum(part << (bits * k) for k, part in enumerate(parts))
    assert np.array_equal(whole[:, : shape[1], : shape[2]], values)
    right = rng.integers(-3, 4, (shape[0], 5, shape[2]))
    out = products.zeros(shape[0], shape[1], 5)
    products.add_products(found, products.padded(right, products.N_COLUMNS), bits, out)
    assert np.array_equal(out[:, : shape[1], :5], naive(values, right))


def test_public_values_are_rounded_to_the_nearest_step():
    values = np.array([[[1.0, -0.26, 0.0], [0.5, 0.124, -1.0]]])
    whole, unit = products.rounded(values, 4, products.N_ROWS)
    assert unit == 0.25
    assert whole[0, :2, :3].tolist() == [[4, -1, 0], [2, 0, -4]]
    zero, unit = products.rounded(np.zeros((1, 2, 2)), 4, products.N_ROWS)
    assert not zero.any()
    assert unit == 1.0
