"""How strongly features depend on each other, and which pairs get a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_tables.mixtures import learned_weights

FloatArray = NDArray[np.float64]

_LEAST_STRENGTH = 0.02
"""Pairs with a smaller strength get no table, unless all have."""

_STRENGTHS = np.concatenate([[0.0], np.geomspace(0.005, 1.0, 41)])
_ADDED = np.append(1.5, np.full(41, 1.5 / 41))
"""Number of additional pairs that are assumed to have each strength."""

_FARTHEST = 10.0


def strengths(
    distances: FloatArray, by_chance: FloatArray, noise_std: float, n_samples: float
) -> FloatArray:
    """Estimate total variation distances from independence.

    In most tables, most features are nearly independent. So the prior has a spike at zero, and its
    weights fit all pairs.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs,)
        Noisy sum of the differences between joint counts and those of independent features.
    by_chance : ndarray of shape (n_pairs,)
        Sum to expect if the features are independent, because counts vary.
    noise_std : float
        Standard deviation of the noise in the distances.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Root mean square of the posterior.
    """
    n = max(n_samples, 1.0)
    chance = by_chance[:, None] / n
    expected = np.sqrt((2.0 * _STRENGTHS) ** 2 + chance**2)
    std = np.hypot(noise_std / n, 0.1 * chance)
    seen = np.clip(distances / n, -_FARTHEST, _FARTHEST)
    log = -0.5 * ((seen[:, None] - expected) / std) ** 2
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    owned = likelihood * learned_weights(likelihood, _ADDED)
    owned /= owned.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(owned @ _STRENGTHS**2))


def spanning_pairs(
    pairs: Sequence[tuple[int, int]], strength: FloatArray, n_features: int
) -> list[tuple[int, int]]:
    """Return a maximum spanning forest [1]_, in the order of `PairTables`.

    Parameters
    ----------
    pairs : sequence of (int, int)
    strength : ndarray of shape (n_pairs,)
    n_features : int

    Returns
    -------
    list of (int, int)
        At least one pair.

    References
    ----------
    .. [1] Chow and Liu, "Approximating Discrete Probability Distributions with Dependence Trees",
       IEEE Transactions on Information Theory 14 (1968).
    """
    tree, near = list(range(n_features)), [list[int]() for _ in range(n_features)]
    for place in np.argsort(-strength, kind="stable"):
        first, second = pairs[place]
        if tree[first] == tree[second]:
            continue
        if strength[place] < _LEAST_STRENGTH and any(near):
            break
        tree = [tree[first] if k == tree[second] else k for k in tree]
        near[first].append(second)
        near[second].append(first)
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    for root in sorted(range(n_features), key=lambda k: -len(near[k])):
        queue = [root] if root not in seen else []
        seen.add(root)
        for feature in queue:
            for other in near[feature]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    found.append((feature, other))
    return found
