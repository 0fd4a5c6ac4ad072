"""Remove references to records from errors.

A traceback refers to the frames that the error passed through, and thus to their local variables.
Error reporters such as IPython's verbose mode, `cgitb` and crash collectors print these variables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from dpexplain._utils.compiling import finish_bar

P = ParamSpec("P")
T = TypeVar("T")


def without_records(function: Callable[P, T]) -> Callable[P, T]:
    """Strip frames and causes from errors raised by a function that takes records.

    The error message and the caller's line are kept. The caller's variables cannot be removed.

    Parameters
    ----------
    function : callable
        Function whose arguments contain records.

    Returns
    -------
    callable
        A wrapper of `function`. It adds one stack frame, which must be included in the
        ``stacklevel`` of warnings.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # an interrupt passes through the same frames
            del args, kwargs
            error.__cause__ = error.__context__ = None
            raise error.with_traceback(None)  # noqa: B904 - it is the error itself
        finally:
            finish_bar()  # these functions are the calls that users make and wait for

    return guarded
