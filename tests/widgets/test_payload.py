"""A payload contains exactly what the comparison does, as JSON."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import view_examples
from dpexplain.edit import EditLog
from dpexplain.explain import NoiseModel
from dpexplain_widgets.payload.payload import all_fits, build_payload, check_payload
from example_explanations import classifier


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2)


@pytest.fixture(scope="module")
def payload(comparison):
    return build_payload(comparison)


def test_payload_is_strict_json_and_survives_it(payload):
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_numbers_are_bit_exact(comparison, payload):
    for epsilon, fits in zip(payload["epsilons"], payload["fits"], strict=True):
        for repeat, fit in enumerate(fits):
            explanation = comparison.explanations[epsilon][repeat]
            assert fit["intercept"] == explanation.intercept
            for name, term in zip(comparison.term_names, fit["terms"], strict=True):
                shape = explanation[name]
                assert np.array_equal(term["contribution"], shape.contribution)
                assert np.array_equal(term["count"], shape.count)
                assert np.array_equal(term["noise_std"], shape.noise_std)
                assert term["importance"] == shape.importance
                assert term["noise_floor"] == shape.noise_floor
                assert np.array_equal(term["total_std"], shape.total_std)
                assert term["signal"] == shape.signal.tolist()


def test_joint_noise_arrives_as_words_marks_and_places():
    errors = 0.01 * np.random.default_rng(0).standard_normal((500, 9))
    explanation = classifier(noise=NoiseModel.from_draws((4, 4), [errors]))
    fit = build_payload(explanation)["fits"][0][0]
    assert fit["noise_words"] == explanation.noise_words
    assert fit["terms_above_noise"] == 2
    assert [term["ranks"] for term in fit["terms"]] == [[2, 2], [1, 1]]
    assert all(term["above_noise"] is True for term in fit["terms"])
    without = build_payload(classifier())["fits"][0][0]
    assert {term["ranks"] for term in without["terms"]} == {None}


def test_terms_keep_their_order_in_every_fit(comparison, payload):
    names = [term["name"] for term in payload["terms"]]

    assert names == list(comparison.term_names)
    for fit in all_fits(payload):
        first = (
            comparison.reference if fit["epsilon"] == "inf" else comparison.explanations[0.25][0]
        )
        assert [term["labels"] for term in fit["terms"]] == [
            list(first[name].bin_labels) for name in names
        ]


def test_special_bins_are_the_last_labels(payload):
    for fit in all_fits(payload):
        for term in fit["terms"]:
            assert term["labels"][-len(term["special"]) :] == term["special"]
            n_value_bins = len(term["labels"]) - len(term["special"])
            assert term["edges"] is None or len(term["edges"]) == n_value_bins + 1


def test_each_fit_has_its_own_metrics(payload):
    assert payload["fits"][0][1]["metrics"] == {"AUROC": pytest.approx(0.745 - 0.08 - 0.003)}
    assert payload["reference"]["metrics"] == {"AUROC": 0.7481}


def test_each_fit_carries_its_guarantee_in_numbers_and_words(comparison, payload):
    guarantee = payload["fits"][2][0]["guarantee"]
    expected = comparison.explanations[1.0][0].guarantee

    assert guarantee == {
        **expected.to_dict(),
        "short": expected.short,
        "statement": expected.statement(),
    }
    assert payload["reference"]["guarantee"]["short"].startswith("NOT PRIVATE")


def test_ledger_and_the_two_labels_of_a_sweep_come_along(comparison, payload):
    assert payload["ledger"] == comparison.ledger.to_dict()
    assert payload["guarantee_words"] == list(comparison.guarantee_words)


def test_comparison_without_reference_gives_none():
    assert build_payload(view_examples.comparison(reference=False))["reference"] is None


def test_an_explanation_is_one_fit_at_its_epsilon(comparison):
    payload = build_payload(comparison.explanations[2.0][0])

    assert payload["epsilons"] == [2.0]
    assert [len(fits) for fits in payload["fits"]] == [1]
    assert payload["reference"] is None
    assert payload["ledger"] is None


def test_an_explanation_without_privacy_stands_where_the_reference_stands(comparison):
    payload = build_payload(comparison.reference)

    assert payload["epsilons"] == payload["fits"] == []
    assert payload["reference"]["epsilon"] == "inf"
    assert payload["guarantee_words"] == ["this model alone: NOT PRIVATE — do not publish"]


def test_a_ledger_is_a_payload_without_models(comparison):
    payload = build_payload(comparison.ledger)

    assert payload["terms"] == payload["fits"] == []
    assert payload["ledger"]["dataset"] == "survey-1974"
    assert payload["guarantee_words"] == [comparison.ledger.words()]


def test_a_fit_without_band_says_none():
    payload = build_payload(view_examples.comparison(noise_std=False))

    assert {term["noise_std"] for fit in all_fits(payload) for term in fit["terms"]} == {None}


def test_names_from_data_arrive_as_they_are():
    payload = build_payload(view_examples.comparison(view_examples.hostile_terms()))

    assert [term["name"] for term in payload["terms"]][:-1] == list(view_examples.HOSTILE_NAMES)
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_a_payload_is_taken_as_it_is(payload):
    assert build_payload(payload) == payload


@pytest.mark.parametrize("source", [None, 3, "age", [1.0], object()])
def test_anything_else_is_refused_with_the_next_step(source):
    with pytest.raises(TypeError, match=r"got \w+; sweep\(\.\.\.\) returns a Comparison"):
        build_payload(source)


def test_steps_of_an_edit_without_an_explanation_are_refused_with_the_next_step():
    with pytest.raises(TypeError, match=r"log\.apply\(explanation\)"):
        build_payload(EditLog())


@pytest.mark.parametrize("key", ["fits", "ledger", "version"])
def test_an_incomplete_payload_is_refused_by_key(payload, key):
    rest = {name: value for name, value in payload.items() if name != key}

    with pytest.raises(ValueError, match=f"missing \\['{key}'\\]"):
        check_payload(rest)


def test_lists_that_do_not_belong_together_are_refused(payload):
    with pytest.raises(ValueError, match="at least one fit for each epsilon"):
        check_payload({**payload, "fits": payload["fits"][:-1]})
    with pytest.raises(ValueError, match="at least one fit for each epsilon"):
        check_payload({**payload, "fits": [[] for _ in payload["fits"]]})
    with pytest.raises(ValueError, match="must contain its 6 terms"):
        check_payload({**payload, "terms": payload["terms"][:-1]})
    with pytest.raises(ValueError, match="payload version 2 is not 1"):
        check_payload({**payload, "version": 2})


def test_infinity_is_a_word_that_json_can_hold(payload):
    assert math.isinf(float(payload["reference"]["epsilon"]))


def test_curves_that_are_main_effects_say_so(comparison):
    curves = comparison.explanations[1.0][0]
    trees = dataclasses.replace(curves, main_effects_only=True)
    assert build_payload(trees)["main_effects_only"]
    assert not build_payload(curves)["main_effects_only"]
