"""Columns of types that pandas and numpy only half support: no cell is revealed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpexplain import Categorical, Classes, Date, Numeric, Range
from dpexplain.mechanisms import secret_coins
from dpexplain.models.inputs import rows_of
from dpexplain.models.persons import bounded_rows
from dpexplain.tables.encoding import (
    encode_categorical,
    encode_classes,
    encode_numeric,
    encode_range,
)
from private_models import every_model, known, make, records_for

NOT_TEXT = pa.array([b"a", b"\xff", b"1"]).view(pa.string())


def in_pandas(column: Any) -> Any:
    return pd.arrays.ArrowExtensionArray(column)


COLUMNS: dict[str, Callable[[], Any]] = {
    "half precision": lambda: np.array([1, np.inf, 6e-8], np.float16),
    "numbers below floats": lambda: np.array([1, np.longdouble("1e-4900"), 0], np.longdouble),
    "numbers below floats, as objects": lambda: np.array([1, np.longdouble("1e-4900")], object),
    "complex": lambda: np.array([1e30, complex(1e38, 0), complex(0, 1)], np.complex64),
    "bytes": lambda: np.array([b"1", b"\xff", b"a"]),
    "raw bytes": lambda: np.array([b"1", b"a", b"b"], "V1"),
    "strings of numpy": lambda: np.array(["1", "a", "x" * 50], np.dtypes.StringDType()),
    "sparse": lambda: pd.arrays.SparseArray([1.0, np.nan, np.inf]),
    "intervals": lambda: pd.arrays.IntervalArray.from_breaks([0, 1, 2, np.inf]),
    "views of text": lambda: in_pandas(pa.array(["1", None, "a"], pa.string_view())),
    "no text": lambda: in_pandas(NOT_TEXT),
    "large integers and none": lambda: in_pandas(pa.array([2**60 + 1, None, 1])),
    "seconds beyond dates": lambda: in_pandas(pa.array([2**62, None, 0], pa.timestamp("s"))),
    "a time zone that is none": lambda: in_pandas(
        pa.array([2**62, None, 0], pa.timestamp("us", tz="Nowhere/City"))
    ),
    "durations": lambda: in_pandas(pa.array([2**62, None, 0], pa.duration("s"))),
    "lists": lambda: in_pandas(pa.array([[1], None, []])),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_no_cell_raises_or_warns_even_where_a_program_asks_for_errors(kind):
    column = pd.Series(COLUMNS[kind]())
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        encode_numeric(column, Numeric(0, 1))
        encode_numeric(column, Date("2000-01-01", "2001-01-01"))
        encode_categorical(column, Categorical(["1", "a"]))
        encode_range(column, Range(0, 1))
        encode_classes(column, Classes(["1", "a"]))
        bounded_rows(column, 1, secret_coins())


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("whole", [False, True], ids=["column", "table"])
def test_rows_that_are_left_out_do_not_change_how_the_others_are_read(kind, whole):
    column = pd.Series(COLUMNS[kind]())
    kept = np.array([0, len(column) - 1])
    taken = rows_of(pd.DataFrame({"a": column, "b": 1}) if whole else column, kept)
    taken = taken["a"] if whole else taken
    one_of = Categorical(["1", "a"])
    assert (encode_categorical(taken, one_of) == encode_categorical(column, one_of)[kept]).all()
    numbers = encode_numeric(column, Numeric(0, 1))[kept]
    assert np.array_equal(encode_numeric(taken, Numeric(0, 1)), numbers, equal_nan=True)


@pytest.mark.full
@every_model
def test_a_row_without_a_target_is_left_out_of_columns_of_which_pandas_takes_no_rows(name):
    X, y = records_for(name, 12)
    X["job"] = in_pandas(pa.array(X["job"].astype(object), pa.string_view()))
    with pytest.raises(pa.ArrowNotImplementedError):  # should pandas learn it, use another type
        X.iloc[np.array([0])]
    y = pd.Series(y, dtype=object)
    y.iloc[3] = None
    model = make(name, **known(name, max_rounds=2, n_trees=2)).fit(X, y)
    assert model.guarantee_.private


@pytest.mark.full
@every_model
def test_a_number_too_small_for_a_float_stops_no_fit_where_numpy_raises(name):
    X, y = records_for(name, 12)
    ages = X["age"].to_numpy(np.longdouble)
    ages[3] = np.longdouble("1e-4900")
    X["age"] = ages
    model = make(name, **known(name, max_rounds=2, n_trees=2))
    model.planned_events(X)  # the price is worked out before, and from public numbers
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert model.fit(X, y).guarantee_.private
