"""One cell of a frame of Arrow or polars changes no other cell, and raises nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpexplain.models.persons import person_of
from dpexplain.tables.columns import as_table, cells_of, values_of
from dpexplain.tables.encoding import days_of, numbers_of, texts_of
from dpexplain.tables.frames import column_of, frame_of
from effort import examples

pytestmark = pytest.mark.full

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

ENDS = (-719163, -719162, 2932896, 2932897)  # days around the first and last of the calendar
DAYS = st.sampled_from([0, *ENDS, -(2**31), 2**31 - 1]) | st.integers(-(2**31), 2**31 - 1)
PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000}


def arrow(numbers, kind):
    whole = pa.int32() if kind == pa.date32() else pa.int64()
    return pa.array(numbers, type=whole).view(kind)


def polars(numbers, kind):
    whole = pl.Int32 if kind == pl.Date else pl.Int64
    return pl.Series(numbers, dtype=whole).cast(kind)


MADE = {
    "arrow dates": lambda n: arrow(n, pa.date32()),
    "arrow times": lambda n: arrow([_scaled(k, "us") for k in n], pa.timestamp("us")),
    "arrow times in a zone": lambda n: arrow(
        [_scaled(k, "ms") for k in n], pa.timestamp("ms", tz="Pacific/Kiritimati")
    ),
    "polars dates": lambda n: polars(n, pl.Date),
    "polars times": lambda n: polars([_scaled(k, "us") for k in n], pl.Datetime("us")),
    "polars times in a zone": lambda n: polars(
        [_scaled(k, "ms") for k in n], pl.Datetime("ms", "Pacific/Kiritimati")
    ),
    "polars spans": lambda n: polars([_scaled(k, "ms") for k in n], pl.Duration("ms")),
    "polars lists of dates": lambda n: pl.Series([None if k is None else [k] for k in n]).cast(
        pl.List(pl.Date)
    ),
    "polars wide integers": lambda n: pl.Series(n, dtype=pl.Int128),
}


def _scaled(day, unit):
    """Convert days to times, capped at 64 bits."""
    return None if day is None else max(-(2**63) + 1, min(2**63 - 1, day * PER_DAY[unit]))


@pytest.mark.parametrize("kind", MADE)
@examples(60)
@given(cells=st.lists(st.none() | DAYS, min_size=1, max_size=6))
@example(cells=[0, *ENDS, None])
def test_a_cell_is_read_as_if_it_stood_alone(kind, cells):
    column = MADE[kind](cells)
    table = pa.table({"x": column}) if isinstance(column, pa.Array) else pl.DataFrame({"x": column})
    found = frame_of(table).iloc[:, 0]
    for place in range(len(cells)):
        one = column_of(column[place : place + 1])
        for read in (numbers_of, texts_of, days_of):
            np.testing.assert_array_equal(read(found)[[place]], read(one))
        if cells[place] is None:
            assert texts_of(one)[0] is None


@pytest.mark.parametrize("kind", ["arrow dates", "polars dates", "polars times"])
def test_days_inside_the_calendar_are_read_and_those_beyond_are_no_days(kind):
    found = column_of(MADE[kind]([*ENDS, 1]))
    assert days_of(found).tolist()[1:3] == [-719162.0, 2932896.0]
    assert np.isnan(days_of(found)[[0, 3]]).all()
    assert [texts_of(found)[place] for place in (0, 3)] == ["", ""]
    assert [person_of(cell) is None for cell in found] == [True, False, False, True, False]


def test_text_that_arrow_cannot_decode_raises_nothing_and_leaves_the_others():
    column = pa.array([b"clerk", b"\xff", None]).view(pa.string())
    assert texts_of(column_of(column)).tolist() == ["clerk", "", None]


def test_a_row_of_another_length_in_a_list_is_one_of_empty_cells_where_the_length_is_public():
    rows = [[1, 2], [3], [4, 5, 6], None, "ab", [7, [8]]]
    read = as_table(rows, 2)
    assert read.tolist() == [[1, 2], *([[None, None]] * 4), [7, [8]]]
    assert as_table([], 2).shape == (0, 2)


PANDAS = {
    "dates": lambda: pd.arrays.ArrowExtensionArray(arrow([0, 2**31 - 1, None], pa.date32())),
    "texts": lambda: pd.arrays.ArrowExtensionArray(NO_TEXT.cast(pa.binary()).view(pa.string())),
    "strings": lambda: pd.arrays.ArrowStringArray(
        pa.chunked_array([NO_TEXT.view(pa.large_string())])
    ),
    "codes": lambda: pd.arrays.ArrowExtensionArray(
        pa.DictionaryArray.from_arrays([0, 1, None], NO_TEXT.view(pa.large_string())[:2])
    ),
    "spans": lambda: pd.arrays.ArrowExtensionArray(arrow([0, 2**62, None], pa.duration("s"))),
    "times in a zone": lambda: pd.arrays.ArrowExtensionArray(
        arrow([0, 2**62, None], pa.timestamp("s", tz="Europe/Berlin"))
    ),
}
NO_TEXT = pa.array([b"1970-01-01", b"\xff", None], type=pa.large_binary())


@pytest.mark.parametrize("kind", PANDAS)
def test_a_cell_that_pandas_cannot_turn_into_an_object_leaves_the_others(kind):
    column = pd.Series(PANDAS[kind]())
    assert np.isnan(numbers_of(column)[1:]).all()
    assert texts_of(column)[1:].tolist() == ["", None]
    assert np.isnan(days_of(column)[1:]).all()
    if kind != "spans":
        assert days_of(column)[0] == 0.0
    assert [person_of(cell) is None for cell in cells_of(values_of(column))] == [False, True, True]


def test_wide_numbers_in_a_column_of_categories_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts = texts_of(np.array([1, np.longdouble("1e4000")]))
    assert texts[0] == "1"
