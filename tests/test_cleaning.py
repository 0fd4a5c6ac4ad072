"""Aliases, markers, decimal commas and formats of dates: public rules, applied cell by cell."""

from __future__ import annotations

import enum
import re
import warnings
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_cells import as_object_array, cells
from dpexplain.exceptions import HealthWarning, SchemaError
from dpexplain.models.inputs import rows_with_target
from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema
from dpexplain.tables.cells import cell_day, cell_number
from dpexplain.tables.encoding import encode_classes, encode_features, encode_range, read_numbers
from dpexplain.tables.lines import LineFormat, read_texts
from dpexplain.tables.spellings import day_format, day_reader, number_reader
from effort import examples

SCHEMA = Schema(
    {
        "dose": Numeric(0, 50, missing=["-99", "unknown", "9,5"], decimal=","),
        "seen": Date(
            "2019-01-01", "2024-12-31", format=["%d.%m.%Y", "%m/%d/%y"], missing=["01.01.2019"]
        ),
        "sex": Categorical(
            ["male", "female"], aliases={"m": "male", "F": "female", 2: "female"}, missing=[-99]
        ),
    },
    target=Classes([0, 1], name="died", aliases={"ja": 1, "nein": 0}, missing=["9"]),
)
NASTY = {
    "dose": ["1,5", "-99", "unknown", "2.5", " 3 ", "9,5", "-99,0", "1e1", "70", "a"],
    "seen": [
        *("31.12.2020", "12/31/20", "2020-12-31", "31.02.2020", "01.01.2019"),
        *("1/2/2021", "2020-12-31 08:00", "20201231", "31.12.2020 08:00", "1.2.2021"),
    ],
    "sex": ["m", "F", "2.0", "male ", "-99.0", "f", "", "FEMALE", "02", "female"],
}
DOSE = [1.5, np.nan, np.nan, np.nan, 3, np.nan, np.nan, 10, 50, np.nan]
LAST, FEBRUARY = cell_day("2020-12-31"), cell_day("2021-02-01")
SEEN = [LAST, LAST, LAST, np.nan, np.nan, np.nan, LAST, np.nan, LAST, FEBRUARY]
SEX = [0, 1, 1, 0, 3, 2, 3, 2, 1, 1]


def twin_of_a_number(cell: object) -> float:
    """Read a text of an ordinary form by another way than the library's."""
    text = str(cell).strip()
    if not re.fullmatch(r"-?[0-9]+(,[0-9]+)?", text):
        return np.nan
    number = float(text.replace(",", "."))
    return np.nan if number in (-99, 9.5) else min(max(number, 0), 50)


def twin_of_a_day(cell: object) -> float:
    for shape in ("%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d"):
        try:
            day = datetime.strptime(str(cell).strip(), shape).date()
        except ValueError:
            continue
        if day.year > 2024:  # Python's own rule for two digits ends in 2068
            day = day.replace(year=day.year - 100)
        first, last = date(2019, 1, 1), date(2024, 12, 31)
        if day == first:
            return np.nan
        return float((min(max(day, first), last) - date(1970, 1, 1)).days)
    return np.nan


dose_texts = st.from_regex(r"-?[0-9]{1,3}(,[0-9]{1,2})?", fullmatch=True) | st.sampled_from(
    NASTY["dose"][:7]
)

day_texts = st.builds(
    lambda day, shape: day.strftime(shape),
    st.dates(date(2000, 1, 1), date(2024, 12, 31)),
    st.sampled_from(["%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d"]),
)
sex_texts = st.sampled_from(NASTY["sex"])
rows = st.tuples(dose_texts | cells, day_texts | cells, sex_texts | cells)


def encoded(table: list[Any]) -> np.ndarray:
    X = np.empty((len(table), 3), dtype=object)
    for place, row in enumerate(table):
        X[place] = as_object_array(list(row))
    return np.array([column.astype(float) for column in encode_features(X, SCHEMA)])


@examples(50)
@given(table=st.lists(rows, min_size=1, max_size=6), other=rows, data=st.data())
def test_replacing_or_removing_a_row_changes_no_other_row(
    table: list[Any], other: Any, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(table) - 1))
    whole = encoded(table)
    rest = np.delete(whole, place, axis=1)
    np.testing.assert_array_equal(encoded(table[:place] + table[place + 1 :]), rest)
    replaced = encoded([*table[:place], other, *table[place + 1 :]])
    np.testing.assert_array_equal(np.delete(replaced, place, axis=1), rest)


