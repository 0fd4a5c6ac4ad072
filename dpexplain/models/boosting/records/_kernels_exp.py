"""Fused passes over the records for the Poisson and softmax losses.

The rules are the same as in `_kernels_sums`. A record's residual is computed in a fixed order from
its own float32 values, using only + - * / and comparisons, so that vector and scalar code agree bit
for bit. Sums for a private fit are integer sums. Each kernel is tested against a naive numpy
version.
"""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.records._kernels_sums import _BLOCK, _lattice_steps

EXPONENT_SPAN = 16.0
"""Exponents are clamped to [-16, 0], so the smallest rate or probability is about 1e-7 times the
largest."""

_F = np.float32
_ZERO, _ONE, _SIXTEENTH, _SPAN = _F(0.0), _F(1.0), _F(1.0 / 16.0), _F(EXPONENT_SPAN)
_A, _B, _C, _D = _F(1680.0), _F(840.0), _F(180.0), _F(20.0)


@njit(inline="always", error_model="numpy")
def _exp32(exponent):  # type: ignore[no-untyped-def]
    """Compute the exponential of an argument clamped to [-16, 0].

    ``exp(x / 16)`` is approximated by a quotient of polynomials of degree 4 (Pade), with an error
    below 1e-8. Four squarings yield ``exp(x)`` with a relative error below 5e-6.
    """
    z = exponent
    z = _ZERO if z > _ZERO else z
    z = (-_SPAN if z < -_SPAN else z) * _SIXTEENTH
    u = z * z
    even, odd = _A + u * (_C + u), z * (_B + u * _D)
    e = (even + odd) / (even - odd)
    e = e * e
    e = e * e
    e = e * e
    return e * e


@njit(cache=True, nogil=True, error_model="numpy")
def poisson_leaf_sums(  # type: ignore[no-untyped-def]
    score, target, last_bins, last_update, bins, leaf_of_bin, n_leaves, inverse_clip
):
    """Apply the last update, then sum clipped residuals ``y - exp(score)`` per leaf.

    Parameters and result are as in `logistic_leaf_sums`; `target` is the count divided by the
    largest public count, and `score` is the logarithm of the rate in that unit, clamped to [-16, 0]
    before use.
    """
    sums = np.zeros(n_leaves, np.int64)
    steps = np.empty(_BLOCK, np.int32)
    for start in range(0, score.shape[0], _BLOCK):
        stop = min(start + _BLOCK, score.shape[0])
        s, y = score[start:stop], target[start:stop]
        before, now = last_bins[start:stop], bins[start:stop]
        for i in range(stop - start):
            s[i] += last_update[before[i]]
        for i in range(stop - start):
            steps[i] = _lattice_steps(y[i] - _exp32(s[i]), inverse_clip)
        for i in range(stop - start):
            sums[leaf_of_bin[now[i]]] += steps[i]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def poisson_bin_sums(score, target, last_bins, last_update, bins, n_bins):  # type: ignore[no-untyped-def]
    """Apply the last update, then sum residuals and rates per bin (non-private).

    This works like `logistic_bin_sums`; the curvature of the Poisson loss is the rate.
    """
    sums = np.zeros((2, n_bins), np.float64)
    rate = np.empty(_BLOCK, np.float32)
    for start in range(0, score.shape[0], _BLOCK):
        stop = min(start + _BLOCK, score.shape[0])
        s, y = score[start:stop], target[start:stop]
        before, now = last_bins[start:stop], bins[start:stop]
        for i in range(stop - start):
            s[i] += last_update[before[i]]
        for i in range(stop - start):
            rate[i] = _exp32(s[i])
        for i in range(stop - start):
            sums[0, now[i]] += y[i] - rate[i]
            sums[1, now[i]] += rate[i]
    return sums


