"""Background thread for fits, in which the latest request replaces pending ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any


class LatestWins:
    """Background worker for the most recently requested list of epsilons.

    Parameters
    ----------
    work : callable
        Function that maps an epsilon to a result; it runs in the background thread.
    done : callable
        Function that is called with the epsilon, the result, the number of finished epsilons, and
        the length of the list.
    failed : callable
        Function that is called with the epsilon and the error raised by `work` or `done`.

    Notes
    -----
    A new list replaces the pending epsilons of the previous list. The running fit finishes first,
    and its result is used unless :meth:`cancel` is called.
    """

    def __init__(
        self,
        work: Callable[[float], Any],
        done: Callable[[float, Any, int, int], None],
        failed: Callable[[float, Exception], None],
    ) -> None:
        self._work, self._done, self._failed = work, done, failed
        self._lock = threading.Lock()
        self._waiting: list[float] = []
        self._total = 0
        self._asked = 0
        self._thread: threading.Thread | None = None

    def submit(self, epsilons: Sequence[float]) -> None:
        """Request results for a list of epsilons; drop pending requests."""
        with self._lock:
            self._waiting, self._total = list(epsilons), len(epsilons)
            if not self.busy:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def cancel(self) -> None:
        """Drop pending requests and the result of the running fit."""
        with self._lock:
            self._waiting, self._asked = [], self._asked + 1

    @property
    def busy(self) -> bool:
        """Whether anything is running or pending."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, seconds: float = 30.0) -> bool:
        """Wait until nothing is running or pending; return False after a timeout."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _next(self) -> tuple[float, int] | None:
        with self._lock:
            if not self._waiting:
                self._thread = None
                return None
            return self._waiting.pop(0), self._asked

    def _run(self) -> None:
        while (job := self._next()) is not None:
            epsilon, asked = job
            try:
                result = self._work(epsilon)
                if asked == self._asked:
                    self._done(epsilon, result, self._total - len(self._waiting), self._total)
            except Exception as error:
                if asked == self._asked:
                    self._failed(epsilon, error)
