"""The content of a ledger as an immutable value: sums, limits and the file format.

Everything here is arithmetic on public numbers; `PrivacyLedger` adds the lock and the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpexplain._json import parse
from dpexplain._validation import (
    Adjacency,
    check_adjacency,
    check_delta,
    check_in_range,
    shown,
)
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.cap import Cap
from dpexplain.accounting.events import (
    Event,
    NonPrivateEvent,
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
from dpexplain.accounting.unit import ONE_RECORD

__all__ = ["LedgerEntry", "LedgerState"]

_FORMAT = "dpexplain/ledger"
_VERSION = 2
_WITHOUT_UNITS = 1  # entries of version 1 did not name their unit; one record holds for all


@dataclass(frozen=True)
class LedgerEntry:
    """One charge: what was released together, and under which name.

    Parameters
    ----------
    label : str
        What was charged, for example the name of an estimator.
    events : tuple of Event
        The releases, at least one.
    unit : str, default="one record"
        Whom their noise protects.
    """

    label: str
    events: tuple[Event, ...]
    unit: str = ONE_RECORD

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label.strip():
            raise ValueError(f"label={shown(self.label)} must name what is charged.")
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise ValueError(f"unit={shown(self.unit)} must name whom the charge protects.")
        object.__setattr__(self, "events", tuple(self.events))
        if not self.events:
            raise ValueError(f"{self.label!r} charges no event; pass at least one.")
        for event in self.events:
            try:
                check_event(event)
            except TypeError as error:
                raise ValueError(f"{self.label!r} charges something else: {error}") from None

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
            For which the events are stated.

        Returns
        -------
        Spending
            Empty if none of them is private.
        """
        return Spending.of(self.events, adjacency)

    @cached_property
    def mu(self) -> float | None:
        """Gaussian-DP parameter of the private events of the entry together.

        Returns
        -------
        float or None
            0 if none of them is private; None if no such parameter tells everything, because
            an event is not Gaussian.
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
            For which the events are stated.

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
        Delta at which the ledger speaks, in (0, 1).
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbours.
    entries : tuple of LedgerEntry
        Charges, oldest first.
    """

    dataset: str
    cap_epsilon: float = math.inf
    delta: float = 1e-6
    adjacency: Adjacency = "add_remove"
    entries: tuple[LedgerEntry, ...] = ()

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

    @property
    def header(self) -> tuple[str, float, float, str]:
        """Everything but the charges; a ledger that joins a file must agree with it in this."""
        return self.dataset, self.cap_epsilon, self.delta, self.adjacency

    def follows(self, before: LedgerState) -> bool:
        """Whether the limits are those of an earlier state, or its cap was lowered since."""
        kept = self.dataset, self.delta, self.adjacency
        same = kept == (before.dataset, before.delta, before.adjacency)
        return same and self.cap_epsilon <= before.cap_epsilon

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of all charges."""
        return tuple(event for entry in self.entries for event in entry.events)

    @cached_property
    def spending(self) -> Spending:
        """What all private events amount to."""
        return Spending.of(self.events, self.adjacency)

    @cached_property
    def _spent(self) -> tuple[Spending, ...]:
        return tuple(entry.spending(self.adjacency) for entry in self.entries)

    @property
    def cap(self) -> Cap:
        """Limit of everything private."""
        return Cap(self.cap_epsilon, self.delta)

    @property
    def private(self) -> bool:
        """Whether every entry is private."""
        return all(entry.private for entry in self.entries)

    @property
    def remaining_epsilon(self) -> float:
        """Largest epsilon that one further Gaussian charge may have."""
        return self.cap.remaining(self._spent)

    def private_epsilon(self, delta: float) -> float:
        """Epsilon of all private events together."""
        return epsilon_of(self.spending, delta)

    def replace_epsilon(self, delta: float) -> float:
        """Epsilon of all private events together, if a record is exchanged for another."""
        return epsilon_of(self.spending.replaced(), delta)

    def total_epsilon(self, delta: float) -> float:
        """Epsilon of everything together."""
        return self.private_epsilon(delta) if self.private else math.inf

    def affordable(self, entries: Iterable[LedgerEntry]) -> bool:
        """Whether the cap leaves room for these charges."""
        return self.cap.allows(self._spent, [e.spending(self.adjacency) for e in entries])

    def taken(self, entries: Iterable[LedgerEntry]) -> float:
        """Epsilon that these charges take of the cap."""
        return self.cap.taken(self._spent, [e.spending(self.adjacency) for e in entries])

    def with_entries(self, entries: tuple[LedgerEntry, ...]) -> LedgerState:
        """Append charges."""
        return replace(self, entries=(*self.entries, *entries))

    def summary(self) -> LedgerSummary:
        """State everything in epsilons."""
        alone = [epsilon_of(spending, self.delta) for spending in self._spent]
        return LedgerSummary(
            dataset=self.dataset,
            delta=self.delta,
            adjacency=self.adjacency,
            cap_epsilon=self.cap_epsilon,
            total_epsilon=self.total_epsilon(self.delta),
            private_epsilon=self.private_epsilon(self.delta),
            replace_epsilon=self.replace_epsilon(self.delta),
            naive_epsilon=math.fsum(alone),
            entries=tuple(
                EntrySummary(
                    label=entry.label,
                    epsilon=epsilon if entry.private else math.inf,
                    mu=entry.mu,
                    private=entry.private,
                    events=tuple(event_to_dict(event) for event in entry.events),
                    unit=entry.unit,
                )
                for entry, epsilon in zip(self.entries, alone, strict=True)
            ),
        )

    def to_json(self) -> str:
        """Write everything as JSON; numbers come back bit by bit."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "dataset": self.dataset,
            "cap_epsilon": number_to_json(self.cap_epsilon),
            "delta": self.delta,
            "adjacency": self.adjacency,
            "entries": [
                {
                    "label": entry.label,
                    "unit": entry.unit,
                    "events": [event_to_dict(event) for event in entry.events],
                }
                for entry in self.entries
            ],
        }
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> LedgerState:
        """Read what `to_json` wrote, strictly; anything else is a ValueError."""
        content = parse(text)
        fields = {"format", "version", "dataset", "cap_epsilon", "delta", "adjacency", "entries"}
        _check_object(content, fields, "a ledger")
        if content["format"] != _FORMAT or not _is_version(content["version"]):
            raise ValueError(
                f"the format is {shown(content['format'])}, version {shown(content['version'])}; "
                f"expected {_FORMAT!r}, version {_VERSION} or older."
            )
        units = content["version"] > _WITHOUT_UNITS
        return cls(
            dataset=content["dataset"],
            cap_epsilon=number_from_json(content["cap_epsilon"]),  # type: ignore[arg-type]
            delta=content["delta"],
            adjacency=content["adjacency"],
            entries=tuple(_entry_from_json(entry, units) for entry in _as_list(content["entries"])),
        )


def _is_version(value: object) -> bool:
    return type(value) is int and _WITHOUT_UNITS <= value <= _VERSION


def _entry_from_json(content: Any, with_unit: bool) -> LedgerEntry:
    _check_object(content, {"label", "events"} | ({"unit"} if with_unit else set()), "an entry")
    events = tuple(event_from_dict(event) for event in _as_list(content["events"]))
    return LedgerEntry(content["label"], events, content.get("unit", ONE_RECORD))


def _as_list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise ValueError(f"found {shown(content)} where a list is expected.")
    return content


def _check_object(content: Any, fields: set[str], what: str) -> None:
    if not isinstance(content, Mapping) or set(content) != fields:
        raise ValueError(f"{what} needs exactly these fields: {', '.join(sorted(fields))}.")
