"""A wrong name is answered with the one that was meant, if any is near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain._utils.names import closest_name


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("agee", ["job", "age"], "age"),
        ("Age", ["job", "age"], "age"),
        ("AGE", ["job", "age"], "age"),
        (" age", ["wage", "age"], "age"),
        ("hours-per-week", ["hours", "hours_per_week"], "hours_per_week"),
        ("AGEE", ["Age", "job"], "Age"),
        ("income", ["job", "age"], None),
        ("1", ["16", "11", "01"], "01"),
        ("R1", ["R16", "R11", "R01", "R10"], "R01"),
        ("v10", ["v1", "v010"], "v010"),
        ("1.5", ["1.05", "1.50"], "1.50"),
        ("14", ["1", "4", "13"], None),
        ("", ["job", "age"], None),
        ("age", [], None),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case(name, known, meant):
    assert closest_name(name, known) == meant


def test_the_first_of_names_that_differ_in_case_only_is_taken():
    assert closest_name("AGE", ["Age", "age"]) == "Age"
    assert closest_name("agee", ["Age", "age"]) == "Age"


def test_among_thousands_of_names_only_case_is_forgiven():
    known = [f"column {index}" for index in range(5_000)]
    assert closest_name("Column 4000", known) == "column 4000"
    assert closest_name("colum 4000", known) is None


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=5))
def test_an_answer_is_always_a_known_name(name, known):
    meant = closest_name(name, known)
    assert meant in known or (meant is None and name not in known)
