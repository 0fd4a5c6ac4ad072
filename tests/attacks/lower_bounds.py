"""Lower bounds on epsilon and delta that the nine attacks prove for each library."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from distinguish import CONFIDENCE, distinguish
from dpexplain.audit.statistics.bounds import Guesses
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
        """Lower bound on the target's epsilon, at the stated delta."""
        return self.guesses.epsilon_bound(DELTA, CONFIDENCE)

    @property
    def mu(self) -> float:
        """Lower bound on the target's Gaussian-DP parameter."""
        return self.guesses.mu_bound(CONFIDENCE)

    @property
    def delta(self) -> float:
        """Lower bound on the target's delta, at the stated epsilon."""
        false_alarms, misses = self.guesses.error_rates(CONFIDENCE)
        factor = math.exp(EPSILON)
        return max(0.0, 1 - misses - factor * false_alarms, 1 - false_alarms - factor * misses)

    @property
    def broken(self) -> bool:
        """Whether the promise is proved false."""
        return self.epsilon > EPSILON


def attacked(failure: Failure, target: Target, runs: int) -> Bound:
    """Fit both tables this many times, and guess which was which."""
    start = time.process_time()
    absent, present = (
        np.array([target.read(failure, target.fit(failure, table)) for _ in range(runs)])
        for table in failure.tables
    )
    guesses = distinguish(absent, present, DELTA)
    return Bound(failure, target, runs, guesses, time.process_time() - start)


def is_broken(
    failure: Failure, target: Target, runs: int, *, tries: int = 8, doubt: float = 0.05
) -> bool:
    """Attack repeatedly, until all guesses together prove the promise false.

    Each attack learns afresh, so its error rates are its own; their means obey the promise as each
    does, and exact bounds on a mean rate hold for guesses with unequal rates too (Hoeffding 1956).

    Parameters
    ----------
    failure : Failure
        What to attack.
    target : Target
        Whom to attack.
    runs : int
        Fits per table and attack.
    tries : int, default=8
        Attacks at most.
    doubt : float, default=0.05
        Probability, at most, that a kept promise is called broken.
    """
    found = np.zeros(4, dtype=np.int64)
    for _ in range(tries):
        one = attacked(failure, target, runs).guesses
        found += (one.n_absent, one.false_alarms, one.n_present, one.misses)
        if Guesses(*map(int, found)).epsilon_bound(DELTA, 1.0 - doubt / tries) > EPSILON:
            return True
    return False


def stands(failure: Failure, target: Target, runs: int) -> bool:
    """Attack a promise that should hold: what few fits seem to prove, many must confirm.

    The few fits call a kept promise broken with a probability of at most a few percent, the
    many with one of 1e-7: their 200 guesses prove an epsilon of 1.7 if none is wrong.
    """
    stated = target.stated(failure)
    if attacked(failure, target, runs).epsilon <= stated:
        return True
    return attacked(failure, target, 200).guesses.epsilon_bound(DELTA, 1.0 - 1e-7) <= stated


def all_bounds(share: float = 1.0, letters: str = "") -> Iterator[Bound]:
    """Run each attack on InterpretML, if installed, and on every private estimator."""
    peer = interpretml()
    for failure in FAILURES:
        if letters and failure.letter not in letters:
            continue
        for target in ([peer] if peer and not failure.only_ours else []) + ours(failure):
            yield attacked(failure, target, max(20, round(share * failure.runs)))
