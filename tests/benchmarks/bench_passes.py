"""Speed of one pass over the records, compared with copying as many bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from dpexplain.models.boosting.records import _kernels_sums as kernels

N_RECORDS = (26_000, 1_000_000, 10_000_000)
"""Records whose scores, targets and bins are in a private cache, in a shared one, or in neither."""
HEADER = ("records", "loss", "ns per record", "bytes per record", "GB/s", "copy", "of a copy")
N_BINS, N_LEAVES = 32, 4
_BYTES = 14
"""A pass reads and writes a score, and reads a target and two bins."""
_SECONDS = 0.5


def passes() -> Iterator[tuple[str, ...]]:
    """Measure a pass of each loss over tables of several sizes.

    Yields
    ------
    tuple of str
        Cells of a row of the table with `HEADER`.
    """
    rng = np.random.default_rng(0)
    update = np.repeat(np.float32([1.01, 0.99, 1.02, 0.98]), N_BINS // N_LEAVES)
    leaf_of_bin = np.repeat(np.arange(N_LEAVES, dtype=np.uint8), N_BINS // N_LEAVES)
    for n in N_RECORDS:
        score, target = np.ones((2, n), dtype=np.float32)
        before, now = rng.integers(0, N_BINS, (2, n), dtype=np.uint8)
        whole = np.zeros(_BYTES * n // 2, dtype=np.uint8)  # half is read and half is written
        other = whole.copy()
        copied = _BYTES * n / _seconds(lambda: np.copyto(other, whole))  # noqa: B023 - used at once
        for loss in ("logistic", "squared"):
            kernel = getattr(kernels, f"{loss}_leaf_sums")
            given = (target, before, update, now, leaf_of_bin, N_LEAVES, np.float32(1.0))
            seconds = _seconds(lambda: kernel(score, *given))  # noqa: B023 - used at once
            rate = _BYTES * n / seconds
            yield (
                f"{n:,}", loss, f"{1e9 * seconds / n:.2f}", f"{_BYTES}", f"{rate / 1e9:.1f}",
                f"{copied / 1e9:.1f}", f"{100 * rate / copied:.0f}%",
            )  # fmt: skip


def _seconds(call: Callable[[], object]) -> float:
    """Return the minimum time of a call: other work on the machine only adds to it."""
    call()
    found, end = [], time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)
