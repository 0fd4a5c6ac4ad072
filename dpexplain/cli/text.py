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
        parts += [f"importance in {comparison.score_unit}:", table_text(table)]
    return "\n\n".join(parts)


def explanation_parts(explanation: Any) -> list[str]:
    """Format the guarantee, the noise summary, and the terms by importance."""
    parts = [textwrap.fill(explanation.guarantee.statement(), _WIDTH)]
    if words := getattr(explanation, "noise_words", ""):
        parts.append(textwrap.fill(words, _WIDTH))
    if hasattr(explanation, "ranking"):
        parts.append(table_text(explanation.ranking()))
        if pairs := [pair.name for pair in getattr(explanation, "pairs", ())]:
            listed = explanation.importances()[pairs].rename_axis("pair of features")
            parts.append(table_text(listed.to_frame("importance")))
    elif hasattr(explanation, "importances"):
        parts.append(table_text(explanation.importances().to_frame("importance")))
    return parts


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
        f"ε = {upper_number(ledger.adaptive_epsilon)} otherwise"
    )


def _epsilon_name(epsilon: float) -> str:
    return "not private" if math.isinf(epsilon) else f"ε = {short_number(epsilon)}"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short_number(value) if isinstance(value, float) else str(value)
