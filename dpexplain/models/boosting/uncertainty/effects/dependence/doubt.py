"""How far the estimated dependence may be wrong, and which curves this concerns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import groups_of_bins
from dpexplain.models.boosting.pairs import DISTANCE_GROUPS, PairSums
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import as_correlation
from dpexplain.models.boosting.uncertainty.effects.dependence.estimated_tables import (
    EstimatedTables,
)

FloatArray = NDArray[np.float64]

DOUBT = 0.2
"""Error of the mean of a curve in a bin of another feature, in standard deviations of the curve, if
the features depend on each other completely, but the population does not show it."""

UNKNOWN = 0.14
"""The same for a feature with three or more unordered categories if nothing was released about its
dependence."""

_MOVED = 0.5
"""A curve may be wrong if dependence of another form could move it by more than this many of its
standard deviations."""

_RELATED = 0.3
"""The same if the feature has a larger correlation with another one, and its curve is visible."""

_VISIBLE = 1.0
"""A curve is visible if it exceeds this many of its standard deviations in some bin."""


def doubts(
    pairs: PairSums | None,
    tables: EstimatedTables | None,
    counts: Sequence[BinCounts],
    bins: NDArray[np.int64],
    n_samples: float,
) -> FloatArray:
    """Return how far the means of curves in the bins of other features may be wrong.

    For a pair with a table, this follows from the posterior variance of the joint counts (for what
    the table does not show within groups, see `errors_within_groups`). For the other pairs, the
    distance of the released joint counts from independence is compared with that of the population.

    Parameters
    ----------
    pairs : PairSums or None
    tables : EstimatedTables or None
    counts : sequence of BinCounts
    bins : ndarray of shape (n_points, n_features)
        Bins of the points of the population.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Mean square in the bins of the feature in the row, relative to the variance of the curve of
        the feature in the column.
    """
    n_features = len(counts)
    found = np.zeros((n_features, n_features))
    if pairs is None or pairs.strengths is None:
        many = np.array([not c.ordered and len(c.counts) - c.n_special > 2 for c in counts])
        return UNKNOWN**2 * ((many[:, None] | many) & ~np.eye(n_features, dtype=bool))
    groups = [groups_of_bins(c, DISTANCE_GROUPS) for c in counts]
    sizes = [int(g.max()) + 1 for g in groups]
    own = [g[b] for g, b in zip(groups, bins.T, strict=True)]
    for strength, (i, j) in zip(pairs.strengths, combinations(range(n_features), 2), strict=True):
        cells = np.bincount(own[i] * sizes[j] + own[j], minlength=sizes[i] * sizes[j])
        joint = cells.reshape(sizes[i], sizes[j]) / len(bins)
        alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        by_chance = np.sqrt(2.0 / np.pi * alone / len(bins)).sum() / 2.0
        shown = np.sqrt(max((np.abs(joint - alone).sum() / 2.0) ** 2 - by_chance**2, 0.0))
        both = as_correlation(np.array([strength, shown]), min(sizes[i], sizes[j])) ** 2
        found[i, j] = found[j, i] = DOUBT**2 * max(float(both[0] - both[1]), 0.0)
    if tables is not None:
        n = max(n_samples, 1.0)
        for (i, j), variance in zip(tables.tables.pairs, tables.variances, strict=True):
            of_rows = np.maximum(n * tables.margins[i], 1.0)
            of_columns = np.maximum(n * tables.margins[j], 1.0)
            found[i, j] = (variance.sum(axis=1) / of_rows).sum() / n
            found[j, i] = (variance.sum(axis=0) / of_columns).sum() / n
    return found


def unclear_dependence(
    moved: FloatArray, correlation: FloatArray, largest: FloatArray
) -> tuple[int | None, ...]:
    """Find features that may depend on another one in another form than assumed.

    Dependence of a form that the released sums show could move a curve noticeably. They do not show
    all forms, so it also counts if two features are correlated, unless the curve is hardly visible:
    then, its band is so wide that the form does not matter.

    Parameters
    ----------
    moved : ndarray of shape (n_features, n_features)
        Change of the curve of the feature in the row if its dependence on the one in the column has
        the form that the sums show, in standard deviations.
    correlation : ndarray of shape (n_features, n_features)
    largest : ndarray of shape (n_features,)
        Largest size of each curve in a bin, in standard deviations.

    Returns
    -------
    tuple of (int or None), one per feature
        Index of the feature that could move its curve most, or otherwise of the one with the
        largest correlation; None if there is none.
    """
    close = np.abs(correlation) - np.eye(len(correlation))
    is_related = (close > _RELATED) & (largest > _VISIBLE)[:, None]
    doubt = np.where(moved > _MOVED, 1.0 + moved, np.where(is_related, close, 0.0))
    return tuple(
        int(k) if own[k] > 0.0 else None for own, k in zip(doubt, doubt.argmax(axis=1), strict=True)
    )
