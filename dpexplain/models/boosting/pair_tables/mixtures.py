"""Mixtures with given parts, whose weights fit all observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_ROUNDS = 300


def learned_weights(likelihood: FloatArray, start: FloatArray, pseudo: float) -> FloatArray:
    """Return weights of a mixture that fit all observations [1]_.

    Parameters
    ----------
    likelihood : ndarray of shape (n_observations, n_parts)
    start : ndarray of shape (n_parts,)
        Weights without observations.
    pseudo : float
        Number of observations that `start` counts for.

    Returns
    -------
    ndarray of shape (n_parts,)

    References
    ----------
    .. [1] Stephens, "False Discovery Rates: A New Deal", Biostatistics 18 (2017), section 2.
    """
    weights = start
    for _ in range(_ROUNDS):
        owned = weights * likelihood
        owned /= owned.sum(axis=1, keepdims=True)
        weights = owned.sum(axis=0) + pseudo * start
        weights = weights / weights.sum()
    return weights
