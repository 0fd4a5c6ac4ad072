"""Tables of pairs of features, relative to a Gaussian copula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pairs import PairSums, PairTables, learned_weights
from dpexplain.models.boosting.uncertainty.effects.dependence.cells import (
    Runs,
    agreeing,
    copula_cells,
    largest_square,
)

FloatArray = NDArray[np.float64]

_RATIOS = np.sort(np.append(np.geomspace(0.02, 64.0, 34), [0.0, 1.0]))
"""Possible ratios of a joint count to that of a Gaussian copula."""

_AT_ONE = 0.8
_PSEUDO, _PSEUDO_OF_TABLE = 3.0, 20.0
_KNOWN = 1.05
_STEPS = np.tanh(np.linspace(-2.6, 2.6, 53))


@dataclass(frozen=True, eq=False)
class Trees:
    """Tables of joint counts, relative to those of a Gaussian copula.

    Attributes
    ----------
    tables : PairTables
        The released tables.
    runs : tuple of Runs, one per feature
    ratios : tuple of ndarray of shape (n_first, n_second), one per table
        Estimated ratio of each joint count to that of the copula.
    variances : tuple of ndarray of shape (n_first, n_second), one per table
        Posterior variance of each joint count.
    """

    tables: PairTables
    runs: tuple[Runs, ...]
    ratios: tuple[FloatArray, ...]
    variances: tuple[FloatArray, ...]

    def margin(self, feature: int) -> FloatArray:
        """Return the proportion of the records in each group of a feature."""
        runs = self.runs[feature]
        return np.asarray(runs.member @ np.diff(runs.below, prepend=0.0))

    def joint(self, place: int, correlation: float) -> FloatArray:
        """Return the proportion of the records in each pair of groups of a table."""
        first, second = self.tables.pairs[place]
        cells = copula_cells(self.runs[first], self.runs[second], correlation)
        return agreeing(cells * self.ratios[place], self.margin(first), self.margin(second))

    def assign(
        self,
        bins: NDArray[np.int64],
        scores: FloatArray,
        matrix: FloatArray,
        order: Sequence[NDArray[np.intp]],
        shares: Sequence[FloatArray],
    ) -> None:
        """Change the bins of points so that their joint counts agree with the tables.

        Among the points in a group of the first feature of a table, the bins of the second one are
        assigned by rank, as often as the table says.

        Parameters
        ----------
        bins : ndarray of shape (n_points, n_features)
            Bins of each point; changed in place.
        scores : ndarray of shape (n_points, n_features)
            Normal scores by which points are ranked.
        matrix : ndarray of shape (n_features, n_features)
            Correlations of the scores.
        order : sequence of ndarray of shape (n_bins,)
            Bins of each feature from lowest to highest.
        shares : sequence of ndarray of shape (n_bins,)
            Proportion of the records in each bin.
        """
        for place, (first, second) in enumerate(self.tables.pairs):
            of_first, of_second = (self.tables.groups[k] for k in (first, second))
            in_group = np.maximum(self.margin(second), 1e-300)[of_second]
            own = shares[second] / shares[second].sum() / in_group
            rows = self.joint(place, float(matrix[first, second]))[:, of_second] * own
            at, sorted_bins = of_first[bins[:, first]], order[second]
            for group, row in enumerate(rows[:, sorted_bins]):
                points = np.flatnonzero(at == group)
                below = np.cumsum(row) / max(float(row.sum()), 1e-300)
                ranks = (np.arange(len(points)) + 0.5) / max(len(points), 1)
                found = np.minimum(np.searchsorted(below, ranks), len(row) - 1)
                by_rank = points[np.argsort(scores[points, second], kind="stable")]
                bins[by_rank, second] = sorted_bins[found]


def log_likelihood(
    pairs: PairSums | None, runs: Sequence[Runs], n_samples: float, correlations: FloatArray
) -> FloatArray | None:
    """Return the log-likelihood of correlations, given the tables.

    If even the best correlation explains a table badly, noise is assumed to be larger.

    Parameters
    ----------
    pairs : PairSums or None
    runs : sequence of Runs, one per feature
    n_samples : float
        Noisy number of records.
    correlations : ndarray of shape (n_correlations,)

    Returns
    -------
    ndarray of shape (n_pairs, n_correlations) or None
        None without tables.
    """
    if pairs is None or pairs.tables is None:
        return None
    found = np.zeros((len(pairs.sums), len(correlations)))
    n, variance = max(n_samples, 1.0), pairs.tables.noise_std**2
    for place, (i, j), table in zip(
        places_of(pairs.tables, len(runs)), pairs.tables.pairs, pairs.tables.counts, strict=True
    ):
        expected = n * np.stack([copula_cells(runs[i], runs[j], r).ravel() for r in _STEPS])
        of_cells = variance + np.maximum(expected, 1.0)
        squares = (table.ravel() - expected) ** 2 / of_cells
        log = -0.5 * (squares + np.log(of_cells)).sum(axis=1)
        log /= max(float(squares.sum(axis=1).min()) / table.size, 1.0)
        found[place] = np.interp(np.arctanh(correlations), np.arctanh(_STEPS), log)
    return found


def places_of(tables: PairTables, n_features: int) -> NDArray[np.intp]:
    """Return the index of each table's pair, in the order of ``numpy.triu_indices``."""
    index = np.zeros((n_features, n_features), dtype=np.intp)
    first, second = np.triu_indices(n_features, 1)
    index[first, second] = index[second, first] = np.arange(len(first))
    return np.array([index[pair] for pair in tables.pairs], dtype=np.intp)


