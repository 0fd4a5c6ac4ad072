"""Cost of a release for the unit of privacy that it protects, and for one record.

For the unit that a release protects, the cost follows directly from its events. A release that
protects records promises nothing to persons, and a release that protects persons of one kind
promises nothing to persons of another kind. Any number of the rows might belong to one person whom
the release does not protect, so the cost for such persons has **no bound**. If a release protects
persons, its cost for one record is bounded, but *not* by its cost for one person.

**Choosing rows.** At most k rows of each person are used, chosen at random in secret. Let D' be D
with one more row r of a person p who has m rows in D. Draw the k rows S' of p in D' uniformly at
random. If r is not in S', let S = S'; if it is, let S be S' with r exchanged for a uniform choice
among the rows of p outside S'. Then S is a uniform choice of k rows out of m, just as it would be
drawn from D. (If m < k, all rows are used, and r is added to them.) All other persons keep their
rows. So the fits on D and D' are mixtures, over the same random choices, of pairs of fits that are
equal or differ in one row of p, which is either added or **exchanged for another row**.
Hockey-stick divergences are jointly convex: a bound on every pair also bounds the mixtures. The
exchange cannot be neglected: with k = 1 and m = 1, it has a probability of 1/2.

**The exchange.** Exchanging a row means removing one and adding one. Let a release be stated for k
rows together, where a single row changes a query by at most 1/k of the stated change
(`Person.max_rows`). Then, under add/remove adjacency,

* Gaussian and Laplace sums change by ``v(r) - v(s)``, whose norm is at most 2/k of the stated
  change, so the noise multiplier is multiplied by k/2;
* by group privacy, a pure mechanism costs 2/k of its epsilon;
* a Gaussian release on samples uses either all of a person's rows or none. Whether the rows in use
  sum to v or to v', the norm of the sum is at most the bound for a person. This amounts to
  exchanging one person for another, which the accountants call replace-one. The pair with v' = 0
  does not cost more: a test must then tell a mixture of N(0) and N(1) from N(0), not from a mixture
  of N(0) and N(-1). The former is at least as hard, because N(0) is more likely to exceed any
  threshold than the mixture with N(-1). Releases counted together may therefore all be counted as
  replace-one.

If k = 1, every cost doubles. If there is no k (`max_rows` is None), the costs are those for k = 1.

**Replace-one adjacency.** The record that changes may move from one person to another. Each of the
two then has one row exchanged (or added, or removed), which is 1/k of the stated change, since
the stated change is for k exchanged rows. Together, the two changes again amount to 2/k. In
releases on samples, two persons change at the same time, and no bound is proved here for that case.

**One record exchanged, under add/remove adjacency**, means one removed and one added, which
changes a sum by twice as much; in releases on samples, two persons change, and there is no bound.

For events of any other type, no bound on the cost for one record is known.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from dpexplain._utils.validation import Adjacency
from dpexplain.accounting.events import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.unit import RECORD, Person, Record, Unit, same_unit

__all__ = ["Charged", "common_unit", "exchanged_spending", "spending_for", "without_bound"]


class Charged(Protocol):
    """A charge: events, and the unit whose privacy they cost."""

    @property
    def label(self) -> str:
        """Label of the charge."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Events included in the charge."""

    @property
    def unit(self) -> Unit:
        """Unit of privacy of the events."""


def spending_for(entries: Iterable[Charged], unit: Unit, adjacency: Adjacency) -> Spending | None:
    """Merge the costs of all entries for one unit.

    Parameters
    ----------
    entries : iterable of LedgerEntry
        Entries in any order.
    unit : Unit
        Unit to protect.
    adjacency : {"add_remove", "replace"}
        Adjacency of the entries and of the result.

    Returns
    -------
    Spending or None
        The merged costs; None if the cost of an entry cannot be bounded for the unit.
    """
    events: list[Event] = []
    sampled = False
    for entry in entries:
        priced = _priced(entry, unit, adjacency)
        if priced is None:
            return None
        events += priced
        sampled |= _changes_samples(entry, unit)
    spending = Spending.of(events, adjacency)
    return dataclasses.replace(spending, adjacency="replace") if sampled else spending


