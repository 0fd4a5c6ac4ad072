"""Fused passes over the records: apply an update and sum residuals per group.

The guarantee requires that every bit of a record's residual depend only on the record's own values
and the public transcript. Hence there is no fastmath and no floating-point reduction over records,
only element-wise IEEE arithmetic (the same in vector and scalar code), and integer sums, which do
not depend on row order, block position or thread. Each kernel is tested against a naive numpy
version.

An update, or the leaves of a tree, usually assigns only a few distinct values to the bins. These
values are looked up using comparisons, which process a vector of records at a time, instead of by
one memory access per record. For two classes, the score of a record is stored as its odds, which
an update multiplies: the probability then takes one division. The setting ``error_model="numpy"``
is important: Python's error model checks every division for zero, which prevents vectorization and
makes the loop 3.3 times slower.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit

LATTICE_BITS = 20
"""One lattice step is ``clip / 2**LATTICE_BITS``, for every clip."""

LATTICE = 1 << LATTICE_BITS

LEAST_ODDS, MOST_ODDS = np.float32(1e-26), np.float32(1e26)
"""Odds are kept within these limits, beyond which a probability is 0 or 1 in single precision."""

_BLOCK = 2016
"""Number of records processed at a time: a multiple of the vector length, small enough that the
lattice steps of all these records add up to less than 2**31."""

_STRETCH = 8 * _BLOCK
"""Number of records whose scores are updated at a time, few enough that the scores stay in cache
until they are used."""

_LANES = 4
"""Number of sums per bin, to which records are added in turn. If many records in a row are in the
same bin, an addition does not have to wait for the one before it."""

_EXP_PARTS, _EXP_SQUARES, _EXP_LIMIT = 1024.0, 10, 60.0


def odds_factors(update: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the exponential of log-odds, by which an update multiplies odds.

    It is computed using + - * / only, so that it is the same on every machine; see `_factor`.
    """
    z = np.minimum(np.maximum(update, -_EXP_LIMIT), _EXP_LIMIT) / _EXP_PARTS
    u = z * z
    even, odd = 1680.0 + u * (180.0 + u), z * (840.0 + u * 20.0)
    e = np.asarray((even + odd) / (even - odd))
    for _ in range(_EXP_SQUARES):
        e *= e
    return e.astype(np.float32)


@njit(inline="always", error_model="numpy")
def _factor(update):  # type: ignore[no-untyped-def]
    """Compute `odds_factors` of a number: a Pade approximant of a small part, squared."""
    z = _EXP_LIMIT if update > _EXP_LIMIT else update
    z = (-_EXP_LIMIT if z < -_EXP_LIMIT else z) / _EXP_PARTS
    u = z * z
    even, odd = 1680.0 + u * (180.0 + u), z * (840.0 + u * 20.0)
    e = (even + odd) / (even - odd)
    for _ in range(_EXP_SQUARES):
        e = e * e
    return np.float32(e)


@njit(inline="always", error_model="numpy")
def _moved(score, value, odds):  # type: ignore[no-untyped-def]
    """Update a score by the value of its bin, which multiplies odds."""
    if odds:
        return max(min(score * value, MOST_ODDS), LEAST_ODDS)  # in this order NaN stays NaN
    return score + value


# tanh(z) ~ z P(z^2) / Q(z^2) on |z| <= 7.9, fitted by iterated linear least squares;
# the logistic function built on it is within 2e-7 of the exact one in float32.
# Only + - * / are used: libm and vector libraries round exp() differently, and a
# residual must not depend on which of them handled the record.
_TANH_LIMIT = 7.9
_P0, _P1, _P2 = 0.9999999857700028, 0.13451194920395665, 0.003579689019085784
_P3, _P4 = 2.203523090452693e-05, 1.5445656743726084e-08
_Q1, _Q2 = 0.4678452132975584, 0.026194853514646295
_Q3, _Q4 = 0.00034248127619965543, 8.605779221465366e-07

_F = np.float32
_HALF, _ONE, _ZERO, _STEPS = _F(0.5), _F(1.0), _F(0.0), _F(LATTICE)
_LIMIT32 = _F(_TANH_LIMIT)
_P0F, _P1F, _P2F, _P3F, _P4F = _F(_P0), _F(_P1), _F(_P2), _F(_P3), _F(_P4)
_Q1F, _Q2F, _Q3F, _Q4F = _F(_Q1), _F(_Q2), _F(_Q3), _F(_Q4)


