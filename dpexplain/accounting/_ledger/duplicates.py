"""Warn if this process has two independent ledgers for one data set.

Without the warning, rerunning a notebook cell could silently create a second ledger with a full
budget.
"""

from __future__ import annotations

import threading
import warnings
from typing import Protocol
from weakref import WeakSet

from dpexplain.exceptions import PrivacyWarning

__all__ = ["WITHOUT_A_LEDGER", "warn_of_duplicates"]

WITHOUT_A_LEDGER = "fits without a ledger"


class Counting(Protocol):
    """Ledger attributes used to detect duplicates."""

    _has_duplicate: bool

    @property
    def dataset(self) -> str:
        """Name of the data set."""

    @property
    def path(self) -> str | None:
        """Path or address of the ledger; None if it is in memory."""


# Fits and sweeps that create a ledger for themselves state in their guarantee that it counts
# nothing else. The ledger of all fits without a ledger is not about any particular table.
_COUNT_ALONE = frozenset({"this fit alone", "this sweep alone", WITHOUT_A_LEDGER})
_LOCK = threading.Lock()
_CHARGED: dict[str, WeakSet[Counting]] = {}


def warn_of_duplicates(ledger: Counting, *, charged: bool) -> None:
    """Warn once per ledger if another live ledger for its data set was charged.

    Parameters
    ----------
    ledger : PrivacyLedger
        A ledger that was just created or charged.
    charged : bool
        Whether to remember that the ledger contains charges.

    Warns
    -----
    PrivacyWarning
        If another ledger for the data set was charged, still exists and is not stored in the same
        file or row. Each of the two ledgers then lacks the charges made to the other.
    """
    if ledger.dataset in _COUNT_ALONE:
        return
    with _LOCK:
        known = _CHARGED.setdefault(ledger.dataset, WeakSet())
        others = [o for o in known if o is not ledger and (o.path is None or o.path != ledger.path)]
        if charged:
            known.add(ledger)
        first = not ledger._has_duplicate
        ledger._has_duplicate = ledger._has_duplicate or bool(others)
    if others and first:
        warnings.warn(
            f"another ledger of {ledger.dataset!r} in this process counts releases that this one "
            "does not, so neither total covers the data set; use one ledger, or give both the "
            "same path=.",
            PrivacyWarning,
            stacklevel=4,
        )
