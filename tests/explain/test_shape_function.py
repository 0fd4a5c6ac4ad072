"""Shape functions: bins that partition the line, exact values, and readable frames."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.explain import ShapeFunction
from dpexplain.explain._text import interval_labels
from example_explanations import age, job, shapes


def test_bins_are_closed_on_the_left_and_the_last_one_on_both_sides():
    assert age().bin_index([17, 29.999, 30, 44.9, 45, 90]).tolist() == [0, 0, 1, 1, 2, 2]


def test_values_beyond_the_edges_fall_into_the_outermost_bins():
    assert age().bin_index([-math.inf, -5, 1e9, math.inf]).tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("cell", [None, math.nan, pd.NA, "n/a", [1], b"1"])
def test_whatever_is_no_number_is_missing(cell):
    assert age().bin_index(pd.Series([cell, 40], dtype=object)).tolist() == [3, 1]


@given(st.floats(17, 90))
def test_every_value_lies_between_the_edges_of_its_bin(value):
    shape = age()
    index = shape.bin_index([value])[0]
    closed = index == shape.n_value_bins - 1
    assert shape.bin_edges[index] <= value
    assert value < shape.bin_edges[index + 1] or (closed and value == shape.bin_edges[-1])


def test_categories_are_matched_on_their_text_and_strangers_are_other():
    shape = job(categories=("1", "clerk"))
    assert shape.bin_index([1, 1.0, "1", " clerk ", "pilot", None]).tolist() == [0, 0, 0, 1, 2, 3]


def test_value_without_a_bin_is_refused_without_being_named():
    shape = job(contribution=[1.0, -1.0], count=[1, 1], noise_std=None, special=())
    with pytest.raises(ValueError, match="'other' bin") as caught:
        shape.bin_index(["secret occupation"])
    assert "secret" not in str(caught.value)
    assert shape.index_or_none(["secret occupation", "clerk", None]).tolist() == [-1, 1, -1]


def test_evaluate_looks_the_contribution_up():
    assert age().evaluate([20, 40, None]).tolist() == [-0.5, 0.25, 0.01]


def test_labels_name_the_values_a_bin_can_hold():
    assert age().bin_labels == ("17 – 29", "30 – 44", "45 – 90", "missing")
    assert age(step=None).bin_labels == ("17 – 30", "30 – 45", "45 – 90", "missing")


def test_label_of_a_bin_with_one_possible_value_is_that_value():
    shape = age(bin_edges=[0, 1, 2, 3])
    assert shape.bin_labels[:3] == ("0", "1", "2 – 3")


def test_label_of_a_bin_between_two_steps_is_its_interval():
    assert age(bin_edges=[0.2, 0.8, 1.5, 3]).bin_labels[0] == "0.2 – 0.8"


def test_labels_of_half_steps_are_decimal():
    assert age(bin_edges=[0.5, 2, 2.5, 4], step=0.5).bin_labels[:3] == ("0.5 – 1.5", "2", "2.5 – 4")


def test_special_bin_named_like_a_category_is_told_apart():
    assert job(categories=("other", "clerk")).bin_labels == ("other", "clerk", "(other)", "missing")


@given(shapes())
def test_labels_and_frame_have_one_entry_per_bin(shape):
    assert len(shape.bin_labels) == shape.n_bins == len(shape.frame())


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True))
def test_interval_labels_differ_from_bin_to_bin(edges):
    edges = np.sort(np.array(edges))
    edges = edges[np.concatenate([[True], np.diff(edges) > 1e-3])]
    if edges.size < 2:
        return
    n = edges.size - 1
    shape = ShapeFunction(
        "x", "numeric", np.zeros(n), np.ones(n), bin_edges=edges, guarantee=age().guarantee
    )
    assert len(set(shape.bin_labels)) == n


def test_importance_weighs_bins_by_records_and_negative_counts_by_nothing():
    # counts 10, 20, 30 and -2 for |f| of 0.5, 0.25, 0.5 and 0.01
    assert age().importance == pytest.approx((10 * 0.5 + 20 * 0.25 + 30 * 0.5) / 60)


def test_importance_without_any_records_weighs_all_bins_the_same():
    assert age(count=[-1, -2, 0, -3]).importance == pytest.approx((0.5 + 0.25 + 0.5 + 0.01) / 4)


def test_noise_floor_is_the_importance_that_noise_alone_shows():
    rng = np.random.default_rng(0)
    shape = age()
    draws = rng.normal(size=(20_000, 4)) * shape.noise_std
    simulated = np.abs(draws) @ shape.weights
    # standard error of the mean of 20,000 draws, five of them
    tolerance = 5 * simulated.std() / math.sqrt(20_000)
    assert shape.noise_floor == pytest.approx(simulated.mean(), abs=tolerance)
    assert age(noise_std=None).noise_floor is None


def test_frame_is_tidy_and_its_special_bins_are_no_intervals():
    frame = age().frame()
    assert list(frame.columns) == [
        "term", "bin", "bin_left", "bin_right", "contribution", "noise_std", "structure_std",
        "sampling_std", "total_std", "signal", "count", "special", "bag_std",
        "effect", "effect_std", "effect_low", "effect_high", "effect_signal",
    ]  # fmt: skip
    assert frame["bin_left"].tolist()[:3] == [17, 30, 45]
    assert frame.loc[frame["special"], ["bin_left", "bin_right"]].isna().all(axis=None)


def test_changing_a_frame_does_not_change_the_explanation():
    shape = age()
    frame = shape.frame()
    frame.loc[:, "contribution"] = 9.0
    assert shape == age()


@pytest.mark.parametrize(
    "revive", [lambda shape: shape, copy.deepcopy, lambda shape: pickle.loads(pickle.dumps(shape))]
)
def test_arrays_cannot_be_written_even_after_copying(revive):
    shape = revive(age())
    for array in (shape.contribution, shape.count, shape.bin_edges, shape.noise_std):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_explanation_does_not_follow_the_array_it_was_made_from():
    source = np.array([-0.5, 0.25, 0.5, 0.01])
    shape = age(contribution=source)
    source[0] = 9.0
    assert shape == age()


@given(shapes())
def test_pickling_keeps_every_bit(shape):
    again = pickle.loads(pickle.dumps(shape))
    assert again == shape
    assert again.contribution.tobytes() == shape.contribution.tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contribution": [1.0, 2.0]}, "contribution has shape"),
        ({"contribution": [[0.0] * 4]}, "contribution has shape"),
        ({"contribution": [0.0, 0.0, math.nan, 0.0]}, "finite"),
        ({"contribution": [0.0, 0.0, math.inf, 0.0]}, "finite"),
        ({"contribution": ["a", "b", "c", "d"]}, "numbers"),
        ({"count": [1.0]}, "count has shape"),
        ({"noise_std": [0.1, 0.1, 0.1, -0.1]}, "negative"),
        ({"structure_std": [0.1, 0.1, 0.1, -0.1]}, "structure_std must not be negative"),
        ({"sampling_std": [0.1]}, "sampling_std has shape"),
        ({"noise_std": None, "sampling_std": [0.1] * 4}, "needs noise_std"),
        ({"noise_std": None, "simultaneous_factor": 3.0}, "needs noise_std"),
        ({"simultaneous_factor": -1.0}, "must not be negative"),
        ({"bin_edges": [17, 30, 30, 90]}, "increasing"),
        ({"bin_edges": None}, "bin_edges"),
        ({"bin_edges": [17]}, "increasing"),
        ({"categories": ("a",)}, "categories"),
        ({"kind": "text"}, "kind"),
        ({"step": 0.0}, "step"),
        ({"name": 3}, "name"),
        ({"special": ("missing", "missing")}, "distinct"),
        ({"guarantee": "private"}, "guarantee"),
    ],
)
def test_contradicting_fields_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        age(**changes)


def test_categorical_term_needs_distinct_categories_and_at_least_one_bin():
    with pytest.raises(ValueError, match="distinct"):
        job(categories=("nurse", "nurse"))
    with pytest.raises(ValueError, match="no bins"):
        job(categories=(), special=(), contribution=[], count=[], noise_std=None)


def test_edges_of_very_different_size_are_labeled_with_few_digits():
    assert interval_labels([0, 4.72937e-12, 1, 5], None) == ["0 – 4.7e-12", "4.7e-12 – 1", "1 – 5"]
    near = interval_labels([0.1234567, 0.12345678, 123456789.0], None)
    assert near == ["0.1234567 – 0.12345678", "0.12345678 – 1.2e+08"]
