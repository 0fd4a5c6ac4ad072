"""Private sums and distances of all pairs of features.

The bins of each feature are split into a lower and an upper half with nearly equal numbers of
records. A record adds 1 to the sum of a pair if its bins of both features are in the same half
(lower or upper), and -1 otherwise. The effect estimate derives the correlations between features
from these sums.

Sums show one form of dependence only. So the distance between the joint counts of a pair and those
of independent features is released, too. Distances show any form. They determine which pairs get a
table of joint counts (see `pair_tables`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import groups_of_bins, shares, upper_half
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.pair_tables.joint_counts import (
    TABLE_SHARE,
    PairTables,
    by_pair,
    release_tables,
)
from dpexplain.models.boosting.pair_tables.strongest import spanning_pairs, strengths
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]

DISTANCE_GROUPS = 8
"""Number of groups of bins per feature for distances."""

_MOST_MEASURED = 32
"""Distances are measured between the features with the largest curves, at most this many."""

_DISTANCE_WEIGHT = 0.5
"""Distances are released times this number: their noise matters less than that of the sums."""

_MOST_EXPECTED = 2**33


@dataclass(frozen=True, eq=False)
class PairSums:
    """What was released about how features depend on each other.

    Attributes
    ----------
    upper : tuple of ndarray of shape (n_bins,), one per feature
        True for the bins in the upper half.
    sums : ndarray of shape (n_pairs,)
        Noisy sum for each pair, in the order of ``numpy.triu_indices``. A record adds 1 if its
        bins of both features are in the same half (lower or upper), and -1 otherwise.
    noise_std : float
        Standard deviation of the noise in these sums.
    strengths : ndarray of shape (n_pairs,) or None, default=None
        Estimated total variation distance of each pair from independence (see `strengths`).
    tables : PairTables or None, default=None
    """

    upper: tuple[NDArray[np.bool_], ...]
    sums: FloatArray
    noise_std: float
    strengths: FloatArray | None = None
    tables: PairTables | None = None


def sorting_curve(scores: FloatArray) -> FloatArray:
    """Return the curve by which the bins of an unordered feature are sorted.

    Parameters
    ----------
    scores : ndarray of shape (n_bins,) or (n_bins, n_scores)
        Released scores.

    Returns
    -------
    ndarray of shape (n_bins,)
        For several classes, the scores of the first class, relative to the mean of all classes.
    """
    return scores if scores.ndim == 1 else np.asarray(scores[:, 0] - scores.mean(axis=1))


def release_pairs(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    n_samples: float,
    budget: Budget,
    mechanism: Mechanism,
) -> PairSums | None:
    """Release sums and distances of pairs, and tables of those that depend most.

    Parameters
    ----------
    records : BinnedRecords
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves; see `sorting_curve`.
    n_samples : float
        Noisy number of records.
    budget : Budget
    mechanism : Mechanism
        Mechanism that adds the noise.

    Returns
    -------
    PairSums or None
        None if there is no budget for pairs.
    """
    if not budget.pair_share:
        return None
    upper = tuple(upper_half(c, t) for c, t in zip(counts, curves, strict=True))
    sums = pair_sums(records, upper)
    features = measured_features(counts, curves)
    measured = list(combinations(features, 2))
    groups = [groups_of_bins(c, DISTANCE_GROUPS) for c in counts]
    alone = _independent(counts, groups, measured, n_samples)
    away = alone.distances(records.joint_counts(groups, measured))
    phase = pair_phase(budget, len(counts))
    step = int(_DISTANCE_WEIGHT * LATTICE)
    with mechanism.phase(phase):
        noisy = mechanism.release(np.concatenate([sums * LATTICE, away * step]))
    strength = strengths(
        noisy[len(sums) :] / step, alone.by_chance, phase.sigma_int / step, n_samples
    )
    strongest = spanning_pairs(measured, strength, len(counts))
    tables = release_tables(records, counts, strongest, n_samples, budget, mechanism)
    of_all = np.full(len(sums), float(np.sqrt(np.mean(strength**2))))
    place = {pair: k for k, pair in enumerate(combinations(range(len(counts)), 2))}
    of_all[[place[pair] for pair in measured]] = strength
    return PairSums(upper, noisy[: len(sums)] / LATTICE, phase.sigma_int / LATTICE, of_all, tables)


def pair_sums(records: BinnedRecords, upper: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """Return the exact sum of each pair, in the order of `PairSums`. NOT PRIVATE."""
    halves, pairs = [u.astype(np.intp) for u in upper], list(combinations(range(len(upper)), 2))
    tables = by_pair(records.joint_counts(halves, pairs), halves, pairs)
    return np.array([2 * table.trace() - table.sum() for table in tables], dtype=np.int64)


def measured_features(counts: Sequence[BinCounts], curves: Sequence[FloatArray]) -> list[int]:
    """Return the features with the largest curves, at most 32."""
    sizes = []
    for own, curve in zip(counts, curves, strict=True):
        share = shares(own)
        sizes.append(share @ (curve - share @ curve) ** 2)
    largest = np.argsort(-np.array(sizes), kind="stable")[:_MOST_MEASURED]
    return sorted(int(k) for k in largest)


@dataclass(frozen=True, eq=False)
class _Independent:
    """Joint counts of independent features.

    Attributes
    ----------
    counts : ndarray of shape (n_cells,)
        Expected count of each pair of groups, as a whole number. The tables of all pairs of
        features are concatenated, row by row.
    start : ndarray of shape (n_pairs,)
        First cell of each pair.
    by_chance : ndarray of shape (n_pairs,)
        Distance to expect, because counts vary.
    """

    counts: NDArray[np.int64]
    start: NDArray[np.intp]
    by_chance: FloatArray

    def distances(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of the differences from other joint counts, per pair."""
        return np.add.reduceat(np.abs(counts - self.counts), self.start)


