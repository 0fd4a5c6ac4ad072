"""Comparison of the released sums of several classes with their expected values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.boosting.uncertainty.effects._kernels_classes import add_up_classes
from dpexplain.models.boosting.uncertainty.effects._kernels_expected import scale_reach
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population
from dpexplain.models.boosting.uncertainty.effects.trajectory import MISFIT, Trajectory

FloatArray = NDArray[np.float64]


class ClassTrajectory(Trajectory):
    """Released leaf sums of a fit to several classes, with the scores at each visit.

    Parameters
    ----------
    fit : PrivateFit
        A fit with one score per class.
    bound : float
        Bound on scores per bin.
    """

    def __init__(self, fit: PrivateFit, bound: float) -> None:
        super().__init__(fit, bound, logistic=True)
        self._by_class = fit.steps.sums

    def known_of_classes(
        self,
        population: Population,
        chance: FloatArray,
        contrasts: FloatArray,
        columns: FloatArray,
        places: Sequence[NDArray[np.intp]],
        scores: FloatArray,
        curves: FloatArray,
        together: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the information in all sums, and their pull on the coefficients.

        Parameters
        ----------
        population : Population
        chance : ndarray of shape (n_records, n_classes)
            True probability of each class.
        contrasts : ndarray of shape (n_classes, n_contrasts)
            Contribution of each contrast to the true score of each class.
        columns : ndarray of shape (n_records, n_columns)
            A column of ones and the values of all basis functions.
        places : sequence of ndarray of shape (n_columns,), one per contrast
            Index of the coefficient of each column.
        scores : ndarray of shape (n_records, n_pairs)
            Derivatives from `Population.score_functions`.
        curves : ndarray of shape (n_bins_total, n_classes)
            True curves, bin by bin, relative to the mean of all classes.
        together : ndarray of shape (n_features, n_features)
            Squared correlation of each pair, plus how far it may be wrong (`doubts`), in
            units of the square of `MISFIT`; zero on the diagonal.

        Returns
        -------
        precision : ndarray of shape (n, n)
            Information about the coefficients (first) and the correlations (last).
        pull : ndarray of shape (n,)
            Derivatives of the sums times the differences between released and expected sums, both
            in standard deviations.
        """
        n_classes, n_contrasts = contrasts.shape
        at = np.flatnonzero(self._anchor >= 0)
        row_of_visit = np.full(len(self._anchor), -1)
        row_of_visit[at] = np.arange(len(at))
        expected, reach = np.zeros((2, *self._by_class.shape))
        residuals = np.zeros((len(at), population.n_records, n_classes))
        reactions = np.zeros((*residuals.shape, n_contrasts))
        each = self.n_samples / population.n_records
        add_up_classes(
            np.ascontiguousarray(population.bins.T),
            self._start,
            chance,
            each,
            contrasts,
            self._visit_feature,
            self._leaf_of_bin,
            self._bin_start,
            self._updates,
            self._leaf_start,
            self._clips,
            row_of_visit,
            expected,
            reach,
            residuals,
            reactions,
        )
        std = self._errors(reach, curves, together)
        missing = (self._by_class - expected) / std
        n = sum(len(p) for p in places) + scores.shape[1]
        precision, pull = np.zeros((n, n)), np.zeros(n)
        starts = np.arange(population.n_records + 1)
        for v in at:
            k, row = self._visit_feature[v], row_of_visit[v]
            using = np.flatnonzero((self._nearest == self._anchor[v]) & (self._visit_feature == k))
            member, leaves = self._members(k, using)
            size = (self._start[k + 1] - self._start[k], population.n_records)
            for c in range(n_classes):
                slopes = np.zeros((size[0], n))
                for j, place in enumerate(places):
                    loads = each * reactions[row, :, c, j]
                    sparse = csr_matrix((loads, population.bins[:, k], starts), size[::-1])
                    slopes[:, place] = sparse.T @ columns
                if scores.shape[1]:
                    loads = each * residuals[row, :, c]
                    sparse = csr_matrix((loads, population.bins[:, k], starts), size[::-1])
                    slopes[:, n - scores.shape[1] :] = sparse.T @ scores
                per_leaf = (member @ slopes) / std[leaves, c, None]
                precision += per_leaf.T @ per_leaf
                pull += per_leaf.T @ missing[leaves, c]
        return precision, pull

    def _errors(self, reach: FloatArray, curves: FloatArray, together: FloatArray) -> FloatArray:
        """Return the standard deviation of the error of each expected sum."""
        stds = []
        for c in range(reach.shape[1]):
            own = np.ascontiguousarray(reach[:, c])
            updates = self._updates[:, c] - self._updates.mean(axis=1)
            scale_reach(
                own, curves[:, c].copy(), self._shares, together, self._start,
                self._visit_feature, self._bin_start, updates, self._leaf_start,
            )  # fmt: skip
            stds.append(np.hypot(self._std, MISFIT * np.sqrt(self._n_passes) * own))
        return np.stack(stds, axis=1)
