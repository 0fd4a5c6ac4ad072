"""Immutable state of a ledger: totals, limits and file format.

Everything here is arithmetic on public numbers; `PrivacyLedger` adds the lock and the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpexplain._utils.json import parse
from dpexplain._utils.validation import (
    Adjacency,
    check_adjacency,
    check_delta,
    check_in_range,
    shown,
)
from dpexplain.accounting._ledger.odometer import odometer_epsilon
from dpexplain.accounting._units.prices import (
    common_unit,
    exchanged_spending,
    spending_for,
    without_bound,
)
from dpexplain.accounting._units.totals import UnitTotal
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.cap import Cap
from dpexplain.accounting.events import (
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    SubsampledGaussianEvent,
    check_event,
    event_from_dict,
    event_to_dict,
)
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.summary import (
    EntrySummary,
    LedgerSummary,
    number_from_json,
    number_to_json,
)
from dpexplain.accounting.unit import (
    RECORD,
    Person,
    Unit,
    same_unit,
    unit_from_dict,
    unit_from_text,
    unit_to_dict,
)

__all__ = ["LedgerEntry", "LedgerState", "state_of_older_summary"]

_FORMAT = "dpexplain/ledger"
_VERSION = 3
_WITHOUT_UNITS = 1  # entries of version 1 did not name their unit
_UNITS_IN_WORDS = 2
_TOTALLED = 1e-20, 1e50  # noise multipliers, whose squares and prices for persons stay floats
_ENDLESS = Spending(squared_mu=math.inf)


@dataclass(frozen=True)
class LedgerEntry:
    """One charge: events released together under one label.

    Parameters
    ----------
    label : str
        What was charged, for example the name of an estimator.
    events : tuple of Event
        The releases, at least one.
    unit : Record or Person, default=RECORD
        Unit that their noise protects.
    """

    label: str
    events: tuple[Event, ...]
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label.strip():
            raise ValueError(f"label={shown(self.label)} must name what is charged.")
        if not isinstance(self.unit, Unit):
            raise ValueError(f"unit={shown(self.unit)} must be a unit, such as RECORD.")
        object.__setattr__(self, "events", tuple(self.events))
        if not self.events:
            raise ValueError(f"{self.label!r} charges no event; pass at least one.")
        for event in self.events:
            try:
                check_event(event)
            except TypeError as error:
                raise ValueError(f"{self.label!r} has an unexpected charge: {error}") from None
            _check_can_be_totalled(event)

    @property
    def private(self) -> bool:
        """Whether every event of the entry is private.

        Returns
        -------
        bool
            False if one of them is a `NonPrivateEvent`.
        """
        return not any(isinstance(event, NonPrivateEvent) for event in self.events)

    def spending(self, adjacency: Adjacency) -> Spending:
        """Merge the private events of the entry.

        Parameters
        ----------
        adjacency : {"add_remove", "replace"}
            Adjacency for which the events are stated.

        Returns
        -------
        Spending
            Empty if none of them is private.
        """
        return Spending.of(self.events, adjacency)

    @cached_property
    def mu(self) -> float | None:
        """Gaussian-DP parameter of the entry's private events, composed.

        Returns
        -------
        float or None
            0 if none of them is private; None if no such parameter describes all events, because
            one is not Gaussian.
        """
        spending = self.spending("add_remove")
        return spending.mu if spending.gaussian else None

    def epsilon(self, delta: float, adjacency: Adjacency = "add_remove") -> float:
        """Epsilon of the entry alone.

        Parameters
        ----------
        delta : float
            Delta at which it is stated.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Adjacency for which the events are stated.

        Returns
        -------
        float
            Infinite if an event is not private.
        """
        return epsilon_of(self.spending(adjacency), delta) if self.private else math.inf


@dataclass(frozen=True)
class LedgerState:
    """Data set, limits and charges of a ledger at one moment.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    cap_epsilon : float
        Limit of the private total, positive; infinite for none.
    delta : float
        Delta at which the ledger states epsilon, in (0, 1).
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    entries : tuple of LedgerEntry
        Charges, oldest first.
    unit : Record, Person or None, default=None
        Unit that the cap protects; None for the unit of the first private charge.
    cap_at_start : float or None, default=None
        Cap at the first private charge, which therefore cannot depend on results; None before the
        first private charge.
    """

    dataset: str
    cap_epsilon: float = math.inf
    delta: float = 1e-6
    adjacency: Adjacency = "add_remove"
    entries: tuple[LedgerEntry, ...] = ()
    unit: Unit | None = None
    cap_at_start: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, str) or not self.dataset.strip():
            raise ValueError(
                f"dataset={shown(self.dataset)} must be a name that identifies the data set, "
                'such as PrivacyLedger("survey-2024"); all splits of one table share it.'
            )
        cap = check_in_range("cap_epsilon", self.cap_epsilon, 0.0, math.inf, include_low=False)
        object.__setattr__(self, "cap_epsilon", cap)
        object.__setattr__(self, "delta", check_delta(self.delta))
        check_adjacency(self.adjacency)
        if self.cap_at_start is not None:
            check_in_range("cap_at_start", self.cap_at_start, 0.0, math.inf, include_low=False)

    @property
    def header(self) -> tuple[object, ...]:
        """Limits that a ledger must match to join a file."""
        return self.dataset, self.cap_epsilon, self.delta, self.adjacency, self.unit

    def follows(self, before: LedgerState) -> bool:
        """Whether the limits equal an earlier state's, except for a lowered cap."""
        kept = self.dataset, self.delta, self.adjacency
        same = kept == (before.dataset, before.delta, before.adjacency)
        free = before.unit is None and math.isinf(before.cap_epsilon)
        kept_unit = free or self.unit == before.unit
        return same and kept_unit and self.cap_epsilon <= before.cap_epsilon

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of all charges."""
        return tuple(event for entry in self.entries for event in entry.events)

    @property
    def cap(self) -> Cap:
        """Limit on all private charges."""
        return Cap(self.cap_epsilon, self.delta)

    @property
    def private(self) -> bool:
        """Whether every entry is private."""
        return all(entry.private for entry in self.entries)

    def cap_unit(self, charge: Iterable[LedgerEntry] = ()) -> Unit:
        """Return the unit the cap protects if these charges come next."""
        if self.unit is not None:
            return self.unit
        spending = (e for e in (*self.entries, *charge) if not e.spending(self.adjacency).empty)
        first = next(spending, None)
        return RECORD if first is None else first.unit

    @cached_property
    def total_unit(self) -> Unit:
        """Unit of the totals: the ledger's, that of all entries, or one record."""
        return self.unit or common_unit(self.entries) or RECORD

    def spent(self, unit: Unit, entries: Iterable[LedgerEntry] | None = None) -> list[Spending]:
        """List the cost of each entry for a unit; infinite without a bound."""
        chosen = self.entries if entries is None else entries
        return [spending_for([entry], unit, self.adjacency) or _ENDLESS for entry in chosen]

    @property
    def remaining_epsilon(self) -> float:
        """Return the largest epsilon for one more Gaussian charge for the cap's unit."""
        return self.cap.remaining(self.spent(self.cap_unit()))

    def epsilon_for(
        self, unit: Unit, delta: float, entries: Iterable[LedgerEntry] | None = None
    ) -> float:
        """Return the private epsilon of entries for a unit, if planned in advance."""
        chosen = self.entries if entries is None else tuple(entries)
        spending = spending_for(chosen, unit, self.adjacency)
        return math.inf if spending is None else epsilon_of(spending, delta)

    def replace_epsilon_for(
        self, unit: Unit, delta: float, entries: Iterable[LedgerEntry] | None = None
    ) -> float:
        """Return the private epsilon of entries under replace-one adjacency."""
        chosen = self.entries if entries is None else tuple(entries)
        spending = exchanged_spending(chosen, unit, self.adjacency)
        return math.inf if spending is None else epsilon_of(spending, delta)

    def adaptive_epsilon_for(self, unit: Unit) -> float:
        """Return the adaptive epsilon for a unit, from the initial cap or an odometer."""
        total = self.epsilon_for(unit, self.delta)
        if math.isinf(total) or self.cap_at_start is None:
            return total
        if math.isfinite(self.cap_at_start) and same_unit(unit, self.cap_unit()):
            return self.cap_at_start
        # The grids of accountants may leave the total of a single entry a hair above.
        return max(total, odometer_epsilon(self.spent(unit), self.delta))

    def private_epsilon(self, delta: float) -> float:
        """Total epsilon of all private events, for the unit of totals."""
        return self.epsilon_for(self.total_unit, delta)

    def total_epsilon(self, delta: float) -> float:
        """Total epsilon of all charges, for the unit of totals."""
        return self.private_epsilon(delta) if self.private else math.inf

    def without_bound(
        self, unit: Unit, entries: Iterable[LedgerEntry] | None = None
    ) -> tuple[str, ...]:
        """Return the labels of entries without a bound for a unit."""
        chosen = self.entries if entries is None else entries
        return without_bound(chosen, unit, self.adjacency)

    def affordable(self, entries: Sequence[LedgerEntry]) -> bool:
        """Whether the cap leaves room for these charges."""
        if math.isinf(self.cap_epsilon):
            return True
        unit = self.cap_unit(entries)
        return self.cap.allows(self.spent(unit), _alike(self.spent(unit, entries)))

    def taken(self, entries: Sequence[LedgerEntry]) -> float:
        """Return the share of the cap that these charges use, as an epsilon."""
        unit = self.cap_unit(entries)
        return self.cap.taken(self.spent(unit), _alike(self.spent(unit, entries)))

    def with_entries(self, entries: tuple[LedgerEntry, ...]) -> LedgerState:
        """Append charges; the first private one records the current cap."""
        spends = any(not entry.spending(self.adjacency).empty for entry in entries)
        start = self.cap_epsilon if spends and self.cap_at_start is None else self.cap_at_start
        return replace(self, entries=(*self.entries, *entries), cap_at_start=start)

    def summary(self) -> LedgerSummary:
        """Summarize the state in epsilons."""
        units = self._unit_totals()
        alone = [epsilon_of(entry.spending(self.adjacency), self.delta) for entry in self.entries]
        naive = [epsilon_of(spending, self.delta) for spending in self.spent(self.total_unit)]
        return LedgerSummary(
            dataset=self.dataset,
            delta=self.delta,
            adjacency=self.adjacency,
            cap_epsilon=self.cap_epsilon,
            total_epsilon=self.total_epsilon(self.delta),
            private_epsilon=units[0].epsilon,
            replace_epsilon=units[0].replace_epsilon,
            naive_epsilon=math.fsum(naive),
            entries=tuple(
                EntrySummary(
                    label=entry.label,
                    epsilon=epsilon if entry.private else math.inf,
                    mu=entry.mu,
                    private=entry.private,
                    events=tuple(event_to_dict(event) for event in entry.events),
                    unit=entry.unit.words,
                )
                for entry, epsilon in zip(self.entries, alone, strict=True)
            ),
            unit=self.total_unit.kind_words,
            adaptive_epsilon=units[0].adaptive_epsilon,
            units=units,
        )

    def _unit_totals(self) -> tuple[UnitTotal, ...]:
        """Return totals for the ledger's unit, one record and each kind of person."""
        found: list[Unit] = [self.total_unit]
        for unit in (RECORD, *(entry.unit for entry in self.entries if entry.events)):
            if not any(same_unit(unit, known) for known in found):
                found.append(unit)
        unnamed = [unit for unit in found if isinstance(unit, Person) and not unit.named]
        # Several groupings without a name have no bound each, and no reader can tell them apart.
        return tuple(self._total(unit) for unit in found if unit not in unnamed[1:])

    def _total(self, unit: Unit) -> UnitTotal:
        return UnitTotal(
            unit=unit.kind_words,
            epsilon=self.epsilon_for(unit, self.delta),
            replace_epsilon=self.replace_epsilon_for(unit, self.delta),
            adaptive_epsilon=self.adaptive_epsilon_for(unit),
            unbounded=self.without_bound(unit),
        )

    def to_json(self) -> str:
        """Write the state as JSON; numbers round-trip exactly."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "dataset": self.dataset,
            "cap_epsilon": number_to_json(self.cap_epsilon),
            "delta": self.delta,
            "adjacency": self.adjacency,
            "unit": None if self.unit is None else unit_to_dict(self.unit),
            "cap_at_start": (
                None if self.cap_at_start is None else number_to_json(self.cap_at_start)
            ),
            "entries": [
                {
                    "label": entry.label,
                    "unit": unit_to_dict(entry.unit),
                    "events": [event_to_dict(event) for event in entry.events],
                }
                for entry in self.entries
            ],
        }
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> LedgerState:
        """Read the output of `to_json` strictly."""
        content = parse(text)
        version: Any = content.get("version") if isinstance(content, Mapping) else None
        fields = {"format", "version", "dataset", "cap_epsilon", "delta", "adjacency", "entries"}
        if version == _VERSION:
            fields |= {"unit", "cap_at_start"}
        _check_object(content, fields, "a ledger")
        if content["format"] != _FORMAT or not _is_version(version):
            raise ValueError(
                f"the format is {shown(content['format'])}, version {shown(version)}; "
                f"expected {_FORMAT!r}, version {_VERSION} or older."
            )
        entries = tuple(
            _entry_from_json(entry, version, place)
            for place, entry in enumerate(_as_list(content["entries"]))
        )
        unit = content.get("unit")
        start = content.get("cap_at_start") or _start_unknown(entries)
        return cls(
            dataset=content["dataset"],
            cap_epsilon=number_from_json(content["cap_epsilon"]),  # type: ignore[arg-type]
            delta=content["delta"],
            adjacency=content["adjacency"],
            entries=entries,
            unit=None if unit is None else unit_from_dict(unit),
            cap_at_start=None if start is None else number_from_json(start),  # type: ignore[arg-type]
        )


def state_of_older_summary(
    content: Mapping[str, Any], entries: Sequence[EntrySummary]
) -> LedgerState:
    """Rebuild the state behind an older summary that states its units in words.

    Parameters
    ----------
    content : mapping
        Limits of the ledger.
    entries : sequence of EntrySummary
        Its charges.

    Returns
    -------
    LedgerState
        With units read like those of an older ledger file, never as a stronger guarantee.
    """
    found = tuple(
        LedgerEntry(
            entry.label,
            tuple(event_from_dict(event) for event in entry.events),
            unit_from_text(entry.unit, place),
        )
        for place, entry in enumerate(entries)
    )
    return LedgerState(
        dataset=content["dataset"],
        cap_epsilon=number_from_json(content["cap_epsilon"]),  # type: ignore[arg-type]
        delta=content["delta"],
        adjacency=content["adjacency"],
        entries=found,
        cap_at_start=_start_unknown(found),
    )


def _start_unknown(entries: Sequence[LedgerEntry]) -> float | None:
    """Mark the cap at the first private charge as unknown, if there was a charge."""
    return math.inf if any(not entry.spending("add_remove").empty for entry in entries) else None


def _check_can_be_totalled(event: Event) -> None:
    """Reject noise so weak or so strong that sums over events would leave the range of floats."""
    if isinstance(event, GaussianEvent | SubsampledGaussianEvent | LaplaceEvent):
        low, high = _TOTALLED
        check_in_range("noise_multiplier", event.noise_multiplier, low, high)


def _alike(charge: list[Spending]) -> list[Spending]:
    """Restate all events of a charge as replace-one if any of them is."""
    adjacency = max(spending.adjacency for spending in charge)
    return [replace(spending, adjacency=adjacency) for spending in charge]


def _is_version(value: object) -> bool:
    return type(value) is int and _WITHOUT_UNITS <= value <= _VERSION


def _entry_from_json(content: Any, version: int, place: int) -> LedgerEntry:
    named = {"unit"} if version > _WITHOUT_UNITS else set()
    _check_object(content, {"label", "events"} | named, "an entry")
    events = tuple(event_from_dict(event) for event in _as_list(content["events"]))
    if version > _UNITS_IN_WORDS:
        unit = unit_from_dict(content["unit"])
    else:
        unit = unit_from_text(content.get("unit"), place)
    return LedgerEntry(content["label"], events, unit)


def _as_list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise ValueError(f"expected a list, got {shown(content)}.")
    return content


def _check_object(content: Any, fields: set[str], what: str) -> None:
    if not isinstance(content, Mapping) or set(content) != fields:
        raise ValueError(f"{what} needs exactly these fields: {', '.join(sorted(fields))}.")
