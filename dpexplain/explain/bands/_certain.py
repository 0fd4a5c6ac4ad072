"""Certain effects: by a bin, or by the slope of the whole curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.bands._drawn import DRAWS
from dpexplain.explain.noise_model import NoiseModel

if TYPE_CHECKING:
    from dpexplain.explain.additive.shape_function import ShapeFunction


def certain_effects(
    terms: Sequence[ShapeFunction], scatter: NoiseModel, level: float
) -> dict[str, str]:
    """Say by what each significant effect is certain; see :class:`NoisyModel`."""
    slopes = [overall_direction(term)[2] for term in terms]
    of_bins, of_slopes, stds = bins_and_slopes(scatter, slopes, level)
    found = {}
    for term, std in zip(terms, stds, strict=True):
        by_bins = _largest_effect(term) > of_bins
        by_slope = abs(effect_slope(term)) > of_slopes * std
        if by_bins or by_slope:
            found[term.name] = "both" if by_bins and by_slope else "bins" if by_bins else "slope"
    return found


def bins_and_slopes(
    scatter: NoiseModel, slopes: Sequence[FloatArray], level: float
) -> tuple[float, float, FloatArray]:
    """Return bounds on how far bins and slopes vary if all effects are zero.

    Parameters
    ----------
    scatter : NoiseModel
        Errors of the estimates.
    slopes : sequence of ndarray of shape (n_bins,)
        For each term, the coefficients of its slope; all zero if the term has no slope.
    level : float
        Probability that all bins and all slopes stay within these bounds.

    Returns
    -------
    of_bins, of_slopes : float
        Bounds on the absolute values of bins and of slopes, in standard deviations. The probability
        that any bin exceeds the first bound equals the probability that any slope exceeds the
        second.
    stds : ndarray of shape (n_terms,)
        Standard deviation of each slope.
    """
    errors = scatter.draws(DRAWS)
    found = np.stack([errors[:, scatter.term(k)] @ loads for k, loads in enumerate(slopes)], axis=1)
    # In place, because the draws of a large model take many megabytes.
    errors /= np.where(scatter.std > 0, scatter.std, np.inf)
    bins = np.abs(errors, out=errors)[:, :-1].max(axis=1)
    stds = np.sqrt((found**2).mean(axis=0))
    slope = np.abs(found / np.where(stds > 0, stds, np.inf)).max(axis=1)
    ranks = np.maximum(*(np.searchsorted(np.sort(each), each) for each in (bins, slope)))
    both = min(float(np.quantile(ranks, level)) / (DRAWS - 1), 1.0)
    return float(np.quantile(bins, both)), float(np.quantile(slope, both)), stds


def overall_direction(term: ShapeFunction) -> tuple[str | None, float, FloatArray]:
    """Return the direction of a curve, its slope, and the coefficients of the slope.

    The slope is the sum of the contributions of all bins, each multiplied by the coefficient of its
    bin. The direction is None if the slope is zero, for example because the bins are unordered.
    """
    loads = np.zeros(term.n_bins)
    if term.kind == "categorical" and not term.ordered:
        return None, 0.0, loads
    n = term.n_value_bins
    weights, place = term.weights[:n], np.arange(n, dtype=np.float64)
    if not weights.sum() > 0:
        return None, 0.0, loads
    loads[:n] = weights * (place - weights @ place / weights.sum())
    slope = float(loads @ term.contribution)
    return ("rising" if slope > 0 else "falling") if slope else None, slope, loads


def effect_slope(term: ShapeFunction) -> float:
    """Return the slope of the estimated effect; 0 if there is no estimate or no slope."""
    return 0.0 if term.effect is None else float(overall_direction(term)[2] @ term.effect)


def _largest_effect(term: ShapeFunction) -> float:
    """Return the largest absolute ratio of an effect to its standard deviation.

    Bins with a standard deviation of 0 are ignored. The result is 0 if there is no estimate.
    """
    if term.effect is None or term.effect_std is None:
        return 0.0
    std = term.effect_std
    ratio = np.divide(np.abs(term.effect), std, out=np.zeros(len(std)), where=std > 0)
    return float(ratio.max())
