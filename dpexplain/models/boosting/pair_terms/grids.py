"""Grids of cells over two features, built only from released counts and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import order_of_bins, shares
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records.binned import Crossing

FloatArray = NDArray[np.float64]

_OWN_GROUP = 0.03
"""Minimum share of the records for a special bin to have its own group."""

_LEAST_COUNT = 0.05
"""Lower bound of a cell's count, as a share of the count expected for independent features."""


@dataclass(frozen=True, eq=False)
class Side:
    """Groups of bins of one feature: one side of a grid.

    Groups of values come first, then a group for each common special bin, then, if there are rare
    special bins, one group for all of them. Records in that last group get no contribution.

    Attributes
    ----------
    feature : int
        Index of the feature.
    group_of_bin : ndarray of shape (n_bins,), dtype uint8
        Group of each bin.
    weight : ndarray of shape (n_groups,)
        Noisy proportion of the records in each group; 0 in the group of rare special bins.
    score : ndarray of shape (n_groups,)
        Mean of the released curve in each group, on the link scale.
    n_ordered : int
        Number of leading groups whose order is meaningful; 0 for unordered categories.
    has_rest : bool
        Whether the last group contains rare special bins.
    """

    feature: int
    group_of_bin: NDArray[np.uint8]
    weight: FloatArray
    score: FloatArray
    n_ordered: int
    has_rest: bool

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.weight)


def side_of(feature: int, counts: BinCounts, curve: FloatArray, n_groups: int) -> Side:
    """Divide the bins of a feature into groups with nearly equal counts.

    Parameters
    ----------
    feature : int
        Index of the feature.
    counts : BinCounts
        Noisy number of records in each bin.
    curve : ndarray of shape (n_bins,)
        Released curve; unordered categories are sorted by it before they are grouped.
    n_groups : int
        Maximum number of groups, including the groups of special bins.

    Returns
    -------
    Side
    """
    share = shares(counts)
    n_values = len(share) - counts.n_special
    special = np.arange(n_values, len(share))
    own = special[share[special] >= _OWN_GROUP]
    rare = special[share[special] < _OWN_GROUP]
    order = order_of_bins(counts, curve)
    order = order[order < n_values]
    most = max(1, n_groups - len(own) - bool(len(rare)))
    middle = np.cumsum(share[order]) - share[order] / 2.0
    scaled = middle / max(float(share[order].sum()), 1e-12) * most
    _, found = np.unique(np.minimum(scaled.astype(np.intp), most - 1), return_inverse=True)
    group = np.empty(len(share), dtype=np.uint8)
    group[order] = found
    n = int(found.max()) + 1
    group[own] = n + np.arange(len(own))
    group[rare] = n + len(own)
    weight = np.bincount(group, weights=share)
    total = np.bincount(group, weights=share * curve)
    if len(rare):
        weight[-1] = total[-1] = 0.0
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0)
    return Side(
        feature,
        group,
        weight / weight.sum(),
        mean,
        n if counts.ordered else 0,
        bool(len(rare)),
    )


