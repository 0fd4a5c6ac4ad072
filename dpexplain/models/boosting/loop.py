"""Boosting loop over the features, private or non-private."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosting.clipping import Clip
from dpexplain.models.boosting.monotone import Projection
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords, Records
from dpexplain.models.boosting.records.in_turn import VisitsInTurn
from dpexplain.models.boosting.released import LeafStep, LeafSteps, Tables
from dpexplain.models.boosting.structure import Visit, Visits

Holder = TypeVar("Holder", bound=BinnedRecords)
HolderIn = TypeVar("HolderIn", bound=BinnedRecords, contravariant=True)


class Step(Protocol[HolderIn]):
    """Interface for steps, which compute the score update for one visit to a feature."""

    def __call__(self, visit: Visit, records: HolderIn, tables: Tables) -> NDArray[np.float64]:
        """Return the score update of each bin of the visited feature, in internal units."""
        ...


class PrivateStep:
    """Boosting step of Algorithm 2, which divides noisy leaf sums by noisy counts.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that adds the noise of the phase to every release.
    learning_rate : float
        Fraction of a leaf's mean residual added at each step.
    clip : Clip
        Bound on a record's residual at each visit, in internal units of the boosting loop.

    Attributes
    ----------
    taken : list of LeafStep or LeafSteps
        Releases from all visits so far.
    """

    def __init__(self, mechanism: Mechanism, *, learning_rate: float, clip: Clip) -> None:
        self.taken: list[LeafStep | LeafSteps] = []
        self._mechanism = mechanism
        self._learning_rate = learning_rate
        self._clip = clip

    def __call__(self, visit: Visit, records: BinnedRecords, tables: Tables) -> NDArray[np.float64]:
        """Return noisy mean residuals times the learning rate, per bin."""
        clip, _ = self._clip.next(records)
        sums = records.leaf_sums(visit.feature, visit.leaf_of_bin, len(visit.leaf_weight), clip)
        released = self._mechanism.release(sums.ravel()).reshape(sums.shape)
        noisy: NDArray[np.float64] = released * np.float64(clip / LATTICE)
        gain = self._learning_rate / visit.leaf_weight
        if sums.ndim == 1:
            update = self._learning_rate * noisy / visit.leaf_weight
        else:
            update = gain[:, None] * noisy
        self.taken.append(LeafStep(clip, noisy, gain, False, update))
        return update.take(visit.leaf_of_bin, axis=0)

    def in_turn(
        self, visits: Visits, records: Records, tables: Tables, bound: float
    ) -> Tables | None:
        """Make all visits in compiled code, exactly as `boost` makes them one by one.

        The result is the score per bin of each feature, or None if the records do not allow it.
        """
        if records.stacked(visits.n_records) is None:
            return None
        n_bins = visits.n_bins.tolist()
        curves = np.zeros((len(n_bins), max(n_bins)))
        for curve, table in zip(curves, tables, strict=True):
            curve[: len(table)] = table
        rate, done = self._learning_rate, 0
        run = VisitsInTurn(records, visits, curves, learning_rate=rate, bound=bound)
        clips, answers = np.empty(len(visits)), np.empty(run.start[-1], dtype=np.int64)
        while done < len(visits):
            clip, n_visits = self._clip.next(records, len(visits) - done)
            part = slice(done, done := done + n_visits)
            own = slice(run.start[part.start], run.start[done])
            answers[own] = self._mechanism.release_in_turn(run.part(part.start, done, clip))
            clips[part] = clip
            last = visits[done - 1]
            noisy = answers[run.start[done - 1] : run.start[done]] * np.float64(clip / LATTICE)
            curve = curves[last.feature, : n_bins[last.feature]]
            moved = curve + (rate * noisy / last.leaf_weight).take(last.leaf_of_bin)
            moved = np.minimum(np.maximum(moved, -bound), bound)
            records.apply(last.feature, moved - curve)
            curve[:] = moved
        weight = visits.leaf_weight[
            np.arange(visits.leaf_weight.shape[1]) < visits.n_leaves[:, None]
        ]
        noisy = answers * np.repeat(clips / LATTICE, visits.n_leaves)
        together = np.zeros(len(visits), dtype=np.bool_)
        self.taken.append(
            LeafSteps(clips, noisy, rate / weight, together, rate * noisy / weight, run.start)
        )
        return [curve[:n].copy() for curve, n in zip(curves, n_bins, strict=True)]


def started(
    records: BinnedRecords, n_bins: Sequence[int], score: float, n_scores: int = 1
) -> Tables:
    """Add an initial score to all records and to the curve of the first feature.

    Parameters
    ----------
    records : BinnedRecords
        Records with scores of zero.
    n_bins : sequence of int
        Number of bins of each feature.
    score : float
        Initial score, which is the same for all records.
    n_scores : int, default=1
        Number of scores per record.

    Returns
    -------
    list of ndarray of shape (n_bins,) or (n_bins, n_scores)
        Score per bin of each feature.
    """
    tables: Tables = [np.zeros(b if n_scores == 1 else (b, n_scores)) for b in n_bins]
    if score:
        tables[0] += score
        records.apply(0, tables[0])
    return tables


def boost(
    records: Holder,
    visits: Iterable[Visit],
    step: Step[Holder],
    n_bins: Sequence[int],
    *,
    bound: float,
    start: Tables | None = None,
    project: Sequence[Projection | None] | None = None,
) -> Tables:
    """Visit the features in turn and sum the updates.

    Parameters
    ----------
    records : BinnedRecords
        The binned records.
    visits : iterable of Visit
        Visits in order. Private fits draw their trees in advance.
    step : Step
        Private or non-private step, which computes the score update for each visit.
    n_bins : sequence of int
        Number of bins of each feature.
    bound : float
        Public bound: scores per bin are clipped to ``[-bound, bound]``, so that no sequence of
        noisy answers can lead to a NaN residual.
    start : list of ndarray or None, default=None
        Scores per bin that the records already have; None for zeros.
    project : sequence of callable or None, default=None
        For each feature, the projection applied to the curve after each update, or None.

    Returns
    -------
    list of ndarray
        Score per bin of each feature, not centered.
    """
    tables: Tables = [np.zeros(b) for b in n_bins] if start is None else list(start)
    free = project is None or not any(project)
    if free and isinstance(step, PrivateStep) and isinstance(records, Records):
        assert isinstance(visits, Visits)
        made = step.in_turn(visits, records, tables, bound)
        if made is not None:
            return made
    lowest, highest = np.array(-bound), np.array(bound)  # once, not at every visit
    for visit in visits:
        table = tables[visit.feature]
        moved = table + step(visit, records, tables)
        moved = np.minimum(np.maximum(moved, lowest), highest)
        projection = None if project is None else project[visit.feature]
        if projection is not None:
            moved = projection(moved)
        records.apply(visit.feature, moved - table)
        tables[visit.feature] = moved
    return tables
