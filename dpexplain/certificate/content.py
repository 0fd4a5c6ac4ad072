"""Content of a certificate page, independent of its format."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from dpexplain._utils.guarantee_words import upper_number, without_rows
from dpexplain.accounting import Provenance
from dpexplain.accounting.summary import counted_entries
from dpexplain.certificate.odds import chance_words, guesses_words, odds_words
from dpexplain.explain._text import shorten

__all__ = ["Section", "Stated", "embeddable", "embedded", "sections_of", "title_of"]

_LONGEST, _LONGEST_CELL, _MOST = 1_200, 4_000, 30
_NEIGHBORS = {
    "add_remove": "Two tables that differ by the presence of {unit}",
    "replace": "Two tables in which {unit} has different values",
}


@dataclass(frozen=True)
class Section:
    """Part of the page: a heading, followed by rows, paragraphs and a warning.

    Parameters
    ----------
    heading : str
        Heading; empty for the first section, which follows the title.
    rows : sequence of (str, str), default=()
        Name and text of each row of a table.
    paragraphs : sequence of str, default=()
    warning : str, default=""
        Text of a warning box; empty if there is none.
    named : bool, default=False
        Whether the heading contains words that the library did not choose.
    code : bool, default=False
        Whether the row texts are set in a monospaced font.
    """

    heading: str
    rows: Sequence[tuple[str, str]] = ()
    paragraphs: Sequence[str] = ()
    warning: str = ""
    named: bool = False
    code: bool = False


class Stated(Protocol):
    """Content of a certificate; see :class:`dpexplain.certificate.Certificate`."""

    @property
    def dataset(self) -> str:
        """Name of the data set in the ledger."""

    @property
    def model(self) -> str:
        """Name of the model that the file explains."""

    @property
    def target(self) -> str:
        """Name of the model's target."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the model's features."""

    @property
    def edited(self) -> tuple[str, ...]:
        """Names of the terms and pairs that were edited by hand after the fit."""

    @property
    def protects(self) -> str:
        """Unit of privacy, such as "one record"."""

    @property
    def adjacency(self) -> str:
        """Definition of neighboring data sets."""

    @property
    def epsilon(self) -> float:
        """Epsilon of the guarantee stated in the file, rounded up."""

    @property
    def delta(self) -> float:
        """Delta of the guarantee stated in the file."""

    @property
    def total_epsilon(self) -> float:
        """Epsilon of all private ledger entries, if the fits were planned in advance."""

    @property
    def adaptive_epsilon(self) -> float:
        """Epsilon of all private ledger entries, even if the fits were chosen adaptively."""

    @property
    def total_delta(self) -> float:
        """Delta of both overall guarantees, which cover all private ledger entries."""

    @property
    def cap_epsilon(self) -> float:
        """Cap of the ledger; infinite if there is no cap."""

    @property
    def left_epsilon(self) -> float:
        """Largest epsilon that one more fit may have under the cap."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Quantities released for the file, with the noise added to each."""

    @property
    def not_private(self) -> tuple[str, ...]:
        """Ledger entries that are not private."""

    @property
    def sampler(self) -> str:
        """Source of the noise."""

    @property
    def fit(self) -> Provenance:
        """Date, person, purpose, target and schema of the fit."""

    @property
    def release(self) -> Provenance:
        """Date, person, purpose, target and schema of the release."""

    @property
    def release_sha256(self) -> str:
        """SHA-256 hash of the released file."""

    @property
    def entry(self) -> int:
        """Index of the ledger entry that corresponds to the file."""

    @property
    def n_entries(self) -> int:
        """Number of entries in the ledger when the certificate was created."""

    @property
    def head(self) -> str:
        """Hash of the ledger when the certificate was created."""

    @property
    def fitted_with(self) -> str:
        """Version of the library with which the model was fitted."""

    @property
    def library(self) -> str:
        """Version of the library with which the certificate was created."""

    @property
    def signature(self) -> tuple[str, str] | None:
        """Public key and signature in hexadecimal digits; None if there is no signature."""


def title_of(stated: Stated) -> str:
    """Return the title of the page.

    Parameters
    ----------
    stated : Certificate

    Returns
    -------
    str
    """
    return f"Privacy certificate: {shorten(stated.dataset, 80)}"


def sections_of(stated: Stated) -> tuple[Section, ...]:
    """Return the sections of the page, in order.

    Parameters
    ----------
    stated : Certificate

    Returns
    -------
    tuple of Section
        Plain-text sections of limited length, without unprintable characters.
    """
    sections = (
        Section("", rows=_key_rows(stated)),
        Section(
            shorten(f"What this means for {_one(stated)}", 120),
            paragraphs=_meaning(stated),
            named=True,
        ),
        Section(
            "The budget of this data set", paragraphs=_budget(stated), warning=_open_words(stated)
        ),
        Section("Before you sign", paragraphs=_to_confirm(stated)),
        Section("For specialists: the questions of NIST SP 800-226", rows=_questions(stated)),
        Section("For specialists: fingerprints", rows=_hashes(stated), code=True),
    )
    return tuple(map(_shortened, sections))


