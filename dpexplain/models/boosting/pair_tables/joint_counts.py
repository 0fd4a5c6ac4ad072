"""Release of tables of joint counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import groups_of_bins
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]

TABLE_SHARE = 0.5
"""Share of the budget for pairs that is spent on the tables."""

_GROUPS = (4, 16)
"""Smallest and largest number of groups of bins per feature."""

_PER_CELL = 4.0
"""A table has few enough groups that an average cell has this many times the noise of its count."""


@dataclass(frozen=True, eq=False)
class PairTables:
    """Released joint counts of some pairs of features.

    Attributes
    ----------
    groups : tuple of ndarray of shape (n_bins,), one per feature
        Group of each bin.
    pairs : tuple of (int, int)
        Pairs of features with a table. They form trees: the first feature of each pair is the first
        feature of a tree, or the second feature of an earlier pair.
    counts : tuple of ndarray of shape (n_first, n_second), one per pair
        Noisy number of records in each pair of groups.
    noise_std : float
        Standard deviation of the noise in these counts.
    """

    groups: tuple[NDArray[np.intp], ...]
    pairs: tuple[tuple[int, int], ...]
    counts: tuple[FloatArray, ...]
    noise_std: float


def release_tables(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    pairs: Sequence[tuple[int, int]],
    n_samples: float,
    budget: Budget,
    mechanism: Mechanism,
) -> PairTables:
    """Release the joint counts of some pairs of features.

    Parameters
    ----------
    records : BinnedRecords
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    pairs : sequence of (int, int)
        Pairs, in the order of `PairTables`.
    n_samples : float
        Noisy number of records.
    budget : Budget
    mechanism : Mechanism
        Mechanism that adds the noise.

    Returns
    -------
    PairTables
    """
    noise = table_phase(budget, len(pairs), 0).sigma_int / LATTICE
    most = np.clip(np.sqrt(max(n_samples, 1.0) / (_PER_CELL * noise)), *_GROUPS)
    groups = tuple(groups_of_bins(c, int(most)) for c in counts)
    exact = records.joint_counts(groups, pairs)
    with mechanism.phase(table_phase(budget, len(pairs), len(exact))):
        noisy = mechanism.release(exact * LATTICE) / LATTICE
    return PairTables(groups, tuple(pairs), tuple(by_pair(noisy, groups, pairs)), noise)


def by_pair(
    values: NDArray[Any], groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
) -> list[NDArray[Any]]:
    """Return the values of each pair from those of all, shape (n_first, n_second)."""
    sizes = [int(g.max()) + 1 for g in groups]
    shapes = [(sizes[i], sizes[j]) for i, j in pairs]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    parts = np.split(values, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def table_phase(budget: Budget, n_tables: int, n_values: int) -> Phase:
    """Return the phase of releases that contains the tables of pairs.

    A record is in one cell of each table, so a table is as sensitive as a histogram. The
    sensitivity and the noise of the phase are in lattice steps.

    Parameters
    ----------
    budget : Budget
    n_tables : int
    n_values : int
        Number of cells of all tables.

    Returns
    -------
    Phase
    """
    steps = budget.histogram_factor * sqrt(n_tables) * LATTICE
    multiplier = budget.pair_multiplier / sqrt(TABLE_SHARE)
    return Phase("pairs", steps, multiplier * steps, n_values)
