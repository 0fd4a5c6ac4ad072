"""Noise: drawn in one place, added to integers, each draw used once."""

from __future__ import annotations

from dpexplain.mechanisms.coins import Coins, SecretCoins, SeededCoins, secret_coins
from dpexplain.mechanisms.gaussian import GaussianMechanism
from dpexplain.mechanisms.noise import NOISE_BACKENDS, NoiseBackend, NoiseSource
from dpexplain.mechanisms.phases import AnyPhase, ChoicePhase, LaplacePhase, Phase, SampledPhase

__all__ = [
    "NOISE_BACKENDS",
    "AnyPhase",
    "ChoicePhase",
    "Coins",
    "GaussianMechanism",
    "LaplacePhase",
    "NoiseBackend",
    "NoiseSource",
    "Phase",
    "SampledPhase",
    "SecretCoins",
    "SeededCoins",
    "secret_coins",
]
