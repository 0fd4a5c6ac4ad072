"""Columns of all kinds, and who a row belongs to."""

from __future__ import annotations

import copy
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.mechanisms import SecretCoins, SeededCoins
from dpexplain.models.inputs import as_column, as_table
from dpexplain.models.persons import bounded_rows, person_of

cells = st.one_of(
    st.integers(), st.floats(), st.text(max_size=5), st.none(), st.booleans(), st.binary(max_size=3)
)


@given(people=st.lists(cells, max_size=60), max_rows=st.integers(1, 4))
def test_nobody_keeps_more_rows_than_the_bound_and_nobody_below_it_loses_one(people, max_rows):
    keys = [person_of(cell) for cell in people]
    kept = bounded_rows(people, max_rows, SecretCoins())
    assert len(set(kept)) == len(kept)
    for key in set(keys):
        rows = [i for i, other in enumerate(keys) if other == key]
        bound = 0 if key is None else max_rows
        assert len(set(rows) & set(kept)) == min(bound, len(rows))


def test_the_rows_that_are_kept_change_from_fit_to_fit():
    """One of a person's 40 rows is kept: 20 draws agree with probability 40 ** -19."""
    assert len({tuple(bounded_rows(["same"] * 40, 1, SecretCoins())) for _ in range(20)}) > 1


def test_the_rows_that_are_kept_repeat_with_a_seed():
    kept = [bounded_rows(["same"] * 40, 1, SeededCoins(3)).tolist() for _ in range(3)]
    assert kept[0] == kept[1] == kept[2]


@given(first=st.integers(), second=st.integers())
def test_different_whole_numbers_are_different_people(first, second):
    assert (person_of(first) == person_of(second)) == (first == second)
    assert person_of(first) == person_of(str(first)) == person_of(f" {first} ")


def test_a_number_is_one_person_in_every_type_and_an_empty_cell_is_nobody_in_every_spelling():
    assert len({person_of(c) for c in (7, 7.0, "7", "7.0", np.int8(7), np.float32(7))}) == 1
    sevens = (7, Decimal("7"), Decimal("7.00"), Fraction(7), np.longdouble(7), 7 + 0j)
    assert len({person_of(c) for c in sevens}) == 1
    assert len({person_of(c) for c in ("0.1", 0.1, Decimal("0.10"))}) == 1
    sevens = (7, "7", b"7", b" 07", np.bytes_(b"7"), bytearray(b"7"), memoryview(b"7"), np.array(7))
    assert {person_of(c) for c in (*sevens, pa.scalar(7))} == {person_of(7)}
    assert len({person_of(c) for c in sevens}) == 1
    assert person_of("Zoë") == person_of("Zoë".encode())
    assert {person_of(c) for c in (None, np.nan, pd.NA, pd.NaT, "", " ", "nan")} == {None}
    nameless = (Decimal("NaN"), np.longdouble("nan"), Decimal("1e999999999"), *NOBODY)
    assert {person_of(c) for c in nameless} == {None}
    assert len({person_of(c) for c in ("a", "A", "7a", b"\x07", b"\xe97", 7, None)}) == 7
    digits = "9007199254740992", "9007199254740993", "9007199254740993.0", "9" * 5000, "9" * 5001
    assert len({person_of(c) for c in (*digits, "0.1", "0.10000000000000001", 0.1)}) == 6


NOBODY = (
    *(complex("nan"), complex(0, np.nan), np.clongdouble("nan"), np.complex64(complex(1, np.nan))),
    *("None", "null", "NA", " n/a ", "<NA>", "NaT", b"", b"  ", np.void(b"\0\0"), []),
    *("-nan", "+NaN", "#N/A", "#NA", pa.scalar(None, pa.int64())),
    *((None, None), [np.nan], {"hospital": None, "number": "NA"}, np.array([np.nan]), object()),
    *(np.ma.masked, np.ma.array([3, 7], mask=True), np.array("NA"), np.array(np.nan)),
)


class Clinic:
    """Object whose repr is only its memory address."""


def test_parts_sets_and_times_name_one_person_in_every_type():
    same = [
        [(3, "7"), ["3", 7.0], np.array([3, 7]), pd.Series([3, 7])],
        [{"a", "b", "c"}, frozenset("cba")],
        [{"hospital": 3, "number": 7}, {"number": "7", "hospital": 3.0}],
        [date(2024, 1, 31), pd.Timestamp("2024-01-31"), np.datetime64("2024-01-31", "ns")],
        [7, np.clongdouble(7), np.complex64(7)],
    ]
    keys = [{person_of(cell) for cell in cells} for cells in same]
    assert [len(key) for key in keys] == [1] * len(same)
    assert len(set.union(*keys) - {None}) == len(same)
    apart = [(3, None), (None, 3), ("3", "7,8"), ("3,7", 8), np.arange(2000), np.arange(2001)]
    assert len({person_of(cell) for cell in apart}) == len(apart)
    assert person_of([Clinic(), Clinic()]) is None


parts = st.recursive(
    cells, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=4
)


@given(person=parts)
def test_a_copy_of_a_name_is_the_same_person(person):
    assert person_of(person) == person_of(copy.deepcopy(person))
    assert (
        person_of([person]) == person_of((person,)) == person_of(np.array([person, 0], object)[:1])
    )


@given(values=st.lists(cells, max_size=20))
def test_a_list_is_kept_cell_by_cell(values):
    column = as_column("y", values, np.zeros((len(values), 1)))
    assert column.dtype == object
    assert all(kept is given for kept, given in zip(column, values, strict=True))


class Raising(list):
    """Row that raises an error when its cells are read."""

    def __iter__(self):
        raise RuntimeError("Zorblax")


class Endless(Raising):
    """Row that raises an error when its length is asked for."""

    def __len__(self):
        raise RuntimeError("Zorblax")


NO_ROWS = [
    *(None, 5, "ab", b"ab", {"a": 1, "b": 2}, [1], (1, 2, 3)),
    *(np.array(5), np.ma.masked, memoryview(np.zeros((2, 2))), Raising([1, 2]), Endless([1, 2])),
]


@pytest.mark.parametrize("row", NO_ROWS, ids=lambda row: type(row).__name__)
def test_an_element_of_a_list_that_is_no_row_becomes_empty_cells(row):
    table = as_table([[1, 2], row, (3, 4)], n_columns=2)
    assert table.tolist() == [[1, 2], [None, None], [3, 4]]


def test_a_mask_stays():
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    assert as_column("y", masked, np.zeros((2, 1))) is masked


def test_messages_hold_no_number_of_rows():
    with pytest.raises(ValueError, match="one value per row") as caught:
        as_column("y", np.zeros(4321), np.zeros((1234, 1)))
    assert "4321" not in str(caught.value)
    assert "1234" not in str(caught.value)


def test_a_table_that_can_become_a_frame_is_matched_by_name():
    class Exchange:
        def to_pandas(self):
            return pd.DataFrame({"b": [1], "a": [2]})

    assert list(as_table(Exchange()).columns) == ["b", "a"]
