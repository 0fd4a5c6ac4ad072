"""Smoothing splines, averaged with their marginal likelihoods as weights.

Dashboards preview edits with a JavaScript version
(``static/views/edit/arithmetic/edit_splines.js``); a test checks that the results agree.
"""

from __future__ import annotations

from collections.abc import Callable

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
    """Fit cubic smoothing splines, and average them weighted by marginal likelihood.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Increasing positions of the bins.
    values, weights, std : ndarray of shape (n,)
        Curve, proportion of the records in each bin, and standard deviation of each value.

    Returns
    -------
    ndarray of shape (n,)
        The smoothed curve. In each bin, it stays within 1.5 standard deviations of `values`,
        because with few records a spline outside this range is usually wrong.

    Notes
    -----
    The model is the sum of a straight line of any level and slope, an integrated Wiener process,
    and independent noise. The splines for ten scales of the process are averaged, weighted by
    marginal likelihood. The noise of private curves is correlated between bins. The model
    ignores this correlation: including it gives worse results, because the errors of fits that stop
    early are correlated as well.

    References
    ----------
    .. [1] Wahba, "Improper priors, spline smoothing and the problem of guarding against model
       errors in regression", Journal of the Royal Statistical Society B 40 (1978), section 2.
    .. [2] Wecker, Ansley, "The signal extraction approach to nonlinear regression and spline
       smoothing", Journal of the American Statistical Association 78 (1983).
    """
    x = _from_zero(places)
    line, bend = line_covariance(x), bend_covariance(x)
    return _averaged(values, weights, std, lambda share: _WIDE**2 * line + share**2 * bend)


def smooth_surface(
    places: tuple[FloatArray, FloatArray],
    values: FloatArray,
    weights: FloatArray,
    std: FloatArray,
) -> FloatArray:
    """Fit tensor products of cubic smoothing splines, and average them.

    The average is weighted by marginal likelihood, as in :func:`smooth_as_noise_allows`.

    Parameters
    ----------
    places : pair of ndarray of shapes (n_rows,) and (n_columns,)
        Increasing positions of the rows and of the columns.
    values, weights, std : ndarray of shape (n_rows, n_columns)
        Table, proportion of the records in each cell, and standard deviation of each value.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The smoothed table; it stays within 1.5 standard deviations of `values` in each cell.
    """
    sides = [(line_covariance(x), bend_covariance(x)) for x in map(_from_zero, places)]

    def prior(share: float) -> FloatArray:
        first, second = (line + (share / _WIDE) ** 2 * bend for line, bend in sides)
        return np.asarray(_WIDE**2 * np.kron(first, second))

    flat = _averaged(values.ravel(), weights.ravel(), std.ravel(), prior)
    return flat.reshape(values.shape)


def _from_zero(places: FloatArray) -> FloatArray:
    """Scale positions to the interval from 0 to 1."""
    return np.asarray((places - places[0]) / (places[-1] - places[0]))


def _averaged(
    values: FloatArray,
    weights: FloatArray,
    std: FloatArray,
    prior: Callable[[float], FloatArray],
) -> FloatArray:
    """Smooth with ten priors of different roughness, and average the results.

    The average is weighted by marginal likelihood. `prior` returns the covariance for a given
    roughness, for values with a root mean square of 1.
    """
    weight = positive_weights(weights)
    weight = weight / weight.sum()
    seen = values - float(weight @ values)
    size = float(np.sqrt(weight @ seen**2))
    if not size > 0.0:
        return values.copy()
    noise = np.maximum(std, _LEAST_NOISE * size) ** 2
    likelihoods, moves = [], []
    for share in _BENDS:
        covariance = size**2 * prior(share) + np.diag(noise)
        root = np.linalg.cholesky(covariance)
        white = np.linalg.solve(root, seen)
        likelihoods.append(-0.5 * float(white @ white) - float(np.log(np.diag(root)).sum()))
        moves.append(-noise * np.linalg.solve(root.T, white))
    chance = np.exp(np.array(likelihoods) - max(likelihoods))
    move = (chance / chance.sum()) @ np.array(moves)
    return np.asarray(values + np.clip(move, -_LIMIT * std, _LIMIT * std))
