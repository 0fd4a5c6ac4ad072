"""Private sums over the records, one for each pair of features.

The bins of each feature are split into a lower and an upper half with nearly equal numbers of
records. A record adds 1 to the sum of a pair if its bins of both features are in the same half
(lower or upper), and -1 otherwise. The effect estimate derives the correlations between features
from these sums.
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
    """Released sums over the records, one for each pair of features.

    Attributes
    ----------
    upper : tuple of ndarray of shape (n_bins,), one per feature
        True for the bins in the upper half.
    sums : ndarray of shape (n_pairs,)
        Noisy sum for each pair, in the order of ``numpy.triu_indices``. A record adds 1 if its
        bins of both features are in the same half (lower or upper), and -1 otherwise.
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


def release_pairs(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    budget: Budget,
    mechanism: Mechanism,
) -> PairSums | None:
    """Release the sums for all pairs of features.

    Parameters
    ----------
    records : BinnedRecords
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves; see `sorting_curve`.
    budget : Budget
    mechanism : Mechanism
        Mechanism that adds the noise.

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
    """Return the phase of releases that contains the pair sums.

    Adding or removing a record changes each sum by 1, and replacing a record changes each sum by at
    most 2, whatever the target is. The sensitivity and the noise of the phase are in lattice steps.

    Parameters
    ----------
    budget : Budget
    n_features : int

    Returns
    -------
    Phase
    """
    n_pairs = n_features * (n_features - 1) // 2
    steps = budget.sum_factor * float(np.sqrt(n_pairs)) * LATTICE
    return Phase("pairs", steps, budget.pair_multiplier * steps, n_pairs)
