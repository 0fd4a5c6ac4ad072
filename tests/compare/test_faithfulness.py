"""Agreement of explanations with each other and with the truth."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import kendalltau

import view_examples
from dpexplain import DPExplainableBoostingClassifier
from dpexplain.compare import (
    epsilon_to_stand_out,
    faithfulness,
    kendall,
    local_sign_agreement,
    shape_distance,
    stand_out_words,
    truth_in_bins,
)
from dpexplain.datasets import make_additive
from dpexplain.explain import NoiseModel
from example_explanations import age, classifier, job, private_guarantee, samples

RNG = np.random.default_rng(0)


def noisy(**changes):
    errors = 0.05 * RNG.standard_normal((500, 9))
    return classifier(noise=NoiseModel.from_draws((4, 4), [errors]), **changes)


def test_an_explanation_is_faithful_to_itself():
    found = faithfulness(noisy(), classifier(), k=1)
    assert found.distance == found.relative_distance == 0.0
    assert found.rank_correlation == found.sign_agreement == found.top_k_overlap == 1.0
    assert found.rank_correlation_low <= 1.0 == found.rank_correlation_high


def test_a_turned_explanation_agrees_in_ranks_and_in_no_sign():
    turned = classifier(
        terms=tuple(
            dataclasses.replace(term, contribution=-term.contribution) for term in (age(), job())
        )
    )
    found = faithfulness(turned, classifier(), k=9)
    assert found.sign_agreement == 0.0
    assert found.relative_distance == pytest.approx(2.0)
    assert found.rank_correlation == 1.0
    assert found.k == 2
    assert math.isnan(found.rank_correlation_low)


def test_distance_does_not_depend_on_how_bins_are_cut():
    """A step function and its copy on finer bins are at distance zero from each other."""
    coarse = age()
    finer = age(
        bin_edges=[17.0, 20.0, 30.0, 45.0, 60.0, 90.0],
        contribution=[-0.5, -0.5, 0.25, 0.5, 0.5, 0.01],
        count=[10 * 3 / 13, 10 * 10 / 13, 20.0, 30 * 15 / 45, 30 * 30 / 45, -2.0],
        noise_std=None,
    )
    assert shape_distance(coarse, finer) == shape_distance(finer, coarse) == 0.0
    third = age(bin_edges=[17.0, 40.0, 50.0, 90.0])
    assert shape_distance(coarse, third) == pytest.approx(shape_distance(finer, third))
    # people of ages 30 to 40 (20 * 10 / 15) differ by 0.75, 45 to 50 (30 * 5 / 45) by 0.25
    wanted = math.sqrt((20 * 10 / 15 * 0.75**2 + 30 * 5 / 45 * 0.25**2) / 60)
    assert shape_distance(coarse, third) == pytest.approx(wanted)


@pytest.mark.parametrize("n_values", [2, 3, 9])
def test_tau_equals_that_of_scipy_with_ties(n_values):
    for _ in range(20):
        a, b = RNG.integers(0, n_values, (2, 8))
        if len(set(a)) > 1 < len(set(b)):
            assert kendall(a, b) == pytest.approx(kendalltau(a, b).statistic)
    assert math.isnan(kendall([1, 1], [1, 2]))


def test_signs_of_local_contributions_agree_by_size():
    local = samples()
    assert local_sign_agreement(local, local) == 1.0
    for _ in range(200):  # to the last bit, whatever the numbers
        numbers = RNG.standard_normal((12, 5)).T
        drawn = SimpleNamespace(contributions=numbers, term_names=())
        assert local_sign_agreement(drawn, drawn) == 1.0
    turned = samples(contributions=-local.contributions)
    assert local_sign_agreement(turned, local) == 0.0
    with pytest.raises(ValueError, match="same samples and terms"):
        local_sign_agreement(local, samples(term_names=("a", "b")))


def test_explanations_of_other_terms_are_refused():
    with pytest.raises(ValueError, match="same terms"):
        faithfulness(classifier(), classifier(terms=(age(),)))
    other = classifier(terms=(age(), job(categories=("nurse", "smith"))))
    with pytest.raises(ValueError, match="different categories"):
        faithfulness(classifier(), other)
    with pytest.raises(ValueError, match="k="):
        faithfulness(classifier(), classifier(), k=0)


@pytest.fixture(scope="module")
def fitted():
    data = make_additive("smooth", 10_000, random_state=0)
    model = DPExplainableBoostingClassifier(epsilon=4.0, schema=data.schema, structure_seed=0)
    return data, model.fit(data.X, data.y).explain_global()


@pytest.mark.full
def test_a_good_fit_is_faithful_to_the_truth_and_zeros_are_not(fitted):
    data, explanation = fitted
    for X in (None, data.X):
        truth = truth_in_bins(explanation, data.truth.shapes, X)
        assert not truth.guarantee.private
        found = faithfulness(explanation, truth)
        assert found.relative_distance < 0.5
        assert found.sign_agreement > 0.9
        assert found.rank_correlation_low <= found.rank_correlation <= 1.0
        assert found.top_k_overlap >= 0.8
        for name, shape in truth.items():
            assert abs(explanation[name].weights @ shape.contribution) < 1e-9
        zeros = [dataclasses.replace(t, contribution=0 * t.contribution) for t in explanation.terms]
        nothing = dataclasses.replace(explanation, terms=tuple(zeros), noise=None)
        assert faithfulness(nothing, truth).relative_distance == pytest.approx(1.0)


@pytest.mark.full
def test_a_clear_term_stands_out_at_a_smaller_epsilon_than_a_faint_one(fitted):
    _, explanation = fitted
    clear = epsilon_to_stand_out(explanation, "x1")
    faint = epsilon_to_stand_out(explanation, "x7")
    assert "x1" in explanation.terms_above_noise
    assert clear == explanation.guarantee.epsilon
    for needed in (faint, epsilon_to_stand_out(explanation, "letter")):
        # NaN says that one fit cannot tell, which is right of a term that its noise hides.
        assert np.isnan(needed) or needed >= clear
    assert stand_out_words(explanation, "x1").startswith("'x1' rises above the noise at epsilon")


@pytest.mark.full
def test_a_term_without_any_effect_is_said_to_stand_out_at_no_epsilon(fitted):
    _, explanation = fitted
    term = explanation["x1"]
    estimate = {"effect": None, "effect_std": None, "effect_factor": None}
    flat = dataclasses.replace(term, contribution=0 * term.contribution, **estimate)
    terms = tuple(flat if t.name == "x1" else t for t in explanation.terms)
    nothing = dataclasses.replace(explanation, terms=terms)
    assert epsilon_to_stand_out(nothing, "x1") == float("inf")
    assert "at any epsilon up to 50" in stand_out_words(nothing, "x1")


@pytest.mark.full
def test_a_term_of_which_little_is_known_is_said_to_be_one_that_cannot_be_told(fitted):
    _, explanation = fitted
    term = explanation["x1"]
    zeros = np.zeros(term.n_bins)
    for std, expected in ((1.0, np.isnan), (1e-9, np.isinf)):
        open_ = dataclasses.replace(
            term, contribution=zeros, effect=zeros, effect_std=zeros + std, effect_factor=3.0
        )
        terms = tuple(open_ if t.name == "x1" else t for t in explanation.terms)
        found = dataclasses.replace(explanation, terms=terms)
        assert expected(epsilon_to_stand_out(found, "x1"))
    assert "cannot be estimated" not in stand_out_words(found, "x1")


def test_a_comparison_holds_every_private_fit_against_its_reference():
    comparison = view_examples.comparison()
    table = comparison.faithfulness(k=2)
    assert len(table) == sum(len(fits) for fits in comparison.explanations.values())
    assert not table["private"].any()
    assert table["k"].eq(2).all()
    with pytest.raises(ValueError, match="comparison has no reference model"):
        dataclasses.replace(comparison, reference=None).faithfulness()


def test_planning_needs_noise_that_is_known():
    with pytest.raises(ValueError, match="private explanation"):
        epsilon_to_stand_out(classifier(private_guarantee()), "age")
    with pytest.raises(KeyError, match="no term"):
        epsilon_to_stand_out(classifier(), "height")
