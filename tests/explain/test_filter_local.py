"""Local explanations of locally linear models are exact and include their noise."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.explain import FilterBank
from effort import examples
from example_filters import (
    filter_bank,
    filter_explanations,
    filter_samples,
    image_bank,
    reference_bank,
    some_inputs,
)


def integrated_gradients(bank, inputs, n_steps):
    """Integrate the gradient of every score numerically along the straight path from zero.

    The bias is treated as an input of constant 1 that is scaled along the path. Gauss-Legendre
    nodes are used; the gradient follows from the definition of the score and the product rule.
    """
    nodes, node_weights = np.polynomial.legendre.leggauss(n_steps)
    beta = bank.inverse_temperature
    gradient = np.zeros((len(inputs), len(bank.classes), len(bank.input_names)))
    bias = np.zeros((len(inputs), len(bank.classes)))
    for node, weight in zip((nodes + 1) / 2, node_weights / 2, strict=True):
        g = node * (np.einsum("nd,kmd->nkm", inputs, bank.filters) + bank.biases)
        s = np.exp(beta * (g - g.max(axis=2, keepdims=True)))
        s /= s.sum(axis=2, keepdims=True)
        f = (s * g).sum(axis=2, keepdims=True)
        df_dg = s * (1 + beta * (g - f))
        gradient += weight * np.einsum("nkm,kmd->nkd", df_dg, bank.filters)
        bias += weight * (df_dg * bank.biases).sum(axis=2)
    return gradient * inputs[:, None, :], bias


@pytest.mark.full
@given(
    seed=st.integers(0, 2**32 - 1),
    n_filters=st.integers(1, 8),
    beta=st.floats(0.01, 3.0),
    size=st.floats(0.01, 3.0),
)
@examples(60)
def test_contributions_are_integrated_gradients_from_zero(seed, n_filters, beta, size):
    bank = filter_bank(seed=seed, n_filters=n_filters, inverse_temperature=beta)
    inputs = size * some_inputs(3, seed=seed)
    gradients, bias = integrated_gradients(bank, inputs, 200)
    explanation = bank.explain(inputs)
    np.testing.assert_allclose(explanation.contributions, gradients, atol=1e-6)
    np.testing.assert_allclose(explanation.bias_part, bias, atol=1e-6)


def test_with_a_bias_that_is_not_scaled_the_identity_would_not_hold():
    bank = filter_bank(n_filters=4, inverse_temperature=2.0)
    inputs = some_inputs(4)
    steps = (np.arange(2000) + 0.5) / 2000
    gradient = np.zeros((4, 3, 4))
    for step in steps:
        g = np.einsum("nd,kmd->nkm", step * inputs, bank.filters) + 3 * bank.biases
        s = np.exp(2.0 * (g - g.max(axis=2, keepdims=True)))
        s /= s.sum(axis=2, keepdims=True)
        f = (s * g).sum(axis=2, keepdims=True)
        gradient += np.einsum("nkm,kmd->nkd", s * (1 + 2.0 * (g - f)), bank.filters) / 2000
    large = dataclasses.replace(bank, biases=3 * bank.biases)
    gap = np.abs(large.explain(inputs).contributions - gradient * inputs[:, None, :])
    assert gap.max() > 0.05


@given(filter_explanations())
def test_contributions_and_bias_part_add_up_to_the_score(explanation):
    frame = explanation.frame()
    for sample in range(len(explanation)):
        for k, name in enumerate(explanation.classes):
            chosen = frame[(frame["sample"] == sample) & (frame["class"] == name)]
            total = explanation.bias_part[sample, k]
            for contribution in chosen["contribution"]:
                total = total + contribution
            assert total == explanation.scores[sample, k]  # bit by bit


def test_explained_scores_are_those_of_the_model():
    bank, inputs = filter_bank(), some_inputs(50)
    explanation = bank.explain(inputs)
    np.testing.assert_allclose(explanation.scores, bank.scores(inputs), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        explanation.predictions, bank.probabilities(inputs), rtol=1e-10, atol=1e-12
    )
    best = bank.scores(inputs).argmax(axis=1)
    assert explanation.predicted == tuple(bank.classes[place] for place in best)


@pytest.mark.full
@pytest.mark.parametrize("make", [filter_bank, image_bank])
def test_deviations_are_those_of_models_with_fresh_noise(make):
    """Noise is small compared with the weights, so the first-order terms dominate."""
    bank = make()
    n_inputs = len(bank.input_names)
    noise = dataclasses.replace(
        bank.noise,
        variance=bank.noise.variance * 1e-4,
        bias_variance=bank.noise.bias_variance * 1e-4,
    )
    bank = dataclasses.replace(bank, noise=noise, inverse_temperature=0.5)
    inputs = some_inputs(3, n_inputs)
    explanation = bank.explain(inputs)
    n_draws = 3_000
    filters, biases = noise.draws(n_draws)
    again = [
        FilterBank(
            bank.filters + w,
            bank.biases + b,
            classes=bank.classes,
            input_names=bank.input_names,
            guarantee=bank.guarantee,
            inverse_temperature=0.5,
        ).explain(inputs)
        for w, b in zip(filters, biases, strict=True)
    ]
    weighted = np.stack([each.effective for each in again])
    scores = np.stack([each.scores for each in again])
    # 5 standard errors of a deviation, and 2 % for what is beyond the first order; the draws are
    # seeded, so that the outcome is always the same.
    close = {"rtol": 5 / math.sqrt(2 * n_draws) + 0.02, "atol": 1e-12}
    np.testing.assert_allclose(weighted.std(axis=0), explanation.effective_std, **close)
    np.testing.assert_allclose(scores.std(axis=0), explanation.score_std, **close)
    own, own_score = explanation.own_std, explanation.own_score_std
    for a, b in ((0, 1), (2, 0)):
        gap = weighted[:, :, a] - weighted[:, :, b]
        np.testing.assert_allclose(gap.std(axis=0), np.hypot(own[:, a], own[:, b]), **close)
        gap = scores[:, :, a] - scores[:, :, b]
        expected = np.hypot(own_score[:, a], own_score[:, b])
        np.testing.assert_allclose(gap.std(axis=0), expected, **close)


def test_contrast_of_two_classes_is_free_of_the_common_mean():
    bank, inputs = filter_bank(), some_inputs(2)
    explanation = bank.explain(inputs)
    contrast = explanation.contrast(1, "high", "low")
    total = contrast.weights.sum() + contrast.bias
    gap = explanation.scores[1, 2] - explanation.scores[1, 0]
    assert total == pytest.approx(gap, rel=1e-12)
    expected = explanation.contributions[1, 2] - explanation.contributions[1, 0]
    np.testing.assert_array_equal(contrast.weights, expected)
    with pytest.raises(ValueError, match="two different classes"):
        explanation.contrast(1, "low", "low")


def test_certainties_lie_between_a_coin_and_one():
    explanation = filter_samples()
    for certainty in (explanation.sign_certainty, explanation.lead_certainty):
        assert ((certainty >= 0.5) & (certainty <= 1.0)).all()


def test_top_filter_has_the_largest_share_and_shares_count_the_filters_at_work():
    explanation = filter_bank(n_filters=5).explain(some_inputs(6))
    shares = explanation.weightings
    np.testing.assert_array_equal(
        np.take_along_axis(shares, explanation.top_filters[..., None], axis=2)[..., 0],
        shares.max(axis=2),
    )
    assert (explanation.active_filters >= 1).all()
    assert (explanation.active_filters <= 5 + 1e-12).all()
    even = filter_bank(n_filters=5, inverse_temperature=1e-12).explain(some_inputs(1))
    np.testing.assert_allclose(even.active_filters, 5.0)


def test_samples_are_not_public_unless_marked():
    explanation = filter_samples()
    assert not explanation.releasable
    assert "not marked public" in explanation._repr_html_()
    assert "samples not public" in repr(explanation)
    for part in (
        explanation.weighted_filter(0),
        explanation.contribution_map(0),
        explanation.contrast(0, "high", "low"),
    ):
        assert not part.guarantee.private
    public = filter_samples(public=True)
    assert public.releasable
    assert public.contrast(0, "high", "low").guarantee == public.guarantee
    assert "not marked public" not in public._repr_html_()


def test_public_samples_of_a_reference_are_not_releasable():
    explanation = reference_bank().explain(some_inputs(1), samples_public=True)
    assert not explanation.releasable
    assert explanation.sign_certainty is None
    assert explanation.lead_certainty is None
    assert explanation.contrast(0, "low", "high").noise_std is None


@pytest.mark.full
@given(filter_explanations())
def test_every_explanation_can_be_shown(explanation):
    repr(explanation)
    explanation._repr_html_()
    explanation.frame()
    assert np.isfinite(explanation.scores).all()
    assert np.isfinite(explanation.predictions).all()


@pytest.mark.parametrize("sample", [-1, 2, 0.0, True])
def test_sample_that_was_not_explained_is_refused(sample):
    explanation = filter_samples()
    for call in (explanation.frame, explanation.weighted_filter, explanation.contribution_map):
        with pytest.raises(ValueError, match="sample"):
            call(sample)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weightings": np.full((2, 3, 3), 0.5)}, "shares"),
        ({"effective": np.zeros((2, 3, 5))}, "effective has shape"),
        ({"bias_part": np.full((2, 3), np.inf)}, "finite"),
        ({"effective_std": None}, "all be given"),
        ({"score_std": np.full((2, 3), -1.0)}, "negative"),
        ({"grid_shape": (3,)}, "grid_shape"),
    ],
)
def test_fields_that_contradict_each_other_are_refused_here_too(changes, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(filter_samples(), **changes)


@pytest.mark.parametrize("inputs", [[[1.0, 2.0]], [1.0] * 4, [[np.nan] * 4], [[1e300] * 4], "x"])
def test_inputs_of_another_shape_or_size_are_refused(inputs):
    for call in (filter_bank().scores, filter_bank().weightings, filter_bank().explain):
        with pytest.raises(ValueError, match="inputs"):
            call(inputs)
