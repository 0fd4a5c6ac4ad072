"""Check public parameters; each check returns the value or raises an error.

The checks are applied to parameters only, never to data. A message shows the value if it is a plain
scalar, and otherwise only its type, so that a table passed by mistake does not end up in a log.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Literal, cast

from dpexplain.exceptions import PrivacyWarning

__all__ = [
    "Adjacency",
    "advise",
    "check_adjacency",
    "check_choice",
    "check_count",
    "check_delta",
    "check_epsilon",
    "check_in_range",
    "plain_number",
    "shown",
    "telling_once",
]

Adjacency = Literal["add_remove", "replace"]
_TOLD: ContextVar[set[str] | None] = ContextVar("told", default=None)

_WEAK_EPSILON = 10.0
_REFUSED_EPSILON = 50.0
_LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """Format a parameter for a message; show only its type if it may contain data.

    Parameters
    ----------
    value : object
        The parameter.

    Returns
    -------
    str
        The value, if it is a short scalar or string, written as in Python code; otherwise its type,
        such as ``"<a DataFrame>"``.
    """
    if value is None or isinstance(value, bool | int | float | complex | str):
        # The repr of a subclass of float may include its type, as in np.float64(0.5).
        text = repr(float(value)) if isinstance(value, float) else repr(value)
        return text if len(text) <= _LONGEST_SHOWN else f"<a long {type(value).__name__}>"
    if isinstance(value, Real):  # other numpy scalars, fractions
        return str(value)[:_LONGEST_SHOWN]
    return f"<a {type(value).__name__}>"


def _as_float(value: object) -> float:
    """Convert a real number to float; return NaN for anything else (bool, str)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return -math.inf if str(value).startswith("-") else math.inf


def plain_number(value: object) -> object:
    """Convert a number of any type to int or float; return anything else unchanged.

    Numbers of NumPy keep few digits in calculations (`numpy.float16`), or overflow (`numpy.int8`).

    Parameters
    ----------
    value : object
        A parameter that was not checked yet.

    Returns
    -------
    object
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else _as_float(value)


def advise(message: str) -> None:
    """Warn of a public parameter, at the line outside this package that led here.

    Parameters
    ----------
    message : str
        Words about public parameters, never about records.

    Warns
    -----
    PrivacyWarning
        Always, unless :func:`telling_once` knows that the user has been told.
    """
    told = _TOLD.get()
    if told is not None:
        if message in told:
            return
        told.add(message)
    warnings.warn(message, PrivacyWarning, stacklevel=_level_of_user())


@contextmanager
def telling_once(told: set[str]) -> Iterator[None]:
    """Omit advice that is in a set, and add what is given to it.

    A sweep checks the same parameters when it plans and in each fit. Threads that run in a copy of
    the context share the set.
    """
    token = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(token)


def _level_of_user() -> int:
    """Return the stack level of the user, seen from the caller of this function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def check_epsilon(
    epsilon: object,
    *,
    allow_weak: bool = False,
    reference: str = "ExplainableBoostingClassifier or ExplainableBoostingRegressor",
) -> float:
    """Check the privacy parameter epsilon of one fit.

    Parameters
    ----------
    epsilon : float
        Bound on the log-ratio of probabilities, positive and finite.
    allow_weak : bool, default=False
        Whether to accept values above 50, which guarantee almost nothing.
    reference : str, optional
        Name of the model to use without privacy; by default, both are named.

    Returns
    -------
    float
        The checked value.

    Raises
    ------
    ValueError
        If `epsilon` is not a positive finite number (a bool is not accepted), or if it is above 50
        and `allow_weak` is False.

    Warns
    -----
    PrivacyWarning
        If `epsilon` is above 10.
    """
    value = _as_float(epsilon)
    if not 0 < value < math.inf:
        raise ValueError(
            f"epsilon={shown(epsilon)} must be a positive finite number; for the non-private "
            f"reference use {reference}."
        )
    if value > _REFUSED_EPSILON and not allow_weak:
        raise ValueError(
            f"epsilon={value:g} is above {_REFUSED_EPSILON:g} and promises almost nothing; lower "
            "epsilon, or pass allow_weak=True to fit anyway."
        )
    if value > _WEAK_EPSILON:
        advise(
            f"epsilon={value:g} is a weak guarantee: the odds of telling whether a record was in "
            f"the data may change by a factor of exp({value:g}); values up to 1 are common, and "
            "values up to 10 are sometimes defended."
        )
    return value


