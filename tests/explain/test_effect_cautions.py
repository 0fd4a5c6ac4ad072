"""A sentence says if the estimate of the effect is missing or unreliable."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpexplain.explain import GlobalExplanation, Guarantee, NoiseModel
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
    assert model().effect_caution == ""
    assert model().effect_cautions == {}


@pytest.mark.parametrize("link", ["log", "logit"])
def test_a_private_model_without_an_estimate_says_that_the_truth_can_lie_outside(link):
    without = model((age(), job()), link=link, effect_scatter=None, effect_intercept=None)
    assert "not estimated here" in without.effect_caution
    assert "the true effect can lie outside" in without.effect_caution
    assert without.effect_cautions == dict.fromkeys(["age", "job"], without.effect_caution)


def test_a_model_that_is_not_private_needs_no_warning():
    open_ = Guarantee.not_private("reference")
    terms = (age(open_, noise_std=None), job(open_, noise_std=None))
    without = model(terms, guarantee=open_, effect_scatter=None, effect_intercept=None)
    assert without.effect_caution == ""
    assert without.effect_cautions == {}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_terms_whose_errors_hang_together_are_named(sign):
    pattern = np.array(CLEAR["effect"])
    shared = np.zeros((9, 1))
    shared[:4, 0], shared[4:8, 0] = 0.3 * pattern, -0.3 * sign * pattern
    tied = model(factor=shared)
    assert "'age' and 'job'" in tied.effect_caution
    assert set(tied.effect_cautions) == {"age", "job"}
    apart = model(factor=np.c_[shared * np.r_[[1] * 4, [0] * 5][:, None], np.eye(9)])
    assert apart.effect_caution == ""
    assert model(factor=np.zeros((9, 0))).effect_caution == ""


@pytest.mark.parametrize("size", [0.02, 0.3])
def test_terms_are_named_if_they_share_their_largest_error_though_estimates_miss_it(size):
    weights = np.array(MANY) / sum(MANY)
    pattern = np.array([1.0, -1.0, 0.5, 0.0])
    effect = np.array(CLEAR["effect"])
    pattern -= effect * (weights * effect @ pattern) / (weights * effect @ effect)
    shared = np.zeros((9, 1))
    shared[:4, 0], shared[4:8, 0] = size * pattern, -size * pattern
    found = model(factor=np.c_[shared, np.eye(9) * 0.05])
    assert ("'age' and 'job'" in found.effect_caution) is (size > 0.1)


@pytest.mark.parametrize(
    ("intercept", "words"), [(0.0, ""), (5.0, "With about 400 records in the rarer class")]
)
def test_few_people_of_one_class_are_named(intercept, words):
    assert model(effect_intercept=intercept).effect_caution.startswith(words)
    assert bool(model(effect_intercept=intercept).effect_caution) == bool(words)
    assert bool(model(effect_intercept=-intercept).effect_caution) == bool(words)


def test_few_people_are_named_whatever_is_predicted():
    few = (age(count=[100.0, 100, 100, -2], **CLEAR), job(count=[100.0, 100, 100, -2], **CLEAR))
    for link in ("logit", "identity"):
        assert model(few, link=link).effect_caution.startswith("With about 300 records")


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


def test_the_most_important_term_with_unclear_dependence_is_named_for_the_model():
    terms = (
        age(count=MANY, unclear_with="job", **CLEAR),
        job(count=MANY, unclear_with="wealth", contribution=[2.0, -2.0, 2.0, 0.0], **CLEAR),
    )
    assert "'job' and 'wealth'" in model(terms).effect_caution


def test_few_people_are_the_first_thing_that_is_said():
    assert "400 records" in unclear(effect_intercept=5.0).effect_caution


def test_a_term_in_one_bin_says_that_nothing_is_known_of_it():
    merged = age(
        contribution=[0.0], count=[6e4], bin_edges=[0.0, 1.0], special=(), noise_std=[0.1],
        effect=[0.0], effect_std=[0.7], effect_factor=2.0,
    )  # fmt: skip
    assert "single bin" in merged.effect_caution


def steps(curve, **changes):
    """Make an explanation of age alone, with a bin for each value of the curve."""
    n = len(curve)
    term = age(
        contribution=[0.5] * n, count=[1e4] * n, bin_edges=np.arange(n + 1.0), special=(),
        noise_std=[0.1] * n, effect=curve, effect_std=[0.3] * n, effect_factor=1.0,
    )  # fmt: skip
    fields = {"effect_scatter": NoiseModel((n,), np.full((n + 1, 1), 0.25), [0.15] * (n + 1))}
    return model(changes.pop("terms", (term,)), **{**fields, **changes})


def test_a_curve_that_may_jump_names_the_bins_between_which_it_does():
    rounded = [-1.0, -1.0, -0.95, -0.9, -0.3, 0.3, 0.9, 0.95, 1.0, 1.0, 1.05, 1.1]
    rounded[5] = 0.8  # from bin 4 to bin 5, by five standard deviations
    words = steps(rounded).effect_cautions["age"]
    assert "may jump between 4 and 5" in words
    assert "can leave the effect band" in words


@pytest.mark.parametrize(
    ("curve", "std"),
    [
        (np.linspace(-1.0, 1.0, 12), 0.01),  # equally steep everywhere
        (np.linspace(-1.0, 1.0, 3), 0.01),  # in three bins
        ([-1.0] * 6 + [1.0] * 6, 4.0),  # far less than the difference may err
    ],
)
def test_a_curve_without_a_sign_of_a_jump_says_nothing(curve, std):
    n = len(curve)
    scatter = NoiseModel((n,), np.full((n + 1, 1), 0.25), [std] * (n + 1))
    assert steps(curve, effect_scatter=scatter).effect_cautions == {}
    assert steps(curve).effect_caution == ""


def test_categories_without_an_order_do_not_jump():
    n = 8
    labels = tuple("abcdefgh")
    term = job(
        contribution=[0.5] * n, count=[1e4] * n, categories=labels, special=(),
        noise_std=[0.1] * n, effect=[-1.0] * 4 + [1.0] * 4, effect_std=[0.3] * n, effect_factor=1.0,
    )  # fmt: skip
    scatter = NoiseModel((n,), np.full((n + 1, 1), 0.25), [0.15] * (n + 1))
    assert model((term,), effect_scatter=scatter).effect_cautions == {}
    in_order = model((dataclasses.replace(term, ordered=True),), effect_scatter=scatter)
    assert "jump between d and e" in in_order.effect_cautions["job"]


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
    words = f"About {max(counts) / 1e3:.0f}% of the records are in one bin of 'age'"
    assert (words in term.effect_caution) is warned
    assert bool(term.effect_caution) is warned


def test_categories_need_no_smoothness():
    term = job(
        contribution=[0.5] * 4, count=[95e3, 2e3, 2e3, 1e3], categories=tuple("abcd"), special=(),
        noise_std=[0.1] * 4, effect=[-1.0, -0.5, 0.5, 1.0], effect_std=[0.1] * 4, effect_factor=1.0,
    )  # fmt: skip
    assert term.effect_caution == ""
    assert "one bin of 'job'" in dataclasses.replace(term, ordered=True).effect_caution


def thin_ends(**changes):
    """Make a curve over ten bins, of which the first and the last may be empty."""
    n, effect = 10, [0.0, *np.linspace(0.0, 3.5, 8), 3.5]
    fields = {
        "contribution": [0.5] * n, "count": [150.0] + [1e4] * (n - 2) + [-80.0],
        "count_std": [100.0] * n, "bin_edges": 20.0 + 5.0 * np.arange(n + 1.0), "special": (),
        "noise_std": [0.1] * n, "effect": effect, "effect_std": [0.1] * n, "effect_factor": 1.0,
    }  # fmt: skip
    return age(**{**fields, **changes})


def test_outer_bins_that_may_be_empty_are_named_if_the_curve_is_steep():
    steep = thin_ends()
    words = steep.effect_caution
    assert "may be in the outer bins of 'age' (20 – 24 and 65 – 70)" in words
    assert "can leave it" in words
    assert steps([0.0] * 10, terms=(steep,)).effect_cautions["age"] == words
    assert from_json(to_json(steep)).effect_caution == words


@pytest.mark.parametrize(
    "changes",
    [
        {"effect": [1.0] * 5 + [1.02] * 5},  # as flat as this, it stays in the band
        {"effect_std": [2.0] * 10},  # as wide as this, the band contains the curve
        {
            "bin_edges": [-500.0, *np.arange(25.0, 66.0, 5.0), 500.0],
            "effect_std": [3.6] * 10,
        },  # far,
        # but the other bins do not differ by more than the band is wide
        {"count": [1e4] * 10},  # nothing is empty
        {"count_std": None},  # nothing is known about the counts
        {"count": [1e4] + [150.0] * 9},  # only one bin is sure to have records
    ],
)
def test_outer_bins_are_not_named_if_the_band_holds_or_nothing_is_known(changes):
    term = thin_ends(**changes)
    assert "outer bins" not in term.effect_caution


def test_only_the_end_that_may_be_empty_is_named():
    counts = [1e4] * 8 + [150.0, 200.0]
    words = thin_ends(count=counts).effect_caution
    assert "outer bins of 'age' (60 – 70)" in words
