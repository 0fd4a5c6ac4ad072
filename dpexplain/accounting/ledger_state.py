"""Immutable state of a ledger: totals, limits and file format.

This module only does arithmetic on public numbers; `PrivacyLedger` adds the lock and the file.
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
from dpexplain.accounting._ledger.chain import (
    BEFORE,
    chained,
    check_links,
    digest,
    first_link,
    head_of,
)
from dpexplain.accounting._ledger.entry import (
    VERSION,
    LedgerEntry,
    as_list,
    check_object,
    entry_from_dict,
    entry_to_dict,
    release_from_dict,
)
from dpexplain.accounting._ledger.odometer import odometer_epsilon
from dpexplain.accounting._ledger.provenance import ReleasedFile
from dpexplain.accounting._ledger.serialize import (
    check_unicode,
    number_from_json,
    number_to_json,
)
from dpexplain.accounting._units.prices import (
    common_unit,
    exchanged_spending,
    spending_for,
    without_bound,
)
from dpexplain.accounting._units.totals import UnitTotal
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.cap import Cap
from dpexplain.accounting.events import Event
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.unit import (
    RECORD,
    Person,
    Unit,
    same_unit,
    unit_from_dict,
    unit_to_dict,
)

__all__ = ["LedgerEntry", "LedgerState"]

_FORMAT = "dpexplain/ledger"
_NO_LIMITS = ("format", "version", "entries", "releases", "head")
_ENDLESS = Spending(squared_mu=math.inf)


@dataclass(frozen=True)
class LedgerState:
    """Data set, limits and charges of a ledger at one moment.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    cap_epsilon : float
        Positive limit on the total epsilon of private charges; infinite if there is no limit.
    delta : float
        Delta at which the ledger states epsilon, in (0, 1).
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    entries : tuple of LedgerEntry
        Charges, oldest first.
    unit : Record, Person or None, default=None
        Unit that the cap protects; None for the unit of the first private charge.
    cap_at_start : float or None, default=None
        Cap at the time of the first private charge, which cannot depend on results; None before
        the first private charge.
    releases : tuple of ReleasedFile, default=()
        Released files that belong to entries, oldest first.
    """

    dataset: str
    cap_epsilon: float = math.inf
    delta: float = 1e-6
    adjacency: Adjacency = "add_remove"
    entries: tuple[LedgerEntry, ...] = ()
    unit: Unit | None = None
    cap_at_start: float | None = None
    releases: tuple[ReleasedFile, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, str) or not self.dataset.strip():
            raise ValueError(
                f"dataset={shown(self.dataset)} must be a name that identifies the data set, "
                'such as PrivacyLedger("survey-2024"); all splits of one table share it.'
            )
        check_unicode("dataset", self.dataset)
        cap = check_in_range("cap_epsilon", self.cap_epsilon, 0.0, math.inf, include_low=False)
        object.__setattr__(self, "cap_epsilon", cap)
        object.__setattr__(self, "delta", check_delta(self.delta))
        check_adjacency(self.adjacency)
        if self.cap_at_start is not None:
            check_in_range("cap_at_start", self.cap_at_start, 0.0, math.inf, include_low=False)
        if any(file.entry >= len(self.entries) for file in self.releases):
            raise ValueError("a released file names an entry that does not exist.")

    @property
    def header(self) -> tuple[object, ...]:
        """Limits that must be the same in a new ledger and the stored one it continues."""
        return self.dataset, self.cap_epsilon, self.delta, self.adjacency, self.unit

    def follows(self, before: LedgerState) -> bool:
        """Return whether this state can follow an earlier one.

        The data set, delta and adjacency must be the same, and the cap must not be higher. The unit
        must also be the same, unless the earlier state had neither a unit nor a cap.
        """
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
        """Return the unit that the cap protects if the given charges come next."""
        if self.unit is not None:
            return self.unit
        spending = (e for e in (*self.entries, *charge) if not e.spending(self.adjacency).empty)
        first = next(spending, None)
        return RECORD if first is None else first.unit

    @cached_property
    def total_unit(self) -> Unit:
        """Unit of the totals.

        The unit of the ledger, if one was set. Otherwise, the unit that all private entries share;
        one record if there is no such unit.
        """
        return self.unit or common_unit(self.entries) or RECORD

    def spent(self, unit: Unit, entries: Iterable[LedgerEntry] | None = None) -> list[Spending]:
        """List the cost of each entry for a unit; infinite if it cannot be bounded."""
        chosen = self.entries if entries is None else entries
        return [spending_for([entry], unit, self.adjacency) or _ENDLESS for entry in chosen]

    @property
    def remaining_epsilon(self) -> float:
        """Largest epsilon that one more Gaussian charge can have under the cap."""
        return self.cap.remaining(self.spent(self.cap_unit()))

    def epsilon_for(
        self, unit: Unit, delta: float, entries: Iterable[LedgerEntry] | None = None
    ) -> float:
        """Return the total epsilon for a unit, valid if fits were planned in advance."""
        chosen = self.entries if entries is None else tuple(entries)
        spending = spending_for(chosen, unit, self.adjacency)
        return math.inf if spending is None else epsilon_of(spending, delta)

    def replace_epsilon_for(
        self, unit: Unit, delta: float, entries: Iterable[LedgerEntry] | None = None
    ) -> float:
        """Return the total epsilon of private entries under replace-one adjacency."""
        chosen = self.entries if entries is None else tuple(entries)
        spending = exchanged_spending(chosen, unit, self.adjacency)
        return math.inf if spending is None else epsilon_of(spending, delta)

    def adaptive_epsilon_for(self, unit: Unit) -> float:
        """Return the adaptive epsilon for a unit, based on the initial cap or an odometer."""
        total = self.epsilon_for(unit, self.delta)
        if math.isinf(total) or self.cap_at_start is None:
            return total
        if math.isfinite(self.cap_at_start) and same_unit(unit, self.cap_unit()):
            return self.cap_at_start
        # Because accountants round to grids, the total of a single entry may be slightly larger.
        return max(total, odometer_epsilon(self.spent(unit), self.delta))

    def private_epsilon(self, delta: float) -> float:
        """Return the total epsilon of all private events, in the unit that totals use."""
        return self.epsilon_for(self.total_unit, delta)

    def total_epsilon(self, delta: float) -> float:
        """Return the total epsilon of all charges, in the unit that totals use."""
        return self.private_epsilon(delta) if self.private else math.inf

    def without_bound(
        self, unit: Unit, entries: Iterable[LedgerEntry] | None = None
    ) -> tuple[str, ...]:
        """Return the labels of the entries whose cost cannot be bounded for a unit."""
        chosen = self.entries if entries is None else entries
        return without_bound(chosen, unit, self.adjacency)

    def affordable(self, entries: Sequence[LedgerEntry]) -> bool:
        """Return whether the cap leaves room for the given charges."""
        if math.isinf(self.cap_epsilon):
            return True
        unit = self.cap_unit(entries)
        return self.cap.allows(self.spent(unit), _alike(self.spent(unit, entries)))

    def taken(self, entries: Sequence[LedgerEntry]) -> float:
        """Return the part of the cap that the given charges use; see `Cap.taken`."""
        unit = self.cap_unit(entries)
        return self.cap.taken(self.spent(unit), _alike(self.spent(unit, entries)))

    def with_entries(self, entries: tuple[LedgerEntry, ...]) -> LedgerState:
        """Append charges; the current cap is recorded with the first private charge."""
        spends = any(not entry.spending(self.adjacency).empty for entry in entries)
        start = self.cap_epsilon if spends and self.cap_at_start is None else self.cap_at_start
        return replace(self, entries=(*self.entries, *entries), cap_at_start=start)

    def unit_totals(self) -> tuple[UnitTotal, ...]:
        """Return totals for the ledger's unit, one record and each kind of person.

        Of several unnamed kinds of persons, only the first is included.
        """
        found: list[Unit] = [self.total_unit]
        for unit in (RECORD, *(entry.unit for entry in self.entries if entry.events)):
            if not any(same_unit(unit, known) for known in found):
                found.append(unit)
        unnamed = [unit for unit in found if isinstance(unit, Person) and not unit.named]
        # Several unnamed groupings have no bound, and readers cannot distinguish them: list one.
        return tuple(self._total(unit) for unit in found if unit not in unnamed[1:])

    def _total(self, unit: Unit) -> UnitTotal:
        return UnitTotal(
            unit=unit.kind_words,
            epsilon=self.epsilon_for(unit, self.delta),
            replace_epsilon=self.replace_epsilon_for(unit, self.delta),
            adaptive_epsilon=self.adaptive_epsilon_for(unit),
            unbounded=self.without_bound(unit),
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert the state and its hash chain to plain data for JSON."""
        limits = {
            "dataset": self.dataset,
            "cap_epsilon": number_to_json(self.cap_epsilon),
            "delta": self.delta,
            "adjacency": self.adjacency,
            "unit": None if self.unit is None else unit_to_dict(self.unit),
            "cap_at_start": (
                None if self.cap_at_start is None else number_to_json(self.cap_at_start)
            ),
        }
        entries, last = chained(map(entry_to_dict, self.entries), first_link(limits, "entries"))
        released = (file.to_dict() for file in self.releases)
        releases, latest = chained(released, first_link(limits, "releases"))
        head = head_of(limits, (last, latest), (len(entries), len(releases)))
        format_of = {"format": _FORMAT, "version": VERSION}
        return {**format_of, **limits, "entries": entries, "releases": releases, "head": head}

    @property
    def head(self) -> str:
        """Hash of the limits, all entries and all released files."""
        return str(self.to_dict()["head"])

    def entries_at(self, head: str) -> int | None:
        """Return how many entries the ledger had at a given head; None if it never had it.

        Parameters
        ----------
        head : str
            Head noted while the cap and its unit were those of this state.
        """
        whole = self.to_dict()
        limits = {n: whole[n] for n in whole if n not in _NO_LIMITS}
        lasts = []
        for kind in ("entries", "releases"):
            links = whole[kind]
            end = digest(links[-1]) if links else first_link(limits, kind)
            lasts.append([*(link[BEFORE] for link in links), end])
        n_free = 0  # entries before the first private charge, at which the cap was recorded
        while n_free < len(self.entries) and self.entries[n_free].spending(self.adjacency).empty:
            n_free += 1
        for n_entries in range(len(self.entries), -1, -1):
            held = limits if n_entries > n_free else {**limits, "cap_at_start": None}
            for n_releases in range(len(self.releases), -1, -1):
                ends = (lasts[0][n_entries], lasts[1][n_releases])
                if head_of(held, ends, (n_entries, n_releases)) == head:
                    return n_entries
        return None

    def at(
        self, n_entries: int, n_releases: int, cap_epsilon: float, unit: Unit | None
    ) -> LedgerState:
        """Return an earlier state, with only the first entries and released files.

        Parameters
        ----------
        n_entries, n_releases : int
            Number of entries and number of released files at that time.
        cap_epsilon : float
            Cap at that time, which may have been lowered since.
        unit : Record, Person or None
            Unit of the cap at that time.

        Returns
        -------
        LedgerState
            The earlier state; comparing its head with a recorded one shows whether the ledger
            really was in this state.
        """
        entries = self.entries[:n_entries]
        spends = any(not entry.spending(self.adjacency).empty for entry in entries)
        return replace(
            self,
            entries=entries,
            releases=self.releases[:n_releases],
            cap_epsilon=cap_epsilon,
            unit=unit,
            cap_at_start=self.cap_at_start if spends else None,
        )

    def to_json(self) -> str:
        """Return the state as JSON; numbers round-trip exactly."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> LedgerState:
        """Parse the output of `to_json` strictly; a broken hash chain is an error."""
        content = parse(text)
        if isinstance(content, Mapping):
            _check_format(content.get("format"), content.get("version"))
        fields = {"format", "version", "dataset", "cap_epsilon", "delta", "adjacency", "unit"}
        fields |= {"cap_at_start", "entries", "releases", "head"}
        check_object(content, fields, "a ledger")
        unit, start = content["unit"], content["cap_at_start"]
        state = cls(
            dataset=content["dataset"],
            cap_epsilon=number_from_json(content["cap_epsilon"]),  # type: ignore[arg-type]
            delta=content["delta"],
            adjacency=content["adjacency"],
            entries=tuple(map(entry_from_dict, as_list(content["entries"]))),
            unit=None if unit is None else unit_from_dict(unit),
            cap_at_start=None if start is None else number_from_json(start),  # type: ignore[arg-type]
            releases=tuple(map(release_from_dict, as_list(content["releases"]))),
        )
        if start is None and any(not entry.spending("add_remove").empty for entry in state.entries):
            raise ValueError("cap_at_start is missing, although private charges were made.")
        _check_chain(content, state.to_dict())
        return state


def _check_format(found: object, version: object) -> None:
    """Reject other formats and versions, and say what to do."""
    if found != _FORMAT or type(version) is not int or version != VERSION:
        raise ValueError(
            f"the format is {shown(found)}, version {shown(version)}; expected {_FORMAT!r}, "
            f"version {VERSION}. Smaller versions were never released: start a new ledger, and "
            "charge there what was charged here."
        )


def _check_chain(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare a file with the hash chain computed from its content."""
    check_links(found["entries"], expected["entries"], "entry")
    check_links(found["releases"], expected["releases"], "released file")
    if found["head"] != expected["head"]:
        raise ValueError(
            "the hash chain does not end in the head of the file: the limits (data set, cap, "
            "delta, adjacency, unit), the last entry or the last released file were changed or "
            "removed by hand."
        )


def _alike(charge: list[Spending]) -> list[Spending]:
    """State every part of a charge for replace-one adjacency if any part is."""
    adjacency = max(spending.adjacency for spending in charge)
    return [replace(spending, adjacency=adjacency) for spending in charge]
