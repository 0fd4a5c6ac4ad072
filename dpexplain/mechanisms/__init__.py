"""Noise: drawn in one place, added to integers, each draw used once."""

from __future__ import annotations

from dpexplain.mechanisms.coins import secret_coins
from dpexplain.mechanisms.gaussian import GaussianMechanism, Phase, SampledPhase
from dpexplain.mechanisms.noise import NOISE_BACKENDS, NoiseBackend, NoiseSource

__all__ = [
    "NOISE_BACKENDS",
    "GaussianMechanism",
    "NoiseBackend",
    "NoiseSource",
    "Phase",
    "SampledPhase",
    "secret_coins",
]
