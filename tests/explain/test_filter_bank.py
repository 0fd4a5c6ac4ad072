"""Filters of a locally linear model: their predictions, meaning and noise."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpexplain.explain import FilterBank, FilterNoise, Guarantee
from dpexplain.explain.filters.filter_noise import common_removed_variance, without_common
from example_explanations import HOSTILE_NAMES
from example_filters import (
    filter_bank,
    filter_banks,
    image_bank,
    reference_bank,
    some_inputs,
)

N_DRAWS = 4_000


def naive_scores(filters, biases, beta, inputs):
    """Compute scores as in section 3 of the paper, one number at a time."""
    scores = np.zeros((len(inputs), len(filters)))
    for n, x in enumerate(inputs):
        for k in range(len(filters)):
            g = [float(w @ x + b) for w, b in zip(filters[k], biases[k], strict=True)]
            powers = [np.exp(beta * value) for value in g]
            scores[n, k] = sum(p / sum(powers) * value for p, value in zip(powers, g, strict=True))
    return scores


def test_scores_are_those_of_the_paper():
    bank, inputs = filter_bank(), some_inputs()
    expected = naive_scores(bank.filters, bank.biases, bank.inverse_temperature, inputs)
    np.testing.assert_allclose(bank.scores(inputs), expected, rtol=1e-12, atol=1e-13)
    powers = np.exp(expected)
    np.testing.assert_allclose(
        bank.probabilities(inputs), powers / powers.sum(axis=1, keepdims=True), rtol=1e-12
    )


def test_one_filter_per_class_is_multinomial_logistic_regression():
    bank, inputs = filter_bank(n_filters=1), some_inputs()
    linear = inputs @ bank.filters[:, 0].T + bank.biases[:, 0]
    np.testing.assert_allclose(bank.scores(inputs), linear, rtol=1e-12, atol=1e-14)


def test_description_of_a_table_lists_mean_weights_and_that_of_an_image_does_not():
    bank = filter_bank()
    *_, words, table = bank.describe()
    assert words.startswith("Mean filter of each class")
    assert set(table.index) == set(bank.input_names)
    ratios = []
    for k, label in enumerate(bank.classes):
        order = [bank.input_names.index(name) for name in table.index]
        weights, std = bank.class_means()[k, order], bank.class_mean_std[k, order]
        np.testing.assert_array_equal(table[label, "weight"], weights)
        np.testing.assert_array_equal(table[label, "noise_std"], std)
        ratios.append(np.abs(weights) / std)
    assert (np.diff(np.max(ratios, axis=0)) <= 0).all()
    *_, without_noise = reference_bank().describe()
    assert list(without_noise.columns.levels[1]) == ["weight"]
    assert all(isinstance(part, str) for part in image_bank().describe())


@given(common=arrays(float, 4, elements=st.floats(-10, 10)), shift=st.floats(-10, 10))
def test_what_all_filters_have_in_common_changes_no_probability(common, shift):
    bank, inputs = filter_bank(), some_inputs()
    moved = naive_scores(
        bank.filters + common, bank.biases + shift, bank.inverse_temperature, inputs
    )
    powers = np.exp(moved - moved.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        bank.probabilities(inputs), powers / powers.sum(axis=1, keepdims=True), atol=1e-9
    )
    again = FilterBank.from_weights(
        bank.filters + common,
        bank.biases + shift,
        classes=bank.classes,
        input_names=bank.input_names,
        guarantee=bank.guarantee,
    )
    np.testing.assert_allclose(again.filters, bank.filters, atol=1e-12)
    np.testing.assert_allclose(again.biases, bank.biases, atol=1e-12)


def test_filters_with_a_common_mean_are_refused():
    bank = filter_bank()
    with pytest.raises(ValueError, match="filters have a common mean"):
        dataclasses.replace(bank, filters=bank.filters + 1.0)
    with pytest.raises(ValueError, match="biases have a common mean"):
        dataclasses.replace(bank, biases=bank.biases + 1.0)


def deviations(draws):
    """Return sample standard deviations, which are accurate to 5 / sqrt(2 N_DRAWS)."""
    return np.sqrt((draws**2).mean(axis=0))


def test_deviations_are_those_of_joint_draws():
    bank = filter_bank()
    filters, biases = bank.noise.draws(N_DRAWS)
    # 5 standard errors for each of 36 + 9 + 12 + 4 values: chance 61 * 6e-7, and the draws are
    # seeded, so that the outcome is always the same.
    close = {"rtol": 5 / np.sqrt(2 * N_DRAWS)}
    np.testing.assert_allclose(deviations(filters), bank.filter_std, **close)
    np.testing.assert_allclose(deviations(biases), bank.bias_std, **close)
    np.testing.assert_allclose(deviations(filters.mean(axis=2)), bank.class_mean_std, **close)
    contrast = filters[:, 2].mean(axis=1) - filters[:, 0].mean(axis=1)
    np.testing.assert_allclose(
        deviations(contrast), bank.contrast("high", "low").noise_std, **close
    )
    offset = biases[:, 2].mean(axis=1) - biases[:, 0].mean(axis=1)
    np.testing.assert_allclose(deviations(offset), bank.contrast("high", "low").bias_std, **close)
    mean = biases[:, 1].mean(axis=1)
    np.testing.assert_allclose(deviations(mean), bank.class_mean("middle").bias_std, **close)


def test_noise_of_a_basis_is_correlated_between_inputs():
    noise = filter_bank().noise
    filters, _ = noise.draws(N_DRAWS)
    flat = filters[:, 0, 0]
    found = flat.T @ flat / N_DRAWS
    n = 9
    own = noise.basis.T @ np.diag(noise.variance[0, 0]) @ noise.basis
    total = sum(noise.basis.T @ np.diag(v) @ noise.basis for row in noise.variance for v in row)
    expected = own * (1 - 2 / n) + total / n**2
    # The standard error of a covariance is at most the product of deviations over sqrt(N / 2).
    limit = 5 * np.sqrt(np.outer(np.diag(expected), np.diag(expected)) * 2 / N_DRAWS)
    assert np.all(np.abs(found - expected) < limit)
    assert np.abs(np.corrcoef(flat.T) - np.eye(4)).max() > 0.3


@pytest.mark.parametrize("per_filter", [False, True])
def test_bases_shared_and_per_filter_give_one_arithmetic(per_filter):
    rng = np.random.default_rng(2)
    shared = rng.standard_normal((3, 4)).astype(np.float32).astype(float)
    basis = np.stack([shared] * 5) if per_filter else shared
    noise = FilterNoise(rng.uniform(0, 1, (2, 5, 3)), rng.uniform(0, 1, (2, 5)), basis)
    inputs = some_inputs(3)
    expected = np.zeros((3, 2, 5))
    for n in range(3):
        for k in range(2):
            for m in range(5):
                features = shared @ inputs[n]
                variance = noise.variance[k, m] @ features**2
                expected[n, k, m] = variance + noise.bias_variance[k, m]
    np.testing.assert_allclose(noise.linear_variance(inputs), expected, rtol=1e-12)
    np.testing.assert_allclose(noise.weight_variance, noise.variance @ shared**2, rtol=1e-12)
    filters, _ = noise.draws(2)
    assert filters.shape == (2, 2, 5, 4)
    np.testing.assert_allclose(filters.mean(axis=(1, 2)), 0, atol=1e-12)


def test_variance_after_the_common_mean_is_taken_off_is_exact():
    variance = np.random.default_rng(3).uniform(0, 1, (2, 3, 4))
    maker = np.eye(6) - 1 / 6  # takes the mean of six values off
    expected = (maker**2) @ variance.reshape(6, 4)
    np.testing.assert_allclose(common_removed_variance(variance).reshape(6, 4), expected)


def test_averages_stand_out_more_than_single_filters():
    bank = filter_bank(n_filters=8, noise_std=0.5)
    assert bank.share_above_noise("class_means") is not None
    single, mean = bank.filter_std.mean(), bank.class_mean_std.mean()
    assert mean < single / 2


def test_noise_alone_stays_inside_its_band_and_has_a_ratio_of_one():
    noise = FilterNoise(np.full((4, 10, 100), 0.3), np.full((4, 10), 0.1))
    filters, biases = noise.draws(1, seed=5)
    bank = FilterBank(
        filters[0],
        biases[0],
        classes=tuple("abcd"),
        input_names=tuple(map(str, range(100))),
        guarantee=Guarantee(1.0, 1e-6, "add_remove", True),
        noise=noise,
    )
    # 4000 weights, each outside with 0.0455; five standard errors.
    assert abs(bank.share_above_noise() - 0.0455) < 5 * np.sqrt(0.0455 * 0.9545 / 4000)
    # A ratio has a standard error of 1 / sqrt(2 * 100); there are 40.
    assert np.abs(bank.signal_to_noise() - 1).max() < 5 / np.sqrt(200)
    assert "lie outside 2 standard deviations" in bank.noise_words


def test_model_without_noise_says_nothing_of_noise():
    bank = reference_bank()
    assert bank.filter_std is None
    assert bank.bias_std is None
    assert bank.class_mean_std is None
    assert bank.signal_to_noise() is None
    assert bank.share_above_noise() is None
    assert bank.noise_words == ""
    assert bank.contrast("low", "high").sign_certainty is None
    assert bank.frame()["noise_std"].isna().all()
    assert "NOT PRIVATE" in repr(bank)
    assert "NOT PRIVATE" in bank._repr_html_()


def test_contrast_is_the_difference_of_means_and_needs_two_classes():
    bank = filter_bank()
    means = bank.filters.mean(axis=1)
    np.testing.assert_allclose(bank.contrast("high", "low").weights, means[2] - means[0])
    np.testing.assert_array_equal(
        bank.contrast("low", "high").weights, -bank.contrast("high", "low").weights
    )
    with pytest.raises(ValueError, match="two different classes"):
        bank.contrast("low", "low")
    with pytest.raises(KeyError, match=r"no class 'hihg'.*Did you mean 'high'"):
        bank.contrast("hihg", "low")


def test_frame_has_a_row_for_each_weight():
    bank = filter_bank()
    frame = bank.frame()
    assert len(frame) == 3 * 3 * 4
    row = frame[(frame["class"] == "middle") & (frame["filter"] == 2)]
    np.testing.assert_array_equal(row["weight"], bank.filters[1, 2])
    np.testing.assert_array_equal(row["noise_std"], bank.filter_std[1, 2])
    assert list(row["input"]) == list(bank.input_names)
    assert row["sign_certainty"].between(0.5, 1).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": ("one",)}, "two classes|shape"),
        ({"classes": ("a", "a", "b")}, "distinct"),
        ({"grid_shape": (2, 3)}, "grid_shape"),
        ({"grid_shape": (2, 2.0)}, "grid_shape"),
        ({"grid_shape": (-2, -2)}, "grid_shape"),
        ({"inverse_temperature": 0.0}, "inverse_temperature"),
        ({"inverse_temperature": float("nan")}, "inverse_temperature"),
        ({"noise": "loud"}, "FilterNoise"),
        ({"noise": FilterNoise(np.ones((3, 2, 4)), np.ones((3, 2)))}, "shape"),
        ({"guarantee": "private"}, "Guarantee"),
        ({"preparation": "none"}, "InputPreparation"),
        ({"input_names": ("a", "b", "c", "d")}, "other inputs"),
        ({"model_name": 3}, "model_name"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(filter_bank(), **changes)


@pytest.mark.parametrize("place", [-1, 3, 1.0, True])
def test_filter_that_does_not_exist_is_refused(place):
    with pytest.raises(ValueError, match="place="):
        filter_bank().filter("low", place)


def test_bank_is_frozen_even_after_pickling():
    bank = pickle.loads(pickle.dumps(filter_bank()))
    assert bank == filter_bank()
    with pytest.raises(ValueError, match="read-only"):
        bank.filters[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        bank.noise.variance[0] = 1.0
    assert bank.filter_std is not None
    again = pickle.loads(pickle.dumps(bank))  # with what was computed on the way
    assert again == bank


@given(filter_banks())
def test_every_bank_can_be_shown(bank):
    assert len(repr(bank)) < 20_000
    bank._repr_html_()
    bank.frame()
    assert isinstance(bank.noise_words, str)
    bank.class_mean(bank.classes[0])._repr_html_()
    assert np.isfinite(bank.scores(np.ones((2, len(bank.input_names))))).all()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_text_in_html(name):
    bank = image_bank(classes=("a", "b", name), target_name=name, model_name=name)
    page = bank._repr_html_() + bank.class_mean(name)._repr_html_()
    assert "<script>alert" not in page
    assert "<img" not in page


def test_common_mean_is_taken_off_along_the_right_axes():
    filters = np.random.default_rng(4).standard_normal((2, 3, 4, 5))
    biases = np.random.default_rng(5).standard_normal((2, 3, 4))
    weights, offsets = without_common(filters, biases)
    np.testing.assert_allclose(weights.mean(axis=(1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose(offsets.mean(axis=(1, 2)), 0, atol=1e-12)
