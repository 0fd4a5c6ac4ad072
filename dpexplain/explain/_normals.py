"""Standard normal draws, cached by seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from threading import Lock

import numpy as np

from dpexplain.explain._record import FloatArray

_Streams = dict[int, tuple[np.random.Generator, FloatArray]]
_kept: ContextVar[_Streams | None] = ContextVar("kept_normals", default=None)
_LOCK = Lock()  # threads that share a cache need the same numbers, so they can wait for each other


def normals(seed: int, counts: Sequence[int]) -> Iterator[FloatArray]:
    """Yield standard normal draws from a seeded random stream, part by part.

    Parameters
    ----------
    seed : int
        Seed of the stream; the same seed gives the same draws, however they are divided into parts.
    counts : sequence of int
        Number of draws in each part.

    Yields
    ------
    ndarray of shape (count,)
        The next draws. Inside `keeping_normals`, the array is read-only, because the cache shares
        it; otherwise, only one part at a time is in memory.
    """
    kept = _kept.get()
    if kept is None:
        rng = np.random.default_rng(seed)
        yield from map(rng.standard_normal, counts)
        return
    with _LOCK:
        numbers = _cached(kept, seed, sum(counts))
    for end, count in zip(accumulate(counts), counts, strict=True):
        yield numbers[end - count : end]


def _cached(kept: _Streams, seed: int, count: int) -> FloatArray:
    rng, numbers = kept.get(seed) or (np.random.default_rng(seed), np.empty(0))
    if len(numbers) < count:
        more = rng.standard_normal(count - len(numbers))
        numbers = np.concatenate([numbers, more]) if len(numbers) else more
        numbers.flags.writeable = False
        kept[seed] = rng, numbers
    return numbers


@contextmanager
def keeping_normals() -> Iterator[None]:
    """Cache the numbers drawn inside this context, so that models can share them.

    Generating the numbers takes most of the run time of a simulation, and they are the same for
    every model. Threads share the cache if they run in a copy of this context. The cache is cleared
    on exit, because 4,000 draws take about 30 kB per bin.
    """
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)
