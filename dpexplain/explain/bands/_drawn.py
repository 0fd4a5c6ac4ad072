"""Random draws of importances, and rank intervals computed from the draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.noise_model import LEVEL, NoiseModel

if TYPE_CHECKING:
    from dpexplain.explain.additive.shape_function import ShapeFunction

DRAWS = 2_000


def drawn_importances(
    terms: Sequence[ShapeFunction], noise: NoiseModel, errors: FloatArray
) -> FloatArray:
    """Simulate importances by adding draws of the noise to shrunk curves.

    Each curve is first shrunk by its `kept_share`, which corrects its importance for noise.

    Parameters
    ----------
    terms : sequence of ShapeFunction
    noise : NoiseModel
    errors : ndarray of shape (n_draws, n_values)
        Draws of the noise.

    Returns
    -------
    ndarray of shape (n_draws, n_terms)
    """
    columns = [
        np.abs(t.kept_share * t.contribution + errors[:, noise.term(k)]) @ t.weights
        for k, t in enumerate(terms)
    ]
    return np.stack(columns, axis=1)


def rank_intervals(
    importance: FloatArray, draws: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return a 95% rank interval for each term.

    Each interval holds by itself. They need not hold together: that of one term can be rank 1
    alone while that of another begins at 1.

    Parameters
    ----------
    importance : ndarray of shape (n_terms,)
        Importances corrected for the bias from noise, and averaged over the classes if there are
        several.
    draws : sequence of ndarray of shape (n_draws, n_terms)
        Importances under simulated noise, one array for each class.

    Returns
    -------
    low, high : ndarray of shape (n_terms,)
        Ends of the intervals; rank 1 is the most important term.
    """
    n_terms = len(importance)
    low, high = np.ones(n_terms), np.full(n_terms, float(n_terms))
    centered = [d - d.mean(axis=0) for d in draws]
    for k in range(n_terms):
        others = np.arange(n_terms) != k
        if not others.any():
            continue
        gaps = [d[:, others] - d[:, [k]] for d in centered]
        # Correlations of the noise between classes are not stored; full correlation is assumed.
        stds = [np.maximum(g.std(axis=0), 1e-300) for g in gaps]
        std = np.mean(stds, axis=0)
        factor = max(
            np.quantile(np.abs(g / s).max(axis=1), LEVEL) for g, s in zip(gaps, stds, strict=True)
        )
        ahead = importance[others] - importance[k]
        low[k] += np.sum(ahead > factor * std)
        high[k] -= np.sum(-ahead > factor * std)
    return low, high


def drawn_effects(terms: Sequence[ShapeFunction], scatter: NoiseModel) -> FloatArray:
    """Draw plausible values of the true curves, given estimates and their errors.

    Parameters
    ----------
    terms : sequence of ShapeFunction
        Each with an estimate of its effect.
    scatter : NoiseModel
        Errors of the estimates.

    Returns
    -------
    ndarray of shape (n_draws, n_values)
        The bins of the first term, then the bins of the second term, and so on.
    """
    center = np.concatenate([np.zeros(t.n_bins) if t.effect is None else t.effect for t in terms])
    return np.asarray(scatter.draws(DRAWS)[:, :-1] + center)


def sizes_of(terms: Sequence[ShapeFunction], scatter: NoiseModel, drawn: FloatArray) -> FloatArray:
    """Return the mean absolute value of each drawn curve over the records.

    Parameters
    ----------
    terms : sequence of ShapeFunction
    scatter : NoiseModel
    drawn : ndarray of shape (n_draws, n_values)
        Curves, as returned by `drawn_effects`.

    Returns
    -------
    ndarray of shape (n_draws, n_terms)
    """
    columns = [np.abs(drawn[:, scatter.term(k)]) @ t.weights for k, t in enumerate(terms)]
    return np.stack(columns, axis=1)
