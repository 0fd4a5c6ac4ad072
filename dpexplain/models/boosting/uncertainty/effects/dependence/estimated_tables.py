"""Joint counts of the pairs with a table, relative to those of a Gaussian copula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.caching import kept_property
from dpexplain.models.boosting.pair_tables.joint_counts import PairTables
from dpexplain.models.boosting.pair_tables.mixtures import learned_weights
from dpexplain.models.boosting.uncertainty.effects.dependence.between_groups import (
    displaced,
    neighbors,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import Runs, copula_cells

FloatArray = NDArray[np.float64]

_RATIOS = np.sort(np.append(np.geomspace(0.02, 64.0, 34), [0.0, 1.0]))
"""Possible ratios of a joint count to that of a Gaussian copula."""

_ADDED = np.where(_RATIOS == 1.0, 2.4, 0.6 / (len(_RATIOS) - 1))
"""Number of additional cells that are assumed to have each ratio."""

_FROM_OTHERS = 20.0
"""The weights for all tables count as much as this number of cells of a table."""

_KNOWN = 1.05
_LEAST = 1e-12
_CLOSE = 1e-6
_ROUNDS = 30
_STEPS = np.tanh(np.linspace(-2.6, 2.6, 53))


@dataclass(frozen=True, eq=False)
class EstimatedTables:
    """Estimated joint counts of the pairs with a table.

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

    @kept_property
    def _places(self) -> NDArray[np.intp]:
        return places_of(self.tables, len(self.runs))

    @kept_property
    def margins(self) -> tuple[FloatArray, ...]:
        """Proportion of the records in each group of each feature."""
        return tuple(runs.member @ np.diff(runs.below, prepend=0.0) for runs in self.runs)

    @kept_property
    def _last(self) -> dict[int, tuple[float, FloatArray]]:
        """Return the last correlation and result of `joint` for each table."""
        return {}

    def joint(self, place: int, correlation: float) -> FloatArray:
        """Return the proportion of the records in each pair of groups of a table."""
        if place not in self._last or self._last[place][0] != correlation:
            first, second = self.tables.pairs[place]
            (cells,) = copula_cells(self.runs[first], self.runs[second], np.array([correlation]))
            margins = self.margins[first], self.margins[second]
            self._last[place] = correlation, agreeing(cells * self.ratios[place], *margins)
        return self._last[place][1]

    def within_groups(self, correlation: FloatArray) -> FloatArray:
        """Return how much dependence the tables may hide within groups of bins.

        The tables show dependence of another form than that of the copula between groups, but not
        within them.

        Parameters
        ----------
        correlation : ndarray of shape (n_pairs,)

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Dependence that the table shows beyond the copula, times the proportion of the variance
            of normal variables that is within groups. Zero for pairs without a table.
        """
        found, own = np.zeros((len(self.runs), len(self.runs))), correlation[self._places]
        for place, (first, second) in enumerate(self.tables.pairs):
            runs = self.runs[first], self.runs[second]
            (cells,) = copula_cells(*runs, own[[place]])
            other_form = self.joint(place, float(own[place])) - cells
            independent = np.outer(self.margins[first], self.margins[second])
            square = largest_square(other_form, independent)
            found[first, second] = square * (runs[0].within + runs[1].within)
            found[second, first] = found[first, second]
        return found

    def squares(self, correlation: FloatArray) -> FloatArray:
        """Return the squared dependence that the tables show.

        Parameters
        ----------
        correlation : ndarray of shape (n_pairs,)

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Zero for pairs without a table.
        """
        n_features = len(self.runs)
        found = np.zeros((n_features, n_features))
        own = correlation[self._places]
        for place, pair in enumerate(self.tables.pairs):
            independent = np.outer(*(self.margins[k] for k in pair))
            away = self.joint(place, float(own[place])) - independent
            found[pair] = found[pair[::-1]] = largest_square(away, independent)
        return found

    def assign(
        self,
        bins: NDArray[np.int64],
        ranked: NDArray[np.intp],
        matrix: FloatArray,
        order: Sequence[NDArray[np.intp]],
        shares: Sequence[FloatArray],
    ) -> None:
        """Change the bins of points so that their joint counts agree with the tables.

        Among the points in a group of the first feature of a table, the bins of the second one are
        assigned by rank, as often as the table says. If both features are ordered, this holds
        approximately: between the centers of groups, the points are displaced by interpolation.

        Parameters
        ----------
        bins : ndarray of shape (n_points, n_features)
            Bins of each point; changed in place.
        ranked : ndarray of shape (n_points, n_features)
            Points by their normal score of each feature, from lowest to highest.
        matrix : ndarray of shape (n_features, n_features)
            Correlations of the scores.
        order : sequence of ndarray of shape (n_bins,)
            Bins of each feature from lowest to highest.
        shares : sequence of ndarray of shape (n_bins,)
            Proportion of the records in each bin.
        """
        places = (np.arange(len(bins)) + 0.5) / len(bins)
        for place, (first, second) in enumerate(self.tables.pairs):
            of_first, of_second = (self.tables.groups[k] for k in (first, second))
            in_group = np.maximum(self.margins[second], 1e-300)[of_second]
            own = shares[second] / shares[second].sum() / in_group
            rows = self.joint(place, float(matrix[first, second]))[:, of_second] * own
            rows = rows[:, order[second]]
            group = of_first[bins[ranked[:, second], first]].astype(np.uint8)
            by_group = np.argsort(group, kind="stable")
            points, sizes = ranked[by_group, second], np.bincount(group, minlength=len(rows))
            bins[points, second] = in_order(order[second], _below(rows), sizes)
            if self._are_ordered(first, second, shares[second]):
                n_values = self.runs[first].n_values
                n_groups = int(of_first[:n_values].max()) + 1
                sizes, rows = sizes[:n_groups], rows[:n_groups]
                n_points = int(sizes.sum())
                points, ranks = points[:n_points], places[by_group[:n_points]]
                near, weight = neighbors(shares[first][:n_values], of_first[:n_values])
                of_bin = bins[points, first]
                ends = _below(shares[second][order[second]])
                moved = displaced(ranks, sizes, _below(rows), ends, near[of_bin], weight[of_bin])
                bins[points[np.argsort(moved, kind="stable")], second] = in_order(
                    order[second], _below(rows.sum(axis=0))[None], np.array([n_points])
                )

    def _are_ordered(self, first: int, second: int, share: FloatArray) -> bool:
        """Whether groups of the first feature and values of the second are ordered."""
        n_values, n_of_second = self.runs[first].n_values, self.runs[second].n_values
        n_groups = len(np.unique(self.tables.groups[first][:n_values]))
        return n_groups > 1 and n_of_second > 0 and not share[n_of_second:].any()


