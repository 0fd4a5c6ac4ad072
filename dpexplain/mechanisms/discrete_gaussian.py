"""Exact discrete Gaussian sampler, by rejection sampling from strips.

`draw` returns integers v with probability proportional to ``exp(-v**2 / (2 sigma**2))``, the
distribution of Canonne, Kamath and Steinke [1]_. Given independent fair bits, each integer has
exactly this probability. The method is a variant of Karney's sampler [2]_ with narrower strips and
therefore fewer random choices.

**Algorithm.** Let s = sigma, m = 16, and let w be the smallest integer that is at least s / m. One
trial consists of these steps:

1. Draw a strip i = 0, 1, 2, ... with probability ``h_i / Z``, where
   ``h_i = exp(-i**2 / (2 m**2))``.
2. Draw a position j uniformly from 0, ..., w - 1, and a fair sign. Let v = i w + j.
3. Reject -0, which would count zero twice.
4. Accept with probability ``exp(-T)``, where ``T = v**2 / (2 s**2) - i**2 / (2 m**2)``.

*Correctness*: v / s >= i w / s >= i / m, so T >= 0. Every integer v >= 0 equals i w + j for exactly
one pair i, j. A trial ends with v and a given sign with probability
``(h_i / Z) (1 / w) (1 / 2) exp(-T) = exp(-v**2 / (2 s**2)) / (2 w Z)``: this is proportional to the
target probability, with the same factor for all v. Trials are independent, so the first accepted
value has the target distribution, and later ones are independent of it. A draw takes about 1.03
trials on average.

**Exactness.** The scale is a rational number, ``s = p / q`` with q a power of two: the requested
float, rounded up at its 41st bit. Random choices compare a uniform number U, whose leading bits
are known, with a real number x, for which bounds are known. If all possible values of U are on the
same side of the bounds, the comparison is decided; otherwise it continues with more bits of U and
tighter bounds on x (`_Uniform`). So a comparison is never rounded, and it ends with probability
one.

* Strip: U < P(strip <= i). The compiled code compares ``floor(2**31 P(strip <= i))`` with the first
  31 bits of U. If these integers differ, the comparison is decided; if not, more bits are needed.
  The table ends where it reaches 2**31 - 1; the tails beyond it are reached only through exact
  arithmetic.
* Position: the high word of w times a random word, after rejecting the words that would make
  some positions more likely (Lemire [3]_), in integer arithmetic.
* Acceptance: U < exp(-T). The series ``1 - T + T**2/2! - ...`` truncated after an odd (even) power
  is a lower (upper) bound for every T >= 0, by Lagrange's remainder. It is summed in floats:
  T = a (2 i + a) / (2 m**2) with a = r / p and an exact integer r. At most eight roundings give T a
  relative error below 1.1 * 2**-50, so the k-th term has a relative error below 1.4 k * 2**-50, and
  all terms together have an error below 1.4 * 2**-50 T exp(T) < 2**-41 for T < 4. Adding them up,
  with partial sums below 55 in fewer than 40 steps, contributes another error of at most 2**-41.
  The compiled code decides only if the difference exceeds a margin of 2**-34, which is sixty times
  as large. For T >= 4 it rejects values above exp(-4) and decides nothing else.

Trials that remain undecided, about one in ten million, are decided with arbitrary-length integers
(`settle`), using the same bits and as many more as needed.

*Time* depends only on sigma, which is public, and on the random words, and therefore on the noise.
*Memory*: one block of random bytes, regardless of the number of draws.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020, arXiv:2004.00010.
.. [2] Karney, "Sampling Exactly from the Normal Distribution", ACM TOMS 42 (2016),
   arXiv:1303.6257: algorithm D.
.. [3] Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29 (2019),
   arXiv:1805.10941.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate, count

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms._kernels_gaussian import (
    COIN_BITS,
    GUIDE_BITS,
    INDEX_BITS,
    STRIPS,
    run_trials,
)
from dpexplain.mechanisms.secret_bits import secret_bytes

__all__ = ["draw"]

RandomBytes = Callable[[int], bytes]
Bounds = tuple[int, int]

_TRIALS_AT_ONCE = 4096
_TRIALS_PER_DRAW = 1.1  # 1.03 on average
_SCALE_BITS = 41
_LARGEST_SHIFT = 48
_GUARD = 64  # additional bits of intermediate results


def draw(sigma: float, size: int, random_bytes: RandomBytes = secret_bytes) -> NDArray[np.int64]:
    """Draw independent integers from the discrete Gaussian distribution.

    Parameters
    ----------
    sigma : float
        Scale in lattice steps, positive and at most ``2**56 (1 + 1e-6)``. It is rounded up by a
        fraction of at most ``2**-40``; a tiny scale is rounded up by at most ``2**-48`` steps.
    size : int
        Number of draws.
    random_bytes : callable, default=secret_bytes
        Returns the requested number of fresh random bytes.

    Returns
    -------
    ndarray of shape (size,), dtype int64
    """
    scale = Scale(sigma)
    thresholds, guide = _strip_table()
    drawn, n_drawn = np.empty(size, dtype=np.int64), 0
    while n_drawn < size:
        n_trials = min(_TRIALS_AT_ONCE, math.ceil(_TRIALS_PER_DRAW * (size - n_drawn)) + 8)
        words, trial = np.frombuffer(random_bytes(16 * n_trials), dtype=np.uint64), 0
        while n_drawn < size and trial < n_trials:
            n_drawn, trial, undecided = run_trials(
                words,
                trial,
                scale.numerator,
                scale.step,
                scale.width,
                thresholds,
                guide,
                drawn,
                n_drawn,
            )
            if undecided:
                value = settle(
                    int(words[2 * trial]), int(words[2 * trial + 1]), scale, random_bytes
                )
                trial += 1
                if value is not None:
                    drawn[n_drawn] = value
                    n_drawn += 1
    return drawn


class Scale:
    """Standard deviation as a fraction, and the width of the strips that it requires.

    Parameters
    ----------
    sigma : float
        Standard deviation in lattice steps, positive.

    Attributes
    ----------
    numerator : int
        Numerator of the fraction: the smallest for which the fraction is at least `sigma`.
    step : int
        16 times the denominator of the fraction. The denominator is a power of two.
    width : int
        Number of lattice steps in a strip.
    """

    def __init__(self, sigma: float) -> None:
        exponent = math.frexp(sigma)[1]  # sigma < 2**exponent
        shift = min(max(_SCALE_BITS - exponent, 0), _LARGEST_SHIFT)
        self.numerator = math.ceil(math.ldexp(sigma, shift))
        self.step = STRIPS << shift
        self.width = -(-self.numerator // self.step)


def settle(word: int, place_word: int, scale: Scale, random_bytes: RandomBytes) -> int | None:
    """Run one trial in exact arithmetic.

    Parameters
    ----------
    word, place_word : int
        Random bits of the trial, in the order in which `run_trials` reads them.
    scale : Scale
    random_bytes : callable
        Source of more bits if these are not enough to decide.

    Returns
    -------
    int or None
        The accepted value; None if the trial is rejected.
    """
    negative = word >> 63
    index_bits = (word >> COIN_BITS) & ((1 << INDEX_BITS) - 1)
    index = _Uniform(index_bits, INDEX_BITS, random_bytes)
    strip = next(i for i in count() if index.below(partial(_cumulated_chance, i)))
    place, rest = divmod(place_word * scale.width, 1 << 64)
    value = strip * scale.width + place
    if rest < (1 << 64) % scale.width or (negative and value == 0):
        return None
    beyond = scale.step * value - strip * scale.numerator
    numerator = beyond * (2 * strip * scale.numerator + beyond)
    denominator = 2 * (STRIPS * scale.numerator) ** 2
    coin = _Uniform(word & ((1 << COIN_BITS) - 1), COIN_BITS, random_bytes)
    if not coin.below(partial(exponential, numerator, denominator)):
        return None
    return -value if negative else value


class _Uniform:
    """A uniform random number in [0, 1) whose bits are drawn on demand."""

    def __init__(self, leading: int, n_bits: int, random_bytes: RandomBytes) -> None:
        self._leading, self._n_bits, self._random_bytes = leading, n_bits, random_bytes

    def below(self, bounds: Callable[[int], Bounds]) -> bool:
        """Return whether the number is below the real number that `bounds` encloses."""
        while True:
            low, high = bounds(self._n_bits)
            if self._leading < low:
                return True
            if self._leading >= high:
                return False
            self._leading = (self._leading << 64) | int.from_bytes(self._random_bytes(8), "little")
            self._n_bits += 64


def exponential(numerator: int, denominator: int, bits: int) -> Bounds:
    """Return bounds on ``2**bits * exp(-numerator / denominator)``.

    Parameters
    ----------
    numerator, denominator : int
        The numerator is at least 0, and the denominator is positive.
    bits : int

    Returns
    -------
    low, high : int
        Integers below and above the value, obtained by rounding much tighter bounds outward. The
        two integers differ by 2 if an integer lies strictly between the tighter bounds, and by 1
        otherwise.
    """
    if numerator >= bits * denominator:
        return 0, 1
    work = bits + _GUARD
    halvings = (2 * numerator // denominator).bit_length()  # leaves an exponent below one half
    exponent = (numerator << work) // (denominator << halvings)
    total, term, k = 1 << work, 1 << work, 0
    while term:
        k += 1
        term = (term * exponent >> work) // k
        total += -term if k % 2 else term
    # Each term is off by less than 4 units, the exponent by 1, the tail by 8.
    error = 4 * k + 9
    low, high = total - error, total + error
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    return low >> _GUARD, -(-high >> _GUARD)


def _cumulated_chance(strip: int, bits: int) -> Bounds:
    """Return bounds on ``2**bits`` times the cumulative probability of a strip.

    The cumulative probability of a strip is that of all strips up to and including it.
    """
    below, above = _cumulated_weights(bits + _GUARD)
    last = min(strip, len(below) - 1)
    low = (below[last] << bits) // (above[-1] + 1)  # + 1 covers all strips beyond the last
    high = -(-(above[last] << bits) // below[-1]) if strip == last else 1 << bits
    return low, min(high, 1 << bits)


@lru_cache(maxsize=4)
def _cumulated_weights(bits: int) -> tuple[list[int], list[int]]:
    """Return bounds on ``2**bits * (h_0 + ... + h_i)``, up to a negligible remainder.

    From the last strip on, weights are below ``exp(-0.7 (bits + 4)) < 2**-(bits + 4)``, and each
    is less than 4/5 of the one before, so the remainder is below 5 * 2**-4 units.
    """
    last = math.isqrt(2 * STRIPS**2 * 7 * (bits + 4) // 10) + 1
    weights = [exponential(i * i, 2 * STRIPS**2, bits) for i in range(last)]
    low, high = zip(*weights, strict=True)
    return list(accumulate(low)), list(accumulate(high))


@lru_cache(maxsize=1)
def _strip_table() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the thresholds and the guide table for `run_trials`."""
    thresholds: list[int] = []
    while not thresholds or thresholds[-1] < (1 << INDEX_BITS) - 1:
        low, high = _cumulated_chance(len(thresholds), INDEX_BITS + _GUARD)
        assert low >> _GUARD == high >> _GUARD, "the bounds must agree on the leading bits"
        thresholds.append(low >> _GUARD)
    table = np.array(thresholds, dtype=np.int64)
    leading = np.arange(1 << GUIDE_BITS, dtype=np.int64) << (INDEX_BITS - GUIDE_BITS)
    return table, np.searchsorted(table, leading).astype(np.int64)
