"""Explanations of one curve whose bins have known joint errors."""

from __future__ import annotations

import math

import numpy as np

from dpexplain.explain import GlobalExplanation, NoiseModel, ShapeFunction
from example_explanations import classifier, private_guarantee


def exact_std(noise: NoiseModel, place: int, loads) -> float:
    """Return the standard deviation of a weighted sum of the bins of a term."""
    bins = noise.term(place)
    covariance = noise.factor[bins] @ noise.factor[bins].T
    covariance += np.diag(noise.remainder_std[bins] ** 2)
    return math.sqrt(loads @ covariance @ loads)


def some_noise(seed: int, n_bins: int, rank: int) -> NoiseModel:
    """Draw joint errors of one term and the intercept."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n_bins + 1, rank)) + rng.normal(size=rank)
    return NoiseModel((n_bins,), factor, rng.uniform(0.01, 1.0, n_bins + 1))


def explanation_of(curve, noise: NoiseModel) -> GlobalExplanation:
    """Make an explanation of one numeric term with these joint errors."""
    n = len(curve)
    std = noise.std[:n]
    term = ShapeFunction(
        "x", "numeric", curve, np.full(n, 100.0), bin_edges=np.arange(n + 1.0),
        guarantee=private_guarantee(), noise_std=std, simultaneous_factor=3.0,
    )  # fmt: skip
    return classifier(terms=(term,), noise=noise)
