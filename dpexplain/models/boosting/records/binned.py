"""Binned records, which receive score updates and return sums.

The boosting loop never accesses a single record. It sends an update for each bin and receives a sum
for each leaf, so the records can be stored anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Index
from dpexplain.mechanisms import Coins
from dpexplain.models.boosting.records import _kernels_exp
from dpexplain.models.boosting.records import _kernels_sums as _kernels
from dpexplain.models.boosting.records._kernels_joint import WORD, count_together, mark_groups
from dpexplain.models.boosting.records.class_sums import ClassSums


@dataclass(frozen=True)
class Loss:
    """Functions for one loss: sums of residuals over records, and the mean loss.

    Attributes
    ----------
    name : str
        Name of the loss in this module; other processes receive this name instead of the functions.
    leaf_sums : callable
        Function that sums clipped residuals per leaf, as exact integers (private fits).
    bin_sums : callable
        Function that sums residuals and curvatures per bin (non-private fits).
    mean : callable
        Function that computes the mean loss of given scores (non-private fits).
    n_scores : int, default=1
        Number of scores per record, and of sums per leaf: 1, or the number of classes if there are
        more than two.
    within : callable or None, default=None
        Function that counts the residuals that are not clipped, and all residuals (private fits
        with an adaptive clip).
    """

    name: str
    leaf_sums: Callable[..., Any]
    bin_sums: Callable[..., Any]
    mean: Callable[[NDArray[np.float64], NDArray[np.float32]], float]
    n_scores: int = 1
    within: Callable[..., Any] | None = None

    def __reduce__(self) -> Any:
        return self.name if self.n_scores == 1 else (softmax_loss, (self.n_scores,))


def _mean_logistic(score: NDArray[np.float64], target: NDArray[np.float32]) -> float:
    # As np.logaddexp(0, score), but with functions that process several numbers at a time.
    above = np.maximum(score, 0.0) + np.log1p(np.exp(-np.abs(score)))
    return float(np.mean(above - target * score))


def _mean_squared(score: NDArray[np.float64], target: NDArray[np.float32]) -> float:
    return float(np.mean((target - score) ** 2))


def _mean_poisson(score: NDArray[np.float64], target: NDArray[np.float32]) -> float:
    score = np.clip(score, -_kernels_exp.EXPONENT_SPAN, 0.0)
    return float(np.mean(np.exp(score) - target * score))


def _mean_softmax(score: NDArray[np.float64], target: NDArray[np.float32]) -> float:
    top = score.max(axis=1)
    own = score[np.arange(len(score)), target.astype(np.intp)]
    return float(np.mean(top + np.log(np.exp(score - top[:, None]).sum(axis=1)) - own))


@cache
def softmax_loss(n_classes: int) -> Loss:
    """Return the loss for several classes, with one score per class.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    Loss
    """
    kernels = _kernels_exp.softmax_leaf_sums, _kernels_exp.softmax_bin_sums
    return Loss("SOFTMAX", *kernels, _mean_softmax, n_classes)


_PAIR_ROWS = 1 << 14

LEVELS = np.linspace(-1.0, 1.0, 65)
"""Levels to which clipped residuals are rounded to calibrate a fit to numbers."""

_EACH_COUNT, _BETWEEN_LEVELS, _MOST_LARGE = 64.0, 1.05, 400
"""Every count up to the first number is a level; larger ones are at most this factor apart, unless
that would take too many levels."""

_MOST_STACKED = 1 << 23
"""Maximum number of bins in a copy of the bins of all features."""

LOGISTIC = Loss("LOGISTIC", _kernels.logistic_leaf_sums, _kernels.logistic_bin_sums, _mean_logistic)
SQUARED = Loss(
    "SQUARED",
    _kernels.squared_leaf_sums,
    _kernels.squared_bin_sums,
    _mean_squared,
    within=_kernels.squared_within,
)
POISSON = Loss(
    "POISSON", _kernels_exp.poisson_leaf_sums, _kernels_exp.poisson_bin_sums, _mean_poisson
)


def count_levels(high: float) -> NDArray[np.float64]:
    """Return the levels to which counts are rounded to calibrate a fit to them.

    Unlike a residual, a small count needs no rounding, which would shift the rates of rare events.

    Parameters
    ----------
    high : float
        Upper end of the public range of counts; the last level.

    Returns
    -------
    ndarray of shape (n_levels,)
    """
    if high <= _EACH_COUNT:
        return np.append(np.arange(np.ceil(high)), high)
    n_large = int(np.ceil(np.log(high / _EACH_COUNT) / np.log(_BETWEEN_LEVELS)))
    large = np.geomspace(_EACH_COUNT, high, 1 + min(n_large, _MOST_LARGE))
    return np.concatenate([np.arange(_EACH_COUNT), large])


def _levels(residual: NDArray[np.float32], bound: float) -> NDArray[np.intp]:
    """Clip residuals and return the nearest level of each; NaN is replaced by 0."""
    half = np.float32(len(LEVELS) // 2)
    with np.errstate(all="ignore"):  # no warning depends on a record
        clipped = np.clip(residual * np.float32(1.0 / bound), np.float32(-1.0), np.float32(1.0))
    clipped[np.isnan(clipped)] = 0.0
    return np.rint(half + half * clipped).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Grid of cells over two features; each record's cell is stored in a column.

    Attributes
    ----------
    column : int
        Index of the column, at least the number of features. A later crossing with the same index
        replaces the column.
    features : tuple of int
        The two features.
    groups : tuple of ndarray of shape (n_bins,), dtype uint8
        Group of each bin, for each of the two features. Cell ``(i, j)`` has the number
        ``i * n_second + j``.
    n_second : int
        Number of groups of the second feature. The grid has at most 65,536 cells.
    """

    column: int
    features: tuple[int, int]
    groups: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    n_second: int

    def cells(self, first: Index, second: Index) -> Index:
        """Return the cell of each record, given its bins in the two features."""
        rows = self.groups[0].astype(np.uint16) * np.uint16(self.n_second)
        few = int(rows.max(initial=0)) + self.n_second <= 256
        cells: Index = np.empty(len(first), dtype=np.uint8 if few else np.uint16)
        for start in range(0, len(first), _PAIR_ROWS):  # without copies of whole columns
            at = slice(start, start + _PAIR_ROWS)
            cells[at] = rows[first[at]] + self.groups[1][second[at]]
        return cells


