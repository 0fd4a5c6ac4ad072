"""Read-only view of a ledger: limits, entries, totals and statements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dpexplain._utils.validation import Adjacency, check_count
from dpexplain.accounting._ledger.provenance import ReleasedFile
from dpexplain.accounting._ledger.store import LedgerStore
from dpexplain.accounting._ledger.text import ledger_frame, ledger_html, ledger_line
from dpexplain.accounting._units.prices import common_unit
from dpexplain.accounting.events import Event
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.summary import LedgerSummary, ReleaseSet, counted_entries, summary_of
from dpexplain.accounting.unit import RECORD, Unit, check_unit
from dpexplain.exceptions import BudgetError

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.statement import PrivacyStatement

__all__ = ["LedgerReading"]


class LedgerReading:
    """Read-only part of a ledger."""

    _store: LedgerStore

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name in ("reset", "clear", "undo", "remove"):
                raise AttributeError(
                    f"a ledger has no method {name!r}: what was released cannot be taken back. For "
                    "data that are not private, such as simulated ones, start a new PrivacyLedger."
                )
            return object.__getattribute__(self, name)  # raises Python's own error

    @property
    def dataset(self) -> str:
        """Name of the data set.

        Returns
        -------
        str
            Name passed when the ledger was created.
        """
        return self._store.known.dataset

    @property
    def cap_epsilon(self) -> float:
        """Limit on the total epsilon of all private charges.

        Returns
        -------
        float
            The limit; infinite if there is no cap.
        """
        return self._store.current().cap_epsilon

    @property
    def delta(self) -> float:
        """Delta at which the ledger states epsilon.

        Returns
        -------
        float
            Value passed when the ledger was created.
        """
        return self._store.known.delta

    @property
    def adjacency(self) -> Adjacency:
        """Adjacency, which defines when two data sets are neighbors.

        Returns
        -------
        str
            ``"add_remove"`` or ``"replace"``.
        """
        return self._store.known.adjacency

    @property
    def unit(self) -> Unit:
        """Unit of privacy for the totals.

        Returns
        -------
        Record or Person
            The unit of the ledger, if one was set. Otherwise, the unit that all private entries
            share; one record if their units differ or no entry is private.
        """
        return self._store.current().total_unit

    @property
    def path(self) -> str | None:
        """File or database in which the ledger is stored.

        Returns
        -------
        str or None
            Absolute path, or address without the password; None for a ledger in memory.
        """
        return None if self._store.place is None else self._store.place.address

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """All charges, oldest first.

        Returns
        -------
        tuple of LedgerEntry
            The charges of this process and, if the ledger has a path, of all other processes.
        """
        return self._store.current().entries

    @property
    def releases(self) -> tuple[ReleasedFile, ...]:
        """Released files that belong to entries, oldest first.

        Returns
        -------
        tuple of ReleasedFile
            Files recorded by `PrivacyLedger.add_release`.
        """
        return self._store.current().releases

    @property
    def head(self) -> str:
        """Hash of the limits, all entries and all released files.

        Returns
        -------
        str
            The hash, as 64 hexadecimal digits. A copy kept elsewhere, such as on a certificate or
            on paper, can later prove that nothing recorded before that copy was made has changed.
        """
        return self._store.current().head

    def chain_words(self) -> str:
        """Describe the hash chain in a sentence.

        Returns
        -------
        str
        """
        state = self._store.current()
        return f"Chained: {counted_entries(len(state.entries))}; head {state.head}."

    def total_epsilon(self, delta: float | None = None) -> float:
        """Return the total epsilon of all charges.

        Parameters
        ----------
        delta : float, optional
            Delta at which to state epsilon; by default, the delta of the ledger.

        Returns
        -------
        float
            Total epsilon; infinite if any charge is not private.
        """
        return self._store.current().total_epsilon(self.delta if delta is None else delta)

    def private_epsilon(self, delta: float | None = None, *, unit: Unit | None = None) -> float:
        """Return the total epsilon of all private charges, for fits planned in advance.

        The total holds if the number and the budgets of the fits were fixed before any result was
        seen; otherwise, use `adaptive_epsilon`. The total does not cover charges that are not
        private. If the result of such a charge is published, the total is no longer guaranteed.

        Parameters
        ----------
        delta : float, optional
            Delta at which to state epsilon; by default, the delta of the ledger.
        unit : Record or Person, optional
            Unit that the total protects; by default, `PrivacyLedger.unit`.

        Returns
        -------
        float
            Total epsilon; infinite if the cost of a charge cannot be bounded for the unit.
        """
        state = self._store.current()
        for_whom = state.total_unit if unit is None else check_unit(unit)
        return state.epsilon_for(for_whom, self.delta if delta is None else delta)

    @property
    def adaptive_epsilon(self) -> float:
        """Total epsilon of all private charges, valid even for adaptively chosen fits.

        Returns
        -------
        float
            The cap at the time of the first private charge, if a cap was set by then and protects
            `unit`; otherwise, the reading of a privacy odometer. Both hold at the delta of the
            ledger, for `unit`. An odometer may read less than the cap, but to choose the smaller of
            the two would take twice the delta. The result is infinite if the cost of a charge
            cannot be bounded for `unit`.
        """
        state = self._store.current()
        return state.adaptive_epsilon_for(state.total_unit)

    @property
    def remaining_epsilon(self) -> float:
        """Largest epsilon that one more private fit may use at the ledger's delta.

        This is usually more than the cap minus the total, because the epsilons of several fits
        compose to less than their sum.

        Returns
        -------
        float
            The remaining epsilon; infinite if there is no cap, 0 if nothing is left.
        """
        return self._store.current().remaining_epsilon

    def affordable(self, events: Iterable[Event], *, unit: Unit = RECORD) -> bool:
        """Return whether the cap leaves room for these events.

        Parameters
        ----------
        events : iterable of Event
            Planned releases; events that are not private do not use up the cap.
        unit : Record or Person, default=RECORD
            Unit that the events protect.

        Returns
        -------
        bool
            False if `charge` would reject them.
        """
        planned = LedgerEntry("planned", tuple(events), check_unit(unit))
        return self._store.current().affordable([planned])

    def release_set(self, entry_indices: Sequence[int]) -> ReleaseSet:
        """Compute the epsilon of the published entries.

        Parameters
        ----------
        entry_indices : sequence of int
            Indices of the published entries in `entries`, each at most once.

        Returns
        -------
        ReleaseSet
            Total epsilon of the published entries, and total epsilon of all private entries. The
            latter applies if the published entries were chosen after looking at the others.

        Raises
        ------
        ValueError
            If an index is out of range or repeated.
        """
        state = self._store.current()
        chosen = self._chosen(state, entry_indices)
        unit = state.unit or common_unit(chosen) or state.total_unit
        private = all(entry.private for entry in chosen)
        return ReleaseSet(
            labels=tuple(entry.label for entry in chosen),
            epsilon=state.epsilon_for(unit, state.delta, chosen) if private else math.inf,
            total_epsilon=state.epsilon_for(unit, state.delta),
            delta=state.delta,
            unit=unit.kind_words,
        )

    def summary(self) -> LedgerSummary:
        """Return the state of the ledger as plain data.

        Returns
        -------
        LedgerSummary
            Summary for views, files and reports; it cannot be charged.
        """
        return summary_of(self._store.current())

    def statement(self, published: Sequence[int] | None = None) -> PrivacyStatement:
        """Return the privacy statement for the published entries and all fits.

        Parameters
        ----------
        published : sequence of int, optional
            Indices of the published entries in `entries`; by default, all private entries.

        Returns
        -------
        PrivacyStatement
            Statement with the methods ``text()``, ``markdown()`` and ``to_json()``.

        Raises
        ------
        ValueError
            If an index is out of range or repeated.
        """
        from dpexplain.statement import statement_of

        state = self._store.current()
        if published is None:
            return statement_of(summary_of(state))
        chosen = self._chosen(state, published)
        unit = state.unit or common_unit(chosen) or state.total_unit
        one, replaced = math.inf, math.inf
        if all(entry.private for entry in chosen):
            one = state.epsilon_for(unit, state.delta, chosen)
            replaced = state.replace_epsilon_for(unit, state.delta, chosen)
        return statement_of(
            summary_of(state), published, unit=unit.kind_words, epsilons=(one, replaced)
        )

    @staticmethod
    def _chosen(state: LedgerState, entry_indices: Sequence[int]) -> list[LedgerEntry]:
        indices = [check_count("entry_indices", index, 0) for index in entry_indices]
        if len(set(indices)) < len(indices) or any(i >= len(state.entries) for i in indices):
            raise ValueError(
                f"entry_indices must be different numbers below {len(state.entries)}, the "
                "number of entries; see ledger.frame()."
            )
        return [state.entries[index] for index in indices]

    def frame(self) -> pd.DataFrame:
        """Return the events as a table, oldest first.

        Returns
        -------
        DataFrame
            Columns ``entry`` (index in `entries`), ``label``, ``event``, ``unit``, ``private``,
            ``count``, ``noise_multiplier``, ``mu``, ``epsilon`` (of the event alone, for its own
            unit) and ``private_epsilon`` (of all private events up to this one together, for the
            unit of the ledger).
        """
        return ledger_frame(self._store.current())

    def to_json(self) -> str:
        """Return the ledger as JSON.

        Returns
        -------
        str
            JSON text from which the totals can be recomputed; numbers round-trip exactly.
        """
        return self._store.current().to_json()

    def __repr__(self) -> str:
        try:
            return ledger_line(self.summary())
        except BudgetError as error:
            return f"PrivacyLedger({self.dataset!r}: {error})"

    def _repr_html_(self) -> str:
        return ledger_html(self.summary())
