"""Comparison of the released sums of a fit with their expected values."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pairs import shares
from dpexplain.models.boosting.released import PrivateFit, released_path
from dpexplain.models.boosting.uncertainty.curvature import INSIDE_CLIP
from dpexplain.models.boosting.uncertainty.effects._kernels_counts import add_up_counts
from dpexplain.models.boosting.uncertainty.effects._kernels_expected import (
    LOGISTIC,
    NORMAL,
    add_per_bin,
    expected_sums,
    scale_reach,
)
from dpexplain.models.boosting.uncertainty.effects.counts import CountTable
from dpexplain.models.boosting.uncertainty.effects.population import Population

FloatArray = NDArray[np.float64]

MISFIT = 0.02
"""Error that remains in the mean missing part of the other curves in a bin after correlations are
taken into account, in standard deviations of this part, for fully correlated features."""

_ANCHORS = 8
"""Number of passes at which derivatives are computed; sums of other passes use the derivatives of
the nearest of these passes."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Differences between released and expected sums, with their derivatives.

    Attributes
    ----------
    missing : ndarray of shape (n_leaves,)
        Released minus expected sums. They and the derivatives are transformed so that their errors
        are independent and have variance 1.
    slopes : ndarray of shape (n_leaves, n_columns)
        Derivative of the expected sums with respect to each coefficient or correlation (and, for
        counts, the dispersion), in the same units.
    """

    missing: FloatArray
    slopes: FloatArray


class Trajectory:
    """Released leaf sums of a fit, with the known scores at each visit.

    Parameters
    ----------
    fit : PrivateFit
        A fit with one score per record.
    bound : float
        Bound on scores per bin, in internal units of the boosting loop.
    logistic : bool
        Whether the target has two classes; if False, it is numeric.
    """

    def __init__(self, fit: PrivateFit, bound: float, *, logistic: bool) -> None:
        visits = fit.visits
        self._visit_feature = visits.feature
        self._leaf_of_bin = np.concatenate([v.leaf_of_bin for v in visits]).astype(np.int64)
        self._bin_start = _starts([len(v.leaf_of_bin) for v in visits])[:-1]
        self._leaf_start = fit.steps.start
        self._start = _starts([len(c.counts) for c in fit.binned.counts])
        self._updates = _updates(fit, bound)
        self._clips = fit.clips
        self._first_score = float(fit.start)
        self.feature_of_leaf = np.repeat(self._visit_feature, np.diff(self._leaf_start))
        self._n_passes = len(visits) / len(fit.binned.counts)
        self._shares = np.concatenate([shares(c) for c in fit.binned.counts])
        self._count_errors = np.concatenate([_relative_errors(c) for c in fit.binned.counts])
        self._kind = LOGISTIC if logistic else NORMAL
        self._released = fit.steps.sums.ravel()
        self._std = np.repeat(fit.leaf_noise_std, np.diff(self._leaf_start))
        self._anchor, self._nearest = _anchors(self._visit_feature, len(fit.binned.counts))
        quantile = fit.schedule.clip_quantile
        self.inside = INSIDE_CLIP if quantile is None else quantile
        self.spread = float(fit.clips[-1] / NormalDist().inv_cdf((1.0 + self.inside) / 2.0))
        self.clip = float(fit.clips[-1])
        self.n_samples = max(fit.share * fit.binned.n_samples, 1.0)

    def __repr__(self) -> str:
        return f"<Trajectory of {len(self._visit_feature)} visits>"

    def sums(
        self,
        population: Population,
        truth: FloatArray,
        columns: FloatArray,
        scores: FloatArray,
        curves: FloatArray,
        together: FloatArray,
        table: CountTable | None = None,
    ) -> Sums:
        """Compare the released sums with the sums expected for given true curves.

        Parameters
        ----------
        population : Population
        truth : ndarray of shape (n_records,)
            True score of each point.
        columns : ndarray of shape (n_records, n_coefficients)
            Derivatives of `truth` with respect to the coefficients.
        scores : ndarray of shape (n_records, n_pairs)
            Derivatives from `Population.score_functions`.
        curves : ndarray of shape (n_bins_total,)
            True curves, bin by bin.
        together : ndarray of shape (n_features, n_features)
            Squared correlation of each pair, times the square of its error ratio (`error_ratios`);
            zero on the diagonal.
        table : CountTable or None, default=None
            Distribution of the counts, if the target is a count.

        Returns
        -------
        Sums
            Differences, with derivatives in ``n_coefficients + n_pairs`` columns. For counts, there
            is one more column, for the dispersion.
        """
        expected, reach = np.zeros((2, len(self._released)))
        n_coefficients = columns.shape[1]
        n_columns = n_coefficients + 1 + scores.shape[1] + (table is not None)
        # Single precision is enough for sums of points, and this array is large.
        slopes = np.zeros((_ANCHORS, int(self._start[-1]), n_columns), np.float32)
        columns, scores = np.ascontiguousarray(columns), np.ascontiguousarray(scores)
        each = self.n_samples / population.n_records
        if table is None:
            self._expected(
                population, truth, each, columns, scores, curves, together, expected, slopes, reach
            )
        else:
            self._expected_counts(
                population, truth, each, columns, scores, table, expected, slopes, reach
            )
            scale_reach(
                reach, curves.copy(), self._shares, together, self._start, self._visit_feature,
                self._bin_start, self._updates, self._leaf_start,
            )  # fmt: skip
        del scores  # large
        # An error of the synthetic population is the same in every pass and does not average out.
        std = np.hypot(self._std, MISFIT * np.sqrt(self._n_passes) * reach)
        return self._per_leaf((self._released - expected) / std, slopes, std, n_coefficients)

    def _expected(  # type: ignore[no-untyped-def]
        self, population, truth, each, columns, scores, curves, together, expected, slopes, reach
    ) -> None:
        """Fill in the expected sums of a classifier or a squared-error regressor."""
        expected_sums(
            population.bins,
            self._start,
            truth,
            each,
            self.spread,
            self._kind,
            self._first_score,
            self._visit_feature,
            self._leaf_of_bin,
            self._bin_start,
            self._updates,
            self._leaf_start,
            self._clips,
            self._anchor,
            columns,
            scores,
            curves.copy(),
            self._shares,
            together,
            expected,
            slopes,
            reach,
        )

    def _expected_counts(  # type: ignore[no-untyped-def]
        self, population, truth, each, columns, scores, table, expected, slopes, reach
    ) -> None:
        """Fill in the expected sums of counts; `reach` is not scaled yet."""
        weights = np.zeros((3, len(slopes), *population.bins.T.shape))
        add_up_counts(
            np.ascontiguousarray(population.bins.T),
            self._start,
            truth,
            each,
            table.high,
            table.log_rates,
            table.above,
            table.slope,
            self._first_score,
            self._visit_feature,
            self._leaf_of_bin,
            self._bin_start,
            self._updates,
            self._leaf_start,
            self._clips,
            self._anchor,
            expected,
            reach,
            weights,
        )
        reactions, residuals, spreads = weights
        one = np.ones((population.n_records, 1))
        add_per_bin(
            slopes,
            [(reactions, columns), (residuals, one), (residuals, scores), (spreads, one)],
            population.bins,
            self._start,
        )

    def _members(
        self, k: int, visits: NDArray[np.intp]
    ) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.intp]]:
        """Return the leaves of some visits of a feature.

        Returns
        -------
        member : ndarray of shape (n_leaves, n_bins)
            1 for the bins in each leaf, otherwise 0.
        leaves, of_visit : ndarray of shape (n_leaves,)
            Index and visit of each leaf.
        """
        n_bins = self._start[k + 1] - self._start[k]
        parts, rows = [], []
        for v in visits:
            bins = self._leaf_of_bin[self._bin_start[v] : self._bin_start[v] + n_bins]
            own = np.arange(self._leaf_start[v], self._leaf_start[v + 1])
            parts.append(np.arange(len(own))[:, None] == bins)
            rows.append(own)
        of_visit = np.repeat(visits, [len(own) for own in rows])
        return np.concatenate(parts).astype(np.float64), np.concatenate(rows), of_visit

    def _per_leaf(
        self, missing: FloatArray, slopes: FloatArray, std: FloatArray, column: int
    ) -> Sums:
        """Sum derivatives over the bins of each leaf, and allow for noise in the counts.

        One column of `slopes` contains the part of each bin in the expected sums.
        """
        others = np.delete(np.arange(slopes.shape[2]), column)
        found = np.empty((len(missing), len(others)))
        for k in range(len(self._start) - 1):
            own = slice(self._start[k], self._start[k + 1])
            member, leaves, visits = self._members(k, np.flatnonzero(self._visit_feature == k))
            anchors = self._nearest[visits]
            for a in np.unique(anchors):
                at = anchors == a
                found[leaves[at]] = member[at] @ slopes[a, own][:, others]
            loads = member * (self._count_errors[own] * slopes[anchors, own, column])
            scaled = found[leaves]
            scaled /= std[leaves, None]
            missing[leaves], found[leaves] = whitened(
                loads / std[leaves, None], missing[leaves], scaled
            )
        return Sums(missing, found)


def whitened(
    loads: FloatArray, missing: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Transform sums with shared errors to sums with independent errors of variance 1.

    Parameters
    ----------
    loads : ndarray of shape (n_sums, n_errors)
        Change of each sum per standard deviation of each shared error, in standard deviations of
        its own error.
    missing : ndarray of shape (n_sums,)
        Released minus expected sums, in standard deviations of their own errors.
    slopes : ndarray of shape (n_sums, n_columns)
        Derivatives, in the same units; changed in place.

    Returns
    -------
    missing, slopes : ndarray
        Multiplied by the inverse square root of the covariance of all errors.
    """
    directions, sizes, _ = np.linalg.svd(loads, full_matrices=False)
    less = 1.0 - 1.0 / np.sqrt(1.0 + sizes**2)
    missing = missing - directions @ (less * (directions.T @ missing))
    slopes -= directions @ (less[:, None] * (directions.T @ slopes))
    return missing, slopes


