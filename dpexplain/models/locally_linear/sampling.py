"""Poisson sampling: each person is sampled independently in each step.

The random draws are fresh, secret and never stored, because a sample and its size are private.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import Coins
from dpexplain.models.locally_linear._kernels_clipping import sampled_rows

_COIN_BITS = 32


def representable(probability: float) -> float:
    """Round a probability down to a multiple of 2**-32.

    Parameters
    ----------
    probability : float
        In (0, 1].

    Returns
    -------
    float
        The rounded probability, at least ``2**-32``.
    """
    return max(1, math.floor(probability * 2.0**_COIN_BITS)) / 2.0**_COIN_BITS


class PoissonSampler:
    """Poisson sampler that draws people independently in each step.

    The draws for a person depend only on the step and on the person's index. They do not depend on
    people with larger indices.

    Parameters
    ----------
    person_of_row : ndarray of shape (n_rows,), dtype int32
        Index of the person each row belongs to, counting from 0. All rows of a person are sampled
        together.
    probability : float
        Probability that a person is sampled in a step, as returned by `representable`.
    coins : Coins
        Source of secret random draws; not stored elsewhere.
    """

    def __init__(self, person_of_row: NDArray[np.int32], probability: float, coins: Coins) -> None:
        self._person = person_of_row
        self._n_records = int(person_of_row.max(initial=-1)) + 1
        self._probability = probability
        self._coins = coins

    def samples(self, n_steps: int) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each sample, in increasing order.

        Parameters
        ----------
        n_steps : int

        Yields
        ------
        ndarray of shape (n,), dtype int64
            Row indices of the sample, which may be empty. The array is valid until the next sample
            is requested.
        """
        rows = np.empty(len(self._person), dtype=np.int64)
        for _ in range(n_steps):
            (coins_of_step,) = self._coins.spawn(1)
            heads = coins_of_step.heads(self._n_records, self._probability)
            n = sampled_rows(heads, self._person, len(rows), rows)
            yield rows[:n]
        rows[:] = 0

    def __repr__(self) -> str:
        return "<PoissonSampler>"
