"""Joint noise in an explanation, as plain data.

A :class:`NoiseModel` stores the joint covariance of the intercept and all bins of all terms. It
does so compactly, as a low-rank factor and the remaining variance of each value. Draws from the
noise model are post-processing of released numbers, so they cost no privacy; a seed makes them
reproducible.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpexplain.explain._normals import normals
from dpexplain.explain._record import FloatArray, Record, frozen, read_only

RANK = 40
"""Maximum number of columns of the factor; the noise of curves varies in few directions."""

LEVEL = 0.95
"""Confidence level of bands, markings and intervals."""

STANDS_OUT_LEVEL = 0.97
"""Probability that no term rises above the noise if the model contains only noise."""

_TIE = 1e-6
"""Relative difference below which entries of a factor count as equal."""

_NOTHING = 1e-9
"""Standardized error below which a draw does not count as an error of a value."""

_DRAWS = 4_000
_BLOCK = 256  # draws at a time
_SEED = 20210718  # the same explanation always gives the same results


def normal_certainty(ratio: npt.ArrayLike) -> FloatArray:
    """Return the probability that a normal estimate has the correct sign.

    Parameters
    ----------
    ratio : array-like of float
        Estimate divided by its standard deviation. The ratio is infinite if only the standard
        deviation is 0, and NaN if the estimate is 0 too.

    Returns
    -------
    ndarray of float64
        Probabilities in ``[0.5, 1]``; 0.5 if the ratio is NaN.
    """
    values = np.abs(np.nan_to_num(np.asarray(ratio, dtype=np.float64), nan=0.0))
    erf = np.array([math.erf(v) for v in (values / math.sqrt(2.0)).ravel()], dtype=np.float64)
    return np.asarray(0.5 + 0.5 * erf.reshape(values.shape))


def half_width(n_claims: int, level: float = LEVEL) -> float:
    """Return the half-width of simultaneous intervals, in standard deviations.

    The intervals of all `n_claims` claims hold simultaneously. The half-width follows from Šidák's
    inequality, which holds for normal errors with any correlations [1]_.

    Parameters
    ----------
    n_claims : int
        Number of claims, at least 1.
    level : float, default=0.95
        Probability that all intervals hold.

    Returns
    -------
    float

    References
    ----------
    .. [1] Šidák, "Rectangular Confidence Regions for the Means of Multivariate Normal
       Distributions", Journal of the American Statistical Association 62 (1967).
    """
    return NormalDist().inv_cdf(0.5 + 0.5 * math.pow(level, 1.0 / n_claims))


def mean_absolute(center: FloatArray, std: FloatArray) -> FloatArray:
    """Return the mean of the absolute value of ``N(center, std)``, elementwise."""
    ratio = np.divide(center, std, out=np.full(center.shape, np.inf), where=std > 0)
    spread = std * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * np.minimum(np.abs(ratio), 40.0) ** 2)
    return np.asarray(spread + np.abs(center) * (2.0 * normal_certainty(ratio) - 1.0))


def _uncorrelated(errors: FloatArray) -> npt.NDArray[np.bool_]:
    """Find values whose errors are nonzero only in draws where all others are zero.

    Parameters
    ----------
    errors : ndarray of shape (n_draws, n_values)
        Standardized errors.

    Returns
    -------
    ndarray of bool, shape (n_values,)
    """
    there = np.abs(errors) > _NOTHING
    shared = there[there.sum(axis=1) > 1]
    return np.asarray(~shared.any(axis=0))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class NoiseModel(Record):
    """Joint noise in all bins of all terms and in the intercept.

    The values are the bins of the first term, then the bins of the second term, and so on, and
    finally the intercept. Their covariance is ``factor @ factor.T + diag(remainder_std ** 2)``.

    Parameters
    ----------
    sizes : sequence of int
        Number of bins of each term.
    factor : array-like of shape (n_values, rank)
        Low-rank factor of the covariance, in units of the score; rounded to single precision, as in
        saved files.
    remainder_std : array-like of shape (n_values,)
        Standard deviation of the noise that the factor does not explain, in units of the score;
        also rounded to single precision.

    Raises
    ------
    ValueError
        If shapes are inconsistent or a number is not finite.

    Examples
    --------
    >>> from dpexplain.explain import NoiseModel
    >>> noise = NoiseModel([2], factor=[[0.1], [0.1], [0.0]], remainder_std=[0.05, 0.05, 0.02])
    >>> noise.sizes
    (2,)
    """

    sizes: tuple[int, ...]
    factor: FloatArray
    remainder_std: FloatArray

    def __post_init__(self) -> None:
        """Check the shapes and freeze the arrays."""
        sizes = tuple(self.sizes)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in sizes):
            raise ValueError("sizes must be positive integers, the number of bins of each term.")
        n_values = sum(sizes) + 1
        self._set("sizes", sizes)
        for name, shape in (("factor", (n_values, None)), ("remainder_std", (n_values,))):
            single = np.asarray(read_only(name, getattr(self, name), shape), dtype=np.float32)
            self._set(name, read_only(name, single, shape))
        if (self.remainder_std < 0).any():
            raise ValueError("remainder_std must not be negative.")

    @classmethod
    def from_draws(
        cls, sizes: Sequence[int], parts: Sequence[FloatArray], rank: int = RANK
    ) -> NoiseModel:
        """Create a noise model from simulated errors of independent sources.

        Parameters
        ----------
        sizes : sequence of int
            Number of bins of each term.
        parts : sequence of ndarray of shape (n_draws, n_values)
            Errors from each source, with mean zero. The number of draws may differ between sources.
        rank : int, default=40
            Maximum number of columns in the factor.

        Returns
        -------
        NoiseModel
            A noise model that has the variances of the simulated errors (up to rounding), and
            approximates their correlations as well as the rank allows.
        """
        rows = [part / math.sqrt(len(part)) for part in parts]
        stacked = np.concatenate(rows)
        std = np.sqrt((stacked**2).sum(axis=0))
        # The values are standardized first, so that the correlations of values with small
        # standard deviations are preserved, too.
        scaled = stacked / np.where(std > 0, std, 1.0)
        # Uncorrelated values have equal eigenvalues, so rounding errors would mix their vectors.
        scaled[:, _uncorrelated(scaled)] = 0.0
        by_value = scaled.shape[1] <= scaled.shape[0]
        values, vectors = np.linalg.eigh(scaled.T @ scaled if by_value else scaled @ scaled.T)
        kept = np.argsort(values)[::-1][:rank]
        kept = kept[values[kept] > 1e-9 * max(float(values.max()), 1e-300)]
        factor = (
            vectors[:, kept] * np.sqrt(values[kept]) if by_value else scaled.T @ vectors[:, kept]
        )
        # The sign of an eigenvector is arbitrary; make its largest entry positive. If several are
        # equally large, as for a feature with two values, make the first of them positive.
        size = np.abs(factor)
        largest = (size >= (1.0 - _TIE) * size.max(axis=0)).argmax(axis=0)
        factor = factor * np.sign(factor[largest, np.arange(factor.shape[1])]) * std[:, None]
        left = np.sqrt(np.maximum(std**2 - (factor**2).sum(axis=1), 0.0))
        return cls(tuple(sizes), factor, left)

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of each value, shape (n_values,)."""
        return frozen(np.sqrt((self.factor**2).sum(axis=1) + self.remainder_std**2))

    @cached_property
    def _levels(self) -> dict[Hashable, npt.NDArray[np.int64]]:
        """Variance levels of contrasts that claims have computed so far, by contrast."""
        return {}

    def term(self, place: int) -> slice:
        """Return the slice of the values that contains the bins of a term.

        Parameters
        ----------
        place : int
            Index of the term in the model.

        Returns
        -------
        slice
        """
        first = sum(self.sizes[:place])
        return slice(first, first + self.sizes[place])

    def draws(self, n_draws: int, seed: int = _SEED) -> FloatArray:
        """Draw joint errors of all values.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        seed : int, default=20210718
            The same seed gives the same draws.

        Returns
        -------
        ndarray of shape (n_draws, n_values)
            Errors with mean zero, in units of the score.
        """
        return np.concatenate(list(self._blocks_of_draws(n_draws, seed)))

    def _blocks_of_draws(self, n_draws: int, seed: int) -> Iterator[FloatArray]:
        """Yield blocks of rows of `draws`, which take less memory than all rows."""
        n_values, rank = self.factor.shape
        firsts = range(0, n_draws, _BLOCK)
        heights = (min(_BLOCK, n_draws - first) for first in firsts)
        numbers = normals(seed, [n_draws * rank, *(height * n_values for height in heights)])
        weights = next(numbers).reshape(n_draws, rank)
        for first in firsts:
            errors = weights[first : first + _BLOCK] @ self.factor.T
            errors += self.remainder_std * next(numbers).reshape(errors.shape)
            yield errors

    def simultaneous_factors(self, level: float = LEVEL) -> FloatArray:
        """Return the half-width of each term's simultaneous band, in standard deviations.

        Parameters
        ----------
        level : float, default=0.95
            Probability that the whole curve lies inside its band.

        Returns
        -------
        ndarray of shape (n_terms,)
            For each term, the `level` quantile of the largest standardized absolute error in its
            bins, over simulated draws.
        """
        largest = self._largest_ratios()
        self._set("_largest_of_all", frozen(largest.max(axis=1)))  # from the same draws
        return np.asarray(np.quantile(largest, level, axis=0), dtype=np.float64)

    def overall_factor(self, level: float = STANDS_OUT_LEVEL) -> float:
        """Return the half-width of a band for all terms jointly, in standard deviations.

        Parameters
        ----------
        level : float, default=0.97
            Probability that all curves lie inside their bands.

        Returns
        -------
        float
        """
        return float(np.quantile(self._largest_of_all, level))

    @cached_property
    def _largest_of_all(self) -> FloatArray:
        """Largest standardized absolute error over all terms, for each draw."""
        return frozen(self._largest_ratios().max(axis=1))

    def _largest_ratios(self) -> FloatArray:
        """Return the largest standardized absolute error for each draw and term."""
        std = np.where(self.std > 0, self.std, np.inf)[:-1]
        firsts, largest = np.cumsum((0, *self.sizes))[:-1], []
        for errors in self._blocks_of_draws(_DRAWS, _SEED):
            ratios = np.abs(errors[:, :-1])
            ratios /= std
            largest.append(np.maximum.reduceat(ratios, firsts, axis=1))
        return np.concatenate(largest)

    def score_std(self, bins: npt.NDArray[np.int64]) -> FloatArray:
        """Return the standard deviation of each sample's score.

        Parameters
        ----------
        bins : ndarray of int64, shape (n_samples, n_terms)
            Bin of each sample in each term.

        Returns
        -------
        ndarray of shape (n_samples,)
            Standard deviation of the sum of the intercept and all contributions.
        """
        first = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        rows = bins + first
        summed = self.factor[rows].sum(axis=1) + self.factor[-1]
        left = (self.remainder_std[rows] ** 2).sum(axis=1) + self.remainder_std[-1] ** 2
        return np.sqrt((summed**2).sum(axis=1) + left)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        return (
            f"NoiseModel({len(self.sizes)} terms, {len(self.factor)} values, rank "
            f"{self.factor.shape[1]}; see .std, .draws(n))"
        )
