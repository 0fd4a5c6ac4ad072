"""Output of commands: post-processing of private releases only."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpexplain.explain._text import short_number, upper_number

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger

_ROWS = 20
_WIDTH = 96
_SENTENCES = ("noise_words", "effect_words", "effect_caution")
_COLUMNS = (
    "Importance, noise_floor and above_noise speak of the released curves: what is noise? Effect, "
    "effect_std and has_effect speak of people: what is true? Places and directions rest on the "
    "basis named last."
)
_TERM_COLUMNS = (
    "Contribution, its standard deviations and signal speak of the released curve: what is noise? "
    "Effect, the ends of its 95% band and effect_signal speak of people: what is true?"
)


def fit_text(explanation: Any, ledger: PrivacyLedger, out: Path) -> str:
    """Summarize one fit: guarantee, terms above the noise, ledger, file."""
    parts = explanation_parts(explanation)
    return "\n\n".join([*parts, account_line(ledger), f"saved to {out}"])


def sweep_text(comparison: Any, ledger: PrivacyLedger, out: Path) -> str:
    """Summarize a sweep: guarantees, importances, ledger, file."""
    return "\n\n".join([comparison_text(comparison), account_line(ledger), f"saved to {out}"])


def comparison_text(comparison: Any) -> str:
    """Format guarantees and importances of a comparison with their labels."""
    if hasattr(comparison, "by_class"):
        return "\n\n".join(map(comparison_text, comparison.by_class))
    parts = [comparison.title, "\n".join(comparison.guarantee_words)]
    if hasattr(comparison, "importances"):
        table = comparison.importances()
        table.columns = [_epsilon_name(float(epsilon)) for epsilon in table.columns]
        parts += [f"importance of released curves in {comparison.score_unit}:", table_text(table)]
        parts += _effect_parts(comparison)
    return "\n\n".join(parts)


def explanation_parts(explanation: Any) -> list[str]:
    """Format the guarantee, the noise summary, and the terms by importance."""
    parts = [textwrap.fill(explanation.guarantee.statement(), _WIDTH)]
    said = (getattr(explanation, name, "") for name in _SENTENCES)
    parts += [textwrap.fill(words, _WIDTH) for words in said if words]
    if hasattr(explanation, "ranking"):
        table = explanation.ranking()
        parts += [textwrap.fill(_COLUMNS, _WIDTH)] if "effect" in table else []
        parts.append(table_text(table))
        if pairs := [pair.name for pair in getattr(explanation, "pairs", ())]:
            listed = explanation.importances()[pairs].rename_axis("pair of features")
            parts.append(table_text(listed.to_frame("importance")))
    elif hasattr(explanation, "importances"):
        parts.append(table_text(explanation.importances().to_frame("importance")))
    return parts


def _effect_parts(comparison: Any) -> list[str]:
    """Format estimated effects at every epsilon; what warns of them at the largest."""
    largest = comparison.explanations[comparison.epsilons[-1]][0]
    caution = getattr(largest, "effect_caution", "")
    table = comparison.effects() if hasattr(comparison, "effects") else pd.DataFrame()
    parts = []
    if len(table) and not table.isna().all(axis=None):
        table.columns = [_epsilon_name(float(epsilon)) for epsilon in table.columns]
        words = f"effect on people as estimated, in {comparison.score_unit}:"
        parts += [words, table_text(table)]
    if caution:
        words = f"At {_epsilon_name(comparison.epsilons[-1])}: {caution}"
        parts.append(textwrap.fill(words, _WIDTH))
    return parts


def term_words(explanation: Any, term: str) -> str:
    """Say of the columns of a term which question they answer, and what warns of its estimate."""
    caution = getattr(explanation, "effect_cautions", {}).get(term, "")
    known = term in explanation and explanation[term].effect is not None
    lines = [_TERM_COLUMNS] if known else []
    return "\n\n".join(textwrap.fill(words, _WIDTH) for words in (*lines, caution) if words)


def table_text(table: pd.DataFrame, rows: int | None = _ROWS) -> str:
    """Format a table in columns, numbers with four digits.

    Parameters
    ----------
    table : DataFrame
    rows : int or None, default=20
        More are counted, not printed; None prints all.

    Returns
    -------
    str
    """
    shown = table.iloc[:rows].map(_cell)
    text: str = shown.to_string()
    more = len(table) - len(shown)
    return f"{text}\n… and {more} more" if more > 0 else text


def account_line(ledger: PrivacyLedger) -> str:
    """Describe the state of the ledger after a command."""
    cap = ledger.cap_epsilon
    limit = "" if math.isinf(cap) else f" of at most {short_number(cap)}"
    spent = f"ε = {upper_number(ledger.private_epsilon())}{limit} (δ = {ledger.delta:g})"
    return (
        f"ledger {ledger.path}: all fits so far on {ledger.dataset!r} compose to {spent} "
        f"for {ledger.unit.kind_words}, if the fits were fixed in advance, and "
        f"ε = {upper_number(ledger.adaptive_epsilon)} if results decided what was fitted"
    )


def _epsilon_name(epsilon: float) -> str:
    return "not private" if math.isinf(epsilon) else f"ε = {short_number(epsilon)}"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short_number(value) if isinstance(value, float) else str(value)
