"""Main effects and Shapley values of released trees.

Rows are explained by exact Shapley values, computed for a population with independent features.
The distribution of each feature follows the released counts if there are any; otherwise, it is
uniform over the public bins. The curve of a feature is its main effect in the same population.
Interactions appear in the contributions of rows, but not in curves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins
from dpexplain.binning.bins import Encoded
from dpexplain.explain.additive.links import Link
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.trees import _kernels_nodes as _kernels
from dpexplain.models.trees.structure import Candidates, FloatArray, Integers, Trees


@dataclass(frozen=True, eq=False)
class Ways:
    """Features and bins on the path to each leaf, for the leaves of all trees.

    Attributes
    ----------
    feature : ndarray of shape (n_leaves, depth), dtype int64
        Distinct features on the path to each leaf; -1 in unused positions.
    share : ndarray of shape (n_leaves, depth)
        For each of these features, proportion of records whose bin leads to the leaf.
    inside : ndarray of shape (n_leaves, depth, n_bins), dtype uint8
        1 for bins that lead to the leaf, else 0.
    values : ndarray of shape (n_leaves, n_scores)
        Contribution of each leaf to each score.
    """

    feature: Integers
    share: FloatArray
    inside: NDArray[np.uint8]
    values: FloatArray


@dataclass(frozen=True, eq=False)
class TreeTerms(AdditiveTerms):
    """Main effects of a tree ensemble, with the tree paths for Shapley values.

    Attributes
    ----------
    ways : Ways
        Paths from the roots of the trees to their leaves.
    """

    ways: Ways

    def of_class(self, c: int) -> TreeTerms:
        """Return the terms of one class."""
        one = super().of_class(c)
        ways = replace(self.ways, values=np.ascontiguousarray(self.ways.values[:, [c]]))
        return TreeTerms(**{**vars(one), "ways": ways})

    def contributions(self, columns: Sequence[Encoded]) -> FloatArray:
        """Return the Shapley value of each feature for each record.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_samples,)
            Encoded features.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_scores)
        """
        index = [b.index(c) for b, c in zip(self.bins, columns, strict=True)]
        cells = np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))
        kernel: Callable[..., Any] = _kernels.shapley_values
        ways = self.ways
        found: FloatArray = kernel(
            cells, ways.feature, ways.share, ways.inside, ways.values, len(self.bins)
        )
        return found[:, :, 0] if isinstance(self.intercept, float) else found


def tree_terms(
    trees: Trees,
    candidates: Candidates,
    bins: Sequence[FeatureBins],
    counts: Sequence[FloatArray],
    *,
    link: Link,
    offset: float | FloatArray = 0.0,
) -> TreeTerms:
    """Compute the main effects of released trees.

    Parameters
    ----------
    trees : Trees
    candidates : Candidates
    bins : sequence of FeatureBins
    counts : sequence of ndarray of shape (n_bins,)
        Estimated number of records in each bin; zeros if no counts were released.
    link : {"logit", "identity", "softmax"}
    offset : float or ndarray of shape (n_scores,)
        Score before the contributions of the trees are added.

    Returns
    -------
    TreeTerms
    """
    spread = [_spread(b, c) for b, c in zip(bins, counts, strict=True)]
    ways = ways_of(trees, candidates, [b.n_bins for b in bins], spread)
    on_way = ways.feature >= 0
    shares = np.where(on_way, ways.share, 1.0)
    tables = [np.zeros((b.n_bins, ways.values.shape[1])) for b in bins]
    for s in range(ways.feature.shape[1]):
        others = np.delete(shares, s, axis=1).prod(axis=1)
        weights = others[:, None] * ways.values
        for k, leaves in _by_feature(ways.feature[:, s]):
            inside = ways.inside[leaves, s, : len(tables[k])] - ways.share[leaves, s, None]
            tables[k] += inside.T @ weights[leaves]
    intercept = offset + shares.prod(axis=1) @ ways.values
    one_score = link != "softmax"
    return TreeTerms(
        bins=tuple(bins),
        scores=tuple(t[:, 0] if one_score else t for t in tables),
        counts=tuple(counts),
        intercept=float(intercept[0]) if one_score else intercept,
        link=link,
        monotone=(None,) * len(bins),
        bag_std=None,
        ways=ways,
    )


def _spread(bins: FeatureBins, counts: FloatArray) -> FloatArray:
    """Return the proportion of records in each bin; uniform if there are no counts."""
    n_records = np.maximum(counts, 0.0)
    if n_records.sum() > 0:
        return np.asarray(n_records / n_records.sum())
    return np.where(np.arange(bins.n_bins) < bins.n_value_bins, 1.0 / bins.n_value_bins, 0.0)


def ways_of(
    trees: Trees, candidates: Candidates, n_bins: Sequence[int], spread: Sequence[FloatArray]
) -> Ways:
    """Find the features and bins on the path to each leaf.

    Parameters
    ----------
    trees : Trees
    candidates : Candidates
    n_bins : sequence of int
        Number of bins of each feature.
    spread : sequence of ndarray of shape (n_bins,)
        Proportion of the records in each bin of each feature.

    Returns
    -------
    Ways
    """
    feature, inside = _passing(trees, candidates, n_bins)
    padded = np.zeros((len(n_bins), inside.shape[2]))
    for k, n_records in enumerate(spread):
        padded[k, : len(n_records)] = n_records
    share = np.stack(
        [
            np.einsum("nb,nb->n", inside[:, s], padded[feature[:, s]])
            for s in range(feature.shape[1])
        ],
        axis=1,
    )
    values = trees.values.reshape(len(feature), -1)
    return Ways(feature, np.where(feature >= 0, share, 0.0), inside, values)


def _passing(
    trees: Trees, candidates: Candidates, n_bins: Sequence[int]
) -> tuple[Integers, NDArray[np.uint8]]:
    """Return the features and bins on the path to each leaf."""
    depth, n_leaves = trees.depth, trees.values.shape[1]
    leaf, bins = np.arange(n_leaves), np.arange(max(n_bins))
    rows = np.arange(len(trees.splits) * n_leaves)
    feature = np.full((len(rows), depth), -1, dtype=np.int64)
    inside = np.zeros((len(rows), depth, len(bins)), dtype=np.uint8)
    n_slots = np.zeros(len(rows), dtype=np.int64)
    width = np.asarray(n_bins)
    for level in range(depth):
        place, right = leaf >> (depth - level), leaf >> (depth - 1 - level) & 1
        split = trees.splits[:, (1 << level) - 1 + place].ravel()
        k = candidates.feature[split]
        passes = (bins >= candidates.low[split, None]) & (bins <= candidates.high[split, None])
        passes ^= np.tile(right == 0, len(trees.splits))[:, None]
        known = feature == k[:, None]
        seen = known.any(axis=1)
        slot = np.where(seen, known.argmax(axis=1), n_slots)
        passes &= np.where(seen[:, None], inside[rows, slot] > 0, bins < width[k, None])
        feature[rows, slot], inside[rows, slot] = k, passes
        n_slots += ~seen
    return feature, inside


def _by_feature(feature: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each feature in a column of `Ways.feature`, and the indices of its leaves."""
    order = np.argsort(feature, kind="stable")
    order = order[np.searchsorted(feature[order], 0) :]
    ends = np.flatnonzero(np.diff(feature[order])) + 1
    for leaves in np.split(order, ends):
        if len(leaves):
            yield int(feature[leaves[0]]), leaves


