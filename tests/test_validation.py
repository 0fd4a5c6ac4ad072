from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpexplain import DPExplainableBoostingClassifier, sweep
from dpexplain._utils.validation import (
    check_adjacency,
    check_choice,
    check_count,
    check_delta,
    check_epsilon,
    check_in_range,
    shown,
)
from dpexplain.datasets import make_additive
from dpexplain.exceptions import PrivacyWarning


@pytest.mark.parametrize(
    "epsilon", [0, -0.5, math.nan, math.inf, -math.inf, True, "1.0", None, 1j, [1.0], 10**400]
)
def test_epsilon_that_is_no_positive_finite_number_is_refused(epsilon):
    with pytest.raises(ValueError, match=r"epsilon=.* positive finite number; for the non-private"):
        check_epsilon(epsilon)


def test_epsilon_text_shows_the_value():
    with pytest.raises(ValueError, match=r"^epsilon=-0\.5 must be a positive finite number; "):
        check_epsilon(-0.5)


@pytest.mark.parametrize("epsilon", [1e-4, 1, 0.5, np.float64(2), np.float32(0.5), Fraction(1, 2)])
def test_usual_epsilon_is_returned_as_float_without_a_word(epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked = check_epsilon(epsilon)

    assert type(checked) is float
    assert checked == float(epsilon)


def test_epsilon_above_ten_warns():
    with pytest.warns(PrivacyWarning, match="epsilon=10.5 is a weak guarantee"):
        assert check_epsilon(10.5) == 10.5


def test_advice_is_given_once_per_sweep_at_the_line_of_the_user():
    data = make_additive("clinical", n_samples=200, random_state=0)
    model = DPExplainableBoostingClassifier(schema=data.schema, delta=0.01, max_rounds=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        sweep(model, data.X, data.y, (1, 12), n_repeats=2, reference=False, progress=False)
        model.fit(data.X, data.y)
    told = [(str(each.message).partition(" is ")[0], each.filename) for each in caught]
    told = [each for each in told if each[0].startswith(("epsilon=", "delta="))]
    assert told == [(name, __file__) for name in ("epsilon=12", "delta=0.01", "delta=0.01")]


def test_epsilon_above_fifty_needs_consent():
    with pytest.raises(ValueError, match=r"epsilon=51 .* allow_weak=True"):
        check_epsilon(51)
    with pytest.warns(PrivacyWarning):
        assert check_epsilon(51, allow_weak=True) == 51


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2, math.nan, math.inf, True, "1e-6", None])
def test_delta_outside_the_open_unit_interval_is_refused(delta):
    with pytest.raises(ValueError, match=r"delta=.* above 0 and below 1"):
        check_delta(delta)


def test_delta_as_large_as_one_record_in_n_warns():
    with pytest.warns(PrivacyWarning, match="1 / n_public"):
        check_delta(1e-3, n_public=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_delta(1e-3, n_public=999) == 1e-3


def test_adjacency_is_one_of_two_words():
    assert check_adjacency("add_remove") == "add_remove"
    assert check_adjacency("replace") == "replace"
    with pytest.raises(ValueError, match=r"adjacency='zero_out' .*'add_remove' or 'replace'"):
        check_adjacency("zero_out")


def test_choice_names_the_choices():
    assert check_choice("preset", "paper", ("default", "paper")) == "paper"
    with pytest.raises(ValueError, match=r"preset='Paper' .*'default' or 'paper'"):
        check_choice("preset", "Paper", ("default", "paper"))
    with pytest.raises(ValueError, match="<a list>"):
        check_choice("preset", ["paper"], ("default", "paper"))


@pytest.mark.parametrize(
    ("include_low", "include_high", "accepted"),
    [(True, True, [0, 0.5, 1]), (False, True, [0.5, 1]), (True, False, [0, 0.5])],
)
def test_range_includes_the_ends_it_says(include_low, include_high, accepted):
    def passes(value):
        try:
            check_in_range("x", value, 0, 1, include_low=include_low, include_high=include_high)
        except ValueError:
            return False
        return True

    assert [value for value in (-0.1, 0, 0.5, 1, 1.1) if passes(value)] == accepted


def test_range_text_shows_the_interval():
    with pytest.raises(ValueError, match=r"clip=2 must be a number in \(0, 1\]"):
        check_in_range("clip", 2, 0, 1, include_low=False)


@pytest.mark.parametrize("value", [math.nan, True, "0.5", None, -(10**400), 10**400])
def test_range_refuses_what_is_no_number(value):
    with pytest.raises(ValueError, match="must be a number"):
        check_in_range("clip", value, -1.0, 1.0)


@pytest.mark.parametrize("value", [0, -3, 1.0, True, "1", None, math.nan])
def test_count_is_a_positive_integer(value):
    with pytest.raises(ValueError, match=r"max_bins=.* integer of at least 1"):
        check_count("max_bins", value)


def test_count_accepts_numpy_integers():
    checked = check_count("max_bins", np.int32(3), minimum=2)

    assert checked == 3
    assert type(checked) is int


@pytest.mark.parametrize(
    "value", [pd.DataFrame({"income": [123456]}), np.array([123456]), [123456], "123456" * 20]
)
def test_texts_never_show_what_may_be_data(value):
    assert "123456" not in shown(value)
    with pytest.raises(ValueError, match="epsilon=") as caught:
        check_epsilon(value)
    assert "123456" not in str(caught.value)


def test_texts_show_plain_scalars_as_a_reader_writes_them():
    shows = [shown(v) for v in (None, True, 3, np.float64(0.5), np.float32(0.5), "a")]

    assert shows == ["None", "True", "3", "0.5", "0.5", "'a'"]
