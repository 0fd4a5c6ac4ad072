"""A draft of a messy public table: what it guesses, leaves out, and asks a person to decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.schema import Categorical, Classes, Date, Numeric, Schema

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
        "patient_id": "identifies persons",
        "note": "240 different values",
        "age": "'-99' stand for missing values?",
        "dose": "decimal comma?; 'dose': 'unknown' stand for missing",
        "admitted": "which century",
        "born": "day or month first?",
        "seen": "1 cells are not dates and count as missing: 'soon'",
        "sex": "'unknown' stand for missing values?; 'sex': 'femal' are misspelt?",
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


def test_values_of_an_id_are_never_written() -> None:
    found = draft(["note", "height", "record_no"])
    assert "text number" not in found.to_toml()
    assert len(found.to_toml()) < 600


def test_the_decisions_are_comments_of_a_file_that_can_be_read() -> None:
    messy = pd.DataFrame({"a\nb": column("x\n]", rest=lambda k: "ABC"[k % 3])})
    found = Schema.draft(messy)
    assert found.decisions
    assert "# - 'a\\nb': 'x\\n]' occurs once" in found.to_toml()
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
    assert "'9' are classes, or stand for missing values?" in asked(found.decisions, "the target")
    assert "1 rows have none" in asked(found.decisions, "the target")


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
