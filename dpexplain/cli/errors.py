"""Command errors, shown in the terminal without a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class CommandError(Exception):
    """Error raised for invalid command-line input; no privacy budget is spent."""


@contextlib.contextmanager
def after_the_charge() -> Iterator[None]:
    """If the ``with`` block raises an error, tell the user that the charge remains.

    Raises
    ------
    RuntimeError
        If the block raises an error of a type that usually means invalid input, such as ValueError.
    """
    try:
        yield
    except BrokenPipeError:  # the result is saved; only the summary could not be printed
        raise
    except (CommandError, ValueError, TypeError, OSError, ImportError) as error:
        raise RuntimeError(f"{error} The fit is in the ledger, and its charge remains.") from None
