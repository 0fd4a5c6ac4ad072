"""Check all answers before a fit and compute its cost, without reading any record."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting import PrivacyLedger
from dpexplain.accounting._ledger.provenance import Provenance
from dpexplain.accounting._ledger.text import no_bound, refusal
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.summary import NOT_INCLUDED
from dpexplain.accounting.unit import unit_of
from dpexplain.app.answers import AnswerError, Answers, at, capital, heard
from dpexplain.app.files import check_files, holds_records
from dpexplain.certificate.odds import guesses_words, odds_words
from dpexplain.cli.accounts import ledger_path, ledger_place, ledger_state
from dpexplain.cli.options import file_or_address, private_estimator
from dpexplain.cli.persons import with_groups
from dpexplain.cli.tables import (
    TEXT_SUFFIXES,
    check_names,
    header_notes,
    read_schema,
    table_suffix,
)
from dpexplain.explain._text import short_number
from dpexplain.schema import Schema
from dpexplain.tables import LineFormat

_LIMITS = {"cap": "cap_epsilon", "delta": "delta"}


def read_rules(answers: Answers) -> Schema:
    """Read the schema or data dictionary, after checking that it is not the table.

    Parameters
    ----------
    answers : Answers

    Returns
    -------
    Schema
        Schema with a target.

    Raises
    ------
    AnswerError
        If the file is missing or invalid, does not contain the target, or seems to be the table.
        The form shows errors that quote the file, so the file must not contain records.
    """
    with at("table"):
        table_suffix(answers.table_path())
    path = answers.schema_path()
    with at("schema"):
        if holds_records(path, answers.table_path()):
            raise AnswerError(
                "schema",
                "This is the table itself or a copy of it, which the form would show; enter a data "
                "dictionary or a schema.",
            )
        if path.suffix.lower() != ".csv":
            schema = read_schema(path)
        elif not path.is_file():
            raise AnswerError("schema", f"{path}: no such file.")
        elif _same_columns(path, answers):
            raise AnswerError(
                "schema",
                f"{path} has the columns of the table, so it may hold records, which the form "
                "would show; enter a data dictionary.",
            )
        else:
            _dictionary(path, answers, None)  # a mistake in a line is not about the target
            schema = _with_target(path, answers)
    if schema.read_from_records:
        raise AnswerError(
            "schema",
            f"{path} says that its bounds and categories were read from records, so no fit with "
            "it is private; enter a data dictionary or a schema of public values.",
        )
    assert schema.target is not None
    if schema.target.name and answers.target not in ("", schema.target.name):
        raise AnswerError(
            "target",
            f"{path} predicts {schema.target.name!r}, not {answers.target!r}; enter that column, "
            "or correct the file.",
        )
    return _with_persons(answers, schema)


def _with_persons(answers: Answers, schema: Schema) -> Schema:
    """Return the schema with the person column chosen in the form."""
    if not answers.groups:
        return schema
    asked = argparse.Namespace(
        groups=answers.groups, schema=answers.schema_path(), target=answers.target
    )
    with at("groups"):
        return with_groups(asked, schema)


def _same_columns(path: Path, answers: Answers) -> bool:
    """Return whether the table is a text file with the same first line as `path`."""
    table = answers.table_path()
    return table_suffix(table) in TEXT_SUFFIXES and _first_line(path) == _first_line(table)


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline(1_000_000).strip()


def _with_target(path: Path, answers: Answers) -> Schema:
    target = answers.needed("target", "Enter the column to predict.")
    with at("target"):
        return _dictionary(path, answers, target)


def _dictionary(path: Path, answers: Answers, target: str | None) -> Schema:
    """Read a data dictionary in UTF-8 or in the encoding of the table."""
    encoding = answers.encoding or "utf-8"
    with at("encoding"):
        LineFormat(encoding=encoding)
    return Schema.from_dictionary(path, target=target, encoding=encoding)


def to_decide(schema: Schema) -> list[str]:
    """List the questions about a schema that the user has to answer."""
    parts = {**schema.features, "the target": schema.target}
    without = [name for name, part in parts.items() if part is not None and not part.source]
    decisions = [
        "Are the bounds and lists public, and not read from this table? Do they hold for the whole "
        "time in which the model will be used?"
    ]
    if without:
        shown = ", ".join(without[:8]) + (", …" if len(without) > 8 else "")
        decisions.append(f"Where do the bounds come from? No source is stated for {shown}.")
    if schema.person is not None:
        decisions.append(
            f"How many rows of one person may count? {schema.person} identifies persons; enter "
            "the number in step 3."
        )
    else:
        decisions.append(
            "Does each person have one row? No column identifies persons, so single rows are "
            "protected; otherwise, enter the column above."
        )
    return decisions


@dataclass(frozen=True)
class Plan:
    """A fit that was checked but not charged.

    Parameters
    ----------
    answers : Answers
        The answers that were checked.
    asked : Namespace
        Arguments of ``dpexplain fit``.
    schema : Schema
        Schema of the fit.
    before, after : LedgerState
        State of the ledger before the fit, and the expected state after it.
    warned : tuple of str
        Warnings about privacy.
    """

    answers: Answers
    asked: argparse.Namespace
    schema: Schema
    before: LedgerState
    after: LedgerState
    warned: tuple[str, ...] = ()

    def price_words(self) -> str:
        """Describe the cost of the fit and the budget before and after it."""
        delta = self.after.delta
        unit = self.after.cap_unit()
        spent = [
            upper_number(state.epsilon_for(unit, delta)) for state in (self.before, self.after)
        ]
        return (
            f"This fit costs ε = {upper_number(self.asked.epsilon)}. Spent before it: ε = "
            f"{spent[0]}; after it: ε = {spent[1]}, {_cap_words(self.after)} (δ = {delta:g}, for "
            f"{unit.kind_words}). {left_words(self.after)}{open_words(self.after)}"
        )

    def question(self) -> str:
        """Return a question that names the ledger and asks for confirmation of the charge."""
        return f"A charge cannot be undone. Charge the ledger {ledger_path(self.asked)}?"


def _cap_words(state: LedgerState) -> str:
    cap = state.cap_epsilon
    return "without a cap" if math.isinf(cap) else f"with a cap of {short_number(cap)}"


def left_words(state: LedgerState) -> str:
    """Describe the budget left for one more fit."""
    if math.isinf(state.cap_epsilon):
        return "Nothing limits later fits."
    left = math.floor(1000.0 * state.remaining_epsilon) / 1000.0
    return f"Left for one more fit: ε = {left:g}."


def open_words(state: LedgerState) -> str:
    """Say what the figures leave out, after a blank; "" if every entry is private."""
    return "" if state.private else f" {NOT_INCLUDED}"


def budget_words(answers: Answers) -> str:
    """Describe the budget spent and left in a table's ledger; "" if it is unreadable."""
    try:
        table = answers.table_path()
        if not table.exists():
            return ""
        ledger = file_or_address(answers.ledger) if answers.ledger else None
        asked = argparse.Namespace(table=table, ledger=ledger, dataset=None)
        if not ledger_place(asked).exists():
            return "Nothing is spent on this table yet: the first fit creates its ledger."
        state = PrivacyLedger.open(ledger_path(asked))._store.current()
    except Exception:
        return ""  # the price of the fit says what is wrong
    spent = upper_number(state.private_epsilon(state.delta))
    return (
        f"Spent on this table so far: ε = {spent}, {_cap_words(state)} (δ = {state.delta:g}, for "
        f"{state.total_unit.kind_words}). {left_words(state)}{open_words(state)}"
    )