@njit(inline="always", error_model="numpy")
def _probabilities(score, last_bins, last_update, start, stop, p):  # type: ignore[no-untyped-def]
    """Update the scores of a block of records and fill `p` with their softmax.

    Classes are processed in a fixed order, and each record independently of the others.
    """
    n_classes, n = score.shape[0], stop - start
    top, total = np.empty(_BLOCK, np.float32), np.zeros(_BLOCK, np.float32)
    before = last_bins[start:stop]
    for c in range(n_classes):
        s, update = score[c, start:stop], last_update[c]
        for i in range(n):
            s[i] += update[before[i]]
        if c == 0:
            top[:n] = s
        for i in range(n):
            top[i] = s[i] if s[i] > top[i] else top[i]
    for c in range(n_classes):
        s, e = score[c, start:stop], p[c]
        for i in range(n):
            e[i] = _exp32(s[i] - top[i])
        for i in range(n):
            total[i] += e[i]
    for c in range(n_classes):
        e = p[c]
        for i in range(n):
            e[i] = e[i] / total[i]


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_leaf_sums(  # type: ignore[no-untyped-def]
    score, target, last_bins, last_update, bins, leaf_of_bin, n_leaves, inverse_clip
):
    """Apply the last update, then sum ``1[y = c] - p_c`` per leaf and class.

    If ``1 - p_y`` exceeds the clip, the residuals of all classes are scaled down by the same
    factor, so that the norm of a record's residuals is at most ``sqrt(2)`` times the clip.

    Parameters
    ----------
    score : ndarray of shape (n_classes, n_samples), dtype float32
        Scores of each record; changed in place.
    target : ndarray of shape (n_samples,), dtype float32
        Class index of each record.
    last_bins : ndarray of shape (n_samples,), dtype uint8 or uint16
        Bin of each record in the feature of the last visit.
    last_update : ndarray of shape (n_classes, n_bins_last), dtype float32
        Amount that the last visit added to the score in each bin of its feature.
    bins : ndarray of shape (n_samples,), dtype uint8 or uint16
        Bin of each record in the feature of this visit.
    leaf_of_bin : ndarray of shape (n_bins,), dtype uint8
        Leaf of each bin in the tree of this visit.
    n_leaves : int
        Number of leaves in the tree.
    inverse_clip : float32
        Reciprocal of the clip.

    Returns
    -------
    ndarray of shape (n_leaves, n_classes), dtype int64
        Exact sums in lattice steps of ``clip / 2**20``.
    """
    n_classes = score.shape[0]
    sums = np.zeros((n_leaves, n_classes), np.int64)
    p = np.empty((n_classes, _BLOCK), np.float32)
    steps, factor = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.float32)
    for start in range(0, score.shape[1], _BLOCK):
        stop = min(start + _BLOCK, score.shape[1])
        y, now = target[start:stop], bins[start:stop]
        _probabilities(score, last_bins, last_update, start, stop, p)
        for c in range(n_classes):
            e = p[c]
            for i in range(stop - start):
                if y[i] == c:
                    own = _ONE - e[i]
                    factor[i] = _ONE / own if own * inverse_clip > _ONE else inverse_clip
        for c in range(n_classes):
            e = p[c]
            for i in range(stop - start):
                r = (_ONE if y[i] == c else _ZERO) - e[i]
                steps[i] = _lattice_steps(r, factor[i])
            for i in range(stop - start):
                sums[leaf_of_bin[now[i]], c] += steps[i]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_bin_sums(score, target, last_bins, last_update, bins, n_bins):  # type: ignore[no-untyped-def]
    """Apply the last update, then sum residuals and curvatures (non-private).

    Returns
    -------
    ndarray of shape (2, n_bins, n_classes), dtype float64
        Sums of ``1[y = c] - p_c`` and of ``p_c (1 - p_c)``.
    """
    n_classes = score.shape[0]
    sums = np.zeros((2, n_bins, n_classes), np.float64)
    p = np.empty((n_classes, _BLOCK), np.float32)
    for start in range(0, score.shape[1], _BLOCK):
        stop = min(start + _BLOCK, score.shape[1])
        y, now = target[start:stop], bins[start:stop]
        _probabilities(score, last_bins, last_update, start, stop, p)
        for c in range(n_classes):
            for i in range(stop - start):
                sums[0, now[i], c] += (_ONE if y[i] == c else _ZERO) - p[c, i]
                sums[1, now[i], c] += p[c, i] * (_ONE - p[c, i])
    return sums
