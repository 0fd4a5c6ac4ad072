"""Fast trials for exact discrete Gaussian noise.

No outcome is ever rounded: a comparison that is too close for floating-point arithmetic is returned
as undecided, and `dpexplain.mechanisms.discrete_gaussian` decides it in exact arithmetic. The
kernels do not use fastmath, because the error bound stated in that module assumes that each
operation is rounded separately, as the IEEE standard prescribes.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit

STRIPS = 16
"""Number of strips per standard deviation."""

INDEX_BITS = 31
"""Number of random bits that choose the strip, unless more are needed."""

GUIDE_BITS = 8
"""Number of leading bits that determine where the search for the strip starts."""

COIN_BITS = 32
"""Number of random bits that decide acceptance, unless more are needed."""

_REJECT, _ACCEPT, _UNDECIDED = 0, 1, 2

_SLACK = 2.0**-34  # sixty times the floating-point error below
_COIN_STEP = 2.0**-COIN_BITS
_LONG, _CHANCE_OF_LONG = 4.0, 0.0186  # exp(-4) is 0.01832

_HALF_WORD = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_INDEX_MASK = np.uint64((1 << INDEX_BITS) - 1)
_SIGN_SHIFT = np.uint64(63)


@njit(inline="always", error_model="numpy")
def _multiply(a, b):  # type: ignore[no-untyped-def]
    """Return the high and low words of the product of two 64-bit words."""
    a_high, a_low = a >> _HALF_WORD, a & _LOW_HALF
    b_high, b_low = b >> _HALF_WORD, b & _LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF_WORD)  # cannot overflow: (2^32 - 1)^2 + 2^32 - 1
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _HALF_WORD) + (other >> _HALF_WORD), a * b


@njit(inline="always", error_model="numpy")
def _compare(coin, exponent):  # type: ignore[no-untyped-def]
    """Decide whether a uniform number is below ``exp(-exponent)``.

    Only the first 32 bits of the number are known: `coin` is the number rounded down to 32 bits.
    The result is `_ACCEPT` if the number is certainly below that value, `_REJECT` if it certainly
    is not, and `_UNDECIDED` otherwise.
    """
    if exponent >= _LONG:
        return _REJECT if coin > _CHANCE_OF_LONG else _UNDECIDED
    total, term, k = 1.0, 1.0, 0.0
    while term > _SLACK:
        k += 1.0
        term *= exponent / k
        total -= term  # an odd number of terms: a lower bound
        if coin + _COIN_STEP + _SLACK < total:
            return _ACCEPT
        k += 1.0
        term *= exponent / k
        total += term  # an even number: an upper bound
        if coin > total + _SLACK:
            return _REJECT
    return _UNDECIDED


@njit(cache=True, nogil=True, error_model="numpy")
def run_trials(words, start, scale, step, width, thresholds, guide, drawn, n_drawn):  # type: ignore[no-untyped-def]
    """Run trials until enough are accepted, words run out, or one is undecided.

    Parameters
    ----------
    words : ndarray of shape (2 * n_trials,), dtype uint64
        Random bits. In the first word of a trial, the highest bit is the sign, the next 31 choose
        the strip, and the other 32 decide acceptance; the second word chooses the position in the
        strip.
    start : int
        Index of the first trial to run.
    scale, step : int
        The standard deviation is ``scale / step * STRIPS`` lattice steps.
    width : int
        Number of lattice steps per strip, at least ``scale / step``.
    thresholds : ndarray of shape (n_strips,), dtype int64
        Cumulative probability of the strips times ``2**31``, rounded down; the last is ``2**31 -
        1``.
    guide : ndarray of shape (256,), dtype int64
        First strip that the search tries, for each value of the first eight of the bits that
        choose the strip.
    drawn : ndarray of shape (size,), dtype int64
        Filled with the accepted values.
    n_drawn : int
        Number of values already filled.

    Returns
    -------
    n_drawn : int
        Number of values filled after the call.
    trial : int
        Index of the undecided trial, or else of the first trial that was not run.
    undecided : bool
        Whether the trial with this index is undecided.
    """
    n_trials = words.shape[0] // 2
    float_scale = float(scale)
    excess = step * width - scale
    word_width = np.uint64(width)
    # Words whose product ends below this would make some positions more likely (Lemire).
    uneven = (np.uint64(0) - word_width) % word_width
    for trial in range(start, n_trials):
        if n_drawn == drawn.shape[0]:
            return n_drawn, trial, False
        word = words[2 * trial]
        bits = np.int64((word >> _HALF_WORD) & _INDEX_MASK)
        strip = guide[bits >> (INDEX_BITS - GUIDE_BITS)]
        while thresholds[strip] < bits:
            strip += 1
        if thresholds[strip] == bits:
            return n_drawn, trial, True
        place, rest = _multiply(words[2 * trial + 1], word_width)
        if rest < uneven:
            continue
        value = strip * width + np.int64(place)
        negative = (word >> _SIGN_SHIFT) == np.uint64(1)
        if value == 0 and negative:
            continue
        beyond = (strip * excess + step * np.int64(place)) / float_scale
        exponent = beyond * (2.0 * strip + beyond) / (2.0 * STRIPS * STRIPS)
        coin = float(np.int64(word & _LOW_HALF)) * _COIN_STEP
        decision = _compare(coin, exponent)
        if decision == _UNDECIDED:
            return n_drawn, trial, True
        if decision == _ACCEPT:
            drawn[n_drawn] = -value if negative else value
            n_drawn += 1
    return n_drawn, n_trials, False
