"""Tables are encoded column by column; anything that is not such a table is refused unread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_cells import Hostile, as_object_array, cells
from dpexplain.exceptions import SchemaError
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from dpexplain.tables.columns import as_table
from dpexplain.tables.encoding import (
    check_columns,
    encode_categorical,
    encode_features,
    encode_numeric,
)

AGE = Numeric(-3, 40)
JOB = Categorical(["1", "no", "0.5", "inf", "2020-01-01", "None"])
CHURN = Classes(["no", "1", "True story"])


SCHEMA = Schema({"age": AGE, "job": JOB}, target=CHURN)


def test_columns_of_a_frame_may_stand_in_any_order() -> None:
    frame = pd.DataFrame({"age": [1, 50], "job": ["no", 1.0]})
    for table in (frame, frame[["job", "age"]], frame.to_numpy(), frame.to_numpy().tolist()):
        age, job = encode_features(table, SCHEMA)
        np.testing.assert_array_equal(age, [1, 40])
        np.testing.assert_array_equal(job, [1, 0])


def test_index_of_a_frame_is_ignored() -> None:
    frame = pd.DataFrame({"age": [1, 2], "job": ["no", "1"]}, index=[7, 7])
    np.testing.assert_array_equal(encode_features(frame, SCHEMA)[0], [1, 2])


def test_empty_tables_encode_to_empty_arrays() -> None:
    for table in (np.empty((0, 2)), pd.DataFrame({"age": [], "job": []})):
        assert [column.shape for column in encode_features(table, SCHEMA)] == [(0,), (0,)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age"], "lacks the column 'job'; the schema names 'age', 'job'; add or rename it"),
        (["age", "job", "job"], "has the column 'job' more than once"),
        (["Age", "job"], r"lacks the column 'age' \(did you mean 'Age'\?\); the schema names"),
        (["agee", "Job"], r"'age' \(did you mean 'agee'\?\), 'job' \(did you mean 'Job'\?\);"),
        (range(2), "lacks the columns 'age', 'job'"),
    ],
)
def test_wrong_columns_are_named_before_a_value_is_read(columns: Any, message: str) -> None:
    frame = pd.DataFrame([[Hostile() for _ in columns]], columns=columns, dtype=object)
    with pytest.raises(SchemaError, match=message):
        check_columns(frame, SCHEMA)
    with pytest.raises(SchemaError, match=message):
        encode_features(frame, SCHEMA)


def test_columns_that_the_schema_does_not_name_are_ignored() -> None:
    frame = pd.DataFrame({"zip": [Hostile()], "job": ["no"], "age": [2], "ZIP": [Hostile()]})
    frame.columns = ["zip", "job", "age", "zip"]
    check_columns(frame, SCHEMA)
    for read, expected in zip(
        encode_features(frame, SCHEMA), encode_features(frame[["age", "job"]], SCHEMA), strict=True
    ):
        np.testing.assert_array_equal(read, expected)


def test_right_columns_are_accepted_without_reading_a_value() -> None:
    hostile = as_object_array([Hostile()])
    check_columns(pd.DataFrame({"job": hostile, "age": hostile}), SCHEMA)
    check_columns(np.array([[Hostile(), Hostile()]], dtype=object), SCHEMA)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((4, 3)), SchemaError, "X has 3 features, but Schema is expecting 2 features"),
        (np.zeros(4), ValueError, "Expected 2D array.*got 1D array instead"),
        ([1, 2], ValueError, "Expected 2D array.*Reshape your data"),
        (["ab", "cd"], ValueError, "Expected 2D array"),
        (np.zeros((1, 2, 3)), ValueError, "got 3D array"),
        ([[1, 2], [3]], ValueError, "rows of different lengths"),
        (pd.Series([1, 2]), ValueError, r"Expected 2D array.*X\.to_frame\(\)\.T"),
        ({"a": 1, "b": 2}, TypeError, r"dictionary; pass a table: pandas\.DataFrame\(\[X\]\)"),
    ],
)
def test_wrong_shapes_are_refused(X: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_columns(X, SCHEMA)


def test_sparse_matrices_are_refused_by_name() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="sparse"):
        check_columns(sparse.csr_matrix((2, 2)), SCHEMA)


def test_cells_of_a_list_of_rows_keep_their_kind() -> None:
    age, job = encode_features([[1, "no"], [[2], [3]], ["x", (4,)]], SCHEMA)
    np.testing.assert_array_equal(age, [1, np.nan, np.nan])
    np.testing.assert_array_equal(job, [1, 6, 6])


@given(rows=st.lists(st.tuples(cells, cells), max_size=5))
def test_a_table_of_any_cells_encodes_like_its_columns(rows: list[tuple[Any, Any]]) -> None:
    ages, jobs = (as_object_array([row[index] for row in rows]) for index in (0, 1))
    table = np.empty((len(rows), 2), dtype=object)
    table[:, 0], table[:, 1] = ages, jobs
    for encoded in (
        encode_features(table, SCHEMA),
        encode_features(pd.DataFrame({"job": jobs, "age": ages}, dtype=object), SCHEMA),
    ):
        np.testing.assert_array_equal(encoded[0], encode_numeric(ages, AGE))
        np.testing.assert_array_equal(encoded[1], encode_categorical(jobs, JOB))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_of_numpy_is_an_array():
    cells = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert type(as_table(np.matrix(cells))) is np.ndarray
    np.testing.assert_array_equal(as_table(np.matrix(cells)), cells)
