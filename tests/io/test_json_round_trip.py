"""Whatever is written is read back bit by bit."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import Comparison, PrivacyLedger
from dpexplain.accounting.events import GaussianEvent, NonPrivateEvent
from dpexplain.io import from_json, to_json
from example_explanations import (
    HOSTILE_NAMES,
    age,
    age_and_job,
    classifier,
    global_explanations,
    guarantees,
    job,
    local_explanations,
    pairs,
    private_guarantee,
    reference,
    samples,
    shapes,
)


def comparison(title="Income", value=0.8):
    ledger = PrivacyLedger("written", cap_epsilon=3.0)
    ledger.charge([GaussianEvent("boosting", 300.0, 4200)], label="one fit")
    ledger.charge([NonPrivateEvent("reference", "no noise")], label="reference")
    rows = [(0.5, 0, "AUROC", value, False), (math.inf, 0, "AUROC", 0.9, False)]
    return Comparison(
        (0.5, 2.0),
        {0.5: (classifier(), classifier(intercept=1.0)), 2.0: (classifier(),)},
        reference(),
        pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"]),
        ledger=ledger.summary(),
        title=title,
    )


def strict(text):
    """Parse as a reader in another language would, without Python's NaN and Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def assert_round_trip(obj):
    text = to_json(obj)
    strict(text)
    again = from_json(text)
    assert type(again) is type(obj)
    assert again == obj
    # equality takes 0.0 for -0.0, the text does not
    assert to_json(again) == text
    return again


@given(guarantees())
def test_guarantees_come_back(guarantee):
    assert_round_trip(guarantee)


@given(shapes())
def test_shape_functions_come_back_bit_by_bit(shape):
    again = assert_round_trip(shape)
    for name in ("contribution", "count", "bin_edges", "noise_std"):
        before, after = getattr(shape, name), getattr(again, name)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.tobytes() == after.tobytes()


@given(pairs())
def test_pairs_come_back_bit_by_bit(pair):
    again = assert_round_trip(pair)
    for name in ("contribution", "count", "noise_std", "sampling_std"):
        before, after = getattr(pair, name), getattr(again, name)
        assert (before is None) == (after is None)
        assert before is None or before.tobytes() == after.tobytes()


def test_the_file_of_a_pair_with_unknown_noise_is_as_before_noise_was_saved():
    pair = age_and_job(noise_std=None)
    content = json.loads(to_json(pair))["content"]
    assert list(content) == ["name", "axes", "contribution", "count", "guarantee", "score_unit"]
    assert from_json(to_json(pair)).noise_std is None


@given(global_explanations())
def test_global_explanations_come_back(explanation):
    assert_round_trip(explanation)


@given(local_explanations())
def test_local_explanations_come_back_bit_by_bit(explanation):
    again = assert_round_trip(explanation)
    assert again.contributions.tobytes() == explanation.contributions.tobytes()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_comes_back_bit_by_bit(value):
    again = from_json(to_json(age(contribution=[value, 0.0, -0.0, 1.0])))
    assert again.contribution.tobytes() == np.array([value, 0.0, -0.0, 1.0]).tobytes()


@pytest.mark.parametrize("value", [sys.float_info.max, 5e-324, -0.0, 0.1 + 0.2, 1 / 3])
def test_extreme_floats_come_back_bit_by_bit(value):
    again = from_json(to_json(classifier(intercept=value)))
    assert np.float64(again.intercept).tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize("value", [0.8, math.nan, math.inf, -math.inf])
def test_comparisons_come_back_with_metrics_and_ledger(value):
    assert_round_trip(comparison(value=value))


def test_comparison_without_optional_parts_comes_back():
    bare = Comparison((1.0,), {1.0: (classifier(),)}, ledger=PrivacyLedger("bare").summary())
    again = assert_round_trip(bare)
    assert again.metrics is None
    assert again.reference is None


def test_ledger_summaries_come_back_with_infinite_totals():
    again = assert_round_trip(comparison().ledger)
    assert again.total_epsilon == math.inf


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_come_back_as_they_are(name):
    terms = (age(name=name, unit=name), job(categories=(name, "clerk" + name)))
    assert_round_trip(classifier(terms=terms, target_name=name, model_name=name))
    assert_round_trip(samples(target_name=name, bin_labels=((name, name),) * 2))
    assert_round_trip(comparison(title=name))


def test_document_names_its_format_and_version():
    document = strict(to_json(private_guarantee()))
    assert document["format"] == "dpexplain/guarantee"
    assert document["version"] == 1


def test_object_of_another_kind_is_refused_with_the_kinds_there_are():
    with pytest.raises(TypeError, match="cannot write a DataFrame; expected one of Guarantee"):
        to_json(pd.DataFrame())
