"""Smoothing splines chosen by marginal likelihood, with a copy in JavaScript.

``static/views/edit/arithmetic/edit_splines.js`` uses the same arithmetic for previews; a test
compares the two.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.spline_covariance import bend_covariance, line_covariance
from dpexplain.edit.kernels import FloatArray, positive_weights

_BENDS = np.geomspace(0.05, 50.0, 10)
_WIDE = 10.0
_LEAST_NOISE = 0.01
_LIMIT = 1.5


def smooth_as_noise_allows(
    places: FloatArray, values: FloatArray, weights: FloatArray, std: FloatArray
) -> FloatArray:
    """Fit cubic smoothing splines, and average them with weights from the marginal likelihood.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Increasing positions of the bins.
    values, weights, std : ndarray of shape (n,)
        Curve, proportion of the records in each bin, and standard deviation of each value.

    Returns
    -------
    ndarray of shape (n,)
        The smoothed curve. It stays within 1.5 standard deviations of `values` in each bin: if
        there are few records, a spline outside this range is usually wrong.

    Notes
    -----
    The model is a straight line of any level and slope, plus an integrated Wiener process, plus
    independent noise. The average is over ten scales of the process, weighted by marginal
    likelihood. The noise of private curves is correlated between bins. Using the joint noise was
    tried and works less well, because the errors of short fits are correlated as well.

    References
    ----------
    .. [1] Wahba, "Improper priors, spline smoothing and the problem of guarding against model
       errors in regression", Journal of the Royal Statistical Society B 40 (1978), section 2.
    .. [2] Wecker, Ansley, "The signal extraction approach to nonlinear regression and spline
       smoothing", Journal of the American Statistical Association 78 (1983).
    """
    weight = positive_weights(weights)
    weight = weight / weight.sum()
    seen = values - float(weight @ values)
    size = float(np.sqrt(weight @ seen**2))
    if not size > 0.0:
        return values.copy()
    noise = np.maximum(std, _LEAST_NOISE * size) ** 2
    x = (places - places[0]) / (places[-1] - places[0])
    line, bend = line_covariance(x), bend_covariance(x)
    likelihoods, moves = [], []
    for share in _BENDS:
        covariance = size**2 * (_WIDE**2 * line + share**2 * bend) + np.diag(noise)
        root = np.linalg.cholesky(covariance)
        white = np.linalg.solve(root, seen)
        likelihoods.append(-0.5 * float(white @ white) - float(np.log(np.diag(root)).sum()))
        moves.append(-noise * np.linalg.solve(root.T, white))
    chance = np.exp(np.array(likelihoods) - max(likelihoods))
    move = (chance / chance.sum()) @ np.array(moves)
    return np.asarray(values + np.clip(move, -_LIMIT * std, _LIMIT * std))
