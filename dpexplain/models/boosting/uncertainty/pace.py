"""Step lengths of the later passes, chosen from what the first passes released.

Some curves are learned after a few passes, and later steps mostly add noise to them. Others need
every pass. The released sums tell which: if the differences between the leaves of a tree are larger
than noise and sampling explain, the curve is still incomplete. The choice uses only released
numbers, so it costs no privacy. It changes no sensitivity either: steps decide what is done with
released sums, and the residuals in later sums are clipped whatever the scores are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.released import LeafSteps
from dpexplain.models.boosting.structure import Visits

FloatArray = NDArray[np.float64]

_USUAL = 0.3
"""Excess at which steps keep their length: the square of a difference between leaves, in units of
its variance without an effect, minus 1."""

_POWER = 0.5
_RANGE = 0.75, 1.7
"""Range of the factor by which steps are multiplied."""

_PSEUDO = 16.0
"""Weight of all features together in the excess of one of them, as a number of differences."""


def look_after(n_epochs: int) -> int:
    """Return the number of passes before the step lengths are chosen; 0 for never."""
    return n_epochs // 2 if n_epochs >= 4 else 0


def paces(visits: Visits, taken: LeafSteps, noise_per_clip: float, scatter: float) -> FloatArray:
    """Return the factor by which the later steps of each feature are multiplied.

    The factor follows the excess in the second half of the given visits.

    Parameters
    ----------
    visits : Visits
        The visits of the first passes.
    taken : LeafSteps
        Their releases.
    noise_per_clip : float
        Noise standard deviation of one leaf sum, in units of the clip.
    scatter : float
        Variance of a residual around a learned curve, in squared units of the clip.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    n_features = len(visits.n_bins)
    used = np.arange(visits.leaf_weight.shape[1]) < visits.n_leaves[:, None]
    weights = np.where(used, visits.leaf_weight, 0.0)
    released = taken.sums.reshape(len(taken.sums), -1)
    sums = np.zeros((*used.shape, released.shape[1]))
    sums[used] = released
    variance = (noise_per_clip * taken.clip[:, None]) ** 2
    variance = variance + scatter * taken.clip[:, None] ** 2 * weights
    # A mean residual that all leaves share is not part of the curve.
    pull = weights / variance
    means = (pull[:, :, None] * sums).sum(axis=1) / (pull * weights).sum(axis=1)[:, None]
    apart = sums - weights[:, :, None] * means[:, None]
    squares = (apart**2 / variance[:, :, None]).sum(axis=(1, 2))
    n_differences = (visits.n_leaves - 1) * sums.shape[2]
    late = np.arange(len(visits)) >= len(visits) // 2
    of_feature = [
        np.bincount(visits.feature[late], each[late], n_features)
        for each in (squares - n_differences, n_differences)
    ]
    excess, n = of_feature
    together = excess.sum() / max(n.sum(), 1.0)
    ratio = np.maximum((excess + _PSEUDO * together) / (n + _PSEUDO), 0.0) / _USUAL
    return np.asarray(np.clip(ratio**_POWER, *_RANGE))
