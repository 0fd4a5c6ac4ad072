"""Hypothesis strategies for unlikely tables, and schemas to read them with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dpexplain.schema import Categorical, Feature, Numeric

NAMES = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "\u202eright-to-left\u202c",
    "x" * 10_000,
    r"$\input{x}$ $ \$",
    "nul\x00tab\tnewline\n",
    "\U0001f600 emoji",
    "=1+cmd|' /C calc'!A0",
    "../../etc/passwd",
)


class Bomb:
    """Cell that raises an error, quoting its text, whatever is asked of it."""

    def _raise(self, *args: object) -> Any:
        raise RuntimeError("Zorblax went off")

    __str__ = __repr__ = __float__ = __int__ = __index__ = __hash__ = __eq__ = __bool__ = _raise
    __format__ = __lt__ = __gt__ = __len__ = __iter__ = __array__ = __complex__ = _raise


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True),
    st.integers(-(10**400), 10**400),
    st.sampled_from([10**5000, np.float32(0.1), np.int8(-3), np.uint64(2**63), np.float16(7)]),
    st.sampled_from([Decimal("1e9999"), Decimal("sNaN"), Fraction(1, 3), 1 + 2j, True, np.True_]),
    st.floats(0, 100),
    st.integers(0, 100),
)
texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(NAMES),
    st.sampled_from(["nan", "inf", "-1e999", "1" * 5000, "1_000", "0x10", "NA", " 7 ", "clerk"]),
    st.sampled_from(["\ud800 half", "\u0661\u0662", "9" * 10_000 + "x"]),
)
others = st.one_of(
    st.none(),
    st.sampled_from([pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), np.datetime64("NaT"), date.min]),
    st.sampled_from([timedelta(days=1), np.timedelta64(3, "D"), pd.Interval(0, 1), range(3)]),
    st.binary(max_size=4),
    st.lists(st.integers(), max_size=2),
    st.builds(dict),
    st.builds(Bomb),
    st.just(np.array([1.0, 2.0])),
)
cells = st.one_of(numbers, texts, others)


@st.composite
def features(draw: st.DrawFn) -> dict[str, Feature]:
    """Draw public features with hostile names, extreme bounds and long lists."""
    names = st.one_of(st.sampled_from(NAMES), st.text(min_size=1, max_size=8).filter(_encodable))
    chosen = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    return {name: draw(st.one_of(_numeric(), _categorical())) for name in chosen}


def _encodable(name: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


@st.composite
def _numeric(draw: st.DrawFn) -> Numeric:
    low, high = draw(
        st.sampled_from([(0, 1), (0, 100), (-1e300, 1e300), (1e-300, 2e-300), (-7.5, -7.4999)])
    )
    step = draw(st.sampled_from([None, (high - low) / 10]))
    return Numeric(low, high, step=step, unit=draw(st.sampled_from(NAMES)))


@st.composite
def _categorical(draw: st.DrawFn) -> Categorical:
    names = st.sampled_from([*(name for name in NAMES if name.strip()), "clerk", "nurse", "7"])
    chosen = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    return Categorical(chosen, ordered=draw(st.booleans()))


KINDS = {"mixed": cells, "numbers": numbers, "texts": texts}
DTYPES = ("object", "string", "category", "float64", "Float64")


@st.composite
def columns(draw: st.DrawFn, n: int) -> Any:
    """Draw a column: constant, of one kind or mixed; as pandas stores it or as objects."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    # A few distinct cells fill a column of any length.
    distinct = draw(st.lists(kind, min_size=1, max_size=draw(st.sampled_from([1, 12]))))
    dtype = draw(st.sampled_from(DTYPES))
    values = as_objects(distinct[i % len(distinct)] for i in range(n))
    if dtype == "object":
        return values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pd.Series(values, dtype=object).astype(dtype).array
        except Exception:  # pandas will not hold these cells in that dtype
            return values


def as_objects(values: Iterable[Any]) -> np.ndarray:
    """Put cells into an array without looking at them."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):
        array[place] = value
    return array


@st.composite
def tables(draw: st.DrawFn, known: dict[str, Feature]) -> tuple[pd.DataFrame, Any, np.ndarray]:
    """Draw features, target and groups for a schema; empty, tiny or of thousands of rows."""
    n = draw(st.sampled_from([0, 1, 2, 3, 17, 40, 3000]))
    # pandas would look for texts in objects, and stumble over half characters.
    arrays = [draw(columns(n)) for _ in known]
    drawn = [pd.Series(each, index=range(n), dtype=each.dtype) for each in arrays]
    X = pd.concat(drawn, axis=1)
    X.columns = list(known)
    groups = as_objects(draw(st.lists(cells, min_size=1, max_size=6)) * n)[:n]
    return X, draw(columns(n)), groups
