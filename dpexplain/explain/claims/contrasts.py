"""Contrasts of a curve: differences between weighted means of its bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.noise_model import NoiseModel, half_width

Kind = Literal["difference", "range", "ranges", "sign"]

LEVELS = 41
"""Number of levels to which fractions of a variance are rounded."""

BLOCKS = {"difference": 32, "range": 16}
"""Maximum number of blocks of bins. All contrasts between the same two blocks use the largest of
their errors."""

_RATIO = 2000.0 ** (1.0 / (LEVELS - 1))


class Contrast(NamedTuple):
    """Mean of a curve over some bins, minus its mean over other bins if there are any.

    If there are no other bins, this is the difference from the average over all records, because
    curves are centered.

    Parameters
    ----------
    kind : {"difference", "range", "ranges", "sign"}
        Kind of claim.
    first, second : ndarray of shape (n_bins,)
        Weights of the bins in the two means; `second` contains only zeros for the kind "sign".
    """

    kind: Kind
    first: FloatArray
    second: FloatArray

    @property
    def loads(self) -> FloatArray:
        """Coefficient of each bin in the contrast, shape (n_bins,)."""
        return self.first - self.second


def contrast_of(term: ShapeFunction, kind: Kind, bins: Sequence[int]) -> Contrast:
    """Return the contrast that corresponds to a claim about one or more bins.

    Parameters
    ----------
    term : ShapeFunction
    kind : {"difference", "range", "ranges", "sign"}
    bins : sequence of int
        For "difference", the two bins to compare. For "range", the first and last bins of the
        range, which is compared with all other bins. For "ranges", the first and last bins of both
        ranges. For "sign", one bin, which is compared with zero.

    Returns
    -------
    Contrast
    """
    places = np.arange(term.n_bins)
    if kind in ("range", "ranges"):
        inside = (places >= bins[0]) & (places <= bins[1])
        others = (places >= bins[2]) & (places <= bins[3]) if kind == "ranges" else ~inside
        return Contrast(kind, _mean(term, inside), _mean(term, others))
    one = (places == bins[0]).astype(np.float64)
    other = (places == bins[1]) if kind == "difference" else np.zeros(term.n_bins)
    return Contrast(kind, one, np.asarray(other, dtype=np.float64))


def _mean(term: ShapeFunction, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the weights for averaging over the chosen bins, shape (n_bins,).

    They are proportional to the (noisy) counts, or equal if the counts of all chosen bins are zero.
    Other bins have a weight of zero.
    """
    weights = np.where(chosen, term.weights, 0.0)
    if weights.sum() <= 0.0:
        weights = chosen.astype(np.float64)
    return np.asarray(weights / weights.sum())


