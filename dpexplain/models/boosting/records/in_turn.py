"""Leaf sums of many visits in one call, each computed from the answers before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records._kernels_sums import LATTICE, _work, visit_in_turn
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.structure import Visits


class VisitsInTurn:
    """Visits with one clip, whose leaf sums a mechanism releases one after another.

    The compiled loop does what `PrivateStep` and `boost` do, bit for bit. It saves their time per
    visit, which for small tables is longer than a pass over the records.

    Parameters
    ----------
    records : Records
        Records whose bins are stacked.
    visits : Visits
        At least one.
    curves : ndarray of shape (n_features, n_bins_most)
        Scores per bin of each feature. Each visit but the last changes them.
    clip, learning_rate, bound : float
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
        clip: float,
        learning_rate: float,
        bound: float,
    ) -> None:
        self.start = np.concatenate([[0], np.cumsum(visits.n_leaves)]).astype(np.int64)
        *of_records, update = records.in_turn()
        last_update = np.zeros(curves.shape[1], dtype=np.float32)
        last_update[: len(update)] = update
        self._records = *of_records, last_update, curves
        self._visits = (
            visits.n_bins, visits.feature, visits.leaf_of_bin, visits.leaf_weight, self.start,
        )  # fmt: skip
        unit = float(np.float64(clip / LATTICE))
        self._scale = np.float32(1.0 / clip), unit, float(learning_rate), float(bound)
        self._work = np.empty(curves.shape[1], dtype=np.float32), *_work()

    def add(self, first: int, last: int, answers: NDArray[np.int64]) -> None:
        """Add the exact sums of some visits to an array with all answers before them."""
        visit_in_turn(
            first, last, *self._records, *self._visits, answers, *self._scale, *self._work
        )
