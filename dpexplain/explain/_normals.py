"""Cached standard normal draws by seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from dpexplain.explain._record import FloatArray

_Streams = dict[int, tuple[np.random.Generator, FloatArray]]
_kept: ContextVar[_Streams | None] = ContextVar("kept_normals", default=None)


def normals(seed: int, count: int) -> FloatArray:
    """Return the first numbers of the stream of a seed.

    Parameters
    ----------
    seed : int
        The same seed gives the same numbers.
    count : int
        Number of draws.

    Returns
    -------
    ndarray of shape (count,)
        Read-only while numbers are kept.
    """
    kept = _kept.get()
    if kept is None:
        return np.random.default_rng(seed).standard_normal(count)
    rng, numbers = kept.get(seed) or (np.random.default_rng(seed), np.empty(0))
    if len(numbers) < count:
        more = rng.standard_normal(count - len(numbers))
        numbers = np.concatenate([numbers, more]) if len(numbers) else more
        numbers.flags.writeable = False
        kept[seed] = rng, numbers
    return numbers[:count]


@contextmanager
def keeping_normals() -> Iterator[None]:
    """Cache the numbers drawn inside, so that several models share them.

    They take most of the time of a simulation and are the same for every model. They are discarded
    afterward: 4,000 draws take about 30 kB per bin.
    """
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)
