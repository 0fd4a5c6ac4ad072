"""Ledger files of the command line."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import LEDGER_SUFFIX

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger

_DELTA = 1e-6


def ledger_path(asked: argparse.Namespace) -> Path:
    """Return the path of the ledger named by the options.

    Parameters
    ----------
    asked : argparse.Namespace
        With ``table`` and ``ledger``.

    Returns
    -------
    Path
        By default a file next to the table, so that every command on it uses the same ledger.
    """
    given: Path | None = asked.ledger
    table: Path = asked.table
    return given if given is not None else table.with_name(f"{table.stem}{LEDGER_SUFFIX}")


@contextmanager
def ledger_of_command(asked: argparse.Namespace) -> Iterator[PrivacyLedger]:
    """Open or create the ledger; a rejected command leaves no new, empty file.

    Parameters
    ----------
    asked : argparse.Namespace
        As for :func:`opened_ledger`.

    Yields
    ------
    PrivacyLedger
    """
    created = not ledger_path(asked).exists()
    ledger = opened_ledger(asked)
    try:
        yield ledger
    except BaseException:
        if created:
            ledger._store.discard_unused()
        raise


def opened_ledger(asked: argparse.Namespace) -> PrivacyLedger:
    """Open the ledger of a table, or create one.

    Parameters
    ----------
    asked : argparse.Namespace
        With ``table``, ``ledger``, ``dataset``, ``delta``, ``cap_epsilon``, ``person`` and
        ``purpose``.

    Returns
    -------
    PrivacyLedger

    Raises
    ------
    CommandError
        If the ledger exists with limits other than the requested ones.
    """
    from dpexplain.accounting import PrivacyLedger

    path = ledger_path(asked)
    if not path.exists():
        if asked.cap_epsilon is None and not asked.quiet:
            print(
                f"the new ledger {path} has no cap and will refuse nothing; pass --cap-epsilon to "
                "set one.",
                file=sys.stderr,
            )
        return PrivacyLedger(
            asked.dataset or asked.table.stem,
            cap_epsilon=math.inf if asked.cap_epsilon is None else asked.cap_epsilon,
            delta=_DELTA if asked.delta is None else asked.delta,
            path=path,
            person=asked.person,
            purpose=asked.purpose,
        )
    ledger = PrivacyLedger.open(path, person=asked.person, purpose=asked.purpose)
    for option, wanted, held in (
        ("--dataset", asked.dataset, ledger.dataset),
        ("--delta", asked.delta, ledger.delta),
        ("--cap-epsilon", asked.cap_epsilon, ledger.cap_epsilon),
    ):
        if wanted is not None and wanted != held:
            begun = "without a cap" if held == math.inf else f"with {held}"
            raise CommandError(
                f"{option} {wanted}: the ledger {path} was begun {begun}; omit the option, or "
                "pass another file with --ledger for other records."
            )
    return ledger