def embeddable(data: str) -> str:
    """Escape JSON, so that no string in it can end the comment or element around it."""
    return re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", data)


def embedded(text: str, opening: str, closing: str, kind: str) -> str:
    """Return the JSON between two marks; an error names the kind of file."""
    parts = text.split(opening)
    if len(parts) != 2 or closing not in parts[1]:
        raise ValueError(f"the {kind} contains no certificate.")
    return parts[1].split(closing)[0]


def _shortened(section: Section) -> Section:
    """Limit the length of all texts, and replace unprintable characters."""
    return replace(
        section,
        rows=[(shorten(name), shorten(text, _LONGEST_CELL)) for name, text in section.rows],
        paragraphs=[shorten(text, _LONGEST) for text in section.paragraphs],
        warning=shorten(section.warning, _LONGEST),
    )


def _key_rows(stated: Stated) -> list[tuple[str, str]]:
    """Return the rows of the first table: key numbers, purpose and dates."""
    fit, given = stated.fit, stated.release
    right = guesses_words(stated.epsilon, stated.delta)
    person = given.person or fit.person
    names = "" if fit.schema else " (names as the file states them: the fit recorded no schema)"
    rows = [
        (
            "Largest risk",
            f"With this file, {right} of 100 guesses about {_one(stated)} are right; without it, "
            "50.",
        ),
        ("Privacy budget", _budget_row(stated)),
        ("Protected", stated.protects),
        (
            "Released",
            f"A model that predicts {stated.target!r} from {_listed(stated.features)}{names}",
        ),
        ("Responsible", person or "not stated"),
        ("Purpose", given.purpose or fit.purpose or "not stated"),
        ("Dates (UTC)", f"computed {fit.date or 'not stated'}, released {given.date}"),
    ]
    if person and fit.person and fit.person != person:
        rows.insert(5, ("Computed by", fit.person))
    if stated.edited:
        how = f"By hand, after the fit: {_listed(stated.edited)}. The file says how."
        rows.insert(4, ("Edited", how))
    return rows


def _budget_row(stated: Stated) -> str:
    if math.isinf(stated.total_epsilon):
        return "There is no bound on everything together."
    spent = upper_number(stated.total_epsilon)
    if math.isinf(stated.cap_epsilon):
        return f"{spent} is spent on this data set; the budget has no limit."
    return f"{spent} of at most {stated.cap_epsilon:g} is spent on this data set."


def _one(stated: Stated) -> str:
    """Return the unit without its details, which the "Protected" row gives."""
    return without_rows(stated.protects).partition(" (")[0]


def _meaning(stated: Stated) -> list[str]:
    """Return paragraphs that explain the guarantee in terms of correct guesses."""
    right = guesses_words(stated.epsilon, stated.delta)
    whole = guesses_words(stated.adaptive_epsilon, stated.total_delta)
    one = _one(stated)
    kind = one.removeprefix("one ")
    alike, guess = f"without any {one}", f"whether a certain {kind} is in it"
    if stated.adjacency == "replace":  # it does not promise to hide who is in the table
        alike = f"if any {one} had different values"
        guess = f"which of two values a certain {kind} has"
    words = [
        f"Random noise was added, so that the model looks much the same {alike}. Suppose "
        f"someone knows everything else in the table, and guesses {guess}. Without this file, "
        "that is a coin toss: 50 of 100 "
        f"such guesses are right. With it, {right} are.",
        f"Behind this is ε (epsilon), the privacy loss: {upper_number(stated.epsilon)} for this "
        "file. Smaller is safer. As odds, an even chance "
        f"becomes at most {odds_words(stated.epsilon)}.{_failure(stated)}",
    ]
    if stated.protects == "one record":
        words.append("A record is a row. A person with several rows is protected less.")
    if math.isfinite(stated.adaptive_epsilon):
        up_to_cap = stated.adaptive_epsilon == stated.cap_epsilon
        what = "the budget below allows" if up_to_cap else "was released from this data set so far"
        words.append(f"With everything that {what}, {whole} of 100 guesses are right.")
    return words


def _failure(stated: Stated) -> str:
    if not stated.delta:
        return ""
    return f" The chance that this promise fails, δ (delta), is about {chance_words(stated.delta)}."


