"""The page reads packed payloads back, rounded as promised and otherwise unchanged."""

from __future__ import annotations

import json
import math
import subprocess

import numpy as np
import pytest

import view_examples
from dpexplain_widgets.export.bundle import STATIC
from dpexplain_widgets.payload.packing import STD_STEP, deflated, inflated, packed
from dpexplain_widgets.payload.payload import build_payload
from node import NODE

_READ = """
import { readFileSync } from "node:fs";
import { unpack } from "%s";
const values = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(unpack(values)));
"""


def read_in_node(value):
    script = _READ % (STATIC / "state/unpack.js").as_uri()
    result = subprocess.run(
        [NODE, "--input-type=module", "-e", script],
        input=json.dumps(packed(value)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def payload():
    return build_payload(view_examples.with_effects(view_examples.comparison(n_repeats=2)))


@pytest.fixture(scope="module")
def back(payload):
    return read_in_node(payload)


@pytest.mark.full
def test_everything_but_numbers_of_fits_comes_back_as_it_was(payload, back):
    for key in set(payload) - {"fits", "reference"}:
        assert back[key] == payload[key]
    for before, after in zip(payload["fits"], back["fits"], strict=True):
        for fit, same in zip(before, after, strict=True):
            assert same["guarantee"] == fit["guarantee"]
            assert same["metrics"] == fit["metrics"]
            for term, other in zip(fit["terms"], same["terms"], strict=True):
                for key in ("edges", "labels", "special", "signal", "ranks", "above_noise"):
                    assert other[key] == term[key]


@pytest.mark.parametrize(("key", "digits"), [("contribution", 4), ("count", None), ("effect", 3)])
def test_lists_are_rounded_to_digits_of_their_largest_number(payload, back, key, digits):
    for before, after in zip(payload["fits"], back["fits"], strict=True):
        for term, other in zip(before[0]["terms"], after[0]["terms"], strict=True):
            if term[key] is None:
                assert other[key] is None
                continue
            exact, rounded = np.array(term[key]), np.array(other[key])
            largest = np.abs(exact).max()
            step = 1.0 if digits is None else 10.0 ** (math.floor(math.log10(largest)) - digits + 1)
            # Half a step, and what the sum of differences loses in doubles.
            assert np.abs(exact - rounded).max() <= step * (0.5 + 1e-9)


@pytest.mark.parametrize("key", ["noise_std", "total_std", "effect_std"])
def test_deviations_are_rounded_to_a_share_of_themselves(payload, back, key):
    for before, after in zip(payload["fits"], back["fits"], strict=True):
        for term, other in zip(before[0]["terms"], after[0]["terms"], strict=True):
            if term[key] is not None:
                assert other[key] == pytest.approx(term[key], rel=0.5 * STD_STEP * 1.01, abs=0)


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0, 3.0], [1e-300, 1.0, 1e300, 2.0], [0.5, 0.25]])
def test_deviations_of_every_size_come_back(values):
    after = read_in_node({"noise_std": values, "more": 1})["noise_std"]
    assert after == pytest.approx(values, rel=0.5 * STD_STEP * 1.01, abs=0)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 0.0, 0.0, 0.0],
        [1e-300, 2e-300, 3e-300, 4e-300],
        [1e300, -1e300, 0.0, 5.0],
        [1.5, 1.5, 1.5, 1.5, -0.25],
        [1.0, 2.0],
        [],
        [None, 1.0, 2.0, 3.0, 4.0],
        [True, False, True, True, False],
        [True, None, False, True],
        [{"$n": [1]}, {"$r": 0}],
    ],
    ids=str,
)
def test_lists_of_every_kind_come_back(values):
    value = {"list": values, "again": {"list": values}}
    if values and isinstance(values[0], dict):
        with pytest.raises(ValueError, match=r"a key of a payload is '\$n'"):
            packed(value)
        return
    after = read_in_node(value)["again"]["list"]
    numbers = [0.0 if each is None else each for each in values]
    read = [0.0 if each is None else each for each in after]
    assert [type(each) is bool for each in after] == [type(each) is bool for each in values]
    assert read == pytest.approx(numbers, rel=1e-4, abs=max(map(abs, numbers), default=0) * 1e-4)


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": i, "b": None, "c": [float(i)] * 4, "2": {"x": i}} for i in range(5)],
        [{"a": 1}, {"a": 1}, {"a": 2}, {"b": 2}],
        [{"a": 1, "b": 2}, {"b": 1, "a": 2}, {"a": 2, "b": 2}, {"a": 2, "b": 2}],
        [{}, {}, {}, {}],
        [{"a": 1}, {"a": 1}, {"a": 2}, None],
        [{"a": [{"b": k, "c": i} for k in range(4)]} for i in range(4)],
    ],
    ids=str,
)
def test_lists_of_objects_come_back(rows):
    assert read_in_node({"rows": rows, "again": [rows, rows]}) == {
        "rows": rows,
        "again": [rows] * 2,
    }


def test_parts_that_repeat_are_stored_once():
    labels = [f"a category with a long name {i}" for i in range(40)]
    once = len(json.dumps(packed({"a": labels})))
    often = len(json.dumps(packed({str(i): labels for i in range(50)})))

    assert often < 2 * once
    assert read_in_node({str(i): labels for i in range(3)}) == {str(i): labels for i in range(3)}


def test_a_number_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed({"value": math.inf})


def test_folded_text_is_letters_only_and_comes_back():
    text = "</script> \u2028 ε \U0001f9ea" * 3
    folded = deflated(text)

    assert inflated(folded) == text
    assert not set("<>&") & set(folded)


@pytest.mark.parametrize("size", range(6))
def test_texts_of_every_length_come_back(size):
    assert inflated(deflated("x" * size)) == "x" * size


def test_a_total_is_left_to_the_reader_where_it_follows_from_its_parts():
    parts = {
        "noise_std": [3.0, 0.6, 5.0, 8.0],
        "structure_std": None,
        "sampling_std": [4.0, 0.8, 12.0, 15.0],
    }
    follows = {**parts, "total_std": [5.0, 1.0, 13.0, 17.0]}
    differs = {**parts, "total_std": [5.0, 1.0, 13.0, 18.0]}

    assert packed(follows)["value"]["total_std"] == {"$q": 1}
    for value in (follows, differs):
        total = read_in_node(value)["total_std"]
        assert total == pytest.approx(value["total_std"], rel=0.5 * STD_STEP * 1.01)


@pytest.mark.parametrize(
    ("edges", "labels", "left_out"),
    [
        ([-0.5, 0.5, 10.5, 40000.5], ["0", "1 – 10", "11 – 40000", "missing"], True),
        ([-2.5, -1.5, 3.5], ["-2", "-1 – 3", "missing"], True),
        ([-0.5, 0.5, 10.5], ["none", "1 – 10", "missing"], False),
        ([0.0, 0.5, 10.5], ["0 – 0.5", "0.5 – 10.5", "missing"], False),
        (None, ["a", "b", "missing"], False),
    ],
)
def test_labels_are_left_to_the_reader_where_they_follow_from_edges(edges, labels, left_out):
    axis = {"edges": edges, "labels": labels, "special": ["missing"]}

    assert (packed(axis)["value"]["labels"] == {"$q": 1}) is left_out
    assert read_in_node([axis] * 5) == [axis] * 5
