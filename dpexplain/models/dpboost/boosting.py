"""Private boosting of trees on disjoint records, with clipped leaves.

The method is that of Li, Wu, Wen and He, "Privacy-Preserving Gradient Boosting Decision Trees",
AAAI 2020, arXiv:1911.04209 ("the paper" below), with changes required for its guarantee. Candidate
splits come from a public grid, every tree is grown to its full depth, and sums are integers. Each
record is assigned to one tree of an ensemble by an independent secret random draw, so the
number of records is not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import ChoicePhase, Coins, LaplacePhase, Mechanism
from dpexplain.models.trees import _kernels_nodes as _kernels
from dpexplain.models.trees.structure import (
    Candidates,
    FloatArray,
    Integers,
    Trees,
    descend,
    leaf_sums,
    node_sums,
)

Variant = Literal["ensemble", "seq", "para"]
Loss = Literal["logistic", "square"]
Scale = Literal["paper", "range"]
Filtering = Literal["drop", "clip", "none"]
LeafClipping = Literal["geometric", "none"]

GRADIENT_STEPS = 1 << 12
"""Number of lattice steps in a gradient of 1, which is the bound on gradients."""

LATTICE = 1 << 20
"""Gains and leaf values are multiples of ``2**-20``."""

_LEAST = 1e-9  # count of an empty node if the regularization is 0

LARGEST_GAIN = 1 << 29
"""Cap on gains, so that floating-point errors stay below a lattice step. Capping does not increase
the effect of a record."""

_ROUNDING = 2.0  # lattice steps, for two rounded gains; see `_gains` for floating-point errors


@dataclass(frozen=True)
class Plan:
    """Public settings of a fit, with derived quantities.

    Attributes
    ----------
    epsilon : float
        Epsilon of one score, for adding or removing one record.
    unit : float
        Maximum number of records that one privacy unit adds or removes.
    n_trees, trees_per_ensemble, depth : int
    learning_rate, regularisation : float
    variant : {"ensemble", "seq", "para"}
    loss : {"logistic", "square"}
    filtering : {"drop", "clip", "none"}
        Treatment of gradients above 1 in absolute value; "none" is not private.
    leaf_clipping : {"geometric", "none"}
    exponential_scale : {"paper", "range"}
    """

    epsilon: float
    unit: float
    n_trees: int
    trees_per_ensemble: int
    depth: int
    learning_rate: float
    regularisation: float
    variant: Variant
    loss: Loss
    filtering: Filtering
    leaf_clipping: LeafClipping
    exponential_scale: Scale

    @property
    def n_ensembles(self) -> int:
        """Number of ensembles, each of which can use all records."""
        if self.variant == "seq":
            return self.n_trees
        return -(-self.n_trees // self.trees_per_ensemble)

    @property
    def n_disjoint(self) -> int:
        """Number of trees on disjoint records; together they cost as much as one tree."""
        if self.variant == "seq":
            return 1
        return self.trees_per_ensemble

    def size(self, t: int) -> int:
        """Return the number of trees in the ensemble that contains tree t."""
        first = t - t % self.n_disjoint
        return min(self.n_disjoint, self.n_trees - first)

    @property
    def tree_epsilon(self) -> float:
        """Epsilon of each tree."""
        return self.epsilon / self.n_ensembles

    @property
    def leaf_epsilon(self) -> float:
        """Epsilon of the leaves of a tree: half the tree's epsilon."""
        return 0.5 * self.tree_epsilon

    @property
    def level_epsilon(self) -> float:
        """Epsilon of all splits at one level, whose nodes contain disjoint records."""
        return 0.5 * self.tree_epsilon / self.depth

    def leaf_bound(self, k: int) -> float:
        """Return the bound on leaf values in tree k of an ensemble; may be infinite."""
        if self.variant != "ensemble" or self.leaf_clipping == "none":
            return np.inf
        return (1.0 - self.learning_rate) ** k

    def leaf_sensitivity(self, k: int) -> float:
        """Return the sensitivity of a leaf value in tree k of an ensemble.

        It is the smaller of the bound in Lemma 2 of the paper and the width of the value's range.
        """
        return float(min(1.0 / (1.0 + self.regularisation), 2.0 * self.leaf_bound(k)))

    @property
    def gradient_bound(self) -> float:
        """Bound on gradients; 1 for a private fit."""
        return 8.0 if self.filtering == "none" else 1.0

    def noiseless(self) -> Plan:
        """Return the noiseless plan: every tree uses all records, without filtering."""
        return replace(self, variant="seq", filtering="none")

    def leaf_phase(self, t: int, n_values: int) -> LaplacePhase:
        """Return the phase that releases the leaves of tree t.

        Rounding to the lattice increases the difference between two values by at most one step.
        Floating-point errors in values near 1 are about a billionth of a step, too small to affect
        an integer number of steps.
        """
        sensitivity = self.leaf_sensitivity(t % self.n_disjoint) * LATTICE + 1.0
        scale = sensitivity / self.leaf_epsilon
        return LaplacePhase("leaves", sensitivity * self.unit, scale, n_values, self.size(t))

    def split_phase(self, t: int, n_candidates: int) -> ChoicePhase:
        """Return the phase that releases the splits of tree t.

        Adding a record lowers a gain by at most 3 (Lemma 1 of the paper) and raises it by at most
        1. So the changes in two gains differ by at most 4, plus `_ROUNDING` lattice steps, for any
        number of records (see `_gains`). The paper uses 6, which is twice the largest change.
        """
        spread = {"paper": 6.0, "range": 4.0}[self.exponential_scale] * LATTICE + _ROUNDING
        epsilon = self.level_epsilon * self.unit
        return ChoicePhase(
            "splits",
            spread * self.unit,
            epsilon,
            n_candidates,
            2**self.depth - 1,
            self.size(t),
        )


