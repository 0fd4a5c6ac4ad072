"""Multithreaded passes: each thread streams through its own chunk of the records.

The answers for the chunks are exact integers, so their sum is identical to the answer of a single
pass: threads affect only how long a fit takes.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.validation import shown
from dpexplain.mechanisms import Coins
from dpexplain.models.boosting.records.binned import BinnedRecords, Crossing, Records
from dpexplain.models.boosting.records.chunked import ChunkedRecords, total
from dpexplain.models.boosting.records.class_sums import ClassSums

LEAST_SHARE: Final = 200_000
"""Minimum number of records per thread if the number of threads is not given.

A pass over this many records takes 84 microseconds of processor time, and delegating it to a thread
takes another 25 microseconds. Two threads with this many records each therefore save a third of the
time if a second processor is free, and take a fifth more time otherwise.
"""

MOST_THREADS: Final = 1024
"""Maximum number of threads. A larger number is treated as a mistake, which is reported before the
budget is charged."""


def check_n_jobs(n_jobs: object) -> None:
    """Check the number of threads.

    Parameters
    ----------
    n_jobs : int or None

    Raises
    ------
    ValueError
        If `n_jobs` is not None, -1 or an integer from 1 to `MOST_THREADS`.
    """
    whole = int(n_jobs) if isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) else 0
    if n_jobs is None or whole == -1 or 1 <= whole <= MOST_THREADS:
        return
    raise ValueError(
        f"n_jobs={shown(n_jobs)} must be None, -1 for all processors, or an integer number of "
        f"threads from 1 to {MOST_THREADS}; pass n_jobs=None to let the fit choose."
    )


def n_threads(n_jobs: int | None, n_records: float) -> int:
    """Choose the number of threads for passes over the records.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; -1 means one thread per processor. None means one thread for a fit that
        may run in parallel with others. For any other fit, it means as many threads as there are
        processors, or fewer, so that each thread gets at least `LEAST_SHARE` records.
    n_records : float
        Released number of records. The exact number must not decide: passes with threads compile
        other kernels, which leave files and are shown by a progress bar.

    Returns
    -------
    int
        At least 1.
    """
    from joblib import cpu_count

    if n_jobs is not None:
        return min(cpu_count(), MOST_THREADS) if n_jobs == -1 else n_jobs
    most = int(min(n_records // LEAST_SHARE, MOST_THREADS))
    if most < 2 or _is_one_of_several():
        return 1
    return min(most, cpu_count())


def _is_one_of_several() -> bool:
    """Return whether other fits may run in parallel with this fit.

    The result is True in any thread except the main thread, in child processes, and in joblib
    tasks.
    """
    from joblib.parallel import get_active_backend

    return (
        threading.current_thread() is not threading.main_thread()
        or multiprocessing.parent_process() is not None
        or (get_active_backend()[0].nesting_level or 0) > 0
    )


class Team:
    """Team of threads for one fit, to be closed after use.

    Parameters
    ----------
    n_jobs : int or None, default=1
        Number of threads, as in `n_threads`.
    """

    def __init__(self, n_jobs: int | None = 1) -> None:
        self._n_jobs = n_jobs
        self._pool: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return "<Team>"

    def sharing(self, records: BinnedRecords, n_records: float) -> BinnedRecords:
        """Split records among the threads if there are several.

        Parameters
        ----------
        records : BinnedRecords
            Records with scores of zero, which must not be used afterward.
        n_records : float
            Released number of records.

        Returns
        -------
        BinnedRecords
            The same records, with scores of zero. This is `records` itself if there is only one
            thread, or if the records are not in this process.
        """
        chunks = records.local()
        n = n_threads(self._n_jobs, n_records)
        if n == 1 or not chunks:
            return records
        # The calling thread processes a chunk, too.
        self._pool = ThreadPoolExecutor(n - 1, thread_name_prefix="dpexplain-records")
        return SharedRecords(_shares(chunks, n), self._pool)

    def close(self) -> None:
        """Wait until all threads have ended."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class SharedRecords:
    """Binned records in chunks, one chunk for each thread.

    Parameters
    ----------
    shares : sequence of BinnedRecords
        Chunks in the order of the records; at least one. The calling thread processes the first.
    pool : ThreadPoolExecutor
        Pool with one thread for each of the other chunks.
    """

    def __init__(self, shares: Sequence[BinnedRecords], pool: ThreadPoolExecutor) -> None:
        self._shares = list(shares)
        self._pool = pool

    def __repr__(self) -> str:
        return "<SharedRecords>"

    def apply(self, feature: int, update: NDArray[np.float64]) -> None:
        """Store an update per bin, which the next pass adds to the scores of the records."""
        for share in self._shares:
            share.apply(feature, update)

    def leaf_sums(
        self, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> NDArray[np.int64]:
        """Sum clipped residuals per leaf (and class), in lattice steps."""
        return self._total(lambda share: share.leaf_sums(feature, leaf_of_bin, n_leaves, clip))

    def within(self, clip: float) -> NDArray[np.int64]:
        """Count the residuals that are not clipped, and all residuals."""
        return self._total(lambda share: share.within(clip))

    def joint_counts(
        self, groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Return the number of records in each pair of groups, for some pairs of features."""
        return self._total(lambda share: share.joint_counts(groups, pairs))

    def score_counts(
        self, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> NDArray[np.int64]:
        """Count the records by outcome and score cell, shape (n_outcomes, n_cells)."""
        return self._total(lambda share: share.score_counts(low, width, n_cells, largest))

    def class_sums(self, each: ClassSums) -> NDArray[np.int64]:
        """Sum what calibrates several classes over the records, in lattice steps."""
        return self._total(lambda share: share.class_sums(each))

    def cross(self, crossing: Crossing) -> None:
        """Add a column with the cell of each record in a crossing of two features."""
        for share in self._shares:
            share.cross(crossing)

    def cell_counts(self, column: int, n_cells: int) -> NDArray[np.int64]:
        """Return the number of records in each cell of a crossing, shape (n_cells,)."""
        return self._total(lambda share: share.cell_counts(column, n_cells))

    def bag(self, share: float, coins: Coins) -> SharedRecords:
        """Return a Bernoulli sample of the records, with scores of zero."""
        return SharedRecords([own.bag(share, coins) for own in self._shares], self._pool)

    def local(self) -> list[Records]:
        """Return the blocks of records of all chunks, in order."""
        return [piece for share in self._shares for piece in share.local()]

    def _total(self, ask: Callable[[BinnedRecords], NDArray[np.int64]]) -> NDArray[np.int64]:
        others = [self._pool.submit(ask, share) for share in self._shares[1:]]
        return total([ask(self._shares[0]), *(other.result() for other in others)])


def _shares(chunks: Sequence[Records], n_shares: int) -> list[ChunkedRecords]:
    """Split records into contiguous chunks of nearly equal length."""
    ends = np.cumsum([0, *map(len, chunks)]).tolist()
    places = [k * ends[-1] // n_shares for k in range(n_shares + 1)]
    return [
        ChunkedRecords(
            [
                chunk.rows(max(first - start, 0), last - start)
                for chunk, (start, end) in zip(chunks, pairwise(ends), strict=True)
                if max(first, start) < min(last, end)
            ]
            or [chunks[0].rows(0, 0)]
        )
        for first, last in pairwise(places)
    ]
