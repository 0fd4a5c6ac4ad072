"""Predictions of a saved file for a table, on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpexplain.io
from dpexplain import Categorical, Classes, Numeric, Schema
from dpexplain.cli import main
from example_explanations import classifier, private_guarantee

SCHEMA = Schema(
    {
        "age": Numeric(17, 90, missing=[-99], decimal=","),
        "job": Categorical(["nurse", "clerk"], aliases={"RN": "nurse"}),
    },
    target=Classes(["low", "high"]),
)
# A byte that is no UTF-8 in the third row, too many cells in the fourth.
ROWS = b"job;age;note\nRN;29,5;a\nclerk;-99;b\n\xff;50;c\nRN;20;d;e\n\ncook;1000;f\n"
FOUND = "low", "high"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dpexplain.io.save(classifier(schema=SCHEMA), "model.json")
    dpexplain.io.save(classifier(), "bare.json")
    dpexplain.io.save(private_guarantee(), "guarantee.json")
    SCHEMA.to_toml("schema.toml")
    (tmp_path / "new.csv").write_bytes(ROWS)
    return tmp_path


def predicted(*arguments):
    assert main(["predict", *arguments, "--sep", ";", "--out", "found.csv"]) == 0
    return pd.read_csv("found.csv")


def test_every_line_gets_a_prediction_in_its_place(folder, capsys):
    found = predicted("model.json", "new.csv")
    assert "6 predictions saved to found.csv. They are as confidential as the rows" in (
        capsys.readouterr().out
    )
    cells = [[29.5, "RN"], [None, "clerk"], [None, None], [None, None], [None, None], [90, "cook"]]
    expected = classifier(schema=SCHEMA).predict_proba(cells)
    assert list(found) == ["prediction", "probability_low", "probability_high"]
    np.testing.assert_array_equal(found[["probability_low", "probability_high"]], expected)
    assert found["prediction"].tolist() == [FOUND[int(high > 0.5)] for _, high in expected]


def test_a_file_without_rules_takes_them_from_a_schema(folder):
    own = predicted("model.json", "new.csv", "--quiet")
    assert predicted("bare.json", "new.csv", "--schema", "schema.toml").equals(own)
    assert not predicted("bare.json", "new.csv").equals(own)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["model.json", "new.csv", "--schema", "schema.toml"], "model.json has its own schema"),
        (["guarantee.json", "new.csv"], "contains a Guarantee, which cannot predict"),
        (
            ["model.json", "new.csv", "--sep", ","],
            "its only column is 'job;age;note'; pass the sep",
        ),
        (["model.json", "none.csv"], "none.csv: no such file"),
        (["none.json", "new.csv"], "none.json"),
    ],
)
def test_what_cannot_be_predicted_is_refused_without_a_file(folder, capsys, arguments, words):
    assert main(["predict", "--sep", ";", *arguments, "--out", "found.csv"]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "found.csv").exists()


@pytest.mark.parametrize("out", ["model.json", "new.csv", "found.txt"])
def test_predictions_replace_no_input(folder, out):
    assert main(["predict", "model.json", "new.csv", "--sep", ";", "--out", out]) == 2
