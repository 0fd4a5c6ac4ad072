"""Greedy trees on the cells of two features, for non-private models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.released import Tables
from dpexplain.models.boosting.structure import Visit


@njit(cache=True, nogil=True, error_model="numpy")
def _best_halves(gradient, curvature, min_curvature):  # type: ignore[no-untyped-def]
    """Return the best two-way cut of one side, and the gain of the resulting leaves.

    The cut is 0 if no cut increases the gain and leaves enough curvature in both parts.
    """
    total_g, total_h = gradient.sum(), curvature.sum()
    best_cut, best = 0, total_g**2 / max(total_h, 1e-12)
    left_g, left_h = 0.0, 0.0
    for j in range(len(gradient) - 1):
        left_g += gradient[j]
        left_h += curvature[j]
        right_g, right_h = total_g - left_g, total_h - left_h
        if left_h < min_curvature or right_h < min_curvature:
            continue
        found = left_g**2 / left_h + right_g**2 / right_h
        if found > best:
            best, best_cut = found, j + 1
    return best_cut, best


@njit(cache=True, nogil=True, error_model="numpy")
def _best_tree(gradient, curvature, min_curvature):  # type: ignore[no-untyped-def]
    """Return the best cuts of a grid, and the gain of the resulting leaves.

    The rows are cut in two, and then the columns of each part are cut in two.
    """
    below_g, below_h = np.zeros(gradient.shape[1]), np.zeros(gradient.shape[1])
    above_g, above_h = gradient.sum(axis=0), curvature.sum(axis=0)
    best, cuts = -1.0, (0, 0, 0)
    for i in range(gradient.shape[0] - 1):
        below_g += gradient[i]
        below_h += curvature[i]
        above_g -= gradient[i]
        above_h -= curvature[i]
        if below_h.sum() < min_curvature or above_h.sum() < min_curvature:
            continue
        low, of_low = _best_halves(below_g, below_h, min_curvature)
        high, of_high = _best_halves(above_g, above_h, min_curvature)
        if of_low + of_high > best:
            best, cuts = of_low + of_high, (i + 1, low, high)
    return best, cuts


@njit(cache=True, nogil=True, error_model="numpy")
def pair_tree(gradient, curvature, min_curvature):  # type: ignore[no-untyped-def]
    """Grow a tree with at most four leaves on a grid; return Newton values per cell.

    One side is cut in two, and each part is cut along the other side, as in [1]_.

    Parameters
    ----------
    gradient, curvature : ndarray of shape (n_rows, n_columns), dtype float64
        Sum of the residuals and sum of the curvatures per cell.
    min_curvature : float
        Minimum curvature per leaf.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), dtype float64
        ``sum of residuals / sum of curvature`` of the cell's leaf; 0 if no cut is possible.

    References
    ----------
    .. [1] Lou et al., "Accurate Intelligible Models with Pairwise Interactions", KDD 2013.
    """
    values = np.zeros(gradient.shape)
    by_row, row_cuts = _best_tree(gradient, curvature, min_curvature)
    turned_g = np.ascontiguousarray(gradient.T)
    turned_h = np.ascontiguousarray(curvature.T)
    by_column, column_cuts = _best_tree(turned_g, turned_h, min_curvature)
    if by_row < 0.0 and by_column < 0.0:
        return values
    turned = by_column > by_row
    cut, low, high = column_cuts if turned else row_cuts
    if turned:
        gradient, curvature, values = turned_g, turned_h, values.T
    n_rows, n_columns = gradient.shape
    for first, last, split in ((0, cut, low), (cut, n_rows, high)):
        for left, right in ((0, split), (split, n_columns)):
            h = curvature[first:last, left:right].sum()
            if h >= min_curvature:
                values[first:last, left:right] = gradient[first:last, left:right].sum() / h
    return values.T if turned else values


ROUND_ROBIN = 10
"""Every tenth pass visits each pair once; the other visits go to the pair with the largest gain."""


class PairStep:
    """Boosting step on the cells of pairs, with greedy trees and Newton leaf values.

    Most visits go to the pair whose last tree reduced the loss most. If all pairs were visited
    equally often, weak pairs would fit noise, and early stopping would end the fit before strong
    pairs are finished.

    Parameters
    ----------
    grids : sequence of Grid
        Cells of each pair; their columns come after the columns of the features, in order.
    learning_rate : float
        Fraction of the leaf value that is added.
    min_curvature : float
        Minimum curvature per leaf.
    """

    def __init__(
        self, grids: Sequence[Grid], *, learning_rate: float, min_curvature: float
    ) -> None:
        self._grids = {grid.column: grid for grid in grids}
        self._learning_rate = learning_rate
        self._min_curvature = min_curvature
        self._gains = dict.fromkeys(self._grids, np.inf)

    def visits(self, n_passes: int) -> Iterator[Visit]:
        """Yield the visits of a pass; most go to the pair with the largest recent gain.

        Parameters
        ----------
        n_passes : int
            Number of earlier passes over the same records.
        """
        for pair in self._grids:
            best = max(self._gains, key=lambda column: self._gains[column])
            column = best if n_passes % ROUND_ROBIN else pair
            yield Visit(column, np.zeros(0, np.uint8), np.zeros(0))

    def __call__(self, visit: Visit, records: Records, tables: Tables) -> NDArray[np.float64]:
        """Return Newton values times the learning rate, per cell."""
        grid = self._grids[visit.feature]
        gradient, curvature = records.bin_sums(visit.feature).reshape(2, *grid.shape)
        values = pair_tree(gradient, curvature, self._min_curvature)
        values = np.where(grid.used, values, 0.0)
        self._gains[visit.feature] = float((values * gradient).sum())
        return self._learning_rate * values.ravel()
