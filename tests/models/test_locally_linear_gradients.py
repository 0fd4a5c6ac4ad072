"""Sums of clipped gradients are correct, exact, and within the clip for any records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import Categorical, Classes, Numeric, Schema
from dpexplain.models.locally_linear import _kernels_products as products
from dpexplain.models.locally_linear._kernels_clipping import clipped_factors
from dpexplain.models.locally_linear.arithmetic import (
    BLOCK,
    COARSE_BITS,
    FACTOR_BITS,
    FEATURE_BITS,
    LARGEST_FACTOR,
    LIMB_BITS,
    ROW_BITS,
    lattice_bits,
    projection_bits,
    to_integers,
)
from dpexplain.models.locally_linear.gradients import FilterShape, GradientSums
from dpexplain.models.locally_linear.inputs import Features, features_of, preparation_of
from dpexplain.models.locally_linear.projections import PROJECTIONS, Basis, make_basis
from effort import examples

pytestmark = pytest.mark.full

SHAPE = FilterShape(n_classes=3, n_filters=4, inverse_temperature=0.7)
GRID = (3, 4)
BITS = 30
every_projection = pytest.mark.parametrize("projection", PROJECTIONS)


def problem(projection, n=25, seed=0, *, image=False, scale=3.0):
    """Simulate features, labels, basis and weights of a few records."""
    rng = np.random.default_rng(seed)
    names = [f"p{i}" for i in range(12)]
    features = {name: Numeric(0, 1) for name in names}
    if not image and projection != "frequency":
        features["ward"] = Categorical(["a", "b"])
    schema = Schema(features, target=Classes(["x", "y", "z"]))
    X = pd.DataFrame(rng.random((n, 12)), columns=names)
    X["ward"] = rng.choice(["a", "b", "c"], n)
    X = X[list(schema.feature_names)]
    preparation = preparation_of(schema, per_image=image, scale=scale)
    basis = make_basis(
        projection,
        len(preparation.input_names),
        n_basis=5,
        n_filters=SHAPE.n_filters,
        grid_shape=GRID if projection == "frequency" else None,
        rng=rng,
    )
    weights = rng.standard_normal((SHAPE.n_rows, basis.n_basis + 1))
    labels = rng.integers(0, 3, n).astype(np.int32)
    return features_of(X, schema, preparation, basis), labels, basis, weights


def seen_by_filters(features, basis):
    """Return each filter's input per record, of shape (n, n_filters, n_basis + 1)."""
    real = features.integers.astype(float) * features.unit
    if not basis.per_filter:
        return np.repeat(real[:, None, :], SHAPE.n_filters, axis=1)
    seen = np.einsum("nd,mjd->nmj", real[:, :-1], basis.rows)
    constant = np.broadcast_to(real[:, None, -1:], (len(real), SHAPE.n_filters, 1))
    return np.concatenate([seen, constant], axis=2)


def naive_scores(seen, weights):
    w = weights.reshape(SHAPE.n_classes, SHAPE.n_filters, -1)
    g = np.einsum("nmj,kmj->nkm", seen, w)
    gate = np.exp(SHAPE.inverse_temperature * (g - g.max(axis=2, keepdims=True)))
    gate /= gate.sum(axis=2, keepdims=True)
    return g, gate, (gate * g).sum(axis=2)


def naive_loss(seen, labels, weights):
    _, _, f = naive_scores(seen, weights)
    top = f.max(axis=1)
    total = np.log(np.exp(f - top[:, None]).sum(axis=1)) + top
    return float((total - f[np.arange(len(f)), labels]).sum())


def naive_gradients(seen, labels, weights, clip=None):
    """Return the gradient of each record, in a loop, of shape (n, n_rows, n_basis + 1)."""
    g, gate, f = naive_scores(seen, weights)
    found = []
    for n in range(len(seen)):
        p = np.exp(f[n] - f[n].max())
        r = p / p.sum() - (np.arange(SHAPE.n_classes) == labels[n])
        c = r[:, None] * gate[n] * (1 + SHAPE.inverse_temperature * (g[n] - f[n][:, None]))
        gradient = c[:, :, None] * seen[n][None]
        norm = np.linalg.norm(gradient)
        found.append(gradient * (1.0 if clip is None else min(1.0, clip / norm)))
    return np.array(found).reshape(len(seen), SHAPE.n_rows, -1)


