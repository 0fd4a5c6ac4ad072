"""Private bins: noisy histograms over public cells, with sparse cells merged.

This is Algorithm 3 of Nori et al. (ICML 2021, arXiv:2106.09680), with three changes: the exact
sample size is replaced by a private estimate (using the exact one would be an uncharged release),
the number of cells depends on the noise, and the count of a merged bin must rise above its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins, Index, merge_bins
from dpexplain.mechanisms import Mechanism, Phase

COUNT_LATTICE = 1 << 20
"""Counts are multiplied by this before noise is added.

Without this factor, if the standard deviation of the noise is only a few counts, the delta of the
discrete Gaussian can exceed the delta of the continuous Gaussian by up to 0.65%.
"""


@dataclass(frozen=True, eq=False)
class NoisyHistograms:
    """Noisy histograms of all features, with post-processing at no privacy cost.

    Parameters
    ----------
    counts : tuple of ndarray of shape (n_cells,), one per feature
        Noisy number of records in each cell, including special cells; may be negative.
    noise_std : float
        Standard deviation of the noise on each count, in records.
    n_records : NoisyCount or None, default=None
        Noisy number of records, if it was released separately; otherwise None.
    spread : tuple of ndarray of shape (n_cells,), one per feature
        Variance of each count, in units of ``noise_std**2``; all 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import NoisyHistograms
    >>> ages = NoisyHistograms((np.array([12.3, 40.1, -0.7]),), noise_std=1.5)
    >>> ages.counts[0]
    array([12.3, 40.1, -0.7])
    """

    counts: tuple[NDArray[np.float64], ...]
    noise_std: float
    n_records: NoisyCount | None = None
    spread: tuple[NDArray[np.float64], ...] = ()

    def __post_init__(self) -> None:
        if not self.spread:
            object.__setattr__(self, "spread", tuple(np.ones(len(c)) for c in self.counts))

    @property
    def n_samples(self) -> float:
        """Estimate of the number of records, at least 1.

        The total of each feature's histogram is an estimate whose variance is at most the sum of
        the variances of its cells. If the number of records was also released separately, the
        released number is a further estimate. The result is the average of all estimates, weighted
        by their precisions.
        """
        totals = [float(c.sum()) for c in self.counts]
        if self.n_records is not None:
            totals.append(self.n_records.value)
        return max(1.0, float(np.average(totals, weights=self._precisions)))

    @property
    def n_samples_std(self) -> float:
        """Standard deviation of the noise in `n_samples`."""
        return float(1.0 / np.sqrt(sum(self._precisions)))

    @property
    def _precisions(self) -> list[float]:
        """Precision (inverse variance) of each estimate of the number of records."""
        weights = [1.0 / (v.sum() * self.noise_std**2) for v in self.spread]
        if self.n_records is not None:
            weights.append(1.0 / self.n_records.noise_std**2)
        return weights

    def agreeing(self) -> NoisyHistograms:
        """Return the histograms, adjusted to have the same total.

        Every record is in one cell of each feature, so the totals differ only because of the noise.
        The difference between each total and `n_samples` is spread over the cells in proportion to
        their variances. This gives the least-squares estimates of counts with independent noise.

        Returns
        -------
        NoisyHistograms
        """
        n_samples = self.n_samples
        counts = tuple(
            c + v * ((n_samples - c.sum()) / v.sum())
            for c, v in zip(self.counts, self.spread, strict=True)
        )
        return replace(self, counts=counts)


@dataclass(frozen=True)
class NoisyCount:
    """Released noisy number of records.

    Parameters
    ----------
    value : float
        Noisy number of records; may be negative.
    noise_std : float
        Standard deviation of its noise, in records.

    Examples
    --------
    >>> from dpexplain.binning import NoisyCount
    >>> count = NoisyCount(value=1003.2, noise_std=5.0)
    >>> f"{count.value:.0f} ± {2 * count.noise_std:.0f} records"
    '1003 ± 10 records'
    """

    value: float
    noise_std: float


def release_count(
    n_samples: int,
    mechanism: Mechanism,
    *,
    noise_multiplier: float,
    sensitivity: float = 1.0,
) -> NoisyCount:
    """Release a noisy number of records.

    Parameters
    ----------
    n_samples : int
        Exact number of records; it is not stored.
    mechanism : Mechanism
        Mechanism that makes the release.
    noise_multiplier : float
        Noise standard deviation divided by the sensitivity.
    sensitivity : float, default=1.0
        Upper bound on the number of records per person.

    Returns
    -------
    NoisyCount

    Examples
    --------
    >>> from dpexplain.binning import release_count
    >>> from dpexplain.mechanisms import Mechanism, NoiseSource
    >>> mechanism = Mechanism(NoiseSource())
    >>> count = release_count(1_000, mechanism, noise_multiplier=20)
    >>> count.noise_std
    20.0
    """
    with mechanism.phase(count_phase(noise_multiplier, sensitivity)):
        steps = mechanism.release(np.array([n_samples * COUNT_LATTICE], dtype=np.int64))
    return NoisyCount(float(steps[0] / COUNT_LATTICE), noise_multiplier * sensitivity)


def count_phase(noise_multiplier: float, sensitivity: float) -> Phase:
    """Return the privacy phase in which the number of records is released.

    The sensitivity and the noise of the phase are in steps of ``1 / COUNT_LATTICE`` records.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation divided by the sensitivity.
    sensitivity : float
        Upper bound on the number of records per person.

    Returns
    -------
    Phase

    Examples
    --------
    >>> from dpexplain.binning import count_phase
    >>> phase = count_phase(noise_multiplier=20, sensitivity=1)
    >>> phase.sigma_int / phase.sensitivity_int
    20.0
    """
    steps = sensitivity * COUNT_LATTICE
    return Phase("count", steps, noise_multiplier * steps, 1)


def coarse_cells(cells: FeatureBins, n_cells: int) -> tuple[FeatureBins, Index]:
    """Merge neighboring cells of a numeric feature into at most `n_cells` cells.

    Parameters
    ----------
    cells : FeatureBins
        Public grid. Categories are never merged.
    n_cells : int
        Maximum number of value cells after merging.

    Returns
    -------
    coarse : FeatureBins
    coarse_of_cell : ndarray of shape (cells.n_bins,)
        Index of the coarse cell that contains each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric
    >>> from dpexplain.binning import FeatureBins, coarse_cells
    >>> cells = FeatureBins("age", Numeric(0, 60), edges=np.array([0, 10, 20, 30, 40, 50, 60]))
    >>> coarse, coarse_of_cell = coarse_cells(cells, n_cells=3)
    >>> coarse.edges
    array([ 0, 20, 40, 60])
    >>> coarse_of_cell    # the last cell holds missing values
    array([0, 0, 1, 1, 2, 2, 3], dtype=uint8)
    """
    together = -(-cells.n_value_bins // n_cells)
    if cells.edges is None or together == 1:
        return cells, np.arange(cells.n_bins, dtype=np.uint16)
    return merge_bins(cells, range(0, cells.n_value_bins, together))


def release_histograms(
    cell_counts: Sequence[NDArray[np.int64]],
    mechanism: Mechanism,
    *,
    noise_multiplier: float,
    sensitivity: float = 1.0,
) -> NoisyHistograms:
    """Release the noisy number of records in each cell of every feature.

    A record is in one cell of each feature, so the histogram of one feature has L2
    sensitivity 1 under add/remove adjacency and sqrt(2) under replace-one.

    Parameters
    ----------
    cell_counts : sequence of ndarray of shape (n_cells,), dtype int64
        Exact number of records in each cell of each public grid.
    mechanism : Mechanism
        Mechanism that makes the releases.
    noise_multiplier : float
        Noise standard deviation divided by the sensitivity of one histogram.
    sensitivity : float, default=1.0
        L2 sensitivity of one histogram, in records: 1 (add/remove) or sqrt(2) (replace-one), times
        the maximum number of records per person.

    Returns
    -------
    NoisyHistograms

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import release_histograms
    >>> from dpexplain.mechanisms import Mechanism, NoiseSource
    >>> mechanism = Mechanism(NoiseSource())
    >>> counts = [np.array([500, 480, 20])]    # of one feature
    >>> histograms = release_histograms(counts, mechanism, noise_multiplier=20)
    >>> histograms.counts[0].shape, histograms.noise_std
    ((3,), 20.0)
    """
    phase = histogram_phase(noise_multiplier, sensitivity, sum(map(len, cell_counts)))
    with mechanism.phase(phase):
        counts = [mechanism.release(c * COUNT_LATTICE) / COUNT_LATTICE for c in cell_counts]
    return NoisyHistograms(tuple(counts), noise_multiplier * sensitivity)


def histogram_phase(noise_multiplier: float, sensitivity: float, n_values: int) -> Phase:
    """Return the privacy phase in which the histograms are released.

    The sensitivity and the noise of the phase are in steps of ``1 / COUNT_LATTICE`` records.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation divided by the sensitivity of one histogram.
    sensitivity : float
        L2 sensitivity of one histogram, in records.
    n_values : int
        Total number of cells across all features.

    Returns
    -------
    Phase

    Examples
    --------
    >>> from dpexplain.binning import histogram_phase
    >>> phase = histogram_phase(noise_multiplier=20, sensitivity=1, n_values=64)
    >>> phase.n_values, phase.sigma_int / phase.sensitivity_int
    (64, 20.0)
    """
    steps = sensitivity * COUNT_LATTICE
    return Phase("histograms", steps, noise_multiplier * steps, n_values)


def merge_sparse_cells(
    cells: FeatureBins,
    counts: NDArray[np.float64],
    *,
    min_count: float,
    noise_std: float,
    noise_ratio: float,
    spread: NDArray[np.float64] | None = None,
) -> tuple[FeatureBins, Index]:
    """Merge neighboring cells until each bin's count rises above its noise.

    Parameters
    ----------
    cells : FeatureBins
        Public grid. Categories are never merged.
    counts : ndarray of shape (cells.n_bins,)
        Noisy count of each cell.
    min_count : float
        Minimum noisy count of a bin.
    noise_std : float
        Standard deviation of the noise on each count, in records.
    noise_ratio : float
        The count of a bin made up of k cells must be at least
        ``noise_ratio * noise_std * sqrt(k)``. A ratio of 0 gives the rule in Algorithm 3 of Nori et
        al. (2021).
    spread : ndarray of shape (cells.n_bins,) or None, default=None
        Variance of each count, in units of ``noise_std**2``. If given, the sum of these variances
        over the cells of the bin replaces k.

    Returns
    -------
    bins : FeatureBins
    bin_of_cell : ndarray of shape (cells.n_bins,)
        Index of the bin that contains each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric
    >>> from dpexplain.binning import FeatureBins, merge_sparse_cells
    >>> cells = FeatureBins("age", Numeric(0, 60), edges=np.array([0, 20, 40, 60]))
    >>> counts = np.array([50.0, 2.0, 48.0, 0.0])
    >>> bins, bin_of_cell = merge_sparse_cells(
    ...     cells, counts, min_count=5, noise_std=2, noise_ratio=2
    ... )
    >>> bins.edges
    array([ 0, 20, 60])
    """
    if cells.edges is None:
        return cells, np.arange(cells.n_bins, dtype=np.uint16)
    each = np.ones(cells.n_bins) if spread is None else spread
    starts, held, width = [0], 0.0, 0.0
    for cell in range(cells.n_value_bins):
        held, width = held + counts[cell], width + each[cell]
        if held >= max(min_count, noise_ratio * noise_std * np.sqrt(width)):
            starts.append(cell + 1)
            held, width = 0.0, 0.0
    # Cells left over at the end join the last complete bin.
    complete = starts[:-1] if len(starts) > 1 else starts
    return merge_bins(cells, complete)


def counts_per_bin(
    counts: NDArray[np.float64], bin_of_cell: Index, n_bins: int
) -> NDArray[np.float64]:
    """Return the noisy count of each merged bin.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy count of each cell.
    bin_of_cell : ndarray of shape (n_cells,)
        Index of the bin that contains each cell.
    n_bins : int
        Number of bins.

    Returns
    -------
    ndarray of shape (n_bins,)

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain.binning import counts_per_bin
    >>> counts_per_bin(np.array([3.0, 4.5, 1.0]), np.array([0, 0, 1]), n_bins=2)
    array([7.5, 1. ])
    """
    return np.bincount(bin_of_cell, weights=counts, minlength=n_bins).astype(np.float64)
