"""Correlation of each pair of features, estimated from released pair sums.

Bins are assumed to come from latent normal variables (a Gaussian copula). In this case, the number
of records in the upper half of both features determines the correlation of the two features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.models.boosting.pair_tables.mixtures import learned_weights
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.uncertainty.effects.dependence.copula import both_below

FloatArray = NDArray[np.float64]

PRIOR_STD = 0.35
"""Prior standard deviation of the Fisher transform of a correlation, if no sums were released."""

_WIDTHS = np.array([0.01, 0.02, 0.04, 0.08, 0.16, PRIOR_STD])
"""Standard deviations of the components of the prior, if sums were released. Often, most features
of a table are nearly independent, so the weights of the components fit all pairs."""

_ADDED = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
"""Number of additional pairs that are assumed to come from each component."""

GRID = np.linspace(-0.995, 0.995, 399)
_PARTS = np.exp(-0.5 * (np.arctanh(GRID) / _WIDTHS[:, None]) ** 2)
_PARTS /= _PARTS.sum(axis=1, keepdims=True)
_LEAST_HALF = 1e-3
_LEAST_STD = 1e-3


def correlations(
    pairs: PairSums | None,
    counts: Sequence[BinCounts],
    n_samples: float,
    more: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean and standard deviation of pairwise correlations.

    Parameters
    ----------
    pairs : PairSums or None
        Released pair sums. If None, the prior mean and standard deviation are returned.
    counts : sequence of BinCounts
    n_samples : float
        Noisy number of records.
    more : ndarray of shape (n_pairs, n_grid) or None, default=None
        Log-likelihood of the correlations in `GRID` given other releases.

    Returns
    -------
    mean, std : ndarray of shape (n_pairs,)
        Arrays with one value per pair, in the order of ``numpy.triu_indices``.
    """
    first, second = np.triu_indices(len(counts), 1)
    if pairs is None:
        return np.zeros(len(first)), np.full(len(first), PRIOR_STD)
    n = max(n_samples, 1.0)
    above = np.array([shares(c)[u].sum() for c, u in zip(counts, pairs.upper, strict=True)])
    above = np.clip(above, _LEAST_HALF, 1.0 - _LEAST_HALF)
    both = (pairs.sums / n - 1.0 + 2.0 * above[first] + 2.0 * above[second]) / 4.0
    score = ndtri(above)
    expected = both_below(score[first], score[second], GRID).T
    # The proportion of records above both cuts also varies between samples of records.
    std = np.hypot(pairs.noise_std / (4.0 * n), 0.25 / np.sqrt(n))
    log = -0.5 * ((expected - both[:, None]) / std) ** 2 + (0.0 if more is None else more)
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    chance = likelihood * (learned_weights(likelihood @ _PARTS.T, _ADDED) @ _PARTS)
    chance /= chance.sum(axis=1, keepdims=True)
    mean = chance @ GRID
    spread = np.sqrt(np.maximum(chance @ GRID**2 - mean**2, _LEAST_STD**2))
    return mean, spread
