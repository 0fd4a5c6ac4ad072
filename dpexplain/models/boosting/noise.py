"""How much of a shape function is noise of its leaf sums, from released quantities alone.

The noise that went into every leaf sum is known in distribution, and so is how the
boosting recursion reacts to it: an error d of the score in a bin lowers the next
residual sum there by d times the curvature of the loss. Simulating that recursion in
the space of bins needs no record, so it is post-processing and costs no privacy. Adding
up the injected variances instead would be too wide, since later rounds repair what
earlier noise did.

The simulation takes the released bins and the drawn trees as they are: what noise in the
histograms and other random trees would have changed is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import inverse_link
from dpexplain.models.boosting.structure import BinCounts, Visit
from dpexplain.models.boosting.terms import AdditiveTerms

N_SIMULATIONS = 200
"""Simulated fits; the relative error of a standard deviation is 1 / sqrt(2 * 200) = 5 %."""

_SEED = 20210718  # post-processing: the same model always shows the same band


def noise_std_per_bin(
    features: Sequence[BinCounts],
    visits: Sequence[Visit],
    curvature: Sequence[NDArray[np.float64]],
    *,
    learning_rate: float,
    leaf_noise_std: float,
    n_simulations: int = N_SIMULATIONS,
) -> list[NDArray[np.float64]]:
    """Simulate the standard deviation that privacy noise gives each bin of each centred term.

    Parameters
    ----------
    features : sequence of BinCounts
        Released histograms after merging.
    visits : sequence of Visit
        All trees of the fit.
    curvature : sequence of ndarray of shape (n_bins,)
        Second derivative of the loss, summed over the (noisily counted) people of each bin.
    learning_rate : float
        Share of a leaf's mean that is added.
    leaf_noise_std : float
        Noise standard deviation of one leaf sum, in score units.
    n_simulations : int, default=200
        Simulated fits.

    Returns
    -------
    list of ndarray of shape (n_bins,)
        In score units.
    """
    rng = np.random.default_rng(_SEED)
    errors = [np.zeros((n_simulations, len(f.counts))) for f in features]
    shares = [w / max(w.sum(), 1e-12) for w in curvature]
    means = np.zeros((len(features), n_simulations))
    for visit in visits:
        k, n_leaves = visit.feature, len(visit.leaf_weight)
        in_leaf = np.zeros((len(visit.leaf_of_bin), n_leaves))
        in_leaf[np.arange(len(visit.leaf_of_bin)), visit.leaf_of_bin] = curvature[k]
        elsewhere = means.sum(axis=0) - means[k]
        reaction = errors[k] @ in_leaf + np.outer(elsewhere, in_leaf.sum(axis=0))
        noise = leaf_noise_std * rng.standard_normal((n_simulations, n_leaves))
        update = learning_rate * (noise - reaction) / visit.leaf_weight
        errors[k] += update[:, visit.leaf_of_bin]
        means[k] = errors[k] @ shares[k]

    def fitted(trees: Sequence[Visit]) -> bool:
        return any(len(tree.leaf_weight) > 1 for tree in trees)

    stds = [_centred_std(e, f) for e, f in zip(errors, features, strict=True)]
    trees = [[v for v in visits if v.feature == k] for k in range(len(features))]
    return [
        std if fitted(t) else _std_of_two_halves(f, t, learning_rate, leaf_noise_std)
        for std, f, t in zip(stds, features, trees, strict=True)
    ]


def _std_of_two_halves(
    feature: BinCounts, trees: Sequence[Visit], learning_rate: float, leaf_noise_std: float
) -> NDArray[np.float64]:
    """Noise of a term that could not be fitted, since no tree had people enough for two leaves.

    Its curve is zero, which is not knowledge. It carries the noise that as many trees of two
    equal leaves would have added up to.
    """
    people = max(float(np.maximum(feature.counts, 0.0).sum()), 1.0)
    std = learning_rate * leaf_noise_std / (people / 2.0) * np.sqrt(len(trees))
    return np.full(len(feature.counts), std)


def _centred_std(errors: NDArray[np.float64], feature: BinCounts) -> NDArray[np.float64]:
    # The weights with which the term itself is centred. Bins that contribute nothing keep
    # the band that their own estimate would have had.
    weights = np.where(feature.perhaps_nobody, 0.0, np.maximum(feature.counts, 0.0))
    if weights.sum() > 0:
        errors = errors - (errors @ (weights / weights.sum()))[:, None]
    return np.sqrt((errors**2).mean(axis=0))


def squared_curvature(terms: AdditiveTerms) -> list[NDArray[np.float64]]:
    """Curvature of the squared loss per bin: one per person."""
    return [np.maximum(c, 0.0) for c in terms.counts]


def logistic_curvature(terms: AdditiveTerms) -> list[NDArray[np.float64]]:
    """Curvature of the logistic loss per bin: people times their mean p (1 - p).

    The scores of the other terms are taken as normal with the variance that the
    released model gives them, as if features were independent.
    """
    weights = [np.maximum(c, 0.0) for c in terms.counts]
    variances = np.array(
        [
            float(w @ s**2 / w.sum()) if w.sum() > 0 else 0.0
            for w, s in zip(weights, terms.scores, strict=True)
        ]
    )
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(9)
    node_weights = node_weights / node_weights.sum()
    curvature = []
    for k, (w, s) in enumerate(zip(weights, terms.scores, strict=True)):
        spread = np.sqrt(max(variances.sum() - variances[k], 0.0))
        p = inverse_link(terms.intercept + s[:, None] + spread * nodes[None, :], "logit")
        curvature.append(w * ((p * (1.0 - p)) @ node_weights))
    return curvature
