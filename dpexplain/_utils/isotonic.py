"""Isotonic regression, shared by monotone constraints and edits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def pool_adjacent_violators(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nondecreasing sequence closest to `values` in weighted squares.

    Parameters
    ----------
    values : ndarray of shape (n,), dtype float64
        Sequence to approximate.
    weights : ndarray of shape (n,), dtype float64
        Positive weights of the squared differences.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Notes
    -----
    The code must stay simple enough for numba, because models call a compiled version of this
    function at every update to a constrained curve.

    References
    ----------
    .. [1] Barlow, Bartholomew, Bremner, Brunk, "Statistical Inference under Order Restrictions",
       Wiley 1972, section 1.2.
    """
    n = values.shape[0]
    mean, weight = np.empty(n), np.empty(n)
    end = np.empty(n, np.int64)
    n_blocks = 0
    for i in range(n):
        mean[n_blocks], weight[n_blocks], end[n_blocks] = values[i], weights[i], i + 1
        n_blocks += 1
        while n_blocks > 1 and mean[n_blocks - 2] > mean[n_blocks - 1]:
            a, b = n_blocks - 2, n_blocks - 1
            total = weight[a] + weight[b]
            mean[a] = (weight[a] * mean[a] + weight[b] * mean[b]) / total
            weight[a], end[a] = total, end[b]
            n_blocks -= 1
    result = np.empty(n)
    start = 0
    for block in range(n_blocks):
        for i in range(start, end[block]):
            result[i] = mean[block]
        start = end[block]
    return result
