"""Certificates as one printable HTML page, without scripts, images or links."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from typing import Protocol

from dpexplain.accounting import Provenance
from dpexplain.accounting.summary import counted_entries
from dpexplain.certificate.odds import chance_words, guesses_of_hundred, odds_words
from dpexplain.explain._text import shorten, upper_number

__all__ = ["data_of_page", "page_of"]

_LONGEST, _MOST = 300, 30
_OPEN = '<script type="application/json" id="dpexplain-certificate">'
_CLOSE = "</script>"
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.4 system-ui, sans-serif; color: #111; background: #fff; max-width: 50rem;
  margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: .9rem 0 .2rem; }
p { margin: .25rem 0; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .12rem .6rem .12rem 0;
  border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
th { width: 11rem; font-weight: 600; } code { font-size: .8em; }
.open { border: 2px solid #b00; padding: .3rem .6rem; }
@page { size: A4; margin: 12mm; }
@media print { body { font-size: 8.6pt; line-height: 1.25; margin: 0; max-width: none; padding: 0; }
  h1 { font-size: 14pt; } h2 { font-size: 10pt; margin: 5pt 0 1pt; } tr { break-inside: avoid; } }
"""
_NEIGHBORS = {
    "add_remove": "Two tables that differ by the presence of {unit}",
    "replace": "Two tables in which {unit} has different values",
}


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
        """Name of the target of the model."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features of the model."""

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
        """Delta of the two guarantees for all private ledger entries."""

    @property
    def cap_epsilon(self) -> float:
        """Cap of the ledger; infinite if there is no cap."""

    @property
    def left_epsilon(self) -> float:
        """Largest epsilon that one more fit may have under the cap."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Quantities released for the file, with the amount of noise."""

    @property
    def not_private(self) -> tuple[str, ...]:
        """Entries of the ledger that are not private."""

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
        """Number of entries of the ledger when the certificate was created."""

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


def page_of(stated: Stated, data: str | None) -> str:
    """Return a certificate as an HTML page.

    Parameters
    ----------
    stated : Certificate
        Content of the page.
    data : str or None
        The certificate as JSON, which is embedded in the page; None for a page without it.

    Returns
    -------
    str
        HTML in which all strings of the certificate are escaped.
    """
    title = f"Privacy certificate: {shorten(stated.dataset, 80)}"
    parts = [
        f"<h1>{_safe(title)}</h1>",
        _table(_release_rows(stated)),
        f"<h2>{_safe(f'What this means for {stated.protects}', 120)}</h2>",
        *(f"<p>{_safe(text)}</p>" for text in _meaning(stated)),
        "<h2>The budget of this data set</h2>",
        *(f"<p>{_safe(text)}</p>" for text in _budget(stated)),
        _open_words(stated),
        "<h2>Questions of NIST SP 800-226</h2>",
        _table(_questions(stated)),
        "<h2>Fingerprints</h2>",
        _table(_hashes(stated), code=True),
        *(f"<p>{_safe(text)}</p>" for text in _checking(stated)),
    ]
    held = "" if data is None else f"{_OPEN}{_for_script(data)}{_CLOSE}\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + f"\n{held}</body>\n</html>\n"
    )


def data_of_page(text: str) -> str:
    """Return the JSON embedded in a page.

    Parameters
    ----------
    text : str
        The whole page.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the page contains no certificate, or more than one.
    """
    parts = text.split(_OPEN)
    if len(parts) != 2 or _CLOSE not in parts[1]:
        raise ValueError("the page contains no certificate.")
    return parts[1].split(_CLOSE)[0]


def _for_script(data: str) -> str:
    """Escape JSON so that no string in it can end the script element."""
    return re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", data)


def _release_rows(stated: Stated) -> list[tuple[str, str]]:
    """Return the rows of the first table, such as the purpose and the dates."""
    fit, given = stated.fit, stated.release
    person = given.person or fit.person
    predicts = f"{stated.model}, which predicts {stated.target!r}"
    names = "" if fit.schema else " (names as the file states them: the fit recorded no schema)"
    rows = [
        ("Released", f"{predicts} from {_listed(stated.features)}{names}"),
        ("Responsible", person or "not stated"),
        ("Purpose", given.purpose or fit.purpose or "not stated"),
        ("Dates (UTC)", f"fitted {fit.date or 'not stated'}, released {given.date}"),
        ("Protected", stated.protects),
    ]
    if person and fit.person and fit.person != person:
        rows.insert(2, ("Fitted by", fit.person))
    return rows


