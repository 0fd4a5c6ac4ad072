"""Trials about rare values: bins that follow them, and steps by the curvature of the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit

from dpexplain.binning.groups import shares
from dpexplain.models.boosting import fit as private
from dpexplain.models.boosting.clipping import FixedClip
from dpexplain.models.boosting.released import Tables

_BLOCKS = 20
"""Number of times that the curvature is computed."""

_LONGEST = 4.0
"""Maximum factor by which a step becomes longer."""


@contextmanager
def rare_bins() -> Iterator[None]:
    """Leave the largest cell out when the minimum count of a feature's bins is derived."""
    honest = private.merge_sparse_cells

    def finer(cells: Any, counts: Any, *, min_count: float, **rest: Any) -> Any:
        if cells.edges is not None:
            outside = 1.0 - counts[: cells.n_value_bins].max() / max(1.0, counts.sum())
            min_count *= max(0.0, outside)
        return honest(cells, counts, min_count=min_count, **rest)

    with patch.object(private, "merge_sparse_cells", finer):
        yield


@contextmanager
def steps_by_curvature() -> Iterator[None]:
    """Make steps longer where released curves show that the log loss is flat.

    The steps of two classes divide sums of residuals by counts of people. Here, each count is
    multiplied by p (1 - p) of the people in the leaf, relative to that of all people.
    """
    boost, random_visits, now = private.boost, private.random_visits, {}

    def remembered(features: Any, **rest: Any) -> Any:
        now["shares"] = [shares(f) for f in features]
        return random_visits(features, **rest)

    def longer(
        records: Any, visits: Any, step: Any, n_bins: Sequence[int], *, start: Tables, **rest: Any
    ) -> Tables:
        if not isinstance(step._clip, FixedClip):
            return boost(records, visits, step, n_bins, start=start, **rest)
        n_epochs = len(visits) // len(n_bins)
        cuts = np.unique(np.linspace(0, n_epochs, _BLOCKS + 1).round().astype(int)) * len(n_bins)
        tables = start
        for first, end in pairwise(cuts):
            flat = _relative_curvature(tables, now["shares"])
            part = _reweighted(visits[first:end], flat, now["shares"])
            tables = boost(records, part, step, n_bins, start=tables, **rest)
        return tables

    with (
        patch.object(private, "boost", longer),
        patch.object(private, "random_visits", remembered),
    ):
        yield


def _relative_curvature(tables: Tables, share: Sequence[Any]) -> list[Any]:
    """Curvature of the log loss in each bin, divided by that of all people, from 1 / 4 to 1."""
    means = [float(s @ t) for s, t in zip(share, tables, strict=True)]
    spread = [float(s @ (t - m) ** 2) for s, t, m in zip(share, tables, means, strict=True)]
    of_all = _curvature(np.array(sum(means)), sum(spread))
    return [
        np.clip(_curvature(sum(means) + t - m, sum(spread) - v) / of_all, 1.0 / _LONGEST, 1.0)
        for t, m, v in zip(tables, means, spread, strict=True)
    ]


def _curvature(score: Any, variance: float) -> Any:
    """Curvature at the mean probability of scores with this mean and variance, nearly."""
    chance = expit(score / np.sqrt(1.0 + np.pi * variance / 8.0))
    return chance * (1.0 - chance)


def _reweighted(visits: Any, flat: Sequence[Any], share: Sequence[Any]) -> Any:
    """Multiply the weight of each leaf by the mean relative curvature of its people."""
    weight = visits.leaf_weight.copy()
    for feature, (curvature, people) in enumerate(zip(flat, share, strict=True)):
        own = np.flatnonzero(visits.feature == feature)
        leaf = visits.leaf_of_bin[own, : len(people)]
        for k in range(weight.shape[1]):
            inside = (leaf == k) @ np.column_stack([people * curvature, people])
            known = inside[:, 1] > 0.0
            weight[own[known], k] *= inside[known, 0] / inside[known, 1]
    return replace(visits, leaf_weight=weight)
