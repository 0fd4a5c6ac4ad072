"""What is expected of a record, given its score: a class, a number or a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.calibration.scores import ScoreCells
from dpexplain.models.boosting.records._kernels_exp import EXPONENT_SPAN
from dpexplain.models.boosting.records.binned import LEVELS, count_levels
from dpexplain.models.boosting.uncertainty.curvature import clipped_counts

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Response:
    """What is expected of a record, given its score.

    Attributes
    ----------
    mean, slope : callable
        Expected outcome at each score, and its derivative: the probability of the second class, or
        a number or a rate in units of the largest residual.
    residuals : callable
        Function of the expected outcomes, shape (n_cells,), that returns the residual of each
        possible outcome (class, level of the residual or count), shape (n_outcomes, n_cells).
    directions : callable
        ``directions(z, expected)`` returns the vector by which the residuals of a cell with score z
        are multiplied, shape (n_cells, 2). The product has a norm of at most 1.
    variance : callable
        Function of the expected outcomes that returns the variance of an outcome.
    prior_std : tuple of float, default=(0.2, 0.2)
        Scales of the priors: of the shift at the center, and of the logarithm of the scale.
    followed : callable or None, default=None
        Function of the expected outcomes that returns the covariance of an outcome with the
        residual to which the fit reacted, divided by the proportion of these residuals inside the
        clip; if None, the variance, as for a normal outcome.
    """

    mean: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    residuals: Callable[[FloatArray], FloatArray]
    directions: Callable[[FloatArray, FloatArray], FloatArray]
    variance: Callable[[FloatArray], FloatArray]
    prior_std: tuple[float, float] = (0.2, 0.2)
    followed: Callable[[FloatArray], FloatArray] | None = None


def _logistic(score: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(score, -40.0, 40.0))))


def _logistic_slope(score: FloatArray) -> FloatArray:
    chance = _logistic(score)
    return chance * (1.0 - chance)


def _as_long_as_possible(z: FloatArray, chance: FloatArray) -> FloatArray:
    """Divide ``(1, z)`` by its norm and by the larger of the two probabilities."""
    size = np.sqrt(1.0 + z**2) * np.maximum(chance, 1.0 - chance)
    return np.column_stack([1.0 / size, z / size])


def _alike(z: FloatArray, expected: FloatArray) -> FloatArray:
    """Count all records equally, so that the mean residual becomes zero."""
    sine = np.sqrt(1.0 - MEAN_WEIGHT**2)
    slope = sine / MOST_SPREADS * np.clip(z, -MOST_SPREADS, MOST_SPREADS)
    return np.column_stack([np.full(len(z), MEAN_WEIGHT), slope])


CLASSES = Response(
    mean=_logistic,
    slope=_logistic_slope,
    residuals=lambda chance: np.stack([-chance, 1.0 - chance]),
    directions=_as_long_as_possible,
    variance=lambda chance: chance * (1.0 - chance),
)
"""Two classes; scores are in log-odds."""

MEAN_WEIGHT = 0.8
"""Weight of a number's residual in the sum of all residuals; the rest is for their direction."""

MOST_SPREADS = 2.0
"""Scores farther from the center than this many spreads count as this far."""

BOUNDS = 3.0, 8.0
"""Smallest and largest bound on residuals of numbers, in units of the last clip."""

MOST_NOISE = 0.03
"""The bound is as large as possible if noise in the mean residual stays below this share of the
last clip: a larger bound means less bias and more noise."""

DISPERSION = 1.0
"""Dispersion a of counts, which are assumed to be geometric, as for the bands: the variance at rate
m is ``m + a m ** 2``. Counts of events are rarely less dispersed than Poisson counts (a = 0)."""

TAIL_DISPERSION = 4.0
"""Dispersion for the choice of the bound on residuals of counts: how far their upper tail may
reach. If it does not reach as far, the bound is wider than necessary. That costs some noise, which
the bands contain, unlike what the bound removes."""

PRIOR_STD_OF_COUNTS = 0.2, 0.1
"""Narrower for the scale than for other outcomes: the largest rates grow exponentially with it."""

_N_BOUNDS = 64
_N_RATES, _LEAST_RATE = 64, 1e-4
_LEAST_INSIDE = 0.05


