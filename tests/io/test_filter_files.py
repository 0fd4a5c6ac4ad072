"""Explanations of locally linear models come back from files bit by bit, or are refused."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpexplain.io import from_json, load, save, to_json
from dpexplain.io._packed import array_of, packed_array
from example_explanations import HOSTILE_NAMES
from example_filters import (
    filter_bank,
    filter_banks,
    filter_comparison,
    filter_explanations,
    filter_samples,
    image_bank,
    weight_maps,
)


def assert_round_trip(obj):
    text = to_json(obj)
    again = from_json(text)
    assert type(again) is type(obj)
    assert again == obj
    assert to_json(again) == text  # equality takes 0.0 for -0.0, the text does not


@pytest.mark.full
@given(filter_banks())
def test_banks_come_back_bit_by_bit(bank):
    assert_round_trip(bank)


@given(filter_explanations())
def test_explanations_come_back_bit_by_bit(explanation):
    assert_round_trip(explanation)


@pytest.mark.full
@given(weight_maps())
def test_maps_come_back_bit_by_bit(weights):
    assert_round_trip(weights)


@pytest.mark.parametrize("make", [filter_bank, image_bank])
@pytest.mark.parametrize("whole", [False, True])
def test_comparisons_come_back_bit_by_bit(make, whole):
    assert_round_trip(filter_comparison(make, with_reference=whole, with_metrics=whole))


def test_comparison_that_repeats_an_epsilon_is_refused():
    document = json.loads(to_json(filter_comparison()))
    document["content"]["fits"].append(document["content"]["fits"][0])
    with pytest.raises(ValueError, match="repeats an epsilon"):
        from_json(json.dumps(document))


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 4), st.integers(0, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_every_finite_array_comes_back_bit_by_bit(array):
    again = array_of((None, None))(json.loads(json.dumps(packed_array(array))), "array")
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


def test_single_precision_is_used_where_it_keeps_every_bit():
    exact = np.array([0.5, -0.0, 1.0, 3.0e38])
    assert packed_array(np.float32(exact).astype(float))["dtype"] == "<f4"
    for value in (0.1, 1e300, 1e-300, 1 + 2.0**-24):
        assert packed_array(np.array([value]))["dtype"] == "<f8"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_come_back_from_files_of_filters(name):
    assert_round_trip(image_bank(classes=("a", "b", name), target_name=name, model_name=name))


def test_bank_comes_back_from_a_file_and_explains_a_record(tmp_path):
    bank = filter_bank()
    again = load(save(bank, tmp_path / "bank.json"))
    record = [[30, "clerk"]]
    before = bank.explain(bank.inputs(record))
    assert again.explain(again.inputs(record)) == before


def bank_with(path, value):
    document = json.loads(to_json(filter_bank()))
    *folders, name = path.split(".")
    place = document["content"]
    for folder in folders:
        place = place[folder]
    place[name] = value
    return json.dumps(document)


def packed(array, **changes):
    return {**packed_array(np.asarray(array, dtype=float)), **changes}


REFUSED = {
    "dtype": ("filters.dtype", "<f2", "dtype must be one of"),
    "dtype of objects": ("filters.dtype", "|O", "dtype must be one of"),
    "shape": ("filters.shape", [3, 3, 5], r"shape must be \(3, any, 4\)"),
    "dimensions": ("filters.shape", [3, 12], "shape must be"),
    "negative": ("filters.shape", [3, -3, 4], "shape must be"),
    "enormous": ("noise.variance.shape", [2**50, 2**50, 2**50], "bytes, as implied"),
    "fraction": ("filters.shape", [3, 3.0, 4], "an integer"),
    "not base64": ("filters.base64", "!" * 384, "base64"),
    "too short": ("filters.base64", "AAAA", "bytes, as implied"),
    "padding": ("biases.base64", "A" * 95 + "=", "bytes|base64"),
    "number for text": ("filters.base64", 17, "must be a string"),
    "infinite": ("filters", packed(np.zeros((3, 3, 4)), base64=base64.b64encode(
        np.full((3, 3, 4), np.inf, dtype="<f4").tobytes()).decode()), "finite"),
    "too large": ("filters", packed(np.full((3, 3, 4), 1e200)), r"magnitude at most 1e\+30"),
    "common mean": ("filters", packed(np.ones((3, 3, 4))), "common mean"),
    "negative variance": ("noise.bias_variance", packed(-np.ones((3, 3))), "negative"),
    "basis of five dimensions": ("noise.basis", packed(np.ones((1, 1, 1, 1, 1))), "dimensions"),
    "unknown field": ("more", 1, "unknown fields"),
    "unknown feature": ("preparation.features", [], "one or more"),
    "grid": ("grid_shape", [2, 3], "grid_shape"),
    "no guarantee": ("guarantee", None, "JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_bank_is_refused(case):
    path, value, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        from_json(bank_with(path, value))


def test_samples_say_whether_they_are_public():
    for public in (False, True):
        content = json.loads(to_json(filter_samples(public)))["content"]
        assert content["samples_public"] is public