@pytest.mark.full
@examples(50)
@given(table=st.lists(st.tuples(dose_texts, day_texts, sex_texts), min_size=1, max_size=8))
def test_cleaning_equals_a_naive_twin(table: list[Any]) -> None:
    doses, days, sexes = encoded(table)
    np.testing.assert_array_equal(doses, [twin_of_a_number(row[0]) for row in table])
    np.testing.assert_array_equal(days, [twin_of_a_day(row[1]) for row in table])
    np.testing.assert_array_equal(
        sexes, [dict(zip(NASTY["sex"], SEX, strict=True))[row[2]] for row in table]
    )


def tables_of_every_reader(folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame(NASTY)
    frame.to_csv(folder / "table.csv", sep=";", index=False)
    pa, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    return {
        "pandas": frame,
        "categories": frame.astype("category"),
        "objects": frame.to_numpy(dtype=object),
        "lines": read_texts(folder / "table.csv", LineFormat(";")),
        "arrow": pa.table(NASTY),
        "polars": polars.DataFrame(NASTY),
    }


def test_every_reader_gives_the_same_clean_table(tmp_path: Path) -> None:
    for kind, table in tables_of_every_reader(tmp_path).items():
        dose, seen, sex = encode_features(table, SCHEMA)
        np.testing.assert_array_equal(dose, DOSE, err_msg=kind)
        np.testing.assert_array_equal(seen, SEEN, err_msg=kind)
        np.testing.assert_array_equal(sex, SEX, err_msg=kind)


@pytest.mark.full
def test_tables_that_are_read_in_parts_are_cleaned(tmp_path: Path) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    from dpexplain.tables.chunked_arrow import ArrowTable
    from dpexplain.tables.chunked_dask import DaskTable

    frame = pd.DataFrame({**NASTY, "died": "ja"})
    frame.to_parquet(tmp_path / "table.parquet")
    for table in (
        ArrowTable.open(tmp_path / "table.parquet"),
        DaskTable(dataframe.from_pandas(frame, npartitions=2)),
    ):
        parts = [encode_features(X, SCHEMA) for X, _ in table.chunks("died", SCHEMA)]
        dose, seen, sex = (np.concatenate(column) for column in zip(*parts, strict=True))
        np.testing.assert_array_equal(dose, DOSE)
        np.testing.assert_array_equal(seen, SEEN)
        np.testing.assert_array_equal(sex, SEX)


def test_a_clean_cell_of_a_category_reads_as_it_did_before() -> None:
    cells = [object(), b"x", "N", "m", None, "-99", "female"]
    X = pd.DataFrame({"dose": "1", "seen": "2020-01-31", "sex": pd.Series(cells, dtype=object)})
    once = SCHEMA.clean(X)
    for first, second in zip(
        encode_features(X, SCHEMA), encode_features(once, SCHEMA), strict=True
    ):
        np.testing.assert_array_equal(first, second)


def test_constants_and_kinds_of_text_are_read_as_their_text() -> None:
    class Answer(str, enum.Enum):  # noqa: UP042 (of which str() is the name)
        DOSE = "1,5"

    found = encode_features([[Answer.DOSE, "x", "m"], [np.str_("1,5"), "x", "m"]], SCHEMA)[0]
    np.testing.assert_array_equal(found, [1.5, 1.5])


def test_a_marker_is_hidden_in_every_type_of_column() -> None:
    schema = Schema({"a": Numeric(0, 9, missing=["-99", 7])})
    for dtype in ("int64", "Int64", "float32", "float64", object, "string", "category"):
        column = pd.DataFrame({"a": pd.Series([1, -99, 7, 3]).astype(dtype)})
        np.testing.assert_array_equal(encode_features(column, schema)[0], [1, np.nan, np.nan, 3])


def test_dates_of_digits_only_are_read_from_numbers_too() -> None:
    schema = Schema({"day": Date("2000-01-01", "2030-01-01", format="%d%m%Y")})
    day = cell_day("2021-02-01")
    for cell in (1022021, 1022021.0, "01022021", "1022021", "1022021.0", np.int64(1022021)):
        assert encode_features([[cell]], schema)[0][0] == day
    assert np.isnan(encode_features([["31.12.2021"], [True], [0], [10**9]], schema)[0]).all()


def test_a_year_of_two_digits_is_the_last_one_within_the_bounds() -> None:
    born = Schema({"born": Date("1920-01-01", "2010-12-31", format="%d.%m.%y")})
    found = encode_features([["12.03.45"], ["12.03.11"], ["12.03.10"]], born)[0]
    assert [cell_day(day) for day in ("1945-03-12", "1920-01-01", "2010-03-12")] == list(found)


def test_names_of_months_are_english_on_every_machine() -> None:
    read = day_reader(["%d-%b-%Y", "%d %B %Y"], 2024)
    assert read("31-DEC-2020") == read("31 december 2020") == LAST
    assert np.isnan(read("31-Dez-2020"))
    assert np.isnan(read("31 Decem 2020"))


def test_a_schema_without_rules_takes_the_plain_way() -> None:
    assert day_reader((), 2024) is cell_day
    assert number_reader(".") is cell_number


def test_a_target_is_cleaned_and_may_be_read_twice() -> None:
    died = ["ja", "nein", "9", 9.0, "1", "", "vielleicht"]
    np.testing.assert_array_equal(encode_classes(died, SCHEMA.target), [1, 0, -1, -1, 1, -1, -1])
    cost = Range(0, 100, missing=["-99", 50], decimal=",")
    schema = Schema({"a": Numeric(0, 1)}, target=cost)
    y = as_object_array(["2,5", -99, "50,0", "200", "x", "-1"])
    X, kept, _ = rows_with_target(np.zeros((6, 1)), y, schema)
    np.testing.assert_array_equal(kept, [2.5, 100, 0])
    np.testing.assert_array_equal(encode_range(kept, cost), kept)
    assert len(X) == 3


def test_a_model_cleans_what_it_fits_and_what_it_predicts() -> None:
    from dpexplain.models import DPLogisticRegression

    frame = pd.DataFrame(NASTY)
    y = ["ja", "nein", "1", "0", "9", "ja", "nein", "", "ja", "nein"]
    model = DPLogisticRegression(epsilon=1.0, schema=SCHEMA, reproducible_seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
        again = DPLogisticRegression(epsilon=1.0, schema=SCHEMA, reproducible_seed=1)
        again.fit(SCHEMA.clean(frame), [1, 0, 1, 0, None, 1, 0, None, 1, 0])
    scores = model.predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(SCHEMA.clean(frame)), scores)
    np.testing.assert_array_equal(again.predict_proba(frame), scores)
    assert len(np.unique(scores[:, 1])) > 3


def test_a_cleaned_table_has_plain_cells() -> None:
    cleaned = SCHEMA.clean(pd.DataFrame(NASTY, index=range(10, 20)))
    assert cleaned["seen"].tolist()[:4] == ["2020-12-31"] * 3 + [None]
    assert cleaned["sex"].tolist()[:7] == ["male", *["female"] * 2, "male", None, "f", None]
    np.testing.assert_array_equal(cleaned["dose"], DOSE)
    assert cleaned.index[0] == 10


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_a_check_counts_markers_apart_from_mistakes() -> None:
    found = SCHEMA.check(pd.DataFrame(NASTY), ["ja"] * 8 + ["9", "?"]).frame()
    counts = {(row.column, row.problem): row.cells for row in found.itertuples()}
    assert counts == {
        ("dose", "marked as missing"): 4,
        ("dose", "no number"): 2,
        ("dose", "above 50"): 1,
        ("seen", "marked as missing"): 1,
        ("seen", "no date"): 3,
        ("sex", "not in the list of categories"): 2,
        ("sex", "empty"): 1,
        ("sex", "marked as missing"): 1,
        ("died (target)", "not in the list of classes"): 1,
        ("died (target)", "marked as missing"): 1,
    }


def test_rules_survive_toml_copies_and_are_shown() -> None:
    text = SCHEMA.to_toml()
    assert Schema.from_toml(text) == SCHEMA
    assert hash(Schema.from_toml(text)) == hash(SCHEMA)
    one = Schema({"d": Date("2020-01-01", "2021-01-01", format="%d.%m.%Y", source="p. <3>")})
    assert 'format = "%d.%m.%Y"' in one.to_toml()
    assert Schema.from_toml(one.to_toml()) == one
    page = SCHEMA._repr_html_() + one._repr_html_()
    for shown in ("decimal comma", "m = male", "missing -99", "%d.%m.%Y", "p. &lt;3&gt;"):
        assert shown in page
    assert "aliases={'m': 'male'" in repr(SCHEMA.features["sex"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Numeric(0, 1, decimal=";"), "decimal=';' must be"),
        (lambda: Numeric(0, 1, missing={"a": 1}), "missing must be a list"),
        (lambda: Numeric(0, 1, missing=[[1]]), "a string or a number"),
        (lambda: Categorical(["a"], missing=["a"]), "'a' is listed and also a marker"),
        (lambda: Categorical(["1"], missing=[1.0]), "'1' is listed and also a marker"),
        (lambda: Categorical(["a"], aliases={"a ": "a"}), "'a' is listed and also an alias"),
        (lambda: Categorical(["male"], aliases={"m": "mael"}), "did you mean 'male'"),
        (lambda: Categorical(["a"], aliases={"": "a"}), "reads as a missing value"),
        (lambda: Categorical(["a"], aliases=5), "aliases must map"),
        (lambda: Classes(["a", "b"], aliases={"x": "a"}, missing="x"), "also a marker"),
        (lambda: Range(0, 99, missing="99"), "is an end of the range"),
        (lambda: Date("2020-01-01", "2021-01-01", format=5), "format must be a string"),
        (lambda: Date("2020-01-01", "2021-01-01", format="%d.%m"), "needs a year"),
        (lambda: Date("2020-01-01", "2021-01-01", format="%d.%m.%Y %Z"), "'%Z' is not a part"),
        (lambda: Date("2020-01-01", "2021-01-01", format="%d.%m%Y"), "as a number"),
        (
            lambda: Date("2020-01-01", "2021-01-01", format=["%d/%m/%Y", "%m/%d/%Y"]),
            "which number is the day",
        ),
        (
            lambda: Date("2020-01-01", "2021-01-01", format="%Y-%d-%m"),
            "the formats '%Y-%m-%d' and '%Y-%d-%m' match the same cells",
        ),
    ],
)
def test_rules_that_leave_a_doubt_are_refused(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        make()


def test_formats_with_other_parts_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="exactly once"):
        day_format("%d.%d.%m.%Y")