def grow(
    cells: NDArray[np.uint16],
    target: NDArray[np.float32],
    candidates: Candidates,
    plan: Plan,
    mechanism: Mechanism,
    coins: Coins,
) -> Trees:
    """Grow the boosted trees of one score.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_features), dtype uint16
        Bin of each record in each feature.
    target : ndarray of shape (n_samples,), dtype float32
        Target in [-1, 1]; two classes are coded as -1 and 1.
    candidates : Candidates
    plan : Plan
    mechanism : Mechanism
        Every release passes through it.
    coins : Coins
        Source of the secret random draws that assign records to trees; not stored.

    Returns
    -------
    Trees
        Trees with leaf values that include the factor ``learning_rate``.
    """
    score = np.zeros(len(target), dtype=np.float32)
    splits, values = [], []
    tree_of_record = np.zeros(len(target), dtype=np.int64)
    for t in range(plan.n_trees):
        k = t % plan.n_disjoint
        if k == 0:
            tree_of_record = _drawn_trees(plan, plan.size(t), len(target), coins)
        place = np.where(tree_of_record == k, 0, -1)
        gradient = _gradients(score, target, plan)
        if plan.filtering == "drop":
            place[np.abs(gradient) > 1.0] = -1
        bound = np.float32(plan.gradient_bound)
        bounded = np.clip(np.nan_to_num(gradient), -bound, bound)
        steps = np.stack(
            [
                np.rint(bounded * np.float32(GRADIENT_STEPS)).astype(np.int64),
                np.ones(len(target), dtype=np.int64),
            ],
            axis=1,
        )
        tree, leaves = _grow_one(cells, place, steps, candidates, plan, t, mechanism)
        splits.append(tree)
        values.append(plan.learning_rate * leaves)
        everyone = np.zeros(len(target), dtype=np.int64)
        for level in range(plan.depth):
            descend(cells, everyone, tree, candidates, level)
        score += values[-1].astype(np.float32)[everyone]
    return Trees(np.array(splits), np.array(values)[:, :, None])


