"""Privacy ledger of one data set."""

from __future__ import annotations

import dataclasses
import math
import os
import uuid
from collections.abc import Iterable
from typing import Any
from weakref import WeakValueDictionary

from dpexplain._utils.validation import Adjacency, check_adjacency
from dpexplain.accounting._ledger.duplicates import warn_of_duplicates
from dpexplain.accounting._ledger.provenance import Provenance, ReleasedFile, utc_day
from dpexplain.accounting._ledger.reading import LedgerReading
from dpexplain.accounting._ledger.serialize import one_spelling
from dpexplain.accounting._ledger.store import LedgerStore, place_of
from dpexplain.accounting._ledger.text import no_bound, refusal
from dpexplain.accounting.events import Event
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.unit import RECORD, Unit, check_unit, same_unit, whole_unit
from dpexplain.exceptions import BudgetError

__all__ = ["PrivacyLedger"]

# Ledgers of this process by identity, so that unpickling here returns the original ledger.
_LIVE: WeakValueDictionary[str, PrivacyLedger] = WeakValueDictionary()


class PrivacyLedger(LedgerReading):
    """Ledger that tracks the privacy budget of one data set and enforces a cap.

    Pass one ledger to every estimator fitted on a data set or any split of it. The total of
    Gaussian releases is exact, and holds for fits whose number and budgets were fixed before any
    result was seen. If results decide which fits follow, `adaptive_epsilon` holds instead. It is
    the cap, if one was set before the first fit (a privacy filter on the sum of the squared mu),
    and otherwise the reading of a privacy odometer.

    Each entry protects a unit: one record, or one person of a named kind. The ledger states a
    finite total for a unit only if it can bound the cost of every entry for this unit; see
    `dpexplain.accounting.Person`.

    Copies and clones of a ledger are the ledger itself, so no copy can spend the budget again. A
    ledger that has no `path` can be charged only in the process that created it. A second ledger
    with the same name is independent of the first, unless both have the same `path`. Creating or
    charging an independent second ledger issues a `PrivacyWarning` if the first one was charged and
    still exists.

    Parameters
    ----------
    dataset : str
        Name that identifies the data set; all splits of one table share it.
    cap_epsilon : float, default=inf
        Limit on the total epsilon of all private charges.
    delta : float, default=1e-6
        Delta at which the ledger states epsilon.
    path : str or Path, optional
        JSON file that stores the ledger, created if it does not exist. Each charge reads and writes
        it under a lock, so processes may share it. On a network drive, the lock is only as reliable
        as the drive's locking. Alternatively, the address of a database (requires the extra
        ``database``), such as ``"postgresql://user@host/database"`` or
        ``"sqlite:////folder/file.db"``; a database can store the ledgers of several data sets.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Which data sets count as neighbors; every charge must be stated for the same adjacency.
    unit : Record, Person or None, default=None
        Unit of the cap and the totals. If None, the cap protects the unit of the first private
        charge, and totals are for the unit that all entries share, or for one record if their units
        differ.
    person, purpose : str, default=""
        Person responsible and purpose, recorded with each charge made through this object.

    See Also
    --------
    PrivacyLedger.open : Open an existing ledger with its stored limits.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent
    >>> ledger = PrivacyLedger("survey-2024", cap_epsilon=2.0)
    >>> entry = ledger.charge([GaussianEvent("counts", noise_multiplier=4.0)], label="counts")
    >>> ledger.total_epsilon()
    1.06...
    """

    def __init__(
        self,
        dataset: str,
        cap_epsilon: float = math.inf,
        delta: float = 1e-6,
        path: str | os.PathLike[str] | None = None,
        *,
        adjacency: Adjacency | str = "add_remove",
        unit: Unit | None = None,
        person: str = "",
        purpose: str = "",
    ) -> None:
        dataset, facts = one_spelling(dataset), Provenance(person=person, purpose=purpose)
        state = LedgerState(
            dataset,
            cap_epsilon,
            delta,
            check_adjacency(adjacency),
            unit=None if unit is None else whole_unit(check_unit(unit)),
        )
        self._store = LedgerStore(state, None if path is None else place_of(path, dataset))
        self._store.create_or_join()
        self._register(uuid.uuid4().hex, facts)
        warn_of_duplicates(self, charged=False)

    @classmethod
    def _of(
        cls, store: LedgerStore, identity: str | None = None, facts: Provenance | None = None
    ) -> PrivacyLedger:
        ledger = cls.__new__(cls)
        ledger._store = store
        ledger._register(identity or uuid.uuid4().hex, facts or Provenance())
        return ledger

    def _register(self, identity: str, facts: Provenance) -> None:
        self._identity, self._facts = identity, facts
        self._has_duplicate = False
        _LIVE[identity] = self

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, person: str = "", purpose: str = ""
    ) -> PrivacyLedger:
        """Open an existing ledger with its stored limits.

        Parameters
        ----------
        path : str or Path
            File or address of an earlier ``PrivacyLedger(..., path=path)``. If a database contains
            several ledgers, the address must end with ``#`` and the name of the data set.
        person, purpose : str, default=""
            Person responsible and purpose, recorded with each charge made through this object.

        Returns
        -------
        PrivacyLedger
            A ledger that reads and writes the file or the row.

        Raises
        ------
        BudgetError
            If the ledger is missing, cannot be read, or was changed by hand.
        ValueError
            If an address cannot be parsed.
        """
        facts = Provenance(person=person, purpose=purpose)
        return cls._of(LedgerStore.opened(place_of(path)), facts=facts)

    def charge(
        self,
        events: Iterable[Event],
        *,
        label: str,
        adjacency: Adjacency | str = "add_remove",
        what: str = "fit",
        unit: Unit = RECORD,
        provenance: Provenance | None = None,
    ) -> LedgerEntry:
        """Charge releases before they are made; reject all of them if they exceed the cap.

        Parameters
        ----------
        events : iterable of Event
            Releases, with noise multipliers stated for `adjacency`.
        label : str
            Name of the source of the releases, such as an estimator.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Must be the adjacency of the ledger.
        what : str, default="fit"
            Noun for the error message: "this fit needs ...".
        unit : Record or Person, default=RECORD
            Unit that the events protect.
        provenance : Provenance or None, default=None
            Public facts about the charge. A missing date is set to today's date in UTC; a missing
            person or purpose is taken from the ledger.

        Returns
        -------
        LedgerEntry
            The recorded entry.

        Raises
        ------
        BudgetError
            If the cap would be exceeded; if the cap protects a unit for which the cost of the
            charge cannot be bounded; if the adjacency differs; if the ledger belongs to another
            process; or if its file or database cannot be read or written. In these cases, nothing
            has changed, with one exception: if the message says that a database stopped responding,
            the charge may have been recorded.
        ValueError
            If there is no event, or `events` contains something that is not an event.
        TypeError
            If `unit` is not a unit.
        """
        charges = [(label, events)]
        return self.charge_all(
            charges, adjacency=adjacency, what=what, unit=unit, provenance=provenance
        )[0]

    def charge_all(
        self,
        charges: Iterable[tuple[str, Iterable[Event]]],
        *,
        adjacency: Adjacency | str = "add_remove",
        what: str = "fit",
        unit: Unit = RECORD,
        provenance: Provenance | None = None,
    ) -> tuple[LedgerEntry, ...]:
        """Charge several entries atomically.

        Parameters
        ----------
        charges : iterable of (label, events)
            Label and events of each entry, as in `charge`.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Must be the adjacency of the ledger.
        what : str, default="fit"
            Noun for the error message: "this sweep needs ...".
        unit : Record or Person, default=RECORD
            Unit that the events protect.
        provenance : Provenance or None, default=None
            Public facts about all entries, as in `charge`.

        Returns
        -------
        tuple of LedgerEntry
            The recorded entries, in the order of `charges`.

        Raises
        ------
        BudgetError, TypeError, ValueError
            As in `charge`; also ValueError if `charges` is empty. Either all entries are recorded
            or none are.
        """
        check_unit(unit)
        facts = self._filled(provenance)
        entries = tuple(LedgerEntry(label, tuple(events), unit, facts) for label, events in charges)
        if not entries:
            raise ValueError("no charges given; pass at least one (label, events).")
        if check_adjacency(adjacency) != self.adjacency:
            raise BudgetError(
                f"this ledger counts for adjacency={self.adjacency!r} and the charge is stated "
                f"for {adjacency!r}, which cannot be added; use one adjacency, or open "
                f"PrivacyLedger(..., adjacency={adjacency!r}). Nothing was charged."
            )
        with self._store.exclusive() as state:
            if not state.affordable(entries):
                raise BudgetError(no_bound(state, entries, what) or refusal(state, entries, what))
            self._store.write(state.with_entries(entries))
        warn_of_duplicates(self, charged=True)
        return entries

    def add_release(
        self, entry: int, sha256: str, provenance: Provenance | None = None
    ) -> ReleasedFile:
        """Record the hash of a released file that belongs to an entry; this costs nothing.

        The hash of a non-private file would let others test guesses about records. Therefore, pass
        only hashes of released files; `dpexplain.certificate.release` checks this.

        Parameters
        ----------
        entry : int
            Index of the entry in `entries`.
        sha256 : str
            SHA-256 hash of the file's bytes, as 64 hexadecimal digits.
        provenance : Provenance or None, default=None
            Public facts about the release, completed as in `charge`.

        Returns
        -------
        ReleasedFile
            The recorded file; the same file is recorded only once per entry and provenance.

        Raises
        ------
        ValueError
            If the entry does not exist or is not private, or the hash is malformed.
        BudgetError
            If the ledger belongs to another process, or its file cannot be read or written.
        """
        released = ReleasedFile(entry, sha256, self._filled(provenance))
        with self._store.exclusive() as state:
            if entry >= len(state.entries) or not state.entries[entry].private:
                raise ValueError(
                    f"entry={entry} must be one of the {len(state.entries)} entries of the ledger, "
                    "and private; see ledger.frame()."
                )
            if released not in state.releases:
                releases = (*state.releases, released)
                self._store.write(dataclasses.replace(state, releases=releases))
        return released

    def _filled(self, provenance: Provenance | None) -> Provenance:
        given = Provenance() if provenance is None else provenance
        return given.filled(self._facts).filled(Provenance(date=utc_day()))

    def lower_cap(self, cap_epsilon: float, *, unit: Unit | None = None) -> None:
        """Set or lower the cap; it can never be raised.

        The new cap is stored in the file or database, and applies to all processes that share it.

        Parameters
        ----------
        cap_epsilon : float
            New limit on the total epsilon of all private charges; must be positive.
        unit : Record, Person or None, default=None
            Unit that the cap protects; None for the unit of the ledger or, if it has none, of its
            first private charge. If the ledger already has a cap, the unit cannot change.

        Raises
        ------
        ValueError
            If `cap_epsilon` is not positive.
        TypeError
            If `unit` is not a unit.
        BudgetError
            If the new limit is above the current cap or below what has been spent, or if the
            current cap protects another unit. In these cases, nothing is changed.

        Notes
        -----
        Later charges stay within the new cap. The guarantee that all charges together stay within a
        cap, even if budgets were chosen after looking at results, holds only for a cap that was set
        before the first charge. Privacy statements therefore still report that cap or, if there was
        none, the reading of the odometer.
        """
        with self._store.exclusive() as state:
            wanted = state.cap_unit() if unit is None else check_unit(unit)
            fixed = state.unit is not None or math.isfinite(state.cap_epsilon)
            if fixed and not same_unit(wanted, state.cap_unit()):
                raise BudgetError(
                    f"unit={wanted!r}: the cap of this ledger protects "
                    f"{state.cap_unit().kind_words}, and continues to do so; omit unit. The cap "
                    "is unchanged."
                )
            lowered = dataclasses.replace(
                state,
                cap_epsilon=cap_epsilon,
                unit=state.unit if fixed or unit is None else whole_unit(wanted),
            )
            if lowered.cap_epsilon > state.cap_epsilon:
                raise BudgetError(
                    f"cap_epsilon={cap_epsilon:g} is above the cap of {state.cap_epsilon:g}, and "
                    "a cap cannot be raised; charge less, or start a new ledger for new data. "
                    "The cap is unchanged."
                )
            spent = state.epsilon_for(wanted, state.delta)
            if spent > lowered.cap_epsilon:
                what = f"the epsilon {spent:.4g} that is already spent; choose at least that"
                if math.isinf(spent):
                    what = (
                        f"what was spent on {wanted.kind_words}, for whom some entries have no "
                        "bound; pass another unit=, such as RECORD"
                    )
                raise BudgetError(
                    f"cap_epsilon={cap_epsilon:g} is below {what}. The cap is unchanged."
                )
            self._store.write(lowered)

    @classmethod
    def from_json(cls, text: str, path: str | os.PathLike[str] | None = None) -> PrivacyLedger:
        """Create a ledger that continues a saved one.

        The new ledger is independent of the saved one; charge only one of them from then on.

        Parameters
        ----------
        text : str
            Output of `to_json`.
        path : str or Path, optional
            New file for the ledger, or address of a database.

        Returns
        -------
        PrivacyLedger
            A ledger with the same limits and entries.

        Raises
        ------
        ValueError
            If the text is not a ledger.
        BudgetError
            If the file exists or cannot be written.
        """
        try:
            state = LedgerState.from_json(text)
        except ValueError as error:
            raise ValueError(f"this text is not a ledger: {error}") from None
        store = LedgerStore(state, None if path is None else place_of(path, state.dataset))
        store.create()
        return cls._of(store)

    # A copy that could be charged on its own would spend the same budget twice.

    def __copy__(self) -> PrivacyLedger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> PrivacyLedger:
        return self

    def __sklearn_clone__(self) -> PrivacyLedger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self._identity, self._store.known.to_json(), self.path, self._facts)


def _revived(
    identity: str, text: str, path: str | None, facts: Provenance | None = None
) -> PrivacyLedger:
    """Restore a pickled ledger.

    If the original ledger still exists in this process, return it. Otherwise, open its file or row.
    If it was in memory, return a copy that cannot be charged.
    """
    live = _LIVE.get(identity)
    if live is not None:
        return live
    place = None if path is None else place_of(path)
    store = LedgerStore(LedgerState.from_json(text), place, from_elsewhere=True)
    return PrivacyLedger._of(store, identity, facts)