@njit(inline="always", error_model="numpy")
def _logistic32(score):  # type: ignore[no-untyped-def]
    z = score * _HALF
    z = max(min(z, _LIMIT32), -_LIMIT32)  # in this order NaN stays NaN
    u = z * z
    p = _P0F + u * (_P1F + u * (_P2F + u * (_P3F + u * _P4F)))
    q = _ONE + u * (_Q1F + u * (_Q2F + u * (_Q3F + u * _Q4F)))
    return _HALF + _HALF * z * p / q


@njit(inline="always", error_model="numpy")
def _lattice_steps(residual, inverse_clip):  # type: ignore[no-untyped-def]
    """Clip a residual and round it to lattice steps; NaN is replaced by 0."""
    r = residual * inverse_clip
    r = r if r == r else _ZERO
    r = max(min(r, _ONE), -_ONE)
    return np.int32(np.rint(r * _STEPS))


_GATHER, _BY_RUN, _BY_SET = 0, 1, 2
_MOST_RUNS = 6  # runs of neighboring bins with one value: five leaves and the missing bin
_MOST_SETS, _MOST_IN_SETS = 5, 64  # five leaves of categories, one bit for each category
_MEMBERS = _MOST_RUNS  # place of the first bit mask among the marks of a lookup


@njit(no_cpython_wrapper=True, error_model="numpy")
def _lookup(table, n_bins, marks, values):  # type: ignore[no-untyped-def]
    """Choose how to look up the values of a table, using comparisons if possible.

    Parameters
    ----------
    table : ndarray of shape (n_bins_most,), dtype float32
        Value of each bin.
    n_bins : int
        Number of bins.
    marks : ndarray of shape (12,), dtype int64
        Filled with the first bin of each run (the last one is repeated) and, from
        index `_MEMBERS` on, with one bit mask per distinct value, which marks its bins.
    values : ndarray of shape (6,), dtype float32
        Filled with the values of runs or sets.

    Returns
    -------
    int
        `_BY_RUN` if the table consists of a few runs of equal values; otherwise, `_BY_SET` if it
        has only a few distinct values and at most 64 bins; otherwise, `_GATHER`.
    """
    last = 0
    for k in range(marks.shape[0]):
        marks[k] = 0
    values[0] = table[0]
    for b in range(1, n_bins):
        value = table[b]
        if value != values[last]:
            last += 1
            if last == _MOST_RUNS:
                break
            marks[last], values[last] = b, value
    if last < _MOST_RUNS:
        for k in range(last + 1, _MOST_RUNS):
            marks[k], values[k] = marks[last], values[last]
        return _BY_RUN
    if n_bins > _MOST_IN_SETS:
        return _GATHER
    n_values = 0
    for b in range(n_bins):
        value, k = table[b], 0
        while k < n_values and values[k] != value:
            k += 1
        if k == n_values:
            if n_values == _MOST_SETS:
                return _GATHER
            values[k], n_values = value, n_values + 1
        marks[_MEMBERS + k] |= np.int64(np.uint64(1) << np.uint64(b))
    return _BY_SET


@njit(inline="always", error_model="numpy")
def _has(members, b):  # type: ignore[no-untyped-def]
    return (np.uint64(members) >> np.uint64(b)) & np.uint64(1) == np.uint64(1)


@njit(no_cpython_wrapper=True, error_model="numpy")
def _update_scores(score, bins, row, start, end, table, kind, marks, values, odds):  # type: ignore[no-untyped-def]
    """Update the scores of the records from `start` to `end`."""
    v0, v1, v2, v3, v4, v5 = values[0], values[1], values[2], values[3], values[4], values[5]
    if kind == _BY_RUN:
        bin_type = bins.dtype.type
        b1, b2 = bin_type(marks[1]), bin_type(marks[2])
        b3, b4, b5 = bin_type(marks[3]), bin_type(marks[4]), bin_type(marks[5])
        for i in range(start, end):
            b = bins[row, i]
            value = v1 if b >= b1 else v0
            value = v2 if b >= b2 else value
            value = v3 if b >= b3 else value
            value = v4 if b >= b4 else value
            value = v5 if b >= b5 else value
            score[i] = _moved(score[i], value, odds)
    elif kind == _BY_SET:
        m1, m2 = marks[_MEMBERS + 1], marks[_MEMBERS + 2]
        m3, m4 = marks[_MEMBERS + 3], marks[_MEMBERS + 4]
        for i in range(start, end):
            b = bins[row, i]
            value = v1 if _has(m1, b) else v0
            value = v2 if _has(m2, b) else value
            value = v3 if _has(m3, b) else value
            value = v4 if _has(m4, b) else value
            score[i] = _moved(score[i], value, odds)
    else:
        for i in range(start, end):
            score[i] = _moved(score[i], table[bins[row, i]], odds)


