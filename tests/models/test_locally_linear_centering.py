"""The mean record: exact sums within the clip, released once, subtracted from all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import Categorical, Classes, Numeric, Schema
from dpexplain.audit import record, replay
from dpexplain.explain import FilterNoise
from dpexplain.models import DPLocallyLinearClassifier
from dpexplain.models.locally_linear import centering
from dpexplain.models.locally_linear.arithmetic import BLOCK, FEATURE_BITS
from dpexplain.models.locally_linear.centering import longest_record, mean_record, record_sums
from dpexplain.models.locally_linear.inputs import Features, features_of, preparation_of
from dpexplain.models.locally_linear.projections import make_basis
from dpexplain.models.locally_linear.recipe import recipe_for, schedule

pytestmark = pytest.mark.full

BITS = 30
SCHEMA = Schema(
    {"age": Numeric(0, 100), "pulse": Numeric(30, 200), "ward": Categorical(["a", "b"])},
    target=Classes(["no", "yes"]),
)


def some_features(n, seed=0, n_basis=5):
    whole = np.random.default_rng(seed).integers(-(2**13), 2**13, (n, n_basis + 1))
    return Features(whole.astype(np.int16), 2.0**-13)


def patients(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": rng.uniform(80, 100, n), "pulse": rng.uniform(30, 40, n), "ward": ["a"] * n}
    )
    return X, np.where(X["age"] > 90, "yes", "no")


def private(**settings):
    settings = {
        "epsilon": 8.0,
        "delta": 1e-4,
        "n_steps": 60,
        "sampling_probability": 0.5,
        **settings,
    }
    settings.setdefault("structure_seed", 0)
    return DPLocallyLinearClassifier(schema=SCHEMA, **settings)


def added_by_one(z, longest):
    """Return what one record adds, in Python integers: a naive twin."""
    norm = max(float(np.sqrt(sum(int(v) ** 2 for v in z))), longest)
    factor = int((1 - 2**-30) * 0.8 * 2.0**BITS / norm)
    return [factor * int(v) for v in z] + [int((1 - 2**-30) * 0.6 * 2.0**BITS)]


@given(st.integers(0, 1000), st.integers(0, 12), st.floats(1e2, 1e5))
def test_sums_are_those_of_a_loop_over_whole_numbers(seed, n, longest):
    features = some_features(n, seed)
    rows = np.arange(n)
    expected = [added_by_one(z[:-1], longest) for z in features.integers]
    found = record_sums(features, rows, longest, BITS)
    assert (
        found.tolist() == np.sum(expected, axis=0, dtype=object).tolist() if n else not found.any()
    )


@given(st.integers(0, 1000), st.floats(1.0, 1e5))
def test_no_record_adds_more_than_the_bound_and_each_adds_the_same_wherever_it_is(seed, longest):
    features = some_features(7, seed)
    whole = record_sums(features, np.arange(7), longest, BITS)
    for n in range(7):
        others = record_sums(features, np.delete(np.arange(7), n), longest, BITS)
        own = [int(v) for v in whole - others]
        assert own == added_by_one(features.integers[n, :-1], longest)
        assert sum(v * v for v in own) <= 4**BITS


def test_sums_over_several_blocks_are_the_sums_of_the_blocks():
    features, n = some_features(BLOCK + 9), BLOCK + 9
    parts = [
        record_sums(features, part, 2e4, BITS) for part in (np.arange(BLOCK), np.arange(BLOCK, n))
    ]
    assert np.array_equal(record_sums(features, np.arange(n), 2e4, BITS), sum(parts))


@pytest.mark.parametrize("projection", ["none", "shared"])
def test_no_record_of_the_schema_is_longer_than_the_public_bound(projection):
    preparation = preparation_of(SCHEMA, per_image=False, scale=3.0)
    rng = np.random.default_rng(0)
    basis = make_basis(projection, 4, n_basis=3, n_filters=2, grid_shape=None, rng=rng)
    X = pd.DataFrame({"age": [0, 100, 100], "pulse": [30, 200, 30], "ward": ["a", "b", "a"]})
    found = features_of(X, SCHEMA, preparation, basis)
    norms = np.linalg.norm(found.integers[:, :-1].astype(float) * found.unit, axis=1)
    assert (norms <= longest_record(preparation, basis) * (1 + 1e-5)).all()
    if projection == "none":
        assert norms.max() == pytest.approx(longest_record(preparation, basis))


def test_the_mean_record_is_found_without_noise_and_is_zero_where_noise_rules():
    features, longest = some_features(500, seed=1), 2.0**15
    features.integers[:] += 2**12
    sums = record_sums(features, np.arange(500), longest, BITS).astype(float)
    mean = features.integers[:, :-1].astype(float).mean(axis=0)
    np.testing.assert_allclose(mean_record(sums, 1, 0.0, longest, BITS), mean, atol=2.0)
    np.testing.assert_allclose(mean_record(3 * sums, 3, 0.0, longest, BITS), mean, atol=2.0)
    a_little = mean_record(sums, 1, 10 * 2.0**BITS, longest, BITS)
    assert 0 < np.linalg.norm(a_little) < np.linalg.norm(mean)
    assert not mean_record(sums, 1, 60 * 2.0**BITS, longest, BITS).any()
    assert not mean_record(sums, 1, 200 * 2.0**BITS, longest, BITS).any()


@given(st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=6), st.floats(0, 1e15))
def test_whatever_is_answered_the_mean_record_is_whole_and_within_the_bound(noisy, noise_std):
    found = mean_record(np.array(noisy, dtype=float), 2, noise_std, 1000.0, BITS)
    assert np.array_equal(found, np.rint(found))
    assert np.linalg.norm(found) <= 1000.0 + len(found)


def test_no_number_of_the_mean_record_is_beyond_those_of_records():
    """Sums stay exact because a feature minus its mean has one bit more than a feature."""
    noisy = np.array([9e13, 1e12, 0.0, 0.0, 1e13])
    found = mean_record(noisy, 1, 1e12, 2.0 ** (FEATURE_BITS + 1), BITS)
    assert found[0] == 2.0**FEATURE_BITS
    assert 0 < found[1] < 2.0**FEATURE_BITS


def test_the_mean_record_is_zero_where_records_are_too_long_for_the_lattice():
    noisy = np.array([5.0, -3.0, 1e12])
    assert not mean_record(noisy, 1, 0.0, 2.0**25, 24).any()


def test_one_step_in_a_hundred_finds_the_mean_and_is_a_step_like_any_other_to_the_ledger():
    known = recipe_for("accurate", grid=True, n_inputs=784)
    assert (schedule(known, 60_000, None).n_steps, schedule(known, 60_000, None).n_mean_steps) == (
        600,
        6,
    )
    for other in (
        recipe_for("paper", grid=True, n_inputs=784),
        recipe_for("accurate", grid=True, n_inputs=784, projection="per_filter"),
    ):
        assert schedule(other, 60_000, None).n_mean_steps == 0
    assert [schedule(replace(known, n_steps=n), None, None).n_mean_steps for n in (24, 25)] == [
        0,
        1,
    ]
    told = []
    model = private(progress=lambda *done: told.append(done))
    _, transcript = record(model, *patients(50))
    assert [len(query) for query in transcript.queries] == [5] + 59 * [20]
    assert told[0] == (2, 60)
    assert told[-1] == (60, 60)


@pytest.mark.named_entropy
def test_filters_are_learned_relative_to_the_mean_record_and_biases_scatter_with_it():
    X, y = patients(8000)
    model = private().fit(X, y)
    bank = model.explain_global()
    mean = bank.inputs(X).mean(axis=0)
    assert np.abs(bank.noise.origin - mean).max() < 0.1
    at_the_mean = bank.noise.linear_variance(bank.noise.origin[None].astype(float))[0]
    np.testing.assert_allclose(at_the_mean, bank.noise.bias_variance)
    weights = bank.noise.weight_variance @ bank.noise.origin**2
    np.testing.assert_allclose(bank.noise.total_bias_variance, at_the_mean + weights)
    assert model.score(X, y) > 0.9  # a linear rule; 0.5 would be guessing


def test_joint_draws_have_the_stated_variance_of_scores_with_an_origin():
    """With 4,000 draws, a variance has a relative error of sqrt(2 / 4000) = 0.022."""
    noise = FilterNoise(np.full((3, 2, 4), 0.5), np.full((3, 2), 0.1), None, np.arange(4.0))
    at = np.array([[1.0, -1.0, 0.0, 2.0]])
    filters, biases = noise.draws(4000)
    said = filters @ at[0] + biases
    own = noise.linear_variance(at)[0]
    n = own.size
    expected = own * (1 - 2 / n) + own.sum() / n**2
    np.testing.assert_allclose(said.var(axis=0), expected, rtol=0.2)


def test_an_origin_of_another_size_is_refused():
    with pytest.raises(ValueError, match="origin"):
        FilterNoise(np.ones((2, 1, 3)), np.ones((2, 1)), origin=np.zeros(2))


# --- mistakes that replay has to notice -------------------------------------------------------


def unclipped(patch):
    """Do not shorten records that are longer than allowed."""
    honest = centering.record_sums

    def too_long(features, rows, longest, lattice_bits):
        sums = honest(features, rows, longest, lattice_bits)
        sums[:-1] *= 2
        return sums

    patch.setattr(centering, "record_sums", too_long)


def counted_beside(patch):
    """Release the count as if it had the whole clip to itself."""
    patch.setattr(centering, "_COUNT_SHARE", 1.0)


def exact_mean(patch):
    """Subtract the exact mean of the table."""

    def take_off(features, *others):
        mean = features.integers[:, :-1].mean(axis=0).round()
        found, *counted = honest(features, *others)
        features.integers[:, :-1] += (found / features.unit - mean).astype(np.int16)
        return found, *counted

    honest = centering.subtract_mean
    patch.setattr("dpexplain.models.locally_linear.private_classifier.subtract_mean", take_off)


def report():
    """Replay a fit without a record at the bounds of the schema."""
    X, y = patients(12)
    X.iloc[-1], y[-1] = [100.0, 200.0, "b"], "no"
    fitted = private(epsilon=1.0, sampling_probability=1.0)
    model, transcript = record(fitted, X, y)
    return replay(fitted, (X[:-1], y[:-1]), model, transcript)


def test_the_mean_record_stays_within_the_guarantee():
    assert report().holds


@pytest.mark.parametrize("plant", [unclipped, counted_beside, exact_mean])
def test_replay_notices_a_mistake_about_the_mean_record(plant, monkeypatch):
    plant(monkeypatch)
    assert not report().holds
