"""Clipping bounds that are fixed or follow a private quantile of the residuals."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords


class Clip(Protocol):
    """Interface for clips, which bound the residuals at each visit."""

    def next(self, records: BinnedRecords, n_most: int = 1) -> tuple[float, int]:
        """Return the clip for the next visits, and their number, at most `n_most`.

        The clip is in internal units of the boosting loop.
        """
        ...


class FixedClip:
    """Clip that is the same for all visits.

    Parameters
    ----------
    clip : float
        Bound on a residual, in internal units of the boosting loop.
    """

    def __init__(self, clip: float) -> None:
        self._clip = clip

    def next(self, records: BinnedRecords, n_most: int = 1) -> tuple[float, int]:
        """Return the clip for the next visits, and their number."""
        return self._clip, n_most


class AdaptiveClip:
    """Clip that follows a privately estimated quantile of the residuals.

    Let q be the proportion of the residuals that should lie within the clip. Every few passes, a
    private query estimates whether the actual proportion is larger or smaller than q: a record adds
    ``1 - q`` to the answer if its residual is within the clip, and subtracts q otherwise. As q is
    at least one half, adding or removing a record changes the answer by at most q, and replacing a
    record changes it by at most 1. Both amounts are scaled to the lattice so that the answer needs
    no more noise than the leaf sums of a tree. A query is charged as one additional tree.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that answers the queries, in the phase of the leaf sums.
    plan : Schedule
        Schedule with a `clip_quantile` of at least one half.
    n_samples : float
        Noisy number of records.
    n_features : int
        Number of visits in one pass.
    """

    def __init__(
        self, mechanism: Mechanism, plan: Schedule, n_samples: float, n_features: int
    ) -> None:
        assert plan.clip_quantile is not None
        assert plan.clip_quantile >= 0.5
        self._mechanism = mechanism
        self._plan = plan
        self._n_samples = n_samples
        self._visits_between = plan.clip_every * n_features
        self._visit = 0
        self._clip = plan.clip
        self._inside = int(np.floor(LATTICE * (1.0 / plan.clip_quantile - 1.0)))
        self._outside = -LATTICE

    def next(self, records: BinnedRecords, n_most: int = 1) -> tuple[float, int]:
        """Return the clip for the next visits, and their number; query it first if due."""
        since = self._visit % self._visits_between
        if since == 0:
            self._ask(records)
        n_visits = min(n_most, self._visits_between - since)
        self._visit += n_visits
        return self._clip, n_visits

    def _ask(self, records: BinnedRecords) -> None:
        inside, n_all = (int(n) for n in records.within(self._clip))
        query = inside * self._inside + (n_all - inside) * self._outside
        answer = int(self._mechanism.release(np.array([query], dtype=np.int64))[0])
        per_record = self._inside - self._outside
        self._clip = self._plan.next_clip(self._clip, answer / per_record / self._n_samples)
