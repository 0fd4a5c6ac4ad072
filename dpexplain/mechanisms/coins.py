"""Secret random draws that assign records to samples, bags or trees.

The draws are called coins; they cannot be predicted or repeated. Every bit comes from
`dpexplain.mechanisms.secret_bits`, and this module keeps no state. Probabilities are exact: given
independent fair bits, a coin shows heads with exactly the requested floating-point probability, and
all row orders of a table are equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms.secret_bits import secret_bytes

__all__ = ["Coins", "SecretCoins", "SeededCoins", "secret_coins"]


class Coins(Protocol):
    """Interface for random draws that assign records to samples, bags or trees.

    Examples
    --------
    >>> from dpexplain.mechanisms import Coins, SeededCoins
    >>> def sample_size(coins: Coins) -> int:
    ...     return int(coins.heads(100, 0.1).sum())
    >>>
    ... sample_size(SeededCoins(0)) < 100
    True
    """

    def heads(self, n: int, probability: float) -> NDArray[np.bool_]:
        """Draw n independent Bernoulli variables.

        Parameters
        ----------
        n : int
            Number of draws.
        probability : float
            Probability of True, in [0, 1].

        Returns
        -------
        ndarray of shape (n,), dtype bool
        """
        ...

    def random(self, n: int) -> NDArray[np.float64]:
        """Draw n uniform multiples of ``2**-53``.

        Parameters
        ----------
        n : int
            Number of draws.

        Returns
        -------
        ndarray of shape (n,), dtype float64
            Numbers in [0, 1).
        """
        ...

    def spawn(self, n_children: int) -> Sequence[Coins]:
        """Create independent sources of random draws.

        Parameters
        ----------
        n_children : int
            Number of sources to create.

        Returns
        -------
        list of Coins
        """
        ...


class SecretCoins:
    """Stateless source of secret random draws from a cryptographic generator.

    Examples
    --------
    >>> from dpexplain.mechanisms import SecretCoins
    >>> sorted(SecretCoins().permutation(4).tolist())
    [0, 1, 2, 3]
    """

    def heads(self, n: int, probability: float) -> NDArray[np.bool_]:
        """Draw n Bernoulli variables.

        A draw is True if a uniform number is below the probability. The base-256 digits of this
        number are drawn one by one, for as long as they equal the digits of the probability. The
        comparison always ends, because a float has finitely many digits, and a number that matches
        all of them is not below the probability.

        Parameters
        ----------
        n : int
            Number of draws.
        probability : float
            Probability of True, in [0, 1].

        Returns
        -------
        ndarray of shape (n,), dtype bool
        """
        rest = 256.0 * probability  # exact, and so is subtracting the digit
        digit = min(int(rest), 256)
        drawn = np.frombuffer(secret_bytes(n), dtype=np.uint8)
        shown: NDArray[np.bool_] = drawn < digit
        tied = np.flatnonzero(drawn == digit)
        while tied.size and (rest := 256.0 * (rest - digit)) > 0.0:
            digit = int(rest)
            drawn = np.frombuffer(secret_bytes(tied.size), dtype=np.uint8)
            shown[tied[drawn < digit]] = True
            tied = tied[drawn == digit]
        return shown

    def random(self, n: int) -> NDArray[np.float64]:
        """Draw uniform numbers.

        Parameters
        ----------
        n : int
            Number of draws.

        Returns
        -------
        ndarray of shape (n,), dtype float64
            Multiples of ``2**-53`` in [0, 1), all equally likely.
        """
        return np.asarray((_words(n) >> np.uint64(11)) * 2.0**-53, dtype=np.float64)

    def permutation(self, n: int) -> NDArray[np.intp]:
        """Draw a uniform permutation of n positions.

        The permutation is the one that sorts n random words. All orders of distinct words are
        equally likely. If two words are equal, all words are redrawn; for a table of a million
        rows, this has a probability of 1 in 40 million.

        Parameters
        ----------
        n : int
            Number of positions.

        Returns
        -------
        ndarray of shape (n,), dtype intp
        """
        while True:
            words = _words(n)
            order = np.argsort(words)
            if (np.diff(words[order]) > 0).all():
                return order

    def spawn(self, n_children: int) -> Sequence[SecretCoins]:
        """Create independent sources of secret random draws.

        Parameters
        ----------
        n_children : int
            Number of sources to create.

        Returns
        -------
        list of SecretCoins
        """
        return [SecretCoins() for _ in range(n_children)]

    def __repr__(self) -> str:
        return "SecretCoins()"


class SeededCoins:
    """Source of seeded random draws, for non-private fits and audits.

    Parameters
    ----------
    seed : int or numpy.random.Generator
        Seed of the draws; anyone who knows it can reproduce every draw.

    Examples
    --------
    >>> from dpexplain.mechanisms import SeededCoins
    >>> bool((SeededCoins(7).permutation(4) == SeededCoins(7).permutation(4)).all())
    True
    """

    def __init__(self, seed: int | np.random.Generator) -> None:
        self._generator = np.random.default_rng(seed)

    def heads(self, n: int, probability: float) -> NDArray[np.bool_]:
        """Draw n Bernoulli variables, with the probability rounded to 32 bits.

        Parameters
        ----------
        n : int
            Number of draws.
        probability : float
            Probability of True, in [0, 1].

        Returns
        -------
        ndarray of shape (n,), dtype bool
        """
        words = self._generator.integers(0, 2**32, size=n, dtype=np.uint32)
        return np.asarray(words < np.uint64(round(probability * 2.0**32)))

    def random(self, n: int) -> NDArray[np.float64]:
        """Draw uniform numbers.

        Parameters
        ----------
        n : int
            Number of draws.

        Returns
        -------
        ndarray of shape (n,), dtype float64
            Numbers in [0, 1).
        """
        return self._generator.random(n)

    def permutation(self, n: int) -> NDArray[np.intp]:
        """Draw a random permutation of n positions.

        Parameters
        ----------
        n : int
            Number of positions.

        Returns
        -------
        ndarray of shape (n,), dtype intp
        """
        return self._generator.permutation(n).astype(np.intp, copy=False)

    def spawn(self, n_children: int) -> Sequence[SeededCoins]:
        """Create independent sources of seeded random draws.

        Parameters
        ----------
        n_children : int
            Number of sources to create.

        Returns
        -------
        list of SeededCoins
        """
        return [SeededCoins(generator) for generator in self._generator.spawn(n_children)]

    def __repr__(self) -> str:
        return "SeededCoins(NOT PRIVATE)"


def secret_coins() -> SecretCoins:
    """Create a source of secret random draws, for example to sample records.

    Noise comes from a `NoiseSource`, not from this source.

    Returns
    -------
    SecretCoins

    Examples
    --------
    >>> from dpexplain.mechanisms import secret_coins
    >>> sorted(secret_coins().permutation(4).tolist())
    [0, 1, 2, 3]
    """
    return SecretCoins()


def _words(n: int) -> NDArray[np.uint64]:
    return np.frombuffer(secret_bytes(8 * n), dtype=np.uint64)