def _below(shares: FloatArray) -> FloatArray:
    """Return the proportion up to the end of each bin, which come last in the shape."""
    below = np.cumsum(shares, axis=-1)
    return np.asarray(below / np.maximum(below[..., -1:], 1e-300))


def in_order(
    order: NDArray[np.intp], below: FloatArray, n_points: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the bins of points that are sorted by rank within each group.

    Parameters
    ----------
    order : ndarray of shape (n_bins,)
        Bins from lowest to highest.
    below : ndarray of shape (n_groups, n_bins)
        Proportion of each group's points up to the end of each of these bins. If noise makes
        numbers overflow, they are NaN, and all points are in the last bin.
    n_points : ndarray of shape (n_groups,)
        Number of points in each group.

    Returns
    -------
    ndarray of shape (n_points_total,)
        The bins, group by group.
    """
    ends = np.floor(np.nan_to_num(below) * n_points[:, None] + 0.5).astype(np.intp)
    ends[:, -1] = n_points
    n_each = np.diff(ends, axis=1, prepend=0)
    return np.repeat(np.broadcast_to(order, n_each.shape).ravel(), n_each.ravel())


def log_likelihood(
    tables: PairTables, runs: Sequence[Runs], n_samples: float, correlations: FloatArray
) -> FloatArray:
    """Return the log-likelihood of correlations, given the tables.

    If even the best correlation explains a table badly, noise is assumed to be larger.

    Parameters
    ----------
    tables : PairTables
    runs : sequence of Runs, one per feature
    n_samples : float
        Noisy number of records.
    correlations : ndarray of shape (n_correlations,)

    Returns
    -------
    ndarray of shape (n_pairs, n_correlations)
        Zero for pairs without a table.
    """
    found = np.zeros((comb(len(runs), 2), len(correlations)))
    n, variance = max(n_samples, 1.0), tables.noise_std**2
    for place, first, second, counts in _each(tables, runs):
        expected = n * copula_cells(first, second, _STEPS).reshape(len(_STEPS), -1)
        of_cells = variance + np.maximum(expected, 1.0)
        squares = (counts - expected) ** 2 / of_cells
        log = -0.5 * (squares + np.log(of_cells)).sum(axis=1)
        log /= max(float(squares.sum(axis=1).min()) / len(counts), 1.0)
        found[place] = np.interp(np.arctanh(correlations), np.arctanh(_STEPS), log)
    return found


def _each(tables: PairTables, runs: Sequence[Runs]) -> Iterator[tuple[int, Runs, Runs, FloatArray]]:
    """Yield the place of each pair, the runs of its two features, and its counts."""
    places = places_of(tables, len(runs))
    for place, (i, j), counts in zip(places, tables.pairs, tables.counts, strict=True):
        yield int(place), runs[i], runs[j], counts.ravel()


def places_of(tables: PairTables, n_features: int) -> NDArray[np.intp]:
    """Return the index of each table's pair, in the order of ``numpy.triu_indices``."""
    index = np.zeros((n_features, n_features), dtype=np.intp)
    first, second = np.triu_indices(n_features, 1)
    index[first, second] = index[second, first] = np.arange(len(first))
    return np.array([index[pair] for pair in tables.pairs], dtype=np.intp)


def estimated(
    tables: PairTables, runs: Sequence[Runs], n_samples: float, correlation: FloatArray
) -> EstimatedTables:
    """Estimate the joint counts of the pairs with a table.

    The prior of the ratios has a spike at 1, where features depend on each other as normal
    variables do. Its weights fit all cells, and then those of each table.

    Parameters
    ----------
    tables : PairTables
    runs : sequence of Runs, one per feature
    n_samples : float
        Noisy number of records.
    correlation : ndarray of shape (n_pairs,)

    Returns
    -------
    EstimatedTables
    """
    n, likelihoods, counts = max(n_samples, 1.0), [], []
    for place, first, second, released in _each(tables, runs):
        expected = copula_cells(first, second, correlation[[place]]).ravel()
        possible = np.minimum(np.maximum(n * expected, 1e-9)[:, None] * _RATIOS, n)
        variance = tables.noise_std**2 + np.maximum(possible, 1.0)
        log = -0.5 * ((released[:, None] - possible) ** 2 / variance + np.log(variance))
        likelihoods.append(np.exp(log - log.max(axis=1, keepdims=True)))
        counts.append(possible)
    weights = learned_weights(_telling(np.concatenate(likelihoods)), _ADDED)
    ratios, variances = [], []
    for likelihood, possible, table in zip(likelihoods, counts, tables.counts, strict=True):
        own = likelihood * learned_weights(_telling(likelihood), _FROM_OTHERS * weights)
        own /= own.sum(axis=1, keepdims=True)
        mean = (own * possible).sum(axis=1)
        spread = np.maximum((own * possible**2).sum(axis=1) - mean**2, 0.0)
        ratios.append((mean / possible[:, _RATIOS == 1.0][:, 0]).reshape(table.shape))
        variances.append(spread.reshape(table.shape))
    return EstimatedTables(tables, tuple(runs), tuple(ratios), tuple(variances))


def _telling(likelihood: FloatArray) -> FloatArray:
    """Return the rows that differ between ratios at all; the others only take time."""
    return likelihood[likelihood.max(axis=1) > _KNOWN * likelihood.min(axis=1)]


def agreeing(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the table with given margins that is closest to another one.

    The table is found by iterative proportional fitting.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
    rows : ndarray of shape (n_rows,)
    columns : ndarray of shape (n_columns,)
        Margins, which add up to 1 each.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
    """
    table = table + _LEAST
    for _ in range(_ROUNDS):
        change = rows / np.maximum(table.sum(axis=1), _LEAST)
        table = table * change[:, None]
        table = table * (columns / np.maximum(table.sum(axis=0), _LEAST))
        if (np.abs(change - 1.0) < _CLOSE).all():
            break
    return np.asarray(table)


def largest_square(away: FloatArray, independent: FloatArray) -> float:
    """Return the largest squared correlation in a part of a joint distribution.

    Parameters
    ----------
    away : ndarray of shape (n_rows, n_columns)
        Part of the joint distribution. If this is the whole distance from independence, the result
        is the square of the largest canonical correlation.
    independent : ndarray of shape (n_rows, n_columns)
        Joint distribution of independent variables with the same margins.

    Returns
    -------
    float
        Between 0 and 1.
    """
    scaled = away / np.sqrt(np.maximum(independent, _LEAST))
    return min(float(np.linalg.norm(scaled, 2)) ** 2, 1.0)
