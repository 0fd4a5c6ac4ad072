"""Hypothesis strategies for cells of every kind that a table may hold, even hostile ones."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st


class Hostile:
    """Cell that raises an error whenever it is looked at."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("secret")

    __eq__ = __ne__ = __hash__ = __float__ = __int__ = __str__ = _refuse  # type: ignore[assignment]
    __bool__ = __len__ = __iter__ = __index__ = _refuse


class HostileInt(int):
    def __float__(self) -> float:
        raise RuntimeError("secret")

    def __gt__(self, other: object) -> bool:
        raise RuntimeError("secret")

    __hash__ = None  # type: ignore[assignment]


class HostileText(str):
    """String all of whose methods raise errors."""

    __slots__ = ()

    def strip(self, *_: object) -> Any:
        raise RuntimeError("secret")

    __str__ = __repr__ = __contains__ = __format__ = strip  # type: ignore[assignment]
    __eq__ = __len__ = __iter__ = replace = lower = upper = split = encode = strip  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class HostileClass:
    """Cell that raises an error when asked for its class."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("secret")


number_texts = st.one_of(
    st.integers(-50, 50).map(str),
    st.floats(allow_nan=True).map(repr),
    st.sampled_from(
        ["1", "1.0", " 1 ", "01", "1e0", "+1", "1_0", "True", "TRUE", "false", "inf", "-Infinity"]
    ),
    st.sampled_from(["nan", "-nan", "NaN", "", "  ", "None", "NA", "<NA>", "null", "1,5", "0x10"]),
    st.sampled_from(["9" * 400, "9" * 5000, "-" + "9" * 5000, "1e400", "\x00", "no", "NO "]),
    st.just("\N{FULLWIDTH DIGIT ONE}"),
)
numbers = st.one_of(
    st.integers(-50, 50),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 2**53 + 1]),
    st.builds(HostileInt),
    st.floats(),
    st.floats(width=16).map(np.float16),
    st.floats(width=32).map(np.float32),
    st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.booleans(),
    st.booleans().map(np.bool_),
    st.decimals(),
    st.sampled_from([Decimal("sNaN"), Decimal("1e999999"), Fraction(1, 2), Fraction(10**400)]),
    st.complex_numbers(),
    st.sampled_from([1 + 0j, np.complex128(1), np.longdouble(1)]),
)
times = st.one_of(
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
    st.sampled_from(
        [
            pd.NaT,
            pd.Timestamp("2020-01-01"),
            pd.Timedelta("1D"),
            pd.Period("2020-01"),
            np.datetime64("2020-01-01"),
            np.datetime64("NaT"),
            np.datetime64(10**6, "Y"),
            np.timedelta64(1, "D"),
            np.timedelta64("NaT"),
        ]
    ),
)
odd_things = st.one_of(
    st.sampled_from([None, pd.NA, pd.Interval(0, 1), object, ...]),
    st.builds(Hostile),
    st.builds(HostileText, st.sampled_from(["", "1,5", "2024-01-31"])),
    st.builds(HostileClass),
    st.binary(max_size=4),
    st.lists(st.integers(), max_size=2),
    st.just({}),
    st.frozensets(st.integers(), max_size=2),
    st.sampled_from([np.array(1), np.array([1.0]), np.array([[1, 2]]), pd.Series([1])]),
)
cells = st.one_of(number_texts, st.text(max_size=4), numbers, times, odd_things)


def as_object_array(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        column[index] = value
    return column
