"""Format the output of commands as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting.summary import NOT_INCLUDED
from dpexplain.explain._text import short_number

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger
    from dpexplain.explain import Health
    from dpexplain.explain.display import Display

_ROWS = 20
_WIDTH = 96
# Columns that a table on the screen can spare, in this order, if it is too wide for a line.
_SPARED = (
    "bin_left", "bin_right", "bag_std", "special", "structure_std", "sampling_std", "noise_std",
    "corrected_importance", "importance_std", "direction_certainty", "effect_std", "private",
    "repeat", "term", "first_feature", "second_feature", "band_low", "band_high",
    "has_effect",
)  # fmt: skip


def fit_text(explanation: Display, health: Health, ledger: PrivacyLedger, out: Path) -> str:
    """Summarize one fit: guarantee, terms above the noise, health, ledger and file."""
    checked = [f"health: {health!r}"]
    parts = [described(explanation), *checked, account_line(ledger), f"saved to {out}"]
    return "\n\n".join(parts)


def sweep_text(comparison: Display, ledger: PrivacyLedger, out: Path) -> str:
    """Summarize a sweep: guarantees, importances, ledger and file."""
    return "\n\n".join([described(comparison), account_line(ledger), f"saved to {out}"])


def described(shown: Display) -> str:
    """Format the description of an explanation or comparison as text."""
    return "\n\n".join(described_parts(shown.describe()))


def described_parts(parts: Iterable[str | pd.DataFrame]) -> list[str]:
    """Wrap paragraphs and format tables as text."""
    return [_filled(part) if isinstance(part, str) else table_text(part) for part in parts]


def _filled(paragraph: str) -> str:
    return "\n".join(textwrap.fill(line, _WIDTH) for line in paragraph.splitlines())


def table_text(table: pd.DataFrame, rows: int | None = _ROWS) -> str:
    """Format a table in columns, with numbers rounded to four digits.

    If a number of a column needs all four, the others keep their trailing zeros.

    Parameters
    ----------
    table : DataFrame
        Table to print.
    rows : int or None, default=20
        Maximum number of rows; None means all rows.

    Returns
    -------
    str
        The formatted table. If rows or columns are left out, the last lines say so.
    """
    shown = table.iloc[:rows].apply(without_rounding_errors).apply(_cells)
    if isinstance(shown.index, pd.RangeIndex):
        shown = shown.set_index(pd.Index([""] * len(shown)))
    text: str = shown.to_string()
    spared = [name for name in _SPARED if name in shown]
    if "private" in spared and not table["private"].all():  # a reference is marked in its rows
        spared.remove("private")
    left_out: list[str] = []
    while spared and max(map(len, text.splitlines())) > _WIDTH:
        left_out.append(spared.pop(0))
        text = shown.drop(columns=left_out).to_string()
    if len(table) > len(shown):
        text += f"\n… and {len(table) - len(shown)} more"
    if left_out:
        words = f"Left out to save space (explain --csv prints all columns): {', '.join(left_out)}."
        text += f"\n{_filled(words)}"
    return text


def entries_text(frame: pd.DataFrame) -> str:
    """Format the events of a ledger, one table per entry, with epsilons rounded up."""
    rounded_up = ["mu", "epsilon", "private_epsilon"]
    table = frame.assign(**{name: frame[name].map(upper_number) for name in rounded_up})
    parts: list[str | pd.DataFrame] = []
    for (entry, label, unit), events in table.groupby(["entry", "label", "unit"], sort=False):
        shown = events.drop(columns=["entry", "label", "unit"]).reset_index(drop=True)
        parts += [f"entry {entry}: {label}, for {unit}", shown]
    parts.append("private_epsilon: this event and all private ones before it, together.")
    return "\n\n".join(described_parts(parts))


def account_line(ledger: PrivacyLedger) -> str:
    """Return a line that states the total privacy cost in a ledger."""
    cap = ledger.cap_epsilon
    limit = "" if math.isinf(cap) else f" of at most {short_number(cap)}"
    spent = f"ε = {upper_number(ledger.private_epsilon())}{limit} (δ = {ledger.delta:g})"
    summary = ledger.summary()
    unbounded = [f"; no bound for {total.unit}" for total in summary.units if total.unbounded]
    private = all(entry.private for entry in summary.entries)
    adaptive = ledger.adaptive_epsilon
    which = " (the cap)" if adaptive == cap and math.isfinite(cap) else ""
    return (
        f"ledger {ledger.path}: all fits so far on {ledger.dataset!r} compose to {spent} "
        f"for {ledger.unit.kind_words}, if the fits were fixed in advance, and "
        f"ε = {upper_number(adaptive)}{which} otherwise{''.join(unbounded)}"
        f"{'' if private else f'. {NOT_INCLUDED}'}"
    )


def without_rounding_errors(column: pd.Series) -> pd.Series:
    """Replace numbers with 0 that arithmetic leaves where the exact result is 0."""
    if not pd.api.types.is_float_dtype(column):
        return column
    sizes = column.abs()
    return column.mask(sizes < 1e-10 * sizes[np.isfinite(sizes)].max(), 0.0)


def _cells(column: pd.Series) -> pd.Series:
    numbers = [value for value in column if isinstance(value, float)]
    texts = (short_number(value) for value in numbers)
    kept = [short_number(value, zeros=True) for value in numbers]
    zeros = any("." in text and text == long for text, long in zip(texts, kept, strict=True))
    return column.map(lambda value: _cell(value, zeros=zeros))


def _cell(value: Any, *, zeros: bool) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short_number(value, zeros=zeros) if isinstance(value, float) else str(value)
