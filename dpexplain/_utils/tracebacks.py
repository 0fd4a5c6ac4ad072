"""Errors without references to records.

A traceback keeps the frames that the error passed through, and with them their local variables.
Error reporters (IPython's verbose mode, `cgitb`, crash collectors) print these variables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def without_records(function: Callable[P, T]) -> Callable[P, T]:
    """Strip frames and causes from errors raised by functions that take records.

    The message and the caller's line are kept. The caller's own variables cannot be removed.

    Parameters
    ----------
    function : callable
        Function that takes records as arguments.

    Returns
    -------
    callable
        A function that does the same. It adds one stack frame, which the ``stacklevel`` of a
        warning must count.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # an interrupt passes through the same frames
            del args, kwargs
            error.__cause__ = error.__context__ = None
            raise error.with_traceback(None)  # noqa: B904 - it is the error itself

    return guarded
