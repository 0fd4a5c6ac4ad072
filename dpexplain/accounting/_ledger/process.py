"""Ledgers of this process: one per table that fits name, and one of fits that name none."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpexplain._utils.validation import Adjacency, check_adjacency, shown
from dpexplain.accounting._ledger.duplicates import WITHOUT_A_LEDGER
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.exceptions import BudgetError

__all__ = ["check_ledger", "ledgers_of", "named_ledger", "process_ledger", "unlisted"]

_LOCK = threading.Lock()
_LEDGERS: dict[tuple[str | None, str], PrivacyLedger] = {}  # by table, or by adjacency
_PROCESS = os.getpid()
_UNLISTED = ContextVar("unlisted", default=False)


def _unlock() -> None:
    """Replace the lock in a forked process, in which no thread is left to release it."""
    global _LOCK
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_unlock)


def process_ledger(
    dataset: str | None = None, *, adjacency: Adjacency | str = "add_remove"
) -> PrivacyLedger:
    """Return the ledger of this process for a table, or for all fits without a ledger.

    ``ledger="stays"`` in a model charges ``process_ledger("stays")``, an ordinary ledger in
    memory: what it holds is public, and it ends with the process. Models with ``ledger=None``
    each count alone, and are listed together in ``process_ledger()``. Its total is what they cost
    if all of them used the same records.

    Parameters
    ----------
    dataset : str or None, default=None
        Name of a table. None means fits without a ledger.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        For a table, used if its ledger begins here. Fits without a ledger are listed apart for each
        adjacency, because the two cannot be added.

    Returns
    -------
    PrivacyLedger
        The same one at every call. It has no cap until ``lower_cap`` sets one.

    Raises
    ------
    ValueError
        If the name is blank or looks like a file.
    BudgetError
        If a table is named in a worker process, such as joblib starts: the parent process would not
        see what is charged here.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent
    >>> ledger = process_ledger("survey-2024")
    >>> ledger.lower_cap(3.0)
    >>> entry = ledger.charge([GaussianEvent("counts", noise_multiplier=4.0)], label="counts")
    >>> process_ledger("survey-2024").total_epsilon()
    1.06...
    """
    if dataset is not None:
        return named_ledger(dataset, adjacency=adjacency)
    checked = check_adjacency(adjacency)
    # A forked process lists its own: it has a copy of the parent's list, which it may not charge.
    return _found((None, f"{checked} {os.getpid()}"), WITHOUT_A_LEDGER, 1e-6, checked)


def check_ledger(given: object) -> None:
    """Check the parameter ``ledger`` of a model.

    Parameters
    ----------
    given : object
        The value.

    Raises
    ------
    TypeError
        If it is neither a ledger, nor a name, nor None.
    ValueError
        If the name is blank or looks like a file.
    BudgetError
        If it is a name and this is a worker process.
    """
    if given is None or isinstance(given, PrivacyLedger):
        return
    if not isinstance(given, str):
        raise TypeError(
            f"ledger is a {type(given).__name__}; expected a dpexplain.PrivacyLedger, or the name "
            "of a table."
        )
    if not given.strip() or "/" in given or "\\" in given or given.endswith((".json", ".db")):
        raise ValueError(
            f"ledger={shown(given)} must be the name of a table, such as 'survey-2024'; for a file "
            "or a database, pass PrivacyLedger.open(...)."
        )
    if os.getpid() != _PROCESS or multiprocessing.parent_process() is not None:
        raise BudgetError(
            f"ledger={given!r} is kept by the parent process, which would not see a charge of this "
            "worker process; use n_jobs=1 or threads, or pass PrivacyLedger(name, path=...). "
            "Nothing was charged."
        )


def named_ledger(
    given: PrivacyLedger | str, *, delta: float = 1e-6, adjacency: str = "add_remove"
) -> PrivacyLedger:
    """Return the ledger that a parameter ``ledger`` means.

    Parameters
    ----------
    given : PrivacyLedger or str
        A ledger, or the name of a table.
    delta : float, default=1e-6
        Delta of a ledger that begins here.
    adjacency : str, default="add_remove"
        Adjacency of a ledger that begins here.

    Returns
    -------
    PrivacyLedger

    Raises
    ------
    TypeError, ValueError, BudgetError
        As for `check_ledger`.
    """
    check_ledger(given)
    if isinstance(given, PrivacyLedger):
        return given
    return _found((given, ""), given, delta, check_adjacency(adjacency))


def ledgers_of(
    given: PrivacyLedger | str | None, *, delta: float, adjacency: str, alone: str
) -> tuple[PrivacyLedger, ...]:
    """Return what a fit or a sweep charges: its ledger, and where it has none, also the list.

    Parameters
    ----------
    given : PrivacyLedger, str or None
        Parameter ``ledger``.
    delta : float
        Delta of a ledger that begins here.
    adjacency : str
        Adjacency of a ledger that begins here.
    alone : str
        Name of the ledger if none is given.

    Returns
    -------
    tuple of PrivacyLedger
        To be charged in this order; the last one is that of the fit.
    """
    if given is not None:
        return (named_ledger(given, delta=delta, adjacency=adjacency),)
    own = PrivacyLedger(alone, delta=delta, adjacency=adjacency)
    return (own,) if _UNLISTED.get() else (process_ledger(adjacency=adjacency), own)


@contextmanager
def unlisted() -> Iterator[None]:
    """Leave fits without a ledger out of the list: they were charged before, or read public data.

    Yields
    ------
    None
    """
    token = _UNLISTED.set(True)
    try:
        yield
    finally:
        _UNLISTED.reset(token)


def _found(
    key: tuple[str | None, str], dataset: str, delta: float, adjacency: Adjacency
) -> PrivacyLedger:
    with _LOCK:
        if key not in _LEDGERS:
            _LEDGERS[key] = PrivacyLedger(dataset, delta=delta, adjacency=adjacency)
        return _LEDGERS[key]
