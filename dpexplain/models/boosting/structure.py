"""Random trees drawn using public quantities only.

Algorithm 2 of Nori et al. (ICML 2021, arXiv:2106.09680) spends no budget on the structure of its
trees. Here, random splits are accepted only if every leaf has enough records according to the noisy
counts; this is post-processing of the released histograms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts

_ROUNDS, _TRIES_PER_ROUND = 4, 4
"""A tree gets one leaf fewer after 4 * 4 = 16 unsuccessful draws, which are made 4 at a time."""


@dataclass(frozen=True, eq=False)
class Visit:
    """One step of the boosting loop, which updates one feature with one tree.

    Attributes
    ----------
    feature : int
        Index of the feature.
    leaf_of_bin : ndarray of shape (n_bins,), dtype uint8
        Leaf of each bin.
    leaf_weight : ndarray of shape (n_leaves,)
        Noisy number of records in each leaf, bounded from below, with neutral records; see
        `leaf_scale`. Noisy leaf sums are divided by it.
    """

    feature: int
    leaf_of_bin: NDArray[np.uint8]
    leaf_weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visits(Sequence[Visit]):
    """All visits of a fit, stored together.

    Attributes
    ----------
    feature : ndarray of shape (n_visits,), dtype int64
        Index of the feature of each visit.
    leaf_of_bin : ndarray of shape (n_visits, n_bins_most), dtype uint8
        Leaf of each bin; features with fewer bins than others leave the end of a row unused.
    leaf_weight : ndarray of shape (n_visits, n_leaves_most)
        Weight of each leaf, as in `Visit`; trees with fewer leaves leave the end of a row unused.
    n_bins : ndarray of shape (n_features,), dtype int64
        Number of bins of each feature.
    n_leaves : ndarray of shape (n_visits,), dtype int64
        Number of leaves of each tree.
    n_records : float
        Released number of records.
    """

    feature: NDArray[np.int64]
    leaf_of_bin: NDArray[np.uint8]
    leaf_weight: NDArray[np.float64]
    n_bins: NDArray[np.int64]
    n_leaves: NDArray[np.int64]
    n_records: float

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def in_sequence(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Leaf of each bin, visit by visit without gaps, and where each visit starts."""
        n_bins = self.n_bins[self.feature]
        used = np.arange(self.leaf_of_bin.shape[1]) < n_bins[:, None]
        return self.leaf_of_bin[used], np.cumsum(n_bins) - n_bins

    @overload
    def __getitem__(self, place: int) -> Visit: ...
    @overload
    def __getitem__(self, place: slice) -> Visits: ...
    def __getitem__(self, place: int | slice) -> Visit | Visits:
        if isinstance(place, slice):
            return Visits(
                self.feature[place],
                self.leaf_of_bin[place],
                self.leaf_weight[place],
                self.n_bins,
                self.n_leaves[place],
                self.n_records,
            )
        feature = int(self.feature[place])
        return Visit(
            feature,
            self.leaf_of_bin[place, : self.n_bins[feature]],
            self.leaf_weight[place, : self.n_leaves[place]],
        )


def random_visits(
    features: Sequence[BinCounts],
    *,
    n_epochs: int,
    max_leaves: int,
    min_leaf_count: float,
    n_neutral: float = 0.0,
    rng: np.random.Generator,
) -> Visits:
    """Draw all trees of a fit.

    Parameters
    ----------
    features : sequence of BinCounts
        Released histograms after merging.
    n_epochs : int
        Number of passes over the features.
    max_leaves : int
        Number of leaves per tree if there are enough records.
    min_leaf_count : float
        Minimum noisy count per leaf.
    n_neutral : float, default=0.0
        Number of records without a residual that each leaf is given in addition.
    rng : numpy.random.Generator
        Generator for the public structure. It is never used for noise.

    Returns
    -------
    Visits
        Visits in order; each epoch visits every feature once, in random order.
    """
    n_features, n_visits = len(features), n_epochs * len(features)
    trees = [_trees_of_units(f, n_epochs, max_leaves, min_leaf_count, rng) for f in features]
    orders = rng.permuted(np.tile(np.arange(n_features), (n_epochs, 1)), axis=1)
    n_bins = np.array([leaves.shape[1] for leaves in trees], dtype=np.int64)
    leaf_of_bin = np.zeros((n_visits, n_bins.max()), dtype=np.uint8)
    leaf_weight = np.ones((n_visits, max_leaves))
    n_leaves = np.empty(n_visits, dtype=np.int64)
    # The position of each feature's visit within each epoch, and hence among all visits.
    visits = np.argsort(orders, axis=1) + n_features * np.arange(n_epochs)[:, None]
    for feature, own, leaves in zip(features, visits.T, trees, strict=True):
        leaf_of_bin[own, : leaves.shape[1]] = leaves
        n_leaves[own] = leaves.max(axis=1).astype(np.int64) + 1
        weights = _leaf_weights(feature, leaves, min_leaf_count)
        weights = (weights + n_neutral) / leaf_scale(n_neutral, float(feature.counts.sum()))
        leaf_weight[own, : weights.shape[1]] = weights
    n_records = max(1.0, float(features[0].counts.sum()))
    return Visits(orders.ravel(), leaf_of_bin, leaf_weight, n_bins, n_leaves, n_records)


