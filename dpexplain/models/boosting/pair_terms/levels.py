"""Sums of the cells of a grid, released at two levels of detail.

The noise in the sum of a region is that of all its cells. An interaction that changes slowly is
therefore lost in the noise of a fine grid, and a coarse grid cannot show one that changes fast. So
some visits release the sums of single cells, and others those of blocks of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_terms.grids import Grid
from dpexplain.models.boosting.pair_terms.priors import join

FloatArray = NDArray[np.float64]

_BLOCKS = 6
"""Maximum number of ordered groups of one side after neighboring groups are joined into blocks."""


@dataclass(eq=False)
class Levels:
    """Means of the sums that were released at both levels.

    Attributes
    ----------
    block_of_cell : ndarray of shape (n_cells,), dtype intp
        Block of each cell.
    cells : ndarray of shape (n_cells,)
        Sum over the visits of the sums of cells.
    blocks : ndarray of shape (n_blocks,)
        Sum over the visits of the sums of blocks.
    n_visits : list of int
        Number of visits that released the sums of cells, and of blocks.
    expected : list of ndarray of shape (n_cells,)
        Sum over the visits to cells, and to blocks, of the part of each cell's sum that its current
        score had removed.
    """

    block_of_cell: NDArray[np.intp]
    cells: FloatArray
    blocks: FloatArray
    n_visits: list[int] = field(default_factory=lambda: [0, 0])
    expected: list[FloatArray] = field(default_factory=lambda: [np.zeros(1), np.zeros(1)])

    @classmethod
    def of(cls, grid: Grid) -> Levels:
        """Return the levels of a grid before its first visit."""
        joined = np.kron(*(join(side, _BLOCKS) for side in grid.sides))
        return cls(joined.argmax(axis=0), np.zeros(grid.n_cells), np.zeros(len(joined)))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    @property
    def leaf_of_cell(self) -> NDArray[Any]:
        """Block of each cell, as uint8 or uint16: every block is a leaf."""
        return self.block_of_cell.astype(np.uint8 if self.n_blocks <= 256 else np.uint16)

    def add(self, sums: FloatArray, expected: FloatArray, *, of_blocks: bool) -> None:
        """Add the sums of one visit.

        Parameters
        ----------
        sums : ndarray of shape (n_cells,) or (n_blocks,)
            Noisy sums of residuals.
        expected : ndarray of shape (n_cells,)
            Part of each cell's sum that its current score has removed.
        of_blocks : bool
            Whether the sums are those of blocks.
        """
        self.n_visits[of_blocks] += 1
        self.expected[of_blocks] = self.expected[of_blocks] + expected
        if of_blocks:
            self.blocks = self.blocks + sums + self._joined(expected)
        else:
            self.cells = self.cells + sums + expected

    def combined(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Return the most accurate estimate of the sums of the cells, and its noise.

        Parameters
        ----------
        variance : float
            Noise variance of each sum of a visit.

        Returns
        -------
        sums : ndarray of shape (n_cells,)
        noise : ndarray of shape (n_cells, n_cells)
            Covariance of the noise in these sums.
        """
        n_fine, n_coarse = self.n_visits
        own = variance / n_fine
        sums, noise = self.cells / n_fine, own * np.eye(len(self.cells))
        if not n_coarse:
            return sums, noise
        gain = self._gain()
        apart = self.blocks / n_coarse - self._joined(sums)
        sums = sums + (gain * apart)[self.block_of_cell]
        same = self.block_of_cell[:, None] == self.block_of_cell
        return sums, noise - own * np.where(same, gain[self.block_of_cell], 0.0)

    def response_to_counts(self, response: FloatArray) -> FloatArray:
        """Return how scores change with the counts through the combined sums.

        Parts that the current scores have removed from the sums are added in proportion to the
        curvature, and so to the counts.

        Parameters
        ----------
        response : ndarray of shape (n_cells, n_cells)
            Change in each score (row) per unit change in each of these sums (column).

        Returns
        -------
        ndarray of shape (n_cells, n_cells)
            Change in each score (row) per relative change in each count (column).
        """
        fine, coarse = (e / max(n, 1) for e, n in zip(self.expected, self.n_visits, strict=True))
        found = response * fine
        if self.n_visits[1]:
            of_block = response @ np.eye(self.n_blocks)[self.block_of_cell] * self._gain()
            found = found + of_block[:, self.block_of_cell] * (coarse - fine)
        return np.asarray(found)

    def _gain(self) -> FloatArray:
        """Return what each cell of a block gets of the difference between the two levels."""
        n_fine, n_coarse = self.n_visits
        size = np.bincount(self.block_of_cell)
        return np.asarray(1.0 / (size + n_fine / n_coarse), dtype=np.float64)

    def _joined(self, values: FloatArray) -> FloatArray:
        found = np.bincount(self.block_of_cell, weights=values, minlength=self.n_blocks)
        return np.asarray(found, dtype=np.float64)
