"""Distribution of counts around their mean, and expected clipped residuals.

A count is assumed to be negative binomial: if its rate is m, its variance is ``m + a m ** 2``. The
dispersion a is estimated, because it determines how much clipping removes. With a = 0, counts would
be Poisson; with a = 1, they would be geometric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

FloatArray = NDArray[np.float64]

LARGEST = 2000.0
"""Largest public count for which the distribution is tabulated."""

PRIOR_MEAN, PRIOR_STD = 0.5, 0.5
"""Prior mean and standard deviation of the dispersion."""

_LEAST, _MOST = 0.02, 4.0
"""Range of the dispersion."""

_N_RATES = 160
_LEAST_RATE = 1e-4
_STEP = 0.1


@dataclass(frozen=True, eq=False)
class CountTable:
    """Distribution of counts with a known dispersion, tabulated for interpolation.

    Attributes
    ----------
    high : float
        Upper end of the public range of counts.
    log_rates : ndarray of shape (n_rates,)
        Evenly spaced logarithms of the rates, one for each row of the tables below. Rates are in
        counts.
    chance : ndarray of shape (n_rates, n_counts)
        Probability of each count from 0 to `high`; larger counts are moved to `high`.
    above : ndarray of shape (n_rates, n_counts)
        Expected excess of a count over each limit from 0 to `high`, ``E[max(Y - limit, 0)]``.
    slope : ndarray of shape (n_rates, n_counts)
        Derivative of `above` with respect to the dispersion.
    """

    high: float
    log_rates: FloatArray
    chance: FloatArray
    above: FloatArray
    slope: FloatArray

    def scatter(self, clip: float) -> tuple[FloatArray, FloatArray]:
        """Return the sensitivity and variance of clipped residuals around the true rate.

        Parameters
        ----------
        clip : float
            Bound on a residual, in counts.

        Returns
        -------
        sensitivity, variance : ndarray of shape (n_rates,)
            Derivative of the expected residual with respect to the logarithm of the true rate for a
            fixed prediction, and variance of the residual, in counts.
        """
        counts, rates = _counts(self.high), np.exp(self.log_rates)
        clipped = np.clip(counts - rates[:, None], -clip, clip)
        mean = (self.chance * clipped).sum(axis=1)
        change = np.gradient(self.chance, self.log_rates, axis=0)
        return (change * clipped).sum(axis=1), (self.chance * clipped**2).sum(axis=1) - mean**2


def count_table(high: float, dispersion: float) -> CountTable:
    """Tabulate the distribution of counts with a given dispersion.

    Parameters
    ----------
    high : float
        Upper end of the public range of counts, at most `LARGEST`.
    dispersion : float
        Clipped to the range from 0.02 to 4.

    Returns
    -------
    CountTable
    """
    dispersion = bounded(dispersion)
    log_rates = np.linspace(np.log(_LEAST_RATE), np.log(max(high, 1.0)), _N_RATES)
    chance = _chance(log_rates, high, dispersion)
    low, up = (bounded(dispersion * np.exp(s * _STEP)) for s in (-1.0, 1.0))
    change = _above(_chance(log_rates, high, up)) - _above(_chance(log_rates, high, low))
    return CountTable(high, log_rates, chance, _above(chance), change / (up - low))


def bounded(dispersion: float) -> float:
    """Return the nearest dispersion in the allowed range."""
    return float(np.clip(dispersion, _LEAST, _MOST))


def _counts(high: float) -> FloatArray:
    return np.arange(np.floor(high) + 1.0)


def _chance(log_rates: FloatArray, high: float, dispersion: float) -> FloatArray:
    """Return negative binomial probabilities; larger counts are clipped to `high`."""
    size, rates, counts = 1.0 / dispersion, np.exp(log_rates)[:, None], _counts(high)
    log = gammaln(counts + size) - gammaln(counts + 1.0) - gammaln(size)
    log = log + counts * np.log(rates / (rates + size)) + size * np.log(size / (rates + size))
    chance = np.exp(log)
    chance[:, -1] += np.maximum(1.0 - chance.sum(axis=1), 0.0)
    return np.asarray(chance)


def _above(chance: FloatArray) -> FloatArray:
    """Return the expected excess of a count over each limit, given probabilities."""
    beyond = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]  # at least this count
    excess = np.zeros(chance.shape)
    excess[:, :-1] = np.cumsum(beyond[:, :0:-1], axis=1)[:, ::-1]
    return excess
