"""Samples of a view: how they are read, marked and chosen, and what-if values."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import traitlets

import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.payload import all_fits, build_payload
from dpexplain_widgets.payload.samples import MOST_SAMPLES

PLANS = [view_examples.survey_terms()[k] for k in (0, 4, 5)]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(PLANS)


@pytest.fixture(scope="module")
def rows():
    return pd.DataFrame(
        {"children": ["yes", None, "maybe"], "age": ["31", np.nan, np.inf],
         "occupation": ["student", "teacher", "white-collar"], "name": list("abc")},
        index=["first", "second", 3],
    )  # fmt: skip


def test_samples_are_read_as_the_terms_read_them(comparison, rows):
    samples = build_payload(comparison, rows)["samples"]

    assert samples["names"] == ["first", "second", "3"]
    age, job, children = zip(*samples["rows"], strict=True)
    assert age[:2] == (31.0, None)
    assert math.isfinite(age[2])
    assert (job, children) == (("student", "teacher", "white-collar"), ("yes", None, "maybe"))
    json.dumps(samples, allow_nan=False)


def test_a_column_that_no_term_needs_stays_outside(comparison, rows):
    planted = rows.assign(name="planted-7f3a")

    assert "planted-7f3a" not in json.dumps(build_payload(comparison, planted))


@pytest.mark.parametrize("public", [False, True])
def test_samples_are_marked_as_public_only_on_somebodys_word(comparison, rows, public):
    payload = build_payload(comparison, rows, samples_public=public)

    assert payload["samples"]["public"] is public
    assert build_payload(comparison, rows)["samples"]["public"] is False


def test_samples_without_a_column_are_refused_by_its_name(comparison, rows):
    with pytest.raises(ValueError, match="samples lack 1 of 3 columns, starting with 'age'"):
        Explorer(comparison, samples=rows.drop(columns="age"))


@pytest.mark.parametrize("count", [0, MOST_SAMPLES + 1])
def test_too_many_or_no_samples_are_refused(comparison, rows, count):
    many = rows.iloc[np.zeros(count, dtype=int)]

    with pytest.raises(ValueError, match=rf"got {count} samples; a view shows 1 to 1,000"):
        Explorer(comparison, samples=many)


def test_samples_must_be_a_frame(comparison):
    with pytest.raises(TypeError, match=r"samples must be a DataFrame .*, got list"):
        Explorer(comparison, samples=[[1, 2, 3]])


def test_a_ledger_explains_no_sample(comparison, rows):
    with pytest.raises(ValueError, match="a ledger has none"):
        build_payload(comparison.ledger, rows)


def test_a_sample_is_chosen_by_its_place(comparison, rows):
    view = Explorer(comparison, samples=rows)
    view.sample = np.int64(2)
    with pytest.raises(traitlets.TraitError, match="sample=3 must be None or one of 0 to 2"):
        view.sample = 3

    assert view.sample == 2
    view.payload = build_payload(comparison)
    assert view.sample is None


@pytest.mark.parametrize(
    ("name", "value"), [("age", 17), ("age", 90.0), ("age", None), ("children", "yes")]
)
def test_values_inside_the_public_range_can_be_tried(comparison, name, value):
    view = Explorer(comparison, what_if={name: value})

    assert view.what_if == {name: value}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("age", 16.9, "what_if: 'age' must be a number in 17 to 90"),
        ("age", "old", "what_if: 'age' must be a number in 17 to 90"),
        ("age", True, "what_if: 'age' must be a number in 17 to 90"),
        ("age", math.nan, "what_if: 'age' must be a number in 17 to 90"),
        ("children", "maybe", "what_if: 'children' must be one of 'no', 'yes'"),
        ("Age", 20, "what_if: no term 'Age'"),
    ],
)
def test_values_outside_of_it_cannot(comparison, name, value, message):
    with pytest.raises(traitlets.TraitError, match=message):
        Explorer(comparison).what_if = {name: value}


def test_made_up_values_that_another_payload_lacks_are_dropped(comparison):
    view = Explorer(comparison, what_if={"age": 30})
    view.payload = build_payload(view_examples.comparison(PLANS[1:]))

    assert view.what_if == {}


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.2, math.nan])
def test_a_threshold_of_a_classifier_is_a_probability(comparison, threshold):
    with pytest.raises(traitlets.TraitError, match="must be None or a probability between 0 and 1"):
        Explorer(comparison).threshold = threshold


def test_a_threshold_of_a_regression_is_any_number():
    view = Explorer(view_examples.comparison(PLANS, classes=None), threshold=-3.5)

    assert view.threshold == -3.5
    with pytest.raises(traitlets.TraitError, match="must be None or a finite number"):
        view.threshold = math.inf


def test_directions_of_a_curve_keep_its_variances():
    from dpexplain.explain import NoiseModel
    from example_explanations import classifier

    draws = np.random.default_rng(0).standard_normal((500, 3)) @ np.ones((3, 9)) * 0.01
    noise = NoiseModel.from_draws((4, 4), [draws])
    fit = all_fits(build_payload(classifier(noise=noise)))[0]
    packed = [unpacked(term["directions"], len(term["labels"])) for term in fit["terms"]]

    for share in packed:
        assert ((share**2).sum(axis=0) <= 1.0).all()
        # One direction moves all bins alike; rounding takes at most a step of each entry.
        assert (share[0] > 1 - 2 / 14).all()
    assert fit["intercept_std"] == pytest.approx(noise.std[-1])


def unpacked(text: str, n_bins: int) -> np.ndarray:
    steps = [ord(letter) - ord("?") for letter in text]
    return np.array(steps, dtype=float).reshape(-1, n_bins) / 14
