"""Each cell of an Arrow column is read on its own, whatever its type and its neighbors."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.tables.chunked_arrow import arrow_cells
from dpexplain.tables.encoding import numbers_of, texts_of
from effort import examples

pytestmark = pytest.mark.full

moments = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
# Per Arrow type the values a column of it may hold, those included that other types garble:
# whole numbers beyond 2**53, texts that spell numbers, dates, decimals.
COLUMNS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=5) | st.sampled_from(["1", "1.0", " 2 ", "nan", "True", "NA"]),
    pa.large_string(): st.text(max_size=5),
    pa.string_view(): st.text(max_size=5),
    pa.binary(): st.binary(max_size=4),
    pa.dictionary(pa.int8(), pa.string()): st.text(max_size=3),
    pa.dictionary(pa.int32(), pa.int64()): st.integers(-(2**63), 2**63 - 1),
    pa.decimal128(20, 3): st.decimals(-(10**9), 10**9, places=3),
    pa.date32(): st.dates(),
    pa.timestamp("us"): moments,
    pa.timestamp("ns"): moments,
    pa.list_(pa.int64()): st.lists(st.integers(0, 3), max_size=2),
    pa.null(): st.none(),
}


@pytest.mark.parametrize("kind", COLUMNS, ids=str)
@examples(40)
@given(data=st.data())
def test_a_cell_is_read_as_if_it_stood_alone(kind, data):
    cells = data.draw(st.lists(st.none() | COLUMNS[kind], min_size=1, max_size=8))
    column = pa.array(cells, type=kind)
    start = data.draw(st.integers(0, len(cells) - 1))
    found = arrow_cells(column.slice(start))
    for place, cell in enumerate(column.slice(start).to_pylist()):
        alone = np.empty(1, dtype=object)
        alone[0] = cell
        one = arrow_cells(column.slice(start + place, 1))
        for read in (numbers_of, texts_of):
            expected = read(alone)
            np.testing.assert_array_equal(read(found)[[place]], expected)
            np.testing.assert_array_equal(read(one), expected)


@pytest.mark.parametrize("wrap", [pa.binary(), pa.large_binary()])
def test_bytes_that_spell_no_text_raise_nothing_and_leave_the_others(wrap):
    column = pa.array([b"clerk", b"\xff\xfe", None, b"7"], type=wrap)
    text = column.view(pa.string() if wrap == pa.binary() else pa.large_string())
    found = arrow_cells(text)
    assert texts_of(found).tolist() == ["clerk", "", None, "7"]
    np.testing.assert_array_equal(numbers_of(found), [np.nan, np.nan, np.nan, 7.0])


def test_a_date_beyond_the_calendar_raises_nothing_and_leaves_the_others():
    days = pa.array([0, 2**31 - 1, None], type=pa.int32()).view(pa.date32())
    found = arrow_cells(days)
    assert texts_of(found).tolist() == ["1970-01-01", "", None]


def test_decimals_are_read_as_numbers():
    column = pa.array([decimal.Decimal("1.50"), None])
    assert numbers_of(arrow_cells(column))[0] == 1.5