def numbers(bound: float, inside: float) -> Response:
    """Return the response for numbers, with scores in units of the last clip.

    Parameters
    ----------
    bound : float
        Bound on residuals, in units of the last clip.
    inside : float
        Proportion of the residuals that this clip leaves unchanged, from which their variance
        follows if they are normal.

    Returns
    -------
    Response
    """
    std = 1.0 / (bound * NormalDist().inv_cdf((1.0 + inside) / 2.0))
    return Response(
        mean=lambda score: score / bound,
        slope=lambda score: np.full(len(score), 1.0 / bound),
        residuals=lambda expected: np.repeat(LEVELS[:, None], len(expected), axis=1),
        directions=_alike,
        variance=lambda expected: np.full(len(expected), std**2),
    )


def bound_of_numbers(n_samples: float, multiplier: float) -> float:
    """Return the bound on residuals, in units of the last clip.

    Parameters
    ----------
    n_samples : float
        Noisy number of records.
    multiplier : float
        Ratio of noise standard deviation to sensitivity for the sums.

    Returns
    -------
    float
    """
    return float(np.clip(MOST_NOISE * MEAN_WEIGHT * n_samples / multiplier, *BOUNDS))


def _rate(score: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.clip(score, -EXPONENT_SPAN, 0.0)))


def event_counts(bound: float, high: float, clip: float, inside: float) -> Response:
    """Return the response for counts.

    Scores are logarithms of rates, in units of the largest count. The residual of a record follows
    from the level of its count and the cell of its score, and is clipped to the bound. So for any
    count, the product with a direction has a norm of at most 1.

    Parameters
    ----------
    bound : float
        Bound on residuals, in counts.
    high : float
        Largest public count.
    clip : float
        Last clip of the fit, in counts.
    inside : float
        Proportion of the residuals that this clip leaves unchanged.

    Returns
    -------
    Response
    """
    of_one = bound / high
    levels = count_levels(high)[:, None] / bound
    rates = np.geomspace(_LEAST_RATE * high, high, _N_RATES)
    # Counts are not normal: a clipped residual says less about their upper tail.
    _, covariance = clipped_counts(rates, clip, bound, high)
    covariance = covariance / (bound**2 * inside)
    return Response(
        mean=lambda score: _rate(score) / of_one,
        slope=lambda score: _rate(score) / of_one,
        residuals=lambda expected: np.clip(levels - expected, -1.0, 1.0),
        directions=_alike,
        variance=lambda expected: expected / bound + DISPERSION * expected**2,
        prior_std=PRIOR_STD_OF_COUNTS,
        followed=lambda expected: np.interp(bound * expected, rates, covariance),
    )


def counts_inside(cells: ScoreCells, clip: float, high: float) -> float:
    """Return the share of residuals of counts inside the clip, weighted by rates.

    Parameters
    ----------
    cells : ScoreCells
    clip, high : float
        In counts.

    Returns
    -------
    float
    """
    rates = high * np.maximum(_rate(cells.middles), _LEAST_RATE)
    inside, _ = clipped_counts(rates, clip, clip, high)
    return max(float(np.average(inside, weights=cells.weights * rates)), _LEAST_INSIDE)


def bound_of_counts(cells: ScoreCells, high: float, n_samples: float, multiplier: float) -> float:
    """Return the bound on residuals, in counts.

    It minimizes the expected squared error of the average rate: what is lost beyond the bound,
    squared, plus the variance of the noise.

    Parameters
    ----------
    cells : ScoreCells
    high : float
        Largest public count.
    n_samples : float
        Noisy number of records.
    multiplier : float
        Ratio of noise standard deviation to sensitivity for the sums.

    Returns
    -------
    float
        At least 1, so that one event counts in full where events are rare.
    """
    rates = high * _rate(cells.middles)
    bounds = np.geomspace(1.0, max(high, 1.0), _N_BOUNDS)
    # Each further count of the tail is less likely by this factor; exact for a dispersion of 1.
    ratio = TAIL_DISPERSION * rates / (1.0 + TAIL_DISPERSION * rates)
    lost = (rates * ratio ** (rates + bounds[:, None])) @ cells.weights
    noise = bounds * multiplier / (MEAN_WEIGHT * max(n_samples, 1.0))
    return float(bounds[np.argmin(lost**2 + noise**2)])
