"""Releases of a private fit, visit by visit, and the resulting curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Index
from dpexplain.binning.counts import BinCounts
from dpexplain.models.additive.pair_tables import PairTable
from dpexplain.models.additive.terms import Direction
from dpexplain.models.boosting.calibration.classes import ClassLine
from dpexplain.models.boosting.calibration.line import Line
from dpexplain.models.boosting.monotone import projections
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.recipe import Recipe, Schedule
from dpexplain.models.boosting.structure import Visits

Tables = list[NDArray[np.float64]]
"""Scores per bin, as one array for each feature."""


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeafStep:
    """Noisy leaf sums released at one visit, and the update computed from them.

    Attributes
    ----------
    clip : float
        Bound on a residual, in internal units of the boosting loop.
    sums : ndarray of shape (n_leaves,) or (n_leaves, n_classes)
        Noisy leaf sums, in internal units of the boosting loop.
    gain : ndarray of shape (n_leaves,)
        Change in the score per unit of each leaf sum; 0 if the step was truncated.
    together : bool
        Whether all leaves got the same update, computed from the sum of all leaf sums.
    update : ndarray of shape (n_leaves,) or (n_leaves, n_classes)
        Amount added to the score in each leaf, before scores are clipped to their bound.
    """

    clip: float
    sums: FloatArray
    gain: FloatArray
    together: bool
    update: FloatArray


@dataclass(frozen=True, eq=False)
class LeafSteps(Sequence[LeafStep]):
    """Releases of all visits, stored together.

    Attributes
    ----------
    clip, together : ndarray of shape (n_visits,)
        As in `LeafStep`, for each visit.
    sums, gain, update : ndarray of shape (n_leaves_total,) or (n_leaves_total, n_classes)
        As in `LeafStep`, for the leaves of all visits.
    start : ndarray of shape (n_visits + 1,)
        Index of the first leaf of each visit, and the total number of leaves.
    """

    clip: FloatArray
    sums: FloatArray
    gain: FloatArray
    together: NDArray[np.bool_]
    update: FloatArray
    start: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[LeafStep | LeafSteps]) -> LeafSteps:
        """Join the releases of successive visits, given one by one or together."""
        sizes = [
            np.diff(part.start) if isinstance(part, LeafSteps) else [len(part.sums)]
            for part in parts
        ]
        return cls(
            np.concatenate([np.atleast_1d(part.clip) for part in parts]),
            np.concatenate([part.sums for part in parts]),
            np.concatenate([part.gain for part in parts]),
            np.concatenate([np.atleast_1d(part.together) for part in parts]),
            np.concatenate([part.update for part in parts]),
            np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.clip)

    @overload
    def __getitem__(self, place: int) -> LeafStep: ...
    @overload
    def __getitem__(self, place: slice) -> list[LeafStep]: ...
    def __getitem__(self, place: int | slice) -> LeafStep | list[LeafStep]:
        if isinstance(place, slice):
            return [self[v] for v in range(*place.indices(len(self)))]
        v = range(len(self))[place]
        own = slice(self.start[v], self.start[v + 1])
        return LeafStep(
            float(self.clip[v]),
            self.sums[own],
            self.gain[own],
            bool(self.together[v]),
            self.update[own],
        )


@dataclass(frozen=True, eq=False)
class Members:
    """Leaves of all trees of one feature, except trees with a single leaf.

    Attributes
    ----------
    visit : ndarray of shape (n_leaves_total,)
        Index of the visit to which each leaf belongs.
    bins : ndarray of shape (n_leaves_total, n_bins)
        1 if the bin is in the leaf, else 0.
    sums : ndarray of shape (n_leaves_total, n_scores)
        Noisy leaf sums.
    """

    visit: NDArray[np.intp]
    bins: FloatArray
    sums: FloatArray


@dataclass(frozen=True, eq=False)
class Path:
    """Curves of all features at every visit during a fit.

    Attributes
    ----------
    tables : tuple of ndarray of shape (n_own_visits + 1, n_bins, n_scores), one per feature
        Scores per bin, before the first visit to the feature and after each visit to it.
    unbound : dict of int to ndarray of shape (n_own_visits, n_bins)
        Scores of each constrained feature after each update, before the monotone projection.
    before : ndarray of shape (n_visits, n_features)
        For each visit, the number of earlier visits to each feature.
    members : tuple of Members, one per feature
        Leaves of all trees of each feature.
    """

    tables: tuple[FloatArray, ...]
    unbound: dict[int, FloatArray]
    before: NDArray[np.intp]
    members: tuple[Members, ...]


def released_path(fit: PrivateFit, bound: float) -> Path:
    """Reconstruct the curves of the first bag at every visit.

    Parameters
    ----------
    fit : PrivateFit
    bound : float
        Bound on the scores per bin.

    Returns
    -------
    Path
    """
    feature = fit.visits.feature
    counts = [c.thinned(fit.share) for c in fit.binned.counts]
    visited = feature[:, None] == np.arange(len(counts))
    before = np.cumsum(visited, axis=0) - visited
    project = projections(fit.monotone, [c.counts for c in counts], [c.n_special for c in counts])
    tables, unbound, members = [], {}, []
    for k, projection in enumerate(project):
        own = np.flatnonzero(feature == k)
        updates = _per_bin(fit, own)
        history = np.zeros((len(own) + 1, *updates.shape[1:]))
        if k == 0:
            history[0] += fit.start
        history[1:] = updates
        moved, path = np.empty(updates.shape[:2]), np.cumsum(history, axis=0)
        if projection is None and np.abs(path).max() <= bound:
            history, updates = path, updates[:0]
        for i, update in enumerate(updates):
            history[i + 1] = np.clip(history[i] + update, -bound, bound)
            if projection is not None:
                moved[i] = history[i + 1, :, 0]
                history[i + 1, :, 0] = projection(moved[i])
        if projection is not None:
            unbound[k] = moved
        tables.append(history)
        members.append(_members(fit, own))
    return Path(tuple(tables), unbound, before.astype(np.intp), tuple(members))


def _per_bin(fit: PrivateFit, own: NDArray[np.intp]) -> FloatArray:
    """Return one feature's updates per bin, shape (n_own_visits, n_bins, n_scores)."""
    updates = fit.steps.update[fit.steps.start[own, None] + _leaves(fit, own)]
    return updates[:, :, None] if updates.ndim == 2 else updates


