"""Ledgers of this process: one per table, and one for fits with ``ledger=None``."""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

from dpexplain._utils.processes import this_process
from dpexplain._utils.validation import Adjacency, check_adjacency, shown
from dpexplain.accounting._ledger.duplicates import WITHOUT_A_LEDGER
from dpexplain.accounting._ledger.serialize import one_spelling
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.exceptions import BudgetError, PrivacyWarning

__all__ = [
    "check_ledger",
    "is_unlisted",
    "ledgers_of",
    "named_ledger",
    "process_ledger",
    "unlisted",
    "warn_of_total",
]

_LOCK = threading.Lock()
_LEDGERS: dict[tuple[str | None, str], PrivacyLedger] = {}  # by table, or by adjacency
_PROCESS = this_process()
_UNLISTED = ContextVar("unlisted", default=False)
_MANY = 5
_TOLD: WeakKeyDictionary[PrivacyLedger, int] = (
    WeakKeyDictionary()
)  # number of entries at the last warning about their total


def _unlock() -> None:
    """Replace the lock in a forked process, where no thread is left to release it."""
    global _LOCK
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_unlock)


def process_ledger(
    dataset: str | None = None, *, adjacency: Adjacency | str = "add_remove"
) -> PrivacyLedger:
    """Return a table's ledger, or the one that records every fit with ``ledger=None``.

    The ledger is an ordinary one, kept in the memory of this process: its content is public, and it
    is lost when the process ends. A model with ``ledger="stays"`` charges
    ``process_ledger("stays")``. Each model with ``ledger=None`` has its own ledger. In addition,
    ``process_ledger()`` records the charges of all these models; its total is their joint cost if
    all of them used the same records. Fits that `dpexplain.audit` records are not included, because
    they must use public data, and neither are fits in worker processes, such as those of joblib,
    each of which keeps a list of its own.

    Parameters
    ----------
    dataset : str or None, default=None
        Name of a table; None for the ledger that records every fit with ``ledger=None``.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Adjacency of the ledger, if this call creates it for a table. Fits with ``ledger=None``
        are recorded separately for each adjacency, because costs under different adjacencies cannot
        be added.

    Returns
    -------
    PrivacyLedger
        The ledger of the table, or the one that records every fit with ``ledger=None``. Later calls
        for the same ledger return the same object. It has no cap until ``lower_cap`` sets one.

    Raises
    ------
    ValueError
        If the name is empty, starts or ends with a space, or looks like a file path.
    BudgetError
        If a table is named in a worker process, such as one started by joblib, because the parent
        process would not see charges made there.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent
    >>> ledger = process_ledger("census-2024")
    >>> ledger.lower_cap(3.0)
    >>> entry = ledger.charge([GaussianEvent("counts", noise_multiplier=4.0)], label="counts")
    >>> process_ledger("census-2024").total_epsilon()
    1.06...
    """
    if dataset is not None:
        return named_ledger(dataset, adjacency=adjacency)
    checked = check_adjacency(adjacency)
    # A forked process has its own list, because it may not charge its copy of the parent's list.
    return _found((None, f"{checked} {this_process()}"), WITHOUT_A_LEDGER, 1e-6, checked)


def check_ledger(given: object) -> None:
    """Check the parameter ``ledger`` of a model.

    Parameters
    ----------
    given : object
        Value of the parameter.

    Raises
    ------
    TypeError
        If it is not a ledger, a name or None.
    ValueError
        If the name is empty, starts or ends with a space, or looks like a file path.
    BudgetError
        If it is a name and this is a worker process.
    """
    if given is None or isinstance(given, PrivacyLedger):
        return
    if not isinstance(given, str):
        raise TypeError(
            f"ledger is a {type(given).__name__}; expected a dpexplain.PrivacyLedger, such as "
            "PrivacyLedger.open(path), or the name of a table."
        )
    outer = given != given.strip()  # "survey " would be another ledger than "survey"
    if not given or outer or "/" in given or "\\" in given or given.endswith((".json", ".db")):
        raise ValueError(
            f"ledger={shown(given)} must be the name of a table, such as 'survey-2024', without "
            "blanks at its ends; for a file or a database, pass PrivacyLedger.open(...)."
        )
    if this_process() != _PROCESS or multiprocessing.parent_process() is not None:
        raise BudgetError(
            f"ledger={given!r} is kept by the parent process, which would not see a charge of this "
            "worker process; use n_jobs=1 or threads, or pass PrivacyLedger(name, path=...). "
            "Nothing was charged."
        )


