"""Mechanisms on integers: every private release passes through one object."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._validation import check_count, check_in_range, shown
from dpexplain.mechanisms.exponential import ChoicePhase
from dpexplain.mechanisms.laplace import LaplacePhase
from dpexplain.mechanisms.noise import NoiseSource, check_scale

__all__ = ["GaussianMechanism", "Phase", "SampledPhase"]

# At this scale the discrete Gaussian's delta exceeds the continuous one's by a share that is
# smaller than what the inflation of the noise gives back; a coarser lattice would spend more
# than Gaussian DP accounts for.
_SMALLEST_SIGMA = 2.0**14


@dataclass(frozen=True)
class Phase:
    """Releases that share one noise scale, and whose noise is drawn in one call.

    Parameters
    ----------
    label : str
        What is released: "histograms", "boosting".
    sensitivity_int : float
        L2 sensitivity of one release in lattice steps, positive.
    sigma_int : float
        Standard deviation of the noise in lattice steps, at least ``2**14``: on a coarser
        lattice the discrete Gaussian spends visibly more than is accounted for.
    n_values : int
        Number of values that the releases of the phase have together.
    """

    label: str
    sensitivity_int: float
    sigma_int: float
    n_values: int

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise ValueError(f"label={shown(self.label)} must name what the phase releases.")
        check_in_range(
            "sensitivity_int",
            self.sensitivity_int,
            0.0,
            math.inf,
            include_low=False,
            include_high=False,
        )
        check_scale(self.sigma_int, _SMALLEST_SIGMA, sys.float_info.max)
        check_count("n_values", self.n_values, minimum=0)

    @property
    def noise_multiplier(self) -> float:
        """Noise standard deviation divided by the sensitivity of one release.

        Returns
        -------
        float
            The multiplier to record in a `GaussianEvent`.
        """
        return self.sigma_int / self.sensitivity_int

    def drawn(self, source: NoiseSource) -> NDArray[np.int64]:
        """Draw the noise of the whole phase.

        Parameters
        ----------
        source : NoiseSource
            Where randomness comes from.

        Returns
        -------
        ndarray of int64
        """
        return source.draw_int(self.sigma_int, self.n_values)

    def with_noise(self, factor: float) -> Phase:
        """Return the phase with so many times the noise, for audits.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        Phase
        """
        return replace(self, sigma_int=factor * self.sigma_int)

    def with_sensitivity(self, factor: float) -> Phase:
        """Return the phase with so many times the sensitivity, and the noise for it.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        Phase
        """
        return replace(self.with_noise(factor), sensitivity_int=factor * self.sensitivity_int)


@dataclass(frozen=True)
class SampledPhase(Phase):
    """Releases about Poisson samples of the records: who takes part is decided by secret coins.

    Parameters
    ----------
    label : str
        As for `Phase`.
    sensitivity_int : float
        As for `Phase`: of one sum whose sample the record is in.
    sigma_int : float
        As for `Phase`.
    n_values : int
        As for `Phase`.
    n_changed : int
        Records that differ between neighbours: 1 for add/remove adjacency, 2 where one may be
        exchanged for another. Each is bounded by its share of the sensitivity.
    sampling_probability : float
        Probability with which a person takes part in a release, in (0, 1].
    """

    n_changed: int
    sampling_probability: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_changed", self.n_changed)
        check_in_range(
            "sampling_probability", self.sampling_probability, 0.0, 1.0, include_low=False
        )

    @property
    def record_bound_int(self) -> float:
        """Bound on the L2 norm of what one person adds to a sum, in lattice steps.

        Returns
        -------
        float
            What the noise multiplier of a `SubsampledGaussianEvent` is relative to.
        """
        return self.sensitivity_int / self.n_changed


AnyPhase = Phase | LaplacePhase | ChoicePhase
"""Releases of any kind."""


class GaussianMechanism:
    """Add fresh integer noise to integer sums, each draw once.

    All noise of a phase is drawn before the first release: the time that drawing takes then
    says nothing about a single value, and the exact sampler is fast in bulk only. The noise
    never leaves the object except inside a release; its text, its copies and its pickles hold
    none.

    Parameters
    ----------
    source : NoiseSource
        Where the noise comes from.

    Examples
    --------
    >>> mechanism = GaussianMechanism(NoiseSource())
    >>> with mechanism.phase(Phase("counts", 2**20, 2.0**22, n_values=3)):
    ...     noisy = mechanism.release(np.array([5, 0, 7]) * 2**20)
    >>> noisy.shape
    (3,)
    """

    def __init__(self, source: NoiseSource) -> None:
        if not isinstance(source, NoiseSource):
            raise TypeError(f"source is {shown(source)}; pass NoiseSource().")
        self._source = source
        self._phase: AnyPhase | None = None
        self._process = os.getpid()
        self._noise: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._used = 0

    @property
    def source(self) -> NoiseSource:
        """Where the noise comes from.

        Returns
        -------
        NoiseSource
            The source that the mechanism was made with.
        """
        return self._source

    def begin(self, phase: AnyPhase) -> None:
        """Start a phase and draw all its noise in one call.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            Scale and number of the values to come.

        Raises
        ------
        RuntimeError
            If the phase before was not finished.
        """
        if self._phase is not None:
            raise RuntimeError(
                f"phase {self._phase.label!r} is not finished; call finish() before "
                f"begin({phase.label!r})."
            )
        self._noise = phase.drawn(self._source)
        self._phase, self._used, self._process = phase, 0, os.getpid()

    def release(self, query: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the next draws to exact sums.

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
            If no phase was begun, or it has fewer than n draws left, or the process was forked
            since: the noise would be used by both processes. Noise is never used twice.
        ValueError
            If `query` is no one-dimensional int64 array.
        """
        if self._phase is None:
            raise RuntimeError("no phase was begun; call begin(Phase(...)) before release().")
        if not isinstance(query, np.ndarray) or query.dtype != np.int64 or query.ndim != 1:
            raise ValueError(
                "a query must be a one-dimensional int64 array of lattice steps; "
                "floating-point sums cannot be released."
            )
        if self._process != os.getpid():
            raise RuntimeError(
                f"phase {self._phase.label!r} was begun in another process, which has the same "
                "noise; begin a phase in the process that releases."
            )
        end = self._used + len(query)
        if end > len(self._noise):
            raise RuntimeError(
                f"phase {self._phase.label!r} has {len(self._noise) - self._used} draws left and "
                f"{len(query)} are asked for; state the right n_values in Phase(...)."
            )
        noise = self._noise[self._used : end]
        noisy = query + noise
        noise[:] = 0
        self._used = end
        return noisy

    def choose(self, utilities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose one candidate of each group; see `dpexplain.mechanisms.exponential`.

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
            If no phase of choices was begun, or it has fewer choices left.
        ValueError
            If `utilities` is no two-dimensional int64 array with that many candidates.
        """
        phase = self._phase
        if not isinstance(phase, ChoicePhase):
            raise RuntimeError("no choices were begun; call begin(ChoicePhase(...)) first.")
        shape = (len(utilities), phase.n_candidates)
        if utilities.dtype != np.int64 or utilities.shape != shape:
            raise ValueError(
                f"utilities must be int64 lattice steps of {phase.n_candidates} candidates per "
                "group; floating-point utilities cannot be chosen by."
            )
        if self._used + len(utilities) > phase.n_values:
            raise RuntimeError(
                f"phase {phase.label!r} has {phase.n_values - self._used} choices left and "
                f"{len(utilities)} are asked for; state the right n_values in ChoicePhase(...)."
            )
        self._used += len(utilities)
        return self._source.choose(utilities, phase.epsilon, phase.spread_int)

    def finish(self) -> None:
        """End the phase.

        Raises
        ------
        RuntimeError
            If no phase was begun, or draws are left over: releases are missing then, and the
            stated number of values was wrong.
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
    def phase(self, phase: AnyPhase) -> Iterator[GaussianMechanism]:
        """Begin a phase and finish it; an error on the way makes the mechanism forget its noise.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            Scale and number of the values to come.

        Yields
        ------
        GaussianMechanism
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
        return {"_source": self._source}  # a list of what may leave, not of what may not

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._source = state["_source"]
        self._forget()

    def __repr__(self) -> str:
        if self._phase is None:
            return f"GaussianMechanism({self._source!r})"
        left = len(self._noise) - self._used
        return f"GaussianMechanism({self._source!r}, phase={self._phase.label!r}, {left} left)"
