"""Current state of a ledger, in memory or in a shared file or database."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from dpexplain._utils.processes import this_process
from dpexplain.accounting._ledger.address import check_not_an_address
from dpexplain.accounting._ledger.database import LedgerRow
from dpexplain.accounting._ledger.file import LedgerFile
from dpexplain.accounting._ledger.place import LedgerPlace, Version
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.exceptions import BudgetError

__all__ = ["LedgerStore", "place_of"]


def place_of(path: str | os.PathLike[str], dataset: str | None = None) -> LedgerPlace:
    """Return the storage at a path or an address.

    Parameters
    ----------
    path : path-like
        Path of a file, or address of a database (which contains ``://``).
    dataset : str or None, default=None
        Data set of the ledger, if the database address does not name it.

    Returns
    -------
    LedgerPlace

    Raises
    ------
    ValueError
        If `path` looks like an address but cannot be parsed; the message never quotes it.
    """
    if isinstance(path, str) and "://" in path:
        return LedgerRow(path, dataset)
    check_not_an_address(path)
    return LedgerFile(path)


class LedgerStore:
    """Ledger state that only one charge at a time can change.

    Parameters
    ----------
    state : LedgerState
        Initial state.
    place : LedgerPlace or None, default=None
        File or row that contains the authoritative state; None if the state exists only in this
        process.
    from_elsewhere : bool, default=False
        Whether the state is a copy of a ledger created in another process.
    """

    def __init__(
        self, state: LedgerState, place: LedgerPlace | None = None, *, from_elsewhere: bool = False
    ) -> None:
        self.known = state  # the last state seen; its only limit that can change is the cap
        self.place = place
        self._from_elsewhere = from_elsewhere
        self._process = this_process()
        self._version: Version = None
        self._lock, self._lock_of = threading.RLock(), this_process()

    @classmethod
    def opened(cls, place: LedgerPlace) -> LedgerStore:
        """Open an existing ledger and adopt its state and limits."""
        return cls(_parsed(place)[0], place)

    def create(self) -> None:
        """Write a new ledger; raise an error if there already is one."""
        if self.place is None:
            return
        self.place.prepare()
        with self.place.exclusive():
            if self.place.exists():
                raise BudgetError(
                    f"{self.place.words} exists; open it with PrivacyLedger.open(path), or choose "
                    "another path."
                )
            self.write(self.known)

    def create_or_join(self) -> None:
        """Write a new ledger, or continue an existing one with the same limits."""
        if self.place is None:
            return
        self.place.prepare()
        with self.place.exclusive():
            if self.place.exists():
                self._join(self.place)
            else:
                self.write(self.known)

    def discard_unused(self) -> None:
        """Remove the stored ledger if no process has added an entry or set a cap."""
        if self.place is None:
            return
        with self.place.exclusive():
            state, _ = _parsed(self.place)
            if not state.entries and math.isinf(state.cap_epsilon):
                self.place.remove()

    def current(self) -> LedgerState:
        """Return the newest state; read the file or row again if it has changed."""
        if self.place is not None and self.place.version() != self._version:
            with self._own_lock():
                self._read(self.place)
        return self.known

    @contextmanager
    def exclusive(self) -> Iterator[LedgerState]:
        """Lock the ledger inside a ``with`` block, and yield its newest state."""
        self._check_home()
        with self._own_lock(), self.place.exclusive() if self.place is not None else nullcontext():
            if self.place is not None:
                self._read(self.place)
            yield self.known

    def write(self, state: LedgerState) -> None:
        """Store the new state; call only inside `exclusive`."""
        if self.place is not None:
            self._version = self.place.write(state.to_json())
        self.known = state

    def _join(self, place: LedgerPlace) -> None:
        """Adopt the stored state; raise an error if its limits are not those requested."""
        state, _ = _parsed(place)
        if state.header != self.known.header:
            raise self._other_limits(place, state)
        self._read(place)

    def _other_limits(self, place: LedgerPlace, state: LedgerState) -> BudgetError:
        return BudgetError(
            f"{place.words} contains {_header_words(state)}, not {_header_words(self.known)}; "
            "PrivacyLedger.open(path) uses the stored limits, and its lower_cap() sets or lowers "
            "the cap. Nothing was charged."
        )

    def _read(self, place: LedgerPlace) -> None:
        """Read the stored ledger.

        Reject it if known charges or released files are missing, or if its limits have changed in a
        way that `PrivacyLedger.lower_cap` does not allow.
        """
        state, version = _parsed(place)
        if not state.follows(self.known):
            raise self._other_limits(place, state)
        before, released = self.known.entries, self.known.releases
        kept = state.entries[: len(before)] == before
        if not kept or state.releases[: len(released)] != released:
            raise place.failure("is missing earlier charges", "restore the newest copy")
        if self.known.cap_at_start not in (None, state.cap_at_start):
            raise self._other_limits(place, state)
        self.known, self._version = state, version

    def _check_home(self) -> None:
        """Reject charges from a process that does not share the ledger's state."""
        forked = self._process != this_process()
        if self.place is None and (forked or self._from_elsewhere):
            raise BudgetError(
                f"this ledger of {self.known.dataset!r} was created in another process, which "
                "would not see the charge; pass path= to share a file or a database. Nothing was "
                "charged."
            )

    def _own_lock(self) -> AbstractContextManager[Any]:
        """Return the lock of this process.

        A forked process gets a new lock, because the parent may hold the old one.
        """
        if self._lock_of != this_process():
            self._lock, self._lock_of = threading.RLock(), this_process()
        return self._lock


def _parsed(place: LedgerPlace) -> tuple[LedgerState, Version]:
    text, version = place.read()
    try:
        state = LedgerState.from_json(text)
        place.check_name(state.dataset)
    except ValueError as error:
        raise BudgetError(
            f"{place.words} is damaged: {error} Restore it from a copy. Nothing was charged."
        ) from None
    return state, version


def _header_words(state: LedgerState) -> str:
    return (
        f"dataset={state.dataset!r} with cap_epsilon={state.cap_epsilon:g}, "
        f"delta={state.delta:g}, adjacency={state.adjacency!r}"
        + ("" if state.unit is None else f", unit={state.unit!r}")
    )
