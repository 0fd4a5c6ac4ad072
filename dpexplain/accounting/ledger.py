"""The ledger: what has been released from one data set, and what may still be."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from dpexplain._validation import Adjacency, check_adjacency, check_count
from dpexplain.accounting._fingerprint import recognise
from dpexplain.accounting._ledger_file import LedgerFile
from dpexplain.accounting._ledger_store import LedgerStore
from dpexplain.accounting._ledger_text import ledger_frame, ledger_html, ledger_line, refusal
from dpexplain.accounting._twins import warn_of_twins
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.events import Event
from dpexplain.accounting.ledger_state import LedgerEntry, LedgerState
from dpexplain.accounting.spending import Spending
from dpexplain.accounting.summary import LedgerSummary, ReleaseSet
from dpexplain.exceptions import BudgetError

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.statement import PrivacyStatement

__all__ = ["PrivacyLedger"]

# Ledgers of this process by identity: a pickle that comes back is the ledger it was made from.
_LIVE: WeakValueDictionary[str, PrivacyLedger] = WeakValueDictionary()


class PrivacyLedger:
    """Count what is released from one data set, and refuse what exceeds a cap.

    Pass one ledger to every estimator that is fitted on a data set, on any split of it. The
    total of Gaussian releases is exact; the cap is a filter on the sum of mu squared, which
    holds even if each budget was chosen after looking at the results before.

    Copies and clones of a ledger are the ledger itself, so no copy can spend the budget again.
    Without a file a ledger can be charged in the process that made it only; a second one of the
    same name knows nothing of the first, and says so with a `PrivacyWarning` while both live.

    Parameters
    ----------
    dataset : str
        Name that identifies the data set; all splits of one table share it.
    cap_epsilon : float, default=inf
        Limit of the epsilon of all private charges together.
    delta : float, default=1e-6
        Delta at which the ledger states epsilon.
    path : str or Path, optional
        JSON file that holds the ledger, created if it does not exist. Each charge reads and
        writes it under a lock, so that processes may share it. On a network drive the lock is
        only as good as the drive's.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Which data sets count as neighbours; every charge has to be stated for the same.

    See Also
    --------
    PrivacyLedger.open : Go on with an existing file, with the limits it holds.

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
    ) -> None:
        state = LedgerState(dataset, cap_epsilon, delta, check_adjacency(adjacency))
        self._store = LedgerStore(state, None if path is None else LedgerFile(path))
        self._store.create_or_join()
        self._register(uuid.uuid4().hex)
        warn_of_twins(self, charged=False)

    @classmethod
    def _of(cls, store: LedgerStore, identity: str | None = None) -> PrivacyLedger:
        ledger = cls.__new__(cls)
        ledger._store = store
        ledger._register(identity or uuid.uuid4().hex)
        return ledger

    def _register(self, identity: str) -> None:
        self._identity = identity
        self._has_twin = False
        _LIVE[identity] = self

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PrivacyLedger:
        """Open an existing ledger file with the limits that it holds.

        Parameters
        ----------
        path : str or Path
            File that an earlier ``PrivacyLedger(..., path=path)`` made.

        Returns
        -------
        PrivacyLedger
            A ledger that reads and writes the file.

        Raises
        ------
        BudgetError
            If the file is missing or cannot be read.
        """
        return cls._of(LedgerStore.opened(LedgerFile(path)))

    @property
    def dataset(self) -> str:
        """Name of the data set.

        Returns
        -------
        str
            As given.
        """
        return self._store.known.dataset

    @property
    def cap_epsilon(self) -> float:
        """Limit of the private total.

        Returns
        -------
        float
            Infinite if there is none.
        """
        return self._store.known.cap_epsilon

    @property
    def delta(self) -> float:
        """Delta at which the ledger states epsilon.

        Returns
        -------
        float
            As given.
        """
        return self._store.known.delta

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets count as neighbours.

        Returns
        -------
        str
            ``"add_remove"`` or ``"replace"``.
        """
        return self._store.known.adjacency

    @property
    def path(self) -> str | None:
        """File that holds the ledger.

        Returns
        -------
        str or None
            Absolute path; None for a ledger in memory.
        """
        return None if self._store.file is None else str(self._store.file.path)

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Everything that was charged.

        Returns
        -------
        tuple of LedgerEntry
            Oldest first; a ledger with a file sees the charges of other processes too.
        """
        return self._store.current().entries

    def total_epsilon(self, delta: float | None = None) -> float:
        """Epsilon of everything together.

        Parameters
        ----------
        delta : float, optional
            Delta at which to state it; the ledger's by default.

        Returns
        -------
        float
            Infinite if any charge is not private.
        """
        return self._store.current().total_epsilon(self.delta if delta is None else delta)

    def private_epsilon(self, delta: float | None = None) -> float:
        """Epsilon of all private charges together.

        It describes what leaves only if everything that is not private stays inside.

        Parameters
        ----------
        delta : float, optional
            Delta at which to state it; the ledger's by default.

        Returns
        -------
        float
            Finite.
        """
        return self._store.current().private_epsilon(self.delta if delta is None else delta)

    @property
    def remaining_epsilon(self) -> float:
        """Largest epsilon that one further private fit at the ledger's delta may have.

        Because budgets compose better than they add, this is more than the cap less the total.

        Returns
        -------
        float
            Infinite without a cap, 0 if nothing is left.
        """
        return self._store.current().remaining_epsilon

    def affordable(self, events: Iterable[Event]) -> bool:
        """Whether the cap leaves room for these events.

        Parameters
        ----------
        events : iterable of Event
            Planned releases; events that are not private cost nothing of the cap.

        Returns
        -------
        bool
            False if `charge` would refuse them.
        """
        return self._store.current().affordable([LedgerEntry("planned", tuple(events))])

    def charge(
        self,
        events: Iterable[Event],
        *,
        label: str,
        adjacency: Adjacency | str = "add_remove",
        what: str = "fit",
    ) -> LedgerEntry:
        """Record releases before they are made: all of them or, beyond the cap, none.

        Parameters
        ----------
        events : iterable of Event
            Releases, with noise multipliers stated for `adjacency`.
        label : str
            Who makes them, for a reader.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Must be the ledger's.
        what : str, default="fit"
            Noun for the text of a refusal: "this fit needs ...".

        Returns
        -------
        LedgerEntry
            What was recorded.

        Raises
        ------
        BudgetError
            If the cap would be exceeded, the adjacency is another one, the ledger belongs to
            another process, or its file cannot be read or written. Nothing has changed then.
        ValueError
            If there is no event, or `events` holds something else.
        """
        return self.charge_all([(label, events)], adjacency=adjacency, what=what)[0]

    def charge_all(
        self,
        charges: Iterable[tuple[str, Iterable[Event]]],
        *,
        adjacency: Adjacency | str = "add_remove",
        what: str = "fit",
    ) -> tuple[LedgerEntry, ...]:
        """Record several charges, each an entry of its own: all of them or none.

        Parameters
        ----------
        charges : iterable of (label, events)
            As for `charge`.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Must be the ledger's.
        what : str, default="fit"
            Noun for the text of a refusal: "this sweep needs ...".

        Returns
        -------
        tuple of LedgerEntry
            What was recorded.

        Raises
        ------
        BudgetError, ValueError
            As `charge`. Nothing has changed then.
        """
        entries = tuple(LedgerEntry(label, tuple(events)) for label, events in charges)
        if not entries:
            raise ValueError("nothing is to be charged; pass at least one (label, events).")
        if check_adjacency(adjacency) != self.adjacency:
            raise BudgetError(
                f"this ledger counts for adjacency={self.adjacency!r} and the charge is stated "
                f"for {adjacency!r}, which cannot be added; use one adjacency, or open "
                f"PrivacyLedger(..., adjacency={adjacency!r}). Nothing was charged."
            )
        with self._store.exclusive() as state:
            if not state.affordable(entries):
                raise BudgetError(refusal(state, entries, what))
            self._store.write(state.with_entries(entries))
        warn_of_twins(self, charged=True)
        return entries

    def recognise(self, X: Any, y: Any) -> None:
        """Warn if the same data came under the name of another data set in this process.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Records about to be used; nothing is raised whatever their values are.
        y : array-like of shape (n_samples,)
            Their targets.

        Warns
        -----
        PrivacyWarning
            If the data were seen under another name. Only a keyed hash is kept for this, in
            memory, never in the ledger or its file.
        """
        recognise(X, y, self.dataset)

    def release_set(self, entry_indices: Sequence[int]) -> ReleaseSet:
        """Spend of those entries that are actually published.

        Parameters
        ----------
        entry_indices : sequence of int
            Places of the published entries in `entries`, each at most once.

        Returns
        -------
        ReleaseSet
            Their epsilon together, beside the total, which stands if the choice was made by
            looking at the others.

        Raises
        ------
        ValueError
            If an index is out of range or repeated.
        """
        state = self._store.current()
        spending = Spending.of(self._chosen_events(state, entry_indices), state.adjacency)
        chosen = [state.entries[index] for index in entry_indices]
        private = all(entry.private for entry in chosen)
        return ReleaseSet(
            labels=tuple(entry.label for entry in chosen),
            epsilon=epsilon_of(spending, state.delta) if private else math.inf,
            total_epsilon=state.private_epsilon(state.delta),
            delta=state.delta,
        )

    def summary(self) -> LedgerSummary:
        """State of the ledger as plain data.

        Returns
        -------
        LedgerSummary
            For views, files and reports; it cannot be charged.
        """
        return self._store.current().summary()

    def statement(self, published: Sequence[int] | None = None) -> PrivacyStatement:
        """Say what is promised for a release, for everything fitted, and under which conditions.

        Parameters
        ----------
        published : sequence of int, optional
            Places of the published entries in `entries`; all private ones by default.

        Returns
        -------
        PrivacyStatement
            With ``text()``, ``markdown()`` and ``to_json()``.

        Raises
        ------
        ValueError
            If an index is out of range or repeated.
        """
        from dpexplain.statement import statement_of

        state = self._store.current()
        if published is None:
            return statement_of(state.summary())
        spending = Spending.of(self._chosen_events(state, published), state.adjacency)
        private = all(state.entries[index].private for index in published)
        epsilons = [epsilon_of(s, state.delta) for s in (spending, spending.replaced())]
        one, replaced = epsilons if private else (math.inf, math.inf)
        return statement_of(state.summary(), published, epsilons=(one, replaced))

    @staticmethod
    def _chosen_events(state: LedgerState, entry_indices: Sequence[int]) -> list[Event]:
        indices = [check_count("entry_indices", index, 0) for index in entry_indices]
        if len(set(indices)) < len(indices) or any(i >= len(state.entries) for i in indices):
            raise ValueError(
                f"entry_indices must be different numbers below {len(state.entries)}, the "
                "number of entries; see ledger.frame()."
            )
        return [event for index in indices for event in state.entries[index].events]

    def frame(self) -> pd.DataFrame:
        """Events as a table, oldest first.

        Returns
        -------
        DataFrame
            Columns ``entry`` (place in `entries`), ``label``, ``event``, ``private``,
            ``count``, ``noise_multiplier``, ``mu``, ``epsilon`` (of the event alone) and
            ``private_epsilon`` (of all private events up to this one together).
        """
        return ledger_frame(self._store.current())

    def to_json(self) -> str:
        """Write the ledger as JSON.

        Returns
        -------
        str
            Everything that counts, numbers bit by bit.
        """
        return self._store.current().to_json()

    @classmethod
    def from_json(cls, text: str, path: str | os.PathLike[str] | None = None) -> PrivacyLedger:
        """Make a ledger that goes on where a written one stood.

        The two do not know of each other: go on with one of them only.

        Parameters
        ----------
        text : str
            What `to_json` wrote.
        path : str or Path, optional
            New file for the ledger.

        Returns
        -------
        PrivacyLedger
            A ledger with the same limits and entries.

        Raises
        ------
        ValueError
            If the text is no ledger.
        BudgetError
            If the file exists or cannot be written.
        """
        try:
            state = LedgerState.from_json(text)
        except ValueError as error:
            raise ValueError(f"this text is no ledger: {error}") from None
        store = LedgerStore(state, None if path is None else LedgerFile(path))
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
        return _revived, (self._identity, self._store.known.to_json(), self.path)

    def __repr__(self) -> str:
        try:
            return ledger_line(self.summary())
        except BudgetError as error:
            return f"PrivacyLedger({self.dataset!r}: {error})"

    def _repr_html_(self) -> str:
        return ledger_html(self.summary())


def _revived(identity: str, text: str, path: str | None) -> PrivacyLedger:
    """Unpickle: the ledger itself where it lives; elsewhere its file, or a copy to look at."""
    live = _LIVE.get(identity)
    if live is not None:
        return live
    file = None if path is None else LedgerFile(path)
    store = LedgerStore(LedgerState.from_json(text), file, from_elsewhere=True)
    return PrivacyLedger._of(store, identity)
