"""Complete trees over a public grid, with candidate splits.

The shape of a tree does not depend on the records: every tree is grown to its full depth, every
split comes from a public list, and splits with an empty side are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins, declared_cells
from dpexplain.models.trees import _kernels_nodes as _kernels
from dpexplain.schema import Schema
from dpexplain.tables.encoding import encoded_columns

Integers = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate splits for a node.

    Attributes
    ----------
    feature : ndarray of shape (n_candidates,), dtype int64
        Index of the feature of each split.
    low, high : ndarray of shape (n_candidates,), dtype int64
        First and last bin whose records move to the right child: all bins above a threshold, one
        category, or missing values.
    start : ndarray of shape (n_features,), dtype int64
        Index of the first bin of each feature among all bins.
    n_bins : int
        Total number of bins of all features.
    """

    feature: Integers
    low: Integers
    high: Integers
    start: Integers
    n_bins: int

    def __len__(self) -> int:
        return len(self.feature)

    def right_sums(self, sums: Integers) -> Integers:
        """Return, for each split, the sums over the records that move to the right child.

        Parameters
        ----------
        sums : ndarray of shape (n_nodes, n_bins, n_values), dtype int64
            Sums by node and bin, as returned by `node_sums`.

        Returns
        -------
        ndarray of shape (n_nodes, n_candidates, n_values), dtype int64
        """
        below = np.zeros((len(sums), self.n_bins + 1, sums.shape[2]), dtype=np.int64)
        np.cumsum(sums, axis=1, out=below[:, 1:])
        at = self.start[self.feature]
        return np.asarray(below[:, at + self.high + 1] - below[:, at + self.low])

    def at_random(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n random splits, as indices: for each, a feature, then one of its splits."""
        first = np.searchsorted(self.feature, np.arange(self.feature[-1] + 2))
        chosen = rng.integers(0, self.feature[-1] + 1, n)
        return np.asarray(rng.integers(first[chosen], first[chosen + 1]), dtype=np.int64)


def grid_of(schema: Schema, n_cells: int) -> tuple[FeatureBins, ...]:
    """Return the public bins of all features, at most `n_cells` per numeric feature."""
    return tuple(declared_cells(n, f, n_cells) for n, f in schema.features.items())


def candidates_of(bins: Sequence[FeatureBins]) -> Candidates:
    """Return the candidate splits: thresholds, missing values and categories.

    Parameters
    ----------
    bins : sequence of FeatureBins

    Returns
    -------
    Candidates
    """
    feature, low, high = [], [], []
    for k, b in enumerate(bins):
        n = b.n_value_bins
        if b.ordered:
            # Special bins are left of every threshold; one more split separates them.
            found = [(c, n - 1) for c in range(1, n)] + [(n, b.n_bins - 1)]
        else:
            found = [(c, c) for c in range(n)]
        feature += [k] * len(found)
        low += [c[0] for c in found]
        high += [c[1] for c in found]
    sizes = [b.n_bins for b in bins]
    return Candidates(
        np.array(feature, dtype=np.int64),
        np.array(low, dtype=np.int64),
        np.array(high, dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        sum(sizes),
    )


@dataclass(frozen=True, eq=False)
class Trees:
    """Released trees of equal depth.

    Attributes
    ----------
    splits : ndarray of shape (n_trees, 2**depth - 1), dtype int64
        Index of the candidate at each node, level by level.
    values : ndarray of shape (n_trees, 2**depth, n_scores)
        Contribution of each leaf to each score.
    """

    splits: Integers
    values: FloatArray

    @property
    def depth(self) -> int:
        """Number of levels of splits."""
        return int(self.values.shape[1]).bit_length() - 1

    def scores(self, cells: NDArray[np.uint16], candidates: Candidates) -> FloatArray:
        """Return the sum of each record's leaf values, shape (n_samples, n_scores)."""
        score = np.zeros((len(cells), self.values.shape[2]))
        for splits, values in zip(self.splits, self.values, strict=True):
            score += values[leaf_of(cells, splits, candidates)]
        return score


def leaf_of(cells: NDArray[np.uint16], splits: Integers, candidates: Candidates) -> Integers:
    """Return the index of each record's leaf in one tree, shape (n_samples,)."""
    place = np.zeros(len(cells), dtype=np.int64)
    for level in range((len(splits) + 1).bit_length() - 1):
        descend(cells, place, splits, candidates, level)
    return place


def descend(
    cells: NDArray[np.uint16],
    place: Integers,
    splits: Integers,
    candidates: Candidates,
    level: int,
) -> None:
    """Move records from one level of a tree to the next, in place."""
    kernel: Callable[..., Any] = _kernels.descend
    kernel(
        cells,
        place,
        candidates.feature[splits],
        candidates.low[splits],
        candidates.high[splits],
        (1 << level) - 1,
    )


def cells_of(X: Any, schema: Schema, bins: Sequence[FeatureBins]) -> NDArray[np.uint16]:
    """Return the bin of each record in each feature, shape (n_samples, n_features)."""
    columns = encoded_columns(X, schema)
    index = [b.index(next(columns)) for b in bins]  # one column at a time
    return np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))


def node_sums(
    cells: NDArray[np.uint16],
    place: Integers,
    steps: Integers,
    candidates: Candidates,
    level: int,
) -> Integers:
    """Sum the values of records by node and bin, shape (n_nodes, n_bins, n_values)."""
    kernel: Callable[..., Any] = _kernels.node_sums
    sums: Integers = kernel(cells, candidates.start, place, steps, 1 << level, candidates.n_bins)
    return sums


def leaf_sums(place: Integers, steps: Integers, depth: int) -> Integers:
    """Sum the values of records by leaf, shape (n_leaves, n_values)."""
    kernel: Callable[..., Any] = _kernels.leaf_sums
    sums: Integers = kernel(place, steps, 1 << depth)
    return sums