class BinnedRecords(Protocol):
    """Interface for binned records, used by the private loop.

    Every answer is an int64 array, and the answers for chunks of the records add up exactly in any
    order, so a fit on chunks of a table is identical to a fit on the whole table. A new query for a
    private step must be added both here and in `Records`.
    """

    def apply(self, feature: int, update: NDArray[np.float64]) -> None:
        """Register an update per bin, which the next pass adds to the records' scores."""
        ...

    def leaf_sums(
        self, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> NDArray[np.int64]:
        """Sum clipped residuals per leaf (and class), in lattice steps."""
        ...

    def within(self, clip: float) -> NDArray[np.int64]:
        """Count the residuals that are not clipped, and all residuals."""
        ...

    def joint_counts(
        self, groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Return the number of records in each pair of groups, for some pairs of features.

        `groups` contains the group of each bin of each feature, numbered without gaps. The tables
        of all pairs are concatenated, row by row.
        """
        ...

    def score_counts(
        self, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> NDArray[np.int64]:
        """Count the records by outcome and score cell, shape (n_outcomes, n_cells).

        Outcomes are the two classes, the levels of residuals that are clipped to `largest`, or the
        levels of counts up to `largest`; see `count_levels`. Cells have equal widths. Scores
        outside the cells are counted in the nearest one.
        """
        ...

    def class_sums(self, each: ClassSums) -> NDArray[np.int64]:
        """Sum what calibrates several classes over the records, in lattice steps."""
        ...

    def cross(self, crossing: Crossing) -> None:
        """Add a column with the cell of each record.

        Later calls to `apply`, `leaf_sums` and `cell_counts` can refer to this column.
        """
        ...

    def cell_counts(self, column: int, n_cells: int) -> NDArray[np.int64]:
        """Return the number of records in each cell of a crossing, shape (n_cells,)."""
        ...

    def bag(self, share: float, coins: Coins) -> BinnedRecords:
        """Return a Bernoulli sample of the records, with scores of zero.

        Each record is included with probability `share`, independently of the others. If the size
        of the sample were fixed, or if records were drawn with replacement, one record would affect
        which others are included.
        """
        ...

    def local(self) -> Sequence[Records]:
        """Return the blocks of records in this process, in order."""
        ...


class Records:
    """Binned records with their scores, in memory.

    Parameters
    ----------
    bins : sequence of ndarray of shape (n_samples,), dtype uint8 or uint16
        Bin of each record, per feature.
    n_bins : sequence of int
        Number of bins of each feature.
    target : ndarray of shape (n_samples,), dtype float32
        Target in the form that the kernels of `loss` expect, such as a label (0 or 1).
    loss : Loss
        Kernels to use.
    """

    def __init__(
        self,
        bins: Sequence[Index],
        n_bins: Sequence[int],
        target: NDArray[np.float32],
        loss: Loss,
    ) -> None:
        self._bins = [np.ascontiguousarray(b) for b in bins]
        self._n_bins = list(n_bins)
        self._target = target
        self._loss = loss
        # If there are several scores per record, the scores of each class are contiguous.
        self._classes = () if loss.n_scores == 1 else (loss.n_scores,)
        # For two classes, a score is stored as odds, which an update multiplies.
        self._odds = loss is LOGISTIC
        self._score = np.full((*self._classes, len(target)), self._odds, dtype=np.float32)
        self._last_feature = 0
        self._last_update = self._no_update()
        self._waiting = False
        self._stack: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self._target)

    def __repr__(self) -> str:
        return f"<Records of {len(self._bins)} features>"

    def apply(self, feature: int, update: NDArray[np.float64]) -> None:
        """Register an update per bin, which the next pass adds to the records' scores."""
        self._settle()  # there is no pass between two updates when a fit is replayed
        moves = _kernels.odds_factors(update) if self._odds else update.T
        self.set_pending(feature, np.ascontiguousarray(moves, dtype=np.float32))

    def set_pending(self, feature: int, moves: NDArray[np.float32]) -> None:
        """Register an update in the form that kernels expect; none may be pending."""
        self._last_feature, self._last_update, self._waiting = feature, moves, True

    def _no_update(self) -> NDArray[np.float32]:
        """Return an update of the first feature that leaves all scores unchanged."""
        return np.full((*self._classes, self._n_bins[0]), self._odds, dtype=np.float32)

    def _settle(self) -> None:
        """Add a pending update to the scores."""
        if self._waiting:
            feature, update = self._taken_update()
            moves = update[..., self._bins[feature]]
            if self._odds:
                with np.errstate(over="ignore"):  # no warning depends on a record
                    self._score *= moves
                limits = _kernels.LEAST_ODDS, _kernels.MOST_ODDS
                np.clip(self._score, *limits, out=self._score)
            else:
                self._score += moves

    def leaf_sums(
        self, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> NDArray[np.int64]:
        """Sum clipped residuals per leaf (and class), in lattice steps."""
        sums: NDArray[np.int64] = self._loss.leaf_sums(
            *self._pending(feature), leaf_of_bin, n_leaves, np.float32(1.0 / clip)
        )
        return sums

    def stacked(self, n_records: float, *, wide: bool = False) -> NDArray[Any] | None:
        """Return the bins of all features in one array, if one call makes many visits.

        The array has the shape (n_features, n_samples). The result is None if the loss needs its
        own passes, if a bin takes two bytes, or if the array would be large. In a large table, a
        pass takes much longer than the steps between passes, so little time would be saved. If
        `wide` is True, all bins take two bytes, so that only one version of a kernel is compiled.

        A private fit passes the released number of records. The exact number must not decide: other
        kernels would be compiled, which leave files and are shown by a progress bar.
        """
        features = self._bins[: len(self._n_bins)]
        if self._stack is None and self._loss in (LOGISTIC, SQUARED):
            small = n_records * len(features) <= _MOST_STACKED
            if small and (wide or all(bins.dtype == np.uint8 for bins in features)):
                self._stack = np.stack(features, dtype=np.uint16 if wide else np.uint8)
                self._bins[: len(features)] = list(self._stack)
        return self._stack

    def in_turn(self) -> tuple[Any, ...]:
        """Return the first arguments of `visit_in_turn`, and clear the pending update."""
        return self._odds, self._score, self._target, self._stack, *self._taken_update()

    def within(self, clip: float) -> NDArray[np.int64]:
        """Count the residuals that are not clipped, and all residuals."""
        assert self._loss.within is not None
        *pending, _ = self._pending(self._last_feature)
        inside: NDArray[np.int64] = self._loss.within(*pending, np.float32(clip))
        return inside

    def joint_counts(
        self, groups: Sequence[NDArray[np.intp]], pairs: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Return the number of records in each pair of groups, for some pairs of features."""
        used = sorted({k for pair in pairs for k in pair})
        sizes = np.zeros(len(groups), dtype=np.int64)
        sizes[used] = [groups[k].max() + 1 for k in used]
        start, of_pairs = np.append(0, np.cumsum(sizes)), np.array(pairs).reshape(-1, 2)
        counts = np.zeros(sizes[of_pairs].prod(axis=1).sum(), dtype=np.int64)
        # At least once: which kernels are called must not tell whether there is a record.
        for first in range(0, max(len(self), 1), _PAIR_ROWS):
            rows = slice(first, min(first + _PAIR_ROWS, len(self)))
            words = np.zeros((start[-1], -(-(rows.stop - first) // WORD)), dtype=np.uint64)
            for k in used:
                mark_groups(self._bins[k][rows], groups[k], words[start[k] : start[k + 1]])
            count_together(words, start, of_pairs, counts)
        return counts

    def score_counts(
        self, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> NDArray[np.int64]:
        """Count the records by outcome and score cell, shape (n_outcomes, n_cells)."""
        self._settle()
        ends_of_cells = np.asarray(low + width * np.arange(1, n_cells), np.float64)
        ends = (
            _kernels.odds_factors(ends_of_cells) if self._odds else ends_of_cells.astype(np.float32)
        )
        levels = count_levels(largest) if self._loss is POISSON else LEVELS
        limits = (0.5 / largest * (levels[1:] + levels[:-1])).astype(np.float32)
        n_outcomes = 2 if self._odds else len(levels)
        counts = np.zeros(n_outcomes * n_cells, dtype=np.int64)
        for start in range(0, len(self), _PAIR_ROWS):
            rows = slice(start, start + _PAIR_ROWS)
            score, target = self._score[rows], self._target[rows]
            cell = np.searchsorted(ends, score, side="right")  # the last, if NaN
            if self._odds:
                outcome = (target > 0.5).astype(np.intp)
            elif self._loss is POISSON:
                outcome = np.searchsorted(limits, target, side="right")  # the last, if NaN
            else:
                outcome = _levels(target - score, largest)
            counts += np.bincount(cell + n_cells * outcome, minlength=len(counts))
        return counts.reshape(n_outcomes, n_cells)

    def class_sums(self, each: ClassSums) -> NDArray[np.int64]:
        """Sum what calibrates several classes over the records, in lattice steps."""
        self._settle()
        return each.of(self._score, self._target)

    def cross(self, crossing: Crossing) -> None:
        """Add a column with the cell of each record."""
        self._settle()  # the pending update may be about the column that is replaced
        self._last_feature, self._last_update = 0, self._no_update()
        first, second = crossing.features
        cells = crossing.cells(self._bins[first], self._bins[second])
        self._bins = [*self._bins[: crossing.column], cells, *self._bins[crossing.column + 1 :]]

    def cell_counts(self, column: int, n_cells: int) -> NDArray[np.int64]:
        """Return the number of records in each cell of a crossing, shape (n_cells,)."""
        counts = np.zeros(n_cells, dtype=np.int64)
        for start in range(0, len(self), _PAIR_ROWS):  # bincount copies its argument to 64 bits
            rows = slice(start, start + _PAIR_ROWS)
            counts += np.bincount(self._bins[column][rows], minlength=n_cells)
        return counts

    def bag(self, share: float, coins: Coins) -> Records:
        """Return a Bernoulli sample of the records, with scores of zero."""
        kept = coins.random(len(self._target)) < share
        bins = [b[kept] for b in self._bins]
        return Records(bins, self._n_bins, self._target[kept], self._loss)

    def local(self) -> list[Records]:
        """Return the records as one block."""
        return [self]

    def rows(self, first: int, last: int) -> Records:
        """Return a range of the records, without copying bins; all scores are zero."""
        bins = [b[first:last] for b in self._bins]
        return Records(bins, self._n_bins, self._target[first:last], self._loss)

    def bin_sums(self, feature: int) -> NDArray[np.float64]:
        """Sum residuals and curvatures per bin. NOT PRIVATE.

        The shape is (2, n_bins), or (2, n_bins, n_classes) if there are several scores per record.
        """
        sums: NDArray[np.float64] = self._loss.bin_sums(
            *self._pending(feature), self._n_bins[feature]
        )
        return sums

    def _pending(self, feature: int) -> tuple[NDArray[Any], ...]:
        """Return the kernel arguments for a pass, and clear the pending update."""
        last_feature, last_update = self._taken_update()
        return (
            self._score, self._target, self._bins[last_feature], last_update, self._bins[feature],
        )  # fmt: skip

    def _taken_update(self) -> tuple[int, NDArray[np.float32]]:
        """Return the pending update and its feature, to be added by the caller."""
        last_update = self._last_update
        self._last_update = np.full(last_update.shape, self._odds, dtype=np.float32)
        self._waiting = False
        return self._last_feature, last_update
