"""Errors that dependence within the groups of a table may cause."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population

FloatArray = NDArray[np.float64]

_LEAST = 1e-12


def errors_within_groups(
    population: Population, curves: FloatArray, within: FloatArray
) -> Iterator[tuple[int, FloatArray]]:
    """Yield how far the mean of one curve in the bins of another feature may be wrong.

    A table shows nothing within its groups, so the population may understate or overstate how one
    feature varies with another one. This is one error of all sums of a feature: if its bins had
    independent errors, they would average out.

    Parameters
    ----------
    population : Population
    curves : ndarray of shape (n_bins_total,)
        Estimated curves of all features.
    within : ndarray of shape (n_features, n_features)
        Dependence that tables may hide within groups; zero for pairs without a table.

    Yields
    ------
    feature : int
        The feature whose sums are concerned.
    error : ndarray of shape (n_bins,)
        Standard deviation of the error in each of its bins, with the sign of the mean. The mean
        square is the given part of the variance that the mean does not explain.
    """
    first = population.cells[0] - population.bins[0]
    n_bins = np.diff(np.append(first, len(curves)))
    for feature, other in zip(*np.nonzero(within), strict=True):
        bins, curve = population.bins[:, feature], curves[population.cells[:, other]]
        n_points = np.bincount(bins, minlength=n_bins[feature])
        total = np.bincount(bins, curve - curve.mean(), minlength=n_bins[feature])
        mean = total / np.maximum(n_points, 1)
        explained = float(n_points @ mean**2) / len(bins)
        left = max(float(curve.var()) - explained, 0.0)
        yield int(feature), mean * np.sqrt(within[feature, other] * left / max(explained, _LEAST))
