"""Actions of the form's buttons, without widgets; they work like the commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dpexplain.io
from dpexplain._utils.guarantee_words import upper_number
from dpexplain.app.answers import AnswerError, Answers, at, heard
from dpexplain.app.checking import Plan, left_words, open_words, read_rules
from dpexplain.app.files import beside, check_files, created, holds_records
from dpexplain.certificate import Verification, file_hash, release, verify
from dpexplain.cli.accounts import ledger_path, ledger_state
from dpexplain.cli.drafts import checked, write_draft
from dpexplain.cli.fits import Fitted, fit_and_save
from dpexplain.cli.options import check_place
from dpexplain.cli.tables import check_names, table_suffix
from dpexplain.exceptions import BudgetError
from dpexplain.schema import Schema


@dataclass(frozen=True)
class Done:
    """A fit that was charged and saved.

    Parameters
    ----------
    plan : Plan
        The plan that was carried out.
    fitted : Fitted
        Explanation, health check and ledger.
    sha256 : str
        Hash of the model file.
    warned : tuple of str
        Warnings about privacy.
    """

    plan: Plan
    fitted: Fitted
    sha256: str
    warned: tuple[str, ...] = field(default=())

    @property
    def model(self) -> Path:
        """Model file."""
        return Path(self.plan.asked.out)

    @property
    def files(self) -> dict[str, Path]:
        """Files that belong to the model."""
        return beside(self.model)


class ChargedError(AnswerError):
    """Error after which a charge remains, or may remain, in the ledger."""


@contextmanager
def charging(asked: argparse.Namespace) -> Iterator[None]:
    """If a ``with`` block raises an error, report whether the ledger was charged.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments of the ``fit`` command.

    Raises
    ------
    ChargedError
        If the block raises an error, and the ledger was charged or cannot be read.
    AnswerError
        If the block raises an error, and nothing was charged.
    """
    before = _entries(asked)
    try:
        with at("fit"):
            yield
    except AnswerError as mistake:
        if isinstance(mistake.__context__, BudgetError):  # refused, so nothing was charged
            raise
        try:
            charged = _entries(asked) > before
        except AnswerError:
            words = "The ledger cannot be read; check whether the fit was charged."
            raise ChargedError("fit", f"{mistake.sentence} {words}") from None
        if not charged:
            raise
        words = (
            "The fit was charged, and the charge remains in the ledger, unless its new entry "
            "belongs to another fit at the same time."
        )
        raise ChargedError("fit", f"{mistake.sentence} {words}") from None


def _entries(asked: argparse.Namespace) -> int:
    with at("ledger"):
        return len(ledger_state(asked).entries)


def fit(planned: Plan) -> Done:
    """Charge the ledger, fit, and save the model and its schema.

    For the errors that this function can raise, see `charging`.

    Parameters
    ----------
    planned : Plan

    Returns
    -------
    Done
    """
    check_files(planned.asked)
    model = Path(planned.asked.out)
    schema = beside(model)["schema"]
    with heard() as warned, at("fit"), created(model), created(schema):
        dpexplain.io.write_file(schema, planned.schema.to_toml())
        try:
            fitted = fit_and_save(planned.asked, planned.schema)
        except BaseException:
            if not model.stat().st_size:  # no model was saved to which the schema could belong
                schema.unlink(missing_ok=True)
            raise
        sha256 = file_hash(model)
    return Done(planned, fitted, sha256, tuple(warned))


def done_words(done: Done) -> list[str]:
    """Say where the model is and what was spent, and repeat the privacy warnings."""
    state = ledger_state(done.plan.asked)  # other fits may have been charged meanwhile
    return [
        f"The model is in {done.model}, its schema in {done.files['schema']}, and the ledger in "
        f"{done.fitted.ledger.path}.",
        f"Spent so far: ε = {upper_number(done.fitted.ledger.private_epsilon())}. "
        f"{left_words(state)}{open_words(state)}",
        *done.warned,
    ]


def write_report(done: Done) -> Path:
    """Write the page with the Explorer and the privacy statement, and return its path."""
    from dpexplain_widgets import write_page

    with at("page"), created(done.files["page"]):
        return write_page(
            done.fitted.explanation,
            done.files["page"],
            statement=done.fitted.ledger.statement(),
        )


def write_certificate(done: Done, answers: Answers) -> Verification:
    """Write the certificate as HTML and PDF, and verify both, without the data.

    Parameters
    ----------
    done : Done
    answers : Answers
        The current answers; only the key is used.

    Returns
    -------
    Verification
        Checks of the PDF page if one of them failed, otherwise of the HTML page.

    Raises
    ------
    AnswerError
        If the certificate could not be written.
    """
    ledger, files = done.fitted.ledger, done.files
    pages = [files["certificate"], files["pdf"]]
    key = answers.path("key", "Enter the key.") if answers.key else None
    if key is not None and not key.is_file():
        raise AnswerError("key", f"{key}: no such file.")
    with at("certificate"), created(pages[0]), created(pages[1]):
        if file_hash(done.model) != done.sha256:
            raise AnswerError(
                "certificate",
                f"{done.model} is not the file that this fit saved; put that file back first.",
            )
        given = release(
            done.model,
            ledger,
            schema=done.plan.schema,
            person=done.plan.answers.person,
            purpose=done.plan.answers.purpose,
            key=key,
        )
        try:
            html, pdf = (_verified(given.save(page), done) for page in pages)
        except BaseException:  # nobody shall print what was not verified
            for page in pages:
                page.unlink(missing_ok=True)
            raise
        return html if pdf.passed else pdf


def _verified(page: Path, done: Done) -> Verification:
    return verify(page, ledger_path(done.plan.asked), done.model, schema=done.files["schema"])


def draft(answers: Answers, *, public: bool) -> tuple[Path, list[str]]:
    """Write a draft of a schema from a public sample.

    Parameters
    ----------
    answers : Answers
    public : bool
        Whether the user stated that the sample is public.

    Returns
    -------
    tuple of Path and list of str
        Path of the draft, and the decisions left to the user.

    Raises
    ------
    AnswerError
        If the sample is not public or is the table itself, or the draft cannot be written.
    """
    with at("table"):
        table = answers.table_path()
        table_suffix(table)
    asked = answers.draft_command()
    if not public:
        raise AnswerError(
            "sample", "A draft reads the sample: confirm that the sample is public, or use none."
        )
    with at("sample"):
        if holds_records(asked.table, table):
            raise AnswerError(
                "sample",
                "This is the table itself, or a copy or part of it; a draft would publish its "
                "values.",
            )
        if asked.out.exists():
            raise AnswerError("sample", f"{asked.out} exists; use it below, or rename it.")
        return asked.out, list(write_draft(asked).decisions)


def check(answers: Answers) -> Path:
    """Compare the table with the schema, and write the result to a file. NOT PRIVATE.

    The file is written next to the table. The result is never returned or shown, because notebooks
    save what widgets show. An error that could depend on a record is also written to the file.
    """
    schema = read_rules(answers)
    assert schema.target is not None
    asked = answers.check_command(answers.target or schema.target.name)
    out: Path = asked.table.with_name(f"{asked.table.stem}.NOT-PRIVATE.txt")
    with at("table"):
        check_names(asked, schema)
        check_place(out, suffixes=(".txt",))
    with at("checked"), created(out, mode=0o600):
        text = _compared(asked, schema).encode(errors="backslashreplace")
        dpexplain.io.write_file(out, text)
    return out


def _compared(asked: argparse.Namespace, schema: Schema) -> str:
    try:
        ignored, found = checked(asked, schema)
    except Exception as error:
        return f"NOT PRIVATE: only for the data holder.\n\nThe comparison failed: {error!r}\n"
    return "\n\n".join(filter(None, (found, ignored)))