def trees_of(
    pairs: PairSums | None, runs: Sequence[Runs], n_samples: float, correlation: FloatArray
) -> Trees | None:
    """Estimate the joint counts of the pairs with a table.

    The prior of the ratios has a spike at 1, where features depend on each other as normal
    variables do. Its weights fit all cells, and then those of each table.

    Parameters
    ----------
    pairs : PairSums or None
    runs : sequence of Runs, one per feature
    n_samples : float
        Noisy number of records.
    correlation : ndarray of shape (n_pairs,)

    Returns
    -------
    Trees or None
        None without tables.
    """
    if pairs is None or pairs.tables is None:
        return None
    tables, n = pairs.tables, max(n_samples, 1.0)
    likelihoods, counts = [], []
    for place, (i, j), table in zip(
        places_of(tables, len(runs)), tables.pairs, tables.counts, strict=True
    ):
        expected = copula_cells(runs[i], runs[j], float(correlation[place])).ravel()
        possible = np.minimum(np.maximum(n * expected, 1e-9)[:, None] * _RATIOS, n)
        variance = tables.noise_std**2 + np.maximum(possible, 1.0)
        log = -0.5 * ((table.ravel()[:, None] - possible) ** 2 / variance + np.log(variance))
        likelihoods.append(np.exp(log - log.max(axis=1, keepdims=True)))
        counts.append(possible)
    start = np.full(len(_RATIOS), (1.0 - _AT_ONE) / (len(_RATIOS) - 1))
    start[_RATIOS == 1.0] = _AT_ONE
    weights = learned_weights(_telling(np.concatenate(likelihoods)), start, _PSEUDO)
    ratios, variances = [], []
    for likelihood, possible, table in zip(likelihoods, counts, tables.counts, strict=True):
        own = learned_weights(_telling(likelihood), weights, _PSEUDO_OF_TABLE) * likelihood
        own /= own.sum(axis=1, keepdims=True)
        mean = (own * possible).sum(axis=1)
        spread = np.maximum((own * possible**2).sum(axis=1) - mean**2, 0.0)
        ratios.append((mean / possible[:, _RATIOS == 1.0][:, 0]).reshape(table.shape))
        variances.append(spread.reshape(table.shape))
    return Trees(tables, tuple(runs), tuple(ratios), tuple(variances))


def _telling(likelihood: FloatArray) -> FloatArray:
    """Return the rows that differ between ratios at all; the others only take time."""
    return likelihood[likelihood.max(axis=1) > _KNOWN * likelihood.min(axis=1)]


def squares_of(trees: Trees | None, correlation: FloatArray, n_features: int) -> FloatArray:
    """Return the squared dependence that the tables show, per pair.

    Zero for pairs without a table.
    """
    found = np.zeros((n_features, n_features))
    if trees is not None:
        places = places_of(trees.tables, n_features)
        for place, pair, own in zip(range(len(places)), trees.tables.pairs, places, strict=True):
            square = largest_square(trees.joint(place, float(correlation[own])))
            found[pair] = found[pair[::-1]] = square
    return found
