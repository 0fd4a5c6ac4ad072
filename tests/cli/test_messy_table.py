"""A messy table, from its data dictionary to a fit in three commands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpexplain.io
from dpexplain import DPLogisticRegression, Schema
from dpexplain.accounting import Person, PrivacyLedger
from dpexplain.cli import main
from dpexplain.tables.lines import LineFormat, read_texts

DICTIONARY = """name,type,min,max,categories,aliases,missing,unit,decimal,format,source
record_no,id,,,,,,,,,
patient_id,person,,,,,,,,,
creatinine,number,20,900,,,-99|unknown,µmol/L,comma,,laboratory manual
admitted,date,2019-01-01,2024-12-31,,,,,,%d.%m.%Y|%m/%d/%y,
sex,category,,,1=male|2=female,m=male|Femal=female,-9,,,,
died,boolean,,,0=no|1=yes,ja=yes|nein=no,9,,,,
"""
SPELLINGS = {
    "sex": {"male": ["1", "m", "male ", "1.0"], "female": ["2", "Femal", "female"], None: ["-9"]},
    "died": {"no": ["0", "nein", "no"], "yes": ["1", "ja", "1.0"], None: ["9", "", "NA"]},
}
ARGUMENTS = ["data.csv", "--sep", ";", "--target", "died", "--schema", "schema.toml"]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Write the table, both in its intended form and as it was exported."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(0), 400
    creatinine = rng.uniform(20, 900, n).round(1)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D")
    clean = pd.DataFrame(
        {
            "creatinine": np.where(rng.random(n) < 0.2, np.nan, creatinine),
            "admitted": days,
            "sex": rng.choice(np.array(["male", "female", None], dtype=object), n),
            "died": np.where(creatinine > 400, "yes", "no"),
        }
    )
    clean.loc[rng.random(n) < 0.3, "died"] = None
    missing = np.where(rng.random(n) < 0.5, "-99", "unknown")
    comma = clean["creatinine"].astype(str).str.replace(".", ",")
    second = rng.random(n) < 0.5
    nasty = pd.DataFrame(
        {
            "record_no": np.arange(n),
            "patient_id": np.arange(n) // 2,
            "creatinine": np.where(clean["creatinine"].isna(), missing, comma),
            "admitted": np.where(second, days.strftime("%m/%d/%y"), days.strftime("%d.%m.%Y")),
            **{
                name: [
                    rng.choice(SPELLINGS[name].get(cell, SPELLINGS[name][None]))
                    for cell in clean[name]
                ]
                for name in SPELLINGS
            },
        }
    )
    nasty.to_csv("data.csv", sep=";", index=False)
    (tmp_path / "dictionary.csv").write_text(DICTIONARY, encoding="utf-8")
    return clean, nasty


def written_schema():
    read = ["schema", "from-dictionary", "dictionary.csv", "--target", "died"]
    assert main([*read, "--out", "schema.toml"]) == 0
    assert main([*read, "--out", "schema.toml"]) == 2  # what somebody has edited is kept
    return Schema.from_toml("schema.toml")


def test_three_commands_lead_from_a_dictionary_and_a_nasty_table_to_a_fit(tables, capsys):
    written_schema()
    assert main(["schema", "check", *ARGUMENTS]) == 0
    found = capsys.readouterr().out
    assert "marked as missing" in found
    for mistake in ("no number", "no date", "not in the list", "above", "below"):
        assert mistake not in found
    fit = ["fit", *ARGUMENTS, "--epsilon", "1", "--model", "linear", "--out", "model.json"]
    assert main([*fit, "--max-rows-per-person", "2"]) == 0
    assert "ignored" not in capsys.readouterr().err
    explanation = dpexplain.io.load("model.json")
    assert list(explanation) == ["creatinine", "admitted", "sex"]
    assert explanation.guarantee.unit.startswith("one person (patient_id)")
    assert PrivacyLedger.open("data.ledger.json").unit == Person("patient_id", 2)


@pytest.mark.filterwarnings("ignore::dpexplain.PrivacyWarning")
def test_the_nasty_table_gives_the_model_of_the_clean_one(tables):
    clean, _ = tables
    schema = written_schema()
    read = read_texts("data.csv", LineFormat(";"))
    models = [
        DPLogisticRegression(epsilon=1.0, schema=schema, reproducible_seed=1).fit(table, "died")
        for table in (clean, read)
    ]
    first, second = (model.predict_proba(table) for model in models for table in (clean,))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(models[0].predict_proba(read), first)
    assert np.ptp(first[:, 1]) > 0.1


@pytest.mark.parametrize("column", ["record_no", "patient_id"])
def test_an_id_is_refused_as_a_target(tables, capsys, column):
    written_schema()
    fit = ["fit", *ARGUMENTS, "--epsilon", "1", "--out", "model.json", "--target", column]
    assert main(fit) == 2
    assert "identifies records or persons" in capsys.readouterr().err


def test_a_wrong_dictionary_is_refused_with_its_line(tables, capsys, tmp_path):
    (tmp_path / "dictionary.csv").write_text(DICTIONARY.replace("900", "9OO"), encoding="utf-8")
    read = ["schema", "from-dictionary", "dictionary.csv", "--target", "died", "--out", "s.toml"]
    assert main(read) == 2
    assert "line 4 ('creatinine'), column 'max'" in capsys.readouterr().err
    assert not (tmp_path / "s.toml").exists()


def test_blanks_around_names_of_columns_in_the_file_are_ignored(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('age ," died"\n41,yes\n', encoding="utf-8")
    assert list(read_texts(path, LineFormat()).columns) == ["age", "died"]
