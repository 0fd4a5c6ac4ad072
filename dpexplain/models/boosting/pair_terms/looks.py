"""Looks at candidate pairs: releases of contrasts of their sums and counts.

A first look at all candidates costs little. A second one repeats the contrasts of the more
promising candidates with new noise. Both show the same records, and the noise of each is known. So
the mean of both, weighted by their precision, contains all that they show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.pair_terms.contrasts import UNIT
from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

COUNT_WEIGHT = 0.5
"""Weight of a count relative to a sum in units of the clip: counts take 20% of a look."""


def look_phase(budget: Budget, squared_mu: float, n_pairs: int, n_values: int) -> Phase:
    """Return the phase that releases contrasts of sums and counts for some candidates.

    A record is in one cell of each grid, where it changes the contrasts of the sums by at most one
    clip, and the contrasts of the weighted counts by at most one half, in the L2 norm. Replacing a
    record at most doubles these changes.

    Parameters
    ----------
    budget : Budget
    squared_mu : float
        Gaussian-DP parameter of the look, squared.
    n_pairs : int
        Number of candidate pairs.
    n_values : int
        Twice the number of contrasts of all grids.

    Returns
    -------
    Phase
    """
    steps = budget.leaf_factor * of_one_record(n_pairs) * LATTICE * UNIT
    return Phase("boosting", steps, steps / float(np.sqrt(squared_mu)), n_values)


def of_one_record(n_pairs: int) -> float:
    """Return how far one record can move the contrasts of all pairs, in clips."""
    return float(np.sqrt((1.0 + COUNT_WEIGHT**2) * n_pairs))


def exact_contrasts(
    records: BinnedRecords, grids: Sequence[Grid], weights: Sequence[IntArray], clip: float
) -> list[IntArray]:
    """Return the contrasts of each grid. NOT PRIVATE.

    Parameters
    ----------
    records : BinnedRecords
        Records, with scores computed from the curves.
    grids : sequence of Grid
    weights : sequence of ndarray of shape (n_contrasts, n_cells)
        Weight of each cell in each contrast, in units of 1 / `UNIT`.
    clip : float
        Bound on a residual, in internal units of the boosting loop.

    Returns
    -------
    list of ndarray of shape (2 * n_contrasts,), dtype int64
        For each grid, contrasts of its sums, then those of its counts.
    """
    found = []
    for grid, each in zip(grids, weights, strict=True):
        records.cross(grid.crossing)
        sums = records.leaf_sums(grid.column, grid.leaf_of_cell, grid.n_cells, clip)
        counts = records.cell_counts(grid.column, grid.n_cells) * int(COUNT_WEIGHT * LATTICE)
        found.append(np.concatenate([each @ sums, each @ counts]))
    return found


@dataclass(frozen=True, eq=False)
class Look:
    """Noisy contrasts of candidate pairs.

    Attributes
    ----------
    of_pairs : tuple of ndarray of shape (2 * n_contrasts,)
        For each pair, contrasts of its sums in units of the clip, then those of its weighted
        counts.
    noise_std : float
        Standard deviation of the noise in each of them.
    """

    of_pairs: tuple[FloatArray, ...]
    noise_std: float

    @classmethod
    def at(
        cls, exact: Sequence[IntArray], budget: Budget, squared_mu: float, mechanism: Mechanism
    ) -> Look:
        """Release the contrasts of some pairs.

        Parameters
        ----------
        exact : sequence of ndarray
            See `exact_contrasts`.
        budget : Budget
        squared_mu : float
            Gaussian-DP parameter of the look, squared.
        mechanism : Mechanism

        Returns
        -------
        Look
        """
        sizes = [len(each) for each in exact]
        phase = look_phase(budget, squared_mu, len(exact), sum(sizes))
        with mechanism.phase(phase):
            noisy = mechanism.release(np.concatenate(exact)) / (LATTICE * UNIT)
        parts = np.split(noisy, np.cumsum(sizes)[:-1])
        return cls(tuple(parts), phase.sigma_int / (LATTICE * UNIT))

    def of(self, kept: Sequence[int]) -> Look:
        """Return the contrasts of some of the pairs."""
        return Look(tuple(self.of_pairs[k] for k in kept), self.noise_std)

    def with_another(self, other: Look) -> Look:
        """Return the mean of two looks at the same pairs, weighted by precision."""
        variance = self.noise_std**2, other.noise_std**2
        share = variance[1] / sum(variance)
        parts = zip(self.of_pairs, other.of_pairs, strict=True)
        mean = tuple(share * own + (1.0 - share) * its for own, its in parts)
        return Look(mean, float(np.sqrt(share * variance[0])))
