"""Compact encoding of a curve's joint errors, for simulating its noise."""

from __future__ import annotations

import numpy as np

from dpexplain.explain.noise_model import NoiseModel

DIRECTIONS = 4
"""Maximum number of directions that are encoded for a curve."""

LEAST_SHARE = 0.01
"""Minimum proportion of the variance, averaged over bins, that a direction must explain."""

STEPS = 14
"""Number of rounding steps in one standard deviation."""


def packed_directions(noise: NoiseModel, place: int) -> str:
    """Encode the leading directions of one term's joint errors.

    A direction has one number for each bin, in standard deviations of that bin. To simulate the
    noise, each direction is multiplied by a standard normal number, the products are added, and an
    independent normal number with the remaining variance is added to each bin. Variances are
    therefore correct for any number of directions.

    Parameters
    ----------
    noise : NoiseModel
        Noise of the whole model.
    place : int
        Index of the term.

    Returns
    -------
    str
        The numbers of each direction in turn, one character for each number. The characters from
        "1" (-1) through "?" (0) to "M" (1) represent multiples of 1 / 14.
    """
    bins = noise.term(place)
    std = noise.std[bins]
    scaled = noise.factor[bins] / np.where(std > 0, std, 1.0)[:, None]
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    order = np.argsort(values)[::-1][:DIRECTIONS]
    order = order[values[order] >= LEAST_SHARE * len(values)]
    kept = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    # The sign of an eigenvector is arbitrary; choose it so that the largest entry is positive.
    largest = np.abs(kept).argmax(axis=0)
    kept = kept * np.where(kept[largest, np.arange(kept.shape[1])] < 0, -1.0, 1.0)
    # Rounded toward zero, so that no variance is exceeded.
    steps = np.trunc(kept.T * STEPS).astype(np.int8)
    # One character per number: repeated numbers become repeated characters, which compress well.
    return (steps + ord("?")).astype(np.uint8).tobytes().decode("ascii")