@njit(no_cpython_wrapper=True, error_model="numpy")
def _add_leaf_sums(  # type: ignore[no-untyped-def]
    sums, place, steps, bins, row, start, end, leaf_of_bin, kind, marks, leaves
):
    """Add the steps of the records from `start` to `end` to their leaves."""
    none = np.int32(0)  # 32 bits are enough for a block, and a vector contains twice as many values
    t0, t1, t2, t3, t4, t5 = none, none, none, none, none, none
    if kind == _BY_RUN:
        bin_type = bins.dtype.type
        b1, b2 = bin_type(marks[1]), bin_type(marks[2])
        b3, b4, b5 = bin_type(marks[3]), bin_type(marks[4]), bin_type(marks[5])
        for i in range(start, end):
            b, step = bins[row, i], steps[i - start]
            t0 = np.int32(t0 + step)
            t1 = np.int32(t1 + (step if b >= b1 else none))
            t2 = np.int32(t2 + (step if b >= b2 else none))
            t3 = np.int32(t3 + (step if b >= b3 else none))
            t4 = np.int32(t4 + (step if b >= b4 else none))
            t5 = np.int32(t5 + (step if b >= b5 else none))
        sums[place + np.int64(leaves[0])] += t0 - t1
        sums[place + np.int64(leaves[1])] += t1 - t2
        sums[place + np.int64(leaves[2])] += t2 - t3
        sums[place + np.int64(leaves[3])] += t3 - t4
        sums[place + np.int64(leaves[4])] += t4 - t5
        sums[place + np.int64(leaves[5])] += t5
    elif kind == _BY_SET:
        m1, m2 = marks[_MEMBERS + 1], marks[_MEMBERS + 2]
        m3, m4 = marks[_MEMBERS + 3], marks[_MEMBERS + 4]
        for i in range(start, end):
            b, step = bins[row, i], steps[i - start]
            t0 = np.int32(t0 + step)
            t1 = np.int32(t1 + (step if _has(m1, b) else none))
            t2 = np.int32(t2 + (step if _has(m2, b) else none))
            t3 = np.int32(t3 + (step if _has(m3, b) else none))
            t4 = np.int32(t4 + (step if _has(m4, b) else none))
        sums[place + np.int64(leaves[0])] += np.int64(t0) - t1 - t2 - t3 - t4
        sums[place + np.int64(leaves[1])] += t1
        sums[place + np.int64(leaves[2])] += t2
        sums[place + np.int64(leaves[3])] += t3
        sums[place + np.int64(leaves[4])] += t4
    else:
        for i in range(start, end):
            sums[place + np.int64(leaf_of_bin[bins[row, i]])] += steps[i - start]


def _work() -> tuple[NDArray[Any], ...]:
    """Allocate work arrays in Python, because compiling the allocation is slow."""
    marks, values = np.empty((2, 2 * _MOST_RUNS), np.int64), np.empty((2, _MOST_RUNS), np.float32)
    return np.empty(_BLOCK, np.int32), marks[0], marks[1], values[0], values[1]


def logistic_leaf_sums(  # type: ignore[no-untyped-def]
    score, target, last_bins, last_update, bins, leaf_of_bin, n_leaves, inverse_clip
) -> NDArray[np.int64]:
    """Apply the last update, then sum clipped residuals ``y - p`` per leaf.

    Parameters
    ----------
    score : ndarray of shape (n_samples,), dtype float32
        Odds of each record; changed in place.
    target : ndarray of shape (n_samples,), dtype float32
        Label, 0 or 1.
    last_bins : ndarray of shape (n_samples,), dtype uint8 or uint16
        Bin of each record in the feature of the last visit.
    last_update : ndarray of shape (n_bins_last,), dtype float32
        Factor by which the last visit multiplied the odds in each bin of its feature.
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
    ndarray of shape (n_leaves,), dtype int64
        Exact sums in lattice steps of ``clip / 2**20``.
    """
    sums = np.zeros(n_leaves, np.int64)
    _leaf_sums(
        True, score, target, last_bins[None], 0, last_update, len(last_update), bins[None], 0,
        leaf_of_bin.astype(np.float32), len(leaf_of_bin), inverse_clip, sums, 0, *_work(),
    )  # fmt: skip
    return sums


