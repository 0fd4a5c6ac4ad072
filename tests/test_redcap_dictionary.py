"""The dictionary of a REDCap project, as exported, becomes a schema."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, Date, Numeric, Schema
from dpexplain.cli import main
from dpexplain.exceptions import SchemaError
from dpexplain.tables.encoding import encode_classes

HEADINGS = [
    *("Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"),
    *("Choices, Calculations, OR Slider Labels", "Field Note"),
    *("Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"),
    *("Identifier?", "Branching Logic (Show field only if...)", "Required Field?"),
]
OF_THE_API = [
    *("field_name", "form_name", "section_header", "field_type", "field_label"),
    *("select_choices_or_calculations", "field_note"),
    *("text_validation_type_or_show_slider_number", "text_validation_min", "text_validation_max"),
    *("identifier", "branching_logic", "required_field"),
]
# Name, type, label, choices, validation, minimum, maximum, identifier.
FIELDS = [
    ("record_id", "text", "Study ID", "", "", "", "", ""),
    ("surname", "text", "Surname", "", "", "", "", "y"),
    ("born", "text", "Born", "", "date_dmy", "1920-01-01", "2024-12-31", "y"),
    ("enrolled", "text", "Enrolled", "", "datetime_seconds_mdy", "2019-01-01", "2024-12-31", ""),
    ("sex", "radio", "<b>Sex</b>", "1, Male | 2, Female | 9, Unknown, or refused", "", "", "", ""),
    ("ward", "dropdown", "Ward", "A, north; old", "", "", "", ""),
    ("weight", "text", "Weight", "", "number_1dp_comma_decimal", "35", "250", ""),
    ("falls", "text", "Falls", "", "integer", "0", "9", ""),
    ("bmi", "calc", "BMI", "round([weight]/3)", "", "", "", ""),
    ("smoker", "yesno", "Smoker", "", "", "", "", ""),
    ("symptoms", "checkbox", "Symptoms", "1, Fever | -1, None", "", "", "", ""),
    ("pain", "slider", "Pain", "none | | worst", "number", "", "", ""),
    ("mail", "text", "Mail", "", "email", "", "", ""),
    ("intro", "descriptive", "Please answer", "", "", "", "", ""),
    ("back", "truefalse", "Readmitted", "", "", "", "", ""),
]


def written(path, fields=FIELDS, headings=HEADINGS):
    """Write a dictionary as REDCap does."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(headings)
        for name, kind, label, choices, validation, low, high, identifier in fields:
            checks = [validation, low, high, identifier]
            rows.writerow([name, "form", "", kind, label, choices, "", *checks, "", "y"])
    return path


@pytest.mark.parametrize("headings", [HEADINGS, OF_THE_API], ids=["page", "api"])
def test_fields_become_features_ids_and_targets(headings, tmp_path):
    schema = Schema.from_dictionary(written(tmp_path / "d.csv", headings=headings), target="back")
    assert schema.id == ("record_id",)
    names = ["enrolled", "sex", "ward", "weight", "falls", "smoker"]
    names += ["symptoms___1", "symptoms____1", "pain"]
    assert list(schema.features) == names
    assert isinstance(schema.target, Classes)
    assert schema.target.labels == ("False", "True")
    sex, weight, pain = (schema.features[name] for name in ("sex", "weight", "pain"))
    assert isinstance(sex, Categorical)
    assert sex.categories == ("Male", "Female", "Unknown, or refused")
    assert sex.description == "Sex"
    assert isinstance(weight, Numeric)
    assert (weight.low, weight.high, weight.decimal) == (35, 250, ",")
    assert isinstance(pain, Numeric)
    assert (pain.low, pain.high, pain.step) == (0, 100, 1)
    assert isinstance(schema.features["enrolled"], Date)
    assert schema.features["symptoms____1"].description == "Symptoms: None"
    assert all(feature.source.startswith("d.csv, line ") for feature in schema.features.values())


