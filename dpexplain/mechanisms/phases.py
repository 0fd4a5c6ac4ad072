"""Phases: releases that share one noise scale and whose noise is drawn together."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.validation import check_count, check_in_range, plain_number, shown
from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.mechanisms.laplace import LARGEST_SCALE
from dpexplain.mechanisms.noise_source import NoiseSource, check_scale

__all__ = ["AnyPhase", "ChoicePhase", "LaplacePhase", "Phase", "SampledPhase"]

# At this scale, the mu of the discrete Gaussian exceeds the mu of the continuous one by a fraction
# of 1.6e-10, far less than the wider noise saves. On a coarser lattice, the noise would cost more
# than Gaussian DP accounts for. See `Phase`.
_SMALLEST_SIGMA = 2.0**14

# More than the rounding error of a sensitivity computed in floats; must not hide a whole step.
_STEP_MARGIN = 1e-12


class NoisyPhase:
    """Base class for phases with additive noise."""

    label: str
    sensitivity_int: float
    n_values: int
    _scale: ClassVar[str]
    """Name of the field that contains the scale of the noise, in lattice steps."""

    @property
    def noise_multiplier(self) -> float:
        """Scale of the noise divided by the sensitivity of one release.

        Returns
        -------
        float
            Ratio of the stated scale to the stated sensitivity.
        """
        return float(getattr(self, self._scale)) / self.sensitivity_int

    def with_noise(self, factor: float) -> Self:
        """Return the phase with its noise scaled by a factor, for audits.

        Parameters
        ----------
        factor : float
            Positive factor.

        Returns
        -------
        NoisyPhase
            A phase of the same kind.
        """
        return self._with(**{self._scale: factor * getattr(self, self._scale)})

    def with_sensitivity(self, factor: float) -> Self:
        """Return the phase with its sensitivity and noise scaled by a factor.

        Parameters
        ----------
        factor : float
            Positive factor.

        Returns
        -------
        NoisyPhase
            A phase of the same kind.
        """
        return self.with_noise(factor)._with(sensitivity_int=factor * self.sensitivity_int)

    def _with(self, **changes: float) -> Self:
        changed: Self = replace(self, **changes)  # type: ignore[type-var]
        return changed

    def _check_sums(self) -> None:
        _make_plain(self, "sensitivity_int", self._scale, "n_values")
        _check_label(self.label, "what the phase releases")
        _check_positive("sensitivity_int", self.sensitivity_int)
        check_count("n_values", self.n_values, minimum=0)


def _make_plain(phase: object, *names: str) -> None:
    """Replace numbers of NumPy: events computed from them would have fewer digits."""
    for name in names:
        object.__setattr__(phase, name, plain_number(getattr(phase, name)))


def _check_label(label: Any, names: str) -> None:
    if not isinstance(label, str) or not label:
        raise ValueError(f"label={shown(label)} must name {names}.")


def _check_positive(name: str, value: float) -> None:
    check_in_range(name, value, 0.0, math.inf, include_low=False, include_high=False)


@dataclass(frozen=True)
class Phase(NoisyPhase):
    """Releases that share one noise scale and whose noise is drawn together.

    *Cost*: the releases cost the same as with continuous Gaussian noise of the same scale. Let F be
    the distribution function of the drawn discrete Gaussian, evaluated at the integers, and let Phi
    be the standard normal distribution function. If

        Phi^-1(F(x)) - Phi^-1(F(x - 1)) <= 1 / sigma_int    for every integer x,

    then it is at least as hard to distinguish ``z + d`` from the noise z, for an integer d, as to
    distinguish N(d / sigma_int, 1) from N(0, 1). The reason is that the corners of the discrete
    noise's trade-off curve lie above the trade-off curve of the normals, which is convex. This
    holds in every coordinate, hence for vectors and for compositions. It also holds for the
    mixtures that result from sampling records, because threshold tests are optimal there too.

    The noise is drawn with the scale ``s = (1 + 1e-6) sigma_int``. For this scale, the left side of
    the condition is at most ``(1 + 1 / (24 s^2) + O(s^-4)) / s``; the terms after the 1 are the
    error of the midpoint rule. The condition therefore holds for scales of at least about 204
    steps. At ``2**14`` steps or more, the added 1e-6 is 6,000 times as large as necessary.

    Parameters
    ----------
    label : str
        Name of what is released, such as "histograms" or "boosting".
    sensitivity_int : float
        L2 sensitivity of one release in lattice steps, positive.
    sigma_int : float
        Standard deviation of the noise in lattice steps, at least ``2**14``. This leaves a wide
        margin: the accounted cost is a valid bound at about 204 steps or more.
    n_values : int
        Total number of values in the releases of the phase.

    Examples
    --------
    >>> from dpexplain.mechanisms import Phase
    >>> phase = Phase("histograms", sensitivity_int=2**20, sigma_int=20 * 2**20, n_values=64)
    >>> phase.label, phase.n_values
    ('histograms', 64)
    """

    label: str
    sensitivity_int: float
    sigma_int: float
    n_values: int
    _scale: ClassVar[str] = "sigma_int"

    def __post_init__(self) -> None:
        self._check_sums()
        check_scale(self.sigma_int, _SMALLEST_SIGMA, sys.float_info.max)

    @property
    def n_disjoint(self) -> int:
        """Number of releases that together cost as much as one; 1 for Gaussian noise.

        Returns
        -------
        int
        """
        return 1

    def event(self, count: int = 1) -> GaussianEvent | SubsampledGaussianEvent:
        """Return the event that covers a given number of releases.

        Parameters
        ----------
        count : int, default=1
            Number of releases.

        Returns
        -------
        GaussianEvent
        """
        return GaussianEvent(self.label, self.noise_multiplier, count)

    def drawn(self, source: NoiseSource) -> NDArray[np.int64]:
        """Draw all the noise for the phase.

        Parameters
        ----------
        source : NoiseSource
            Source of randomness.

        Returns
        -------
        ndarray of int64
        """
        return source.draw_int(self.sigma_int, self.n_values)


@dataclass(frozen=True)
class SampledPhase(Phase):
    """Releases computed from secret Poisson samples of the records.

    Parameters
    ----------
    label : str
        As in `Phase`.
    sensitivity_int : float
        As in `Phase`, for a sum over a sample that contains the record.
    sigma_int : float
        As in `Phase`.
    n_values : int
        As in `Phase`.
    n_changed : int
        Number of records (or people, if rows are grouped) that differ between neighbors: 1 for
        add/remove adjacency, 2 for replace-one adjacency. The contribution of each of them is
        bounded by an equal share of the sensitivity.
    sampling_probability : float
        Probability that a record (or person) is included in a release, in (0, 1].

    Examples
    --------
    >>> from dpexplain.mechanisms import SampledPhase
    >>> steps = SampledPhase(
    ...     "gradients", sensitivity_int=2**20, sigma_int=2**21, n_values=6_400,
    ...     n_changed=1, sampling_probability=0.1,
    ... )
    >>> steps.sampling_probability
    0.1
    """

    n_changed: int
    sampling_probability: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _make_plain(self, "n_changed", "sampling_probability")
        check_count("n_changed", self.n_changed)
        check_in_range(
            "sampling_probability", self.sampling_probability, 0.0, 1.0, include_low=False
        )

    @property
    def record_bound_int(self) -> float:
        """L2 bound on the contribution of a record (or person) to a sum, in lattice steps.

        Returns
        -------
        float
            Denominator of the noise multiplier of a `SubsampledGaussianEvent`.
        """
        return self.sensitivity_int / self.n_changed

    def event(self, count: int = 1) -> SubsampledGaussianEvent:
        """Return the event that covers a given number of releases.

        Parameters
        ----------
        count : int, default=1
            Number of releases.

        Returns
        -------
        SubsampledGaussianEvent
        """
        multiplier = self.sigma_int / self.record_bound_int
        return SubsampledGaussianEvent(self.label, multiplier, self.sampling_probability, count)


@dataclass(frozen=True)
class LaplacePhase(NoisyPhase):
    """Releases that share one Laplace scale and whose noise is drawn together.

    Parameters
    ----------
    label : str
        Name of what is released, such as "leaves".
    sensitivity_int : float
        L1 sensitivity of one release in lattice steps, positive.
    scale_int : float
        Scale of the noise in lattice steps, from 1 to ``2**50``; rounded up to an integer.
    n_values : int
        Total number of values in the releases of the phase.
    n_disjoint : int, default=1
        Number of releases on disjoint parts of the records, which together cost as much as one.

    Examples
    --------
    >>> from dpexplain.mechanisms import LaplacePhase
    >>> phase = LaplacePhase("leaves", sensitivity_int=100, scale_int=200, n_values=8)
    >>> phase.scale_int
    200
    """

    label: str
    sensitivity_int: float
    scale_int: float
    n_values: int
    n_disjoint: int = 1
    _scale: ClassVar[str] = "scale_int"

    def __post_init__(self) -> None:
        self._check_sums()
        try:
            check_in_range("noise scale_int", self.scale_int, 1.0, LARGEST_SCALE)
        except ValueError as error:
            raise ValueError(
                f"{error} It follows from the privacy parameters: raise a tiny epsilon, lower an "
                "enormous epsilon or max_rows_per_person."
            ) from None
        check_count("n_disjoint", self.n_disjoint)

    @property
    def drawn_scale(self) -> int:
        """Scale of the drawn noise.

        Returns
        -------
        int
            The scale in lattice steps, a positive integer.
        """
        return math.ceil(self.scale_int)

    @property
    def drawn_sensitivity(self) -> int:
        """Sensitivity as an integer, because the sums change only by whole lattice steps.

        Returns
        -------
        int
            `sensitivity_int`, rounded down, but at least 1.
        """
        return max(1, math.floor(self.sensitivity_int * (1.0 + _STEP_MARGIN)))

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon of one release: a bound on the log-ratio of probabilities.

        Returns
        -------
        Fraction
        """
        return Fraction(self.drawn_sensitivity, self.drawn_scale)

    def event(self, count: int = 1) -> DiscreteLaplaceEvent:
        """Return the event that covers a given number of releases.

        The event contains the exact scale and sensitivity, in lattice steps.

        Parameters
        ----------
        count : int, default=1
            Number of releases; if they cover disjoint parts of the records, the number per part.

        Returns
        -------
        DiscreteLaplaceEvent
        """
        return DiscreteLaplaceEvent(self.label, self.drawn_scale, self.drawn_sensitivity, count)

    def drawn(self, source: NoiseSource) -> NDArray[np.int64]:
        """Draw all the noise for the phase.

        Parameters
        ----------
        source : NoiseSource
            Source of randomness.

        Returns
        -------
        ndarray of int64
        """
        return source.draw_laplace(self.scale_int, self.n_values)


