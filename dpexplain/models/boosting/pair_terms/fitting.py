"""Fit the pair terms: posterior of the cell scores, given noisy residual sums.

A visit to a pair works like a visit to a feature, with a tree whose leaves are the cells of the
grid. Each record's residual is in one cell, so the sensitivity is that of a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.blas import one_blas_thread
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.additive.pair_tables import PairTable, Reaction, rows_of_bins
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.pair_terms.grids import Grid, Side, curvature_of_cells
from dpexplain.models.boosting.pair_terms.levels import Levels
from dpexplain.models.boosting.pair_terms.posterior import averaged, error_std
from dpexplain.models.boosting.pair_terms.priors import likely_priors
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]

N_GROUPS = 24
"""Maximum number of groups of one feature. Solving the equations for 24 by 24 cells takes a
fraction of a second."""

N_ROUNDS = 4
"""Number of visits to each pair."""

_FIRST_AVERAGED, _MOST_AVERAGED = 3, 8
"""Number of priors that are averaged after a visit, and after the last one. The scores of earlier
visits only decide what later visits add."""

_COUNT_SHARE = 0.1
"""Share of the mu squared of the grids that is spent on counting the records in their cells."""


@dataclass(frozen=True)
class GridBudget:
    """Budget for the releases used to fit the pair grids.

    Attributes
    ----------
    budget : Budget
        Budget of the fit.
    squared_mu : float
        Total Gaussian-DP parameter of the grids, squared.
    """

    budget: Budget
    squared_mu: float

    def count_phase(self, n_cells: Sequence[int]) -> Phase:
        """Return the phase that releases the record counts of all grid cells.

        A record is in one cell of each grid.
        """
        steps = self.budget.histogram_factor * float(np.sqrt(len(n_cells))) * LATTICE
        multiplier = 1.0 / float(np.sqrt(_COUNT_SHARE * self.squared_mu))
        return Phase("boosting", steps, multiplier * steps, sum(n_cells))

    def sum_phase(self, n_values: Sequence[int]) -> Phase:
        """Return the phase that contains the residual sums of all visits.

        Parameters
        ----------
        n_values : sequence of int
            Number of sums in all visits of each pair.
        """
        steps = self.budget.leaf_factor * LATTICE
        return Phase("boosting", steps, self._multiplier(len(n_values)) * steps, sum(n_values))

    def block_noise(self, n_pairs: int) -> float:
        """Return the noise of the mean sum of a block over all visits to blocks, in clips."""
        one = self._multiplier(n_pairs) * self.budget.leaf_factor
        return one / float(np.sqrt(N_ROUNDS // 2))

    def _multiplier(self, n_pairs: int) -> float:
        """Return the ratio of noise standard deviation to sensitivity for one visit."""
        n_visits = N_ROUNDS * n_pairs
        return float(np.sqrt(n_visits / ((1.0 - _COUNT_SHARE) * self.squared_mu)))


@dataclass(eq=False)
class _Pair:
    """State of one pair during the fit.

    All arrays have shape (n_cells,), except `reaction`, which is ``Reaction.per_error``.
    """

    grid: Grid
    counts: FloatArray
    relative_std: FloatArray
    curvature: FloatArray
    sampling: FloatArray
    table: FloatArray
    levels: Levels
    noise: FloatArray = field(default_factory=lambda: np.zeros(0))
    sampled: FloatArray = field(default_factory=lambda: np.zeros(0))
    error: FloatArray = field(default_factory=lambda: np.zeros(0))
    reaction: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def n_values(self) -> int:
        """Number of sums in all visits."""
        return (N_ROUNDS - N_ROUNDS // 2) * self.grid.n_cells + N_ROUNDS // 2 * self.levels.n_blocks

    def take(self, variance: float, *, last: bool) -> FloatArray:
        """Return the new scores of the cells after a visit.

        Parameters
        ----------
        variance : float
            Variance of the noise in each sum of a visit.
        last : bool
            Whether this is the last visit, after which the noise of the scores is computed.
        """
        sums, noise = self.levels.combined(variance)
        errors = noise + np.diag(self.sampling)
        priors = likely_priors(self.grid, sums, self.curvature, errors)
        most = _MOST_AVERAGED if last else _FIRST_AVERAGED
        found = averaged(self.grid, sums, self.curvature, errors, priors, most=most)
        if last:
            response, of_counts = found.responses(self.curvature, self.sampling)
            of_counts += self.levels.response_to_counts(response)
            self.noise = np.sqrt(
                ((response @ noise) * response).sum(axis=1) + of_counts**2 @ self.relative_std**2
            )
            self.sampled = np.sqrt(response**2 @ self.sampling)
            self.reaction = -response @ (self.curvature[:, None] * self.grid.groups_of_cells)
            del response, of_counts  # large, and not needed for the rest
            self.error = error_std(self.grid, sums, self.curvature, errors, priors, found.scores)
        return found.scores


def fit_pairs(
    records: BinnedRecords,
    grids: Sequence[Grid],
    terms: AdditiveTerms,
    objective: Objective,
    plan: Schedule,
    *,
    n_samples: float,
    clip: float,
    budget: GridBudget,
    mechanism: Mechanism,
) -> tuple[PairTable, ...]:
    """Fit the scores of pairs to what the curves leave unexplained.

    Parameters
    ----------
    records : BinnedRecords
        Records, with scores computed from the curves.
    grids : sequence of Grid
        Grid of each pair. The columns of the grids come after the columns of the features, in the
        order of this sequence.
    terms : AdditiveTerms
        Released curves.
    objective : Objective
    plan : Schedule
    n_samples : float
        Noisy number of records.
    clip : float
        Bound on a residual, in internal units of the boosting loop.
    budget : GridBudget
    mechanism : Mechanism

    Returns
    -------
    tuple of PairTable
        On the link scale, in the order of `grids`.
    """
    n_cells = [grid.n_cells for grid in grids]
    exact = []
    for grid in grids:
        records.cross(grid.crossing)
        exact.append(records.cell_counts(grid.column, grid.n_cells) * LATTICE)
    phase = budget.count_phase(n_cells)
    with mechanism.phase(phase):
        noisy = mechanism.release(np.concatenate(exact)) / LATTICE
    starts = np.cumsum(n_cells)[:-1]
    pairs = []
    for grid, own in zip(grids, np.split(noisy, starts), strict=True):
        counts, std = grid.counts(own, n_samples, phase.sigma_int / LATTICE)
        shape = curvature_of_cells(grid, counts, terms, objective, plan, clip)
        pairs.append(_Pair(grid, counts, std, *shape, np.zeros(grid.n_cells), Levels.of(grid)))
    phase = budget.sum_phase([pair.n_values for pair in pairs])
    step = clip / LATTICE
    with mechanism.phase(phase), one_blas_thread():
        for visit in range(N_ROUNDS):
            of_blocks = visit % 2 == 1
            for pair in pairs:
                column, levels = pair.grid.column, pair.levels
                leaves = levels.leaf_of_cell if of_blocks else pair.grid.leaf_of_cell
                n_leaves = levels.n_blocks if of_blocks else pair.grid.n_cells
                sums = records.leaf_sums(column, leaves, n_leaves, clip)
                released: FloatArray = mechanism.release(sums) * np.float64(step)
                levels.add(released, pair.curvature * pair.table, of_blocks=of_blocks)
                found = pair.take((phase.sigma_int * step) ** 2, last=visit == N_ROUNDS - 1)
                table = np.clip(found, -objective.bound, objective.bound)
                records.apply(column, table - pair.table)
                pair.table = table
    return tuple(_table(pair, terms, objective.scale) for pair in pairs)


def _table(pair: _Pair, terms: AdditiveTerms, scale: float) -> PairTable:
    """Return the table of a fitted pair, in which several rows can form one group.

    Rows of the same group have equal scores. Records were counted by group, so the count of a group
    is divided among its rows in proportion to the released counts of the feature. Columns are
    treated in the same way.
    """
    first, second = pair.grid.sides
    rows, groups = zip(
        *(rows_of_bins(terms.bins[side.feature], side.group_of_bin) for side in pair.grid.sides),
        strict=True,
    )
    split = [
        _shares_of_rows(terms.counts[side.feature], row, group)
        for side, row, group in zip(pair.grid.sides, rows, groups, strict=True)
    ]
    place = np.ix_(*groups)

    def spread(cells: FloatArray) -> FloatArray:
        return cells.reshape(pair.grid.shape)[place]

    return PairTable(
        (first.feature, second.feature),
        (rows[0], rows[1]),
        scale * spread(pair.table),
        spread(pair.counts) * np.outer(*split),
        scale * spread(pair.noise),
        scale * spread(pair.sampled),
        scale * spread(pair.error),
        Reaction(
            pair.reaction,
            (_mean_of_groups(terms, first), _mean_of_groups(terms, second)),
            (groups[0], groups[1]),
        ),
    )


def _mean_of_groups(terms: AdditiveTerms, side: Side) -> FloatArray:
    """Return the weight of each bin (column) in the mean curve of each group (row)."""
    weight = np.zeros((side.n_groups, len(side.group_of_bin)))
    n_records = np.maximum(terms.counts[side.feature], 1e-9)
    weight[side.group_of_bin, np.arange(len(side.group_of_bin))] = n_records
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _shares_of_rows(
    counts: FloatArray, row_of_bin: NDArray[np.intp], group_of_row: NDArray[np.intp]
) -> FloatArray:
    """Return each row's share of the records in the row's group."""
    n_records = np.bincount(row_of_bin, weights=np.maximum(counts, 0.0)) + 1e-9
    return np.asarray(n_records / np.bincount(group_of_row, weights=n_records)[group_of_row])
