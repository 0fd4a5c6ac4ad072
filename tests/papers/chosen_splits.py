"""DP-EBM with splits chosen by their gain, paid from the same budget, for comparison.

A tree's splits are chosen from a noisy sum per bin. A record is in one bin, so these sums cost as
much as those of the leaves of one tree. The ledger charges, and the mechanism refuses more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting import estimator
from dpexplain.models.boosting import fit as private
from dpexplain.models.boosting.loop import PrivateStep
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.released import LeafStep
from dpexplain.models.boosting.structure import Visits

Values = NDArray[np.float64]


@contextmanager
def splits_chosen(*, twice: bool) -> Iterator[None]:
    """Choose the splits of private fits within a block; without pairs and adaptive clips.

    Parameters
    ----------
    twice : bool
        Whether each tree has two releases, with half of its budget each: the sums of the bins, from
        which its splits are chosen, and the sums of its leaves. Otherwise there is one: leaves add
        up the noisy sums of their bins.
    """
    honest_number, honest_phase = private.n_leaf_releases, private.leaf_phase
    honest_step = Objective.private_step

    def every_bin(features: Sequence[BinCounts], *, n_epochs: int, **rest: Any) -> Visits:
        step.features, step.rest = features, rest
        return _every_bin(features, n_epochs, rest["rng"])

    def n_releases(plan: Any, n_features: int) -> int:
        return honest_number(plan, n_features) * (2 if twice else 1)

    def phase(budget: Any, n_visits: int, n_values: int) -> Any:
        leaves = step.rest["max_leaves"] * (n_visits // 2) if twice and n_values else 0
        return honest_phase(budget, n_visits, n_values + leaves)

    def private_step(self: Objective, *given: Any, **rest: Any) -> Any:
        made = honest_step(self, *given, **rest)
        assert isinstance(made, PrivateStep)
        step.made = made
        return step

    step = _ChosenStep(twice)
    with (
        patch.object(private, "random_visits", every_bin),
        patch.object(private, "n_leaf_releases", n_releases),
        patch.object(estimator, "n_leaf_releases", n_releases),
        patch.object(private, "leaf_phase", phase),
        patch.object(Objective, "private_step", private_step),
    ):
        yield


class _ChosenStep:
    """Step that chooses a tree from the noisy sums of the bins, then updates its leaves."""

    features: Sequence[BinCounts]
    rest: dict[str, Any]
    made: PrivateStep

    def __init__(self, twice: bool) -> None:
        self._twice = twice

    @property
    def taken(self) -> list[Any]:
        return self.made.taken

    def __call__(self, visit: Any, records: Any, tables: Any) -> Values:
        clip, _ = self.made._clip.next(records)
        counts, most = self.features[visit.feature], self.rest["max_leaves"]
        unit, n_units = visit.leaf_of_bin, len(visit.leaf_weight)
        unit_counts = np.bincount(unit, weights=counts.counts, minlength=n_units)
        variance = np.bincount(unit, weights=counts.variance, minlength=n_units)
        sums = self._released(records, visit.feature, unit, n_units, clip)
        leaf_of_unit = chosen_leaves(
            sums,
            unit_counts,
            n_special=counts.n_special,
            ordered=counts.ordered,
            max_leaves=most,
            min_leaf_count=max(self.rest["min_leaf_count"], 1.0),
            rng=self.rest["rng"],
        )
        of_leaves = np.bincount(leaf_of_unit, weights=sums, minlength=most)
        leaf_of_bin = leaf_of_unit[unit]
        if self._twice:  # two answers of the same question, weighted by their noise
            again = self._released(records, visit.feature, leaf_of_bin, most, clip)
            n_parts = np.maximum(np.bincount(leaf_of_unit, minlength=most), 1)
            of_leaves = (of_leaves / n_parts + again) / (1.0 / n_parts + 1.0)
        least = 3.0 * np.sqrt(np.bincount(leaf_of_unit, weights=variance, minlength=most))
        least = np.maximum(least, max(self.rest["min_leaf_count"], 1.0))
        in_leaf = np.bincount(leaf_of_unit, weights=unit_counts, minlength=most)
        update = self.made._learning_rate * of_leaves / np.maximum(in_leaf, least)
        per_unit = update[leaf_of_unit]
        self.made.taken.append(LeafStep(clip, sums, np.zeros(n_units), False, per_unit))
        return per_unit[unit]

    def _released(
        self, records: Any, feature: int, leaf_of_bin: NDArray[np.uint8], n_leaves: int, clip: float
    ) -> Values:
        exact = records.leaf_sums(feature, leaf_of_bin, n_leaves, clip)
        noisy: Values = self.made._mechanism.release(exact) * np.float64(clip / LATTICE)
        return noisy


def _every_bin(features: Sequence[BinCounts], n_epochs: int, rng: np.random.Generator) -> Visits:
    """Return visits in the order of random trees, where every bin is a leaf."""
    n_features = len(features)
    orders = rng.permuted(np.tile(np.arange(n_features), (n_epochs, 1)), axis=1).ravel()
    n_bins = np.array([len(f.counts) for f in features], dtype=np.int64)
    leaves = np.zeros((n_features, n_bins.max()), dtype=np.uint8)
    for row, n, feature in zip(leaves, n_bins.tolist(), features, strict=True):
        row[:n] = np.arange(n) if feature.unit_of_bin is None else feature.unit_of_bin
    n_leaves = leaves.max(axis=1).astype(np.int64) + 1
    weights = np.ones((n_features, int(n_leaves.max())))
    n_records = float(features[0].counts.sum())
    return Visits(orders, leaves[orders], weights[orders], n_bins, n_leaves[orders], n_records)


def chosen_leaves(
    sums: Values,
    counts: Values,
    *,
    n_special: int,
    ordered: bool,
    max_leaves: int,
    min_leaf_count: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Return the leaf of each bin of a tree that is grown by the largest gain.

    The gain of a leaf is its squared sum over its count. Bins without an order are sorted by their
    mean. As in random trees, special bins are assigned to random leaves.

    Parameters
    ----------
    sums, counts : ndarray of shape (n_bins,)
        Noisy sums of residuals and noisy counts.
    n_special : int
        Number of special bins at the end.
    ordered : bool
        Whether the other bins have an order.
    max_leaves : int
    min_leaf_count : float
        Least count of a leaf.
    rng : numpy.random.Generator
        For the special bins.
    """
    n = len(sums) - n_special
    order = np.arange(n)
    if not ordered:
        order = np.argsort(sums[:n] / np.maximum(counts[:n], min_leaf_count), kind="stable")
    total = np.concatenate([[0.0], np.cumsum(sums[:n][order])])
    weight = np.concatenate([[0.0], np.cumsum(counts[:n][order])])
    ends = [0, n]
    for _ in range(max_leaves - 1):
        found = [_best_cut(total, weight, a, b, min_leaf_count) for a, b in pairwise(ends)]
        gain, cut = max(found)
        if gain <= 0.0:
            break
        ends = sorted([*ends, cut])
    leaves = np.empty(len(sums), dtype=np.uint8)
    leaves[:n][order] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    leaves[n:] = rng.integers(0, len(ends) - 1, n_special)
    return leaves


def _best_cut(total: Values, weight: Values, a: int, b: int, least: float) -> tuple[float, int]:
    """Return the largest gain of a cut between two ends, and the cut; 0 if none is allowed."""
    if b - a < 2:
        return 0.0, a
    left, in_left = total[a + 1 : b] - total[a], weight[a + 1 : b] - weight[a]
    right, in_right = total[b] - total[a + 1 : b], weight[b] - weight[a + 1 : b]
    allowed = (in_left >= least) & (in_right >= least)
    if not allowed.any():
        return 0.0, a
    gain = left**2 / np.maximum(in_left, least) + right**2 / np.maximum(in_right, least)
    gain -= (total[b] - total[a]) ** 2 / max(weight[b] - weight[a], least)
    at = int(np.argmax(np.where(allowed, gain, -np.inf)))
    return float(gain[at]), a + 1 + at
