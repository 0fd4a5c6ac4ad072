"""Errors of commands, as messages for the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class CommandError(Exception):
    """Invalid command-line input; nothing was spent."""


@contextlib.contextmanager
def after_the_charge() -> Iterator[None]:
    """Add to errors raised inside that the charge remains.

    Raises
    ------
    RuntimeError
        In place of errors that would mean invalid input elsewhere.
    """
    try:
        yield
    except BrokenPipeError:  # the file is written; nobody reads the summary any more
        raise
    except (CommandError, ValueError, TypeError, OSError, ImportError) as error:
        raise RuntimeError(f"{error} The fit is in the ledger, and its charge remains.") from None
