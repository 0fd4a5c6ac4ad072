"""Private pair sums: how often two features are in the same half.

Each feature is split into two halves, as equal as its bins allow. The released sum of a pair adds
1 for each record with both features in the same half, and -1 for each other record. This is all
that the effect estimate needs to know about the joint distribution of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Released sums of pairs of features.

    Attributes
    ----------
    upper : tuple of ndarray of shape (n_bins,), one per feature
        True for the bins of the upper half.
    sums : ndarray of shape (n_pairs,)
        Noisy sums over the records, each of which adds 1 if both features are in the same half and
        -1 otherwise; in the order of ``numpy.triu_indices``.
    noise_std : float
        Standard deviation of the noise in these sums.
    """

    upper: tuple[NDArray[np.bool_], ...]
    sums: FloatArray
    noise_std: float


def shares(counts: BinCounts) -> FloatArray:
    """Return the proportion of records in each bin, from noisy counts.

    Parameters
    ----------
    counts : BinCounts

    Returns
    -------
    ndarray of shape (n_bins,)
        Adds up to 1; 0 for special bins that may be empty.
    """
    people = np.where(counts.perhaps_nobody, 0.0, np.maximum(counts.counts, 0.0))
    if not people.sum() > 0.0:
        people = np.where(counts.perhaps_nobody, 0.0, 1.0)
    return np.asarray(people / people.sum(), dtype=np.float64)


def order_of_bins(counts: BinCounts, curve: FloatArray) -> NDArray[np.intp]:
    """Return the bins ordered by value, or by the released curve for categories."""
    if counts.ordered:
        return np.arange(len(counts.counts))
    return np.argsort(curve, kind="stable").astype(np.intp)


def upper_half(counts: BinCounts, curve: FloatArray) -> NDArray[np.bool_]:
    """Split a feature into two halves, as equal as its bins allow.

    Parameters
    ----------
    counts : BinCounts
    curve : ndarray of shape (n_bins,)
        Released curve, by which categories without an order are sorted.

    Returns
    -------
    ndarray of shape (n_bins,), dtype bool
        True for the bins of the upper half.
    """
    order = order_of_bins(counts, curve)
    below = np.cumsum(shares(counts)[order])
    cut = int(np.argmin(np.abs(below - 0.5)))
    upper = np.zeros(len(order), dtype=bool)
    upper[order[cut + 1 :]] = True
    return upper


def release_pairs(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    budget: Budget,
    mechanism: Mechanism,
) -> PairSums | None:
    """Release the sums of all pairs of features.

    Parameters
    ----------
    records : BinnedRecords
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves.
    budget : Budget
    mechanism : Mechanism
        The release passes through it.

    Returns
    -------
    PairSums or None
        None if there is no budget for pair sums.
    """
    if not budget.pair_share:
        return None
    upper = tuple(upper_half(c, t) for c, t in zip(counts, curves, strict=True))
    phase = pair_phase(budget, len(counts))
    with mechanism.phase(phase):
        sums = mechanism.release(records.pair_sums(upper) * LATTICE)
    return PairSums(upper, sums / LATTICE, phase.sigma_int / LATTICE)


def pair_phase(budget: Budget, n_features: int) -> Phase:
    """Return the phase of the pair sums, in lattice steps.

    Adding or removing a record changes each sum by 1, and exchanging a record changes each sum by
    at most 2, as for leaf sums in units of the clip.

    Parameters
    ----------
    budget : Budget
    n_features : int

    Returns
    -------
    Phase
    """
    n_pairs = n_features * (n_features - 1) // 2
    steps = budget.leaf_factor * float(np.sqrt(n_pairs)) * LATTICE
    return Phase("pairs", steps, budget.pair_multiplier * steps, n_pairs)
