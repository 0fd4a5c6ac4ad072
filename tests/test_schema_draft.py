"""Drafts of a schema for a messy table: what they guess, omit and leave to a person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")

N = 240
DAYS = [pd.Timestamp("2020-01-01") + pd.Timedelta(days=3 * k) for k in range(N)]


def column(*cells: Any, rest: Any) -> list[Any]:
    return [*cells, *[rest(k) for k in range(N - len(cells))]]


MESSY: dict[str, list[Any]] = {
    "record_no": [7 * k for k in range(N)],
    "row": list(range(3, N + 3)),
    "patient_id": [k // 3 for k in range(N)],
    "note": [f"text number {k} of many" for k in range(N)],
    "age": column(-99, -99, rest=lambda k: 17 + k % 70),
    "dose": column("unknown", rest=lambda k: f"{k % 40},5"),
    "admitted": [d.strftime("%m/%d/%y" if k % 2 else "%d.%m.%Y") for k, d in enumerate(DAYS)],
    "born": [f"{1 + k % 12:02}/{1 + k % 11:02}/1950" for k in range(N)],
    "seen": column("soon", rest=lambda k: DAYS[k].date().isoformat()),
    "sex": column("femal", "unknown", rest=lambda k: ["female", "male"][k % 2]),
    "ward": column("Q", rest=lambda k: "ABC"[k % 3]),
    "city": [f"city {k % 60}" for k in range(N)],
    "height": [0.25 * k for k in range(N)],
}


def draft(names: list[str], y: Any = None, **options: Any) -> Any:
    return Schema.draft(pd.DataFrame({name: MESSY[name] for name in names}), y, **options)


def asked(decisions: tuple[str, ...], name: str) -> str:
    known = (repr(name), name)
    return "; ".join(text for text in decisions if text.startswith(known))


def test_a_draft_guesses_the_rules_of_a_messy_table_and_asks() -> None:
    found = draft(list(MESSY))
    assert found.schema == Schema(
        {
            "age": Numeric(17, 86, step=1, missing=-99),
            "dose": Numeric(0, 40, missing="unknown", decimal=","),
            "admitted": Date("2020-01-01", "2021-12-18", format=["%d.%m.%Y", "%m/%d/%y"]),
            "born": Date("1950-01-01", "1950-11-12", format="%d/%m/%Y"),
            "seen": Date("2020-01-01", "2021-12-15"),
            "sex": Categorical(["female", "male"], aliases={"femal": "female"}, missing="unknown"),
            "ward": Categorical(["A", "B", "C", "Q"]),
            "city": Categorical(sorted({f"city {k}" for k in range(60)})),
            "height": Numeric(0, 60),
        },
        id=["record_no", "row", "note"],
        person="patient_id",
    )
    for name, question in {
        "record_no": "240 different values",
        "patient_id": "80 values in 240 rows, at most 3 rows each. Does it identify persons?",
        "note": "240 different values",
        "age": "'-99' stands for a missing value?",
        "dose": "decimal comma?; 'dose': 'unknown' stands for a missing value?",
        "admitted": "which century",
        "born": "day or month first?",
        "seen": "1 text is not a date and counts as missing: 'soon'",
        "sex": "'unknown' stands for a missing value?; 'sex': 'femal' is misspelled?",
        "ward": "'Q' occurs once",
        "city": "60 categories",
    }.items():
        assert question in asked(found.decisions, name)
    assert asked(found.decisions, "height") == ""


def test_a_draft_fits_the_table_that_it_was_read_from() -> None:
    names = ["age", "dose", "admitted", "born", "sex", "ward", "height"]
    found = draft(names)
    report = found.schema.check(pd.DataFrame({name: MESSY[name] for name in names}))
    assert set(report.frame()["problem"]) == {"marked as missing"}


def test_categories_that_differ_only_in_case_are_questioned() -> None:
    sex = ["FmMf"[k % 4] for k in range(N)]
    found = Schema.draft(pd.DataFrame({"sex": sex}))
    assert found.decisions == (
        "'sex': 'f' resembles 'F': the same? Then make it an alias.",
        "'sex': 'm' resembles 'M': the same? Then make it an alias.",
    )


def test_a_draft_without_questions_announces_none() -> None:
    found = draft(["height"])
    assert found.decisions == ()
    assert found.to_toml().startswith("# DRAFT, read from the data: not private.\n\n")


def test_values_of_an_id_are_never_written() -> None:
    found = draft(["note", "height", "record_no"])
    assert "text number" not in found.to_toml()
    assert len(found.to_toml()) < 600


def test_the_decisions_are_comments_of_a_file_that_can_be_read() -> None:
    messy = pd.DataFrame({"a\nb": column("x\n]", rest=lambda k: "ABC"[k % 3])})
    found = Schema.draft(messy)
    assert found.decisions
    assert "# - 'a\\nb': 'x\\n]' occurs once" in found.to_toml()
    with pytest.warns(PrivacyWarning, match="this schema begins with '# DRAFT"):
        assert Schema.from_toml(found.to_toml()) == found.schema


def test_excluded_columns_are_left_out_and_unknown_ones_refused() -> None:
    assert draft(["age", "height"], exclude=["age"]).schema.feature_names == ("height",)
    with pytest.raises(SchemaError, match="no column 'heigth'; did you mean 'height'"):
        draft(["age", "height"], exclude=["heigth"])
    with pytest.raises(SchemaError, match="no column is left"):
        draft(["age"], exclude="age")


def test_a_target_with_a_rare_class_or_without_a_value_is_asked_about() -> None:
    y = pd.Series(["9", None, *["no", "yes"] * 119], name="died", dtype=object)
    found = draft(["age"], y)
    assert found.schema.target == Classes(["9", "no", "yes"], name="died")
    assert "'9' is a class, or stands for missing values?" in asked(found.decisions, "the target: ")
    assert "1 row has none and is dropped" in asked(found.decisions, "the target")


def test_columns_of_an_array_are_never_ids() -> None:
    found = Schema.draft(np.arange(60.0).reshape(30, 2))
    assert (found.schema.id, found.schema.n_features) == ((), 2)


def test_a_draft_warns_that_it_reads_the_data() -> None:
    with pytest.warns(PrivacyWarning, match="public data only") as caught:
        draft(["age"])
    assert caught[0].filename == __file__


def test_a_clean_table_is_drafted_as_it_always_was() -> None:
    clean = pd.DataFrame(
        {"a": [0.5, 2.0] * 30, "b": ["x", "y"] * 30, "c": [True, False] * 30, "d": [1, 5] * 30}
    )
    found = Schema.draft(clean, ["yes", "no"] * 30)
    assert found.schema == Schema.from_frame(clean, ["yes", "no"] * 30)
    assert found.decisions == ()


ORDINARY = [k % 23 for k in range(N)]


def drafted(cells: list[Any], name: str = "x", y: Any = None) -> Any:
    return Schema.draft(pd.DataFrame({"other": ORDINARY, name: cells}), y)


@pytest.mark.parametrize("marker", [-1, -99, 999, "?", "unbekannt", "n/a", "k. A.", "NULL"])
@pytest.mark.parametrize("spelled", [str, lambda cell: cell])
def test_a_marker_among_numbers_is_asked_about_and_counts_as_missing(marker, spelled) -> None:
    found = drafted([spelled(cell) for cell in column(marker, marker, rest=lambda k: k % 40)])
    assert found.schema.features["x"] == Numeric(0, 39, step=1, missing=marker)
    assert f"'{marker}' stands for a missing value?" in asked(found.decisions, "x")


def test_a_scale_around_zero_has_no_marker() -> None:
    found = drafted([k % 3 - 1 for k in range(N)])
    assert found.schema.features["x"] == Numeric(-1, 1, step=1)
    assert asked(found.decisions, "x") == ""


def test_a_marker_amid_the_numbers_is_asked_about_if_it_is_far_too_frequent() -> None:
    cells = [99] * 20 + [k % 150 for k in range(N - 20)]
    found = drafted(cells)
    assert found.schema.features["x"] == Numeric(0, 150, step=1, missing=99)
    assert "'99' stands for" in asked(found.decisions, "x")


@pytest.mark.parametrize("marker", ["-1", "-99", "unbekannt", "n/a", "?", "Keine Angabe"])
def test_a_marker_among_categories_is_asked_about_and_counts_as_missing(marker) -> None:
    found = drafted([marker, *["red", "blue", "green"] * 79, "red", "red"])
    assert found.schema.features["x"] == Categorical(["blue", "green", "red"], missing=marker)
    assert f"'{marker}' stands for a missing value?" in asked(found.decisions, "x")


def test_a_default_day_is_asked_about_and_yearly_dates_are_not() -> None:
    days = [d.strftime("%d.%m.%Y") for d in DAYS]
    found = drafted(["01.01.1900", *days[1:]])
    assert found.schema.features["x"] == Date(
        "2020-01-04", "2021-12-18", format="%d.%m.%Y", missing="01.01.1900"
    )
    assert "'1900-01-01' stands for a missing value?" in asked(found.decisions, "x")
    yearly = drafted([f"01.01.{1950 + k % 60}" for k in range(N)])
    assert yearly.schema.features["x"].missing == ()


def test_markers_of_the_target_are_asked_about_and_count_as_missing() -> None:
    y = pd.Series(["unbekannt", "-1", *["no", "yes"] * 119], name="died", dtype=object)
    found = drafted(ORDINARY, y=y)
    assert found.schema.target == Classes(["no", "yes"], name="died", missing=["-1", "unbekannt"])
    assert "'-1', 'unbekannt' stand for missing values?" in asked(found.decisions, "the target")
    days = pd.Series([-1, *[k % 40 for k in range(N - 1)]], name="days")
    found = drafted(ORDINARY, y=days)
    assert found.schema.target == Range(0, 39, name="days", missing=-1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("owner", lambda k: k // 3),
        ("account_no", lambda k: 17 * (k // 3)),
        ("party no", lambda k: f"{k // 3:06d}"),
        ("pupil", lambda k: f"P-{k // 3:04d}"),
        ("file key", lambda k: f"{k // 3} O {k // 9}"),
    ],
)
def test_ids_in_several_rows_are_asked_about_as_persons(name, value) -> None:
    found = drafted([value(k) for k in range(N)], name)
    assert found.schema.person == name
    assert found.schema.feature_names == ("other",)
    assert "at most 3 rows each. Does it identify persons?" in asked(found.decisions, name)


def test_codes_in_several_rows_stay_a_feature_with_a_question() -> None:
    found = drafted([f"E{k // 4:02d}.1" for k in range(N)])
    assert found.schema.person is None
    assert "name it as the person column" in asked(found.decisions, "x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("account_balance", lambda k: k % 90),
        ("hospital_id", lambda k: k % 12),
        ("house_no", lambda k: k % 30),
        ("card", lambda k: ["gold", "silver"][k % 2]),
    ],
)
def test_numbers_and_short_lists_are_not_taken_for_persons(name, value) -> None:
    assert drafted([value(k) for k in range(N)], name).schema.person is None


@pytest.mark.parametrize(
    ("cells", "feature", "asked"),
    [
        (["1.990,4", "12,5", "800"], {"decimal": ",", "thousands": "."}, "a period separates"),
        (["1,990", "12", "2,000,000"], {"thousands": ","}, "a comma separates thousands"),
        (["1,9", "12,55", "7"], {"decimal": ","}, "have a decimal comma?"),
        (["1'990.5", "12", "7"], {"thousands": "'"}, "an apostrophe separates"),
        (["12,5 kg", "7 kg", "1 kg"], {"decimal": ",", "affixes": "kg"}, "are written with 'kg'"),
        (["€ 1,990.50", "€12", "€7"], {"thousands": ",", "affixes": "€"}, "written with '€'"),
    ],
)
def test_numbers_are_drafted_as_they_are_written(cells, feature, asked):
    table = pd.DataFrame({"cost": cells * 10, "ward": [f"ward {i % 4}" for i in range(30)]})
    draft = Schema.draft(table)
    drafted = draft.schema.features["cost"]
    assert drafted == Numeric(drafted.low, drafted.high, step=drafted.step, **feature)
    assert drafted.low <= 12 <= drafted.high
    assert any(asked in text for text in draft.decisions)
    assert type(draft.schema.features["ward"]) is Categorical


def test_amounts_that_all_differ_are_numbers_and_whole_codes_are_ids() -> None:
    income = drafted([f"€ {k + 1}.{k:03d},50" for k in range(N)], "income").schema.features[
        "income"
    ]
    assert (income.decimal, income.thousands, income.affixes) == (",", ".", ("€",))
    assert drafted([f"#{k:04d}" for k in range(N)], "ticket").schema.id == ("ticket",)


def test_a_target_is_drafted_as_numbers_as_they_are_written():
    numbers = [f"1.{i:03d},5" for i in range(60)]
    y = pd.Series([*numbers, "offen"], name="cost")
    ages = pd.DataFrame({"age": [30 + i % 40 for i in range(61)]})
    draft = Schema.draft(ages, y)
    target = draft.schema.target
    assert target == Range(
        target.low, target.high, name="cost", decimal=",", thousands=".", missing="offen"
    )
    assert target.low <= 1000.5 < 1059.5 <= target.high < 1200
    assert any("'offen'" in text for text in draft.decisions)
    classes = Schema.draft(ages, y, task="classification")
    assert len(classes.schema.target.names) > 50


def test_a_target_of_thousands_of_texts_is_refused():
    y = pd.Series([f"x{i}y{i}" for i in range(1_100)])
    with pytest.raises(SchemaError, match="1,100 different texts"):
        Schema.draft(pd.DataFrame({"age": [i % 70 for i in range(1_100)]}), y)


def test_lines_of_totals_are_asked_about_and_hide_no_record_number():
    table = pd.DataFrame(
        {
            "Fall-Nr.": [*map(str, range(1, 61)), "Summe", "Mittelwert:"],
            "age": [*range(30, 90), 3600, 59],
        }
    )
    draft = Schema.draft(table)
    assert draft.schema.id == ("Fall-Nr.",)
    assert any("a line of totals?" in text for text in draft.decisions)
    found = Schema({"age": Numeric(0, 120)}).check(table).rows
    assert [row[1:4] for row in found if row[0] == "all columns"] == [
        ("a line of totals?", "used as a record if it has a target", 2)
    ]


def test_the_target_of_a_draft_may_be_named_as_in_a_fit():
    table = pd.DataFrame({**MESSY, "income": [100.0 * k for k in range(N)]})
    X, y = table.drop(columns="income"), table["income"]
    assert Schema.draft(table, "income") == Schema.draft(X, y)
    assert Schema.from_frame(table, "income") == Schema.from_frame(X, y)
    assert isinstance(Schema.draft(table, "income").schema.target, Range)
    for make in (Schema.draft, Schema.from_frame):
        with pytest.raises(ValueError, match="Did you mean 'income'"):
            make(table, "incom")
