"""Global explanations: a mapping of terms with one guarantee."""

from __future__ import annotations

import dataclasses
import pickle

import pytest
from hypothesis import given

from dpexplain.explain import GlobalExplanation, Guarantee
from example_explanations import age, classifier, global_explanations, job, private_guarantee
from pair_examples import paired


def test_explanation_is_a_mapping_in_model_order():
    explanation = classifier()
    assert list(explanation) == ["age", "job"]
    assert explanation["job"].kind == "categorical"
    assert "Age" not in explanation
    assert explanation.get("Age") is None


def test_unknown_term_is_answered_with_the_terms_there_are():
    with pytest.raises(KeyError, match=r"no term 'x'; the terms are 'age', 'job'\.[^?]*$"):
        classifier()["x"]


@pytest.mark.parametrize("name", ["agee", "Age", " age "])
def test_nearly_right_term_is_answered_with_the_right_one(name):
    with pytest.raises(KeyError, match=r"the terms are 'age', 'job'\. Did you mean 'age'\?"):
        classifier()[name]


def test_message_about_an_unknown_term_is_short_whatever_the_names():
    with pytest.raises(KeyError) as raised:
        classifier(terms=(age(name="x" * 10_000), job()))["X" * 10_000]
    assert "Did you mean 'xxx" in str(raised.value)
    assert len(str(raised.value)) < 250


def test_terms_get_the_unit_of_the_score():
    assert classifier()["age"].score_unit == "log-odds"
    regression = classifier(link="identity", classes=None, target_unit="visits")
    assert regression["job"].score_unit == regression.score_unit == "visits"


def test_score_is_named_after_the_class_it_speaks_for():
    assert classifier().score_name == "log-odds of income = high"


def test_importances_are_sorted_and_ties_keep_the_order_of_the_model():
    importances = classifier().importances()
    assert importances.index.tolist() == ["job", "age"]
    assert importances["age"] == age().importance
    tied = classifier(terms=(age(name="b"), age(name="a")))
    assert tied.importances().index.tolist() == ["b", "a"]


def test_frame_stacks_the_terms():
    frame = classifier().frame()
    assert frame["term"].tolist() == ["age"] * 4 + ["job"] * 4
    assert frame.index.tolist() == list(range(8))


@given(global_explanations())
def test_pickling_keeps_the_explanation(explanation):
    assert pickle.loads(pickle.dumps(explanation)) == explanation


def test_explanations_with_different_numbers_differ():
    assert classifier() == classifier()
    assert classifier() != classifier(intercept=0.0)
    assert classifier() != classifier(terms=(age(count=[1, 2, 3, 4]), job()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"terms": (age(), age())}, "distinct"),
        ({"terms": ()}, "one or more"),
        ({"terms": ("age",)}, "ShapeFunction"),
        ({"link": "log"}, "link"),
        ({"classes": None}, "two class names"),
        ({"classes": ("a", "a")}, "distinct"),
        ({"link": "identity"}, "no classes"),
        ({"intercept": float("nan")}, "intercept"),
        ({"guarantee": None}, "Guarantee"),
    ],
)
def test_contradicting_fields_are_refused(changes, message):
    fields = {
        "terms": (age(), job()),
        "intercept": 0.0,
        "link": "logit",
        "classes": ("no", "yes"),
        "guarantee": private_guarantee(),
    }
    with pytest.raises(ValueError, match=message):
        GlobalExplanation(**{**fields, **changes})


def test_a_private_explanation_holds_nothing_that_is_not_private():
    not_private = Guarantee.not_private("for comparison only")
    with pytest.raises(ValueError, match=r"those of another fit: 'age'\. Remove them"):
        classifier(terms=(age(not_private), job()))
    pair = paired().pairs[0]
    with pytest.raises(ValueError, match="cannot hold non-private components"):
        classifier(pairs=(pair,))
    assert classifier(not_private, pairs=(pair,)).pairs


@pytest.mark.parametrize(
    "other",
    [{"epsilon": 8.0}, {"delta": 1e-3}, {"adjacency": "replace"}, {"unit": "one person (patient)"}],
    ids=str,
)
def test_a_private_explanation_holds_nothing_of_a_fit_with_another_guarantee(other):
    given = {"epsilon_replace": None, **other}
    dearer = dataclasses.replace(classifier().guarantee, **given)
    with pytest.raises(ValueError, match="those of another fit: 'age'"):
        classifier(terms=(age(dearer), job()))
    with pytest.raises(ValueError, match="those of another fit: 'age', 'job'"):
        dataclasses.replace(classifier(dearer), guarantee=classifier().guarantee)


@pytest.mark.parametrize("shown", [classifier(), age()], ids=["explanation", "curve"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("to_json", "'to_json'; dpexplain.io.save.* dpexplain.io.load"),
        ("to_csv", "'to_csv'; frame"),
        ("nosuch", "object has no attribute 'nosuch'"),
    ],
)
def test_a_method_that_an_explanation_lacks_is_answered_with_what_to_call(shown, name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(shown, name)


@pytest.mark.parametrize(
    ("shown", "name", "words"),
    [
        (age(), "scores", "did you mean 'contribution'"),
        (age(), "counts", "did you mean 'count'"),
        (classifier(), "age", r"is a mapping of terms; use explanation\['age'\]"),
    ],
)
def test_a_number_that_is_asked_for_by_another_name_is_pointed_to(shown, name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(shown, name)
