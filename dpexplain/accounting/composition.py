"""Composition of Gaussian releases, and the noise required for a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpexplain._utils.validation import check_count, check_delta, check_in_range
from dpexplain.accounting.gdp import mu_from_epsilon

__all__ = ["classic_noise_multiplier", "compose_mu", "gdp_noise_multiplier"]


def compose_mu(mus: Iterable[float]) -> float:
    """Compose Gaussian-DP parameters as the square root of the sum of their squares.

    The rule is exact and holds for adaptively chosen queries [1]_. If the result is compared with
    a cap before each release, the rule also holds for adaptively chosen parameters [2]_.

    Parameters
    ----------
    mus : iterable of float
        Parameters of the individual releases, each at least 0.

    Returns
    -------
    float
        Parameter of all releases combined, bit-for-bit identical for any order.

    Raises
    ------
    ValueError
        If a parameter is negative or not a number.

    References
    ----------
    .. [1] Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 84, 2022, Corollary 3.3,
       arXiv:1905.02383.
    .. [2] Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential Privacy",
       2022, arXiv:2210.17520.

    Examples
    --------
    >>> compose_mu([3.0, 4.0])
    5.0
    """
    checked = [check_in_range("mu", mu, 0.0, math.inf) for mu in mus]
    return math.sqrt(math.fsum(mu * mu for mu in checked))


def gdp_noise_multiplier(n_releases: int, epsilon: float, delta: float) -> float:
    """Return the noise multiplier for several Gaussian releases under Gaussian DP.

    Parameters
    ----------
    n_releases : int
        Number of releases that share the budget.
    epsilon, delta : float
        Guarantee of all releases combined.

    Returns
    -------
    float
        Noise standard deviation divided by the L2 sensitivity of one release.

    Raises
    ------
    ValueError
        If `n_releases` is not a positive integer, or the guarantee is invalid.

    Examples
    --------
    >>> gdp_noise_multiplier(4200, 0.5, 1e-6)
    522.19...
    """
    n_releases = check_count("n_releases", n_releases)
    return math.sqrt(n_releases) / mu_from_epsilon(epsilon, delta)


def classic_noise_multiplier(n_releases: int, epsilon: float, delta: float) -> float:
    """Return the noise multiplier for several Gaussian releases by strong composition.

    The result is larger than needed; it is provided to reproduce published tables. It follows from
    the formula ``sqrt(8 T log(e + epsilon / delta)) / epsilon``, which is stated for small epsilon
    [1]_. If epsilon is in the hundreds, the formula can give less noise than the guarantee
    requires. In that case, the result is the exact multiplier of `gdp_noise_multiplier`.

    Parameters
    ----------
    n_releases : int
        Number of releases T that share the budget.
    epsilon, delta : float
        Guarantee of all releases combined.

    Returns
    -------
    float
        Noise standard deviation divided by the L2 sensitivity of one release.

    Raises
    ------
    ValueError
        If `n_releases` is not a positive integer, or the guarantee is invalid.

    References
    ----------
    .. [1] Kairouz, Oh and Viswanath, "The Composition Theorem for Differential Privacy",
       IEEE Transactions on Information Theory 63(6), 2017, arXiv:1311.0776.

    Examples
    --------
    >>> classic_noise_multiplier(4200, 0.5, 1e-6)
    1328.0...
    """
    exact = gdp_noise_multiplier(n_releases, epsilon, delta)
    logarithm = math.log(math.e + epsilon / check_delta(delta))
    return max(math.sqrt(8.0 * n_releases * logarithm) / epsilon, exact)