@every_projection
def test_sums_without_a_clip_are_the_gradient_of_the_loss_by_finite_differences(projection):
    features, labels, basis, weights = problem(projection)
    weights *= 0.3
    sums = GradientSums(features, labels, SHAPE, basis, clip=None)
    gradient = sums(weights, np.arange(len(labels)))
    seen = seen_by_filters(features, basis)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction, h = rng.standard_normal(weights.shape), 1e-5
        slope = (
            naive_loss(seen, labels, weights + h * direction)
            - naive_loss(seen, labels, weights - h * direction)
        ) / (2 * h)
        # Factors are computed in single precision, with an exponential good to 5e-6.
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        assert (gradient * direction).sum() == pytest.approx(slope, abs=1e-5 * size)


@every_projection
@pytest.mark.parametrize("clip", [0.05, 2.0, 100.0])
def test_clipped_sums_are_those_of_a_loop_over_records(projection, clip):
    features, labels, basis, weights = problem(projection)
    sums = GradientSums(features, labels, SHAPE, basis, clip=clip, lattice_bits=BITS)
    rows = np.array([3, 4, 4, 17, 24])
    naive = naive_gradients(seen_by_filters(features, basis), labels, weights, clip)
    expected = naive[rows].sum(axis=0)
    found = sums(weights, rows) * sums.unit
    # Single precision of the factors, and factors of some hundred lattice steps at least.
    assert np.abs(found - expected).max() < 2e-3 * clip
    assert np.linalg.norm(found - expected) < 2e-3 * np.linalg.norm(expected)


RECORDS = st.integers(0, 2**32 - 1)


@every_projection
@examples(15)
@given(seed=RECORDS, size=st.sampled_from([1e-3, 1.0, 1e4]), clip=st.sampled_from([1e-3, 0.5, 50]))
def test_a_record_adds_exactly_its_own_clipped_gradient_wherever_it_stands(
    projection, seed, size, clip
):
    """In every order, sums agree to the last bit, and differ only by that record's gradient."""
    features, labels, basis, weights = problem(projection, n=40, seed=seed, image=seed % 2 == 0)
    sums = GradientSums(features, labels, SHAPE, basis, clip=clip, lattice_bits=BITS)
    rng = np.random.default_rng(seed)
    weights *= size
    rows = np.arange(40)
    whole = sums(weights, rows)
    assert whole.dtype == np.int64
    assert np.array_equal(whole, sums(weights, rng.permutation(rows)))
    gone = int(rng.integers(40))
    own = sums(weights, np.array([gone]))
    assert np.array_equal(whole - sums(weights, rows[rows != gone]), own)
    assert np.linalg.norm(own.astype(float)) <= 2.0**BITS
    assert np.array_equal(sums(weights, rows[:0]), np.zeros_like(whole))


def test_sums_over_several_blocks_are_the_sums_of_the_blocks():
    features, labels, basis, weights = problem("none", n=BLOCK + 100)
    sums = GradientSums(features, labels, SHAPE, basis, clip=0.5, lattice_bits=BITS)
    rows = np.arange(BLOCK + 100)
    parts = [sums(weights, part) for part in np.array_split(rows, 7)]
    assert np.array_equal(sums(weights, rows), np.sum(parts, axis=0))


@every_projection
def test_a_clipped_record_uses_up_the_clip(projection):
    features, labels, basis, weights = problem(projection)
    sums = GradientSums(features, labels, SHAPE, basis, clip=1e-3, lattice_bits=BITS)
    for n in range(5):
        own = sums(0.1 * weights, np.array([n])).astype(float)
        assert 0.99 * 2.0**BITS < np.linalg.norm(own) <= 2.0**BITS


def test_a_record_at_the_largest_factor_keeps_to_the_clip():
    """Short records need large factors; here, both classes have the largest one."""
    features = Features(np.array([[10, 362]], dtype=np.int16), 1 / 362)
    shape, label = FilterShape(2, 1, 1.0), np.zeros(1, dtype=np.int32)
    sums = GradientSums(features, label, shape, Basis(None, 1.0, 1), clip=1e-3, lattice_bits=BITS)
    own = sums(np.zeros((2, 2)), np.array([0]))
    assert np.abs(own[:, 0]).tolist() == 2 * [10 * LARGEST_FACTOR]
    assert np.array_equal(own[0], -own[1])
    assert np.linalg.norm(own.astype(float)) <= 2.0**BITS


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_factors_are_bounded_one_by_one_and_truncated(n):
    """If one factor exceeds the bound, all factors of its record shrink by the same ratio."""
    rng = np.random.default_rng(n)
    scores, label = rng.integers(-1000, 1000, (12, n)), rng.integers(0, 3, n).astype(np.int32)
    squares = rng.random((4, n))
    found = {}
    for largest in (np.inf, 50.0):
        whole, real = np.zeros((12, n), dtype=np.int64), np.zeros((12, n))
        for factors in (whole, real):
            step = (1.0, 1e-3, largest, np.float32(0.7), 3, factors)
            clipped_factors(scores, 1e-3, label, squares, *step)
        assert np.array_equal(whole, np.trunc(real))
        found[largest] = real
    free, bounded = found[np.inf], found[50.0]
    shrunk = np.minimum(1.0, 50.0 / np.abs(free).max(axis=0))
    assert (shrunk < 1).any()
    np.testing.assert_allclose(bounded, free * shrunk, rtol=1e-12)
    # In another place of another block, a record has the same factors, to the last bit.
    order = rng.permutation(n)
    moved = np.zeros((12, n))
    clipped_factors(
        scores[:, order], 1e-3, label[order], squares[:, order], 1.0, 1e-3, 50.0,
        np.float32(0.7), 3, moved,
    )  # fmt: skip
    assert np.array_equal(moved, bounded[:, order])


