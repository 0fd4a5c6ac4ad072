"""Joint distribution of features, estimated from released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import runs_of
from dpexplain.models.boosting.uncertainty.effects.dependence.doubt import doubts
from dpexplain.models.boosting.uncertainty.effects.dependence.estimated_tables import (
    estimated,
    log_likelihood,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.pair_correlations import (
    GRID,
    correlations,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.population import Population

FloatArray = NDArray[np.float64]


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
    within : ndarray of shape (n_features, n_features)
        Dependence that tables may hide within groups (see `EstimatedTables.within_groups`).
    """

    population: Population
    correlation: FloatArray
    std: FloatArray
    squares: FloatArray
    doubt: FloatArray
    within: FloatArray

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
    tables = None if pairs is None else pairs.tables
    runs, log = [], None
    if tables is not None:
        n_values = [len(c.counts) - c.n_special if c.ordered else 0 for c in counts]
        parts = zip(order, shares, tables.groups, n_values, strict=True)
        runs = [runs_of(*part) for part in parts]
        log = log_likelihood(tables, runs, n_samples, GRID)
    mean, std = correlations(pairs, counts, n_samples, log)
    known = None if tables is None else estimated(tables, runs, n_samples, mean)
    population = Population(order, shares, n_points, mean, known)
    squares = within = np.zeros((len(counts), len(counts)))
    if known is not None:
        squares, within = known.squares(mean), known.within_groups(mean)
    doubt = doubts(pairs, known, counts, population.bins, n_samples)
    return Dependence(population, mean, std, squares, doubt, within)
