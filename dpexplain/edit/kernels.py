"""Arithmetic for edits to curves.

The functions in this module apply edits. Dashboards preview edits with JavaScript versions of them
(``static/views/edit/arithmetic/edit_kernels.js``); a test checks that the results agree.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dpexplain._utils.isotonic import pool_adjacent_violators

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_LEAST_WEIGHT = 1e-9
_CONVEX_ROUNDS = 10_000


def positive_weights(weights: FloatArray) -> FloatArray:
    """Return the weights, giving empty bins a tiny positive weight.

    Empty bins then follow their neighbors in a weighted fit.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Proportions of records, which must not be negative.

    Returns
    -------
    ndarray of shape (n,)
        The weights, all positive.
    """
    total = float(weights.sum())
    if not total > 0:
        return np.ones(len(weights))
    return weights / total + _LEAST_WEIGHT


def weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean, or the plain mean if all weights are zero."""
    total = float(weights.sum())
    return float(weights @ values) / total if total > 0 else float(values.mean())


def monotone(values: FloatArray, weights: FloatArray, sign: int) -> FloatArray:
    """Fit a monotone curve by weighted least squares.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        Curve, and proportion of the records in each bin.
    sign : {1, -1}
        1 for an increasing curve, -1 for a decreasing curve.

    Returns
    -------
    ndarray of shape (n,)
    """
    return np.asarray(sign * pool_adjacent_violators(sign * values, positive_weights(weights)))


def convex(places: FloatArray, values: FloatArray, weights: FloatArray, sign: int) -> FloatArray:
    """Fit a convex or concave curve by weighted least squares.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Increasing positions of the bins.
    values, weights : ndarray of shape (n,)
        Curve, and proportion of the records in each bin.
    sign : {1, -1}
        1 for a convex curve, -1 for a concave curve.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    This is an active-set method. Each step adds the kink that reduces the error most and fits a
    broken line with all kinks added so far. Kinks that would bend the wrong way are removed.

    References
    ----------
    .. [1] Groeneboom, Jongbloed, Wellner, "The support reduction algorithm for computing
       non-parametric function estimates in mixture models", Scandinavian Journal of Statistics 35
       (2008).
    """
    n = len(values)
    if n < 3:
        return values.copy()
    weight, target = positive_weights(weights), sign * values
    x = (places - places[0]) / (places[-1] - places[0])
    kinks: list[int] = []
    fit = _broken_line(x, target, weight, kinks)
    tolerance = 1e-12 * (float(np.abs(target).max()) + 1e-300)
    for _ in range(_CONVEX_ROUNDS):
        gain = _gains(x, weight * (target - fit))
        gain[kinks] = -np.inf
        best = int(np.argmax(gain))
        if gain[best] <= tolerance:
            break
        kinks = sorted([*kinks, best])
        fit, kinks = _with_true_kinks(x, target, weight, kinks, fit)
    return np.asarray(sign * fit)


def _gains(x: FloatArray, residual: FloatArray) -> FloatArray:
    """Return the inner products of the residual with the hinge functions."""
    tail = np.cumsum((residual * x)[::-1])[::-1]
    mass = np.cumsum(residual[::-1])[::-1]
    gain = tail - x * mass
    gain[[0, -1]] = -np.inf
    return np.asarray(gain)


def _with_true_kinks(
    x: FloatArray, target: FloatArray, weight: FloatArray, kinks: list[int], before: FloatArray
) -> tuple[FloatArray, list[int]]:
    """Fit a piecewise linear curve, removing kinks that bend the wrong way.

    Return the curve and the remaining kinks.
    """
    while True:
        fit = _broken_line(x, target, weight, kinks)
        bends = _bends(x, fit, kinks)
        if not kinks or min(bends) > 0:
            return fit, kinks
        old = _bends(x, before, kinks)
        steps = [o / (o - b) if b <= 0 and o > b else 1.0 for o, b in zip(old, bends, strict=True)]
        first = min(s for s, b in zip(steps, bends, strict=True) if b <= 0)
        before = before + max(first, 0.0) * (fit - before)
        kinks = [
            k for k, s, b in zip(kinks, steps, bends, strict=True) if b > 0 or s > first + 1e-15
        ]