def factor_of(kind: Kind, term: ShapeFunction) -> float:
    """Return the half-width of simultaneous intervals, in standard deviations.

    The intervals hold simultaneously for all claims of one kind about a term; see
    :func:`dpexplain.explain.noise_model.half_width`. Those for two ranges follow from those for
    single ranges, with which they hold simultaneously; see :func:`contrast_std`.

    Parameters
    ----------
    kind : {"difference", "range", "ranges", "sign"}
    term : ShapeFunction

    Returns
    -------
    float
    """
    n, m = term.n_bins, term.n_value_bins
    ranges = m * (m + 1) // 2
    count = {"difference": n * (n - 1) // 2, "range": ranges, "ranges": ranges, "sign": n}[kind]
    return math.ceil(1000.0 * half_width(max(1, count))) / 1000.0  # rounded up: pages store it


def share_of(level: int) -> float:
    """Convert a level to a fraction of the largest possible variance.

    The fraction decreases from 1 at level 0 to about 1 / 2000 at the last level.
    """
    return math.pow(_RATIO, -float(level))


def pair_levels(noise: NoiseModel, place: int) -> npt.NDArray[np.int64]:
    """Return a variance level for each difference between two bins.

    A level represents a fraction of the largest possible variance; see :func:`share_of`. Levels are
    used because a dashboard stores only one character for each contrast. For consistency, claims
    use levels everywhere, not only in dashboards.

    Variances are rounded up. The rounded standard deviations are therefore never too small, and at
    most 10% too large. The exception is a standard deviation below 1/45 of the largest possible
    one: it is raised to this value.

    If there are more than 32 bins, neighboring bins are grouped into blocks. All pairs of bins from
    the same two blocks then get the level of the pair with the largest fraction, so their standard
    deviations can be overstated by more than 10%.

    Parameters
    ----------
    noise : NoiseModel
        Joint errors of the model.
    place : int
        Index of the term.

    Returns
    -------
    ndarray of int64, shape (n_blocks * (n_blocks + 1) / 2,)
        Level for each pair of blocks of bins, row by row.
    """
    return _kept(noise, place, partial(_pair_levels, noise, place))


def _kept(
    noise: NoiseModel, key: Hashable, compute: Callable[[], npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Compute levels once for all claims, as a noise model never changes."""
    if key not in noise._levels:
        found = compute()
        found.setflags(write=False)
        noise._levels[key] = found
    return noise._levels[key]


def _pair_levels(noise: NoiseModel, place: int) -> npt.NDArray[np.int64]:
    bins = noise.term(place)
    factor, std = noise.factor[bins], noise.std[bins]
    first, second = _pairs(len(std), 1)
    common = (factor @ factor.T)[first, second]
    variance = std[first] ** 2 + std[second] ** 2 - 2.0 * common
    levels = _levels(variance, std[first] + std[second])
    return _by_block(levels, first, second, len(std), BLOCKS["difference"])


def range_levels(noise: NoiseModel, place: int, term: ShapeFunction) -> npt.NDArray[np.int64]:
    """Return a variance level for the contrast of each range of bins.

    Each contrast compares a range of bins with all other bins. Variances are rounded as in
    :func:`pair_levels`. The value bins are grouped into at most 16 blocks. Ranges that start in
    the same block and end in the same block share one level: that of the range with the highest
    variance relative to its maximum.

    Parameters
    ----------
    noise : NoiseModel
        Joint errors of the model.
    place : int
        Index of the term.
    term : ShapeFunction
        The term.

    Returns
    -------
    ndarray of int64, shape (n_blocks * (n_blocks + 1) / 2,)
        Level for each pair of blocks, row by row. The first block of a pair contains the first bin
        of a range, and the second block contains its last bin.
    """
    n = term.n_value_bins
    firsts, lasts = _pairs(n)
    levels = np.concatenate(list(_levels_from(range(n), noise, place, term)))
    return _by_block(levels, firsts, lasts, n, BLOCKS["range"])


def _levels_from(
    firsts: Iterable[int], noise: NoiseModel, place: int, term: ShapeFunction
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the levels of all ranges that start in each of the given bins."""
    n, bins = term.n_value_bins, noise.term(place)
    factor, std, left = noise.factor[bins], noise.std[bins], noise.remainder_std[bins] ** 2
    weights = term.weights[:, None]
    plain = np.column_stack([factor, std, np.ones(term.n_bins), left])
    rows = np.column_stack([weights * plain[:, :-1], weights**2 * plain[:, -1:], plain])
    before = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    after = np.concatenate([np.cumsum(rows[::-1], axis=0)[::-1], np.zeros((1, rows.shape[1]))])
    for first in firsts:
        one = _Moments.of(np.cumsum(rows[first:n], axis=0))
        other = _Moments.of(before[first] + after[first + 1 : n + 1])
        variance = ((one.factor - other.factor) ** 2).sum(axis=1) + one.left + other.left
        levels = _levels(variance, one.std + other.std)
        if first == 0 and n == term.n_bins:
            levels[-1] = LEVELS - 1  # there are no other bins to compare with
        yield levels


class _Moments(NamedTuple):
    """Errors of means over sets of bins, one row for each set.

    `factor` is that of the mean, `std` the mean of the standard deviations, and `left` the variance
    that the factor does not explain.
    """

    factor: FloatArray
    std: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, sums: FloatArray) -> _Moments:
        """Divide sums over bins, weighted by count and equally weighted, by their weights."""
        half = sums.shape[1] // 2
        weighted, plain = sums[:, :half], sums[:, half:]  # quicker than np.split
        used = np.where(weighted[:, -2:-1] > 0.0, weighted, plain)
        size = np.where(used[:, -2] > 0.0, used[:, -2], 1.0)  # no bins: only sums of zero
        return cls(used[:, :-3] / size[:, None], used[:, -3] / size, used[:, -1] / size**2)


def _by_block(
    levels: npt.NDArray[np.int64],
    firsts: npt.NDArray[np.int64],
    lasts: npt.NDArray[np.int64],
    n_bins: int,
    most: int,
) -> npt.NDArray[np.int64]:
    """Return the level of the largest fraction for each pair of blocks, row by row."""
    count = min(most, n_bins)
    found = np.full((count, count), LEVELS - 1)
    np.minimum.at(found, (firsts * count // n_bins, lasts * count // n_bins), levels)
    return found[_pairs(count)]


@lru_cache(maxsize=8)
def _pairs(n: int, offset: int = 0) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return ``numpy.triu_indices``, kept for claims about the same term."""
    first, second = np.triu_indices(n, offset)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second


def _levels(variance: FloatArray, largest: FloatArray) -> npt.NDArray[np.int64]:
    share = np.divide(variance, largest**2, out=np.zeros(len(variance)), where=largest > 0)
    levels = np.floor(-np.log(np.clip(share, 1e-12, 1.0)) / math.log(_RATIO) + 1e-9)
    return np.clip(levels, 0, LEVELS - 1).astype(np.int64)


def level_of(
    noise: NoiseModel | None, place: int, term: ShapeFunction, kind: Kind, bins: Sequence[int]
) -> int:
    """Return the variance level of a contrast.

    Parameters
    ----------
    noise : NoiseModel or None
    place : int
        Index of the term.
    term : ShapeFunction
    kind : {"difference", "range", "sign"}
    bins : sequence of int
        As in :func:`contrast_of`.

    Returns
    -------
    int
        The level, which :func:`share_of` converts to a fraction. It is 0 (the largest possible
        variance) for a sign, or if the joint errors are unknown.
    """
    if noise is None or kind == "sign":
        return 0
    low, high = min(bins), max(bins)
    if kind == "range":
        return _range_level(noise, place, term, low, high)
    count = min(BLOCKS["difference"], term.n_bins)
    low, high = (k * count // term.n_bins for k in (low, high))
    return int(pair_levels(noise, place)[low * count - low * (low - 1) // 2 + high - low])


def _range_level(noise: NoiseModel, place: int, term: ShapeFunction, first: int, last: int) -> int:
    """Return the level of one range; those of other blocks are not computed."""
    n = term.n_value_bins
    block, end = (k * min(BLOCKS["range"], n) // n for k in (first, last))
    key = (place, block, n, term.weights.tobytes())
    return int(_kept(noise, key, partial(_levels_from_block, noise, place, term, block))[end])


def _levels_from_block(
    noise: NoiseModel, place: int, term: ShapeFunction, block: int
) -> npt.NDArray[np.int64]:
    """Return levels of the ranges that start in a block, by their last block."""
    n = term.n_value_bins
    count = min(BLOCKS["range"], n)
    blocks = np.arange(n) * count // n
    firsts, found = np.flatnonzero(blocks == block), np.full(count, LEVELS - 1)
    for first, levels in zip(firsts, _levels_from(firsts, noise, place, term), strict=True):
        np.minimum.at(found, blocks[first:], levels)
    return found


def contrast_std(
    noise: NoiseModel | None,
    place: int,
    term: ShapeFunction,
    std: FloatArray,
    contrast: Contrast,
    bins: Sequence[int],
) -> float:
    """Return the standard deviation of a contrast, rounded up.

    A range that contains a proportion p of the records differs from the average by 1 - p times its
    difference from all other bins. The difference between two ranges is therefore a weighted sum of
    their differences from all others, and its standard deviation is at most the same weighted sum
    of their standard deviations. This holds for any correlation, needs only the levels of single
    ranges, and gives an interval that holds whenever those of both ranges do.

    Parameters
    ----------
    noise : NoiseModel or None
        Joint errors; None if unknown.
    place : int
        Index of the term.
    term : ShapeFunction
    std : ndarray of shape (n_bins,)
        Standard deviation of each bin.
    contrast : Contrast
        Output of :func:`contrast_of`.
    bins : sequence of int
        As in :func:`contrast_of`.

    Returns
    -------
    float
    """
    if contrast.kind == "ranges":
        total = 0.0
        for ends in (bins[:2], bins[2:]):
            others = 1.0 - float(term.weights[ends[0] : ends[1] + 1].sum())
            each = contrast_of(term, "range", ends)
            total += others * contrast_std(noise, place, term, std, each, ends)
        return total
    level = level_of(noise, place, term, contrast.kind, bins)
    return math.sqrt(share_of(level)) * float(np.abs(contrast.loads) @ std)


def difference_std(
    noise: NoiseModel | None, place: int, term: ShapeFunction, std: FloatArray
) -> FloatArray:
    """Return the standard deviation of the difference between each pair of bins.

    Parameters
    ----------
    noise : NoiseModel or None
        Joint errors; None if unknown.
    place : int
        Index of the term.
    term : ShapeFunction
    std : ndarray of shape (n_bins,)
        Standard deviation of each bin.

    Returns
    -------
    ndarray of shape (n_bins, n_bins)
        Rounded up as in :func:`pair_levels`; the diagonal has no meaning.
    """
    largest = std[:, None] + std[None, :]
    if noise is None:
        return np.asarray(largest)
    count = min(BLOCKS["difference"], term.n_bins)
    levels = np.zeros((count, count))
    levels[_pairs(count)] = pair_levels(noise, place)
    levels = np.maximum(levels, levels.T)  # one of the two is zero, off the diagonal
    blocks = np.arange(term.n_bins) * count // term.n_bins
    return np.asarray(np.sqrt(_RATIO ** -levels[np.ix_(blocks, blocks)]) * largest)
