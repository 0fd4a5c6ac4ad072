"""Dates with public bounds: read alike from every library, reckoned in days, shown as dates."""

from __future__ import annotations

import pickle
import warnings
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import (
    Categorical,
    Classes,
    Date,
    DPExplainableBoostingClassifier,
    DPLocallyLinearClassifier,
    Numeric,
    Schema,
    SchemaError,
)
from dpexplain.io import from_json, to_json
from dpexplain.tables.cells import cell_day, day_text
from dpexplain.tables.encoding import days_of, encode_features, encode_numeric
from dpexplain.tables.spellings import day_reader
from dpexplain_widgets import Explorer

VISITS = Schema({"visit": Date("2015-01-01", "2024-12-31")}, target=Classes(["home", "back"]))
DAY = float(date(2020, 2, 29).toordinal() - date(1970, 1, 1).toordinal())
SPELLINGS = [
    "2020-02-29", " 2020-02-29 ", "2020-02-29 23:59", "2020-02-29T08:30:00Z", date(2020, 2, 29),
    datetime(2020, 2, 29, 23, 59), datetime(2020, 2, 29, 1, tzinfo=UTC),
    np.datetime64("2020-02-29"), np.datetime64("2020-02-29T23:59:59", "ns"),
    pd.Timestamp("2020-02-29 12:00"), pd.Timestamp("2020-02-29 23:00", tz="Asia/Tokyo"),
    pd.Period("2020-02-29", "D"), pd.Period("2020-02-29 13:00", "h"),
]  # fmt: skip
FAR = [
    np.datetime64("10000-01-01", "s"), np.datetime64("0000-12-31", "us"),
    np.datetime64("30000-01-01", "ms"), np.datetime64("-0044-03-15", "s"),
    np.datetime64(2**63 - 1, "Y"), np.datetime64(2**62, "W"), np.datetime64(2**62, "D"),
    np.datetime64(-(2**62), "M"), np.datetime64(2**62, "25s"),
]  # fmt: skip
NO_DATES = [
    None, np.nan, pd.NaT, pd.NA, np.datetime64("NaT"), "", "2020-02-30", "29.02.2020", "20200229",
    20200229, 18321.0, True, "2020-02-29x", b"2020-02-29", [], pd.Timedelta(days=3),
    *FAR, *map(pd.Timestamp, FAR[:4]), pd.Period(year=10_000, freq="Y"),
]  # fmt: skip


@pytest.mark.parametrize("cell", SPELLINGS, ids=repr)
def test_every_spelling_of_a_day_is_the_same_day(cell):
    assert cell_day(cell) == DAY


@pytest.mark.parametrize("cell", NO_DATES, ids=repr)
def test_what_is_no_date_is_missing_and_raises_nothing(cell):
    assert np.isnan(cell_day(cell))


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "s", "us", "ns", "as", "25s", "7ns"])
def test_a_time_in_a_column_is_the_same_day_as_alone_or_in_a_column_of_objects(unit):
    limits = [0, -1, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, -(2**63)]
    ends = [
        np.datetime64(day).astype("datetime64[s]").astype(int) for day in ("0001", "9999-12-31")
    ]
    numbers = [*limits, *(end + by for end in ends for by in (-1, 0, 86_399, 86_400))]
    times = np.array(numbers, dtype=np.int64).view(f"datetime64[{unit}]")
    days = days_of(times)
    np.testing.assert_array_equal(days, [cell_day(time) for time in times])
    np.testing.assert_array_equal(days, days_of(times.astype(times.dtype.newbyteorder())))
    if unit in ("s", "us", "ns"):
        np.testing.assert_array_equal(days, days_of(pd.Series(times).astype(object)))
    known = [day_text(day) for day in days[~np.isnan(days)]]
    assert known
    assert min(known) >= "0001-01-01"
    assert max(known) <= "9999-12-31"


def test_no_kind_of_period_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        business = pd.Period("2020-02-28", "B")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert day_text(cell_day(business)) == "2020-02-28"
        assert day_text(cell_day(pd.Period("2020-02-28", "Q"))) == "2020-01-01"


@given(st.dates(min_value=date(1, 1, 1)))
def test_days_are_written_and_read_back(day):
    assert day_text(cell_day(day)) == day.isoformat()
    assert cell_day(day.isoformat()) == cell_day(np.datetime64(day)) == cell_day(day)


@given(st.lists(st.sampled_from([*SPELLINGS, *NO_DATES, "1900-01-01", "2100-01-01"]), min_size=1))
def test_a_column_is_read_cell_by_cell(cells):
    column = np.fromiter(cells, dtype=object, count=len(cells))
    alone = [encode_numeric(column[[i]], VISITS.features["visit"])[0] for i in range(len(cells))]
    together = encode_numeric(column, VISITS.features["visit"])
    np.testing.assert_array_equal(together, alone)


