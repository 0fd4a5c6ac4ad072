"""Values derived from an explanation's fields are computed once, and never go stale."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.explain import NoiseModel
from dpexplain.explain.noise_model import mean_absolute
from example_explanations import age, classifier

ERRORS = 0.1 * np.random.default_rng(0).standard_normal((500, 9))
NUMBERS = st.floats(-3.0, 3.0).map(lambda value: round(value, 3))


def noisy_classifier():
    return classifier(noise=NoiseModel.from_draws((4, 4), [ERRORS]))


def test_noise_is_drawn_once_for_all_that_is_asked_of_one_explanation(monkeypatch):
    explanation = noisy_classifier()
    drawn, blocks = [], NoiseModel._blocks_of_draws
    monkeypatch.setattr(
        NoiseModel,
        "_blocks_of_draws",
        lambda self, n, seed: drawn.append(n) or blocks(self, n, seed),
    )
    answers = [
        (explanation.ranking(), explanation.terms_above_noise, explanation.noise_words)
        for _ in range(2)
    ]

    assert len(drawn) == 2  # for the largest error of all, and for places
    assert answers[0][0].equals(answers[1][0])
    assert answers[0][1:] == answers[1][1:]


def test_changing_a_ranking_does_not_change_the_next_one():
    explanation = noisy_classifier()
    changed = explanation.ranking()
    changed["importance"] = 0.0

    assert (explanation.ranking()["importance"] > 0).all()


@pytest.mark.parametrize("name", ["weights", "total_std"])
def test_arrays_that_are_kept_cannot_be_written_to(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(age(), name)[0] = 1.0


def test_a_copy_with_other_fields_is_worked_out_anew():
    shape = age()
    before = (shape.importance, shape.kept_share, shape.weights.tolist())
    other = dataclasses.replace(shape, contribution=[1.0, 1.0, 1.0, 1.0], count=[1.0, 0, 0, 0])

    assert (other.importance, other.weights.tolist()) == (1.0, [1.0, 0.0, 0.0, 0.0])
    assert (shape.importance, shape.kept_share, shape.weights.tolist()) == before


@pytest.mark.parametrize("again", [copy.copy, lambda each: pickle.loads(pickle.dumps(each))])
def test_pickles_and_copies_hold_the_fields_alone(again):
    explanation = noisy_classifier()
    fields = {field.name for field in dataclasses.fields(explanation)}
    explanation.ranking()
    assert set(vars(explanation)) > fields

    assert set(vars(again(explanation))) == fields
    assert again(explanation).ranking().equals(explanation.ranking())


@given(
    curve=st.lists(NUMBERS, min_size=4, max_size=4),
    std=st.lists(st.floats(0.0, 2.0).map(lambda value: round(value, 3)), min_size=4, max_size=4),
)
def test_share_kept_of_a_curve_is_where_bisection_finds_it(curve, std):
    shape = age(contribution=curve, noise_std=std)
    size, spread, weights = np.array(curve), np.array(std), shape.weights

    def shown(share):
        return float(weights @ mean_absolute(share * size, spread))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shown(middle) < shape.importance else (low, middle)

    assert 0.0 <= shape.kept_share <= 1.0
    # The importance is flat in the share where the noise outweighs the curve, so it is compared.
    assert shown(shape.kept_share) == pytest.approx(shown(low), rel=1e-9, abs=1e-12)
