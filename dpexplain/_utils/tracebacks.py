"""Remove references to records from errors.

A traceback refers to the frames that the error passed through, and thus to their local variables.
Error reporters such as IPython's verbose mode, `cgitb` and crash collectors print these variables.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from dpexplain._utils.compiling import finish_bar
from dpexplain._utils.names import unknown_keyword

P = ParamSpec("P")
T = TypeVar("T")


def without_records(function: Callable[P, T]) -> Callable[P, T]:
    """Strip frames and causes from errors raised by a function that takes records.

    The error message and the caller's line are kept. The caller's variables cannot be removed. The
    message about an unknown parameter names the one that may be meant, or all parameters.

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
    names = inspect.signature(function).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in names.values())

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            if not takes_any and (unknown := [name for name in kwargs if name not in names]):
                known = [name for name in names if name != "self"]
                raise TypeError(unknown_keyword(function.__name__, unknown[0], known))
            return function(*args, **kwargs)
        except BaseException as error:  # an interrupt passes through the same frames
            del args, kwargs
            error.__cause__ = error.__context__ = None
            raise error.with_traceback(None)  # noqa: B904 - it is the error itself
        finally:
            finish_bar()  # these functions are the calls that users make and wait for

    return guarded
