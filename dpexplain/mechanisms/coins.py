"""Secret coins: random choices among records that nobody may be able to repeat."""

from __future__ import annotations

import os

import numpy as np

__all__ = ["secret_coins"]


def secret_coins() -> np.random.Generator:
    """Make a generator keyed with entropy of the operating system.

    For choices whose secrecy a guarantee may rest on, such as which rows of a person are used;
    never from a seed that is public, and never kept. Noise comes from a `NoiseSource`.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(os.urandom(32), "little")))
