"""Sentences say if the band of an effect may be wrong, or hardly shows it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpexplain.explain import GlobalExplanation, Guarantee, NoiseModel
from dpexplain.explain.bands._cautions import term_note
from dpexplain.io import from_json, to_json
from example_explanations import age, job, private_guarantee

CLEAR = {"effect": [-1.5, 0.5, 1.0, 0.2], "effect_std": [0.1] * 4, "effect_factor": 3.0}
MANY = [1e4, 2e4, 3e4, 50.0]


def model(terms=None, factor=None, link="logit", **changes):
    terms = terms or (age(count=MANY, **CLEAR), job(count=MANY, **CLEAR))
    columns = np.eye(9) * 0.05 if factor is None else factor
    fields = {
        "guarantee": private_guarantee(),
        "classes": ("no", "yes") if link == "logit" else None,
        "effect_scatter": NoiseModel((4, 4), columns, [0.01] * 9),
        "effect_intercept": 0.0,
    }
    return GlobalExplanation(terms, 0.1, link, **{**fields, **changes})


def test_nothing_is_said_where_the_estimate_holds():
    found = model()
    assert found.effect_caution == found.effect_note == ""
    assert found.effect_cautions == found.effect_notes == {}


@pytest.mark.parametrize("link", ["log", "logit"])
def test_a_private_model_without_an_estimate_says_that_the_truth_can_lie_outside(link):
    without = model((age(), job()), link=link, effect_scatter=None, effect_intercept=None)
    assert "not estimated here" in without.effect_caution
    assert "the true effect can lie outside" in without.effect_caution
    assert without.effect_cautions == dict.fromkeys(["age", "job"], without.effect_caution)
    assert without.effect_note == ""
    assert without.effect_notes == {}


def test_a_model_that_is_not_private_needs_no_warning():
    open_ = Guarantee.not_private("reference")
    terms = (age(open_, noise_std=None), job(open_, noise_std=None))
    without = model(terms, guarantee=open_, effect_scatter=None, effect_intercept=None)
    assert without.effect_caution == ""
    assert without.effect_cautions == {}


def test_the_words_about_a_ranking_tell_that_a_rank_depends_on_the_bands_of_all_terms():
    words = "if one has a warning or note, the ranks of others may be wrong"
    assert any(words in part for part in model().describe() if isinstance(part, str))
    without = model((age(), job()), effect_scatter=None, effect_intercept=None)
    assert not any(words in part for part in without.describe() if isinstance(part, str))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_terms_whose_errors_hang_together_are_named(sign):
    pattern = np.array(CLEAR["effect"])
    shared = np.zeros((9, 1))
    shared[:4, 0], shared[4:8, 0] = 0.3 * pattern, -0.3 * sign * pattern
    tied = model(factor=shared)
    assert "'age' and 'job'" in tied.effect_note
    assert set(tied.effect_notes) == {"age", "job"}
    assert tied.effect_cautions == {}
    apart = model(factor=np.c_[shared * np.r_[[1] * 4, [0] * 5][:, None], np.eye(9)])
    assert apart.effect_note == ""
    assert model(factor=np.zeros((9, 0))).effect_note == ""


@pytest.mark.parametrize("size", [0.02, 0.3])
def test_terms_are_named_if_they_share_their_largest_error_though_estimates_miss_it(size):
    weights = np.array(MANY) / sum(MANY)
    pattern = np.array([1.0, -1.0, 0.5, 0.0])
    effect = np.array(CLEAR["effect"])
    pattern -= effect * (weights * effect @ pattern) / (weights * effect @ effect)
    shared = np.zeros((9, 1))
    shared[:4, 0], shared[4:8, 0] = size * pattern, -size * pattern
    found = model(factor=np.c_[shared, np.eye(9) * 0.05])
    assert ("'age' and 'job'" in found.effect_note) is (size > 0.1)


@pytest.mark.parametrize(
    ("intercept", "words"), [(0.0, ""), (5.0, "With about 400 records in the rarer class")]
)
def test_few_people_of_one_class_are_named(intercept, words):
    assert model(effect_intercept=intercept).effect_note.startswith(words)
    assert bool(model(effect_intercept=intercept).effect_note) == bool(words)
    assert bool(model(effect_intercept=-intercept).effect_note) == bool(words)


def test_few_people_are_named_whatever_is_predicted():
    few = (age(count=[100.0, 100, 100, -2], **CLEAR), job(count=[100.0, 100, 100, -2], **CLEAR))
    for link in ("logit", "identity"):
        assert model(few, link=link).effect_note.startswith("With about 300 records")


def unclear(**changes):
    """Make a model whose age may depend on the job in another form than assumed."""
    terms = age(count=MANY, unclear_with="job", **CLEAR), job(count=MANY, **CLEAR)
    return model(terms, **changes)


def test_features_that_may_depend_in_another_form_are_named():
    found = unclear()
    assert "'age' and 'job' may depend on each other in another form" in found.effect_caution
    assert found.effect_cautions == {"age": found.effect_caution}
    assert found["age"].effect_caution == found.effect_caution
    assert from_json(to_json(found)).effect_cautions == found.effect_cautions


def test_several_terms_with_a_warning_are_counted_for_the_model():
    terms = (
        age(count=MANY, unclear_with="job", **CLEAR),
        job(count=MANY, unclear_with="wealth", **CLEAR),
    )
    found = model(terms)
    assert found.effect_caution.startswith("The true curves of 2 of 2 terms may be outside")
    assert "'job' and 'wealth'" in found.effect_cautions["job"]


def test_few_people_are_the_first_thing_that_is_noted():
    wide = {**CLEAR, "effect_std": [5.0] * 4}
    terms = age(count=MANY, **wide), job(count=MANY, **CLEAR)
    assert "includes 0 in every bin" in model(terms).effect_notes["age"]
    few = model(terms, effect_intercept=5.0)
    assert few.effect_notes == dict.fromkeys(["age", "job"], few.effect_note)


def test_only_a_curve_with_an_order_can_rise_and_fall_many_times():
    wide = {**CLEAR, "effect_std": [5.0] * 4}
    rising = term_note(age(count=MANY, **wide))
    assert "or one that rises and falls many times, cannot be ruled out" in rising
    unordered = term_note(job(count=MANY, **wide))
    assert unordered.endswith("an effect as large as the band cannot be ruled out.")


def test_a_warning_is_said_before_a_note():
    shared = np.zeros((9, 1))
    shared[:4, 0] = shared[4:8, 0] = 0.3 * np.array(CLEAR["effect"])
    found = unclear(factor=shared)
    assert "closely related" in found.effect_note
    words = "\n".join(map(str, found.describe()))
    assert found.effect_caution in words
    assert found.effect_note not in words
    assert list(found.term_words("age"))[-1] == found.effect_cautions["age"]
    assert list(found.term_words("job"))[-1] == found.effect_notes["job"]


def test_few_people_are_named_for_the_model_and_warnings_for_terms():
    few = unclear(effect_intercept=5.0)
    assert few.effect_caution == ""
    assert set(few.effect_cautions) == {"age"}
    assert "400 records" in few.effect_note
    assert few.effect_note in "\n".join(map(str, few.describe()))


def test_a_term_in_one_bin_says_that_nothing_is_known_of_it():
    merged = age(
        contribution=[0.0], count=[6e4], bin_edges=[0.0, 1.0], special=(), noise_std=[0.1],
        effect=[0.0], effect_std=[0.7], effect_factor=2.0,
    )  # fmt: skip
    assert "single bin" in merged.effect_note
    assert merged.effect_caution == ""


@pytest.mark.parametrize(
    ("counts", "special", "warned"),
    [
        ([95e3, 2e3, 2e3, 1e3], (), True),
        ([1e3, 2e3, 95e3, 2e3], (), True),
        ([85e3, 5e3, 5e3, 5e3], (), True),
        ([75e3, 10e3, 10e3, 5e3], (), False),  # a part of them is elsewhere
        ([95e3, 3e3, 2e3, 0.0], (), False),  # only two other bins
        ([1e3, 2e3, 2e3, 1e3, 95e3], ("missing",), False),  # most values are missing
    ],
)
def test_a_column_with_one_usual_value_is_said_to_rest_on_smoothness(counts, special, warned):
    n = len(counts)
    term = age(
        contribution=[0.5] * n, count=counts, bin_edges=np.arange(n + 1.0 - len(special)),
        special=special, noise_std=[0.1] * n, effect=np.linspace(-1.0, 1.0, n),
        effect_std=[0.1] * n, effect_factor=1.0,
    )  # fmt: skip
    words = f"about {max(counts) / 1e3:.0f}% of the records are in one bin of 'age'"
    assert (words in term.effect_caution) is warned
    assert bool(term.effect_caution) is warned


def test_categories_need_no_smoothness():
    term = job(
        contribution=[0.5] * 4, count=[95e3, 2e3, 2e3, 1e3], categories=tuple("abcd"), special=(),
        noise_std=[0.1] * 4, effect=[-1.0, -0.5, 0.5, 1.0], effect_std=[0.1] * 4, effect_factor=1.0,
    )  # fmt: skip
    assert term.effect_caution == ""
    assert "one bin of 'job'" in dataclasses.replace(term, ordered=True).effect_caution
