"""The exact exponential mechanism on integer utilities.

A candidate i of a group is chosen with probability proportional to ``exp(epsilon u_i / spread)``
[1]_. One record changes the utilities by amounts that lie within `spread` of each other:
``max_i (u_i - u'_i) - min_i (u_i - u'_i) <= spread``.

*Privacy*: let the changes lie in ``[a, b]``, with ``b - a <= spread``. The numerator of a candidate
changes by a factor within ``exp(epsilon [a, b] / spread)``, and so does the sum of all numerators,
so their ratio changes by at most a factor of ``exp(epsilon)``. If a record changes utilities by up
to D in either direction, the spread is the usual 2 D; if it changes all of them in the same
direction, a spread of D is enough.

*Algorithm*: draw a candidate uniformly and accept it with probability ``exp(-g)``, where
``g = epsilon (max_j u_j - u_i) / spread``; otherwise start again. The accepted candidate has the
stated distribution. A coin with probability ``exp(-g)`` is composed of coins with probability
``exp(-2)`` and one for the remainder, so that no flip takes long. On average, a choice takes at
most as many trials as there are candidates.

*Exactness*: epsilon / spread is a quotient of two rationals, the requested floats. The compiled
code computes g with a relative error below ``2**-51``, and thus the remainder, after fewer than
``2**14`` coins, with an error below ``2**-36``. This is less than the margin of a comparison
(`dpexplain.mechanisms.discrete_gaussian`). Undecided trials are decided with arbitrary-length
integers, using the same bits.

*Time* depends on the utilities. The guarantee does not cover this or any other side channel.

References
----------
.. [1] McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms._exact import Words, run
from dpexplain.mechanisms._kernels_pure import LAST, PART, choice_trials
from dpexplain.mechanisms.discrete_gaussian import RandomBytes
from dpexplain.mechanisms.secret_bits import secret_bytes

__all__ = ["choose"]


def choose(
    utilities: NDArray[np.int64],
    epsilon: float,
    spread: float,
    random_bytes: RandomBytes = secret_bytes,
) -> NDArray[np.int64]:
    """Choose one candidate per group.

    Parameters
    ----------
    utilities : ndarray of shape (n_groups, n_candidates), dtype int64
        Utilities in lattice steps, at most ``2**61`` in absolute value.
    epsilon, spread : float
        A candidate with utility u is ``exp(epsilon * (u - u') / spread)`` times as likely as a
        candidate with utility u'.
    random_bytes : callable, default=secret_bytes
        Returns the requested number of fresh random bytes.

    Returns
    -------
    ndarray of shape (n_groups,), dtype int64
        Index of the candidate chosen in each group.
    """
    exact = Fraction(epsilon) / Fraction(spread)
    ratio = float(exact)
    best, chosen = utilities.max(axis=1), np.empty(len(utilities), dtype=np.int64)
    kernel: Callable[..., Any] = choice_trials

    def settled(words: Words, n_chosen: int) -> bool:
        candidate = settle(words, utilities[n_chosen], exact)
        if candidate is not None:
            chosen[n_chosen] = candidate
        return candidate is not None

    run(
        lambda words, start, n: kernel(words, start, utilities, best, ratio, chosen, n),
        settled,
        random_bytes,
    )
    return chosen


def settle(words: Words, utilities: NDArray[np.int64], ratio: Fraction) -> int | None:
    """Run one trial in exact arithmetic.

    Parameters
    ----------
    words : Words
        Random bits of the trial, in the order in which `choice_trials` reads them.
    utilities : ndarray of shape (n_candidates,), dtype int64
    ratio : Fraction
        Exponent per lattice step.

    Returns
    -------
    int or None
        Index of the chosen candidate; None if the trial is rejected.
    """
    candidate = words.place(len(utilities))
    if candidate is None:
        return None
    below = int(utilities.max()) - int(utilities[candidate])
    exponent, seen = ratio * below, float(below) * float(ratio)
    parts = 0
    while seen - PART * parts > LAST:  # as many parts as compiled code subtracts
        if not words.flip(int(PART), 1):
            return None
        parts += 1
    left = exponent - int(PART) * parts
    return candidate if words.flip(left.numerator, left.denominator) else None