def _relative_errors(counts: BinCounts) -> FloatArray:
    """Return the standard deviation of the noise in each count, per record counted."""
    std = np.sqrt(counts.variance)
    seen = shares(counts) > 0.0
    return np.divide(std, counts.counts, out=np.zeros(len(std)), where=seen)


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _updates(fit: PrivateFit, bound: float) -> FloatArray:
    """Return the change in the scores of each bin at each visit.

    The shape is (n_values,), or (n_values, n_scores) if there are several scores.
    """
    tables = released_path(fit, bound).tables
    done = [0] * len(tables)
    parts = []
    for k in fit.visits.feature.tolist():
        parts.append(tables[k][done[k] + 1] - tables[k][done[k]])
        done[k] += 1
    changes = np.concatenate(parts)
    return changes[:, 0].copy() if changes.shape[1] == 1 else changes


def _anchors(
    visit_feature: NDArray[np.int64], n_features: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row of derivatives that each visit fills, and the row that it uses.

    For visits that fill no row, the first index is -1.
    """
    n_passes = len(visit_feature) // n_features
    at = np.unique(np.round(np.linspace(0.0, 1.0, _ANCHORS) ** 2 * (n_passes - 1)).astype(np.int64))
    of_pass = np.arange(len(visit_feature)) // n_features
    nearest = np.abs(of_pass[:, None] - at).argmin(axis=1)
    return np.where(at[nearest] == of_pass, nearest, -1), nearest
