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


@njit(cache=True, nogil=True, error_model="numpy")
def clipped_factors(  # type: ignore[no-untyped-def]
    scores, score_unit, label, squared_norm, limit, step, beta, n_classes, n_filters, whole
):
    """Convert filter scores to clipped gradient factors, in place.

    The gradient of record n with respect to filter m of class k is ``c_km z_n`` with the factor
    ``c_km = (p - y)_k s_km (1 + beta (g_km - f_k))``. Here z_n are the features of the record, p
    the class probabilities, y the one-hot label, g_km the filter scores, s_km their softmax weights
    and f_k the class scores. The squared norm of all gradients of the record together is
    ``sum c_km**2 |z_n|**2``; each filter index m may have its own features. If the norm exceeds the
    limit, the factors are scaled down. They are divided by the step and truncated toward zero, so
    rounding never increases the norm.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes * n_filters), dtype float64
        Exact scores in units of `score_unit`; replaced by factors, as integer numbers of steps.
    score_unit : float64
        Value of one step of a score.
    label : ndarray of shape (n,), dtype int32
        Class index of each record.
    squared_norm : ndarray of shape (n, 1) or (n, n_filters), dtype float64
        Squared norm of each record's features, as used by the filters, in squared feature steps.
    limit : float64
        Bound on the norm of a record's gradients, in feature steps; infinite if nothing is clipped.
    step : float64
        Value of one step of a factor.
    beta : float32
        Inverse temperature of the softmax over the filters of a class.
    n_classes, n_filters : int
    whole : bool
        Whether factors are truncated to integer steps; False keeps the fractions, for non-private
        training.
    """
    f = np.empty(n_classes, np.float32)
    p = np.empty(n_classes, np.float32)
    g = np.empty(n_filters, np.float32)
    e = np.empty(n_filters, np.float32)
    gate = np.empty((n_classes, n_filters), np.float32)
    slope = np.empty((n_classes, n_filters), np.float32)
    for n in range(scores.shape[0]):
        row = scores[n]
        for k in range(n_classes):
            start = k * n_filters
            for m in range(n_filters):
                g[m] = _F(row[start + m] * score_unit)
            top = g[0]
            for m in range(1, n_filters):
                top = g[m] if g[m] > top else top
            for m in range(n_filters):
                e[m] = _exp32(beta * (g[m] - top))
            total = _ZERO
            for m in range(n_filters):
                total += e[m]
            score = _ZERO
            for m in range(n_filters):
                e[m] = e[m] / total
            for m in range(n_filters):
                score += e[m] * g[m]
            f[k] = score
            for m in range(n_filters):
                gate[k, m] = e[m]
                slope[k, m] = _ONE + beta * (g[m] - score)
        top = f[0]
        for k in range(1, n_classes):
            top = f[k] if f[k] > top else top
        for k in range(n_classes):
            p[k] = _exp32(f[k] - top)
        total = _ZERO
        for k in range(n_classes):
            total += p[k]
        square = 0.0
        shared = squared_norm.shape[1] == 1
        for k in range(n_classes):
            r = p[k] / total - (_ONE if label[n] == k else _ZERO)
            for m in range(n_filters):
                c = np.float64(r * gate[k, m] * slope[k, m])
                row[k * n_filters + m] = c
                square += c * c * squared_norm[n, 0 if shared else m]
        norm = np.sqrt(square)
        factor = limit / norm / step if norm > limit else 1.0 / step
        usable = norm < np.inf  # otherwise, add 0: NaN is not an integer
        for j in range(n_classes * n_filters):
            scaled = row[j] * factor if usable else 0.0
            row[j] = np.trunc(scaled) if whole else scaled


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
