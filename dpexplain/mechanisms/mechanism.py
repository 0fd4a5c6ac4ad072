"""Integer mechanisms: every private release passes through one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.processes import this_process
from dpexplain._utils.validation import shown
from dpexplain.accounting import Event
from dpexplain.mechanisms.noise_source import NoiseSource
from dpexplain.mechanisms.phases import AnyPhase, ChoicePhase
from dpexplain.mechanisms.plan import Allowance

__all__ = ["Mechanism", "QueriesInTurn"]

_IN_ONE_CALL = 128
"""Number of queries computed in one call; Ctrl-C need not wait for all of them."""


class QueriesInTurn(Protocol):
    """Interface for exact sums that depend on earlier answers."""

    @property
    def start(self) -> NDArray[np.int64]:
        """Index of the first value of each query, and the number of values."""
        ...

    def add(self, first: int, last: int, answers: NDArray[np.int64]) -> None:
        """Add the exact sums of some queries to an array of answers.

        The array contains all answers before these queries. The other entries contain the noise of
        later answers, which must not be read.
        """
        ...


class Mechanism:
    """Mechanism that adds fresh noise to integer sums and makes random choices.

    All noise of a phase is drawn before the first release, for two reasons: the time taken to draw
    it then reveals nothing about any single value, and the exact sampler is fast only when it draws
    many values at once. The noise leaves the object only inside a release; its repr, copies and
    pickles contain no noise.

    Parameters
    ----------
    source : NoiseSource
        Source of the noise.
    charged : iterable of Event or None, default=None
        Events charged for the releases: a release that they do not cover is rejected before it is
        made. If None, no release is rejected.

    Examples
    --------
    >>> from dpexplain.mechanisms import Phase
    >>> mechanism = Mechanism(NoiseSource())
    >>> with mechanism.phase(Phase("counts", 2**20, 2.0**22, n_values=3)):
    ...     noisy = mechanism.release(np.array([5, 0, 7]) * 2**20)
    >>> noisy.shape
    (3,)
    """

    _allowance: Allowance | None = None

    def __init__(self, source: NoiseSource, charged: Iterable[Event] | None = None) -> None:
        if not isinstance(source, NoiseSource):
            raise TypeError(f"source is {shown(source)}; pass NoiseSource().")
        self._source = source
        self._phase: AnyPhase | None = None
        self._process = this_process()
        self._noise: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._used = 0
        self.limit_to(charged)

    def limit_to(self, charged: Iterable[Event] | None) -> None:
        """Restrict further releases to those covered by the given events.

        Parameters
        ----------
        charged : iterable of Event or None
            Charged events; with None, no release is rejected.
        """
        self._allowance = None if charged is None else Allowance(charged)

    @property
    def source(self) -> NoiseSource:
        """Noise source of the mechanism.

        Returns
        -------
        NoiseSource
            The source passed to the mechanism.
        """
        return self._source

    def begin(self, phase: AnyPhase) -> None:
        """Start a phase and draw all its noise.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            The phase to start, with its scale and its number of values.

        Raises
        ------
        RuntimeError
            If the previous phase was not finished, or no charged event covers the new phase.
        """
        if self._phase is not None:
            raise RuntimeError(
                f"phase {self._phase.label!r} is not finished; call finish() before "
                f"begin({phase.label!r})."
            )
        if self._allowance is not None:
            self._allowance.check(phase)
        self._noise = phase.drawn(self._source)
        self._phase, self._used, self._process = phase, 0, this_process()

    def release(self, query: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the next noise draws to exact sums.

        Parameters
        ----------
        query : ndarray of shape (n,), dtype int64
            Exact sums in lattice steps.

        Returns
        -------
        ndarray of shape (n,), dtype int64
            The noisy sums, which may be published.

        Raises
        ------
        RuntimeError
            If no phase was begun; if the phase has fewer than n draws left; if the charged events
            do not cover the release; or if the process has been forked since the phase began. (Both
            processes would use the same noise.)
        ValueError
            If `query` is not a one-dimensional int64 array.
        """
        if not isinstance(query, np.ndarray) or query.dtype != np.int64 or query.ndim != 1:
            raise ValueError(
                "a query must be a one-dimensional int64 array of lattice steps; "
                "floating-point sums cannot be released."
            )
        noise = self._next_noise(len(query))
        noisy = query + noise
        noise[:] = 0
        return noisy

    def release_in_turn(self, queries: QueriesInTurn) -> NDArray[np.int64]:
        """Add the next noise draws to sums that depend on the answers before them.

        The answers, the noise and the cost are those of one call to `release` for each query.

        Parameters
        ----------
        queries : QueriesInTurn
            Queries that are computed one after another.

        Returns
        -------
        ndarray of shape (n,), dtype int64
            The noisy sums of all queries, which may be published.

        Raises
        ------
        RuntimeError
            As in `release`.
        """
        start = queries.start.tolist()
        answers = np.zeros(start[-1], dtype=np.int64)
        if getattr(self.release, "__func__", None) is not _RELEASE:
            # An audit or an attack watches or replaces each release.
            for k, (first, last) in enumerate(pairwise(start)):
                queries.add(k, k + 1, answers)
                answers[first:last] = self.release(answers[first:last].copy())
            return answers
        noise = self._next_noise(len(answers), n_releases=len(start) - 1)
        answers += noise
        noise[:] = 0
        for k in range(0, len(start) - 1, _IN_ONE_CALL):
            queries.add(k, min(k + _IN_ONE_CALL, len(start) - 1), answers)
        return answers

    def _next_noise(self, n_values: int, n_releases: int = 1) -> NDArray[np.int64]:
        """Return the next draws, which the caller sets to zero, and deduct the releases."""
        if self._phase is None:
            raise RuntimeError("no phase was begun; call begin(Phase(...)) before release().")
        if self._process != this_process():
            raise RuntimeError(
                f"phase {self._phase.label!r} was begun in another process, which holds the same "
                "noise; begin the phase in the releasing process."
            )
        end = self._used + n_values
        if end > len(self._noise):
            raise RuntimeError(
                f"phase {self._phase.label!r} has {len(self._noise) - self._used} draws left but "
                f"{n_values} are requested; set the right n_values in Phase(...)."
            )
        if self._allowance is not None:
            self._allowance.spend(self._phase, n_releases)
        noise = self._noise[self._used : end]
        self._used = end
        return noise

    def choose(self, utilities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose one candidate per group; see `dpexplain.mechanisms.exponential`.

        Parameters
        ----------
        utilities : ndarray of shape (n_groups, n_candidates), dtype int64
            Exact utilities in lattice steps.

        Returns
        -------
        ndarray of shape (n_groups,), dtype int64
            The chosen candidates, which may be published.

        Raises
        ------
        RuntimeError
            If no choice phase was begun, if it has too few choices left, or if the charged events
            do not cover the choices.
        ValueError
            If `utilities` is not a two-dimensional int64 array with the phase's number of
            candidates.
        """
        phase = self._phase
        if not isinstance(phase, ChoicePhase):
            raise RuntimeError("no choices were begun; call begin(ChoicePhase(...)) first.")
        shape = (len(utilities), phase.n_candidates)
        if utilities.dtype != np.int64 or utilities.shape != shape:
            raise ValueError(
                f"utilities must be int64 lattice steps for {phase.n_candidates} candidates per "
                "group; floating-point utilities are not supported."
            )
        if self._used + len(utilities) > phase.n_values:
            raise RuntimeError(
                f"phase {phase.label!r} has {phase.n_values - self._used} choices left and "
                f"{len(utilities)} are asked for; state the right n_values in ChoicePhase(...)."
            )
        if self._allowance is not None:
            self._allowance.spend(phase)
        self._used += len(utilities)
        return self._source.choose(utilities, phase.epsilon, phase.spread_int)

    def finish(self) -> None:
        """End the phase.

        Raises
        ------
        RuntimeError
            If no phase was begun, or if some of its draws are unused. (In the second case, releases
            are missing, or the stated number of values was wrong.)
        """
        if self._phase is None:
            raise RuntimeError("no phase was begun; call begin(Phase(...)) before finish().")
        label, left = self._phase.label, self._phase.n_values - self._used
        self._forget()
        if left:
            raise RuntimeError(
                f"phase {label!r} ends with {left} draws left; "
                "state the right n_values in Phase(...)."
            )

    @contextmanager
    def phase(self, phase: AnyPhase) -> Iterator[Mechanism]:
        """Run a ``with`` block inside a phase; an error in the block discards the noise.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            The phase to run, with its scale and its number of values.

        Yields
        ------
        Mechanism
            The mechanism itself.
        """
        self.begin(phase)
        try:
            yield self
        except BaseException:
            self._forget()
            raise
        self.finish()

    def _forget(self) -> None:
        self._phase, self._used = None, 0
        self._noise = np.empty(0, dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        # List what may leave the object, not what may not.
        return {"_source": self._source, "_limited": self._allowance is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._source = state["_source"]
        self.limit_to(() if state["_limited"] else None)  # charged events pay for one mechanism
        self._forget()

    def __repr__(self) -> str:
        if self._phase is None:
            return f"Mechanism({self._source!r})"
        left = len(self._noise) - self._used
        return f"Mechanism({self._source!r}, phase={self._phase.label!r}, {left} left)"


_RELEASE = Mechanism.release