def _bends(x: FloatArray, fit: FloatArray, kinks: list[int]) -> list[float]:
    """Return the change in slope at each kink."""
    ends = [0, *kinks, len(x) - 1]
    slopes = [(fit[b] - fit[a]) / (x[b] - x[a]) for a, b in pairwise(ends)]
    return [float(after - prior) for prior, after in pairwise(slopes)]


def _broken_line(
    x: FloatArray, target: FloatArray, weight: FloatArray, kinks: list[int]
) -> FloatArray:
    """Fit a broken line with given kinks by weighted least squares."""
    knots = np.array([0, *kinks, len(x) - 1])
    piece = np.clip(np.searchsorted(knots, np.arange(len(x)), side="right") - 1, 0, len(knots) - 2)
    left, right = x[knots[piece]], x[knots[piece + 1]]
    share = (x - left) / (right - left)
    size = len(knots)
    matrix, side = np.zeros((size, size)), np.zeros(size)
    np.add.at(matrix, (piece, piece), weight * (1.0 - share) ** 2)
    np.add.at(matrix, (piece + 1, piece + 1), weight * share**2)
    np.add.at(matrix, (piece, piece + 1), weight * share * (1.0 - share))
    np.add.at(side, piece, weight * (1.0 - share) * target)
    np.add.at(side, piece + 1, weight * share * target)
    matrix = matrix + np.triu(matrix, 1).T
    heights = np.linalg.solve(matrix, side)
    return np.asarray((1.0 - share) * heights[piece] + share * heights[piece + 1])


def smooth(values: FloatArray, weights: FloatArray, std: FloatArray, reach: float) -> FloatArray:
    """Smooth a curve by fitting a line around each bin.

    In each fit, the bins are weighted by proximity and inverse variance.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        Curve, and proportion of the records in each bin.
    std : ndarray of shape (n,)
        Standard deviation of each value.
    reach : float
        Standard deviation of the Gaussian kernel. The distance between two bins is measured by the
        proportion of records between them.

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    .. [1] Fan, Gijbels, "Local Polynomial Modeling and Its Applications", Chapman & Hall 1996,
       section 3.1.
    """
    weight = positive_weights(weights)
    middle = np.cumsum(weight) - weight / 2.0
    precision = 1.0 / np.maximum(std, 1e-12) ** 2
    precision = precision / precision.max()
    apart = middle[None, :] - middle[:, None]
    near = np.exp(-0.5 * (apart / reach) ** 2) * precision
    mass, first, second = near.sum(1), (near * apart).sum(1), (near * apart**2).sum(1)
    level, slope = near @ values, (near * apart) @ values
    # If one bin has all the weight, the slope of the line is undetermined.
    determinant = mass * second - first**2 + 1e-9 * reach**2 * mass**2
    return np.asarray(((second + 1e-9 * reach**2 * mass) * level - first * slope) / determinant)


def interpolate(places: FloatArray, values: FloatArray, kept: IndexArray) -> FloatArray:
    """Interpolate a curve linearly between the kept bins.

    Parameters
    ----------
    places, values : ndarray of shape (n,)
        Increasing positions of the bins, and the curve.
    kept : ndarray of int
        Increasing indices of the kept bins; the first and last bins are always kept.

    Returns
    -------
    ndarray of shape (n,)
    """
    through = np.union1d(kept, [0, len(values) - 1])
    drawn = np.interp(places, places[through], values[through])
    drawn[through] = values[through]
    return np.asarray(drawn)


def with_mean(wanted: FloatArray, before: FloatArray, weights: FloatArray) -> FloatArray:
    """Shift new values so that they have the same weighted mean as the old values.

    Parameters
    ----------
    wanted, before, weights : ndarray of shape (n,)
        New values, old values, and proportion of the records in each bin.

    Returns
    -------
    ndarray of shape (n,)
        Shifted new values; `wanted` itself if its mean is already correct up to rounding, or if all
        weights are zero.
    """
    if not weights.sum() > 0:
        return wanted
    gap = weighted_mean(wanted - before, weights)
    scale = float(np.abs(before).max(initial=0.0) + np.abs(wanted).max(initial=0.0))
    return wanted if abs(gap) <= 1e-14 * scale else wanted - gap
