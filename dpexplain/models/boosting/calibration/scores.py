"""Distribution of the scores of the records, from released numbers only.

The released counts of each feature give the distribution of its contributions, and hence that of
their sum if features were independent. Correlated features make scores more (or less) spread out;
the released pair sums tell by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.pairs import PairSums, order_of_bins, shares

FloatArray = NDArray[np.float64]

N_CELLS = 512
"""Number of cells into which scores are divided; a power of two."""

_REACH = 8.0
"""Range of the cells on each side of the mean, in standard deviations of the scores."""

_LEAST_STD = 0.01
"""Minimum standard deviation of the scores, in log-odds, for the width of the cells."""

_USUAL_CORRELATION = 0.35
"""Prior standard deviation of the correlation between two features."""

_LEAST_HALF = 1e-3


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Equal-width cells of the score, with the estimated proportion of records in each.

    Attributes
    ----------
    low, width : float
        Lower end of the first cell, and width of each cell, in log-odds.
    weights : ndarray of shape (n_cells,)
        Proportion of the records in each cell.
    """

    low: float
    width: float
    weights: FloatArray

    @property
    def middles(self) -> FloatArray:
        """Score in the middle of each cell, shape (n_cells,)."""
        return self.low + self.width * (np.arange(len(self.weights)) + 0.5)


def score_cells(
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    pairs: PairSums | None,
    n_samples: float,
) -> ScoreCells:
    """Estimate the distribution of the sum of all curves over the records.

    Parameters
    ----------
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves, whose sum is the score.
    pairs : PairSums or None
        Released pair sums. If None, features are treated as independent.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    ScoreCells
    """
    weights = [shares(c) for c in counts]
    means = [float(w @ curve) for w, curve in zip(weights, curves, strict=True)]
    variance = sum(float(w @ (c - m) ** 2) for w, c, m in zip(weights, curves, means, strict=True))
    alone = max(float(np.sqrt(variance)), _LEAST_STD)
    width = 2.0 * _REACH * alone / N_CELLS
    spectrum = np.ones(N_CELLS // 2 + 1, dtype=np.complex128)
    for w, curve, mean in zip(weights, curves, means, strict=True):
        # Each contribution is divided between the two nearest cells, on a circle around the mean.
        place = (curve - mean) / width
        cell = np.floor(place)
        on_circle = np.zeros(N_CELLS)
        np.add.at(on_circle, cell.astype(np.intp) % N_CELLS, w * (1.0 - (place - cell)))
        np.add.at(on_circle, (cell.astype(np.intp) + 1) % N_CELLS, w * (place - cell))
        spectrum *= np.fft.rfft(on_circle)
    found = np.maximum(np.roll(np.fft.irfft(spectrum, N_CELLS), N_CELLS // 2), 0.0)
    together = variance + _covariances(counts, weights, curves, pairs, n_samples)
    spread = float(np.sqrt(max(together, 0.25 * variance))) if variance else alone
    width *= max(spread / alone, 0.5)
    low = sum(means) - (N_CELLS // 2 + 0.5) * width
    return ScoreCells(low, width, found / found.sum())


def _covariances(
    counts: Sequence[BinCounts],
    weights: Sequence[FloatArray],
    curves: Sequence[FloatArray],
    pairs: PairSums | None,
    n_samples: float,
) -> float:
    """Return the sum of the covariances between all curves, over ordered pairs of features.

    Bins are assumed to come from latent normal variables. To first order in the correlation r of
    two such variables, the covariance of two curves is r times the product of their covariances
    with their own variables.
    """
    if pairs is None:
        return 0.0
    with_own = np.zeros(len(curves))
    above = np.zeros(len(curves))
    for k, (count, w, curve) in enumerate(zip(counts, weights, curves, strict=True)):
        order = order_of_bins(count, curve)
        ends = _normal_density(np.concatenate([[0.0], np.cumsum(w[order])]))
        with_own[k] = (ends[:-1] - ends[1:]) @ curve[order]
        above[k] = w[pairs.upper[k]].sum()
    above = np.clip(above, _LEAST_HALF, 1.0 - _LEAST_HALF)
    density, sign = _normal_density(above), 2.0 * above - 1.0
    first, second = np.triu_indices(len(curves), 1)
    n = max(n_samples, 1.0)
    # Covariance of the two signs, and how fast it grows with the correlation.
    agreement = pairs.sums / n - sign[first] * sign[second]
    rate = 4.0 * density[first] * density[second]
    correlation = np.sin(np.clip(agreement / rate, -np.pi / 2.0, np.pi / 2.0))
    variance = (pairs.noise_std**2 / n**2 + 1.0 / n) / rate**2
    correlation *= _USUAL_CORRELATION**2 / (_USUAL_CORRELATION**2 + variance)
    return 2.0 * float(correlation @ (with_own[first] * with_own[second]))


def _normal_density(below: FloatArray) -> FloatArray:
    """Return the standard normal density at the given quantiles."""
    z = ndtri(np.clip(below, 1e-9, 1.0 - 1e-9))
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))