def test_raw_and_labeled_exports_are_read_alike(tmp_path):
    schema = Schema.from_dictionary(written(tmp_path / "d.csv"), target="back")
    raw = ["2024-03-31 14:00", "2", "A", "70,5", "3", "1", "1", "0", "55"]
    labeled = ["03-31-2024 14:00:00", "Female", "north; old", "70,5", "3", "Yes", "Checked"]
    table = pd.DataFrame([raw, [*labeled, "Unchecked", "55"]], columns=list(schema.features))
    first, second = schema.clean(table).to_dict("records")
    assert first == second
    assert first["enrolled"] == "2024-03-31"
    assert (first["sex"], first["ward"], first["smoker"]) == ("Female", "north; old", "yes")
    assert (first["symptoms___1"], first["symptoms____1"]) == ("Checked", "Unchecked")
    codes = encode_classes(np.array(["1", "True", "0", "False", ""]), schema.target)
    assert codes.tolist() == [1, 1, 0, 0, -1]


def test_all_fields_without_bounds_are_named_at_once_and_can_be_excluded(tmp_path, capsys):
    open_ends = [
        ("age", "text", "Age", "", "integer", "", "", ""),
        ("dose", "text", "Dose", "", "number", "0", "", ""),
        ("seen", "text", "Seen", "", "date_ymd", "2019-01-01", "today", ""),
    ]
    path = written(tmp_path / "d.csv", [*FIELDS[:-1], *open_ends, FIELDS[-1]])
    with pytest.raises(SchemaError) as raised:
        Schema.from_dictionary(path, target="back")
    first, *lines = str(raised.value).splitlines()
    assert first.startswith("d.csv: 3 lines are wrong; correct them, or leave their columns out")
    assert [line.partition(": ")[0] for line in lines] == [
        "d.csv, line 16 ('age'), column 'Text Validation Min'",
        "d.csv, line 17 ('dose'), column 'Text Validation Max'",
        "d.csv, line 18 ('seen'), column 'Text Validation Max'",
    ]
    schema = Schema.from_dictionary(path, target="back", exclude=["age", "dose", "seen"])
    assert schema == Schema.from_dictionary(path, target="back", exclude=("seen", "dose", "age"))
    with pytest.raises(SchemaError, match="exclude: 'seeen'; did you mean 'seen'"):
        Schema.from_dictionary(path, target="back", exclude="seeen")
    command = ["schema", "from-dictionary", str(path), "--target", "back", "--out"]
    assert main([*command, str(tmp_path / "s.toml"), "--exclude", "age", "dose", "seen"]) == 0
    printed = capsys.readouterr().out
    assert "ignored, because of their types or as identifiers: surname, born, bmi, mail" in printed
    assert Schema.from_toml(tmp_path / "s.toml") == schema


def test_columns_for_markers_and_units_may_be_added(tmp_path):
    path = written(tmp_path / "d.csv")
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{line},{'-99|unknown,kg' if line.startswith('weight') else ','}" for line in lines]
    path.write_text("\n".join([f"{head},Missing,Unit", *lines]), encoding="utf-8")
    weight = Schema.from_dictionary(path, target="back").features["weight"]
    assert (weight.missing, weight.unit) == (("-99", "unknown"), "kg")


def test_an_edited_type_says_that_a_field_is_ignored_or_identifies_persons(tmp_path):
    person = ("record_id", "person", "Study ID", "", "", "", "", "")
    ignored = ("falls", "ignore", "Falls", "", "integer", "", "", "")
    fields = [person, *FIELDS[1:7], ignored, *FIELDS[8:]]
    schema = Schema.from_dictionary(written(tmp_path / "d.csv", fields), target="back")
    assert schema.person == "record_id"
    assert "falls" not in schema.features
    wrong = ("falls", "txet", "Falls", "", "", "", "", "")
    path = written(tmp_path / "d.csv", [*fields[:7], wrong, *FIELDS[8:]])
    with pytest.raises(SchemaError, match=r"line 9 \('falls'\), column 'Field Type': 'txet'"):
        Schema.from_dictionary(path, target="back")