def exchanged_spending(
    entries: Sequence[Charged], unit: Unit, adjacency: Adjacency
) -> Spending | None:
    """Merge the costs of all entries for one unit, under replace-one adjacency.

    Parameters
    ----------
    entries : sequence of LedgerEntry
        Entries in any order.
    unit : Unit
        Unit to protect.
    adjacency : {"add_remove", "replace"}
        Adjacency of the entries.

    Returns
    -------
    Spending or None
        The merged costs, stated for replace-one adjacency; None if the cost of an entry cannot be
        bounded for the unit.
    """
    if any(_changes_samples(entry, unit) for entry in entries):
        return None
    spending = spending_for(entries, unit, adjacency)
    return None if spending is None else spending.replaced()


def without_bound(entries: Iterable[Charged], unit: Unit, adjacency: Adjacency) -> tuple[str, ...]:
    """List the entries whose cost cannot be bounded for a unit.

    Parameters
    ----------
    entries : iterable of LedgerEntry
        Entries in any order.
    unit : Unit
        Unit to protect.
    adjacency : {"add_remove", "replace"}
        Adjacency of the entries.

    Returns
    -------
    tuple of str
        Labels of these entries, each listed once.
    """
    labels = (entry.label for entry in entries if _priced(entry, unit, adjacency) is None)
    return tuple(dict.fromkeys(labels))


def common_unit(entries: Iterable[Charged]) -> Unit | None:
    """Return the unit of privacy shared by all private entries.

    Parameters
    ----------
    entries : iterable of LedgerEntry
        Entries in any order; those that have no private event are ignored.

    Returns
    -------
    Unit or None
        The common unit; None if no entry is private, or if the units of the private entries differ.
    """
    found: Unit | None = None
    for entry in entries:
        if _is_spending(entry):
            if found is not None and not same_unit(found, entry.unit):
                return None
            found = found or entry.unit
    return found


def _is_spending(entry: Charged) -> bool:
    return not all(isinstance(event, NonPrivateEvent) for event in entry.events)


def _priced(entry: Charged, unit: Unit, adjacency: Adjacency) -> list[Event] | None:
    """Return the private events restated for a unit; None if this is impossible."""
    private: list[Event] = [e for e in entry.events if not isinstance(e, NonPrivateEvent)]
    if not private or same_unit(entry.unit, unit):
        return private
    if unit != RECORD or not isinstance(entry.unit, Person):
        return None
    share = 2.0 / (entry.unit.max_rows or 1)
    rows = [_row_exchanged(event, share, adjacency) for event in private]
    known = [event for event in rows if event is not None]
    return known if len(known) == len(rows) else None


def _row_exchanged(event: Event, share: float, adjacency: Adjacency) -> Event | None:
    """Convert an event stated for a person into one for exchanging a single row.

    Return None if the cost of the exchange cannot be bounded.
    """
    match event:
        case SubsampledGaussianEvent() if event.sampling_probability < 1.0:
            return event if adjacency == "add_remove" else None
        case GaussianEvent() | LaplaceEvent() | SubsampledGaussianEvent():
            return dataclasses.replace(event, noise_multiplier=event.noise_multiplier / share)
        case DiscreteLaplaceEvent():
            # Rounded up, with a margin for the rounding error of the product.
            sensitivity = math.ceil(event.sensitivity * share * (1.0 + 1e-12))
            return dataclasses.replace(event, sensitivity=sensitivity)
        case PureEvent():
            return dataclasses.replace(event, epsilon=event.epsilon * share)
        case _:
            return None


def _changes_samples(entry: Charged, unit: Unit) -> bool:
    """Return whether one row can change a person's contribution to a sampled release."""
    return (
        isinstance(unit, Record)
        and isinstance(entry.unit, Person)
        and any(
            isinstance(event, SubsampledGaussianEvent) and event.sampling_probability < 1.0
            for event in entry.events
        )
    )
