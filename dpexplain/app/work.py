"""What the buttons of the form do, without widgets: the same as the commands."""

from __future__ import annotations

import argparse
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

import dpexplain.io
from dpexplain.accounting import PrivacyLedger
from dpexplain.accounting._ledger.provenance import Provenance
from dpexplain.accounting._ledger.text import no_bound, refusal
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.unit import unit_of
from dpexplain.app.answers import AnswerError, Answers, at, capital
from dpexplain.certificate import Verification, release, verify
from dpexplain.certificate.odds import guesses_of_hundred, odds_words
from dpexplain.cli.accounts import ledger_path, ledger_place, ledger_state
from dpexplain.cli.drafts import check_text, write_draft
from dpexplain.cli.errors import after_the_charge
from dpexplain.cli.fits import Fitted, fit_and_save
from dpexplain.cli.options import check_place, file_or_address, private_estimator
from dpexplain.cli.tables import check_names, read_schema, table_suffix
from dpexplain.exceptions import BudgetError, PrivacyWarning
from dpexplain.explain._text import short_number, upper_number
from dpexplain.schema import Schema
from dpexplain.tables import LineFormat


def read_rules(answers: Answers) -> Schema:
    """Read the schema or data dictionary; the table is not read.

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
        If the file is missing or wrong, or does not have the target.
    """
    path = answers.schema_path()
    with at("schema"):
        if path.suffix.lower() != ".csv":
            schema = read_schema(path)
        elif not path.is_file():
            raise AnswerError("schema", f"{path}: no such file.")
        else:
            Schema.from_dictionary(path)  # a mistake in a line is not about the target
            schema = _with_target(path, answers)
    assert schema.target is not None
    if schema.target.name and answers.target not in ("", schema.target.name):
        raise AnswerError(
            "target",
            f"{path} predicts {schema.target.name!r}, not {answers.target!r}; enter that column, "
            "or correct the file.",
        )
    return schema


def _with_target(path: Path, answers: Answers) -> Schema:
    target = answers.needed("target", "Enter the column to predict.")
    with at("target"):
        return Schema.from_dictionary(path, target=target)


def to_decide(schema: Schema) -> list[str]:
    """List what a person has to decide about a schema, in sentences."""
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
            "Has each person one row? No column identifies persons, so single rows are protected."
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
        The ledger without and with the fit.
    """

    answers: Answers
    asked: argparse.Namespace
    schema: Schema
    before: LedgerState
    after: LedgerState

    def price_words(self) -> str:
        """Describe the cost of the fit and the budget before and after it."""
        delta = self.after.delta
        unit = self.after.cap_unit()
        spent = [
            upper_number(state.epsilon_for(unit, delta)) for state in (self.before, self.after)
        ]
        cap = self.after.cap_epsilon
        limit = "no cap" if math.isinf(cap) else f"a cap of {short_number(cap)}"
        return (
            f"This fit costs ε = {short_number(self.asked.epsilon)}. Spent before it: ε = "
            f"{spent[0]}; after it: ε = {spent[1]}, with {limit} (δ = {delta:g}, for "
            f"{unit.kind_words}). {left_words(self.after)}"
        )


def left_words(state: LedgerState) -> str:
    """Describe what is left for one more fit."""
    if math.isinf(state.cap_epsilon):
        return "Nothing limits later fits."
    left = math.floor(1000.0 * state.remaining_epsilon) / 1000.0
    return f"Left for one more fit: ε = {left:g}."


def budget_words(answers: Answers) -> str:
    """Describe what is spent and left in the ledger of the table; "" if it cannot be found."""
    try:
        table = answers.table_path()
        if not table.exists():
            return ""
        ledger = file_or_address(answers.ledger) if answers.ledger else None
        asked = argparse.Namespace(table=table, ledger=ledger, dataset=None)
        if not ledger_place(asked).exists():
            return "Nothing is spent on this table yet: the first fit creates its ledger."
        state = PrivacyLedger.open(ledger_path(asked))._store.current()
    except (AnswerError, BudgetError, ValueError, TypeError, OSError, ImportError):
        return ""  # the price of the fit says what is wrong
    cap = (
        "no cap" if math.isinf(state.cap_epsilon) else f"a cap of {short_number(state.cap_epsilon)}"
    )
    spent = upper_number(state.private_epsilon(state.delta))
    return (
        f"Spent on this table so far: ε = {spent}, with {cap} (δ = {state.delta:g}, for "
        f"{state.total_unit.kind_words}). {left_words(state)}"
    )


def meaning_words(epsilon: str, delta: float = 1e-6) -> str:
    """Explain epsilon as odds, in one sentence; "" if it is not a number."""
    try:
        value = float(epsilon)
    except ValueError:
        return ""
    if not 0.0 < value < math.inf:
        return ""
    right = guesses_of_hundred(value, delta)
    return (
        f"With ε = {short_number(value)}, someone who guesses whether a given record or person is "
        f"in the table is right at most {right} times of 100, instead of 50: odds of at most "
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
        For the first answer that is wrong; nothing was charged or written.
    """
    with at("table"):
        table_suffix(answers.table_path())
    _check_format(answers)
    schema = read_rules(answers)
    assert schema.target is not None
    target = answers.target or schema.target.name
    if not target:
        raise AnswerError("target", "Enter the column to predict.")
    asked = answers.fit_command(target)
    with at("table"):
        names = check_names(asked, schema)
    _check_persons(answers, schema, names)
    _check_files(asked)
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
    return Plan(answers, asked, schema, before, before.with_entries(entries))


