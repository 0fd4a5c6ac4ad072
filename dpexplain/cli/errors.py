"""Errors of commands, which the terminal shows as plain messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class CommandError(Exception):
    """Invalid command-line input; nothing was spent."""


@contextlib.contextmanager
def after_the_charge() -> Iterator[None]:
    """Say in the message of every error raised in the block that the charge remains.

    Raises
    ------
    RuntimeError
        Instead of an error that would mean invalid input if it were raised before the charge.
    """
    try:
        yield
    except BrokenPipeError:  # the file is written; nobody reads the summary any more
        raise
    except (CommandError, ValueError, TypeError, OSError, ImportError) as error:
        raise RuntimeError(f"{error} The fit is in the ledger, and its charge remains.") from None
