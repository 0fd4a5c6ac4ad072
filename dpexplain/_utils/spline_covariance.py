"""Prior covariances of smooth curves, for smoothing and effect estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def line_covariance(x: FloatArray) -> FloatArray:
    """Return the covariance of a random line whose level and slope have variance 1.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Positions.

    Returns
    -------
    ndarray of shape (n, n)
    """
    return np.asarray(1.0 + np.multiply.outer(x, x))


def bend_covariance(x: FloatArray) -> FloatArray:
    """Return the covariance of an integrated Wiener process (cubic spline prior).

    Parameters
    ----------
    x : ndarray of shape (n,)
        Positions, at least 0.

    Returns
    -------
    ndarray of shape (n, n)

    References
    ----------
    .. [1] Wahba, "Improper priors, spline smoothing and the problem of guarding against model
       errors in regression", Journal of the Royal Statistical Society B 40 (1978), section 2.
    """
    near, far = np.minimum.outer(x, x), np.maximum.outer(x, x)
    return np.asarray(near**2 * (3.0 * far - near) / 6.0)
