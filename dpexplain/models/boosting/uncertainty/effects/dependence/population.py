"""Synthetic population with released counts and estimated dependence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from dpexplain.models.boosting.uncertainty.effects.dependence.estimated_tables import (
    EstimatedTables,
    in_order,
)

FloatArray = NDArray[np.float64]

_SEED = 20210718  # post-processing: the same model always shows the same estimate
_LEAST_EIGENVALUE = 0.02

CURVED_DIRECTIONS = 3
"""Number of directions of curved dependence for each pair of features."""


class Population:
    """Synthetic population of quasi-random points, each with one bin per feature.

    Parameters
    ----------
    order : sequence of ndarray of shape (n_bins,)
        Bins of each feature, sorted from lowest to highest.
    shares : sequence of ndarray of shape (n_bins,)
        Proportion of the records in each bin.
    n_records : int
        Number of points, a power of two.
    correlations : ndarray of shape (n_pairs,)
        Correlation of each pair, as in `draw`.
    tables : EstimatedTables or None, default=None
        Tables of pairs of features.
    """

    def __init__(
        self,
        order: Sequence[NDArray[np.intp]],
        shares: Sequence[FloatArray],
        n_records: int,
        correlations: FloatArray,
        tables: EstimatedTables | None = None,
    ) -> None:
        self._independent = _independent_scores(n_records, len(order))
        self._order, self._shares, self._tables = list(order), list(shares), tables
        self._below = [np.cumsum(s[o]) / s.sum() for s, o in zip(shares, order, strict=True)]
        self._first = np.cumsum([0, *(len(o) for o in order[:-1])])
        self.draw(correlations)

    def __repr__(self) -> str:
        return f"<Population of {self.n_records} points>"

    def draw(self, correlations: FloatArray, n_records: int | None = None) -> None:
        """Redraw the points with new correlations, but the same proportion in each bin.

        Parameters
        ----------
        correlations : ndarray of shape (n_pairs,)
            Correlation of each pair, in the order of ``numpy.triu_indices``. If the correlations
            are inconsistent, they are replaced by similar valid correlations.
        n_records : int or None, default=None
            Number of points, a power of two. If None, all points are drawn.
        """
        n, points = len(self._order), self._independent[:n_records]
        self.n_records = len(points)
        self.matrix = _possible(n, correlations)
        self.scores = points @ np.linalg.cholesky(self.matrix).T
        ranked = np.argsort(self.scores, axis=0)
        bins = np.empty((self.n_records, n), dtype=np.int64)
        for k, (order, below) in enumerate(zip(self._order, self._below, strict=True)):
            bins[ranked[:, k], k] = in_order(order, below[None], np.array([self.n_records]))
        if self._tables is not None:
            self._tables.assign(bins, ranked, self.matrix, self._order, self._shares)
        self.bins, self.cells = bins, bins + self._first

    def score_functions(self, pairs: NDArray[np.intp]) -> FloatArray:
        """Return derivatives of each point's log density with respect to the correlations.

        Parameters
        ----------
        pairs : ndarray of shape (n_chosen,)
            Indices of the pairs, in the order of ``numpy.triu_indices``.

        Returns
        -------
        ndarray of shape (n_records, n_chosen)
        """
        first, second = (i[pairs] for i in np.triu_indices(len(self._order), 1))
        inverse = np.linalg.inv(self.matrix)
        turned = self.scores @ inverse
        return np.asarray(turned[:, first] * turned[:, second] - inverse[first, second])

    def curved_functions(self, pairs: NDArray[np.intp]) -> FloatArray:
        """Return how the density changes if features depend on others along curves.

        Parameters
        ----------
        pairs : ndarray of shape (n_chosen,)
            Indices of the pairs, in the order of ``numpy.triu_indices``.

        Returns
        -------
        ndarray of shape (n_records, 3 * n_chosen)
            For each pair, relative changes if the square of the first feature varies with the
            second feature, if the square of the second varies with the first, and if both squares
            vary together. Each feature's own distribution is unchanged. All have variance 1.
        """
        if not len(pairs):
            return np.empty((self.n_records, 0))
        z = self.scores.T
        square, cube = (z**2 - 1.0) / np.sqrt(2.0), (z**3 - 3.0 * z) / np.sqrt(6.0)
        functions, one = np.stack([z, square, cube]), np.ones((1, self.n_records))
        found = np.empty((len(pairs), 3, self.n_records))  # large, so filled in place
        first, second = (i[pairs] for i in np.triu_indices(len(z), 1))
        for products, i, j in zip(found, first, second, strict=True):
            products[:] = square[i] * z[j], z[i] * square[j], square[i] * square[j]
            alone = np.concatenate([one, functions[:, i], functions[:, j]])
            products -= np.linalg.solve(alone @ alone.T, alone @ products.T).T @ alone
        found /= found.std(axis=2, keepdims=True)
        return found.reshape(-1, self.n_records).T.copy()


@lru_cache(maxsize=2)
def _independent_scores(n_records: int, n_features: int) -> FloatArray:
    """Return evenly spread points of independent normal variables."""
    even = qmc.Sobol(n_features, seed=_SEED).random(n_records)
    scores = ndtri(np.clip(even, 1e-9, 1.0 - 1e-9))
    scores.setflags(write=False)
    return np.asarray(scores)


def _possible(n: int, correlations: FloatArray) -> FloatArray:
    """Return a correlation matrix whose eigenvalues are bounded away from zero."""
    matrix = np.eye(n)
    first, second = np.triu_indices(n, 1)
    matrix[first, second] = matrix[second, first] = correlations
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < _LEAST_EIGENVALUE:
        matrix = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
        scale = np.sqrt(np.diag(matrix))
        matrix = matrix / scale / scale[:, None]
    return np.asarray(matrix)
