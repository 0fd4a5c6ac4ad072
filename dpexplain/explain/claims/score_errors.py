"""Error of a score, computed from the errors of its parts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation
from dpexplain.explain.claims.claimed_bins import AS_RELEASED, NEEDED
from dpexplain.explain.noise_model import NoiseModel

STEPS = 90
"""Correlations from 0 to 1 are rounded up to a multiple of 1 / `STEPS`."""

_MOST_VALUES = 4_000  # bins of a model; beyond this, errors are assumed to be fully correlated
_MOST_TERMS = 150


def part_correlations(noise: NoiseModel) -> npt.NDArray[np.int64] | None:
    """Bound the correlation between the errors of any two parts of a score.

    A dashboard cannot store the correlations between all pairs of bins of a model. For two terms,
    claims about decisions therefore use the largest correlation between any bin of the first term
    and any bin of the second term. As a result, the standard deviation of a score may be too large
    but is never too small.

    Parameters
    ----------
    noise : NoiseModel
        Joint errors of the model.

    Returns
    -------
    ndarray of int64, shape (n_terms * (n_terms + 1) / 2,), or None
        Upper bound for each pair of parts, in units of 1 / 90, row by row; the parts are the terms,
        followed by the intercept. The result is None if the model is large: its errors are then
        assumed to be fully correlated.
    """
    if len(noise.factor) > _MOST_VALUES or len(noise.sizes) > _MOST_TERMS:
        return None
    scaled = noise.factor / np.where(noise.std > 0, noise.std, 1.0)[:, None]
    starts = np.cumsum((0, *noise.sizes))
    largest = np.maximum.reduceat(np.maximum.reduceat(scaled @ scaled.T, starts, axis=0), starts, 1)
    upper = largest[np.triu_indices(len(starts), 1)]
    return np.clip(np.ceil(STEPS * upper - 1e-6), 0, STEPS).astype(np.int64)


def score_errors(explanation: GlobalExplanation, local: LocalExplanation) -> FloatArray | None:
    """Return an upper bound on the standard deviation of each score.

    Parameters
    ----------
    explanation : GlobalExplanation
    local : LocalExplanation
        Local explanation of one or more rows, computed from `explanation`.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        Standard deviations in units of the score; None if the errors are unknown. Correlations with
        the errors of pairs are not stored, so the standard deviations of pairs are added in full.
    """
    noise = explanation.noise
    if noise is None or local.total_std is None:
        return None
    n_terms = len(noise.sizes)
    stds = np.column_stack([local.total_std[:, :n_terms], np.full(len(local), noise.std[-1])])
    first, second = np.triu_indices(n_terms + 1, 1)
    steps = part_correlations(noise)
    shares = np.ones(len(first)) if steps is None else steps / STEPS
    common = (stds[:, first] * stds[:, second]) @ shares
    of_pairs = local.total_std[:, n_terms:].sum(axis=1)
    return np.asarray(np.sqrt((stds**2).sum(axis=1) + 2.0 * common) + of_pairs)


def known_errors(explanation: GlobalExplanation, local: LocalExplanation) -> FloatArray:
    """Return upper bounds on the errors of scores; raise ValueError if there are none.

    Parameters
    ----------
    explanation : GlobalExplanation
    local : LocalExplanation
        Local explanation of one or more rows, computed from `explanation`.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if any(part.released is not None for part in explanation.parts):
        raise ValueError(f"no claim about a decision of curves edited by hand. {AS_RELEASED}")
    errors = score_errors(explanation, local)
    if errors is None:
        raise ValueError(f"no claim about a decision: errors of the score are unknown. {NEEDED}")
    return errors
