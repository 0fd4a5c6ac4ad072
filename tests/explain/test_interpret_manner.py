"""Explanations support InterpretML's names."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain.explain import MulticlassExplanation, PairAxis, PairCurve
from example_explanations import age, classifier, job
from fitted_models import FITTED, table

X = {"age": [20.0, None, 90.0], "job": ["nurse", "clerk", "cook"]}


def test_terms_have_names_scores_and_contributions():
    explanation = classifier()
    assert explanation.term_names_ == ["age", "job"]
    assert [scores.tolist() for scores in explanation.term_scores_] == [
        age().contribution.tolist(),
        job().contribution.tolist(),
    ]
    found = explanation.eval_terms(X)
    assert found.tolist() == [[-0.5, 1.0], [0.01, -1.0], [0.5, 0.1]]
    local = explanation.explain_local(X, [1, 0, 1])
    assert local.contributions.tolist() == found.tolist()


def test_terms_of_several_classes_have_a_last_axis():
    names = ("a", "b", "c")
    parts = [classifier(link="softmax", classes=names, of_class=name) for name in names]
    explanation = MulticlassExplanation(parts)
    assert explanation.term_names_ == ["age", "job"]
    assert [scores.shape for scores in explanation.term_scores_] == [(4, 3), (4, 3)]
    assert explanation.eval_terms(X).shape == (3, 2, 3)
    assert explanation.explain_local(X, y=None).scores.shape == (3, 3)


def test_data_holds_the_numbers_of_a_term():
    explanation = classifier()
    found = explanation.data(0)
    assert found == explanation.data("age")
    assert found["names"] == [17.0, 30.0, 45.0, 90.0]
    assert found["scores"] == [-0.5, 0.25, 0.5]
    assert found["special"] == {"missing": 0.01}
    assert found["density"]["scores"] == [10.0, 20.0, 30.0]
    jobs = explanation.data(1)
    assert (jobs["type"], jobs["names"], jobs["scores"]) == (
        "univariate", ["nurse", "clerk"], [1.0, -1.0],
    )  # fmt: skip
    overall = explanation.data()
    assert dict(zip(overall["names"], overall["scores"], strict=True)) == pytest.approx(
        explanation.importances().to_dict()
    )
    with pytest.raises(KeyError, match="no term 'wage'"):
        explanation.data("wage")


def test_data_of_a_pair_holds_its_cells():
    axes = (
        PairAxis("job", "categorical", categories=("nurse", "clerk"), special=("missing",)),
        PairAxis("age", "numeric", bin_edges=[20.0, 40.0, 60.0], special=("missing",)),
    )
    cells = np.arange(9.0).reshape(3, 3)
    pair = PairCurve("job & age", axes, cells, np.ones((3, 3)), guarantee=age().guarantee)
    found = classifier(pairs=(pair,)).data(2)
    assert found == {
        "type": "interaction",
        "left_names": ["nurse", "clerk"],
        "right_names": [20.0, 40.0, 60.0],
        "scores": [[0.0, 1.0], [3.0, 4.0]],
    }


@pytest.mark.full
def test_visualize_draws_a_term_or_the_importances():
    explanation = classifier()
    assert explanation.visualize(0).get_title() == explanation.plot("age").get_title()
    assert len(explanation.visualize().get_yticklabels()) == 2
    for shown in (explanation.data, explanation.visualize):
        with pytest.raises(IndexError, match="no term 2; there are 2 terms, from 0 to 1: pass an"):
            shown(2)


@pytest.mark.full
@pytest.mark.parametrize("fitted", [FITTED[0], FITTED[3]])
def test_a_model_and_its_explanation_have_the_same_terms(fitted):
    model, (rows, _) = fitted(), table(seed=2)
    explanation = model.explain_global(effect=False)
    assert model.term_names_ == explanation.term_names_
    for own, shown in zip(model.term_scores_, explanation.term_scores_, strict=True):
        assert np.array_equal(own, shown)
    assert np.array_equal(model.eval_terms(rows), explanation.eval_terms(rows))


def test_data_of_several_classes_have_a_last_axis():
    names = ("a", "b", "c")
    parts = [classifier(link="softmax", classes=names, of_class=name) for name in names]
    explanation = MulticlassExplanation(parts)
    found = explanation.data("age")
    assert found["scores"] == [[score] * 3 for score in (-0.5, 0.25, 0.5)]
    assert found["special"] == {"missing": [0.01] * 3}
    assert found["density"] == classifier().data("age")["density"]
    assert set(explanation.data()["names"]) == {"age", "job"}
    for shown in (explanation, explanation.explain_local(X)):
        with pytest.raises(ValueError, match="for_class"):
            shown.visualize(0)


def test_local_data_hold_the_contributions_of_a_sample():
    local = classifier().explain_local(X)
    found = local.data(1)
    assert (found["type"], found["names"]) == ("univariate", ["age", "job"])
    assert found["scores"] == local.contributions[1].tolist()
    assert found["values"] == list(local.bin_labels[1])
    extra = found["extra"]
    assert sum(found["scores"]) + extra["scores"][0] == pytest.approx(local.scores[1])
    with pytest.raises(IndexError, match="no sample 3; there are 3 samples, from 0 to 2"):
        local.data(3)


def test_local_data_of_several_classes_have_a_last_axis():
    names = ("a", "b", "c")
    parts = [classifier(link="softmax", classes=names, of_class=name) for name in names]
    found = MulticlassExplanation(parts).explain_local(X).data(0)
    assert np.shape(found["scores"]) == (2, 3)
    assert np.shape(found["extra"]["scores"]) == (1, 3)


@pytest.mark.full
def test_visualize_draws_a_sample():
    local = classifier().explain_local(X)
    assert local.visualize(1).get_title() == local.plot(1).get_title()
