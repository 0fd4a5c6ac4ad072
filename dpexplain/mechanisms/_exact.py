"""Streams of random words, and exact Bernoulli draws from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms._kernels_pure import DONE, MORE_WORDS
from dpexplain.mechanisms.discrete_gaussian import RandomBytes, _Uniform, exponential

__all__ = ["Words", "run"]

_FEWEST_WORDS, _MOST_WORDS = 256, 4096  # few at first: most choices need no more
_WORD = 8


class Words:
    """Stream of 64-bit random words: first those given, then fresh ones.

    Parameters
    ----------
    there : ndarray of shape (n_words,), dtype uint64
        Words to return first.
    random_bytes : callable
        Returns the requested number of fresh random bytes.

    Attributes
    ----------
    n_read : int
        Number of words read so far.
    """

    def __init__(self, there: NDArray[np.uint64], random_bytes: RandomBytes) -> None:
        self._there, self._random_bytes, self.n_read = there, random_bytes, 0

    def next(self) -> int:
        """Return the next word."""
        self.n_read += 1
        if self.n_read <= len(self._there):
            return int(self._there[self.n_read - 1])
        return int.from_bytes(self._random_bytes(_WORD), "little")

    def place(self, width: int) -> int | None:
        """Draw a uniform integer below `width`, or None if the random word is rejected."""
        place, rest = divmod(self.next() * width, 1 << 64)
        return None if rest < (1 << 64) % width else place

    def flip(self, numerator: int, denominator: int) -> bool:
        """Draw a Bernoulli variable with probability ``exp(-numerator / denominator)``."""
        coin = _Uniform(self.next(), 64, self._random_bytes)
        return coin.below(partial(exponential, numerator, denominator))


def run(
    trials: Callable[[NDArray[np.uint64], int, int], tuple[int, int, int]],
    settle: Callable[[Words, int], bool],
    random_bytes: RandomBytes,
) -> None:
    """Run compiled trials, and rerun the undecided ones in exact arithmetic.

    Parameters
    ----------
    trials : callable
        ``trials(words, start, n_done)`` returns the number of outcomes so far, the index of the
        first word of the next or unfinished trial, and the reason the trials stopped.
    settle : callable
        ``settle(words, n_done)`` runs one trial in exact arithmetic and returns whether the trial
        had an outcome.
    random_bytes : callable
        Returns the requested number of fresh random bytes.
    """
    words, start, n_done, state = np.empty(0, dtype=np.uint64), 0, 0, MORE_WORDS
    n_fresh = _FEWEST_WORDS
    while True:
        if state == MORE_WORDS:
            fresh = np.frombuffer(random_bytes(_WORD * n_fresh), dtype=np.uint64)
            n_fresh = min(2 * n_fresh, _MOST_WORDS)
            words, start = np.concatenate([words[start:], fresh]), 0
        n_done, start, state = trials(words, start, n_done)
        if state == DONE:
            return
        if state != MORE_WORDS:
            left = Words(words[start:], random_bytes)
            n_done += settle(left, n_done)
            start = min(start + left.n_read, len(words))
