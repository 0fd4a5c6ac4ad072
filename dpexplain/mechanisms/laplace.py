"""The Laplace mechanism on integers: exact discrete Laplace noise.

`draw` returns integers v with probability proportional to ``exp(-|v| / t)`` for an integer t. Given
independent fair bits, each integer has exactly this probability, by Algorithm 2 of Canonne, Kamath
and Steinke [1]_. One trial:

1. Draw a position u uniformly from 0, ..., t - 1 and keep it with probability ``exp(-u / t)``.
2. Flip coins that show heads with probability ``exp(-1)`` until one shows tails; let w be the
   number of heads. Let x = u + t w.
3. Draw a fair sign; reject -0, which would count zero twice.

*Correctness*: every x >= 0 is u + t w in exactly one way, and is drawn with probability
proportional to ``exp(-u / t) exp(-w) = exp(-x / t)``. Trials are independent, so the first
accepted value has the target distribution, and later ones are independent of it.

*Privacy*: the noise is added to integer sums that one record changes by at most s in the L1 norm,
so the ratio of probabilities of any outcome is at most ``exp(s / t)``. A scale that is not an
integer is rounded up.

*Exactness*: as in `dpexplain.mechanisms.discrete_gaussian`, a coin flip compares a uniform number,
whose leading bits are known, with a number for which bounds are known. The floating-point error has
the same bound as in that module, because each exponent u / t < 1 is one correctly rounded quotient
of two correctly rounded integers. A trial that remains undecided is decided with arbitrary-length
integers, using the same bits.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020, arXiv:2004.00010.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms._exact import Words, run
from dpexplain.mechanisms._kernels_pure import laplace_trials
from dpexplain.mechanisms.discrete_gaussian import RandomBytes
from dpexplain.mechanisms.secret_bits import secret_bytes

__all__ = ["draw"]

LARGEST_SCALE = 2.0**50
"""Largest scale: even a draw of 4000 times this scale, which never occurs, fits in 62 bits."""


def draw(scale: float, size: int, random_bytes: RandomBytes = secret_bytes) -> NDArray[np.int64]:
    """Draw independent integers from the discrete Laplace distribution.

    Parameters
    ----------
    scale : float
        Scale in lattice steps, from 1 to ``2**50``; rounded up to an integer.
    size : int
        Number of draws.
    random_bytes : callable, default=secret_bytes
        Returns the requested number of fresh random bytes.

    Returns
    -------
    ndarray of shape (size,), dtype int64
    """
    steps, drawn = math.ceil(scale), np.empty(size, dtype=np.int64)
    kernel: Callable[..., Any] = laplace_trials

    def settled(words: Words, n_drawn: int) -> bool:
        value = settle(words, steps)
        if value is not None:
            drawn[n_drawn] = value
        return value is not None

    run(lambda words, start, n: kernel(words, start, steps, drawn, n), settled, random_bytes)
    return drawn


def settle(words: Words, scale: int) -> int | None:
    """Run one trial in exact arithmetic.

    Parameters
    ----------
    words : Words
        Random bits of the trial, in the order in which `laplace_trials` reads them.
    scale : int

    Returns
    -------
    int or None
        The accepted value; None if the trial is rejected.
    """
    negative = words.next() >> 63
    value = words.place(scale)
    if value is None or not words.flip(value, scale):
        return None
    while words.flip(1, 1):
        value += scale
    if negative and value == 0:
        return None
    return -value if negative else value
