"""Estimates that respect monotone constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.models.additive.terms import Direction
from dpexplain.models.boosting.monotone import SIGNS, pool_adjacent_violators

FloatArray = NDArray[np.float64]


def constrained_curves(
    curves: Sequence[FloatArray],
    stds: Sequence[FloatArray],
    counts: Sequence[BinCounts],
    directions: Sequence[Direction | None],
) -> tuple[tuple[FloatArray, ...], float]:
    """Replace the curves of constrained terms by the nearest monotone curves.

    Distances are weighted by each bin's precision. If the true curve is monotone, the replacement
    cannot increase the distance to it, so the errors of the original estimate still describe the
    accuracy of the result.

    Parameters
    ----------
    curves, stds : sequence of ndarray of shape (n_bins,)
        Estimated centered curves, and the standard deviations of their errors.
    counts : sequence of BinCounts
        Noisy number of records in each bin.
    directions : sequence of {"increasing", "decreasing", None}
        Required direction of each curve; None if unconstrained.

    Returns
    -------
    curves : tuple of ndarray of shape (n_bins,)
        Centered curves; special bins change only because of the centering.
    shift : float
        Amount by which the intercept changes, because curves are centered again.
    """
    moved, shift = [], 0.0
    for curve, std, count, direction in zip(curves, stds, counts, directions, strict=True):
        if direction is None:
            moved.append(curve)
            continue
        sign, n_values = SIGNS[direction], len(curve) - count.n_special
        weights = 1.0 / np.maximum(std[:n_values], 1e-9) ** 2
        new = curve.copy()
        new[:n_values] = sign * pool_adjacent_violators(sign * curve[:n_values], weights)
        mean = float(shares(count) @ (new - curve))
        moved.append(new - mean)
        shift += mean
    return tuple(moved), shift