def _check_format(answers: Answers) -> None:
    for name in ("separator", "encoding"):
        if given := getattr(answers, name):
            with at(name):
                LineFormat(**{name: given})


def asked_rows(answers: Answers) -> int | None:
    """Return the number of rows per person; None if single rows are protected."""
    return int(answers.rows) if answers.rows not in ("", "0") else None


def _check_persons(answers: Answers, schema: Schema, names: list[str]) -> None:
    if schema.person is None and answers.rows not in ("", "0"):
        raise AnswerError(
            "rows", "The schema names no column that identifies persons; leave this empty."
        )
    if schema.person is not None and not answers.rows:
        raise AnswerError(
            "rows",
            f"{schema.person} identifies persons: enter the most rows of one person, or 0 to "
            "protect single rows only.",
        )
    if answers.rows not in ("", "0") and schema.person not in names:
        raise AnswerError("rows", f"The table has no column {schema.person!r}.")


def _check_files(asked: argparse.Namespace) -> None:
    with at("out"):
        check_place(asked.out, suffixes=(".json",), kept=ledger_place(asked).files)
        taken = [path for path in (asked.out, *beside(asked.out).values()) if path.exists()]
        if taken:
            raise AnswerError("out", f"{taken[0]} exists; enter another name.")


def _ledger(answers: Answers, asked: argparse.Namespace) -> LedgerState:
    answers.needed("person", "Enter the person responsible; the certificate names that person.")
    answers.needed("purpose", "Enter what the release is for; the certificate states it.")
    for name in ("person", "purpose"):
        with at(name):
            Provenance(**{name: getattr(answers, name)})
    with at("ledger"):
        exists = ledger_place(asked).exists()
    if not exists and asked.cap_epsilon is None:
        raise AnswerError(
            "cap", "This ledger is new: enter the largest total ε, such as 3. It never rises."
        )
    for name, value in (("cap", asked.cap_epsilon), ("delta", asked.delta)):
        if value is not None:
            with at(name):
                LedgerState("checked", **{_LIMITS[name]: value})
    with at("ledger"):
        return ledger_state(asked)


_LIMITS = {"cap": "cap_epsilon", "delta": "delta"}


def beside(model: Path) -> dict[str, Path]:
    """Return the files that belong to a model: its schema, page and certificate."""
    return {
        "schema": model.with_suffix(".schema.toml"),
        "page": model.with_suffix(".html"),
        "certificate": model.with_suffix(".certificate.html"),
    }


@dataclass(frozen=True)
class Done:
    """A fit that was charged and saved.

    Parameters
    ----------
    plan : Plan
        The plan that was carried out.
    fitted : Fitted
        Explanation, health check and ledger.
    warned : tuple of str
        Warnings about privacy.
    """

    plan: Plan
    fitted: Fitted
    warned: tuple[str, ...] = field(default=())

    @property
    def model(self) -> Path:
        """File of the model."""
        return Path(self.plan.asked.out)

    @property
    def files(self) -> dict[str, Path]:
        """Files that belong to the model."""
        return beside(self.model)


