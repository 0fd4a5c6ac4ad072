"""Mechanisms that add integer noise, using each draw only once."""

from __future__ import annotations

from dpexplain.mechanisms.coins import Coins, SecretCoins, SeededCoins, secret_coins
from dpexplain.mechanisms.mechanism import Mechanism
from dpexplain.mechanisms.noise_source import NOISE_BACKENDS, NoiseBackend, NoiseSource
from dpexplain.mechanisms.phases import AnyPhase, ChoicePhase, LaplacePhase, Phase, SampledPhase
from dpexplain.mechanisms.plan import Allowance, Releases

GaussianMechanism = Mechanism
"""Former name of `Mechanism`, which now also adds Laplace noise and makes random choices."""

__all__ = [
    "NOISE_BACKENDS",
    "Allowance",
    "AnyPhase",
    "ChoicePhase",
    "Coins",
    "GaussianMechanism",
    "LaplacePhase",
    "Mechanism",
    "NoiseBackend",
    "NoiseSource",
    "Phase",
    "Releases",
    "SampledPhase",
    "SecretCoins",
    "SeededCoins",
    "secret_coins",
]
