"""Rows and IDs that occur several times: what a check of a schema asks about them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, Date, Numeric, Schema
from dpexplain.exceptions import PrivacyWarning

N = 200
SCHEMA = Schema({"x": Numeric(0, 1000)}, id="no")
TABLE = pd.DataFrame(
    {
        "no": [f"R{k}" for k in range(N)],
        "x": np.linspace(1, 999, N),
        "who": [f"P-{k // 2}" for k in range(N)],
    }
)
AGAIN = ("all columns", "the same row several times: exported twice?")


def doubts(schema, table, y=None, **options):
    with pytest.warns(PrivacyWarning, match="NOT PRIVATE"):
        return {(row[0], row[1]): row[3] for row in schema.check(table, y, **options).rows}


def by_person(person="who", **roles):
    return Schema(dict(SCHEMA.features), person=person, **roles)


def test_copies_of_a_row_are_reported_if_there_is_an_id():
    assert doubts(by_person(id="no"), TABLE) == {}
    copied = pd.concat([TABLE, TABLE[:3]])
    assert doubts(by_person(id="no"), copied) == {AGAIN: 6}


def test_without_an_id_a_table_is_reported_only_if_all_rows_occur_equally_often():
    features = TABLE[["x"]]
    schema = Schema(dict(SCHEMA.features))
    assert doubts(schema, pd.concat([features, features[:3]])) == {}
    assert doubts(schema, pd.concat([features, features])) == {AGAIN: 2 * N}
    few = pd.DataFrame({"x": [float(k % 7) * 140 for k in range(N)]})
    assert doubts(schema, few) == {}


def test_rows_that_differ_in_the_target_alone_are_no_copies():
    schema = Schema(dict(SCHEMA.features), Classes(["a", "b"]))
    both = pd.concat([TABLE[["x"]]] * 2)
    rng = np.random.default_rng(0)
    y = rng.permutation(["a"] * N + ["b"] * N)
    y[:N], y[N:] = "a", "b"
    assert AGAIN not in doubts(schema, both, y)


def test_empty_rows_and_cells_that_cannot_be_compared_are_no_copies():
    empty = pd.DataFrame({"no": [""] * 5, "x": [""] * 5, "who": [""] * 5})
    assert AGAIN not in doubts(by_person(id="no"), pd.concat([TABLE, empty]))
    lists = TABLE.assign(note=[[1]] * N)
    assert doubts(by_person(id="no"), lists) == {}


def test_the_person_column_is_asked_about():
    ids = TABLE["who"].copy()
    ids[:10] = None
    ids[10] = " p-5"
    found = doubts(by_person(), TABLE.assign(who=ids))
    assert found["who (person)", "empty"] == 10
    assert found["who (person)", "spelled differently elsewhere: the same person?"] == 2
    assert len(found) == 2


def test_ids_that_are_one_number_to_a_fit_are_no_two_spellings():
    ids = [f"{k // 2:05d}" if k % 2 else str(k // 2) for k in range(N)]
    assert doubts(by_person(), TABLE.assign(who=ids)) == {}


@pytest.mark.parametrize(("limit", "beyond"), [(1, N // 2), (2, 0), (None, 0)])
def test_rows_beyond_the_limit_per_person_are_counted(limit, beyond):
    found = doubts(by_person(), TABLE, max_rows_per_person=limit)
    assert sum(found.values()) == beyond
    assert all("beyond the limit of 1 row per person" in words for _, words in found)


def test_a_record_number_or_a_group_is_doubted_as_the_person_column():
    ((name, words),) = doubts(by_person("no"), TABLE)
    assert (name, words) == (
        "no (person)",
        "a different value in every row; is 'who' the person column?",
    )
    assert doubts(by_person("no"), TABLE[["no", "x"]]) == {}, "everybody may have one row"
    region = TABLE.assign(who=["south"] * N)
    assert ("who (person)", f"{N} rows for each value: is it the person column?") in doubts(
        by_person(), region
    )


def test_listed_categories_that_differ_in_case_are_asked_about():
    table = pd.DataFrame({"x": ["Ja", "ja", "nein", "ja "] * 20})
    found = doubts(Schema({"x": Categorical(["Ja", "ja", "nein"])}), table)
    assert found == {("x", "the category 'ja' resembles 'Ja': the same?"): 40}


def test_classes_that_never_occur_or_look_missing_are_asked_about():
    schema = Schema(dict(SCHEMA.features), Classes(["no", "yes", "unknown"], name="died"))
    found = doubts(schema, TABLE[["x"]], ["no", "unknown"] * (N // 2))
    name = "died (target)"
    assert found == {
        (name, "no row has the label 'yes'"): N,
        (name, "the class 'unknown' looks like a missing value"): N // 2,
    }


@pytest.mark.parametrize(("low", "cell"), [(0, 2.5), (0.5, 2.7)])
def test_numbers_between_steps_are_asked_about(low, cell):
    schema = Schema({"x": Numeric(low, 100, step=1)})
    table = pd.DataFrame({"x": [low + k % 40 for k in range(N - 1)] + [cell]})
    assert doubts(schema, table) == {("x", "not a multiple of 1"): 1}


def test_default_days_are_asked_about_and_yearly_dates_are_not():
    schema = Schema({"x": Date("1900-01-01", "2024-12-31")})
    days = pd.date_range("2020-01-02", periods=N).strftime("%Y-%m-%d")
    cells = ["1900-01-01", *days[1:]]
    found = {("x", "1900-01-01 looks like a missing value"): 1}
    assert doubts(schema, pd.DataFrame({"x": cells})) == found
    yearly = [f"{1930 + k % 60}-01-01" for k in range(N)]
    assert doubts(schema, pd.DataFrame({"x": yearly})) == {}
