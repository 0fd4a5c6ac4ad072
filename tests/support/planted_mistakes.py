"""Mistakes that users make in tables and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from messy_tables import MessyTable, claims, court, credit, hospital, official
from messy_tables_of_persons import bills, reports, rulings


@dataclass(frozen=True)
class Mistake:
    """A planted mistake, and what catches it.

    `checked` is the column and the problem that the schema check reports; `alarms` are the kind
    and the feature of each alarm of the health check.
    """

    plant: Callable[[int], MessyTable]
    checked: tuple[str, str]
    alarms: tuple[tuple[str, str], ...] = ()
    max_rows_per_person: int | None = None


def table_with(
    make: Callable[..., MessyTable],
    *,
    dictionary: Mapping[str, str] | None = None,
    **cells: Callable[[str], str],
) -> Callable[[int], MessyTable]:
    """Change text in the dictionary, or cells of columns."""

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


def twice(n: int) -> MessyTable:
    table = rulings(n)
    return replace(table, spelled=pd.concat([table.spelled, table.spelled]))


def by_court(n: int) -> MessyTable:
    table = rulings(n)
    courts = table.spelled.assign(court=[f"court {i % 3}" for i in range(n)])
    text = table.dictionary.replace("party_no;person", "party_no;ignore") + "court;person\n"
    return replace(table, spelled=courts, dictionary=text)


def sometimes(change: Callable[[str], str], share: float = 0.3) -> Callable[[str], str]:
    """Change a proportion of the cells."""
    rng = np.random.default_rng(0)
    return lambda text: change(text) if rng.random() < share else text


def thousands(text: str) -> str:
    return f"{text[:-6]}.{text[-6:]}" if len(text) > 6 else text


def scaled(factor: float, *, comma: bool = False) -> Callable[[str], str]:
    def change(text: str) -> str:
        number = text.replace(",", ".")
        if not re.fullmatch(r"[\d.]+", number):
            return text
        return f"{float(number) * factor:.5f}".replace(".", "," if comma else ".")

    return change


def with_second_header(n: int) -> MessyTable:
    table = bills(n)
    names = pd.DataFrame([{name: name for name in table.spelled}])
    rows = [table.spelled[: n // 2], names, table.spelled[n // 2 :]]
    return replace(table, spelled=pd.concat(rows, ignore_index=True))


def with_totals(n: int) -> MessyTable:
    table = bills(n)
    first, *_ = table.spelled.columns
    total = table.spelled.iloc[[0]].assign(**{first: "Summe:"})
    return replace(table, spelled=pd.concat([table.spelled, total], ignore_index=True))


def exchanged(text: str) -> str:
    return text.translate(str.maketrans(",.", ".,"))


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
    "the table was exported twice": Mistake(
        twice, ("all columns", "the same row several times: exported twice?")
    ),
    "the number of the record is named as the person": Mistake(
        table_with(
            rulings, dictionary={"party_no;person": "party_no;ignore", "docket;id": "docket;person"}
        ),
        ("docket (person)", "a different value in every row; is 'party_no' the person column?"),
    ),
    "a region is named as the person": Mistake(
        by_court, ("court (person)", "333 rows for each value: is it the person column?")
    ),
    "some person IDs are empty": Mistake(
        table_with(rulings, party_no=sometimes(lambda _: "")), ("party_no (person)", "empty")
    ),
    "person IDs have two spellings": Mistake(
        table_with(reports, pupil=sometimes(lambda t: t.lower().replace("-", " "))),
        ("pupil (person)", "spelled differently elsewhere: the same person?"),
    ),
    "more rows per person than the fit uses": Mistake(
        table_with(rulings),
        ("party_no (person)", "beyond the limit of 1 row per person"),
        max_rows_per_person=1,
    ),
    "two listed categories differ in case": Mistake(
        table_with(
            reports,
            dictionary={"German|Turkish": "German|german|Turkish"},
            language=lambda t: t.replace("dt.", "german"),
        ),
        ("language", "the category 'german' resembles 'German': the same?"),
    ),
    "a class never occurs": Mistake(
        table_with(rulings, ruling=lambda t: t.replace("teilw.", "abgew.")),
        ("ruling (target)", "no row has the label 'granted in part'"),
        (("class", ""),),
    ),
    "open cases are listed as a class": Mistake(
        table_with(
            rulings,
            dictionary={"part|dismissed;": "part|dismissed|offen;", "offen|vertagt": "vertagt"},
        ),
        ("ruling (target)", "the class 'offen' looks like a missing value"),
    ),
    "a default date lies inside the bounds": Mistake(
        table_with(
            rulings,
            dictionary={"2012-01-01": "1900-01-01"},
            filed=sometimes(lambda _: "01.01.1900"),
        ),
        ("filed", "1900-01-01 looks like a missing value"),
    ),
    "-1 is not declared, inside the bounds": Mistake(
        table_with(reports, dictionary={"integer,0,90,,,-1|k.A.": "integer,-1,90,,,k.A."}),
        ("absences", "-1 looks like a missing value"),
    ),
    "whole numbers have decimals": Mistake(
        table_with(reports, absences=lambda t: f"{t}.5" if t.isdigit() else t),
        ("absences", "not a multiple of 1"),
    ),
    "whole numbers are not declared as such": Mistake(
        table_with(reports, dictionary={"integer,0,90,": "number,0,90,"}),
        ("absences", "only whole numbers: step = 1?"),
    ),
    "numbers have a thousands separator": Mistake(
        table_with(rulings, value_in_dispute=thousands),
        ("value_in_dispute", "no number"),
        (("missing", "value_in_dispute"),),
    ),
    "dates are serial numbers of a spreadsheet": Mistake(
        table_with(reports, entered=lambda t: "43210" if t else t),
        ("entered", 'no date, but one with format "excel"'),
        (("missing", "entered"),),
    ),
    "errors of a spreadsheet are in the cells": Mistake(
        table_with(rulings, chamber=sometimes(lambda _: "#REF!")),
        ("chamber", "not in the list of categories"),
        (("other", "chamber"),),
    ),
    "a unit in the cells is not declared": Mistake(
        table_with(bills, dictionary={";°C;": ";;"}),
        ("temperature", "no number"),
        (("missing", "temperature"),),
    ),
    "decimal comma and thousands separator are exchanged": Mistake(
        table_with(bills, billed=exchanged), ("billed", "no number"), (("missing", "billed"),)
    ),
    "negative amounts are in parentheses": Mistake(
        table_with(bills, billed=sometimes(lambda text: f"({text})")),
        ("billed", "no number"),
        (("missing", "billed"),),
    ),
    "the names of the columns are repeated in a later line": Mistake(
        with_second_header, ("temperature", "no number")
    ),
    "a line of totals is below the records": Mistake(
        with_totals, ("all columns", "a line of totals?")
    ),
    "0 stands for not measured, inside the bounds": Mistake(
        table_with(
            bills,
            dictionary={"number;34;42": "number;0;42"},
            temperature=sometimes(lambda _: "0"),
        ),
        ("temperature", "0 is far from all other numbers: a missing value?"),
    ),
    "years of birth are in the column of ages": Mistake(
        table_with(court, age=lambda text: str(2024 - int(text))),
        ("age", "above 99"),
        (("last bin", "age"),),
    ),
    "cells come from a web page": Mistake(
        table_with(credit, employer=lambda text: text.replace("&", "&amp;")),
        ("employer", "not in the list of categories"),
        (("other", "employer"),),
    ),
    "dates are years": Mistake(
        table_with(court, sentenced=lambda text: text[-4:]),
        ("sentenced", "no date"),
        (("missing", "sentenced"),),
    ),
    "a letter O stands for a zero": Mistake(
        table_with(court, age=sometimes(lambda text: text.replace("0", "O"))),
        ("age", "no number"),
    ),
}