def squared_leaf_sums(  # type: ignore[no-untyped-def]
    score, target, last_bins, last_update, bins, leaf_of_bin, n_leaves, inverse_clip
) -> NDArray[np.int64]:
    """Apply the last update, then sum clipped residuals ``y - score`` per leaf.

    Parameters and result are as in `logistic_leaf_sums`, with `target` and `score` in units of half
    the target range (the public range is mapped to [-1, 1]); `last_update` is added to the score.
    """
    sums = np.zeros(n_leaves, np.int64)
    _leaf_sums(
        False, score, target, last_bins[None], 0, last_update, len(last_update), bins[None], 0,
        leaf_of_bin.astype(np.float32), len(leaf_of_bin), inverse_clip, sums, 0, *_work(),
    )  # fmt: skip
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf_sums(  # type: ignore[no-untyped-def]
    odds, score, target, last_bins, last_row, last_update, n_last, bins, row, leaf_of_bin, n_bins,
    inverse_clip, sums, place, steps, marks, leaf_marks, values, leaves,
):  # fmt: skip
    """Add the leaf sums of either loss to `sums` from `place` on.

    Positions replace slices of arrays, which take long to compile. They are unsigned, because a
    loop over numbers that may be negative is not vectorized.
    """
    kind = _lookup(last_update, n_last, marks, values)
    leaf_kind = _lookup(leaf_of_bin, n_bins, leaf_marks, leaves)
    n = score.shape[0]
    for block in range(0, n, _BLOCK):
        start = np.uint64(block)
        if block % _STRETCH == 0:
            end = np.uint64(block + _STRETCH if block + _STRETCH < n else n)
            _update_scores(
                score, last_bins, last_row, start, end, last_update, kind, marks, values, odds
            )
        end = np.uint64(block + _BLOCK if block + _BLOCK < n else n)
        if odds:
            for i in range(start, end):
                p = score[i] / (_ONE + score[i])
                steps[i - start] = _lattice_steps(target[i] - p, inverse_clip)
        else:
            for i in range(start, end):
                steps[i - start] = _lattice_steps(target[i] - score[i], inverse_clip)
        _add_leaf_sums(
            sums, place, steps, bins, row, start, end, leaf_of_bin, leaf_kind, leaf_marks, leaves
        )


@njit(cache=True, nogil=True, error_model="numpy")
def visit_in_turn(  # type: ignore[no-untyped-def]
    first, last, odds, score, target, bins, pending, last_update, curves, n_bins, feature,
    leaf_of_bin, leaf_weight, leaf_start, answers, inverse_clip, unit, rate, bound, table, steps,
    marks, leaf_marks, values, leaves,
):  # fmt: skip
    """Visit features one after another: compute each update from the answer before it.

    Before each visit but the first of all, the answer to the visit before it is divided by the leaf
    weights and added to the curve of its feature, exactly as `PrivateStep` and `boost` do it.

    Parameters
    ----------
    first, last : int
        First visit, and the one after the last visit.
    odds : bool
        Whether the loss is logistic; if False, it is squared.
    score, target
        As in `logistic_leaf_sums`.
    bins : ndarray of shape (n_features, n_samples), dtype uint8
        Bin of each record in every feature.
    pending : int
        Feature of the update that is pending before the first visit of all.
    last_update : ndarray of shape (n_bins_most,), dtype float32
        That update; later, the update of the last visit.
    curves : ndarray of shape (n_features, n_bins_most), dtype float64
        Scores per bin; changed in place.
    n_bins : ndarray of shape (n_features,), dtype int64
    feature, leaf_of_bin, leaf_weight
        As in `Visits`.
    leaf_start : ndarray of shape (n_visits + 1,), dtype int64
        Index of the first answer of each visit.
    answers : ndarray of shape (n_leaves_total,), dtype int64
        Answers to all visits before `first`. The exact leaf sums of the other visits are added to
        what it contains, which is their noise.
    inverse_clip : float32
        Reciprocal of the clip.
    unit, rate, bound : float
        Value of one lattice step, learning rate, and bound on the scores per bin.
    table : ndarray of shape (n_bins_most,), dtype float32
        Work array, as are those that follow; see `_work`.
    """
    for v in range(first, last):
        last_feature = feature[v - 1] if v > 0 else pending
        if v > 0:
            for b in range(n_bins[last_feature]):
                leaf = leaf_of_bin[v - 1, b]
                noisy = answers[leaf_start[v - 1] + leaf] * unit
                moved = curves[last_feature, b] + rate * noisy / leaf_weight[v - 1, leaf]
                moved = -bound if moved < -bound else moved
                moved = bound if moved > bound else moved
                change = moved - curves[last_feature, b]
                last_update[b] = _factor(change) if odds else np.float32(change)
                curves[last_feature, b] = moved
        k = feature[v]
        for b in range(n_bins[k]):
            table[b] = leaf_of_bin[v, b]
        _leaf_sums(
            odds, score, target, bins, last_feature, last_update, n_bins[last_feature], bins, k,
            table, n_bins[k], inverse_clip, answers, leaf_start[v], steps, marks, leaf_marks,
            values, leaves,
        )  # fmt: skip


