"""What the buttons of the form do, without widgets: the same as the commands."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dpexplain.io
from dpexplain.app.answers import AnswerError, Answers, at
from dpexplain.app.checking import Plan, beside, left_words, read_rules
from dpexplain.certificate import Verification, release, verify
from dpexplain.cli.accounts import ledger_path
from dpexplain.cli.drafts import checked, write_draft
from dpexplain.cli.errors import after_the_charge
from dpexplain.cli.fits import Fitted, fit_and_save
from dpexplain.cli.options import check_place
from dpexplain.cli.tables import check_names, table_suffix
from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain._text import upper_number


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
        dpexplain.io.write_file(out, "\n\n".join(filter(None, reversed(checked(asked, schema)))))
    return out
