"""How far a score errs: the errors of its parts, and how they hang together."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation
from dpexplain.explain.noise_model import NoiseModel

STEPS = 90
"""Steps that a correlation from 0 to 1 is rounded up to."""

_MOST_VALUES = 4_000  # bins of a model; of more, errors are taken to be fully correlated
_MOST_TERMS = 150


def part_correlations(noise: NoiseModel) -> npt.NDArray[np.int64] | None:
    """Bound the correlation of the errors of any two parts of a score.

    A dashboard cannot hold the correlation of any two bins of a model, so decisions are claimed
    everywhere from the largest correlation of any bins of two terms. That makes the standard
    deviation of a score too large, never too small.

    Parameters
    ----------
    noise : NoiseModel
        Joint errors of the model.

    Returns
    -------
    ndarray of int64, shape (n_terms * (n_terms + 1) / 2,), or None
        Steps of 1 / 90, of each pair of terms and the intercept, which is last; row by row. None
        of a large model, whose errors are then taken to be fully correlated.
    """
    if len(noise.factor) > _MOST_VALUES or len(noise.sizes) > _MOST_TERMS:
        return None
    scaled = noise.factor / np.where(noise.std > 0, noise.std, 1.0)[:, None]
    starts = np.cumsum((0, *noise.sizes))
    largest = np.maximum.reduceat(np.maximum.reduceat(scaled @ scaled.T, starts, axis=0), starts, 1)
    upper = largest[np.triu_indices(len(starts), 1)]
    return np.clip(np.ceil(STEPS * upper - 1e-6), 0, STEPS).astype(np.int64)


def score_error(explanation: GlobalExplanation, local: LocalExplanation) -> float | None:
    """Return the standard deviation of the score of one record, or more.

    Parameters
    ----------
    explanation : GlobalExplanation
    local : LocalExplanation
        Of one row, from this explanation.

    Returns
    -------
    float or None
        None if the errors of some part are unknown.
    """
    noise = explanation.noise
    if noise is None or local.total_std is None:
        return None
    stds = np.append(local.total_std[0], noise.std[-1])
    first, second = np.triu_indices(len(stds), 1)
    steps = part_correlations(noise)
    shares = 1.0 if steps is None else steps / STEPS
    common = float((stds[first] * stds[second] * shares).sum())
    return math.sqrt(float((stds**2).sum()) + 2.0 * common)
