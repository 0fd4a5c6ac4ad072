"""Text output of a ledger: error messages, event table and HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.events import (
    Event,
    NonPrivateEvent,
    PureEvent,
    event_from_dict,
    event_words,
)
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.summary import LedgerSummary, counted_entries
from dpexplain.accounting.unit import Person

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ledger_frame", "ledger_html", "ledger_line", "no_bound", "refusal"]

_COLUMNS = [
    "entry",
    "label",
    "event",
    "unit",
    "private",
    "count",
    "noise_multiplier",
    "mu",
    "epsilon",
    "private_epsilon",
]


def refusal(state: LedgerState, entries: Sequence[LedgerEntry], what: str) -> str:
    """Format the error message for a charge that exceeds what is left of the cap."""
    needed = _decimal(state.taken(entries), up=True)
    left = _decimal(state.remaining_epsilon, up=False)
    # The cap minus the total is less than what is left, unless nothing or everything is spent.
    unit = state.cap_unit(entries)
    spent = state.epsilon_for(unit, state.delta)
    difference = state.cap_epsilon - spent
    more = state.remaining_epsilon - difference > 0.005 * state.cap_epsilon
    why = " (budgets compose, so more is left than the cap minus the total)" if more else ""
    whom = f" for {unit.words}" * any(entry.unit != unit for entry in entries)
    return (
        f"this {what} needs epsilon={needed} at delta={state.delta:g}{whom}, but {left} of "
        f"{_decimal(state.cap_epsilon, up=False)} is left in the ledger{why}; lower epsilon."
    )


def no_bound(state: LedgerState, entries: Sequence[LedgerEntry], what: str) -> str:
    """Format the error message for charges that do not protect the unit of the cap.

    The message is empty if the cost of every charge can be bounded for this unit.
    """
    unit = state.cap_unit(entries)
    if not state.without_bound(unit, entries):
        return ""
    protects = next(entry.unit for entry in entries if state.without_bound(unit, [entry]))
    advice = "open a ledger with unit=RECORD, for which both have a bound"
    if isinstance(unit, Person) and unit.named:
        advice = (
            f"pass max_rows_per_person= and groups={unit.kind!r}, or (name, array), to the fit, or "
            f"--max-rows-per-person and --groups in a shell; or {advice}"
        )
    elif isinstance(unit, Person):
        advice = (
            "start a new ledger, and name the grouping: groups='patient_id' or (name, array); or "
            f"{advice}"
        )
    return (
        f"this {what} protects {protects.words}, but the cap of the ledger protects "
        f"{unit.kind_words}, for which this {what} has no bound; {advice}. Nothing was charged."
    )


def ledger_frame(state: LedgerState) -> pd.DataFrame:
    """List the events, oldest first, with the cost of each and the running total."""
    import pandas as pd

    rows: list[tuple[object, ...]] = []
    seen: list[LedgerEntry] = []
    for place, entry in enumerate(state.entries):
        for event in entry.events:
            seen.append(LedgerEntry(entry.label, (event,), entry.unit))
            together = state.epsilon_for(state.total_unit, state.delta, seen)
            cost = _cost(event, state)
            rows.append((place, entry.label, event.label, entry.unit.words, *cost, together))
    return pd.DataFrame(rows, columns=_COLUMNS)


def ledger_line(summary: LedgerSummary) -> str:
    """Summarize the ledger in one line."""
    cap = "" if math.isinf(summary.cap_epsilon) else f" of {summary.cap_epsilon:g}"
    open_entries = sum(not entry.private for entry in summary.entries)
    outside = f"{counted_entries(open_entries)} NOT PRIVATE" if open_entries else ""
    if outside and not summary.n_private:
        words = f"{outside}, no private release; epsilon is infinite"
    else:
        count = f"{counted_entries(summary.n_private)}{' with private releases' if outside else ''}"
        total = f"epsilon {upper_number(summary.private_epsilon)}{cap} at delta {summary.delta:g}"
        if math.isfinite(summary.adaptive_epsilon) and summary.n_private:
            total += f" if fixed in advance, else {upper_number(summary.adaptive_epsilon)}"
        if math.isinf(summary.private_epsilon):
            total = f"no bound for {summary.unit}"
        words = f"{count}, {total}"
        words += f"; {outside}" if outside else ""
    return f"PrivacyLedger({summary.dataset!r}, {words})"


def ledger_html(summary: LedgerSummary) -> str:
    """Format the ledger as an HTML table; all names are escaped."""
    rows = "".join(
        f"<tr><td>{html.escape(entry.label)}</td><td>{html.escape(entry.unit)}</td>"
        f"<td>{_events_html(entry.events)}</td>"
        f"<td>{upper_number(entry.epsilon) if entry.private else 'NOT PRIVATE'}</td></tr>"
        for entry in summary.entries
    )
    return (
        f"<p>{html.escape(summary.words())}</p><table><thead><tr><th>charge</th>"
        f"<th>protects</th><th>releases</th><th>epsilon alone</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _events_html(events: Iterable[dict[str, Any]]) -> str:
    words = (f"{event['label']}: {event_words(event_from_dict(event))}" for event in events)
    return "<br>".join(html.escape(text) for text in words)


def _cost(event: Event, state: LedgerState) -> tuple[bool, int, float, float, float]:
    """Return one event's values in the columns ``private`` to ``epsilon``."""
    if isinstance(event, NonPrivateEvent):
        return False, 1, 0.0, math.inf, math.inf
    spending = Spending.of([event], state.adjacency)
    multiplier = math.nan if isinstance(event, PureEvent) else event.noise_multiplier
    mu = spending.mu if spending.gaussian else math.nan
    return True, event.count, multiplier, mu, epsilon_of(spending, state.delta)


def _decimal(value: float, *, up: bool) -> str:
    """Format a number with at least two decimals, rounded up or down."""
    places = 2 if value >= 0.1 or value == 0 else 2 - math.floor(math.log10(value))
    scaled = value * 10**places
    nearest = round(scaled)
    # A cap of 2.0 that was converted to mu and back may be 1.9999999, but is shown as 2.0.
    steps = nearest if abs(scaled - nearest) < 1e-5 else math.ceil(scaled) if up else int(scaled)
    return f"{steps / 10**places:.{places}f}"