def _leaves(fit: PrivateFit, own: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the leaf of each bin at visits to one feature, shape (n_visits, n_bins)."""
    return fit.visits.leaf_of_bin[own, : fit.visits.n_bins[fit.visits.feature[own[0]]]]


def _members(fit: PrivateFit, own: NDArray[np.intp]) -> Members:
    # The sum of a tree with a single leaf contains no information about differences between bins.
    use = own[fit.visits.n_leaves[own] > 1]
    n_leaves = fit.visits.n_leaves[use]
    visit = np.repeat(use, n_leaves)
    leaf = np.arange(len(visit)) - np.repeat(np.cumsum(n_leaves) - n_leaves, n_leaves)
    of_bin = np.repeat(_leaves(fit, own)[fit.visits.n_leaves[own] > 1], n_leaves, axis=0)
    sums = fit.steps.sums[fit.steps.start[visit] + leaf]
    bins = (of_bin == leaf[:, None]).astype(np.float64)
    return Members(visit, bins, sums[:, None] if sums.ndim == 1 else sums)


@dataclass(frozen=True, eq=False)
class PrivateBins:
    """Released bins and counts: the result of the histogram phase.

    Attributes
    ----------
    bins : tuple of FeatureBins
        Merged bins of each feature.
    counts : tuple of BinCounts
        Noisy number of records in each merged bin.
    n_samples : float
        Noisy number of records.
    bin_of_cell : tuple of ndarray of shape (n_cells,), one per feature
        Merged bin of each cell that was counted in the last round.
    cell_noise_std : float
        Standard deviation of the noise in the count of a cell that was counted in all rounds.
    min_bin_count : float
        Minimum noisy count of a merged bin.
    cell_spread : tuple of ndarray of shape (n_cells,), one per feature
        Variance of each cell's count, in units of ``cell_noise_std**2``; above 1 for cells made by
        splitting another cell.
    first_cells : tuple of FeatureBins
        The public cells that were counted in the first round.
    first_counts : tuple of ndarray of shape (n_first_cells,), one per feature
        Noisy number of records in each cell of the first round.
    first_spread : tuple of ndarray of shape (n_first_cells,), one per feature
        Variance of each of the first-round counts, in units of ``cell_noise_std**2``.
    n_samples_std : float
        Standard deviation of the noise in `n_samples`.
    """

    bins: tuple[FeatureBins, ...]
    counts: tuple[BinCounts, ...]
    n_samples: float
    bin_of_cell: tuple[Index, ...]
    cell_noise_std: float
    min_bin_count: float
    cell_spread: tuple[FloatArray, ...]
    first_cells: tuple[FeatureBins, ...]
    first_counts: tuple[FloatArray, ...]
    first_spread: tuple[FloatArray, ...]
    n_samples_std: float


@dataclass(frozen=True, eq=False)
class PrivateFit:
    """Releases and public structure of a private fit.

    Attributes
    ----------
    binned : PrivateBins
    bags : list of list of ndarray
        Scores per bin of each bag, not centered, in internal units of the boosting loop.
    schedule : Schedule
        Number of passes, learning rate and clip of the fit.
    leaf_noise_ratio : float
        Noise standard deviation of one leaf sum, in units of the clip.
    start : float
        Public initial score of every record, which was added to the curve of the first feature.
    visits : Visits
        All trees of the first bag. Other bags have different trees, which are not stored.
    steps : LeafSteps
        Releases of the first bag, with their updates.
    min_leaf_count : float
        Minimum noisy count of a leaf.
    settings : Recipe
        Settings of the fit.
    share : float
        Probability that a record is in a bag; 1 for a single fit.
    monotone : tuple of {"increasing", "decreasing", None}
        Required direction of each feature's curve; None if unconstrained.
    pairs : PairSums or None, default=None
        Released sums, distances and tables of pairs of features.
    pair_tables : tuple of PairTable, default=()
        Fitted pair terms, on the link scale. All other fields describe the curves, which were
        fitted before the pairs.
    line : Line, ClassLine or None
        Line that calibrates the scores; None if they are not calibrated.
    """

    binned: PrivateBins
    bags: list[Tables]
    schedule: Schedule
    leaf_noise_ratio: float
    start: float
    visits: Visits
    steps: LeafSteps
    min_leaf_count: float
    settings: Recipe
    share: float
    monotone: tuple[Direction | None, ...]
    pairs: PairSums | None = None
    pair_tables: tuple[PairTable, ...] = ()
    line: Line | ClassLine | None = None

    @property
    def clips(self) -> NDArray[np.float64]:
        """Bound on a residual for each tree of the first bag.

        The bounds are in internal units of the boosting loop.
        """
        return self.steps.clip

    @property
    def leaf_noise_std(self) -> NDArray[np.float64]:
        """Noise standard deviation of a leaf sum for each tree of the first bag.

        The standard deviations are in internal units of the boosting loop.
        """
        return self.leaf_noise_ratio * self.clips