def _independent(
    counts: Sequence[BinCounts],
    groups: Sequence[NDArray[np.intp]],
    pairs: Sequence[tuple[int, int]],
    n_samples: float,
) -> _Independent:
    """Return the joint counts of independent features, given the noisy counts of each."""
    sizes = np.array([g.max() + 1 for g in groups])
    share, variance = (
        np.concatenate([np.bincount(g, part) for g, part in zip(groups, parts, strict=True)])
        for parts in ([shares(c) for c in counts], [c.variance for c in counts])
    )
    first, second = np.array(pairs).T
    n_cells = sizes[first] * sizes[second]
    start, own = np.cumsum(n_cells) - n_cells, np.repeat(np.arange(len(pairs)), n_cells)
    cell, columns = np.arange(n_cells.sum()) - start[own], sizes[second][own]
    first_group = np.cumsum(sizes) - sizes
    row = first_group[first][own] + cell // columns
    column = first_group[second][own] + cell % columns
    joint, n = share[row] * share[column], max(n_samples, 1.0)
    spread = joint * n + variance[row] * share[column] ** 2 + share[row] ** 2 * variance[column]
    return _Independent(
        np.minimum(np.round(joint * n), _MOST_EXPECTED).astype(np.int64),
        start,
        np.add.reduceat(np.sqrt(2.0 / np.pi * spread), start),
    )


def pair_phase(budget: Budget, n_features: int) -> Phase:
    """Return the phase of releases that contains the sums and the distances of pairs.

    Adding or removing a record changes each sum and each distance by 1, and replacing a record
    changes them by at most 2, whatever the target is. The sensitivity and the noise of the phase
    are in lattice steps.

    Parameters
    ----------
    budget : Budget
    n_features : int

    Returns
    -------
    Phase
    """
    n_pairs, n_measured = comb(n_features, 2), comb(min(n_features, _MOST_MEASURED), 2)
    change = sqrt(n_pairs + _DISTANCE_WEIGHT**2 * n_measured)
    steps = budget.sum_factor * change * LATTICE
    multiplier = budget.pair_multiplier / sqrt(1.0 - TABLE_SHARE)
    return Phase("pairs", steps, multiplier * steps, n_pairs + n_measured)


def pairs_at_once(budget: Budget, n_features: int) -> Phase:
    """Return one phase that costs as much as the phases of sums and tables together."""
    return replace(
        pair_phase(budget, n_features),
        sigma_int=budget.pair_multiplier * pair_phase(budget, n_features).sensitivity_int,
    )
