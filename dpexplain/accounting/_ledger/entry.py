"""Entries of a ledger, and their conversion to and from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpexplain._utils.validation import Adjacency, check_in_range, shown
from dpexplain.accounting._ledger.chain import BEFORE
from dpexplain.accounting._ledger.provenance import Provenance, ReleasedFile
from dpexplain.accounting._ledger.serialize import check_unicode
from dpexplain.accounting.accountant import epsilon_of
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
from dpexplain.accounting.unit import (
    RECORD,
    Unit,
    unit_from_dict,
    unit_to_dict,
)

__all__ = [
    "VERSION",
    "LedgerEntry",
    "as_list",
    "check_object",
    "entry_from_dict",
    "entry_to_dict",
    "release_from_dict",
]

VERSION = 5  # of ledger files; no release of the library wrote a smaller number
_TOTALLED = 1e-20, 1e50  # noise multipliers whose squares, also restated for persons, are finite


@dataclass(frozen=True)
class LedgerEntry:
    """One charge: events charged together under one label.

    Parameters
    ----------
    label : str
        Name of what was charged, such as an estimator.
    events : tuple of Event
        The releases; at least one.
    unit : Record or Person, default=RECORD
        Unit of privacy that the noise of the events protects.
    provenance : Provenance, optional
        Date, person responsible, purpose, target and schema hash, if known.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent, LedgerEntry
    >>> entry = LedgerEntry("age model", (GaussianEvent("histograms", noise_multiplier=10),))
    >>> entry.unit.words
    'one record'
    """

    label: str
    events: tuple[Event, ...]
    unit: Unit = RECORD
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label.strip():
            raise ValueError(f"label={shown(self.label)} must name what is charged.")
        if not isinstance(self.unit, Unit):
            raise ValueError(f"unit={shown(self.unit)} must be a unit, such as RECORD.")
        if not isinstance(self.provenance, Provenance):
            raise ValueError(f"provenance={shown(self.provenance)} must be a Provenance.")
        object.__setattr__(self, "events", tuple(self.events))
        if not self.events:
            raise ValueError(f"{self.label!r} charges no event; pass at least one.")
        for event in self.events:
            try:
                check_event(event)
            except TypeError as error:
                raise ValueError(f"{self.label!r} has an unexpected charge: {error}") from None
            _check_can_be_totalled(event)
        texts = [v for event in self.events for v in event_to_dict(event).values()]
        for value in (self.label, *texts):
            check_unicode("label", value)

    @property
    def private(self) -> bool:
        """Whether every event of the entry is private.

        Returns
        -------
        bool
            False if any of them is a `NonPrivateEvent`.
        """
        return not any(isinstance(event, NonPrivateEvent) for event in self.events)

    def spending(self, adjacency: Adjacency) -> Spending:
        """Merge the costs of the entry's private events.

        Parameters
        ----------
        adjacency : {"add_remove", "replace"}
            Adjacency to which the noise multipliers of the events refer.

        Returns
        -------
        Spending
            The merged costs; empty if no event is private.
        """
        return Spending.of(self.events, adjacency)

    @cached_property
    def mu(self) -> float | None:
        """Gaussian-DP parameter of all private events of the entry combined.

        Returns
        -------
        float or None
            The parameter; 0 if there are no private events. The result is None if a private
            event is not Gaussian, because no single parameter then describes all of them.
        """
        spending = self.spending("add_remove")
        return spending.mu if spending.gaussian else None

    def epsilon(self, delta: float, adjacency: Adjacency = "add_remove") -> float:
        """Return the epsilon of this entry alone.

        Parameters
        ----------
        delta : float
            Delta at which to state epsilon.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Adjacency to which the noise multipliers of the events refer.

        Returns
        -------
        float
            Epsilon of all events combined; infinite if any of them is not private.
        """
        return epsilon_of(self.spending(adjacency), delta) if self.private else math.inf


def entry_to_dict(entry: LedgerEntry) -> dict[str, Any]:
    """Convert an entry to plain data for JSON; numbers round-trip exactly."""
    return {
        "label": entry.label,
        "unit": unit_to_dict(entry.unit),
        "events": [event_to_dict(event) for event in entry.events],
        "provenance": entry.provenance.to_dict(),
    }


def entry_from_dict(content: Any) -> LedgerEntry:
    """Parse an entry of a ledger file; reject unknown or missing fields."""
    check_object(content, {"label", "unit", "events", "provenance", BEFORE}, "an entry")
    events = tuple(event_from_dict(event) for event in as_list(content["events"]))
    facts = Provenance.from_dict(content["provenance"])
    return LedgerEntry(content["label"], events, unit_from_dict(content["unit"]), facts)


def release_from_dict(content: Any) -> ReleasedFile:
    """Parse the description of a released file; reject unknown or missing fields."""
    check_object(content, {"entry", "sha256", "provenance", BEFORE}, "a released file")
    facts = Provenance.from_dict(content["provenance"])
    return ReleasedFile(content["entry"], content["sha256"], facts)


def as_list(content: Any) -> list[Any]:
    """Return a list unchanged; raise ValueError for anything else."""
    if not isinstance(content, list):
        raise ValueError(f"expected a list, got {shown(content)}.")
    return content


def check_object(content: Any, fields: set[str], what: str) -> None:
    """Raise ValueError unless the content is an object with exactly these fields."""
    if not isinstance(content, Mapping) or set(content) != fields:
        raise ValueError(f"{what} needs exactly these fields: {', '.join(sorted(fields))}.")


def _check_can_be_totalled(event: Event) -> None:
    """Reject noise so extreme that sums over events would overflow or underflow."""
    if isinstance(event, GaussianEvent | SubsampledGaussianEvent | LaplaceEvent):
        low, high = _TOTALLED
        check_in_range("noise_multiplier", event.noise_multiplier, low, high)