def meaning_words(epsilon: str) -> str:
    """Explain epsilon in one sentence, as odds; "" if it is not positive and finite."""
    try:
        value = float(epsilon)
    except ValueError:
        return ""
    if not 0.0 < value < math.inf:
        return ""
    right = guesses_words(value, 1e-6)
    return (
        f"With ε = {short_number(value)}, someone who guesses whether a given record or person is "
        f"in the table is right {right} times out of 100, instead of 50: odds of at most "
        f"{odds_words(value)}."
    )


def plan(answers: Answers) -> Plan:
    """Check all answers before records are read or anything is charged.

    Parameters
    ----------
    answers : Answers

    Returns
    -------
    Plan

    Raises
    ------
    AnswerError
        If an answer is invalid. Only the first one is reported; nothing was charged or written.
    """
    with heard() as warned:
        planned = _checked(answers)
    return replace(planned, warned=(*planned.warned, *warned))


def _checked(answers: Answers) -> Plan:
    schema = read_rules(answers)
    _check_format(answers)
    assert schema.target is not None
    target = answers.target or schema.target.name
    if not target:
        raise AnswerError("target", "Enter the column to predict.")
    asked = answers.fit_command(target)
    with at("table"):
        names = check_names(asked, schema)
        notes = header_notes(asked)
    _check_persons(answers, schema, names)
    check_files(asked)
    before = _ledger(answers, asked)
    with at("epsilon"):
        estimator = private_estimator(asked, schema, epsilon=asked.epsilon, delta=before.delta)
        known = [name for name in names if name in schema.features]
        events = estimator.planned_events(pd.DataFrame(columns=known, dtype=object))
        unit = unit_of(asked_rows(answers), schema.person)
        entries = (LedgerEntry("planned", tuple(events), unit),)
        if not before.affordable(entries):
            raise AnswerError(
                "epsilon",
                capital(no_bound(before, entries, "fit") or refusal(before, entries, "fit")),
            )
    warned = (f"In the table, {notes}.",) if notes else ()
    return Plan(answers, asked, schema, before, before.with_entries(entries), warned)


