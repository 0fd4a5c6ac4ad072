"""Mixtures with given parts, whose weights fit all observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_CLOSE = 0.1
"""Rounds end if no other weights can have a log-likelihood that is larger by this number: the data
do not tell such weights apart."""

_MOST_ROUNDS = 300


def learned_weights(likelihood: FloatArray, added: FloatArray) -> FloatArray:
    """Return weights of a mixture that fit all observations [1]_.

    Parameters
    ----------
    likelihood : ndarray of shape (n_observations, n_parts)
    added : ndarray of shape (n_parts,)
        Number of additional observations that are assumed to come from each part.

    Returns
    -------
    ndarray of shape (n_parts,)

    References
    ----------
    .. [1] Stephens, "False Discovery Rates: A New Deal", Biostatistics 18 (2017), section 2.
    """
    of_parts, total = np.ascontiguousarray(likelihood.T), len(likelihood) + added.sum()
    weights = (added + 1.0) / (added + 1.0).sum()
    for _ in range(_MOST_ROUNDS):
        before = weights
        weights = (before * (of_parts @ (1.0 / (likelihood @ before))) + added) / total
        # The log-likelihood is concave, so its slopes limit what any other weights can gain.
        if (weights <= (1.0 + _CLOSE / total) * before).all():
            break
    return np.asarray(weights)