def test_a_record_whose_norm_is_no_number_has_no_factors():
    """Its scores are infinite; a cast of NaN to an integer depends on the machine."""
    scores = np.tile(np.array([[1000, 1]]), (12, 1))
    scores[::2, 0] *= -1
    factors = np.ones((12, 2))
    clipped_factors(
        scores, 1e36, np.zeros(2, np.int32), np.ones((4, 2)), 1.0, 1e-3, 50.0,
        np.float32(0.7), 3, factors,
    )  # fmt: skip
    assert not factors[:, 0].any()
    assert np.isfinite(factors).all()


def test_weights_that_are_not_finite_numbers_of_a_score_add_nothing_and_no_nan():
    features, labels, basis, weights = problem("none")
    sums = GradientSums(features, labels, SHAPE, basis, clip=0.5, lattice_bits=BITS)
    for size in (1e30, 1e200):
        found = sums(weights * size, np.arange(25))
        assert np.abs(found).max() <= 25 * 2**BITS


@every_projection
@pytest.mark.parametrize("image", [False, True])
def test_features_of_a_record_do_not_depend_on_its_neighbors(projection, image):
    if projection == "frequency" and not image:
        image = True
    many, *_ = problem(projection, n=60, seed=5, image=image, scale=340.0)
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.random((60, 12)), columns=[f"p{i}" for i in range(12)])
    assert np.abs(many.integers).max() <= 2.0 ** max(FEATURE_BITS, COARSE_BITS)
    assert np.array_equal(many.integers, np.rint(many.integers))
    features = {name: Numeric(0, 1) for name in X}
    schema = Schema(features, target=Classes(["x", "y", "z"]))
    preparation = preparation_of(schema, per_image=image, scale=340.0)
    basis = make_basis(
        projection, 12, n_basis=5, n_filters=4, grid_shape=GRID, rng=np.random.default_rng(0)
    )
    whole = features_of(X, schema, preparation, basis).integers
    for n in (0, 7, 59):
        alone = features_of(X[n : n + 1], schema, preparation, basis).integers
        assert np.array_equal(alone[0], whole[n])


def test_the_budget_of_bits_is_kept_for_every_size():
    for n in (1, 2, 49, 121, 785, 4096, 100_000):
        assert n * 2**20 * 2 ** projection_bits(n) <= 2**53
        # Weights keep at least ten bits next to features, and limbs fit next to both operands.
        assert products.largest_factor(n, 2 ** (FEATURE_BITS + 1)) >= 2**10
        assert products.largest_factor(n, 2 ** (LIMB_BITS - 1)) >= 2**ROW_BITS
    assert products.largest_factor(10**6, 2 ** (FEATURE_BITS + 1)) >= 2 ** (FACTOR_BITS - 1)
    limbs = products.limbs(np.array([[[LARGEST_FACTOR, -LARGEST_FACTOR]]]), FACTOR_BITS, 2)
    assert np.abs(limbs.astype(int)).max() <= 2 ** (FACTOR_BITS - 1)
    low, high = limbs[0, :2, :2].astype(int)
    whole = low + high * 2**FACTOR_BITS
    assert whole.tolist() == [LARGEST_FACTOR, -LARGEST_FACTOR]
    for multiplier in (0.3, 1.0, 11.6, 330.0, 5e5):
        assert multiplier * 2 ** lattice_bits(multiplier) <= 2**43
        assert BLOCK * 2 ** lattice_bits(multiplier) <= 2**53
    integers, unit = to_integers(np.array([-3.0, 0.1, 9.0]), 4, bound=3.0)
    assert list(integers * unit) == [-3.0, 0.1875, 3.0]
    with pytest.raises(ValueError, match="no precision"):
        lattice_bits(1e9)