def _check_format(answers: Answers) -> None:
    for name in ("separator", "encoding", "header"):
        if given := getattr(answers, name):
            with at(name):
                LineFormat(**{name: given})


def asked_rows(answers: Answers) -> int | None:
    """Return the number of rows per person; None if individual rows are protected."""
    return int(answers.rows) if answers.rows not in ("", "0") else None


def _check_persons(answers: Answers, schema: Schema, names: list[str]) -> None:
    if schema.person is None and answers.rows not in ("", "0"):
        raise AnswerError(
            "rows",
            "No column identifies persons: enter it in step 2, or leave this empty.",
        )
    if schema.person is not None and not answers.rows:
        raise AnswerError(
            "rows",
            f"{schema.person} identifies persons: enter the most rows of one person, or 0 to "
            "protect single rows only.",
        )
    if answers.rows not in ("", "0") and schema.person not in names:
        field = "groups" if answers.groups else "rows"
        raise AnswerError(field, f"The table has no column {schema.person!r}.")


def _ledger(answers: Answers, asked: argparse.Namespace) -> LedgerState:
    answers.needed("person", "Enter the person responsible; the certificate names that person.")
    answers.needed("purpose", "Enter what the release is for; the certificate states it.")
    for name in ("person", "purpose"):
        with at(name):
            Provenance(**{name: getattr(answers, name)})
    if "://" not in answers.ledger and set("=@") & set(Path(answers.ledger).name):
        raise AnswerError(
            "ledger",
            "The name of a ledger file with = or @ could hold a password; enter another name, or "
            "an address such as postgresql://user@host/database.",
        )
    with at("ledger"):
        place = ledger_place(asked)
        for file in place.files:
            if not file.parent.is_dir():
                raise AnswerError(
                    "ledger", f"{file.parent}: no such folder; create it, or enter another file."
                )
        exists = place.exists()
    if not exists and asked.cap_epsilon is None:
        raise AnswerError(
            "cap",
            "This ledger is new: enter the largest total ε, such as 3. It can never be raised.",
        )
    for name, value in (("cap", asked.cap_epsilon), ("delta", asked.delta)):
        if value is not None:
            with at(name):
                LedgerState("checked", **{_LIMITS[name]: value})
    with at("ledger"):
        return ledger_state(asked)
