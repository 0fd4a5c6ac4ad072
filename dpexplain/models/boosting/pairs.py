"""Private sums, distances and tables of pairs of features.

The bins of each feature are split into a lower and an upper half with nearly equal numbers of
records. A record adds 1 to the sum of a pair if its bins of both features are in the same half
(lower or upper), and -1 otherwise. The effect estimate derives the correlations between features
from these sums.

Sums show one form of dependence only. So the distance between the joint counts of a pair and those
of independent features is released, too. Distances show any form. They determine which pairs get a
table of joint counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]


DISTANCE_GROUPS = 8
"""Number of groups of bins per feature for distances."""

_TABLE_GROUPS = (4, 16)
"""Smallest and largest number of groups of bins per feature for tables."""

_PER_CELL = 4.0
"""A table has few enough groups that an average cell has this many times the noise of its count."""

_MOST_MEASURED = 32
"""Distances are measured between the features with the largest curves, at most this many."""

_DISTANCE_WEIGHT = 0.5
"""Distances are released times this number: their noise matters less than that of the sums."""

_TABLE_SHARE = 0.5
"""Share of the budget that is spent on the tables."""

_LEAST_STRENGTH = 0.02
"""Pairs with a smaller strength get no table, unless all have."""

_STRENGTHS = np.concatenate([[0.0], np.geomspace(0.005, 1.0, 41)])
_AT_ZERO = 0.5
_PSEUDO = 3.0
_ROUNDS = 300
_MOST_EXPECTED = 2**33
_FARTHEST = 10.0


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


def shares(counts: BinCounts) -> FloatArray:
    """Return the proportion of records in each bin, from noisy counts.

    Parameters
    ----------
    counts : BinCounts

    Returns
    -------
    ndarray of shape (n_bins,)
        Proportions that add up to 1; 0 for special bins that might be empty.
    """
    n_records = np.where(counts.perhaps_nobody, 0.0, np.maximum(counts.counts, 0.0))
    if not n_records.sum() > 0.0:
        n_records = np.where(counts.perhaps_nobody, 0.0, 1.0)
    return np.asarray(n_records / n_records.sum(), dtype=np.float64)


def order_of_bins(counts: BinCounts, curve: FloatArray) -> NDArray[np.intp]:
    """Return the order of the bins: by value or, if unordered, by the released curve."""
    if counts.ordered:
        return np.arange(len(counts.counts))
    return np.argsort(curve, kind="stable").astype(np.intp)


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


def upper_half(counts: BinCounts, curve: FloatArray) -> NDArray[np.bool_]:
    """Split the bins of a feature into two halves with nearly equal counts.

    Parameters
    ----------
    counts : BinCounts
    curve : ndarray of shape (n_bins,)
        Released curve; if the feature is unordered, its bins are sorted by this curve.

    Returns
    -------
    ndarray of shape (n_bins,), dtype bool
        True for the bins in the upper half.
    """
    order = order_of_bins(counts, curve)
    below = np.cumsum(shares(counts)[order])
    cut = int(np.argmin(np.abs(below - 0.5)))
    upper = np.zeros(len(order), dtype=bool)
    upper[order[cut + 1 :]] = True
    return upper


def groups_of_bins(counts: BinCounts, most: int) -> NDArray[np.intp]:
    """Divide the bins of a feature into groups, given the noisy counts.

    Neighboring bins of an ordered feature are joined into groups with similar counts, and each
    special bin that has records is a group. The largest categories of an unordered feature are
    groups, and all others are one more group.

    Parameters
    ----------
    counts : BinCounts
    most : int
        Maximum number of groups; ordered features have two more if both special bins have records.

    Returns
    -------
    ndarray of shape (n_bins,)
        Index of each bin's group.
    """
    share = shares(counts)
    if not counts.ordered:
        if len(share) <= most:
            return np.arange(len(share))
        groups = np.full(len(share), most - 1)
        groups[np.sort(np.argsort(-share, kind="stable")[: most - 1])] = np.arange(most - 1)
        return groups
    n_values = len(share) - counts.n_special
    below = np.cumsum(share[:n_values]) - share[:n_values] / 2.0
    total = max(float(share[:n_values].sum()), 1e-12)
    place = np.clip(np.floor(most * below / total), 0, most - 1)
    values = np.unique(place, return_inverse=True)[1] if n_values else np.zeros(0, dtype=np.intp)
    first = int(values.max(initial=-1)) + 1
    special = np.maximum(first + np.cumsum(share[n_values:] > 0.0) - 1, 0)
    return np.concatenate([values, special]).astype(np.intp)


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
    measured = measured_pairs(counts, curves)
    groups = [groups_of_bins(c, DISTANCE_GROUPS) for c in counts]
    of_groups = [_of_groups(c, g) for c, g in zip(counts, groups, strict=True)]
    expected = [_expected_counts(of_groups, pair, n_samples) for pair in measured]
    exact = _joint_counts(records, groups, measured)
    away = np.array([np.abs(e - x).sum() for e, x in zip(exact, expected, strict=True)])
    phase = pair_phase(budget, len(counts))
    step = int(_DISTANCE_WEIGHT * LATTICE)
    with mechanism.phase(phase):
        noisy = mechanism.release(
            np.concatenate([records.pair_sums(upper) * LATTICE, away.astype(np.int64) * step])
        )
    n_sums = len(noisy) - len(measured)
    strength = strengths(
        noisy[n_sums:] / step,
        [_chance_distance(of_groups, pair, n_samples) for pair in measured],
        phase.sigma_int / step,
        n_samples,
    )
    tables = _release_tables(records, counts, measured, strength, n_samples, budget, mechanism)
    of_all = np.full(n_sums, float(np.sqrt(np.mean(strength**2))))
    place = {pair: k for k, pair in enumerate(combinations(range(len(counts)), 2))}
    of_all[[place[pair] for pair in measured]] = strength
    return PairSums(upper, noisy[:n_sums] / LATTICE, phase.sigma_int / LATTICE, of_all, tables)


def _release_tables(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    measured: Sequence[tuple[int, int]],
    strength: FloatArray,
    n_samples: float,
    budget: Budget,
    mechanism: Mechanism,
) -> PairTables:
    """Release the joint counts of the pairs of a maximum spanning forest."""
    pairs = spanning_pairs(measured, strength, len(counts))
    noise = table_phase(budget, len(pairs), 0).sigma_int / LATTICE
    most = np.clip(np.sqrt(max(n_samples, 1.0) / (_PER_CELL * noise)), *_TABLE_GROUPS)
    groups = tuple(groups_of_bins(c, int(most)) for c in counts)
    exact = _joint_counts(records, groups, pairs)
    together = np.concatenate([table.ravel() for table in exact])
    with mechanism.phase(table_phase(budget, len(pairs), len(together))):
        noisy = mechanism.release(together * LATTICE) / LATTICE
    parts = np.split(noisy, np.cumsum([table.size for table in exact])[:-1])
    tables = [part.reshape(t.shape) for part, t in zip(parts, exact, strict=True)]
    return PairTables(groups, tuple(pairs), tuple(tables), noise)


def measured_pairs(
    counts: Sequence[BinCounts], curves: Sequence[FloatArray]
) -> list[tuple[int, int]]:
    """Return the pairs of the features with the largest curves, at most 496."""
    sizes = []
    for own, curve in zip(counts, curves, strict=True):
        share = shares(own)
        sizes.append(share @ (curve - share @ curve) ** 2)
    largest = np.argsort(-np.array(sizes), kind="stable")[:_MOST_MEASURED]
    return list(combinations(sorted(int(k) for k in largest), 2))


def strengths(
    distances: FloatArray, by_chance: Sequence[float], noise_std: float, n_samples: float
) -> FloatArray:
    """Estimate total variation distances from independence.

    In most tables, most features are nearly independent. So the prior has a spike at zero, and its
    weights fit all pairs.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs,)
        Noisy sum of the differences between joint counts and those of independent features.
    by_chance : sequence of float
        Sum to expect if the features are independent, because counts vary.
    noise_std : float
        Standard deviation of the noise in the distances.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Root mean square of the posterior.
    """
    n = max(n_samples, 1.0)
    chance = np.asarray(by_chance)[:, None] / n
    expected = np.sqrt((2.0 * _STRENGTHS) ** 2 + chance**2)
    std = np.hypot(noise_std / n, 0.1 * chance)
    seen = np.clip(distances / n, -_FARTHEST, _FARTHEST)
    log = -0.5 * ((seen[:, None] - expected) / std) ** 2
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    start = np.full(len(_STRENGTHS), (1.0 - _AT_ZERO) / (len(_STRENGTHS) - 1))
    start[0] = _AT_ZERO
    owned = likelihood * learned_weights(likelihood, start, _PSEUDO)
    owned /= owned.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(owned @ _STRENGTHS**2))


def learned_weights(likelihood: FloatArray, start: FloatArray, pseudo: float) -> FloatArray:
    """Return weights of a mixture that fit all observations [1]_.

    Parameters
    ----------
    likelihood : ndarray of shape (n_observations, n_parts)
    start : ndarray of shape (n_parts,)
        Weights without observations.
    pseudo : float
        Number of observations that `start` counts for.

    Returns
    -------
    ndarray of shape (n_parts,)

    References
    ----------
    .. [1] Stephens, "False Discovery Rates: A New Deal", Biostatistics 18 (2017), section 2.
    """
    weights = start
    for _ in range(_ROUNDS):
        owned = weights * likelihood
        owned /= owned.sum(axis=1, keepdims=True)
        weights = owned.sum(axis=0) + pseudo * start
        weights = weights / weights.sum()
    return weights


def spanning_pairs(
    pairs: Sequence[tuple[int, int]], strength: FloatArray, n_features: int
) -> list[tuple[int, int]]:
    """Return a maximum spanning forest [1]_, in the order of `PairTables`.

    Parameters
    ----------
    pairs : sequence of (int, int)
    strength : ndarray of shape (n_pairs,)
    n_features : int

    Returns
    -------
    list of (int, int)
        At least one pair.

    References
    ----------
    .. [1] Chow and Liu, "Approximating Discrete Probability Distributions with Dependence Trees",
       IEEE Transactions on Information Theory 14 (1968).
    """
    tree, near = list(range(n_features)), [list[int]() for _ in range(n_features)]
    for place in np.argsort(-strength, kind="stable"):
        first, second = pairs[place]
        if tree[first] == tree[second]:
            continue
        if strength[place] < _LEAST_STRENGTH and any(near):
            break
        tree = [tree[first] if k == tree[second] else k for k in tree]
        near[first].append(second)
        near[second].append(first)
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    for root in sorted(range(n_features), key=lambda k: -len(near[k])):
        queue = [root] if root not in seen else []
        seen.add(root)
        for feature in queue:
            for other in near[feature]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    found.append((feature, other))
    return found


def _joint_counts(
    records: BinnedRecords,
    groups: Sequence[NDArray[np.intp]],
    pairs: Sequence[tuple[int, int]],
) -> list[NDArray[np.int64]]:
    """Return the exact number of records in each pair of groups. NOT PRIVATE."""
    small = [g.astype(np.uint8) for g in groups]
    sizes = [int(g.max()) + 1 for g in groups]
    shapes = [(sizes[i], sizes[j]) for i, j in pairs]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    parts = np.split(records.joint_counts(small, pairs), ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _of_groups(counts: BinCounts, groups: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return each group's proportion of records, and the variance of its noise."""
    parts = shares(counts), counts.variance
    share, variance = (np.bincount(groups, part).astype(np.float64) for part in parts)
    return share, variance