@dataclass(frozen=True, eq=False)
class Grid:
    """Grid of cells over two features.

    Attributes
    ----------
    sides : tuple of Side
    column : int
        Index of the column of `BinnedRecords` that contains the cell of each record.
    """

    sides: tuple[Side, Side]
    column: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of groups for each of the two features."""
        return self.sides[0].n_groups, self.sides[1].n_groups

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether each cell may have a score; cells of rare special bins may not."""
        known = [np.arange(s.n_groups) < s.n_groups - s.has_rest for s in self.sides]
        return np.asarray(np.logical_and.outer(*known), dtype=np.bool_)

    @property
    def groups_of_cells(self) -> FloatArray:
        """Groups of each cell, as a 0/1 matrix with one column per group of each side."""
        rows, columns = np.divmod(np.arange(self.n_cells), self.shape[1])
        return np.hstack([np.eye(self.shape[0])[rows], np.eye(self.shape[1])[columns]])

    @property
    def leaf_of_cell(self) -> NDArray[Any]:
        """Leaf of each cell, as uint8 or uint16: every cell is a leaf."""
        return np.arange(self.n_cells, dtype=np.uint8 if self.n_cells <= 256 else np.uint16)

    @property
    def crossing(self) -> Crossing:
        """The grid in the form that `BinnedRecords.cross` accepts."""
        first, second = self.sides
        groups = first.group_of_bin, second.group_of_bin
        return Crossing(self.column, (first.feature, second.feature), groups, second.n_groups)

    @property
    def weight(self) -> FloatArray:
        """Proportion of records expected in each cell if the features are independent."""
        return np.outer(self.sides[0].weight, self.sides[1].weight).ravel()

    def counts(
        self, noisy: FloatArray, n_samples: float, noise_std: float
    ) -> tuple[FloatArray, FloatArray]:
        """Estimate the number of records in each cell from noisy counts.

        The estimates lie between the counts expected for independent features and the noisy counts.
        The more these two differ beyond what noise explains, the closer the estimates are to the
        noisy counts.

        Parameters
        ----------
        noisy : ndarray of shape (n_cells,)
            Noisy counts.
        n_samples : float
            Noisy number of records.
        noise_std : float
            Noise standard deviation of a count.

        Returns
        -------
        counts : ndarray of shape (n_cells,)
            Positive, except in cells of rare special bins, where it is 0.
        relative_std : ndarray of shape (n_cells,)
            Standard deviation of the noise in each estimate, divided by the estimate.
        """
        expected = max(n_samples, 1.0) * self.weight
        used = expected > 0.0
        apart = np.where(used, noisy - expected, 0.0)
        scatter = float((apart**2).sum())
        kept = max(0.0, 1.0 - noise_std**2 * int(used.sum()) / max(scatter, 1e-12))
        counts = self.positive(expected + kept * apart, n_samples)
        free = used & (counts == expected + kept * apart)  # the others are at their lower bound
        return counts, np.where(free, kept * noise_std, 0.0) / np.where(used, counts, 1.0)

    def positive(self, counts: FloatArray, n_samples: float) -> FloatArray:
        """Raise counts to at least a small share of those expected under independence."""
        least = _LEAST_COUNT * max(n_samples, 1.0) * self.weight
        return np.where(self.weight > 0.0, np.maximum(counts, least), 0.0)


def curvature_of_cells(
    grid: Grid,
    counts: FloatArray,
    terms: AdditiveTerms,
    objective: Objective,
    plan: Schedule,
    clip: float,
) -> tuple[FloatArray, FloatArray]:
    """Return each cell's loss curvature and the variance of its residual sum.

    The pair is treated as a single feature whose bins are the cells.

    Parameters
    ----------
    grid : Grid
    counts : ndarray of shape (n_cells,)
        Number of records in each cell.
    terms : AdditiveTerms
        Released curves.
    objective : Objective
    plan : Schedule
    clip : float
        Bound on a residual, in internal units of the boosting loop.

    Returns
    -------
    curvature : ndarray of shape (n_cells,)
        Second derivative of the loss, summed over the records in the cell.
    variance : ndarray of shape (n_cells,)
        Variance of the sum of clipped residuals in the cell, in internal units of the boosting
        loop.
    """
    first, second = grid.sides
    others = [k for k in range(len(terms.scores)) if k not in (first.feature, second.feature)]
    # Only the variance of the other terms matters, and a term of two bins has the same.
    spread = float(np.sqrt(sum(_variance(terms.counts[k], terms.scores[k]) for k in others)))
    joined: AdditiveTerms = replace(
        terms,
        scores=(np.add.outer(first.score, second.score).ravel(), spread * np.array([-1.0, 1.0])),
        counts=(counts, np.ones(2)),
    )
    found = objective.curvature(joined, objective.residual_unit * clip, plan.clip_quantile)
    return found.mass[0], found.variance[0] / objective.scale**2


def _variance(counts: FloatArray, scores: FloatArray) -> float:
    """Return the variance of centered scores; 0 if nobody is counted."""
    weight = np.maximum(counts, 0.0)
    return float(weight @ scores**2 / weight.sum()) if weight.sum() > 0.0 else 0.0


def sides_of(
    counts: Sequence[BinCounts], curves: Sequence[FloatArray], n_groups: int
) -> list[Side]:
    """Group the bins of all features; see `side_of`."""
    return [side_of(k, c, t, n_groups) for k, (c, t) in enumerate(zip(counts, curves, strict=True))]
