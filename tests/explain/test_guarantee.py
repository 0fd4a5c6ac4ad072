"""Guarantees: consistent numbers, and words that hide nothing."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting import Person
from dpexplain.explain import Guarantee
from example_explanations import guarantees, private_guarantee


def test_short_form_names_numbers_and_adjacency():
    assert private_guarantee().short == "(0.5, 1e-06)-DP, add/remove"
    assert Guarantee(2, 0, "replace", True).short == "2-DP, replace-one"


def test_short_form_names_the_persons_that_are_protected():
    persons = Person("household_id", 4).words
    assert (
        Guarantee(1, 1e-6, "add_remove", True, unit=persons).short
        == "(1, 1e-06)-DP for one person (household_id), add/remove"
    )


def test_short_form_of_a_non_private_object_is_a_warning():
    assert Guarantee.not_private("seeded").short == "NOT PRIVATE — do not publish"


@given(st.floats(1e-12, 1e6))
def test_numbers_in_words_never_promise_more_than_there_is(value):
    shown = float(upper_number(value))
    assert value <= shown <= value * 1.001


@pytest.mark.parametrize(
    "words",
    [
        "one record",  # unit of privacy
        "this fit alone",  # outputs covered
        "schema",  # inputs that must be public
        "trusted",
        "side channels",
        "exact discrete Gaussian",
        "dpexplain 0.1.0",
        "add/remove",
        "epsilon 1.1",  # replace-one beside
    ],
)
def test_statement_says_what_a_reader_must_know(words):
    assert words in private_guarantee().statement()


def test_statement_of_a_non_private_object_promises_nothing_and_gives_the_reason():
    statement = Guarantee.not_private("fitted without noise").statement()
    assert "No privacy is promised" in statement
    assert "Fitted without noise." in statement
    assert "epsilon" not in statement


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": "0.5"}, "epsilon"),
        ({"epsilon": math.inf}, "contradicts"),
        ({"private": False}, "contradicts"),
        ({"private": 1}, "private"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"adjacency": "label"}, "adjacency"),
        ({"mu": -0.1}, "mu"),
        ({"notes": "one string"}, "notes"),
        ({"covers": None}, "covers"),
    ],
)
def test_contradicting_fields_are_refused(changes, message):
    fields = {"epsilon": 0.5, "delta": 1e-6, "adjacency": "add_remove", "private": True}
    with pytest.raises(ValueError, match=message):
        Guarantee(**{**fields, **changes})


@given(guarantees())
def test_dictionary_round_trip_keeps_every_field(guarantee):
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee


def test_dictionary_with_unknown_or_missing_field_is_refused():
    fields = private_guarantee().to_dict()
    with pytest.raises(ValueError, match="unknown"):
        Guarantee.from_dict({**fields, "extra": 1})
    with pytest.raises(ValueError, match="missing"):
        Guarantee.from_dict({name: fields[name] for name in fields if name != "delta"})


def test_guarantee_survives_pickling():
    assert pickle.loads(pickle.dumps(private_guarantee())) == private_guarantee()


def test_half_characters_are_refused_as_no_table_file_or_page_can_hold_them():
    with pytest.raises(ValueError, match="lone surrogate"):
        Guarantee(0.5, 1e-6, "add_remove", True, covers="\ud800")
    with pytest.raises(ValueError, match="lone surrogate"):
        Guarantee(0.5, 1e-6, "add_remove", True, notes=("fine", "\udfff"))