def tables():
    import polars
    import pyarrow

    days = pd.date_range("2014-12-30", periods=40, freq="93D")
    texts = [str(day.date()) for day in days]
    frame = pd.DataFrame({"visit": days})
    yield "datetime64", frame
    yield "time zone", frame.assign(visit=days.tz_localize("Europe/Berlin"))
    yield "numpy", days.to_numpy().reshape(-1, 1)
    yield "arrow dtype", frame.astype({"visit": "timestamp[ns][pyarrow]"})
    yield "text", pd.DataFrame({"visit": texts})
    yield "category", pd.DataFrame({"visit": pd.Categorical(texts)})
    yield "objects", pd.DataFrame({"visit": pd.Series([day.date() for day in days], dtype=object)})
    yield "period", frame.assign(visit=days.to_period("D"))
    whole_days = pd.array([day.date() for day in days], dtype="date32[pyarrow]")
    yield "nullable date", frame.assign(visit=whole_days)
    times = [day.to_pydatetime() for day in days]
    yield "polars", polars.DataFrame({"visit": [day.date() for day in days]})
    yield (
        "polars time zone",
        polars.DataFrame({"visit": polars.Series(times).dt.replace_time_zone("Europe/Berlin")}),
    )
    yield (
        "polars category",
        polars.DataFrame({"visit": polars.Series(texts, dtype=polars.Enum(texts))}),
    )
    yield "arrow", pyarrow.table({"visit": times})
    yield "arrow date", pyarrow.table({"visit": pyarrow.array([time.date() for time in times])})
    zone = pyarrow.timestamp("us", tz="Europe/Berlin")
    local = days.tz_localize("Europe/Berlin").to_pydatetime().tolist()
    yield "arrow time zone", pyarrow.table({"visit": pyarrow.array(local, zone)})


