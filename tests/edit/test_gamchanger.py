"""Histories of GAM Changer are read as far as possible; the rest is reported in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpexplain.edit import from_gamchanger
from example_explanations import classifier


def curve(points):
    """Link points as GAM Changer does: in no particular order, with IDs."""
    data = {str(i): {"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)}
    return {"pointData": dict(reversed(data.items())), "additiveData": {}}


def entry(name, points, kind="monotone increasing", **more):
    fields = {
        "featureName": name,
        "type": kind,
        "description": "of 17 to 90",
        "time": 1,
        "hash": "a",
    }
    return {**fields, "state": curve(points), "metrics": {}, "reviewed": False, **more}


def history(*entries, **more):
    original = entry("age", [(17, 0.0)], kind="original")
    return json.dumps({"historyList": [original, *entries], "modelData": {}, **more})


AGE = entry("age", [(17, -0.4), (30, 0.1), (45, 0.3)])


def test_edited_curve_is_read_bin_by_bin():
    imported = from_gamchanger(history(AGE), classifier())

    edited = imported.log.apply(classifier())
    assert imported.problems == ()
    np.testing.assert_array_equal(edited["age"].contribution, [-0.4, 0.1, 0.3, 0.01])
    assert edited.edits[0].note == "GAM Changer: monotone increasing, of 17 to 90"


def test_steps_that_are_finer_inside_equal_values_map():
    finer = entry("age", [(17, -0.4), (25, -0.4), (30, 0.1), (45.00001, 0.3), (60, 0.3)])

    edited = from_gamchanger(history(finer), classifier()).log.apply(classifier())
    np.testing.assert_array_equal(edited["age"].contribution[:3], [-0.4, 0.1, 0.3])


def test_categories_are_found_by_name_or_by_their_code():
    named = entry("job", [("nurse", 0.5), ("clerk", -0.5)])
    coded = entry("job", [(1, -0.25), (2, 0.25)])
    labels = {"labelEncoder": {"job": {"1": "clerk", "2": "nurse"}}}

    log = from_gamchanger(history(named, coded, modelData=labels), classifier()).log

    first = log.undo().apply(classifier())["job"].contribution[:2]
    np.testing.assert_array_equal(first, [0.5, -0.5])
    np.testing.assert_array_equal(log.apply(classifier())["job"].contribution[:2], [0.25, -0.25])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (entry("income", [(0, 1.0)]), "no term 'income'"),
        (entry("age x job", [(0, 1.0)]), "pair of features"),
        (entry("age", [(17, 0.0), (20, 1.0), (30, 0.1), (45, 0.3)]), "1 of the 3 bins of 'age'"),
        (entry("age", [("a", 0.0)]), "numeric here but categorical in the file"),
        (entry("job", [("nurse", 0.5)]), "no category 'clerk'"),
        (entry("age", [(17, "high")]), "no x and y"),
        ({**AGE, "state": None}, "no points"),
        ({"type": "set"}, "names no feature"),
        (7, "names no feature"),
    ],
)
def test_what_does_not_map_is_said_and_the_rest_is_read(bad, words):
    imported = from_gamchanger(history(bad, AGE), classifier())

    assert len(imported.log.entries) == 1
    (problem,) = imported.problems
    assert words in problem
    assert problem.startswith("edit 1:")


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"historyList": 3}', "no JSON", '{"historyList": [NaN]}']
)
def test_what_is_no_history_is_refused(text):
    with pytest.raises(ValueError, match=r"GAM Changer|JSON"):
        from_gamchanger(text, classifier())
