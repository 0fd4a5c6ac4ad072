"""Fast trials for exact discrete Laplace noise and exact choices.

No outcome is ever rounded: a comparison that is too close for floating-point arithmetic is returned
as undecided, to be decided in exact arithmetic with the same bits. A trial that runs out of words
is also returned, and is rerun with the same words followed by more words; dropping it would favor
short trials.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.mechanisms._kernels_gaussian import COIN_BITS, _compare, _multiply

DONE, UNDECIDED, MORE_WORDS = 0, 1, 2
_REJECT, _OPEN = 0, 2

PART = 2.0
"""Size of the parts into which exponents are split; a coin is flipped for each part."""

LAST = 3.5
"""Largest exponent that is not split."""

MOST_PARTS = 1 << 14
"""Maximum number of parts of an exponent; with more, floats could not represent the remainder."""

_COIN_STEP = 2.0**-COIN_BITS
_COIN_SHIFT, _SIGN_SHIFT = np.uint64(64 - COIN_BITS), np.uint64(63)


@njit(inline="always", error_model="numpy")
def _flip(word, exponent):  # type: ignore[no-untyped-def]
    """Decide whether a uniform number is below ``exp(-exponent)``.

    Only the first bits of the number are known; they are the leading bits of `word`. The result has
    the same meaning as in `_compare`.
    """
    return _compare(float(np.int64(word >> _COIN_SHIFT)) * _COIN_STEP, exponent)


@njit(cache=True, nogil=True, error_model="numpy")
def laplace_trials(words, start, scale, drawn, n_drawn):  # type: ignore[no-untyped-def]
    """Run trials of the discrete Laplace sampler until enough are accepted.

    Parameters
    ----------
    words : ndarray of shape (n_words,), dtype uint64
        Random bits. A trial reads one word for the sign (its highest bit), one for a position, and
        one for the coin that accepts or rejects the position. It then flips coins that show heads
        with probability ``exp(-1)``, one word each, and adds the scale for each head, until a coin
        shows tails.
    start : int
        Index of the first word of the first trial.
    scale : int
        Scale in lattice steps, positive.
    drawn : ndarray of shape (size,), dtype int64
        Filled with the accepted values.
    n_drawn : int
        Number of values already filled.

    Returns
    -------
    n_drawn : int
        Number of values filled after the call.
    start : int
        Index of the first word of the next or unfinished trial.
    state : int
        Reason the trials stopped: `DONE`, `UNDECIDED` or `MORE_WORDS`.
    """
    n_words = words.shape[0]
    width, float_scale = np.uint64(scale), float(scale)
    # Words whose product ends below this would make some positions more likely (Lemire).
    uneven = (np.uint64(0) - width) % width
    while n_drawn < drawn.shape[0]:
        at = start + 3
        if at > n_words:
            return n_drawn, start, MORE_WORDS
        negative = (words[start] >> _SIGN_SHIFT) == np.uint64(1)
        place, rest = _multiply(words[start + 1], width)
        if rest < uneven:
            start += 2
            continue
        value = np.int64(place)
        decision = _flip(words[start + 2], float(value) / float_scale)
        if decision == _REJECT:
            start = at
            continue
        while decision != _OPEN:
            if at == n_words:
                return n_drawn, start, MORE_WORDS
            decision = _flip(words[at], 1.0)
            at += 1
            if decision == _REJECT:
                break
            value += scale
        if decision == _OPEN:
            return n_drawn, start, UNDECIDED
        start = at
        if value != 0 or not negative:
            drawn[n_drawn] = -value if negative else value
            n_drawn += 1
    return n_drawn, start, DONE


@njit(cache=True, nogil=True, error_model="numpy")
def choice_trials(words, start, utilities, best, ratio, chosen, n_chosen):  # type: ignore[no-untyped-def]
    """Run exponential-mechanism trials until a candidate is chosen in each group.

    Parameters
    ----------
    words : ndarray of shape (n_words,), dtype uint64
        Random bits. A trial reads one word for a candidate. It then flips one coin for each part of
        the candidate's exponent, one word each, and rejects the candidate at the first coin that
        shows tails.
    start : int
        Index of the first word of the first trial.
    utilities : ndarray of shape (n_groups, n_candidates), dtype int64
        Utilities in lattice steps.
    best : ndarray of shape (n_groups,), dtype int64
        Largest utility in each group.
    ratio : float
        Exponent per lattice step.
    chosen : ndarray of shape (n_groups,), dtype int64
        Filled with the chosen candidates.
    n_chosen : int
        Number of values already filled.

    Returns
    -------
    n_chosen : int
        Number of values filled after the call.
    start : int
        Index of the first word of the next or unfinished trial.
    state : int
        Reason the trials stopped: `DONE`, `UNDECIDED` or `MORE_WORDS`.
    """
    n_words = words.shape[0]
    width = np.uint64(utilities.shape[1])
    uneven = (np.uint64(0) - width) % width
    while n_chosen < chosen.shape[0]:
        if start == n_words:
            return n_chosen, start, MORE_WORDS
        candidate, rest = _multiply(words[start], width)
        at = start + 1
        if rest < uneven:
            start = at
            continue
        exponent = float(best[n_chosen] - utilities[n_chosen, np.int64(candidate)]) * ratio
        parts, last, decision = 0, False, 1
        while decision != _REJECT and not last:
            if at == n_words:
                return n_chosen, start, MORE_WORDS
            left = exponent - PART * parts
            last = left <= LAST
            decision = _flip(words[at], left if last else PART)
            at += 1
            parts += 1
            if decision == _OPEN or parts > MOST_PARTS:
                return n_chosen, start, UNDECIDED
        start = at
        if decision != _REJECT:
            chosen[n_chosen] = np.int64(candidate)
            n_chosen += 1
    return n_chosen, start, DONE
