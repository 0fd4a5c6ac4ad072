"""Mistakes that users make: what catches each of them, and how often alarms are false."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    Numeric,
    PrivacyWarning,
    Schema,
)
from dpexplain.cli import main
from dpexplain.tables import LineFormat, read_texts
from messy_tables import TABLES, MessyTable, claims
from messy_tables_of_persons import TABLES_OF_PERSONS
from planted_mistakes import MISTAKES

ALL_TABLES = TABLES | TABLES_OF_PERSONS

pytestmark = pytest.mark.full


def problems(table: MessyTable, folder, max_rows: int | None = None) -> set[tuple[str, str]]:
    """Return the problems reported by the schema check, except declared missing cells."""
    schema, read = table.read(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        rows = schema.check(read, read[table.target], max_rows_per_person=max_rows).rows
    return {(name, problem) for name, problem, *_ in rows if problem != "marked as missing"}


def alarms(table: MessyTable, folder, n_fits: int = 1) -> list[set[tuple[str, str]]]:
    """Return the alarms of each of several fits at epsilon 1."""
    schema, read = table.read(folder)
    classes = isinstance(schema.target, Classes)
    kind = DPExplainableBoostingClassifier if classes else DPExplainableBoostingRegressor
    settings = {"objective": "poisson"} if table.target == "visits" else {}
    found = []
    for _ in range(n_fits):
        model = kind(epsilon=1.0, schema=replace(schema, person=None), max_rounds=1, **settings)
        health = model.fit(read, table.target).health()
        found.append({(each.kind, each.feature) for each in health.alarms})
    return found


@pytest.mark.parametrize("name", MISTAKES)
def test_the_schema_check_reports_each_mistake(name, tmp_path):
    mistake = MISTAKES[name]
    found = problems(mistake.plant(1_000), tmp_path, mistake.max_rows_per_person)
    assert mistake.checked in found


@pytest.mark.named_entropy
@pytest.mark.parametrize("name", MISTAKES)
def test_the_health_check_raises_the_alarms_that_the_pages_list(name, tmp_path):
    mistake = MISTAKES[name]
    assert alarms(mistake.plant(10_000), tmp_path) == [set(mistake.alarms)]


@pytest.mark.parametrize("make", ALL_TABLES.values(), ids=ALL_TABLES)
def test_the_schema_check_has_no_doubt_about_a_table_that_is_as_declared(make, tmp_path):
    for seed in range(3):
        found = {problem for _, problem in problems(make(500, seed), tmp_path)}
        assert found <= {"empty"}


def test_alarms_about_tables_that_are_as_declared_are_at_most_as_frequent_as_stated(tmp_path):
    """The noise differs in each fit. `test_health.py` tests tables exactly at the limits."""
    found = [each for make in ALL_TABLES.values() for each in alarms(make(1_500), tmp_path, 5)]
    # If the probability is 1%, so many alarms occur less than once in a million runs.
    assert sum(map(bool, found)) <= stats.binom.isf(1e-6, len(found), 0.01)


def test_the_page_lists_the_planted_mistakes_and_who_catches_them(repository):
    page = (repository / "docs" / "howto" / "messy_tables.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip().replace("`", "") for cell in line.strip("|").split("|"))
        for line in page.partition("## Who catches which mistake")[2].splitlines()
        if line.startswith("| ") and not line.startswith("| mistake")
    ]
    listed = [
        (name, each.checked[1], ", ".join(kind for kind, _ in each.alarms) or "–")
        for name, each in MISTAKES.items()
    ]
    assert rows == listed
    health = (repository / "docs" / "howto" / "health.md").read_text(encoding="utf-8")
    assert f"lists {len(MISTAKES)} mistakes" in health


def test_a_forgotten_separator_is_refused_before_anything_is_charged(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    claims(200).write(tmp_path)
    schema, _, fit, *_ = claims(200).commands()
    assert main(schema) == 0
    fit = [word for word in fit if word not in ("--sep", ";")]
    assert main(fit) == 2
    error = capsys.readouterr().err
    assert "has no such column" in error
    assert "pass the separator with --sep" in error
    assert not (tmp_path / "data.ledger.json").exists()


def test_lines_in_a_forgotten_encoding_are_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    claims(200).write(tmp_path)
    schema, check, *_ = claims(200).commands()
    assert main(schema) == 0
    assert main([word for word in check if word not in ("--encoding", "latin-1")]) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if "wrong encoding?" in line]
    n_odd = int((claims(200).meant["device"] == "Typ Ä").sum())
    assert "the line is not UTF-8 text: wrong encoding?" in line
    assert f" {n_odd} " in line
    (line,) = [line for line in printed.splitlines() if "no value in the row" in line]
    assert f" {n_odd + 1} " in line  # and the empty line at the end


def test_a_single_line_in_another_encoding_is_reported_by_check_and_draft(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    lines = ["age;job;died", *(f"{20 + i % 60};cook;{i % 2}" for i in range(1_000))]
    lines[500] = "44;Köchin;1"
    Path("data.csv").write_bytes("\n".join(lines).encode("latin-1"))
    schema = Schema(
        {"age": Numeric(0, 99), "job": Categorical(["cook"])}, Classes([0, 1], name="died")
    )
    Path("schema.toml").write_text(schema.to_toml(), encoding="utf-8")
    table = ["data.csv", "--sep", ";", "--target", "died"]
    said = r"the line is not UTF-8 text: wrong encoding\?.* line 501"
    assert main(["schema", "check", *table, "--schema", "schema.toml"]) == 0
    assert re.search(said, capsys.readouterr().out)
    assert main(["schema", "draft", *table, "--out", "draft.toml"]) == 0
    said = r"1 × the line is not UTF-8 text: wrong encoding\? \(line 501\)"
    assert re.search(said, capsys.readouterr().out)
    assert re.search(said, Path("draft.toml").read_text(encoding="utf-8"))
    X = read_texts("data.csv", LineFormat(";"))  # the same in Python
    with pytest.warns(PrivacyWarning):
        rows = schema.check(X, X["died"]).rows
    assert ("all columns", 1) in {(row[0], row[3]) for row in rows if "wrong encoding" in row[1]}
