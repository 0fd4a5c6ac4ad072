"""Exact integer sums of coordinate products for linear models.

A record has at most one nonzero coordinate for each feature, and the constant 1, so adding its
contribution to a sum takes only a few additions, regardless of the total number of coordinates. The
kernels follow the same rules as the boosting kernels: element-wise IEEE arithmetic on a record's
own values in a fixed order, and integer sums. Each kernel is tested against a naive numpy version.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.records._kernels_exp import _exp32
from dpexplain.models.boosting.records._kernels_sums import _lattice_steps, _logistic32

VALUE_STEPS = 1 << 10
"""Number of lattice steps in a coordinate of 1: coordinates are multiples of ``2**-10``."""

RESIDUAL_STEPS = 1 << 12
"""Number of lattice steps in a residual at its bound. Finer steps would need a larger noise scale
than some samplers support."""

_F = np.float32
_ZERO, _ONE = _F(0.0), _F(1.0)
_HALF, _SHIFT = np.int64(1 << 7), np.int64(8)  # from 2**20 steps to 2**12


@njit(inline="always", error_model="numpy")
def _steps(residual, inverse_clip):  # type: ignore[no-untyped-def]
    """Convert a residual to lattice steps: replace NaN with 0, clip and round."""
    return (np.int64(_lattice_steps(residual, inverse_clip)) + _HALF) >> _SHIFT


@njit(cache=True, nogil=True, error_model="numpy")
def second_moments(cells, start, coordinate, value, n_coordinates):  # type: ignore[no-untyped-def]
    """Sum ``x_i x_j`` over the records, for all ``i <= j``.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_features), dtype uint16
        Bin of each record in each feature.
    start : ndarray of shape (n_features,), dtype int64
        Index of the first bin of each feature among all bins.
    coordinate : ndarray of shape (n_bins,), dtype int64
        Index of the coordinate of each bin, at least 1; indices increase from feature to feature.
    value : ndarray of shape (n_bins,), dtype int64
        Value of each bin's coordinate in steps, at most `VALUE_STEPS` in absolute value.
    n_coordinates : int
        Number of coordinates, including the constant (coordinate 0).

    Returns
    -------
    ndarray of shape (n_coordinates, n_coordinates), dtype int64
        Upper triangle of the matrix of sums, in squared steps; 0 below the diagonal.
    """
    sums = np.zeros((n_coordinates, n_coordinates), np.int64)
    n_features = cells.shape[1]
    at = np.zeros(n_features + 1, np.int64)
    x = np.empty(n_features + 1, np.int64)
    x[0] = VALUE_STEPS
    for i in range(cells.shape[0]):
        for k in range(n_features):
            place = start[k] + np.int64(cells[i, k])
            at[k + 1], x[k + 1] = coordinate[place], value[place]
        for a in range(n_features + 1):
            for b in range(a, n_features + 1):
                sums[at[a], at[b]] += x[a] * x[b]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def target_moments(cells, start, coordinate, value, target, n_coordinates):  # type: ignore[no-untyped-def]
    """Sum ``x_i y`` for all ``i``, and ``y**2``, over the records.

    Parameters
    ----------
    cells, start, coordinate, value, n_coordinates
        As in `second_moments`.
    target : ndarray of shape (n_samples,), dtype float32
        Targets in ``[-1, 1]``.

    Returns
    -------
    ndarray of shape (n_coordinates + 1,), dtype int64
        Sums of ``x_i y``, then the sum of ``y**2``, all in steps of ``2**-10 * 2**-12``.
    """
    sums = np.zeros(n_coordinates + 1, np.int64)
    one = np.int64(VALUE_STEPS)
    for i in range(cells.shape[0]):
        y = _steps(target[i], _ONE)
        sums[0] += one * y
        for k in range(cells.shape[1]):
            place = start[k] + np.int64(cells[i, k])
            sums[coordinate[place]] += value[place] * y
        sums[n_coordinates] += (y * y) >> np.int64(2)  # 24 bits become 22; y * y is nonnegative
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_gradient(  # type: ignore[no-untyped-def]
    cells, start, coordinate, value, target, intercept, table, inverse_clip, n_coordinates
):
    """Sum ``x_i (y - p)`` over the records, with clipped residuals ``y - p``.

    Parameters
    ----------
    cells, start, coordinate, value, n_coordinates
        As in `second_moments`.
    target : ndarray of shape (n_samples,), dtype float32
        Label of each record, 0 or 1.
    intercept : ndarray of shape (1,), dtype float32
    table : ndarray of shape (n_bins, 1), dtype float32
        Contribution of each bin to the log-odds.
    inverse_clip : float32
        Reciprocal of the bound on a residual.

    Returns
    -------
    ndarray of shape (n_coordinates, 1), dtype int64
        The sums, in steps of ``2**-10 * clip * 2**-12``.
    """
    sums = np.zeros((n_coordinates, 1), np.int64)
    one = np.int64(VALUE_STEPS)
    for i in range(cells.shape[0]):
        score = intercept[0]
        for k in range(cells.shape[1]):
            score += table[start[k] + np.int64(cells[i, k]), 0]
        r = _steps(target[i] - _logistic32(score), inverse_clip)
        sums[0, 0] += one * r
        for k in range(cells.shape[1]):
            place = start[k] + np.int64(cells[i, k])
            sums[coordinate[place], 0] += value[place] * r
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_gradient(  # type: ignore[no-untyped-def]
    cells, start, coordinate, value, target, intercept, table, inverse_clip, n_coordinates
):
    """Sum ``x_i (1[y = c] - p_c)`` over the records, for each class c.

    If ``1 - p_y`` exceeds the clip, the residuals of all classes are scaled down by the same
    factor, so that the norm of a record's residuals is at most ``sqrt(2)`` times the clip.

    Parameters
    ----------
    cells, start, coordinate, value, inverse_clip, n_coordinates
        As in `logistic_gradient`.
    target : ndarray of shape (n_samples,), dtype float32
        Class index of each record.
    intercept : ndarray of shape (n_classes,), dtype float32
    table : ndarray of shape (n_bins, n_classes), dtype float32
        Contribution of each bin to the score of each class.

    Returns
    -------
    ndarray of shape (n_coordinates, n_classes), dtype int64
        The sums, in steps of ``2**-10 * clip * 2**-12``.
    """
    n_classes = table.shape[1]
    sums = np.zeros((n_coordinates, n_classes), np.int64)
    one = np.int64(VALUE_STEPS)
    score = np.empty(n_classes, np.float32)
    steps = np.empty(n_classes, np.int64)
    for i in range(cells.shape[0]):
        for c in range(n_classes):
            score[c] = intercept[c]
        for k in range(cells.shape[1]):
            place = start[k] + np.int64(cells[i, k])
            for c in range(n_classes):
                score[c] += table[place, c]
        top, total = score[0], _ZERO
        for c in range(1, n_classes):
            top = score[c] if score[c] > top else top
        for c in range(n_classes):
            score[c] = _exp32(score[c] - top)
            total += score[c]
        own = _ONE - score[np.int64(target[i])] / total
        factor = _ONE / own if own * inverse_clip > _ONE else inverse_clip
        for c in range(n_classes):
            y = _ONE if target[i] == c else _ZERO
            steps[c] = _steps(y - score[c] / total, factor)
            sums[0, c] += one * steps[c]
        for k in range(cells.shape[1]):
            place = start[k] + np.int64(cells[i, k])
            for c in range(n_classes):
                sums[coordinate[place], c] += value[place] * steps[c]
    return sums
