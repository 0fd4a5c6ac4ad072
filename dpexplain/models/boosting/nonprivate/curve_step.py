"""Boosting step on the curve of one feature, for non-private models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.released import Tables
from dpexplain.models.boosting.structure import Visit


class CurveStep:
    """Boosting step with Newton leaf values (Algorithm 1 of Nori et al.).

    Parameters
    ----------
    grow : callable
        Function that grows a tree on ordered bins. Given the sums of residuals and curvatures per
        bin, it returns the value of each bin's leaf.
    ordered : sequence of bool
        For each feature, whether only neighboring bins may share a leaf. Unordered categories are
        sorted by their Newton value before the tree is grown.
    n_special : sequence of int
        For each feature, the number of bins at the end that form separate leaves.
    learning_rate : float
        Fraction of the leaf value that is added.
    min_curvature : float
        Minimum curvature of a special bin.
    """

    def __init__(
        self,
        grow: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
        ordered: Sequence[bool],
        n_special: Sequence[int],
        *,
        learning_rate: float,
        min_curvature: float,
    ) -> None:
        self._grow = grow
        self._ordered = ordered
        self._n_special = n_special
        self._learning_rate = learning_rate
        self._min_curvature = min_curvature

    def __call__(self, visit: Visit, records: Records, tables: Tables) -> NDArray[np.float64]:
        """Return Newton values times the learning rate, per bin."""
        gradient, curvature = records.bin_sums(visit.feature)
        n_values = len(gradient) - self._n_special[visit.feature]
        values = newton(gradient, curvature, self._min_curvature)
        if n_values:
            order: slice | NDArray[np.intp] = slice(n_values)
            if not self._ordered[visit.feature]:
                order = _by_value(values[:n_values], curvature[:n_values])
            values[order] = self._grow(gradient[order], curvature[order])
        return self._learning_rate * values


def _by_value(values: NDArray[np.float64], curvature: NDArray[np.float64]) -> NDArray[np.intp]:
    """Sort categories by Newton value, of the class with the largest residuals."""
    if values.ndim == 2:
        values = values[:, int((values**2 * curvature).sum(axis=0).argmax())]
    return np.argsort(values, kind="stable")


def newton(
    gradient: NDArray[np.float64], curvature: NDArray[np.float64], min_curvature: float
) -> NDArray[np.float64]:
    """Return Newton values; 0 where there is too little curvature.

    Parameters
    ----------
    gradient, curvature : ndarray of shape (n,) or (n, n_classes)
        Sum of the residuals and sum of the curvatures. With several classes, the last axis is the
        class, and small curvatures are increased, so that no step is too long.
    min_curvature : float
        Minimum curvature, summed over classes.

    Returns
    -------
    ndarray of the shape of `gradient`
    """
    n_classes = gradient.shape[-1] if gradient.ndim == 2 else 1
    total = curvature.sum(axis=1, keepdims=True) if gradient.ndim == 2 else curvature
    floored = np.maximum(curvature, max(min_curvature / n_classes, 1e-12))
    return np.asarray(np.where(total >= min_curvature, gradient / floored, 0.0))
