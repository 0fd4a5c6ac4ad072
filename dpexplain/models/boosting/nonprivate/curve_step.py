"""Boosting step on the curve of one feature, for non-private models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.nonprivate._kernels_turn import visit_features
from dpexplain.models.boosting.nonprivate.greedy import greedy_values, newton
from dpexplain.models.boosting.nonprivate.random_trees import random_values
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.released import Tables
from dpexplain.models.boosting.structure import Visit


class CurveStep:
    """Boosting step of Algorithm 1 of Nori et al., but with Newton leaf values.

    Parameters
    ----------
    ordered : sequence of bool
        For each feature, whether only neighboring bins may share a leaf. Unordered categories are
        sorted by their Newton value before the tree is grown.
    n_special : sequence of int
        For each feature, the number of bins at the end that form separate leaves.
    max_leaves : int
        Maximum number of leaves.
    min_curvature : float
        Minimum curvature of a leaf and of a special bin.
    learning_rate : float
        Fraction of the leaf value that is added.
    rng : numpy.random.Generator or None, default=None
        Generator for random splits; None means greedy splits.
    """

    def __init__(
        self,
        ordered: Sequence[bool],
        n_special: Sequence[int],
        *,
        max_leaves: int,
        min_curvature: float,
        learning_rate: float,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._ordered = np.array(ordered, dtype=np.bool_)
        self._n_special = np.array(n_special, dtype=np.int64)
        self._max_leaves = max_leaves
        self._min_curvature = float(min_curvature)
        self._learning_rate = float(learning_rate)
        self._rng = rng

    def __call__(self, visit: Visit, records: Records, tables: Tables) -> NDArray[np.float64]:
        """Return Newton values times the learning rate, per bin."""
        gradient, curvature = records.bin_sums(visit.feature)
        n_values = len(gradient) - self._n_special[visit.feature]
        values = newton(gradient, curvature, self._min_curvature)
        if n_values:
            order: slice | NDArray[np.intp] = slice(n_values)
            if not self._ordered[visit.feature]:
                order = _by_value(values[:n_values], curvature[:n_values])
            given = gradient[order], curvature[order], self._max_leaves, self._min_curvature
            values[order] = (
                greedy_values(*given) if self._rng is None else random_values(*given, self._rng)
            )
        return self._learning_rate * values

    def in_turn(self, records: Records, tables: Tables, bound: float) -> Tables | None:
        """Visit every feature once in compiled code, exactly as `boost` does.

        The result is the score per bin of each feature, or None if the records do not allow it.
        """
        bins = records.stacked(len(records), wide=True)
        if bins is None:
            return None
        start = np.cumsum([0, *map(len, tables)])
        draws = np.zeros((len(tables), 0 if self._rng is None else self._max_leaves - 1))
        if self._rng is not None:
            some = np.diff(start) > self._n_special
            draws[some] = self._rng.random((np.count_nonzero(some), self._max_leaves - 1))
        curves = np.concatenate(tables)
        last = visit_features(
            *records.in_turn(), curves, start, self._n_special, self._ordered, draws,
            self._max_leaves, self._min_curvature, self._learning_rate, float(bound),
        )  # fmt: skip
        records.set_pending(len(tables) - 1, last)
        # np.split is much slower.
        return [curves[a:z] for a, z in pairwise(start.tolist())]


def _by_value(values: NDArray[np.float64], curvature: NDArray[np.float64]) -> NDArray[np.intp]:
    """Sort categories by Newton value, of the class with the largest residuals."""
    if values.ndim == 2:
        values = values[:, int((values**2 * curvature).sum(axis=0).argmax())]
    return np.argsort(values, kind="stable")
