"""What is expected of a record, given its score: two classes, or a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records.binned import LEVELS

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Response:
    """What is expected of a record, given its score.

    Attributes
    ----------
    mean, slope : callable
        Expected outcome at each score, and its derivative: the probability of the second class, or
        a number in units of the largest residual.
    residuals : callable
        Function of the expected outcomes, shape (n_cells,), that returns the residual of each
        possible outcome (class, or level of the residual), shape (n_outcomes, n_cells).
    directions : callable
        ``directions(z, expected)`` returns the vector by which the residuals of a cell with score z
        are multiplied, shape (n_cells, 2). The product has a norm of at most 1.
    variance : callable
        Function of the expected outcomes that returns the variance of an outcome.
    """

    mean: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    residuals: Callable[[FloatArray], FloatArray]
    directions: Callable[[FloatArray, FloatArray], FloatArray]
    variance: Callable[[FloatArray], FloatArray]


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