def named_ledger(
    given: PrivacyLedger | str, *, delta: float = 1e-6, adjacency: str = "add_remove"
) -> PrivacyLedger:
    """Return the ledger that the parameter ``ledger`` of a model refers to.

    Parameters
    ----------
    given : PrivacyLedger or str
        A ledger, or the name of a table.
    delta : float, default=1e-6
        Delta of the ledger, if this call creates it.
    adjacency : str, default="add_remove"
        Adjacency of the ledger, if this call creates it.

    Returns
    -------
    PrivacyLedger

    Raises
    ------
    TypeError, ValueError, BudgetError
        As in `check_ledger`.
    """
    check_ledger(given)
    if isinstance(given, PrivacyLedger):
        return given
    name = one_spelling(given)
    return _found((name, ""), name, delta, check_adjacency(adjacency))


def ledgers_of(
    given: PrivacyLedger | str | None, *, delta: float, adjacency: str, alone: str
) -> tuple[PrivacyLedger, ...]:
    """Return the ledgers that a fit or a sweep charges.

    If a ledger is given, only that one is charged. Otherwise, two ledgers are charged: the one that
    records every fit with ``ledger=None``, and a new one for this fit. Inside a
    ``with unlisted():`` block, only the new one is charged.

    Parameters
    ----------
    given : PrivacyLedger, str or None
        Value of the parameter ``ledger``.
    delta : float
        Delta of each ledger that this call creates.
    adjacency : str
        Adjacency of each ledger that this call creates.
    alone : str
        Name of the new ledger.

    Returns
    -------
    tuple of PrivacyLedger
        Ledgers to charge, in this order; the last one is the ledger of the fit.
    """
    if given is not None:
        return (named_ledger(given, delta=delta, adjacency=adjacency),)
    own = PrivacyLedger(alone, delta=delta, adjacency=adjacency)
    return (own,) if _UNLISTED.get() else (process_ledger(adjacency=adjacency), own)


@contextmanager
def unlisted() -> Iterator[None]:
    """Exclude the fits in a ``with`` block from ``process_ledger()``.

    Use it for fits that were already charged or that use public data.

    Yields
    ------
    None
    """
    token = _UNLISTED.set(True)
    try:
        yield
    finally:
        _UNLISTED.reset(token)


def is_unlisted() -> bool:
    """Return whether the caller is inside a ``with unlisted():`` block."""
    return _UNLISTED.get()


def warn_of_total(adjacency: str, stacklevel: int) -> None:
    """After 5, 10, 20, ... fits without a ledger, warn about their joint cost.

    Parameters
    ----------
    adjacency : str
        Adjacency of the fits.
    stacklevel : int
        Number of stack frames up to the caller to which the warning is attributed, as in
        `warnings.warn`.
    """
    ledger = process_ledger(adjacency=adjacency)
    with _LOCK:
        n = len(ledger.entries)
        if n < _MANY or n < 2 * _TOLD.get(ledger, 0):
            return
        _TOLD[ledger] = n
    summary = ledger.summary()
    if not math.isfinite(summary.private_epsilon) or not summary.n_private:
        return
    warnings.warn(
        f"{summary.n_private} {WITHOUT_A_LEDGER} in this process: on one table, they cost "
        f"epsilon={_upper(summary.private_epsilon)} together at delta={summary.delta:g}, or "
        f"{_upper(summary.adaptive_epsilon)} if results decided which came next. Name the "
        "table, such as ledger='survey-2024', to count its fits; process_ledger() counts all.",
        PrivacyWarning,
        stacklevel=stacklevel,
    )


def _upper(epsilon: float) -> str:
    return f"{math.ceil(100.0 * epsilon) / 100.0:g}"


def _found(
    key: tuple[str | None, str], dataset: str, delta: float, adjacency: Adjacency
) -> PrivacyLedger:
    with _LOCK:
        if key not in _LEDGERS:
            _LEDGERS[key] = PrivacyLedger(dataset, delta=delta, adjacency=adjacency)
        return _LEDGERS[key]
