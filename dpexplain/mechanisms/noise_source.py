"""Noise source: all private noise is drawn here, as integers.

Noise is added only to integers, so the set of possible outputs does not depend on the data: the
low bits of a floating-point sum cannot reveal a record [1]_.

References
----------
.. [1] Mironov, "On Significance of the Least Significant Bits for Differential Privacy",
   CCS 2012.
.. [2] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020, arXiv:2004.00010.
.. [3] Holohan and Braghin, "Secure Random Sampling in Differential Privacy", ESORICS 2021,
   arXiv:2107.10138.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from importlib.util import find_spec
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.extras import needed
from dpexplain._utils.guarantee_words import EXACT_GAUSSIAN, ROUNDED_GAUSSIAN, opendp_gaussian
from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.mechanisms import discrete_gaussian, opendp_sampler
from dpexplain.mechanisms.secret_bits import secret_bytes

__all__ = ["NOISE_BACKENDS", "NoiseBackend", "NoiseSource", "check_scale"]

NoiseBackend = Literal["exact", "opendp", "rounded"]
"""Samplers that a `NoiseSource` can use."""

NOISE_BACKENDS: tuple[str, ...] = get_args(NoiseBackend)
"""Names of the samplers that a `NoiseSource` can use, for validation."""

# The noise is wider than requested by this factor. The discrete Gaussian costs slightly more than
# the continuous one of the same scale, by a fraction that falls with the square of the scale. At
# the scales that mechanisms use (see Phase), this fraction is far below the margin, and so is the
# rounding of the scale.
_INFLATION = 1.0 + 1e-6

# A draw of 64 standard deviations, which never occurs, still fits in 62 bits.
_LARGEST_SIGMA = 2.0**56

# A floating-point normal has 53 bits. On a larger scale, its low bits would no longer be random,
# and the low bits of the query would show.
_LARGEST_ROUNDED_SIGMA = 2.0**44


def check_scale(sigma_int: float, low: float, high: float) -> float:
    """Check the noise scale; error messages name the parameters that determine it.

    Parameters
    ----------
    sigma_int : float
        Standard deviation in lattice steps.
    low, high : float
        Finite limits of the range, both inclusive; a scale of 0 is never allowed.

    Returns
    -------
    float
        The scale.

    Raises
    ------
    ValueError
        If the scale is outside the range.
    """
    try:
        return check_in_range("sigma_int", sigma_int, low, high, include_low=low > 0)
    except ValueError as error:
        raise ValueError(
            f"{error} It follows from the privacy parameters: raise a tiny epsilon or delta, "
            "lower a huge epsilon or max_rows_per_person."
        ) from None


class NoiseSource:
    """Source of secret integer noise.

    Parameters
    ----------
    backend : {"exact", "opendp", "rounded"}, default="exact"
        ``"exact"`` draws from the discrete Gaussian exactly, with every bit from
        `dpexplain.mechanisms.secret_bits` and the sampler in
        `dpexplain.mechanisms.discrete_gaussian`. ``"opendp"`` draws
        from the same distribution with OpenDP's sampler, an independent implementation that is
        about a hundred times slower and runs in a new process for each draw; it needs the extra
        ``opendp``. ``"rounded"`` adds four normal variates from a generator keyed by the operating
        system, halves the sum and rounds it. Rounding a Gaussian added to an integer is
        post-processing, so the guarantee of the continuous mechanism holds, up to the accuracy of
        floating-point normals in the far tail.
    reproducible_seed : int or None, default=None
        Seed that makes every run draw the same noise, for tests and teaching. Anyone who knows the
        seed can subtract the noise, so no result with this noise is private.

    Raises
    ------
    ModuleNotFoundError
        If `backend` is ``"opendp"`` and OpenDP is not installed.

    Examples
    --------
    >>> source = NoiseSource()
    >>> source.draw_int(2.0**20, size=3).dtype
    dtype('int64')
    >>> NoiseSource(reproducible_seed=0).private
    False
    """

    def __init__(
        self,
        backend: NoiseBackend | str = "exact",
        *,
        reproducible_seed: int | None = None,
    ) -> None:
        self._backend = check_choice("noise_backend", backend, NOISE_BACKENDS)
        if self._backend == "opendp" and find_spec("opendp") is None:
            raise ModuleNotFoundError(needed('noise_backend="opendp"', "opendp", "opendp"))
        self._seeded: np.random.Generator | None = None
        if reproducible_seed is not None:
            seed = check_count("reproducible_seed", reproducible_seed, minimum=0)
            self._seeded = np.random.Generator(np.random.Philox(seed))

    @property
    def private(self) -> bool:
        """Whether the noise is secret.

        Returns
        -------
        bool
            False for a source with a seed.
        """
        return self._seeded is None

    @property
    def backend(self) -> str:
        """Name of the requested sampler.

        Returns
        -------
        str
            One of `NOISE_BACKENDS`.
        """
        return self._backend

    @property
    def description(self) -> str:
        """Description of the sampler and the source of randomness, for guarantees.

        Returns
        -------
        str
            A phrase without a final period.
        """
        if not self.private:
            return "seeded generator, the same noise in every run: not private"
        if self._backend == "exact":
            return EXACT_GAUSSIAN
        if self._backend == "opendp":
            return opendp_gaussian(version("opendp"))
        return ROUNDED_GAUSSIAN

    def check_sigma(self, sigma_int: float) -> float:
        """Check a noise scale before charging the ledger.

        Parameters
        ----------
        sigma_int : float
            Standard deviation in lattice steps.

        Returns
        -------
        float
            The scale.

        Raises
        ------
        ValueError
            If the scale is not positive, or is beyond the range of the backend: ``2**56`` for
            "exact" and "opendp", ``2**44`` for "rounded" and for a source with a seed.
        """
        sigma = check_scale(sigma_int, 0.0, _LARGEST_SIGMA)
        exact = self._backend != "rounded" and self._seeded is None
        if not exact and sigma > _LARGEST_ROUNDED_SIGMA:
            drop = "" if self._seeded is None else " and no reproducible_seed"
            raise ValueError(
                f"sigma_int={sigma:g} is beyond 2**44, where rounded normals have too few bits; "
                f'use noise_backend="exact"{drop}.'
            )
        return sigma

    def draw_int(self, sigma_int: float, size: int) -> NDArray[np.int64]:
        """Draw independent integer noise.

        Parameters
        ----------
        sigma_int : float
            Standard deviation in lattice steps, as accepted by `check_sigma`; the noise is wider
            by a factor of ``1 + 1e-6``.
        size : int
            Number of draws. One call for many draws is much faster than many separate calls.

        Returns
        -------
        ndarray of shape (size,), dtype int64
            Fresh noise. Unless the source has a seed, two calls, processes or forks never use the
            same noise.

        Raises
        ------
        ValueError
            If `sigma_int` or `size` is out of range.
        """
        sigma = self.check_sigma(sigma_int)
        size = check_count("size", size, minimum=0)
        if size == 0:
            return np.empty(0, dtype=np.int64)
        if self._seeded is not None:
            return _rounded(self._seeded, sigma * _INFLATION, size)
        if self._backend == "exact":
            return discrete_gaussian.draw(sigma * _INFLATION, size)
        if self._backend == "opendp":
            drawn = opendp_sampler.draw(sigma * _INFLATION, size)
            return np.frombuffer(drawn, dtype=np.int64).copy()
        return _rounded(_secret_generator(), sigma * _INFLATION, size)

    def draw_laplace(self, scale_int: float, size: int) -> NDArray[np.int64]:
        """Draw independent integer noise from the discrete Laplace distribution.

        Parameters
        ----------
        scale_int : float
            Scale in lattice steps, from 1 to ``2**50``; rounded up to an integer.
        size : int
            Number of draws.

        Returns
        -------
        ndarray of shape (size,), dtype int64
            Fresh noise from the exact distribution, whatever the backend. A source with a seed
            returns rounded draws from the continuous distribution instead.
        """
        from dpexplain.mechanisms import laplace

        if self._seeded is None:
            return laplace.draw(scale_int, size)
        return np.rint(self._seeded.laplace(scale=scale_int, size=size)).astype(np.int64)

    def choose(
        self, utilities: NDArray[np.int64], epsilon: float, spread: float
    ) -> NDArray[np.int64]:
        """Choose one candidate per group with the exact exponential mechanism.

        Parameters
        ----------
        utilities : ndarray of shape (n_groups, n_candidates), dtype int64
            Utilities in lattice steps.
        epsilon, spread : float
            A candidate with utility u is ``exp(epsilon * (u - u') / spread)`` times as likely as a
            candidate with utility u'.

        Returns
        -------
        ndarray of shape (n_groups,), dtype int64
        """
        from dpexplain.mechanisms import exponential

        random_bytes = secret_bytes if self._seeded is None else self._seeded.bytes
        return exponential.choose(utilities, epsilon, spread, random_bytes)

    def __repr__(self) -> str:
        seeded = "" if self.private else ", NOT PRIVATE: seeded"
        return f"NoiseSource(backend={self._backend!r}{seeded})"


def _secret_generator() -> np.random.Generator:
    """Create a generator keyed with 256 fresh random bits.

    Each call creates a new generator, so no state is kept that a fork could copy or an attacker
    could read.
    """
    words = np.frombuffer(os.urandom(32), dtype=np.uint64)
    counter = np.concatenate([np.zeros(2, dtype=np.uint64), words[2:]])
    return np.random.Generator(np.random.Philox(key=words[:2], counter=counter))


def _rounded(generator: np.random.Generator, sigma: float, size: int) -> NDArray[np.int64]:
    """Draw normal noise and round it to integers.

    Each draw is half the sum of four normal variates: the sum hides the low bits of each variate.
    """
    total = generator.standard_normal(size)
    for _ in range(3):
        total += generator.standard_normal(size)
    total *= 0.5 * sigma
    return np.rint(total, out=total).astype(np.int64)