def counted_spread(
    trees: Trees, candidates: Candidates, bins: Sequence[FeatureBins], n_records: FloatArray
) -> list[FloatArray]:
    """Estimate the number of records per bin from released leaf counts.

    Parameters
    ----------
    trees : Trees
    candidates : Candidates
    bins : sequence of FeatureBins
    n_records : ndarray of shape (n_trees, n_leaves)
        Noisy number of records in each leaf.

    Returns
    -------
    list of ndarray of shape (n_bins,)
        Estimated number of records in each bin of each feature, averaged over the trees.
    """
    feature, inside = _passing(trees, candidates, [b.n_bins for b in bins])
    counted = np.maximum(n_records, 0.0).ravel() / len(trees.splits)
    values = [np.arange(b.n_bins) < b.n_value_bins for b in bins]
    # Start from a uniform distribution over all values; then correct it for the leaves whose path
    # contains the feature.
    counts = [counted.sum() * value / max(value.sum(), 1) for value in values]
    for s in range(feature.shape[1]):
        for k, leaves in _by_feature(feature[:, s]):
            value, n = values[k], counted[leaves]
            passes = inside[leaves, s, : len(value)] * value
            counts[k] += (n / np.maximum(passes.sum(axis=1), 1)) @ passes
            counts[k] -= n.sum() * value / max(value.sum(), 1)
    return [np.maximum(c, 0.0) for c in counts]
