"""Epsilon and delta expressed as odds and frequencies, rounded conservatively."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal

__all__ = ["chance_words", "guesses_of_hundred", "guesses_words", "odds_words"]

_LARGEST = 700.0  # the exponential of larger numbers may overflow


def guesses_of_hundred(epsilon: float, delta: float) -> int:
    """Bound the expected number of correct guesses among 100 membership guesses.

    Each guess says whether a given unit of privacy is in the data. Without the released results, 50
    of 100 guesses are expected to be correct.

    Parameters
    ----------
    epsilon, delta : float
        Privacy guarantee; epsilon may be infinite.

    Returns
    -------
    int
        ``100 (exp(epsilon) + delta) / (1 + exp(epsilon))``, rounded up, and at most 100.

    Examples
    --------
    >>> guesses_of_hundred(1.0, 1e-6)
    74
    """
    if epsilon > _LARGEST:
        return 100
    odds = math.exp(epsilon)
    return min(100, math.ceil(100.0 * (odds + delta) / (1.0 + odds)))


def guesses_words(epsilon: float, delta: float) -> str:
    """State the bound on correct guesses, without one that rules out nothing.

    Parameters
    ----------
    epsilon, delta : float

    Returns
    -------
    str

    Examples
    --------
    >>> guesses_words(1.0, 1e-6), guesses_words(8.0, 1e-6)
    ('at most 74', 'possibly more than 99')
    """
    right = guesses_of_hundred(epsilon, delta)
    return f"at most {right}" if right < 100 else "possibly more than 99"


def odds_words(epsilon: float) -> str:
    """Describe the largest posterior odds that can follow from even prior odds.

    Parameters
    ----------
    epsilon : float

    Returns
    -------
    str

    Examples
    --------
    >>> odds_words(1.0)
    '2.8 to 1'
    """
    if epsilon > math.log(1e6):
        return "more than a million to 1"
    odds = math.exp(epsilon)
    rounded = math.ceil(10.0 * odds) / 10.0 if odds < 10 else float(math.ceil(odds))
    return f"{rounded:,.10g} to 1"


def chance_words(delta: float) -> str:
    """Describe a small probability as a natural frequency.

    Parameters
    ----------
    delta : float
        In [0, 1).

    Returns
    -------
    str

    Examples
    --------
    >>> chance_words(1e-6)
    '1 in 1,000,000'
    """
    if delta <= 0.0:
        return "0"
    times = Decimal(1) / Decimal(repr(delta))
    return f"1 in {int(Context(prec=3, rounding=ROUND_FLOOR).plus(times)):,}"
