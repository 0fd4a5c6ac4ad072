"""Feature pairs in a non-private fit: choice, boosting and purification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.blas import one_blas_thread
from dpexplain.binning.bins import Index
from dpexplain.binning.counts import BinCounts
from dpexplain.models.additive.pair_tables import PairTable, rows_of_bins
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.nonprivate.bagging import fit_bag
from dpexplain.models.boosting.nonprivate.pair_trees import PairStep
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.pair_terms.choice import N_GROUPS as N_TEST_GROUPS
from dpexplain.models.boosting.pair_terms.evidence import log_p_value
from dpexplain.models.boosting.pair_terms.grids import Grid, sides_of
from dpexplain.models.boosting.pair_terms.plan import PairPlan
from dpexplain.models.boosting.records.binned import SQUARED, Records
from dpexplain.models.boosting.released import Tables

FloatArray = NDArray[np.float64]

_LEVEL = 0.05
"""Probability that a given pair is chosen although it has no effect beyond the curves."""

N_GROUPS = 64
"""Maximum number of groups of one feature in the grid of a pair."""


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """Records of a non-private fit, with the bin of each record for each feature.

    Attributes
    ----------
    index : list of ndarray of shape (n_samples,)
        Bin of each record for each feature.
    n_bins : list of int
        Number of bins of each feature.
    target : ndarray of shape (n_samples,), dtype float32
        Target encoded by the objective.
    """

    index: list[Index]
    n_bins: list[int]
    target: NDArray[np.float32]


def boosted_pairs(
    table: BinnedTable,
    held_out: Sequence[NDArray[np.bool_]],
    bags: Sequence[Tables],
    terms: AdditiveTerms,
    objective: Objective,
    plan: PairPlan,
    *,
    learning_rate: float,
    max_rounds: int,
) -> tuple[tuple[PairTable, ...], list[Tables]]:
    """Fit pairs to what the curves leave unexplained. NOT PRIVATE.

    Parameters
    ----------
    table : BinnedTable
    held_out : sequence of ndarray of shape (n_samples,)
        Whether each record is held out, for each bag.
    bags : sequence of list of ndarray
        Curves of each bag.
    terms : AdditiveTerms
        Curves of the fit.
    objective : Objective
    plan : PairPlan
    learning_rate : float
        Fraction of a leaf's value added at each step.
    max_rounds : int
        Maximum number of passes over the pairs.

    Returns
    -------
    pairs : tuple of PairTable
        Pair terms with a mean of zero in each row and each column, averaged over the bags.
    bags : list of list of ndarray
        Curves of each bag, with the row and column means of the pairs added.
    """
    counts = [
        BinCounts(c, np.zeros(len(c)), len(b.special), b.ordered)
        for c, b in zip(terms.counts, terms.bins, strict=True)
    ]
    pairs = plan.declared or _chosen(table, counts, bags, terms, objective, plan)
    if not pairs:
        return (), list(bags)
    sides = sides_of(counts, terms.scores, N_GROUPS)
    n_features = len(table.n_bins)
    grids = [Grid((sides[i], sides[j]), n_features + k) for k, (i, j) in enumerate(pairs)]
    cells = [_cells(grid, table.index) for grid in grids]
    n_records = [
        np.bincount(c, minlength=g.n_cells) * g.used.ravel()
        for g, c in zip(grids, cells, strict=True)
    ]
    step = PairStep(grids, learning_rate=learning_rate, min_curvature=objective.min_curvature)
    found: list[Tables] = []
    for rest, curves in zip(held_out, bags, strict=True):
        tables = fit_bag(
            [*table.index, *cells],
            [*table.n_bins, *(grid.n_cells for grid in grids)],
            table.target,
            objective,
            [step],
            held_out=rest,
            max_rounds=max_rounds,
            curves=curves,
        )
        for grid, own in zip(grids, n_records, strict=True):
            _purify(tables, grid, own)
        found.append(tables)
    scores = [np.mean(parts, axis=0) for parts in zip(*found, strict=True)]
    return (
        tuple(_table(g, objective.scale * scores[g.column], terms, table.index) for g in grids),
        [tables[:n_features] for tables in found],
    )


def _chosen(
    table: BinnedTable,
    counts: Sequence[BinCounts],
    bags: Sequence[Tables],
    terms: AdditiveTerms,
    objective: Objective,
    plan: PairPlan,
) -> list[tuple[int, int]]:
    """Choose pairs using the test of a private fit, applied to exact sums."""
    n_features = len(counts)
    place = np.zeros(len(table.target), dtype=np.uint8)  # where the cells of a pair are kept
    records = Records(
        [*table.index, place], [*table.n_bins, N_TEST_GROUPS**2], table.target, objective.loss
    )
    curves = [np.mean(parts, axis=0) for parts in zip(*bags, strict=True)]
    for k, curve in enumerate(curves):
        records.apply(k, curve)
    scores = np.sum([t[i] for t, i in zip(curves, table.index, strict=True)], axis=0)
    per_record = objective.loss.mean(scores, table.target) if objective.loss is SQUARED else 1.0
    sides = sides_of(counts, terms.scores, N_TEST_GROUPS)
    candidates = list(combinations(plan.candidates, 2))
    found = []
    with one_blas_thread():
        for i, j in candidates:
            grid = Grid((sides[i], sides[j]), n_features)
            records.cross(grid.crossing)
            sums, curvature = records.bin_sums(n_features)[:, : grid.n_cells]
            known = np.maximum(curvature, 1e-9)
            variance = np.diag(max(per_record, 1e-12) * known)
            log_p = log_p_value(grid, sums, np.diag(curvature), variance)
            found.append((log_p, (i, j)))
    # Each pair is tested on its own: early stopping limits the harm of a pair chosen by chance.
    best = sorted(each for each in found if each[0] < np.log(_LEVEL))[: plan.most]
    return sorted(pair for _, pair in best)


def _cells(grid: Grid, index: Sequence[Index]) -> NDArray[np.uint16]:
    """Return the cell of each record in a grid that is too fine for `Crossing`."""
    first, second = (
        side.group_of_bin.astype(np.uint16)[index[side.feature]] for side in grid.sides
    )
    return first * np.uint16(grid.shape[1]) + second


def _purify(tables: Tables, grid: Grid, n_records: NDArray[np.int64]) -> None:
    """Move the row and column means of a pair into the curves of its features.

    These means come from a weighted least-squares fit of a sum of two curves to the cells, so that,
    over the records, the remainder has a mean of zero in each row and column (functional ANOVA).
    Records in the groups of rare special bins get no contribution from the pair.
    """
    weight = n_records.reshape(grid.shape).astype(np.float64)
    scores = tables[grid.column].reshape(grid.shape)
    both = weight * scores
    system = np.block(
        [[np.diag(weight.sum(axis=1)), weight], [weight.T, np.diag(weight.sum(axis=0))]]
    )
    means = np.linalg.lstsq(system, np.concatenate([both.sum(axis=1), both.sum(axis=0)]))[0]
    parts = np.split(means, [grid.shape[0]])
    tables[grid.column] = np.where(grid.used, scores - np.add.outer(*parts), 0.0).ravel()
    for side, part in zip(grid.sides, parts, strict=True):
        tables[side.feature] = tables[side.feature] + part[side.group_of_bin]


def _table(
    grid: Grid, scores: FloatArray, terms: AdditiveTerms, index: Sequence[Index]
) -> PairTable:
    """Return the table of a fitted pair, with the rows and columns of explanations."""
    first, second = grid.sides
    (rows, above), (columns, aside) = (
        rows_of_bins(terms.bins[side.feature], side.group_of_bin) for side in grid.sides
    )
    cells = rows[index[first.feature]] * len(aside) + columns[index[second.feature]]
    n_records = np.bincount(cells, minlength=len(above) * len(aside)).astype(np.float64)
    return PairTable(
        (first.feature, second.feature),
        (rows, columns),
        scores.reshape(grid.shape)[np.ix_(above, aside)],
        n_records.reshape(len(above), len(aside)),
    )
