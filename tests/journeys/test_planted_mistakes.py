"""Mistakes as users make them: who catches each of them, and how often nothing is wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest
from scipy import stats

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    PrivacyWarning,
)
from dpexplain.cli import main
from messy_tables import TABLES, MessyTable, claims, court, credit, hospital, official

pytestmark = pytest.mark.full


@dataclass(frozen=True)
class Mistake:
    """A planted mistake, and who catches it.

    `checked` is the column and the problem that the schema check reports, `alarms` are the kind
    and the feature of each alarm of the health check.
    """

    plant: Callable[[int], MessyTable]
    checked: tuple[str, str]
    alarms: tuple[tuple[str, str], ...] = ()


def table_with(
    make: Callable[..., MessyTable],
    *,
    dictionary: Mapping[str, str] | None = None,
    **cells: Callable[[str], str],
) -> Callable[[int], MessyTable]:
    """Change text of the dictionary, or the cells of columns."""

    def plant(n: int) -> MessyTable:
        table = make(n)
        text = table.dictionary
        for old, new in (dictionary or {}).items():
            assert old in text
            text = text.replace(old, new)
        changed = {name: table.spelled[name].map(change) for name, change in cells.items()}
        return replace(table, dictionary=text, spelled=table.spelled.assign(**changed))

    return plant


def swapped(n: int) -> MessyTable:
    table = claims(n)
    names = {"temperature": "pressure", "pressure": "temperature"}
    return replace(table, spelled=table.spelled.rename(columns=names))


def leaked(n: int) -> MessyTable:
    table = hospital(n)
    words = {"0": "ward", "1": "morgue", "9": "ward", "": "ward"}
    where_to = table.spelled["outcome"].map(words)
    line = "discharged_to,category,,,ward|morgue,,,,,,\n"
    spelled = table.spelled.assign(discharged_to=where_to)
    return replace(table, dictionary=table.dictionary + line, spelled=spelled)


def scaled(factor: float, *, comma: bool = False) -> Callable[[str], str]:
    def change(text: str) -> str:
        number = text.replace(",", ".")
        if not re.fullmatch(r"[\d.]+", number):
            return text
        return f"{float(number) * factor:.5f}".replace(".", "," if comma else ".")

    return change


PERSON = {"patient_id,person": "patient_id,id"}
MISTAKES = {
    "a common spelling of a category is not listed": Mistake(
        table_with(hospital, dictionary={"|femal=female": ""}),
        ("sex", "not in the list of categories"),
        (("other", "sex"),),
    ),
    "categories have another case": Mistake(
        table_with(claims, device=str.lower),
        ("device", "not in the list of categories"),
        (("other", "device"),),
    ),
    "numbers are in another unit, outside the bounds": Mistake(
        table_with(hospital, creatinine=scaled(1 / 88.4, comma=True)),
        ("creatinine", "below 20"),
        (("first bin", "creatinine"),),
    ),
    "numbers are in another unit, inside the bounds": Mistake(
        table_with(credit, income=scaled(1 / 1000)),
        ("income", "almost all in the lowest 2% of the range: wrong unit?"),
    ),
    "two columns are swapped": Mistake(
        swapped,
        ("temperature", "above 60"),
        (("last bin", "temperature"), ("first bin", "pressure")),
    ),
    "a date format is not declared": Mistake(
        table_with(hospital, dictionary={"%d.%m.%Y|": ""}),
        ("admitted", "no date"),
        (("missing", "admitted"),),
    ),
    "a decimal comma is not declared": Mistake(
        table_with(hospital, dictionary={"comma": ""}),
        ("creatinine", "no number"),
        (("missing", "creatinine"),),
    ),
    "-99 is not declared, outside the bounds": Mistake(
        table_with(credit, dictionary={"0,20,,,-99": "0,20,,,"}),
        ("n_loans", "-99 looks like a missing value"),
    ),
    "-99 is not declared, inside the bounds": Mistake(
        table_with(credit, dictionary={"0,250000,,,-99": "-1000,250000,,,"}),
        ("income", "-99 looks like a missing value"),
    ),
    "an ID is a feature": Mistake(
        table_with(credit, dictionary={"contract_id,id,,": "contract_id,integer,0,2000000"}),
        ("contract_id", "looks like the ID of a record"),
    ),
    "the person column is declared as an ID": Mistake(
        table_with(hospital, dictionary=PERSON),
        ("patient_id", "in several rows: is it the person column?"),
    ),
    "the person column is not in the dictionary": Mistake(
        table_with(hospital, dictionary={"patient_id,person,,,,,,,,,\n": ""}),
        ("patient_id", "in several rows: is it the person column?"),
    ),
    "labels are 0 and 1, and the schema says no and yes": Mistake(
        table_with(credit, dictionary={"0=no|1=yes": "no|yes"}),
        ("default (target)", "not in the list of classes"),
        (("records", ""),),
    ),
    "one of two labels is misspelled": Mistake(
        table_with(court, dictionary={"|J=ja": ""}, reoffended=lambda t: t.replace("ja", "J")),
        ("reoffended (target)", "not in the list of classes"),
        (("class", ""),),
    ),
    "the range of the target is too narrow": Mistake(
        table_with(claims, dictionary={"amount;number;0;5000": "amount;number;0;500"}),
        ("amount (target)", "above 500"),
    ),
    "a whole column is empty": Mistake(
        table_with(official, age=lambda _: ""), ("age", "empty"), (("missing", "age"),)
    ),
    "a column is constant": Mistake(
        table_with(claims, pressure=lambda _: "1000,0"),
        ("pressure", "the same value in every row"),
    ),
    "a feature is known only after the outcome": Mistake(
        leaked, ("discharged_to", "gives the target away: is it known only afterward?")
    ),
}


def problems(table: MessyTable, folder) -> set[tuple[str, str]]:
    """Problems that the schema check reports, without missing cells that are declared."""
    schema, read = table.read(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        rows = schema.check(read, read[table.target]).rows
    return {(name, problem) for name, problem, *_ in rows if problem != "marked as missing"}


def alarms(table: MessyTable, folder, n_fits: int = 1) -> list[set[tuple[str, str]]]:
    """Alarms of each of several fits at epsilon 1."""
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
    assert mistake.checked in problems(mistake.plant(1_000), tmp_path)


@pytest.mark.named_entropy
@pytest.mark.parametrize("name", MISTAKES)
def test_the_health_check_raises_the_alarms_that_the_pages_list(name, tmp_path):
    mistake = MISTAKES[name]
    assert alarms(mistake.plant(10_000), tmp_path) == [set(mistake.alarms)]


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_the_schema_check_has_no_doubt_about_a_table_that_is_as_declared(make, tmp_path):
    for seed in range(3):
        found = {problem for _, problem in problems(make(500, seed), tmp_path)}
        assert found <= {"empty"}


def test_alarms_about_tables_that_are_as_declared_are_at_most_as_frequent_as_stated(tmp_path):
    """The noise differs in each fit. `test_health.py` tests tables that just respect the limits."""
    found = [each for make in TABLES.values() for each in alarms(make(1_500), tmp_path, 5)]
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
    (line,) = [line for line in printed.splitlines() if "all columns" in line]
    n_odd = int((claims(200).meant["device"] == "Typ Ä").sum())
    assert "wrong encoding or separator?" in line
    assert f" {n_odd + 1} " in line  # and the empty line at the end
