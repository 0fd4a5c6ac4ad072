"""Distribution of the records' scores, computed from released numbers only.

The released counts of each feature give the distribution of its contributions and, if features are
assumed to be independent, that of their sum. Noisy counts of the records in a few groups of scores
then show how correlations between features change this distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares

FloatArray = NDArray[np.float64]

N_CELLS = 512
"""Number of cells into which scores are divided; a power of two."""

_REACH = 12.0
"""Range of the cells on each side of the mean, in standard deviations of the scores."""

_LEAST_STD = 0.01
"""Minimum standard deviation of the scores for the width of the cells."""

_WIDER, WIDER_SHARE = 2.0, 0.02
"""A small part of the distribution is normal and this much wider, so that no group is empty."""

WIDER_SHARE_OF_COUNTS = 0.002
"""For counts: the highest scores have a large part of all events, however few records have them."""

_USUAL_ERROR = 0.5, 0.02
"""Prior standard deviation of the share of a group: relative to the share, and absolute."""

_LEAST_FACTOR = 0.1


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Equal-width cells of the score, with the estimated share of records in each.

    Attributes
    ----------
    low, width : float
        Lower end of the first cell, and width of each cell, in units of the scores.
    weights : ndarray of shape (n_cells,)
        Proportion of the records in each cell.
    """

    low: float
    width: float
    weights: FloatArray

    @property
    def middles(self) -> FloatArray:
        """Score in the middle of each cell, shape (n_cells,)."""
        return np.asarray(self.low + self.width * (np.arange(len(self.weights)) + 0.5))


def score_cells(
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    *,
    wider_share: float = WIDER_SHARE,
) -> ScoreCells:
    """Compute the distribution of the scores, assuming independent features.

    Parameters
    ----------
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves, whose sum is the score.
    wider_share : float, default=0.02
        Part of the distribution that is wider.

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
    low = sum(means) - (N_CELLS // 2 + 0.5) * width
    away = (np.arange(N_CELLS) - N_CELLS // 2) * width / (_WIDER * alone)
    wider = np.exp(-0.5 * away**2)
    found = (1.0 - wider_share) * found / found.sum() + wider_share * wider / wider.sum()
    return ScoreCells(low, width, found)


def reweighted(
    cells: ScoreCells,
    group: NDArray[np.intp],
    counts: FloatArray,
    n_samples: float,
    std: float,
    *,
    far_matters: bool = False,
) -> ScoreCells:
    """Adjust the proportion of records in each group of cells to match noisy counts.

    Parameters
    ----------
    cells : ScoreCells
    group : ndarray of shape (n_cells,)
        Group of each cell.
    counts : ndarray of shape (n_groups,)
        Noisy number of records in each group.
    n_samples : float
        Noisy number of records.
    std : float
        Standard deviation of the noise in a count.
    far_matters : bool, default=False
        Whether a group with a share close to 0 may matter as much as any other, so that noise must
        not fill it. Then the prior variance falls with the share.

    Returns
    -------
    ScoreCells
        The proportion of records in each group is its posterior mean; within a group, the cells
        keep their relative proportions.
    """
    weights = regrouped(cells.weights, group, counts, n_samples, std, far_matters=far_matters)
    return replace(cells, weights=weights)


def regrouped(
    weights: FloatArray,
    group: NDArray[np.intp],
    counts: FloatArray,
    n_samples: float,
    std: float,
    *,
    far_matters: bool = False,
) -> FloatArray:
    """Return the weights that `reweighted` gives, for anything in groups."""
    n = max(n_samples, 1.0)
    own = np.bincount(group, weights, len(counts))
    absolute = _USUAL_ERROR[1] * own if far_matters else _USUAL_ERROR[1] ** 2
    prior = (_USUAL_ERROR[0] * own) ** 2 + absolute
    found = own + (counts / n - own) * prior / (prior + std**2 / n**2)
    factor = np.maximum(found, _LEAST_FACTOR * own) / np.where(own > 0.0, own, 1.0)
    weights = weights * factor[group]
    return np.asarray(weights / weights.sum())