VISITS = Schema(
    {"age": Numeric(0, 90)},
    target=Classes(["no", "yes"], name="readmitted"),
    id=["record", "name"],
    person="patient",
)


def visits() -> pd.DataFrame:
    age = np.arange(40.0)
    table = {"record": range(40), "name": "x", "patient": range(40), "age": age}
    return pd.DataFrame({**table, "readmitted": np.where(age < 20, "no", "yes")}).assign(
        patient=lambda frame: frame["patient"] // 2
    )


def test_ids_and_persons_survive_toml_copies_and_are_shown() -> None:
    import copy

    assert Schema.from_toml(VISITS.to_toml()) == VISITS == copy.deepcopy(VISITS)
    assert Schema(VISITS.features, VISITS.target) != VISITS
    assert (VISITS.id, VISITS.person) == (("record", "name"), "patient")
    assert "id=['record', 'name'], person='patient'" in repr(VISITS)
    assert VISITS._repr_html_().count("never a feature") == 3


def test_persons_of_the_schema_are_the_groups_of_a_fit_that_asks_for_them() -> None:
    from dpexplain import sweep
    from dpexplain.models import DPLogisticRegression

    model = DPLogisticRegression(
        epsilon=1.0, schema=VISITS, reproducible_seed=1, max_rows_per_person=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", HealthWarning)  # these visits are few
        model.fit(visits(), "readmitted")
    assert model.guarantee_.unit == "one person (patient), of whom at most 2 rows are used"
    assert list(model.feature_names_in_) == ["age"]
    swept = sweep(model, visits(), "readmitted", epsilons=[1.0], reference=False, progress=False)
    assert swept.explanations[1.0][0].guarantee.unit == model.guarantee_.unit


def test_a_fit_that_protects_rows_says_so_where_the_schema_names_persons() -> None:
    from dpexplain.exceptions import PrivacyWarning
    from dpexplain.models import DPLogisticRegression

    model = DPLogisticRegression(epsilon=1.0, schema=VISITS, reproducible_seed=1)
    with pytest.warns(PrivacyWarning, match="'patient' names persons.*single rows"):
        model.fit(visits(), "readmitted")
    assert model.guarantee_.unit == "one record"


def test_a_sweep_that_protects_rows_says_so_once() -> None:
    from dpexplain import sweep
    from dpexplain.exceptions import PrivacyWarning
    from dpexplain.models import DPLogisticRegression

    model = DPLogisticRegression(schema=VISITS, reproducible_seed=1)
    epsilons = [0.5, 1.0, 2.0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sweep(model, visits(), "readmitted", epsilons=epsilons, reference=False, progress=False)
    said = [each for each in caught if "names persons" in str(each.message)]
    assert [each.category for each in said] == [PrivacyWarning]
    assert said[0].filename == __file__


@pytest.mark.parametrize("column", ["record", "patient"])
def test_a_column_of_ids_or_persons_is_no_target(column: str) -> None:
    from dpexplain.tables.targets import split_target

    with pytest.raises(ValueError, match="identifies records or persons"):
        split_target(visits(), column, VISITS)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"id": "age"}, "'age' of id= or person= is a feature"),
        ({"person": "readmitted"}, "is the target"),
        ({"id": ["a", "a"]}, "is given twice"),
        ({"id": "a", "person": "a"}, "is given twice"),
        ({"id": 5}, "id=5 must be the name of a column or a list"),
        ({"person": ["a", 1]}, "must be the name of a column"),
        ({"person": ""}, "must be the name of a column"),
    ],
)
def test_roles_that_a_column_cannot_have_are_refused(roles: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        Schema(VISITS.features, VISITS.target, **roles)


@pytest.mark.parametrize(
    ("rules", "cells", "numbers"),
    [
        ({"thousands": ","}, ["1,045.5", "999", "1,345,678"], [1045.5, 999, 1345678]),
        ({"thousands": ","}, ["-1,000", "+1,000"], [-1000, 1000]),
        ({"thousands": ","}, ["1,04", "12,3456", ",123", "1,,000", "1, 000", "0,5"], None),
        ({"thousands": ".", "decimal": ","}, ["1.234,5", "1.234", "0,25"], [1234.5, 1234, 0.25]),
        ({"thousands": ".", "decimal": ","}, ["1.23", "1234.5", "1,234.5", "1.234.5"], None),
        ({"thousands": "'"}, ["1'234.5", "1\u2019234"], [1234.5, 1234]),
        ({"thousands": " "}, ["1 234.5", "1\u00a0234", "1\u202f234"], [1234.5, 1234, 1234]),
        ({"affixes": ["kg", "%", "g"]}, ["12.5 kg", "12.5kg", "40 %", "3 g"], [12.5, 12.5, 40, 3]),
        ({"affixes": ["kg", "%", "g"]}, ["7", " 7 g ", "%7"], [7, 7, 7]),
        ({"affixes": ["Mio.", "%"]}, ["12.5 Mio.", "7Mio."], [12.5, 7]),
        ({"affixes": ["kg"]}, ["12.5 mg", "kg", "12 kg kg", "kgkg", "12.5 k g"], None),
        ({"affixes": ["<", ">"]}, ["<5", "> 200", "<LOD"], [5, 200, np.nan]),
        ({"affixes": "$", "thousands": ","}, ["$1,045.50", "$ 7", "7 $"], [1045.5, 7, 7]),
    ],
)  # fmt: skip
def test_numbers_are_read_as_they_are_written(rules, cells, numbers) -> None:
    expected = [np.nan] * len(cells) if numbers is None else numbers
    for part in (Numeric(-1e8, 1e8, **rules), Range(-1e8, 1e8, **rules)):
        column = np.array(cells, dtype=object)
        np.testing.assert_array_equal(read_numbers(column, part), expected)
        for cell, number in zip(cells, expected, strict=True):  # each cell by itself
            alone = read_numbers(np.array([cell], dtype=object), part)
            np.testing.assert_array_equal(alone, [number])


def test_markers_of_written_numbers_are_hidden() -> None:
    part = Numeric(0, 1e5, thousands=",", affixes="kg", missing=["9,999 kg", "n/a"])
    column = np.array(["9,999 kg", "9999", "9,998 kg", "n/a"], dtype=object)
    np.testing.assert_array_equal(read_numbers(column, part), [np.nan, np.nan, 9998, np.nan])
    with pytest.raises(SchemaError, match="is an end of the range"):
        Range(0, 9999, thousands=",", missing="9,999")


def test_written_numbers_survive_toml_and_the_page() -> None:
    part = Numeric(0, 9, thousands=",", affixes=["kg", "%"], unit="kg")
    schema = Schema({"weight": part}, Range(0, 9, affixes="€", name="price"))
    assert Schema.from_toml(schema.to_toml()) == schema
    assert "thousands=','" in repr(part)
    assert "written with kg, %" in schema._repr_html_()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"thousands": ";"}, "thousands=';' must be"),
        ({"thousands": "."}, "not the decimal separator"),
        ({"thousands": ",", "decimal": ","}, "not the decimal separator"),
        ({"affixes": 5}, "affixes must be a string"),
        ({"affixes": ["x1"]}, "without digits"),
        ({"affixes": [" "]}, "without digits"),
        ({"affixes": ["-"]}, "without digits"),
        ({"affixes": ["."]}, "without digits"),
        ({"affixes": ["e"]}, "without digits"),
    ],
)
def test_rules_that_could_change_a_number_are_refused(rules, message) -> None:
    for kind in (Numeric, Range):
        with pytest.raises(SchemaError, match=re.escape(message)):
            kind(0, 1, **rules)
