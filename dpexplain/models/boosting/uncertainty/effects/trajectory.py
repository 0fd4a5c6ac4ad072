"""Comparison of the released sums of a fit with their expected values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.caching import kept_property
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.models.boosting.released import PrivateFit, released_path
from dpexplain.models.boosting.uncertainty.curvature import INSIDE_CLIP
from dpexplain.models.boosting.uncertainty.effects._kernels_counts import add_up_counts
from dpexplain.models.boosting.uncertainty.effects._kernels_expected import (
    LOGISTIC,
    NORMAL,
    expected_sums,
    per_bin,
    scale_reach,
)
from dpexplain.models.boosting.uncertainty.effects.counts import CountTable
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population
from dpexplain.models.boosting.uncertainty.leaf_correlations import starts_of

FloatArray = NDArray[np.float64]

MISFIT = 0.02
"""Error that remains in the mean missing part of the other curves in a bin after correlations are
taken into account, in standard deviations of this part, for fully correlated features."""

_ANCHORS = 8
"""Number of passes at which derivatives are computed; sums of other passes use the derivatives of
the nearest of these passes."""


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
        leaf_of_bin, self._bin_start = visits.in_sequence
        self._leaf_of_bin = leaf_of_bin.astype(np.int64)
        self._leaf_start = fit.steps.start
        self._start = starts_of(len(c.counts) for c in fit.binned.counts)
        self._updates = _updates(fit, bound)
        self._clips = fit.clips
        self._first_score = float(fit.start)
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

    def known(
        self,
        population: Population,
        truth: FloatArray,
        functions: Sequence[FloatArray],
        scores: Sequence[FloatArray],
        curves: FloatArray,
        together: FloatArray,
        table: CountTable | None = None,
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return the information in all sums, and their pull on the parameters.

        The parameters are those of `by_feature`.

        Returns
        -------
        precision : ndarray of shape (n_columns, n_columns)
        pull : ndarray of shape (n_columns,)
            Derivatives of the sums times the differences between released and expected sums, both
            in standard deviations.
        own : list of ndarray of shape (n_columns, n_functions), one per feature
            For each feature, what its own sums add to the columns of its coefficients in
            `precision`.
        """
        n = sum(f.shape[1] for f in (*functions, *scores)) + (table is not None)
        precision, pull, own, end = np.zeros((n, n)), np.zeros(n), [], 0
        parts = self.by_feature(population, truth, functions, scores, curves, together, table)
        for part, of_feature in zip(parts, functions, strict=True):
            precision += part[0]
            pull += part[1]
            end += of_feature.shape[1]
            own.append(part[0][:, end - of_feature.shape[1] : end].copy())
        return precision, pull, own

    def by_feature(
        self,
        population: Population,
        truth: FloatArray,
        functions: Sequence[FloatArray],
        scores: Sequence[FloatArray],
        curves: FloatArray,
        together: FloatArray,
        table: CountTable | None = None,
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Compare the released sums with the sums expected for given true curves.

        Parameters
        ----------
        population : Population
        truth : ndarray of shape (n_records,)
            True score of each point.
        functions : sequence of ndarray of shape (n_bins, n_functions), one per feature
            Derivatives of `truth` with respect to the coefficients, which depend on one feature
            each.
        scores : sequence of two ndarrays, each of shape (n_records, n_pairs)
            Derivatives of each point's log density with respect to the correlations and to curved
            dependence, from `Population`.
        curves : ndarray of shape (n_bins_total,)
            True curves, bin by bin.
        together : ndarray of shape (n_features, n_features)
            Squared correlation of each pair, plus how far it may be wrong (`doubts`), in
            units of the square of `MISFIT`; zero on the diagonal.
        table : CountTable or None, default=None
            Distribution of the counts, if the target is a count.

        Yields
        ------
        precision : ndarray of shape (n_columns, n_columns)
        pull : ndarray of shape (n_columns,)
            Those of `known` for the sums of one feature. The columns are the coefficients, the
            correlations, the dispersion (for counts), and curved dependence.
        """
        expected, reach = np.zeros((2, len(self._released)))
        n_kinds = 2 if table is None else 3
        weights = np.zeros((n_kinds, *population.bins.T.shape, _ANCHORS))
        each = self.n_samples / population.n_records
        if table is None:
            self._expected(population, truth, each, curves, together, expected, reach, weights)
        else:
            self._expected_counts(population, truth, each, table, expected, reach, weights)
            scale_reach(
                reach, curves.copy(), self._shares, together, self._start, self._visit_feature,
                self._bin_start, self._updates, self._leaf_start,
            )  # fmt: skip
        # An error of the synthetic population is the same in every pass and does not average out.
        std = np.hypot(self._std, MISFIT * np.sqrt(self._n_passes) * reach)
        missing = (self._released - expected) / std
        one, n_pairs = np.ones((population.n_records, 1)), scores[0].shape[1]
        values = np.concatenate([one, *scores], axis=1)
        for k in range(len(self._start) - 1):
            reactions, residuals, *spreads = weights[:, k]
            first, others = per_bin(k, population.cells, functions, reactions, residuals, values)
            parts = [first, others[..., 1 : 1 + n_pairs], others[..., 1 + n_pairs :]]
            for spread in spreads:
                parts.insert(2, per_bin(k, population.cells, functions, spread, spread, one)[1])
            slopes = np.ascontiguousarray(np.concatenate(parts, axis=2))  # matrices by anchor
            yield self._per_leaf(k, missing, slopes, others[..., 0], std)

    def _expected(  # type: ignore[no-untyped-def]
        self, population, truth, each, curves, together, expected, reach, weights
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
            curves.copy(),
            self._shares,
            together,
            expected,
            reach,
            weights,
        )

    def _expected_counts(  # type: ignore[no-untyped-def]
        self, population, truth, each, table, expected, reach, weights
    ) -> None:
        """Fill in the expected sums of counts; `reach` is not scaled yet."""
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

    @kept_property
    def _groups(self) -> list[list[tuple[int, FloatArray, NDArray[np.intp]]]]:
        """Return the leaves of each feature by the row of derivatives that they use."""
        groups = []
        for k in range(len(self._start) - 1):
            own = np.flatnonzero(self._visit_feature == k)
            rows = self._nearest[own]
            groups.append([(int(a), *self._members(k, own[rows == a])) for a in np.unique(rows)])
        return groups

    def _members(self, k: int, visits: NDArray[np.intp]) -> tuple[FloatArray, NDArray[np.intp]]:
        """Return the leaves of some visits of a feature.

        Returns
        -------
        member : ndarray of shape (n_leaves, n_bins)
            1 for the bins in each leaf, otherwise 0.
        leaves : ndarray of shape (n_leaves,)
            Index of each leaf.
        """
        n_leaves = np.diff(self._leaf_start)[visits]
        leaf = np.arange(n_leaves.sum()) - np.repeat(np.cumsum(n_leaves) - n_leaves, n_leaves)
        bins = np.arange(self._start[k + 1] - self._start[k])
        leaf_of_bin = self._leaf_of_bin[self._bin_start[visits, None] + bins]
        member = np.repeat(leaf_of_bin, n_leaves, axis=0) == leaf[:, None]
        return member.astype(np.float64), np.repeat(self._leaf_start[visits], n_leaves) + leaf

    def _per_leaf(
        self, k: int, missing: FloatArray, slopes: FloatArray, inside: FloatArray, std: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the information in the sums of feature `k`, and their pull.

        The sums are those of `slopes` over the bins of each leaf. The noise in a count is an error
        of all sums of its feature; `inside` contains the part of each bin in the expected sums.
        """
        n_anchors, n_bins, _ = slopes.shape
        weights, pulled = np.zeros((n_anchors, n_bins, n_bins)), np.zeros((n_anchors, n_bins))
        for a, member, leaves in self._groups[k]:
            per_std = member / std[leaves, None]
            weights[a], pulled[a] = per_std.T @ per_std, per_std.T @ missing[leaves]
        loads = self._count_errors[self._start[k] : self._start[k + 1]] * inside
        shared = (loads[:, :, None] * weights * loads[:, None]).sum(axis=0)
        seen, rows = weights @ slopes, slopes.reshape(-1, slopes.shape[2])
        crossed, of_missing = (loads[:, :, None] * seen).sum(axis=0), (loads * pulled).sum(axis=0)
        # Woodbury identity: errors of counts add a low-rank part to the covariance of the sums.
        known = np.linalg.solve(np.eye(n_bins) + shared, crossed)
        return (
            rows.T @ seen.reshape(rows.shape) - crossed.T @ known,
            rows.T @ pulled.ravel() - known.T @ of_missing,
        )


def _relative_errors(counts: BinCounts) -> FloatArray:
    """Return the standard deviation of the noise in each count, per record counted."""
    std = np.sqrt(counts.variance)
    seen = shares(counts) > 0.0
    return np.divide(std, counts.counts, out=np.zeros(len(std)), where=seen)


def _updates(fit: PrivateFit, bound: float) -> FloatArray:
    """Return the change in the scores of each bin at each visit.

    The shape is (n_values,), or (n_values, n_scores) if there are several scores.
    """
    tables = released_path(fit, bound).tables
    leaf_of_bin, bin_start = fit.visits.in_sequence
    changes = np.empty((len(leaf_of_bin), tables[0].shape[2]))
    for k, table in enumerate(tables):
        visits = np.flatnonzero(fit.visits.feature == k)
        changes[bin_start[visits, None] + np.arange(table.shape[1])] = np.diff(table, axis=0)
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
