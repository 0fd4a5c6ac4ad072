"""What each of the nine attacks proves about each library: lower bounds on epsilon and delta."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from distinguish import CONFIDENCE, distinguish
from dpexplain.audit.bounds import Guesses
from known_failures import DELTA, EPSILON, FAILURES, Failure, Target, interpretml, ours


@dataclass(frozen=True)
class Bound:
    """Outcome of one attack on one target.

    Attributes
    ----------
    failure : Failure
    target : Target
    runs : int
        Fits per table.
    guesses : Guesses
        On the half of them that was not learned from.
    seconds : float
        CPU time.
    """

    failure: Failure
    target: Target
    runs: int
    guesses: Guesses
    seconds: float

    @property
    def epsilon(self) -> float:
        """Epsilon that the target has at least, at the stated delta."""
        return self.guesses.epsilon_bound(DELTA, CONFIDENCE)

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter that the target has at least."""
        return self.guesses.mu_bound(CONFIDENCE)

    @property
    def delta(self) -> float:
        """Delta that the target has at least, at the stated epsilon."""
        false_alarms, misses = self.guesses.error_rates(CONFIDENCE)
        factor = math.exp(EPSILON)
        return max(0.0, 1 - misses - factor * false_alarms, 1 - false_alarms - factor * misses)

    @property
    def broken(self) -> bool:
        """Whether the promise is proved to be false."""
        return self.epsilon > EPSILON


def attacked(failure: Failure, target: Target, runs: int) -> Bound:
    """Fit on both tables so many times and guess which was which."""
    start = time.process_time()
    absent, present = (
        np.array([target.read(failure, target.fit(failure, table)) for _ in range(runs)])
        for table in failure.tables
    )
    guesses = distinguish(absent, present, DELTA)
    return Bound(failure, target, runs, guesses, time.process_time() - start)


def all_bounds(share: float = 1.0, letters: str = "") -> Iterator[Bound]:
    """Each attack on InterpretML, where it is installed, and on every private estimator."""
    peer = interpretml()
    for failure in FAILURES:
        if letters and failure.letter not in letters:
            continue
        for target in ([peer] if peer else []) + ours(failure):
            yield attacked(failure, target, max(20, round(share * failure.runs)))
