"""Test of whether the released sums agree with the assumptions of an estimate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

FloatArray = NDArray[np.float64]

_PERIODS = 4
"""Number of periods of a fit whose sums are tested separately. They become longer, since sums
change less and less."""

_DIRECTIONS = 5
"""Number of coefficients or correlations per term and period on which the sums depend most, and to
which the test is limited. Sums differ most along these if features depend on each other in another
form than assumed; over all sums, noise would hide this."""


def fit_of_sums(
    missing: FloatArray, slopes: FloatArray, feature: NDArray[np.integer[Any]]
) -> float:
    """Return the probability of a fit at least as bad as that of the released sums.

    For each term and each period, the sums are projected onto the directions that affect them most.
    If all assumptions hold, the squares of the projections add up to about their number.

    Parameters
    ----------
    missing : ndarray of shape (n_leaves,)
        Released minus expected sums, in standard deviations of their errors.
    slopes : ndarray of shape (n_leaves, n_columns)
        Derivatives of the expected sums, in the same units.
    feature : ndarray of shape (n_leaves,)
        Feature of each sum, in the order of the fit.

    Returns
    -------
    float
        Probability of projections at least this large if all assumptions hold.
    """
    total, freedom = 0.0, 0
    for k in np.unique(feature):
        rows = np.flatnonzero(feature == k)
        ends = np.round(np.linspace(0.0, 1.0, _PERIODS + 1) ** 2 * len(rows)).astype(np.int64)
        for first, last in pairwise(ends):
            own = rows[first:last]
            if len(own) <= _DIRECTIONS:
                continue
            strength = (slopes[own] ** 2).sum(axis=0)
            most = np.argsort(-strength, kind="stable")[:_DIRECTIONS]
            along = np.linalg.qr(slopes[np.ix_(own, most)])[0].T @ missing[own]
            total, freedom = total + float(along @ along), freedom + len(along)
    return float(chi2.sf(total, freedom)) if freedom else 1.0
