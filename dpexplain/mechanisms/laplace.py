"""The Laplace mechanism on integers: exact discrete Laplace noise.

`draw` returns integers v with probability proportional to ``exp(-|v| / t)`` for an integer t. Not
approximately: given independent fair bits, each integer has exactly this probability, by
Algorithm 2 of Canonne, Kamath and Steinke [1]_. One trial:

1. Draw a place u evenly from 0, ..., t - 1 and keep it with probability ``exp(-u / t)``.
2. Throw coins that show heads with probability ``exp(-1)`` until one fails; let w be the number of
   heads. Let x = u + t w.
3. Draw a fair sign; reject -0, which would count zero twice.

*Correct*: every x >= 0 is u + t w in one way, and comes with probability proportional to ``exp(-u /
t) exp(-w) = exp(-x / t)``. Trials are independent, so the first accepted value has the
distribution, and later ones are independent of it.

*Private*: added to integer sums that one record changes by at most s in the L1 norm, the ratio of
probabilities of any outcome is at most ``exp(s / t)``. A scale that is no integer is rounded up.

*Exactness*: coins compare a uniform number, of which leading bits are known, with a number of which
bounds are known, as in `dpexplain.mechanisms.discrete_gaussian`, with the same error of floats: the
exponents u / t < 1 are one correctly rounded quotient of two correctly rounded integers. What stays
undecided is settled by integers of any length on the same bits.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020, arXiv:2004.00010.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._validation import check_count, check_in_range, shown
from dpexplain.mechanisms._exact import Words, run
from dpexplain.mechanisms._pure_kernels import laplace_trials
from dpexplain.mechanisms.discrete_gaussian import RandomBytes
from dpexplain.mechanisms.noise import NoiseSource

__all__ = ["LaplacePhase", "draw"]

LARGEST_SCALE = 2.0**50
"""A draw of 4000 scales, which never comes, still fits 62 bits."""


@dataclass(frozen=True)
class LaplacePhase:
    """Releases that share one scale of Laplace noise, which is drawn in one call.

    Parameters
    ----------
    label : str
        What is released: "leaves".
    sensitivity_int : float
        L1 sensitivity of one release in lattice steps, positive.
    scale_int : float
        Scale of the noise in lattice steps, from 1 to ``2**50``; rounded up to an integer.
    n_values : int
        Number of values that the releases of the phase have together.
    n_disjoint : int, default=1
        So many releases are about disjoint parts of the records, and cost as much as one.
    """

    label: str
    sensitivity_int: float
    scale_int: float
    n_values: int
    n_disjoint: int = 1

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
        try:
            check_in_range("noise scale_int", self.scale_int, 1.0, LARGEST_SCALE)
        except ValueError as error:
            raise ValueError(
                f"{error} It follows from the privacy parameters: raise a tiny epsilon, lower an "
                "enormous epsilon or max_rows_per_person."
            ) from None
        check_count("n_values", self.n_values, minimum=0)
        check_count("n_disjoint", self.n_disjoint)

    @property
    def noise_multiplier(self) -> float:
        """Noise scale divided by the L1 sensitivity of one release.

        Returns
        -------
        float
            The multiplier to record in a `LaplaceEvent`.
        """
        return self.scale_int / self.sensitivity_int

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
        return source.draw_laplace(self.scale_int, self.n_values)

    def with_noise(self, factor: float) -> LaplacePhase:
        """Return the phase with so many times the noise, for audits.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        LaplacePhase
        """
        return replace(self, scale_int=factor * self.scale_int)

    def with_sensitivity(self, factor: float) -> LaplacePhase:
        """Return the phase with so many times the sensitivity, and the noise for it.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        LaplacePhase
        """
        return replace(self.with_noise(factor), sensitivity_int=factor * self.sensitivity_int)


def draw(scale: float, size: int, random_bytes: RandomBytes = os.urandom) -> NDArray[np.int64]:
    """Draw independent integers from the discrete Laplace distribution.

    Parameters
    ----------
    scale : float
        In lattice steps, from 1 to ``2**50``; rounded up to an integer.
    size : int
        Number of draws.
    random_bytes : callable, default=os.urandom
        Returns so many bytes of fresh random bits.

    Returns
    -------
    ndarray of shape (size,), dtype int64
    """
    steps, drawn = math.ceil(scale), np.empty(size, dtype=np.int64)
    kernel: Callable[..., Any] = laplace_trials

    def settled(words: Words, n_drawn: int) -> bool:
        value = settle(words, steps)
        if value is not None:
            drawn[n_drawn] = value
        return value is not None

    run(lambda words, start, n: kernel(words, start, steps, drawn, n), settled, random_bytes)
    return drawn


def settle(words: Words, scale: int) -> int | None:
    """Run one trial in exact arithmetic.

    Parameters
    ----------
    words : Words
        Random bits of the trial, as `laplace_trials` reads them.
    scale : int

    Returns
    -------
    int or None
        The value; None if the trial is rejected.
    """
    negative = words.next() >> 63
    value = words.place(scale)
    if value is None or not words.flip(value, scale):
        return None
    while words.flip(1, 1):
        value += scale
    if negative and value == 0:
        return None
    return -value if negative else value
