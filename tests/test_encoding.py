"""The code of a cell is a function of the cell and the schema: no dtype, no neighbor, no error."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from any_cells import (
    HostileText,
    as_object_array,
    cells,
    number_texts,
)
from dpexplain.schema import Categorical, Classes, Numeric, Range
from dpexplain.tables.encoding import (
    days_of,
    encode_categorical,
    encode_classes,
    encode_numeric,
    encode_range,
    texts_of,
)

AGE = Numeric(-3, 40)
JOB = Categorical(["1", "no", "0.5", "inf", "2020-01-01", "None"])
VISITS = Range(-3, 40)
CHURN = Classes(["no", "1", "True story"])

ENCODERS: dict[str, Callable[[Any], np.ndarray]] = {
    "numeric": lambda column: encode_numeric(column, AGE),
    "categorical": lambda column: encode_categorical(column, JOB),
    "range": lambda column: encode_range(column, VISITS),
    "classes": lambda column: encode_classes(column, CHURN),
}


# Later releases of pandas always read decimals exactly, and warn where it is asked for.
EXACT_DECIMALS: dict[str, Any] = {"float_precision": "round_trip"} if pd.__version__ < "3.1" else {}


@pytest.mark.parametrize("kind", ENCODERS)
@given(column=st.lists(cells, max_size=12))
@example(column=[True, 1, 1.0, "1", "True", 0.0, -0.0, "-0"])
def test_code_of_a_cell_does_not_depend_on_the_other_cells(kind: str, column: list[Any]) -> None:
    encode = ENCODERS[kind]
    alone = [encode(as_object_array([cell]))[0] for cell in column]
    whole = encode(as_object_array(column))
    np.testing.assert_array_equal(whole, np.array(alone, dtype=whole.dtype))
    np.testing.assert_array_equal(encode(pd.Series(as_object_array(column), dtype=object)), whole)
    np.testing.assert_array_equal(encode(column), whole)


def with_nullable_dtype(column: pd.Series) -> pd.Series:
    try:
        return column.convert_dtypes()
    except (TypeError, OverflowError):  # pandas 2 cannot convert complex and huge numbers
        return column


@pytest.mark.parametrize("kind", ENCODERS)
@given(
    column=st.lists(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(-(2**70), 2**70),
            st.floats(),
            st.complex_numbers(allow_nan=False, allow_infinity=False),
            number_texts,
            st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
        ),
        max_size=6,
    )
)
@example(column=["", "\x00"])  # one text to a reader of C strings
def test_code_does_not_depend_on_the_dtype_that_pandas_infers(kind: str, column: list[Any]) -> None:
    encode = ENCODERS[kind]
    expected = encode(as_object_array(column))
    inferred = pd.Series(column)
    np.testing.assert_array_equal(encode(inferred), expected)
    np.testing.assert_array_equal(encode(with_nullable_dtype(inferred)), expected)


def spellings(whole: list[int]) -> dict[str, Any]:
    """Return a column of whole numbers as every kind of column that may hold it."""
    series = pd.Series(whole)
    return {
        "float64": series.astype(float),
        "float32": series.astype("float32"),
        "int8": series.astype("int8"),
        "longdouble": np.array(whole, dtype=np.longdouble),
        "complex": series.astype(complex),
        "object of int": series.astype(object),
        "object of str": as_object_array([str(value) for value in whole]),
        "object of float text": as_object_array([f" {value}.0 " for value in whole]),
        "object of Decimal": as_object_array([Decimal(value) for value in whole]),
        "string": series.astype(str).astype("string"),
        "inferred str": pd.Series([str(value) for value in whole]),
        "numpy text": np.array([str(value) for value in whole]),
        "category": series.astype("category"),
        "category of str": series.astype(str).astype("category"),
        "Int64": series.astype("Int64"),
        "Float32": series.astype("Float32"),
        "sparse": series.astype("Sparse[int]"),
        "index": pd.Index(whole),
        "masked": np.ma.masked_array(whole, mask=[False] * len(whole)),
        "list": whole,
        "tuple": tuple(whole),
    }


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("spelling", spellings([0]))
def test_whole_numbers_have_one_code_in_every_column_type(kind: str, spelling: str) -> None:
    whole = [0, 1, 1, 7, -5, 60, 3]
    encode = ENCODERS[kind]
    np.testing.assert_array_equal(encode(spellings(whole)[spelling]), encode(np.array(whole)))


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("dtype", [int, float, object])
def test_masked_cell_is_an_empty_one(kind: str, dtype: type) -> None:
    encode = ENCODERS[kind]
    masked = np.ma.masked_array(np.array([7, 1], dtype=dtype), mask=[True, False])
    np.testing.assert_array_equal(encode(masked), encode(as_object_array([None, 1])))


def test_dates_in_a_masked_array_are_dates():
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    found = days_of(np.ma.masked_array(days, mask=[True, False]))
    np.testing.assert_array_equal(found, [np.nan, 18_628.0])


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("bad", ["oops", None, pd.NA, pd.NaT, np.nan, [1], b"1", 1j, "", {}])
def test_one_bad_cell_changes_no_other_code(kind: str, bad: object) -> None:
    whole = [0, 1, 1, 7, -5, 60, 3]
    encode = ENCODERS[kind]
    with_bad_cell = pd.Series([*whole, bad])
    np.testing.assert_array_equal(encode(with_bad_cell)[:-1], encode(pd.Series(whole)))


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("dtype", [object, "string", "category", "Int64", "float64"])
def test_reading_in_blocks_changes_nothing(
    kind: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = pd.Series([1, 0, None, 1, 7, 60, 0, -5, None, 1], dtype=object).astype(dtype)
    whole = ENCODERS[kind](column)
    for n_rows in (1, 3, 10):
        monkeypatch.setattr("dpexplain.tables.encoding._BLOCK", n_rows)
        np.testing.assert_array_equal(ENCODERS[kind](column), whole)


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_parts_of_an_arrow_column_are_read_one_by_one(kind: str, dtype: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    parts = [pa.array(np.array(part, dtype)) for part in ([0, 1, 1], [float("nan")], [1, 0])]
    whole = pd.arrays.ArrowExtensionArray(pa.chunked_array(parts))
    np.testing.assert_array_equal(
        ENCODERS[kind](whole), ENCODERS[kind](as_object_array([0, 1, 1, None, 1, 0]))
    )


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("storage", ["python", "pyarrow"])
@given(column=st.lists(st.one_of(number_texts, st.text(max_size=3), st.none()), max_size=12))
def test_text_is_read_like_objects_wherever_pandas_keeps_it(
    kind: str, storage: str, column: list[str | None]
) -> None:
    if storage == "pyarrow":
        pytest.importorskip("pyarrow")
    encode, dtype = ENCODERS[kind], pd.StringDtype(storage)  # type: ignore[arg-type]
    text = [cell if cell is None else cell.encode("utf-8", "replace").decode() for cell in column]
    np.testing.assert_array_equal(
        encode(pd.array(text, dtype=dtype)), encode(as_object_array(text))
    )


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize(
    ("dtype", "column"),
    [
        ("Int64", [1, None, 3]),
        ("Float64", [1, None, 3]),
        ("boolean", [True, None, False]),
        ("string", ["1", None, "no"]),
        ("category", ["1", None, "no"]),
        ("datetime64[ns]", ["2020-01-01", None, "2021-05-05"]),
    ],
)
def test_columns_with_their_own_missing_value_read_like_objects(
    kind: str, dtype: str, column: list[Any]
) -> None:
    encode = ENCODERS[kind]
    np.testing.assert_array_equal(
        encode(pd.Series(column, dtype=dtype)), encode(as_object_array(column))
    )


@pytest.mark.parametrize("kind", ENCODERS)
@given(
    good=st.lists(
        st.one_of(
            st.integers(-60, 60).map(str),
            st.floats(allow_nan=False).map(repr),
            st.sampled_from(["True", "false", "inf", "007", "1e5"]),
        ),
        min_size=1,
        max_size=5,
    ),
    bad=st.sampled_from(
        ["x", "no", "1_0", "1,5", "True", "nan", "2020-01-01", "99999999999999999"]
    ),
)
def test_one_bad_cell_of_a_csv_file_changes_no_other_code(
    kind: str, good: list[str], bad: str
) -> None:
    encode = ENCODERS[kind]
    clean, spoilt = (
        pd.read_csv(
            io.StringIO("\n".join(["a;b", *(f"{line};0" for line in lines)])),
            sep=";",
            **EXACT_DECIMALS,
        )["a"]
        for lines in (good, [*good, bad])
    )
    np.testing.assert_array_equal(encode(spoilt)[:-1], encode(clean))


def test_numeric_cells_are_moved_into_the_bounds_and_the_rest_is_missing() -> None:
    column = [-1e9, -np.inf, 5, "39.5", 41, np.inf, "1e999", 10**5000, True, np.nan, "x", [5], b"5"]
    np.testing.assert_array_equal(
        encode_numeric(column, AGE),
        [-3, -3, 5, 39.5, 40, 40, 40, 40, 1, np.nan, np.nan, np.nan, np.nan],
    )


@pytest.mark.parametrize("zero", [-0.0, "-0", "-0.0", Decimal("-0"), np.float32(-0.0), 0, False])
def test_zero_has_one_sign_in_every_spelling(zero: object) -> None:
    for column in ([zero], pd.Series([zero]), pd.Series([zero]).convert_dtypes()):
        assert not np.signbit(encode_numeric(column, AGE)).any()


@pytest.mark.parametrize("text", ["1_0", "1,5", "0x10", "1e", "- 1", "1 0", "yes", "1j"])
def test_text_that_readers_of_tables_leave_alone_is_no_number(text: str) -> None:
    assert np.isnan(encode_numeric([text], AGE)).all()


def test_subclasses_are_read_as_the_text_or_number_that_they_hold() -> None:
    np.testing.assert_array_equal(encode_numeric([HostileText(" 1"), np.str_("2")], AGE), [1, 2])


@given(values=st.lists(st.floats(), max_size=20))
def test_numeric_encoding_equals_naive_clipping(values: list[float]) -> None:
    expected = [np.nan if np.isnan(value) else min(max(value, -3.0), 40.0) for value in values]
    np.testing.assert_array_equal(encode_numeric(np.array(values, dtype=float), AGE), expected)


def test_a_date_is_one_text_with_and_without_its_midnight() -> None:
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2021-05-05"]))
    spoiled = pd.Series([*dates, "x"]).astype("string")
    texts = texts_of(dates.astype("string"))
    assert texts.tolist() == ["2020-01-01", "2021-05-05"]
    assert texts_of(spoiled).tolist() == [*texts, "x"]
    assert texts_of(pd.Series(["2020-01-01 00:00:01", "20200101 00:00:00"])).tolist() == [
        "2020-01-01 00:00:01",
        "20200101 00:00:00",
    ]


def test_dates_and_durations_are_no_numbers() -> None:
    dates = pd.Series(pd.to_datetime(["2020-01-01", "1970-01-01"]))
    durations = pd.Series(pd.to_timedelta([1, 2], unit="ns"))
    for column in (
        dates,
        durations,
        dates.to_numpy(),
        durations.to_numpy(),
        dates.dt.tz_localize(0),
    ):
        assert np.isnan(encode_numeric(column, AGE)).all()


def test_categories_other_and_missing_have_the_codes_of_the_contract() -> None:
    feature = Categorical(["a", "b"])
    column = ["a", " b ", "B", "", None, np.nan, pd.NA, "nan", "NA", 1, [], "c"]
    np.testing.assert_array_equal(
        encode_categorical(column, feature), [0, 1, 2, 3, 3, 3, 3, 3, 3, 2, 2, 2]
    )
    assert encode_categorical(column, feature).dtype == np.int32


def test_an_empty_word_that_the_schema_lists_is_a_category() -> None:
    feature = Categorical(["None", "some"])
    np.testing.assert_array_equal(encode_categorical(["None", "some", None], feature), [0, 1, 3])


def test_numbers_truth_values_and_their_texts_are_one_category() -> None:
    column = [1, 1.0, "1", "1.00", " 01 ", "1e0", True, "True", np.bool_(True), Decimal(1), 1 + 0j]
    for feature in (Categorical([1, 0]), Categorical(["True", "False"]), Categorical([True, 0])):
        np.testing.assert_array_equal(encode_categorical(column, feature), 0)


def test_dates_match_categories_in_iso_format() -> None:
    feature = Categorical(["2020-01-01", "2020-01-01 12:00:00"])
    column = pd.Series(np.array(["2020-01-01T12:00", "2020-01-01T00:00", "NaT"], dtype="M8[ns]"))
    np.testing.assert_array_equal(encode_categorical(column, feature), [1, 0, 3])
    np.testing.assert_array_equal(
        encode_categorical([datetime.date(2020, 1, 1), "2020-01-01"], feature), [0, 0]
    )


def test_target_of_a_regression_is_clipped_and_unreadable_ones_are_nan() -> None:
    nan = np.nan
    np.testing.assert_array_equal(
        encode_range([-9, "7", np.inf, None, "x", [1]], Range(0, 10)), [0, 7, 10, nan, nan, nan]
    )


def test_a_label_outside_the_classes_is_none_of_them() -> None:
    codes = encode_classes(["yes", "no", "maybe", None, [], " yes"], Classes(["no", "yes"]))
    np.testing.assert_array_equal(codes, [1, 0, -1, -1, -1, 1])
    assert codes.dtype == np.int64


@pytest.mark.parametrize("y", [[False, True], [0, 1], [0.0, 1.0], ["0", "1"], ["False", "True"]])
@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["0", "1"], [0.0, 1.0]])
def test_classes_match_in_every_spelling(y: list[Any], labels: list[Any]) -> None:
    for column in (y, np.array(y), pd.Series(y), pd.Series(y, dtype=object), np.array(y)[:, None]):
        np.testing.assert_array_equal(encode_classes(column, Classes(labels)), [0, 1])


def test_target_with_two_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="one column"):
        encode_range(np.zeros((3, 2)), Range(0, 1))
    with pytest.raises(ValueError, match="one column"):
        encode_classes(pd.DataFrame(np.zeros((3, 2))), Classes([0, 1]))
