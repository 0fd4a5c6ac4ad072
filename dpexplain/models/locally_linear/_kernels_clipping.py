"""Kernels that clip filter gradients and find sampled rows.

The gradient factors of a record depend only on its own row and on public numbers: no operation
mixes records, and within a record, sums follow the order of the filters. Numba does not reorder or
fuse operations here, so vector and scalar code agree bit for bit, and the position of a record in
its block does not matter. Each kernel is tested against a naive numpy version.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.records._kernels_exp import _exp32

_F = np.float32
_ZERO, _ONE = _F(0.0), _F(1.0)


_BLOCK = 64
"""Number of records that are processed together, each in a lane of its own."""


@njit(cache=True, nogil=True, error_model="numpy")
def clipped_factors(  # type: ignore[no-untyped-def]
    scores, score_unit, label, squared_norm, limit, step, largest, beta, n_classes, factors
):
    """Convert filter scores to clipped gradient factors.

    The gradient of record n with respect to filter m of class k is ``c_km z_n`` with the factor
    ``c_km = (p - y)_k s_km (1 + beta (g_km - f_k))``. Here z_n are the features of the record, p
    the class probabilities, y the one-hot label, g_km the filter scores, s_km their softmax weights
    and f_k the class scores. The squared norm of all gradients of the record together is
    ``sum c_km**2 |z_n|**2``; each filter index m may have its own features. If the norm exceeds the
    limit, the factors are scaled down, and again if one exceeds `largest`. They are divided by the
    step and, in an array of integers, truncated toward zero, so rounding never increases the norm.

    Parameters
    ----------
    scores : ndarray of shape (at least n_classes * n_filters, at least n), dtype int64 or float64
        Scores in units of `score_unit`, one column for each record.
    score_unit : float64
        Value of one step of a score.
    label : ndarray of shape (n,), dtype int32
        Class index of each record.
    squared_norm : ndarray of shape (1, n) or (n_filters, n), dtype float64
        Squared norm of each record's features, as used by the filters, in squared feature steps.
    limit : float64
        Bound on the norm of a record's gradients, in feature steps; infinite if nothing is clipped.
    step : float64
        Value of one step of a factor.
    largest : float64
        Largest absolute value of a factor in steps; infinite if there is no bound.
    beta : float32
        Inverse temperature of the softmax over the filters of a class.
    n_classes : int
    factors : ndarray of shape (n_classes * n_filters, n), dtype int64 or float64
        Output array, filled with factors as numbers of steps.
    """
    n_rows, n_records = factors.shape
    n_filters = n_rows // n_classes
    g, e = np.empty((n_rows, _BLOCK), np.float32), np.empty((n_rows, _BLOCK), np.float32)
    f, p = np.empty((n_classes, _BLOCK), np.float32), np.empty((n_classes, _BLOCK), np.float32)
    top, total = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    square, factor = np.empty(_BLOCK, np.float64), np.empty(_BLOCK, np.float64)
    shared = squared_norm.shape[0] == 1
    for start in range(0, n_records, _BLOCK):
        n = min(_BLOCK, n_records - start)
        for k in range(n_classes):
            score = f[k]
            for i in range(n):
                top[i], total[i], score[i] = -np.inf, _ZERO, _ZERO
            for j in range(k * n_filters, (k + 1) * n_filters):
                own, found = scores[j, start : start + n], g[j]
                for i in range(n):
                    found[i] = _F(own[i] * score_unit)
                    top[i] = found[i] if found[i] > top[i] else top[i]
            for j in range(k * n_filters, (k + 1) * n_filters):
                found, weight = g[j], e[j]
                for i in range(n):
                    weight[i] = _exp32(beta * (found[i] - top[i]))
                    total[i] += weight[i]
            for j in range(k * n_filters, (k + 1) * n_filters):
                found, weight = g[j], e[j]
                for i in range(n):
                    weight[i] = weight[i] / total[i]
                    score[i] += weight[i] * found[i]
        for i in range(n):
            top[i], total[i], square[i], factor[i] = f[0, i], _ZERO, 0.0, 0.0
        for k in range(1, n_classes):
            for i in range(n):
                top[i] = f[k, i] if f[k, i] > top[i] else top[i]
        for k in range(n_classes):
            for i in range(n):
                p[k, i] = _exp32(f[k, i] - top[i])
                total[i] += p[k, i]
        for k in range(n_classes):
            score, residual = f[k], p[k]
            for i in range(n):
                is_own = _ONE if label[start + i] == k else _ZERO
                residual[i] = residual[i] / total[i] - is_own
            for m in range(n_filters):
                found, weight = g[k * n_filters + m], e[k * n_filters + m]
                seen = squared_norm[0 if shared else m, start : start + n]
                for i in range(n):
                    c = residual[i] * weight[i] * (_ONE + beta * (found[i] - score[i]))
                    weight[i] = c
                    wide = np.float64(c)
                    square[i] += wide * wide * seen[i]
                    factor[i] = abs(wide) if abs(wide) > factor[i] else factor[i]
        for i in range(n):
            norm, highest = np.sqrt(square[i]), factor[i]
            scale = limit / norm / step if norm > limit else 1.0 / step
            if highest * scale > largest:
                scale = largest / highest
            factor[i] = scale if norm < np.inf else 0.0
        for j in range(n_rows):
            found, weight = factors[j, start : start + n], e[j]
            for i in range(n):
                # If the norm is no number, add 0: neither NaN nor infinity is an integer.
                found[i] = np.float64(weight[i]) * factor[i] if factor[i] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def squared_norms(seen, n_banks, constant, squares):  # type: ignore[no-untyped-def]
    """Sum the squared features of each record for each filter index.

    Parameters
    ----------
    seen : ndarray of shape (n, n_banks * n_basis), dtype float64
        Features of each record, as integers, one bank after another.
    n_banks : int
        Number of banks of features, one for each filter index.
    constant : float64
        Square of the constant feature, which is added to each sum.
    squares : ndarray of shape (n, n_banks), dtype float64
        Output array, filled with the sums.
    """
    n_basis = seen.shape[1] // n_banks
    for n in range(seen.shape[0]):
        for m in range(n_banks):
            total = np.float64(constant)
            for j in range(m * n_basis, (m + 1) * n_basis):
                total += seen[n, j] * seen[n, j]
            squares[n, m] = total


@njit(cache=True, nogil=True)
def sampled_rows(heads, person, n_rows, rows):  # type: ignore[no-untyped-def]
    """Find the rows of the sampled people.

    Parameters
    ----------
    heads : ndarray of shape (n_records,), dtype bool
        Whether each person is sampled.
    person : ndarray of shape (n_rows,), dtype int32
        Index of the person each row belongs to.
    n_rows : int
    rows : ndarray of shape (n_rows,), dtype int64
        Output array; its first elements are filled with the indices of the sampled rows.

    Returns
    -------
    int
        Number of sampled rows.
    """
    found = 0
    for n in range(n_rows):
        if heads[person[n]]:
            rows[found] = n
            found += 1
    return found
