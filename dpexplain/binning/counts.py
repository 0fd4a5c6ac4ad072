"""Noisy counts of the records in each bin of a feature."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class BinCounts:
    """Noisy bin counts for one feature, with the variances of their noise.

    Attributes
    ----------
    counts : ndarray of shape (n_bins,)
        Noisy number of records in each bin, special bins last.
    variance : ndarray of shape (n_bins,)
        Variance of the noise on each count.
    n_special : int
        Number of special bins at the end, for missing values and values that the schema does not
        allow.
    ordered : bool
        Whether the value bins are ordered.
    unit_of_bin : ndarray of shape (n_bins,) or None
        Index of the group to which each bin belongs. Trees never split a group, so all of its bins
        fall into the same leaf. The array is None if each bin is a separate group.
    """

    counts: NDArray[np.float64]
    variance: NDArray[np.float64]
    n_special: int
    ordered: bool
    unit_of_bin: NDArray[np.intp] | None = None

    def thinned(self, share: float) -> BinCounts:
        """Return the expected counts in a random subset of the records.

        The subset contains a proportion `share` of the records.
        """
        return replace(self, counts=share * self.counts, variance=share**2 * self.variance)

    @property
    def perhaps_nobody(self) -> NDArray[np.bool_]:
        """Mask of the special bins that might be empty.

        A special bin counts as possibly empty if its noisy count is below three standard deviations
        of the noise.
        """
        special = np.arange(len(self.counts)) >= len(self.counts) - self.n_special
        return special & (self.counts < 3.0 * np.sqrt(self.variance))
