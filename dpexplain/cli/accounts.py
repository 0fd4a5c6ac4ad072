"""Find, open and create the ledgers that commands charge."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import LEDGER_SUFFIX

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger
    from dpexplain.accounting._ledger.place import LedgerPlace
    from dpexplain.accounting.ledger_state import LedgerState

_DELTA = 1e-6
_MOST_NAMED = 3
_UNUSED = (
    " Nothing has been charged to it: if you set its limits by mistake, delete the file and create "
    "it again."
)


def ledger_place(asked: argparse.Namespace) -> LedgerPlace:
    """Return the file or database that contains a command's ledger.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attributes ``table``, ``ledger`` and ``dataset``.

    Returns
    -------
    LedgerPlace
        The location given by the ``--ledger`` option; by default, a file next to the table, so that
        all commands on the table use the same ledger.
    """
    from dpexplain.accounting._ledger.store import place_of

    return place_of(ledger_path(asked))


def ledger_path(asked: argparse.Namespace) -> Path | str:
    """Return the file or address of a command's ledger; see `ledger_place`."""
    given: Path | str | None = asked.ledger
    table = _real(asked.table)
    if isinstance(given, str) and "#" not in given:
        return f"{given}#{quote(asked.dataset or table.stem, safe='')}"
    return given if given is not None else table.with_name(f"{table.stem}{LEDGER_SUFFIX}")


def _real(table: Path) -> Path:
    """Follow symbolic links, so that a table has the same ledger under every name."""
    real = table.resolve()
    return table if real == Path(os.path.abspath(table)) else real


@contextmanager
def ledger_of_command(asked: argparse.Namespace) -> Iterator[PrivacyLedger]:
    """Open or create a command's ledger for the duration of a ``with`` block.

    If the block raises an error, a ledger created for the block is removed, unless it has a cap or
    has already been charged.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the same attributes as in :func:`opened_ledger`.

    Yields
    ------
    PrivacyLedger
        The ledger that the command charges.
    """
    created = not ledger_place(asked).exists()
    ledger = opened_ledger(asked)
    try:
        yield ledger
    except BaseException:
        if created:
            ledger._store.discard_unused()
        raise


def opened_ledger(asked: argparse.Namespace) -> PrivacyLedger:
    """Open a table's ledger, or create it if it does not exist.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attributes ``table``, ``ledger``, ``dataset``, ``delta``,
        ``cap_epsilon``, ``person`` and ``purpose``.

    Returns
    -------
    PrivacyLedger

    Raises
    ------
    CommandError
        If the ledger exists, and its data set, delta or cap differs from the requested one.
    """
    from dpexplain.accounting import PrivacyLedger

    path, place = ledger_path(asked), ledger_place(asked)
    shown = path if isinstance(path, Path) else place.address  # without a password
    if not place.exists():
        if not asked.quiet:
            for note in _notes_on_new(asked, shown):
                print(note, file=sys.stderr)
        return PrivacyLedger(
            **_limits(asked, place),
            path=path,
            person=asked.person,
            purpose=asked.purpose,
        )
    return _opened(asked, path, shown)


def _notes_on_new(asked: argparse.Namespace, shown: Path | str) -> Iterator[str]:
    """Say what a new ledger does not refuse, and what it does not count."""
    if asked.cap_epsilon is None:
        yield (
            f"the new ledger {shown} has no cap and will refuse nothing; --cap-epsilon sets "
            f"one only in the command that creates the ledger. {_lower_cap(shown)}"
        )
    if asked.ledger is None and isinstance(shown, Path):
        # Next year's table has another name, but often the same people, who would pay unseen.
        others = sorted(shown.parent.glob(f"*{LEDGER_SUFFIX}"))
        if others:
            more = len(others) - _MOST_NAMED
            named = ", ".join(each.name for each in others[:_MOST_NAMED])
            named += f" and {more} more" if more > 0 else ""
            yield (
                f"the new ledger {shown} starts at zero and does not count the fits in {named}, "
                "next to it: if the tables have people in common, charge all fits to one ledger, "
                f"such as --ledger {shlex.quote(str(others[0]))}."
            )


def ledger_state(asked: argparse.Namespace) -> LedgerState:
    """Return the entries and limits of a command's ledger without creating a ledger.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in :func:`opened_ledger`.

    Returns
    -------
    LedgerState
        The state of the ledger; if the ledger does not exist, the state in which it would be
        created.

    Raises
    ------
    CommandError
        As in :func:`opened_ledger`.
    """
    from dpexplain.accounting.ledger_state import LedgerState

    path, place = ledger_path(asked), ledger_place(asked)
    if not place.exists():
        return LedgerState(**_limits(asked, place))
    shown = path if isinstance(path, Path) else place.address
    return _opened(asked, path, shown)._store.current()


def _limits(asked: argparse.Namespace, place: LedgerPlace) -> dict[str, Any]:
    """Return the name and the limits of a new ledger."""
    return {
        "dataset": asked.dataset or place.name or _real(asked.table).stem,
        "cap_epsilon": math.inf if asked.cap_epsilon is None else asked.cap_epsilon,
        "delta": _DELTA if asked.delta is None else asked.delta,
    }


def _opened(asked: argparse.Namespace, path: Path | str, shown: Path | str) -> PrivacyLedger:
    """Open an existing ledger, and check that it has the limits given as options."""
    from dpexplain.accounting import PrivacyLedger

    ledger = PrivacyLedger.open(path, person=asked.person, purpose=asked.purpose)
    for option, wanted, held in (
        ("--dataset", asked.dataset, ledger.dataset),
        ("--delta", asked.delta, ledger.delta),
        ("--cap-epsilon", asked.cap_epsilon, ledger.cap_epsilon),
    ):
        if wanted is not None and wanted != held:
            limits = "without a cap" if held == math.inf else f"with {held}"
            unused = isinstance(shown, Path) and not ledger.entries
            lower = option == "--cap-epsilon" and wanted < held
            raise CommandError(
                f"{option} {wanted}: the ledger {shown} was created {limits}; omit the option, or "
                "pass another one with --ledger for other records."
                + (_UNUSED if unused else "")
                + (f" {_lower_cap(shown, wanted)}" if lower and not unused else "")
            )
    return ledger


def _lower_cap(shown: Path | str, cap: float | str = "EPSILON") -> str:
    """Say how to set or lower the cap of a ledger that exists."""
    return (
        f"Later, PrivacyLedger.open({str(shown)!r}).lower_cap({cap}) in Python sets or lowers it; "
        "it can never be raised."
    )
