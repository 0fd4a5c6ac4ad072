"""Storage of a ledger: one process, or a shared file."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from dpexplain.accounting._ledger.file import LedgerFile, Signature
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.exceptions import BudgetError

__all__ = ["LedgerStore"]


class LedgerStore:
    """Hold the state of a ledger and let one charge at a time change it.

    Parameters
    ----------
    state : LedgerState
        Initial state.
    file : LedgerFile or None, default=None
        File that holds the authoritative state; without one, the state exists only here.
    from_elsewhere : bool, default=False
        Whether the state is a copy of one in another process.
    """

    def __init__(
        self, state: LedgerState, file: LedgerFile | None = None, *, from_elsewhere: bool = False
    ) -> None:
        self.known = state  # the last state seen; of its limits only a cap can be set or lowered
        self.file = file
        self._from_elsewhere = from_elsewhere
        self._process = os.getpid()
        self._signature: Signature | None = None
        self._lock = threading.RLock()

    @classmethod
    def opened(cls, file: LedgerFile) -> LedgerStore:
        """Open an existing file and adopt its state and limits."""
        return cls(_parsed(file), file)

    def create(self) -> None:
        """Write a new file; raise an error if it exists."""
        if self.file is None:
            return
        with self.file.exclusive():
            if self.file.exists():
                raise BudgetError(
                    f"ledger file {str(self.file.path)!r} exists; open it with "
                    "PrivacyLedger.open(path), or choose another path."
                )
            self.write(self.known)

    def create_or_join(self) -> None:
        """Write a new file, or continue an existing one with the same limits."""
        if self.file is None:
            return
        with self.file.exclusive():
            if self.file.exists():
                self._join(self.file)
            else:
                self.write(self.known)

    def discard_unused(self) -> None:
        """Remove the file unless it has a cap, or another process has charged it."""
        if self.file is None:
            return
        with self.file.exclusive():
            state = _parsed(self.file)
            if not state.entries and math.isinf(state.cap_epsilon):
                self.file.path.unlink()

    def current(self) -> LedgerState:
        """Return the newest state, rereading a file that has changed."""
        if self.file is not None and self.file.signature() != self._signature:
            with self._lock:
                self._read(self.file)
        return self.known

    @contextmanager
    def exclusive(self) -> Iterator[LedgerState]:
        """Lock the ledger and return the newest state."""
        self._check_home()
        with self._lock, self.file.exclusive() if self.file is not None else nullcontext():
            if self.file is not None:
                self._read(self.file)
            yield self.known

    def write(self, state: LedgerState) -> None:
        """Store this as the newest state; call only inside `exclusive`."""
        if self.file is not None:
            self.file.write(state.to_json())
            self._signature = self.file.signature()
        self.known = replace(state, chained=True)

    def _join(self, file: LedgerFile) -> None:
        """Adopt the state of a file whose limits match the requested ones."""
        if _parsed(file).header != self.known.header:
            raise self._other_limits(file, _parsed(file))
        self._read(file)

    def _other_limits(self, file: LedgerFile, state: LedgerState) -> BudgetError:
        return BudgetError(
            f"ledger file {str(file.path)!r} holds {_header_words(state)}, not "
            f"{_header_words(self.known)}; PrivacyLedger.open(path) takes the limits from "
            "the file, and its lower_cap() sets or lowers the cap. Nothing was charged."
        )

    def _read(self, file: LedgerFile) -> None:
        """Read the file; reject a different ledger or one that is missing charges."""
        signature = file.signature()
        state = _parsed(file)
        if not state.follows(self.known):
            raise self._other_limits(file, state)
        before, released = self.known.entries, self.known.releases
        kept = state.entries[: len(before)] == before
        if not kept or state.releases[: len(released)] != released:
            raise BudgetError(
                f"ledger file {str(file.path)!r} is missing earlier charges; restore the newest "
                "copy. Nothing was charged."
            )
        if self.known.cap_at_start not in (None, state.cap_at_start):
            raise self._other_limits(file, state)
        self.known, self._signature = state, signature

    def _check_home(self) -> None:
        """Reject charges from a process that does not share the ledger's state."""
        forked = self._process != os.getpid()
        if self.file is None and (forked or self._from_elsewhere):
            raise BudgetError(
                f"this ledger of {self.known.dataset!r} was created in another process, which "
                "would not see the charge; pass path= to share a file. Nothing was charged."
            )
        if forked:  # a thread of the parent may have held the lock when the fork was made
            self._lock, self._process = threading.RLock(), os.getpid()


def _parsed(file: LedgerFile) -> LedgerState:
    text = file.read()
    try:
        return LedgerState.from_json(text)
    except ValueError as error:
        raise BudgetError(
            f"ledger file {str(file.path)!r} is damaged: {error} Restore it from a copy. "
            "Nothing was charged."
        ) from None


def _header_words(state: LedgerState) -> str:
    return (
        f"dataset={state.dataset!r} with cap_epsilon={state.cap_epsilon:g}, "
        f"delta={state.delta:g}, adjacency={state.adjacency!r}"
        + ("" if state.unit is None else f", unit={state.unit!r}")
    )