def squared_within(score, target, last_bins, last_update, clip) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
    """Apply the last update, then count the residuals within the clip.

    Parameters
    ----------
    score, target, last_bins, last_update
        As in `squared_leaf_sums`.
    clip : float32
        Bound on a residual, in units of half the target range.

    Returns
    -------
    ndarray of shape (2,), dtype int64
        Number of records with ``|y - score| <= clip``, and total number of records.
    """
    found: NDArray[np.int64] = _squared_within(score, target, last_bins[None], last_update, clip)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _squared_within(score, target, last_bins, last_update, clip):  # type: ignore[no-untyped-def]
    """Implement `squared_within`, with the last bins as the only row of an array."""
    inside = np.int64(0)
    marks, values = np.zeros(2 * _MOST_RUNS, np.int64), np.empty(_MOST_RUNS, np.float32)
    kind = _lookup(last_update, last_update.shape[0], marks, values)
    for start in range(0, score.shape[0], _BLOCK):
        if start % _STRETCH == 0:
            end = np.uint64(min(start + _STRETCH, score.shape[0]))
            _update_scores(
                score, last_bins, 0, np.uint64(start), end, last_update, kind, marks, values, False
            )
        stop = min(start + _BLOCK, score.shape[0])
        s, y = score[start:stop], target[start:stop]
        for i in range(stop - start):
            inside += np.int64(abs(y[i] - s[i]) <= clip)
    return np.array([inside, score.shape[0]], dtype=np.int64)


def logistic_bin_sums(score, target, last_bins, last_update, bins, n_bins) -> NDArray[np.float64]:  # type: ignore[no-untyped-def]
    """Apply the last update, then sum residuals and curvatures per bin (non-private).

    Parameters
    ----------
    score, target, last_bins, last_update, bins
        As in `logistic_leaf_sums`.
    n_bins : int
        Number of bins of the visited feature.

    Returns
    -------
    ndarray of shape (2, n_bins), dtype float64
        Sums of ``y - p`` and of ``p (1 - p)``.
    """
    found: NDArray[np.float64] = _bin_sums(
        True, score, target, last_bins[None], 0, last_update, bins[None], 0, n_bins
    )
    return found


def squared_bin_sums(score, target, last_bins, last_update, bins, n_bins) -> NDArray[np.float64]:  # type: ignore[no-untyped-def]
    """Apply the last update, then sum residuals and records per bin (non-private).

    This works like `logistic_bin_sums`; the curvature of the squared loss is 1 per record.
    """
    found: NDArray[np.float64] = _bin_sums(
        False, score, target, last_bins[None], 0, last_update, bins[None], 0, n_bins
    )
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _bin_sums(odds, score, target, last_bins, last_row, last_update, bins, row, n_bins):  # type: ignore[no-untyped-def]
    """Compute the bin sums of either loss, for given rows of arrays of bins."""
    lanes = np.zeros((_LANES, 2, n_bins), np.float64)
    residuals, curvatures = np.empty(_BLOCK, np.float64), np.ones(_BLOCK, np.float64)
    marks, values = np.zeros(2 * _MOST_RUNS, np.int64), np.empty(_MOST_RUNS, np.float32)
    kind = _lookup(last_update, last_update.shape[0], marks, values)
    n = score.shape[0]
    for block in range(0, n, _BLOCK):
        start = np.uint64(block)
        if block % _STRETCH == 0:
            end = np.uint64(block + _STRETCH if block + _STRETCH < n else n)
            _update_scores(
                score, last_bins, last_row, start, end, last_update, kind, marks, values, odds
            )
        end = np.uint64(block + _BLOCK if block + _BLOCK < n else n)
        if odds:
            for i in range(start, end):
                p = score[i] / (_ONE + score[i])
                residuals[i - start], curvatures[i - start] = target[i] - p, p * (_ONE - p)
        else:
            for i in range(start, end):
                residuals[i - start] = target[i] - score[i]
        for i in range(start, end):
            turn, b = i % np.uint64(_LANES), bins[row, i]
            lanes[turn, 0, b] += residuals[i - start]
            lanes[turn, 1, b] += curvatures[i - start]
    for lane in range(1, _LANES):
        for b in range(n_bins):
            lanes[0, 0, b] += lanes[lane, 0, b]
            lanes[0, 1, b] += lanes[lane, 1, b]
    return lanes[0]
