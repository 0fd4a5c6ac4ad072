"""Leaf sums of many visits in one call, each computed from the answers before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records._kernels_sums import (
    LATTICE,
    LEAST_ODDS,
    MOST_ODDS,
    _work,
    odds_factors,
    visit_in_turn,
)
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.structure import Visits


class VisitsInTurn:
    """Visits whose leaf sums a mechanism releases one after another.

    The compiled loop does what `PrivateStep` and `boost` do, bit for bit. It saves their overhead
    per visit, which takes longer than a pass over the records of a small table. So does the same
    loop in numpy, which makes the first visits of a process if the compiled loop is not on disk.

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
        self._n_released = visits.n_records

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
            self._n_released,
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
    n_released : float
        Number of records, as far as releases tell.
    """

    start: NDArray[np.int64]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    n_released: float

    def add(self, first: int, last: int, answers: NDArray[np.int64]) -> None:
        """Add the exact sums of some visits to an array with all answers before them."""
        pays = visit_in_turn.pays((last - first) * self.n_released)
        visit = visit_in_turn if pays else visit_in_numpy
        visit(first, last, *self.before, self.start, answers, *self.after)

    def __repr__(self) -> str:
        return f"<PartInTurn of {len(self.start) - 1} visits>"


def visit_in_numpy(  # type: ignore[no-untyped-def]
    first, last, odds, score, target, bins, pending, last_update, curves, n_bins, feature,
    leaf_of_bin, leaf_weight, leaf_start, answers, inverse_clip, unit, rate, bound, *_work,
) -> None:  # fmt: skip
    """Do what `visit_in_turn` does, to the last bit, but without compiling anything.

    It uses the same element-wise IEEE arithmetic in the same precision, and sums integers, which
    float64 represents exactly. No warning depends on a record.
    """
    one, steps_per_clip = np.float32(1.0), np.float32(LATTICE)
    with np.errstate(all="ignore"):
        for v in range(first, last):
            last_feature = feature[v - 1] if v > 0 else pending
            if v > 0:
                own = slice(leaf_start[v - 1], leaf_start[v])
                noisy = answers[own] * unit
                update = rate * noisy / leaf_weight[v - 1, : len(noisy)]
                curve = curves[last_feature, : n_bins[last_feature]]
                moved = curve + update[leaf_of_bin[v - 1, : len(curve)]]
                moved = np.minimum(np.maximum(moved, -bound), bound)
                change = moved - curve
                last_update = odds_factors(change) if odds else change.astype(np.float32)
                curve[:] = moved
            moves = last_update.take(bins[last_feature])
            if odds:
                score *= moves
                np.clip(score, LEAST_ODDS, MOST_ODDS, out=score)
                residual = target - score / (one + score)
            else:
                score += moves
                residual = target - score
            residual *= inverse_clip
            residual[np.isnan(residual)] = 0.0
            np.clip(residual, -one, one, out=residual)
            steps = np.rint(residual * steps_per_clip)
            leaves = leaf_of_bin[v].take(bins[feature[v]])
            own = slice(leaf_start[v], leaf_start[v + 1])
            sums = np.bincount(leaves, steps, own.stop - own.start)
            answers[own] += sums.astype(np.int64)