def _expected_counts(
    of_groups: Sequence[tuple[FloatArray, FloatArray]], pair: tuple[int, int], n_samples: float
) -> NDArray[np.int64]:
    """Return the joint counts of independent features, as whole numbers."""
    first, second = (of_groups[k][0] for k in pair)
    expected = np.outer(first, second) * max(n_samples, 1.0)
    return np.minimum(np.round(expected), _MOST_EXPECTED).astype(np.int64)


def _chance_distance(
    of_groups: Sequence[tuple[FloatArray, FloatArray]], pair: tuple[int, int], n_samples: float
) -> float:
    """Return the distance to expect between independent features, because counts vary."""
    (first, of_first), (second, of_second) = (of_groups[k] for k in pair)
    variance = (
        np.outer(first, second) * max(n_samples, 1.0)
        + np.outer(of_first, second**2)
        + np.outer(first**2, of_second)
    )
    return float(np.sqrt(2.0 / np.pi * variance).sum())


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
    multiplier = budget.pair_multiplier / sqrt(1.0 - _TABLE_SHARE)
    return Phase("pairs", steps, multiplier * steps, n_pairs + n_measured)


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
    multiplier = budget.pair_multiplier / sqrt(_TABLE_SHARE)
    return Phase("pairs", steps, multiplier * steps, n_values)


def pairs_at_once(budget: Budget, n_features: int) -> Phase:
    """Return one phase that costs as much as the phases of sums and tables together."""
    return replace(
        pair_phase(budget, n_features),
        sigma_int=budget.pair_multiplier * pair_phase(budget, n_features).sensitivity_int,
    )
