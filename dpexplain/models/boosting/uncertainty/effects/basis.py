"""Basis functions on the bins of a term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.groups import shares

if TYPE_CHECKING:
    from dpexplain.binning.bins import FeatureBins
    from dpexplain.binning.counts import BinCounts

FloatArray = NDArray[np.float64]

MOST = 400
"""Maximum total number of functions of all ordered terms."""

_MOST_ORDERED, _LEAST_ORDERED = 24, 4
_MOST_CATEGORIES = 250
_LENGTH = 0.25
"""Correlation length of the smooth part of a curve, as a fraction of the range of the feature."""

_JUMPS = 0.5
"""Fraction of the prior variance that belongs to the part of a curve that may jump."""

_KEPT = 0.9995
_LEAST_SHARE = 1e-5
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis functions on the bins of one term.

    Attributes
    ----------
    functions : ndarray of shape (n_bins, n_functions)
        Basis functions. A combination with independent standard normal coefficients is a curve
        with (nearly) the prior covariance and with mean zero over the records.
    left_out : ndarray of shape (n_bins,)
        Part of each bin's prior variance that the functions do not cover.
    shares : ndarray of shape (n_bins,)
        Proportion of the records in each bin.
    """

    functions: FloatArray
    left_out: FloatArray
    shares: FloatArray


def basis_of_term(bins: FeatureBins, counts: BinCounts, n_terms: int) -> Basis:
    """Choose the basis functions of one term.

    In the prior of an ordered feature, a curve is the sum of two independent parts: a smooth part,
    which includes a straight line, and a part that can jump (Brownian motion). Both are functions
    of an axis, along which their variances have equal averages before curves are centered. The
    covariance is averaged over two axes: values, and one halfway between values and ranks. On the
    second one alone, curves could hardly change where there are few records, however far apart
    their values are. In the prior of an unordered feature, categories are independent. Averaged
    over the records, the prior variance of a centered curve is 1. If all records are in one bin,
    the only function is zero. In ordered bins without records, a curve is as expected from the
    other bins.

    Parameters
    ----------
    bins : FeatureBins
    counts : BinCounts
        Noisy number of records per bin.
    n_terms : int
        Number of terms in the model, among which the maximum number of functions is divided.

    Returns
    -------
    Basis
    """
    share = shares(counts)
    n_bins, n_values = len(share), len(share) - counts.n_special
    covariance = np.eye(n_bins)
    most = _MOST_CATEGORIES
    if counts.ordered:
        axes = _axes(bins.edges, share[:n_values])
        covariance[:n_values, :n_values] = np.mean([_ordered(x) for x in axes], axis=0)
        most = int(np.clip(MOST // n_terms, _LEAST_ORDERED, _MOST_ORDERED))
    seen = share > 0.0
    weights = np.where(seen, np.maximum(share, _LEAST_SHARE), 0.0)
    weights /= weights.sum()
    centering = np.eye(n_bins) - weights
    covariance = centering @ covariance @ centering.T
    variance = float(weights @ np.diag(covariance))
    if not variance > _LEAST_VARIANCE:
        return Basis(np.zeros((n_bins, 1)), np.where(seen, 0.0, 1.0), share)
    covariance /= variance
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * covariance * root)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    n_kept = int((np.cumsum(values) < _KEPT * values.sum()).sum()) + 1
    kept = slice(0, min(most, n_kept))
    functions = np.zeros((n_bins, len(values[kept])))
    functions[seen] = vectors[seen, kept] * np.sqrt(values[kept]) / root[seen, None]
    if counts.ordered:  # bins without records continue the curve (Nyström's formula)
        there = seen | (np.arange(n_bins) < n_values)
        continued = covariance @ (root[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
        functions[there & ~seen] = continued[there & ~seen]
        seen = there
    left = np.where(seen, np.diag(covariance) - (functions**2).sum(axis=1), 1.0)
    left = np.maximum(left, 0.0)
    return Basis(functions, np.asarray(left), share)


def projected(basis: Basis, curve: FloatArray) -> FloatArray:
    """Return the coefficients whose curve is closest to a given curve.

    Parameters
    ----------
    basis : Basis
    curve : ndarray of shape (n_bins,) or (n_bins, n_curves)

    Returns
    -------
    ndarray of shape (n_functions,) or (n_functions, n_curves)
    """
    weighted = basis.functions * basis.shares[:, None]
    inner = weighted.T @ basis.functions + 1e-6 * np.eye(weighted.shape[1])
    return np.asarray(np.linalg.solve(inner, weighted.T @ curve))


def values_at(bases: Sequence[Basis], bins: NDArray[np.int64]) -> FloatArray:
    """Return a column of ones and the values of all basis functions at each point.

    Parameters
    ----------
    bases : sequence of Basis
        One basis for each term.
    bins : ndarray of shape (n_records, n_terms)
        Bin of each point in each term.

    Returns
    -------
    ndarray of shape (n_records, 1 + n_functions)
    """
    ends = 1 + np.cumsum([basis.functions.shape[1] for basis in bases])
    columns = np.ones((len(bins), ends[-1]))
    for k, (basis, end) in enumerate(zip(bases, ends, strict=True)):
        columns[:, end - basis.functions.shape[1] : end] = basis.functions[bins[:, k]]
    return columns


def _ordered(x: FloatArray) -> FloatArray:
    """Return the prior covariance of a curve at positions from 0 to 1."""
    apart = np.abs(np.subtract.outer(x, x))
    smooth = 0.5 * np.exp(-0.5 * (apart / _LENGTH) ** 2)
    straight = 6.0 * np.multiply.outer(x - 0.5, x - 0.5)
    jumps = 1.0 - apart
    return np.asarray((1.0 - _JUMPS) * (smooth + straight) + _JUMPS * jumps)


def _axes(edges: FloatArray | None, share: FloatArray) -> list[FloatArray]:
    """Return positions of bins from 0 to 1: values, and halfway to ranks."""
    ranks = np.cumsum(share) - share / 2.0
    n = len(share)
    values = np.arange(n, dtype=np.float64) if edges is None else (edges[1:] + edges[:-1]) / 2.0
    steps = np.sqrt(np.diff(values) * np.maximum(np.diff(ranks), 1e-6))
    halfway = np.concatenate([[0.0], np.cumsum(steps)])
    return [(x - x[0]) / max(float(x[-1] - x[0]), 1e-300) for x in (values, halfway)]