def _budget(stated: Stated) -> list[str]:
    """Return paragraphs about the ledger's spent and remaining budget."""
    many = "use" if stated.n_entries == 1 else "uses"
    entries = (
        "Every use of the data set adds to the privacy loss. The ledger, the book of all uses, "
        f"holds {stated.n_entries:,} {many}"
    )
    if math.isinf(stated.total_epsilon):
        words = [f"{entries}. For {stated.protects}, there is no bound on everything together."]
    else:
        words = [f"{entries}, together ε = {upper_number(stated.total_epsilon)}."]
    if math.isinf(stated.cap_epsilon):
        return [*words, "The budget has no cap (limit), so the ledger refuses nothing."]
    left = f"ε = {stated.left_epsilon:g} is left for one more model"
    if stated.left_epsilon > stated.cap_epsilon - stated.total_epsilon:
        left += " (combined losses are less than their sum)"
    return [
        *words,
        f"The cap (limit) is ε = {stated.cap_epsilon:g}: the ledger refuses what would exceed it. "
        f"{left}.",
    ]


def _all_uses(stated: Stated) -> str:
    """Return the privacy parameters for all uses combined."""
    if math.isinf(stated.total_epsilon):
        return "No bound."
    delta = upper_number(stated.total_delta)
    adaptive = stated.adaptive_epsilon
    cap = ", the cap," if math.isfinite(adaptive) and adaptive == stated.cap_epsilon else ""
    return (
        f"ε = {upper_number(stated.total_epsilon)} if all were decided beforehand; at most "
        f"ε = {upper_number(adaptive)}{cap} if results decided what came next; "
        f"δ = {delta}."
    )


def _to_confirm(stated: Stated) -> list[str]:
    """Return paragraphs on what the signer needs to know but no file can show."""
    signed = (
        "Compare the signing key below with the one that the officer published."
        if stated.signature is not None
        else "This page is not digitally signed: whoever can change page, ledger and file could "
        "rewrite all three. Keep a copy of the ledger fingerprint elsewhere."
    )
    edited = (
        ["☐ The edits use released numbers and general knowledge, not the records."]
        if stated.edited
        else []
    )
    return [
        f"No page can show these {'four' if edited else 'three'} things. Ask those responsible, "
        "and tick:",
        "☐ Purpose, target and features are as agreed.",
        "☐ Every use of these data was charged to this ledger.",
        "☐ The ranges and categories given to the model come from documents, not from these data.",
        *edited,
        "Not protected: what holds for people in general. Those who hold the table are trusted.",
        "The command dpexplain verify checks this page against ledger and file, without data or "
        f"network. {signed}",
    ]


def _open_words(stated: Stated) -> str:
    """Return a warning about non-private uses of the data; empty if there are none."""
    if not stated.not_private:
        return ""
    return (
        "Not private: the ledger also holds uses of the data without noise. What they produced, "
        f"and everything computed from it, must not be shared: {_listed(stated.not_private)}."
    )


def _questions(stated: Stated) -> list[tuple[str, str]]:
    """Return the answers to the questions of NIST SP 800-226, as rows of a table."""
    adjacency = _NEIGHBORS[stated.adjacency].format(unit=_one(stated))
    delta = "0" if stated.delta == 0 else upper_number(stated.delta)
    return [
        ("Model", stated.model),
        ("Unit of privacy", stated.protects),
        ("Which tables must look alike?", f"{adjacency}."),
        (
            "Privacy parameters",
            f"ε = {upper_number(stated.epsilon)} and δ = {delta} for the file and everything "
            "computed from it.",
        ),
        ("All uses together", _all_uses(stated)),
        ("Mechanisms", _listed(stated.mechanisms)),
        (
            "Who is trusted?",
            "Those who hold the table and fit the model; not the readers of the file.",
        ),
        (
            "Floating-point safety",
            f"Sums over records are integers. The file names the source of its noise, which the "
            f"ledger cannot confirm: {stated.sampler}.",
        ),
        (
            "Side channels",
            "Not covered: timing, memory and access to the computer that fits.",
        ),
        (
            "What had to be public?",
            "The schema (columns, bounds, categories, classes) and all settings.",
        ),
        (
            "What was not private?",
            "See the box above." if stated.not_private else "Nothing that the ledger knows of.",
        ),
    ]


def _hashes(stated: Stated) -> list[tuple[str, str]]:
    """Return the hashes, the versions and the signing key, as rows of a table."""
    schema = stated.release.schema or stated.fit.schema or "not recorded"
    rows = [
        ("Released file", stated.release_sha256),
        ("Schema", schema),
        (
            "Ledger",
            f"{stated.head} after {counted_entries(stated.n_entries)}, with this fit at index "
            f"{stated.entry}",
        ),
        (
            "Versions",
            f"fitted with {stated.fitted_with} (as the file states), certified with "
            f"{stated.library}",
        ),
    ]
    if stated.signature is not None:
        rows.append(("Signing key", stated.signature[0]))
    return rows


def _listed(texts: Iterable[str]) -> str:
    """Join shortened names with commas; names beyond a limit are only counted."""
    known = [shorten(text, 60) for text in texts]
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return (", ".join(known[:_MOST]) or "nothing") + more
