"""Noise: drawn in one place, added to integers, each draw used once."""

from __future__ import annotations

from dpexplain.mechanisms.coins import secret_coins
from dpexplain.mechanisms.exponential import ChoicePhase
from dpexplain.mechanisms.gaussian import AnyPhase, GaussianMechanism, Phase, SampledPhase
from dpexplain.mechanisms.laplace import LaplacePhase
from dpexplain.mechanisms.noise import NOISE_BACKENDS, NoiseBackend, NoiseSource

__all__ = [
    "NOISE_BACKENDS",
    "AnyPhase",
    "ChoicePhase",
    "GaussianMechanism",
    "LaplacePhase",
    "NoiseBackend",
    "NoiseSource",
    "Phase",
    "SampledPhase",
    "secret_coins",
]