def _drawn_trees(plan: Plan, size: int, n: int, coins: Coins) -> Integers:
    """Assign each record independently to a random tree of an ensemble.

    On average, tree k gets the same proportion of the records as in the paper: eta (1 - eta)^k
    divided by the sum of these terms over all trees, where eta is the learning rate. In the
    parallel variant, each tree gets half of the remaining records on average, and some records are
    not in any tree.
    """
    if plan.variant == "seq":
        return np.zeros(n, dtype=np.int64)
    k = np.arange(size)
    if plan.variant == "para":
        shares = 0.5 ** (k + 1.0)
        ends = np.cumsum(shares)
    else:
        shares = (1.0 - plan.learning_rate) ** k
        ends = np.cumsum(shares) / shares.sum()
        ends[-1] = 1.0
    # Use a separate generator: later draws must not depend on the number of records.
    (own,) = coins.spawn(1)
    return np.searchsorted(ends, own.random(n), side="right").astype(np.int64)


def _gradients(
    score: NDArray[np.float32], target: NDArray[np.float32], plan: Plan
) -> NDArray[np.float32]:
    """Compute the gradient of the loss for each record independently."""
    if plan.loss == "square":
        return score - target
    kernel: Callable[..., Any] = _kernels.chances
    label = (target > 0).astype(np.float32)
    found: NDArray[np.float32] = kernel(score) - label
    return found


def _grow_one(
    cells: NDArray[np.uint16],
    place: Integers,
    steps: Integers,
    candidates: Candidates,
    plan: Plan,
    t: int,
    mechanism: Mechanism,
) -> tuple[Integers, FloatArray]:
    """Grow one tree on the records whose node index (`place`) is nonnegative."""
    tree = np.zeros(2**plan.depth - 1, dtype=np.int64)
    with mechanism.phase(plan.split_phase(t, len(candidates))):
        for level in range(plan.depth):
            sums = node_sums(cells, place, steps, candidates, level)
            first = (1 << level) - 1
            chosen = mechanism.choose(_gains(sums, candidates, plan.regularisation))
            tree[first : first + (1 << level)] = chosen
            descend(cells, place, tree, candidates, level)
    gradient, n_records = leaf_sums(place, steps, plan.depth).T
    leaves = -(gradient / GRADIENT_STEPS) / np.maximum(n_records + plan.regularisation, _LEAST)
    bound = min(plan.leaf_bound(t % plan.n_disjoint), plan.gradient_bound)
    query = np.rint(np.clip(leaves, -bound, bound) * LATTICE).astype(np.int64)
    with mechanism.phase(plan.leaf_phase(t, len(query))):
        released = mechanism.release(query) / LATTICE
    # Values far outside the possible range are noise; clipping them keeps scores finite.
    return tree, np.clip(released, -8.0, 8.0)


def _gains(sums: Integers, candidates: Candidates, regularisation: float) -> Integers:
    """Return the gain of each split in lattice steps (equation 3 of the paper).

    A gain below 2**29 is computed with four roundings, each with a relative error of 2**-53, so it
    is within a quarter of a step of the exact gain, and the difference of two gains is within half
    a step of the exact difference. If a record is added, the gain in integer steps therefore rises
    by less than ``2**20 + 1.5`` steps or falls by less than ``3 * 2**20 + 1.5`` steps: by at most
    one step more than the exact bound. A capped gain changes by less, in the same direction.
    """
    right = candidates.right_sums(sums)
    whole = sums[:, : candidates.start[1] if len(candidates.start) > 1 else None].sum(axis=1)
    left = whole[:, None] - right
    total = np.zeros(right.shape[:2])
    for side in (left, right):
        g, n = side[..., 0] / GRADIENT_STEPS, side[..., 1]
        total += g**2 / np.maximum(n + regularisation, _LEAST)
    return np.asarray(np.rint(np.minimum(total, LARGEST_GAIN) * LATTICE), dtype=np.int64)
