"""Joint distribution of features, estimated from released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pairs import DISTANCE_GROUPS, PairSums, groups_of_bins
from dpexplain.models.boosting.uncertainty.effects.dependence.cells import (
    as_correlation,
    runs_of,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.pair_correlations import (
    GRID,
    correlations,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population
from dpexplain.models.boosting.uncertainty.effects.dependence.trees import (
    Trees,
    log_likelihood,
    squares_of,
    trees_of,
)

FloatArray = NDArray[np.float64]

DOUBT = 0.2
"""Error of the mean of a curve in a bin of another feature, in standard deviations of the curve, if
the features depend on each other completely, but the population does not show it."""

UNKNOWN = 0.14
"""The same for a feature with three or more unordered categories if nothing was released about its
dependence."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """How features depend on each other.

    Attributes
    ----------
    population : Population
        Synthetic population with the estimated dependence.
    correlation, std : ndarray of shape (n_pairs,)
        Posterior mean and standard deviation of the correlation of each pair.
    squares : ndarray of shape (n_features, n_features)
        Squared dependence that the tables show; zero for pairs without a table.
    doubt : ndarray of shape (n_features, n_features)
        How far means of curves may be wrong (see `doubts`).
    """

    population: Population
    correlation: FloatArray
    std: FloatArray
    squares: FloatArray
    doubt: FloatArray

    def together(self, correlation: FloatArray) -> FloatArray:
        """Return the expected square of each correlation, shape (n_features, n_features).

        It is at least the squared dependence that a table shows. The diagonal is zero.
        """
        squares = np.zeros_like(self.squares)
        first, second = np.triu_indices(len(squares), 1)
        squares[first, second] = squares[second, first] = correlation**2 + self.std**2
        return np.maximum(squares, self.squares)

    def strengths(self, matrix: FloatArray) -> FloatArray:
        """Return correlations, or larger ones that a table shows, shape of `matrix`."""
        return np.maximum(np.abs(matrix), np.sqrt(self.squares))


def dependence_of(
    pairs: PairSums | None,
    counts: Sequence[BinCounts],
    order: Sequence[NDArray[np.intp]],
    shares: Sequence[FloatArray],
    n_samples: float,
    n_points: int,
) -> Dependence:
    """Estimate how features depend on each other.

    Parameters
    ----------
    pairs : PairSums or None
        What was released about pairs of features.
    counts : sequence of BinCounts
    order : sequence of ndarray of shape (n_bins,)
        Bins of each feature, sorted from lowest to highest.
    shares : sequence of ndarray of shape (n_bins,)
        Proportion of the records in each bin.
    n_samples : float
        Noisy number of records.
    n_points : int
        Number of points in the population.

    Returns
    -------
    Dependence
    """
    log, runs = None, []
    if pairs is not None and pairs.tables is not None:
        parts = zip(order, shares, pairs.tables.groups, strict=True)
        runs = [runs_of(*part) for part in parts]
        log = log_likelihood(pairs, runs, n_samples, GRID)
    mean, std = correlations(pairs, counts, n_samples, log)
    trees = trees_of(pairs, runs, n_samples, mean)
    population = Population(order, shares, n_points, trees)
    population.draw(mean)
    squares = squares_of(trees, mean, len(counts))
    return Dependence(
        population, mean, std, squares, doubts(pairs, trees, counts, population.bins, n_samples)
    )


def doubts(
    pairs: PairSums | None,
    trees: Trees | None,
    counts: Sequence[BinCounts],
    bins: NDArray[np.int64],
    n_samples: float,
) -> FloatArray:
    """Return how far the means of curves in the bins of other features may be wrong.

    For a pair with a table, this follows from the posterior variance of the joint counts. For the
    other pairs, the distance of the released joint counts from independence is compared with that
    of the population.

    Parameters
    ----------
    pairs : PairSums or None
    trees : Trees or None
    counts : sequence of BinCounts
    bins : ndarray of shape (n_points, n_features)
        Bins of the points of the population.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Mean square in the bins of the feature in the row, relative to the variance of the curve of
        the feature in the column.
    """
    n_features = len(counts)
    found = np.zeros((n_features, n_features))
    if pairs is None or pairs.strengths is None:
        many = np.array([not c.ordered and len(c.counts) - c.n_special > 2 for c in counts])
        return UNKNOWN**2 * ((many[:, None] | many) & ~np.eye(n_features, dtype=bool))
    groups = [groups_of_bins(c, DISTANCE_GROUPS) for c in counts]
    sizes = [int(g.max()) + 1 for g in groups]
    own = [g[b] for g, b in zip(groups, bins.T, strict=True)]
    for strength, (i, j) in zip(pairs.strengths, combinations(range(n_features), 2), strict=True):
        cells = np.bincount(own[i] * sizes[j] + own[j], minlength=sizes[i] * sizes[j])
        joint = cells.reshape(sizes[i], sizes[j]) / len(bins)
        alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        by_chance = np.sqrt(2.0 / np.pi * alone / len(bins)).sum() / 2.0
        shown = np.sqrt(max((np.abs(joint - alone).sum() / 2.0) ** 2 - by_chance**2, 0.0))
        both = as_correlation(np.array([strength, shown]), min(sizes[i], sizes[j])) ** 2
        found[i, j] = found[j, i] = DOUBT**2 * max(float(both[0] - both[1]), 0.0)
    if trees is not None:
        n = max(n_samples, 1.0)
        for (i, j), variance in zip(trees.tables.pairs, trees.variances, strict=True):
            of_rows = np.maximum(n * trees.margin(i), 1.0)
            of_columns = np.maximum(n * trees.margin(j), 1.0)
            found[i, j] = (variance.sum(axis=1) / of_rows).sum() / n
            found[j, i] = (variance.sum(axis=0) / of_columns).sum() / n
    return found