def fit(planned: Plan) -> Done:
    """Charge the ledger, fit, and save the model and its schema.

    Parameters
    ----------
    planned : Plan

    Returns
    -------
    Done

    Raises
    ------
    AnswerError
        If the fit was refused or failed; the sentence says if the charge remains.
    """
    with at("fit"), heard() as warned:
        fitted = fit_and_save(planned.asked, planned.schema)
        done = Done(planned, fitted)
        with after_the_charge():
            planned.schema.to_toml(done.files["schema"])
    return Done(planned, fitted, tuple(warned))


PASSWORD = (
    "This address holds a password, and notebooks are saved with what they show. Leave it out; put "
    "it in the environment variable PGPASSWORD or the file ~/.pgpass."
)


def has_password(ledger: str) -> bool:
    """Return whether the address of a database contains a password."""
    rest = ledger.partition("://")[2]
    return ":" in rest.rpartition("@")[0] or "password" in rest.lower()


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect the warnings about privacy, and drop all others, as some quote values."""
    words: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        yield words
    words += [str(each.message) for each in caught]


def done_words(done: Done) -> list[str]:
    """Say where the model is, what was spent, and what was warned of."""
    state = done.plan.after
    return [
        f"The model is in {done.model}, its schema in {done.files['schema']}, and the ledger in "
        f"{done.fitted.ledger.path}.",
        f"Spent so far: ε = {upper_number(done.fitted.ledger.private_epsilon())}. "
        f"{left_words(state)}",
        *done.warned,
    ]


def write_report(done: Done) -> Path:
    """Write the page with the Explorer and the privacy statement, and return its path."""
    from dpexplain_widgets import write_page

    with at("page"):
        return write_page(
            done.fitted.explanation,
            done.files["page"],
            statement=done.fitted.ledger.statement(),
        )


def write_certificate(done: Done, answers: Answers) -> Verification:
    """Write the certificate and verify it with the files; no data are needed.

    Parameters
    ----------
    done : Done
    answers : Answers
        The current answers; only the key is used.

    Returns
    -------
    Verification

    Raises
    ------
    AnswerError
        If the certificate could not be written.
    """
    ledger, files = done.fitted.ledger, done.files
    key = answers.path("key", "Enter the key.") if answers.key else None
    if key is not None and not key.is_file():
        raise AnswerError("key", f"{key}: no such file.")
    with at("certificate"):
        given = release(
            done.model,
            ledger,
            schema=done.plan.schema,
            person=done.plan.answers.person,
            purpose=done.plan.answers.purpose,
            key=key,
        )
        given.save(files["certificate"])
        return verify(
            files["certificate"],
            ledger_path(done.plan.asked),
            done.model,
            schema=files["schema"],
        )


def draft(answers: Answers, *, public: bool) -> tuple[Path, list[str]]:
    """Write a draft of a schema from a public sample.

    Parameters
    ----------
    answers : Answers
    public : bool
        Whether a person stated that the sample is public.

    Returns
    -------
    tuple of Path and list of str
        The draft, and what a person has to decide.

    Raises
    ------
    AnswerError
        If the sample is not public or is the table itself, or the draft cannot be written.
    """
    asked = answers.draft_command()
    if not public:
        raise AnswerError(
            "sample", "A draft reads the sample: confirm that the sample is public, or use none."
        )
    if answers.table and os.path.realpath(asked.table) == os.path.realpath(answers.table_path()):
        raise AnswerError("sample", "This is the table itself; a draft would publish its values.")
    with at("sample"):
        if asked.out.exists():
            raise AnswerError("sample", f"{asked.out} exists; use it below, or rename it.")
        return asked.out, list(write_draft(asked).decisions)


def check(answers: Answers) -> Path:
    """Write how the table fits the schema to a file next to the table; NOT PRIVATE.

    The result is never returned or shown, because notebooks save what widgets show.
    """
    with at("table"):
        table_suffix(answers.table_path())
    schema = read_rules(answers)
    assert schema.target is not None
    asked = answers.check_command(answers.target or schema.target.name)
    out = asked.table.with_name(f"{asked.table.stem}.NOT-PRIVATE.txt")
    with at("table"):
        check_names(asked, schema)
        check_place(out, suffixes=(".txt",))
        dpexplain.io.write_file(out, check_text(asked, schema))
    return out