@pytest.mark.parametrize(
    ("kind", "table"), list(tables()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_tables_of_every_library_give_the_same_days(kind, table):
    expected = np.arange(40) * 93 + cell_day("2014-12-30")
    low, high = cell_day("2015-01-01"), cell_day("2024-12-31")
    np.testing.assert_array_equal(encode_features(table, VISITS)[0], expected.clip(low, high))


def test_a_period_is_its_first_day_and_the_text_that_stands_for_it():
    months = pd.DataFrame({"visit": pd.PeriodIndex(["2020-02", "NaT", "2020-03"], freq="M")})
    first, missing, second = encode_features(months, VISITS)[0]
    assert (first, second) == (DAY - 28, DAY + 1)
    assert np.isnan(missing)
    named = Schema({"visit": Categorical(["2020-02", "2020-03"])})
    assert encode_features(months, named)[0].tolist() == [0, 3, 1]


def test_a_schema_with_dates_is_written_read_copied_and_shown():
    feature = Date(date(2015, 1, 1), "2024-12-31", description="day of admission")
    schema = Schema({"visit": feature})
    assert "low = 2015-01-01" in schema.to_toml()
    assert Schema.from_toml(schema.to_toml()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert repr(feature) == "Date('2015-01-01', '2024-12-31')"
    assert "2015-01-01 to 2024-12-31" in schema._repr_html_()
    assert feature != Numeric(feature.low, feature.high, feature.unit, feature.description, 1)


def test_bounds_that_are_no_dates_or_in_the_wrong_order_are_refused():
    with pytest.raises(SchemaError, match="low='January' must be a date"):
        Date("January", "2024-12-31")
    with pytest.raises(SchemaError, match="low=2024-12-31 must be before high=2015-01-01"):
        Date("2024-12-31", "2015-01-01")
    with pytest.raises(SchemaError, match=r"unknown fields \['step'\]"):
        Schema.from_toml(VISITS.to_toml().replace("high =", "step = 1\nhigh =", 1))


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_a_draft_knows_dates_and_a_check_counts_what_is_none():
    days = ["2020-01-31", "2021-05-01", None]
    assert Schema.from_frame(pd.DataFrame({"visit": days})).features["visit"] == Date(*days[:2])
    report = VISITS.check(pd.DataFrame({"visit": ["soon", "2014-01-01", "2020-01-01", None]}))
    assert report.frame()["problem"].tolist() == ["empty", "no date", "before 2015-01-01"]


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_a_draft_ignores_days_that_have_no_iso_date():
    days = ["12000-05-01", "-2000-05-01", "2020-01-01", "2024-12-31"]
    column = np.array(days, dtype="datetime64[s]")
    drafted = Schema.from_frame(pd.DataFrame({"visit": column})).features["visit"]
    assert drafted == Date("2020-01-01", "2024-12-31")
    with pytest.raises(SchemaError, match="years 1 to 9999"):
        Date("2015-01-01", np.datetime64("12000-05-01"))


@pytest.fixture(scope="module")
def fitted():
    days = pd.DataFrame({"visit": pd.date_range("2015-01-01", "2024-12-31", periods=2000)})
    y = np.where(days["visit"].dt.year > 2019, "back", "home")
    # Pseudo-random noise: what is looked at below is one fit, which must not fail by chance.
    model = DPExplainableBoostingClassifier(epsilon=5, schema=VISITS, reproducible_seed=1)
    return days, model.fit(days, y)


@pytest.mark.full
def test_a_curve_over_dates_is_labeled_with_dates(fitted):
    days, model = fitted
    curve = model.explain_global()["visit"]
    assert curve.bin_labels[0].startswith("2015-01-01")
    assert curve.bin_labels[curve.n_value_bins - 1].endswith("2024-12-31")
    ax = curve.plot(spacing="value")
    assert ax.get_xlabel().splitlines()[0] == "visit"
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert len(ticks) > 2
    assert all(tick.endswith("-01-01") for tick in ticks[:-1])
    shown = model.explain_local(days.head(3))
    np.testing.assert_array_equal(
        model.explain_global().explain_local(days.head(3)).contributions, shown.contributions
    )
    assert model.predict(pd.DataFrame({"visit": ["2016-05-05", "2023-05-05"]})).tolist() == [
        "home",
        "back",
    ]


@pytest.mark.full
def test_filters_read_dates_as_the_model_does(fitted):
    days, _ = fitted
    model = DPLocallyLinearClassifier(epsilon=4, delta=1e-3, schema=VISITS, n_steps=5)
    bank = model.fit(days, np.where(days.index % 2, "back", "home")).explain_global()
    table = pd.DataFrame({"visit": ["2015-01-01", "2024-12-31", "no date"]})
    np.testing.assert_array_equal(bank.inputs(table).ravel() > 0, [False, True, False])
    assert from_json(to_json(bank)) == bank


def test_views_take_dates_as_days_and_show_no_unit(fitted):
    _, model = fitted
    sample = pd.DataFrame({"visit": ["2020-02-29"]})
    explorer = Explorer(model.explain_global(), samples=sample, sample=0, tab="local")
    assert explorer.payload["terms"][0]["is_date"]
    assert explorer.payload["terms"][0]["unit"] == ""
    assert explorer.selection["value"].tolist() == [DAY]


def test_times_of_twelve_hours_are_read_as_their_day():
    read = day_reader(["%m/%d/%Y %I:%M %p"], 2024)
    cells = ["01/02/1970 11:59 PM", "1/2/1970 1:00 am", "01/02/1970 11:59 p.m."]
    assert [read(cell) for cell in cells] == [1.0, 1.0, 1.0]
    assert np.isnan(read("01/02/1970 11:59"))


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        (45322, "2024-01-31"),
        (45322.75, "2024-01-31"),
        ("45322", "2024-01-31"),
        (" 45322.0 ", "2024-01-31"),
        ("45322,75", "2024-01-31"),
        (np.float32(45322), "2024-01-31"),
        ("1", "1900-01-01"),
        (59, "1900-02-28"),
        (61, "1900-03-01"),
        (2_958_465, "9999-12-31"),
        ("2024-01-31", "2024-01-31"),
        (date(2024, 1, 31), "2024-01-31"),
        *((cell, None) for cell in (0, -1, 60, 60.5, "45,322", 2_958_466, np.inf, "x", None, "")),
    ],
)
def test_serial_numbers_of_a_spreadsheet_are_days(cell, day):
    read = day_reader(["excel"], 2024)
    assert np.isnan(read(cell)) if day is None else day_text(read(cell)) == day


def test_serial_numbers_are_those_of_pandas_and_of_spreadsheets_from_1904():
    serials = np.arange(61, 60_000, 997)
    expected = pd.to_datetime(serials, unit="D", origin="1899-12-30")
    read = day_reader(["excel", "%d.%m.%Y"], 2024)
    assert [day_text(read(int(n))) for n in serials] == [d.date().isoformat() for d in expected]
    assert read("31.1.2024") == read(45322)
    assert day_reader(["excel 1904"], 2024)(45322 - 1462) == read(45322)


def test_serial_numbers_and_digits_of_dates_are_not_declared_together():
    for formats in (["excel", "%Y%m%d"], ["%d%m%y", "excel"], ["excel", "excel 1904"]):
        with pytest.raises(SchemaError, match="match the same cells"):
            Date("2015-01-01", "2024-12-31", format=formats)
    with pytest.raises(SchemaError, match="write 'excel'"):
        Date("2015-01-01", "2024-12-31", format="serial")


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_serial_numbers_are_drafted_as_dates_and_named_by_the_check():
    days = [45322, 44000, -99, 45000]
    table = pd.DataFrame({"admission_date": days, "dose": [45322, 44000, 1, 2]})
    draft = Schema.draft(table)
    assert type(draft.schema.features["dose"]) is Numeric
    assert any("as in spreadsheets?" in text for text in draft.decisions)
    asked = draft.schema.features["admission_date"]
    assert asked == Date("2020-06-18", "2024-01-31", format="excel", missing="-99")
    plain = Schema({"admission_date": Date("2015-01-01", "2024-12-31")})
    (row,) = [r for r in plain.check(table).rows if "excel" in r[1]]
    assert row[1:4] == ('no date, but one with format "excel"', "counted as missing", 3)
    assert plain != Schema({"admission_date": asked})
    assert Schema({"admission_date": asked}).clean(table)["admission_date"].tolist() == [
        "2024-01-31",
        "2020-06-18",
        None,
        "2023-03-15",
    ]