@dataclass(frozen=True)
class ChoicePhase:
    """Choices made by the exponential mechanism with one shared scale.

    Parameters
    ----------
    label : str
        Name of what is chosen, such as "splits".
    spread_int : float
        Bound on the effect of one record on the utilities of a release, in lattice steps. The
        effect on a group is the largest change in a utility minus the smallest; these differences
        are summed over the groups. If groups are disjoint, a record affects only one of them.
    epsilon : float
        Epsilon of one release, a bound on the log-ratio of probabilities; positive and finite.
    n_candidates : int
        Number of candidates in each group.
    n_values : int
        Total number of groups in all releases.
    n_disjoint : int, default=1
        Number of releases on disjoint parts of the records, which together cost as much as one.

    Examples
    --------
    >>> from dpexplain.mechanisms import ChoicePhase
    >>> ChoicePhase("splits", spread_int=10, epsilon=0.1, n_candidates=8, n_values=3).epsilon
    0.1
    """

    label: str
    spread_int: float
    epsilon: float
    n_candidates: int
    n_values: int
    n_disjoint: int = 1

    def __post_init__(self) -> None:
        _make_plain(self, "spread_int", "epsilon")
        _check_label(self.label, "what is chosen")
        _check_positive("spread_int", self.spread_int)
        _check_positive("epsilon", self.epsilon)
        check_count("n_candidates", self.n_candidates)
        check_count("n_values", self.n_values, minimum=0)
        check_count("n_disjoint", self.n_disjoint)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon of one release: a bound on the log-ratio of probabilities.

        Returns
        -------
        Fraction
        """
        return Fraction(self.epsilon)

    def event(self, count: int = 1) -> PureEvent:
        """Return the event that covers a given number of releases.

        Parameters
        ----------
        count : int, default=1
            Number of releases; if they cover disjoint parts of the records, the number per part.

        Returns
        -------
        PureEvent
        """
        return PureEvent(self.label, self.epsilon, count)

    def drawn(self, source: NoiseSource) -> NDArray[np.int64]:
        """Return an empty array, because every choice draws its own random bits.

        Parameters
        ----------
        source : NoiseSource
            Source of randomness.

        Returns
        -------
        ndarray of int64
        """
        return np.empty(0, dtype=np.int64)

    def with_noise(self, factor: float) -> ChoicePhase:
        """Return the phase with the scale of its choices multiplied by a factor.

        The scale is ``spread_int / epsilon``, so epsilon is divided by the factor.

        Parameters
        ----------
        factor : float
            Positive factor.

        Returns
        -------
        ChoicePhase
        """
        return replace(self, epsilon=self.epsilon / factor)

    def with_sensitivity(self, factor: float) -> ChoicePhase:
        """Return the phase with `spread_int` multiplied by a factor.

        Parameters
        ----------
        factor : float
            Positive factor.

        Returns
        -------
        ChoicePhase
        """
        return replace(self, spread_int=factor * self.spread_int)


AnyPhase = Phase | LaplacePhase | ChoicePhase
"""A phase of any kind."""