def leaf_scale(n_neutral: float, n_records: float) -> float:
    """Return the divisor of leaf weights for a number of neutral records per leaf.

    With it, a leaf of a third of all records has the same weight as without neutral records. The
    steps of smaller leaves are shorter, and those of larger leaves are longer.
    """
    return 1.0 + 3.0 * n_neutral / max(1.0, n_records)


def _trees_of_units(
    feature: BinCounts,
    n_trees: int,
    max_leaves: int,
    min_leaf_count: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Draw random trees; return the leaf of each bin, shape (n_trees, n_bins).

    Bins with the same value in ``unit_of_bin`` share a leaf.
    """
    unit = feature.unit_of_bin
    if unit is None:
        return _random_trees(feature, n_trees, max_leaves, min_leaf_count, rng)
    units = BinCounts(
        np.bincount(unit, weights=feature.counts).astype(np.float64),
        np.bincount(unit, weights=feature.variance).astype(np.float64),
        feature.n_special,
        feature.ordered,
    )
    return _random_trees(units, n_trees, max_leaves, min_leaf_count, rng)[:, unit]


def _random_trees(
    feature: BinCounts,
    n_trees: int,
    max_leaves: int,
    min_leaf_count: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Draw random trees; return the leaf of each bin, shape (n_trees, n_bins)."""
    n_bins = len(feature.counts)
    n_value_bins = n_bins - feature.n_special
    # The position of each bin in the order of a tree, which is the same for all if it has one.
    ranks = np.tile(np.arange(n_value_bins), (1 if feature.ordered else n_trees, 1))
    if not feature.ordered:
        ranks = rng.permuted(ranks, axis=1)
    counts = np.zeros((len(ranks), n_value_bins + 1))
    np.put_along_axis(counts[:, 1:], ranks, feature.counts[None, :n_value_bins], axis=1)
    cumulated = np.cumsum(counts, axis=1)
    cuts = np.full((n_trees, max_leaves - 1), n_value_bins)  # at the end, a cut has no effect
    open_trees = np.arange(n_trees)
    for n_leaves in np.repeat(range(min(max_leaves, n_value_bins), 1, -1), _ROUNDS).tolist():
        own = cumulated if feature.ordered else cumulated[open_trees]
        drawn, found = _cuts(own, len(open_trees), n_leaves, min_leaf_count, rng)
        cuts[open_trees[found], : n_leaves - 1] = drawn[found]
        open_trees = open_trees[~found]
        if not len(open_trees):
            break
    leaves = np.zeros((n_trees, n_bins), dtype=np.uint8)
    for cut in cuts.T:
        leaves[:, :n_value_bins] += ranks >= cut[:, None]
    # Each special bin (missing or other) is assigned to a random leaf of each tree, so that
    # special bins do not always share a leaf.
    side = rng.random((n_trees, feature.n_special))
    leaves[:, n_value_bins:] = (side * (leaves.max(axis=1, initial=0)[:, None] + 1)).astype(
        np.uint8
    )
    return leaves


def _cuts(
    cumulated: NDArray[np.float64],
    n_trees: int,
    n_leaves: int,
    min_leaf_count: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Draw several random sets of splits for each tree; return the first valid set.

    A set is valid if all leaves have enough records. The second result is False for trees without a
    valid set; their splits must not be used. `cumulated` contains the number of records before each
    place in the order of each tree, or one row if the order is the same for all trees.
    """
    n_value_bins = cumulated.shape[1] - 1
    ends = np.zeros((n_trees, _TRIES_PER_ROUND, n_leaves + 1), dtype=np.intp)
    cuts = ends[:, :, 1:-1]
    cuts[:] = rng.integers(1, n_value_bins, size=cuts.shape)
    cuts.sort(axis=2)
    ends[:, :, -1] = n_value_bins
    first_of_row = np.arange(n_trees) * (n_value_bins + 1) if len(cumulated) > 1 else 0
    before = cumulated.ravel()[ends + np.reshape(first_of_row, (-1, 1, 1))]
    enough = before[:, :, 1:] - before[:, :, :-1] >= min_leaf_count
    large = (enough & (ends[:, :, 1:] > ends[:, :, :-1])).all(axis=2)
    first = large.argmax(axis=1)
    rows = np.arange(n_trees)
    return cuts[rows, first], large[rows, first]


def _leaf_weights(
    feature: BinCounts, leaf_of_bin: NDArray[np.uint8], min_leaf_count: float
) -> NDArray[np.float64]:
    """Return the noisy number of records in each leaf, bounded from below.

    The shape is (n_trees, n_leaves_most).

    Updates are noisy sums divided by these numbers. If a number could be close to zero, updates
    would be unbounded, and fits with a small epsilon would diverge.
    """
    n_trees = len(leaf_of_bin)
    n_leaves = int(leaf_of_bin.max()) + 1
    place = leaf_of_bin + n_leaves * np.arange(n_trees)[:, None]

    def per_leaf(per_bin: NDArray[np.float64]) -> NDArray[np.float64]:
        repeated = np.broadcast_to(per_bin, place.shape).ravel()
        sums = np.bincount(place.ravel(), weights=repeated, minlength=n_trees * n_leaves)
        return sums.astype(np.float64, copy=False).reshape(n_trees, -1)

    floor = np.maximum(max(min_leaf_count, 1.0), 3.0 * np.sqrt(per_leaf(feature.variance)))
    return np.maximum(per_leaf(feature.counts), floor)