def check_delta(delta: object, *, n_public: int | None = None) -> float:
    """Check the privacy parameter delta.

    Parameters
    ----------
    delta : float
        Additive slack of the guarantee, in (0, 1).
    n_public : int, optional
        Number of records, if it is public knowledge.

    Returns
    -------
    float
        The checked value.

    Raises
    ------
    ValueError
        If `delta` is not a number in (0, 1).

    Warns
    -----
    PrivacyWarning
        If `delta` is at least ``1 / n_public``: a fit that simply published one randomly chosen
        record would then satisfy the guarantee.
    """
    value = _as_float(delta)
    if not 0 < value < 1:
        raise ValueError(
            f"delta={shown(delta)} must be a number above 0 and below 1; "
            "1e-6 suits tables of up to 100,000 records."
        )
    if n_public is not None and value * n_public >= 1:
        advise(
            f"delta={value:g} is not below 1 / n_public = {1 / n_public:.3g}: publishing one "
            "complete random record would satisfy this guarantee; lower delta."
        )
    return value


def check_adjacency(adjacency: object) -> Adjacency:
    """Check the adjacency, which defines when two data sets are neighbors.

    Parameters
    ----------
    adjacency : {"add_remove", "replace"}
        Whether neighboring data sets differ by adding or removing one record, or by replacing one
        record with another.

    Returns
    -------
    str
        The checked value.

    Raises
    ------
    ValueError
        If `adjacency` is anything else.
    """
    return cast(Adjacency, check_choice("adjacency", adjacency, ("add_remove", "replace")))


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Check that a parameter is one of the allowed strings.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : str
        The value to check.
    choices : collection of str
        The accepted strings.

    Returns
    -------
    str
        The checked value.

    Raises
    ------
    ValueError
        If `value` is not one of `choices`.
    """
    if isinstance(value, str) and value in choices:
        return value
    words = " or ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name}={shown(value)} is not a valid choice; pass one of {words}.")


def check_in_range(
    name: str,
    value: object,
    low: float,
    high: float,
    *,
    include_low: bool = True,
    include_high: bool = True,
) -> float:
    """Check that a number lies in an interval.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : float
        The value to check; a bool, a string or NaN is rejected.
    low, high : float
        Ends of the interval; an infinite end means no bound.
    include_low, include_high : bool, default=True
        Whether the interval includes each end.

    Returns
    -------
    float
        The checked value.

    Raises
    ------
    ValueError
        If `value` is not a number in the interval.
    """
    number = _as_float(value)
    above = number >= low if include_low else number > low
    below = number <= high if include_high else number < high
    if above and below:
        return number
    left, right = "[" if include_low else "(", "]" if include_high else ")"
    raise ValueError(
        f"{name}={shown(value)} must be a number in {left}{low:g}, {high:g}{right}; "
        f"pass {name}=... in that range."
    )


def check_count(name: str, value: object, minimum: int = 1) -> int:
    """Check that a parameter is an integer no smaller than a minimum.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : int
        The value to check; a bool or a float is rejected.
    minimum : int, default=1
        The smallest accepted number.

    Returns
    -------
    int
        The checked value.

    Raises
    ------
    ValueError
        If `value` is not an integer of at least `minimum`.
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= minimum:
        return int(value)
    raise ValueError(
        f"{name}={shown(value)} must be an integer of at least {minimum}; pass {name}={minimum} "
        "or more."
    )
