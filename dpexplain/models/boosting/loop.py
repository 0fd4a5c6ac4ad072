"""The boosting loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosting.clipping import Clip
from dpexplain.models.boosting.monotone import Projection
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.released import LeafStep, Tables
from dpexplain.models.boosting.structure import Visit

Holder = TypeVar("Holder", bound=BinnedRecords)
HolderIn = TypeVar("HolderIn", bound=BinnedRecords, contravariant=True)


class Step(Protocol[HolderIn]):
    """Interface of steps, each of which converts one visit to an update per bin."""

    def __call__(self, visit: Visit, records: HolderIn, tables: Tables) -> NDArray[np.float64]:
        """Return the update per bin of the visited feature, in score units."""
        ...


class PrivateStep:
    """Step of Algorithm 2: release the leaf sums with noise, and divide by noisy counts.

    Parameters
    ----------
    mechanism : Mechanism
        Contains the noise of the whole phase; every release passes through it.
    learning_rate : float
        Fraction of the leaf mean that is added at each step.
    clip : Clip
        Bound on one record's residual, in score units, visit by visit.

    Attributes
    ----------
    taken : list of LeafStep
        Releases of all visits so far.
    """

    def __init__(self, mechanism: Mechanism, *, learning_rate: float, clip: Clip) -> None:
        self.taken: list[LeafStep] = []
        self._mechanism = mechanism
        self._learning_rate = learning_rate
        self._clip = clip

    def __call__(self, visit: Visit, records: BinnedRecords, tables: Tables) -> NDArray[np.float64]:
        """Return noisy mean residuals times the learning rate, per bin."""
        clip = self._clip.next(records)
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


def started(
    records: BinnedRecords, n_bins: Sequence[int], score: float, n_scores: int = 1
) -> Tables:
    """Give all records the same initial score, added to the curve of the first feature.

    Parameters
    ----------
    records : BinnedRecords
        With scores of zero.
    n_bins : sequence of int
        Number of bins of each feature.
    score : float
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
        Order of the features, with their trees if drawn in advance.
    step : Step
        Private or non-private.
    n_bins : sequence of int
        Number of bins of each feature.
    bound : float
        Scores per bin stay inside ``[-bound, bound]``: a public bound, so that no sequence of
        noisy answers leads to a NaN residual.
    start : list of ndarray or None, default=None
        Scores at the end of an earlier call with the same records; None for zeros.
    project : sequence of callable or None, default=None
        For each feature, the projection applied to the curve after each update, or None.

    Returns
    -------
    list of ndarray
        Score per bin of each feature, not centered.
    """
    tables: Tables = [np.zeros(b) for b in n_bins] if start is None else list(start)
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
