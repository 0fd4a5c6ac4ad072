"""Leaf sums of many visits in one call, each computed from the answers before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records._kernels_sums import LATTICE, _work, visit_in_turn
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.structure import Visits


class VisitsInTurn:
    """Visits whose leaf sums a mechanism releases one after another.

    The compiled loop does what `PrivateStep` and `boost` do, bit for bit. It saves their overhead
    per visit, which takes longer than a pass over the records of a small table.

    Parameters
    ----------
    records : Records
        Records whose bins are stacked.
    visits : Visits
    curves : ndarray of shape (n_features, n_bins_most)
        Scores per bin of each feature. The update of a visit is added when the next visit is made.
    learning_rate, bound : float
        As in `PrivateStep` and `boost`.

    Attributes
    ----------
    start : ndarray of shape (n_visits + 1,), dtype int64
        Index of the first leaf sum of each visit, and their number.
    """

    def __init__(
        self,
        records: Records,
        visits: Visits,
        curves: NDArray[np.float64],
        *,
        learning_rate: float,
        bound: float,
    ) -> None:
        self.start = np.zeros(len(visits) + 1, dtype=np.int64)
        np.cumsum(visits.n_leaves, out=self.start[1:])
        self._records, self._curves = records, curves
        self._visits = visits.feature, visits.leaf_of_bin, visits.leaf_weight
        self._n_bins = visits.n_bins
        self._limits = float(learning_rate), float(bound)
        self._update = np.empty(curves.shape[1], dtype=np.float32)
        self._work = np.empty(curves.shape[1], dtype=np.float32), *_work()

    def part(self, first: int, last: int, clip: float) -> PartInTurn:
        """Return some of the visits, which share a clip, for `Mechanism.release_in_turn`."""
        own = slice(first, last)
        *of_records, update = self._records.in_turn()
        self._update[: len(update)] = update
        start = self.start[first : last + 1]
        scale = np.float32(1.0 / clip), float(np.float64(clip / LATTICE)), *self._limits
        before = *of_records, self._update, self._curves, self._n_bins
        return PartInTurn(
            start - start[0],
            (*before, *(each[own] for each in self._visits)),
            (*scale, *self._work),
        )


@dataclass(frozen=True, eq=False, repr=False)
class PartInTurn:
    """Visits that share a clip, in the form that `Mechanism.release_in_turn` expects.

    Attributes
    ----------
    start : ndarray of shape (n_visits + 1,), dtype int64
        Index of the first leaf sum of each visit, and their number.
    before, after : tuple
        Arguments of `visit_in_turn` before and after the answers.
    """

    start: NDArray[np.int64]
    before: tuple[Any, ...]
    after: tuple[Any, ...]

    def add(self, first: int, last: int, answers: NDArray[np.int64]) -> None:
        """Add the exact sums of some visits to an array with all answers before them."""
        visit_in_turn(first, last, *self.before, self.start, answers, *self.after)

    def __repr__(self) -> str:
        return f"<PartInTurn of {len(self.start) - 1} visits>"
