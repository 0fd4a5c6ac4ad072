"""Local explanations: contributions that add up to the score, bit by bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.explain import total_score
from example_explanations import local_explanations, reference, samples


def test_score_is_the_sum_from_left_to_right():
    # 0.1 + 0.2 + 0.3 depends on the order of addition in the last bit.
    row = [0.1, 0.2, 0.3, 1e16, -1e16]
    expected = ((((0.7 + 0.1) + 0.2) + 0.3) + 1e16) - 1e16
    assert total_score([row], 0.7)[0] == expected


@given(local_explanations())
def test_scores_are_the_total_of_the_contributions(explanation):
    scores = total_score(explanation.contributions, explanation.intercept)
    assert explanation.scores.tobytes() == scores.tobytes()


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_score_of_a_sample_does_not_depend_on_the_samples_beside_it(n, seed):
    matrix = np.random.default_rng(seed).normal(size=(n, 7)) * 1e3
    together = total_score(matrix, 0.1)
    alone = [total_score(matrix[index : index + 1], 0.1)[0] for index in range(n)]
    assert together.tolist() == alone


def test_score_reads_any_memory_layout_the_same():
    matrix = np.random.default_rng(0).normal(size=(50, 6))
    assert total_score(np.asfortranarray(matrix), 0.5).tolist() == total_score(matrix, 0.5).tolist()


def test_score_of_a_vector_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        total_score([1.0, 2.0], 0.0)


def test_predictions_of_a_classifier_are_probabilities_of_the_second_class():
    explanation = samples(contributions=[[0.75, 0.0], [-2000.0, 0.0]])
    assert explanation.predictions.tolist() == [0.5, 0.0]
    assert samples(contributions=[[2000.0, 0.0]] * 2).predictions.tolist() == [1.0, 1.0]


def test_predictions_of_a_regression_are_scores():
    regression = samples(link="identity", classes=None, target_unit="visits")
    assert regression.predictions.tolist() == regression.scores.tolist()
    assert regression.score_unit == "visits"


def test_frame_of_one_sample_adds_up_to_its_score():
    explanation = samples()
    frame = explanation.frame(1)
    assert frame["sample"].tolist() == [1, 1]
    assert frame["bin"].tolist() == ["17 - 29", "clerk"]
    assert sum(frame["contribution"], explanation.intercept) == explanation.scores[1]
    assert len(explanation.frame()) == 4


@pytest.mark.parametrize("sample", [-1, 2, True, 0.0, "0"])
def test_sample_that_is_not_there_is_refused(sample):
    with pytest.raises(ValueError, match="sample"):
        samples().frame(sample)


def test_samples_are_not_public_unless_said_so():
    assert not samples().releasable
    assert samples(samples_public=True).releasable
    assert not samples(samples_public=True, guarantee=reference().guarantee).releasable
    assert "not marked public" in samples()._repr_html_()
    assert "not marked public" not in samples(samples_public=True)._repr_html_()


@given(local_explanations())
def test_pickling_keeps_every_bit(explanation):
    again = pickle.loads(pickle.dumps(explanation))
    assert again == explanation
    assert again.contributions.tobytes() == explanation.contributions.tobytes()
    assert not again.contributions.flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contributions": [[1.0, 2.0, 3.0]] * 2}, "contributions has shape"),
        ({"contributions": [[1.0, float("nan")]] * 2}, "finite"),
        ({"bin_labels": (("a", "b"),)}, "bin_labels"),
        ({"bin_labels": (("a",), ("b",))}, "bin_labels"),
        ({"bin_labels": ((1, 2), (3, 4))}, "bin_labels"),
        ({"noise_std": [[0.1, -0.1]] * 2}, "negative"),
        ({"total_std": [[0.1, 0.1]]}, "total_std has shape"),
        ({"score_std": [0.1, -0.1]}, "negative"),
        ({"term_names": ("age", "age")}, "distinct"),
        ({"classes": None}, "class names"),
    ],
)
def test_contradicting_fields_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        samples(**changes)
