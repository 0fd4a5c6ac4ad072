"""Contrasts of a curve: differences between weighted means of its bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.noise_model import NoiseModel, half_width

Kind = Literal["difference", "range", "sign"]

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
    kind : {"difference", "range", "sign"}
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
    kind : {"difference", "range", "sign"}
    bins : sequence of int
        For "difference", the two bins to compare. For "range", the first and last bins of the
        range, which is compared with all other bins. For "sign", one bin, which is compared with
        zero.

    Returns
    -------
    Contrast
    """
    places = np.arange(term.n_bins)
    if kind == "range":
        inside = (places >= bins[0]) & (places <= bins[1])
        first, second = _means(term, inside[None])
        return Contrast(kind, first[0], second[0])
    one = (places == bins[0]).astype(np.float64)
    other = (places == bins[1]) if kind == "difference" else np.zeros(term.n_bins)
    return Contrast(kind, one, np.asarray(other, dtype=np.float64))


def _means(term: ShapeFunction, inside: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return the weights for averaging over a set of bins, and over all other bins.

    `inside` has one row for each set and one column for each bin, as do both results. The weights
    of the averaged bins are proportional to the (noisy) counts, or equal if the counts of all
    averaged bins are zero. Bins that are not averaged have a weight of zero.
    """

    def mean(chosen: npt.NDArray[np.bool_]) -> FloatArray:
        weights = np.where(chosen, term.weights, 0.0)
        empty = weights.sum(axis=1, keepdims=True) <= 0.0
        weights = np.where(empty, chosen, weights)
        return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))

    return mean(inside), mean(~inside)


def factor_of(kind: Kind, term: ShapeFunction) -> float:
    """Return the half-width of simultaneous intervals, in standard deviations.

    The intervals hold simultaneously for all claims of one kind about a term; see
    :func:`dpexplain.explain.noise_model.half_width`.

    Parameters
    ----------
    kind : {"difference", "range", "sign"}
    term : ShapeFunction

    Returns
    -------
    float
    """
    n, m = term.n_bins, term.n_value_bins
    count = {"difference": n * (n - 1) // 2, "range": m * (m + 1) // 2, "sign": n}[kind]
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
    bins = noise.term(place)
    factor, std = noise.factor[bins], noise.std[bins]
    first, second = np.triu_indices(len(std), 1)
    common = np.einsum("ij,ij->i", factor[first], factor[second])
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
    firsts, lasts = np.triu_indices(term.n_value_bins)
    places = np.arange(term.n_bins)
    inside = (places >= firsts[:, None]) & (places <= lasts[:, None])
    first, second = _means(term, inside)
    loads = first - second
    bins = noise.term(place)
    variance = ((loads @ noise.factor[bins]) ** 2).sum(axis=1)
    variance += loads**2 @ noise.remainder_std[bins] ** 2
    levels = _levels(variance, np.abs(loads) @ noise.std[bins])
    levels[inside.all(axis=1)] = LEVELS - 1  # there are no other bins to compare with
    return _by_block(levels, firsts, lasts, term.n_value_bins, BLOCKS["range"])


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
    return found[np.triu_indices(count)]


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
    is_range = kind == "range"
    n_bins = term.n_value_bins if is_range else term.n_bins
    levels = range_levels(noise, place, term) if is_range else pair_levels(noise, place)
    count = min(BLOCKS[kind], n_bins)
    low, high = (k * count // n_bins for k in (min(bins), max(bins)))
    return int(levels[low * count - low * (low - 1) // 2 + high - low])


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
    levels[np.triu_indices(count)] = pair_levels(noise, place)
    levels = np.maximum(levels, levels.T)  # one of the two is zero, off the diagonal
    blocks = np.arange(term.n_bins) * count // term.n_bins
    return np.asarray(np.sqrt(_RATIO ** -levels[np.ix_(blocks, blocks)]) * largest)
