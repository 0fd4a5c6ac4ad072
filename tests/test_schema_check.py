"""What a schema does not fit, told to the data holder and to nobody else."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import Categorical, Classes, Numeric, Range, Schema
from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.tables.encoding import encode_features
from hostile_tables import NAMES, features, tables

SCHEMA = Schema(
    {"age": Numeric(17, 90), "job": Categorical(["clerk", "nurse"])}, target=Classes(["no", "yes"])
)


def report(X, y=None, schema=SCHEMA):
    with pytest.warns(PrivacyWarning, match="NOT PRIVATE"):
        return schema.check(X, y)


def found(X, y=None, schema=SCHEMA):
    rows = report(X, y, schema).frame()
    return {(row["column"], row["problem"]): row["cells"] for _, row in rows.iterrows()}


def test_a_table_that_fits_has_no_problem():
    fine = report(pd.DataFrame({"age": [20, 90], "job": ["clerk", "nurse"]}), ["no", "yes"])
    assert fine.fits
    assert fine.frame().empty
    assert "nothing" in repr(fine)
    assert "NOT PRIVATE" in repr(fine) + fine._repr_html_()


def test_a_declared_marker_that_is_as_frequent_as_its_neighbors_is_asked_about():
    ages = Schema({"age": Numeric(16, 99, step=1, missing=[97, 98, 99])})
    rows = pd.DataFrame({"age": [*range(16, 100)] * 6})
    asked = {problem for _, problem in found(rows, schema=ages) if "a value too" in problem}
    assert asked == {
        f"{age} is a marker, but 96 is as frequent: a value too?" for age in (97, 98, 99)
    }
    refused = pd.DataFrame({"age": [*range(16, 90)] * 6 + [99] * 12})
    assert not any("a value too" in problem for _, problem in found(refused, schema=ages))


def test_a_table_without_rows_does_not_fit():
    empty = pd.DataFrame({"age": [], "job": []})
    assert found(empty) == {("all columns", "the table has no rows"): 0}
    assert "the table has no rows" in str(report(empty, []))


def test_a_printed_report_lists_the_findings_and_says_who_may_see_them():
    wrong = report(pd.DataFrame({"age": ["31 years"], "job": ["clerk"]}), ["no"])
    text = str(wrong)
    assert text.startswith("NOT PRIVATE")
    for words in ("age", "no number", "counted as missing", "31 years"):
        assert words in text
        assert (words in repr(wrong)) is False
    fine = str(report(pd.DataFrame({"age": [20], "job": ["clerk"]}), ["no"]))
    assert fine.startswith("NOT PRIVATE")
    assert fine.endswith("The schema fits every cell.")


def test_every_kind_of_mistake_is_counted_under_its_column():
    X = pd.DataFrame(
        {
            "age": [20, "31 years", -1, np.inf, None, pd.Timestamp("2020-01-01"), 900],
            "job": ["clerk", "Clerk", "", "smith", "smith", "nurse", "NA"],
        }
    )
    y = ["no", "yes", "YES", None, "maybe", "no", "maybe"]
    assert found(X, y) == {
        ("age", "empty"): 1,
        ("age", "a date where a number is expected"): 1,
        ("age", "no number"): 1,
        ("age", "below 17"): 1,
        ("age", "above 90"): 2,
        ("job", "not in the list of categories"): 3,
        ("job", "empty"): 2,
        ("target (target)", "not in the list of classes"): 3,
        ("target (target)", "empty"): 1,
    }


def test_the_target_of_a_regression_is_compared_with_its_range():
    schema = Schema({"age": Numeric(0, 1)}, target=Range(0, 77, name="visits"))
    X = pd.DataFrame({"age": [0.5] * 4})
    assert found(X, [1, 78, "many", None], schema) == {
        ("visits (target)", "above 77"): 1,
        ("visits (target)", "no number"): 1,
        ("visits (target)", "empty"): 1,
    }
    rules = report(X, [1, 78, "many", None], schema).frame()["in a private fit"]
    assert set(rules) == {"counted as 77", "the row is dropped"}


def test_examples_are_distinct_few_and_short():
    X = pd.DataFrame({"age": ["a", "a", "b", "x" * 1000, "c"], "job": ["clerk"] * 5})
    row = report(X).frame().iloc[0]
    assert row["share"] == 1.0
    assert row["examples"].startswith("'a', 'b', 'xxx")
    assert len(row["examples"]) < 60


def test_a_column_of_dates_is_named_as_such():
    X = pd.DataFrame({"age": pd.date_range("2020", periods=3), "job": ["clerk"] * 3})
    assert found(X) == {("age", "a date where a number is expected"): 3}


def test_wrong_columns_and_a_target_that_is_not_there_are_refused():
    with pytest.raises(SchemaError, match="job"), pytest.warns(PrivacyWarning):
        SCHEMA.check(pd.DataFrame({"age": [1]}))
    with pytest.raises(SchemaError, match="no target"), pytest.warns(PrivacyWarning):
        Schema({"age": Numeric(0, 1)}).check(pd.DataFrame({"age": [1]}), [1])


def test_a_table_in_parts_is_refused_in_words():
    with pytest.raises(TypeError, match="X is a path; a schema is checked against a table in"):
        report("visits.parquet", "readmitted")


def test_one_problem_is_called_one_problem():
    schema = Schema({"age": Numeric(17, 90)})
    assert "(1 problem, " in repr(report([[30], [-1]], schema=schema))
    assert "(2 problems, " in repr(report([[91], [-1]], schema=schema))


@pytest.mark.parametrize("name", NAMES)
def test_html_of_a_report_shows_hostile_cells_and_names_as_text(name):
    schema = Schema({name: Categorical(["a"], description=name)})
    page = report(pd.DataFrame({name: [name, "<b>"]}), schema=schema)._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert "<b>" not in page


@pytest.mark.full
@given(st.data())
def test_the_report_agrees_with_what_a_fit_reads_and_never_fails(data):
    known = data.draw(features())
    X, _, _ = data.draw(tables(known))
    schema = Schema(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        checked = schema.check(X)
    checked._repr_html_()
    rows = checked.frame()
    rows = rows[rows["in a private fit"].str.startswith("counted as")]
    for (name, feature), codes in zip(known.items(), encode_features(X, schema), strict=True):
        own = rows[rows["column"] == name].set_index("problem")["cells"]
        if isinstance(feature, Numeric):
            missing = own[[p for p in own.index if not p.startswith(("below", "above"))]].sum()
            assert missing == np.isnan(codes).sum()
        else:
            assert own.sum() == (codes >= len(feature.categories)).sum()


def test_the_target_may_be_named_as_in_a_fit():
    table = pd.DataFrame({"age": [20, 16], "job": ["clerk", "smith"], "left": ["no", "maybe"]})
    by_name, given = (
        report(X, y) for X, y in ((table, "left"), (table[["age", "job"]], table.left))
    )
    assert by_name.rows == given.rows
    for wrong, words in (("lefd", "Did you mean 'left'"), ("age", "feature of the schema")):
        with pytest.raises(ValueError, match=words):
            report(table, wrong)
    with pytest.raises(TypeError, match="without column names"):
        report([[20, "clerk"]], "left")