def _meaning(stated: Stated) -> list[str]:
    """Return paragraphs that explain the guarantee in terms of correct guesses."""
    right = guesses_of_hundred(stated.epsilon, stated.delta)
    whole = guesses_of_hundred(stated.adaptive_epsilon, stated.total_delta)
    but = f", except with a chance of about {chance_words(stated.delta)}" if stated.delta else ""
    words = [
        "Random noise was added, so that the file would look much the same without "
        f"{stated.protects}. Suppose someone knows everything else in the table and has to guess "
        f"whether {stated.protects} is in it. Without the file, 50 of 100 such guesses are right; "
        f"with it, at most {right} are. As odds: from 1 to 1, to at most "
        f"{odds_words(stated.epsilon)}{but}.",
    ]
    if stated.protects == "one record":
        words.append(
            "A record is a row of the table. A person with several rows is protected for each of "
            "them, but less for all together."
        )
    if math.isfinite(stated.adaptive_epsilon):
        words.append(
            f"With everything released from this data set so far, together: at most {whole} of 100."
        )
    return words


def _budget(stated: Stated) -> list[str]:
    """Return paragraphs about the spent and the remaining budget of the ledger."""
    if math.isinf(stated.total_epsilon):
        spent = f"for {stated.protects}, the ledger has no bound on everything together"
    else:
        spent = (
            f"ε = {upper_number(stated.total_epsilon)} is spent if all fits were planned in "
            f"advance, and at most ε = {upper_number(stated.adaptive_epsilon)} in any case "
            f"(δ = {upper_number(stated.total_delta)})"
        )
    words = [f"The ledger holds {counted_entries(stated.n_entries)}: {spent}."]
    if math.isinf(stated.cap_epsilon):
        return [*words, "It has no cap, so it refuses nothing."]
    left = f"ε = {stated.left_epsilon:g} is left for one more fit."
    return [*words, f"Its cap is ε = {stated.cap_epsilon:g}, which it enforces. {left}"]


def _open_words(stated: Stated) -> str:
    """Return a warning about non-private uses of the data; empty if there are none."""
    if not stated.not_private:
        return ""
    words = (
        "Not private: the ledger also holds uses of the data without noise. What they produced, "
        f"and everything computed from it, must not be shared: {_listed(stated.not_private)}."
    )
    return f'<p class="open">{_safe(words)}</p>'


def _questions(stated: Stated) -> list[tuple[str, str]]:
    """Return the answers to the questions of NIST SP 800-226, as rows of a table."""
    adjacency = _NEIGHBORS[stated.adjacency].format(unit=stated.protects)
    delta = "0" if stated.delta == 0 else upper_number(stated.delta)
    return [
        ("Unit of privacy", stated.protects),
        ("Which tables must look alike?", f"{adjacency}."),
        (
            "Privacy parameters",
            f"ε = {upper_number(stated.epsilon)} bounds what the file, and everything computed "
            f"from it, can reveal; δ = {delta} is about the chance that this fails.",
        ),
        ("Mechanisms", _listed(stated.mechanisms)),
        (
            "Who is trusted?",
            "Those who hold the table and fit the model. Readers of the file need not be trusted.",
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
            "Also not covered",
            "What the table shows about everybody; uses of the table that were not charged to "
            "this ledger.",
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


def _checking(stated: Stated) -> list[str]:
    """Return a paragraph on how to verify the certificate."""
    first = (
        "dpexplain verify checks this page against the ledger and the file, without the data and "
        "without a network."
    )
    if stated.signature is not None:
        return [f"{first} Compare the signing key with the one that the officer published."]
    return [
        f"{first} This page is not signed. Someone who can write page, ledger and file could "
        "rewrite all three; keep a copy of the ledger fingerprint elsewhere, or sign the page."
    ]


def _listed(texts: Iterable[str]) -> str:
    """Shorten names and join them with commas; names beyond a limit are only counted."""
    known = [shorten(text, 60) for text in texts]
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return (", ".join(known[:_MOST]) or "nothing") + more


def _table(rows: Iterable[tuple[str, str]], *, code: bool = False) -> str:
    """Return an HTML table with one row for each pair of name and text."""
    opening, closing = ("<code>", "</code>") if code else ("", "")
    cells = "\n".join(
        f"<tr><th>{_safe(name)}</th><td>{opening}{_safe(text, 4_000)}{closing}</td></tr>"
        for name, text in rows
    )
    return f"<table>\n{cells}\n</table>"


def _safe(text: str, limit: int = 4 * _LONGEST) -> str:
    """Shorten and escape a string for HTML, and isolate its text direction."""
    return f"<bdi>{html.escape(shorten(text, limit))}</bdi>"
