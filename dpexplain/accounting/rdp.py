"""Rényi differential privacy: bounds for all events, and the moments accountant.

A mechanism is (alpha, r)-RDP if the Rényi divergence of order alpha between its outputs on
neighboring data sets is at most r [1]_. Under composition, the divergences add up at each order.
They give an upper bound on epsilon at any delta. The bound is slightly larger than the bound from
privacy loss distributions, but requires no additional library.

This module adds up ``(alpha - 1) r``, the cumulant ``log E_Q[(p / q)**alpha]``. For a
subsampled Gaussian release, this is a one-dimensional integral of an analytic function that decays
like a Gaussian. The trapezoidal rule computes it to nearly double precision for every real order,
in both directions and for both adjacencies. For integer orders under add/remove adjacency, the
cumulant is also a binomial sum [2]_, which is used for the high orders that small epsilons need.

References
----------
.. [1] Mironov, "Rényi Differential Privacy", CSF 2017, arXiv:1702.07476.
.. [2] Mironov, Talwar and Zhang, "Rényi Differential Privacy of the Sampled Gaussian
   Mechanism", 2019, arXiv:1908.10530, section 3.3.
.. [3] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020, arXiv:2004.00010, proposition 12.
.. [4] Abadi et al., "Deep Learning with Differential Privacy", CCS 2016, arXiv:1607.00133,
   theorem 2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpexplain._utils.validation import check_delta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpexplain.accounting.spending import Spending

__all__ = ["moments_epsilon", "rdp_delta", "rdp_epsilon"]

_LARGEST_ORDER = 2**17
# Fractional orders where a coarse grid would matter, integers above.
_N_REAL = 240
_ORDERS: NDArray[np.float64] = np.concatenate(
    [1.0 + np.geomspace(0.02, 63.0, _N_REAL), np.rint(2.0 ** np.arange(6.5, 17.01, 0.5))]
)
_MOMENT_ORDERS = range(1, 65)
_MOST_POINTS = 200_000
# More than the rounding error of one cumulant, absolute and relative.
_ABSOLUTE_MARGIN, _RELATIVE_MARGIN = 1e-14, 1e-12


def rdp_epsilon(spending: Spending, delta: float) -> float:
    """Bound epsilon using Rényi divergences.

    Parameters
    ----------
    spending : Spending
        The releases.
    delta : float
        Additive slack of the guarantee, in (0, 1).

    Returns
    -------
    float
        Upper bound on the total epsilon.
    """
    log_delta = math.log(check_delta(delta))
    alphas, cumulants = _ORDERS, rdp_cumulants(spending)
    values = (cumulants - log_delta - np.log(alphas)) / (alphas - 1.0) + np.log1p(-1.0 / alphas)
    return max(0.0, float(np.min(values))) * (1.0 + _RELATIVE_MARGIN)


def rdp_delta(spending: Spending, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound delta using Rényi divergences.

    Parameters
    ----------
    spending : Spending
        The releases.
    epsilon : ndarray of shape (n_epsilons,)
        Bounds on the log-ratio of probabilities, at least 0.

    Returns
    -------
    ndarray of shape (n_epsilons,)
        Upper bounds on delta, at most 1.
    """
    alphas, cumulants = _ORDERS, rdp_cumulants(spending)
    exponents = (
        cumulants
        - (alphas - 1.0) * (np.asarray(epsilon)[:, None] - np.log1p(-1.0 / alphas))
        - np.log(alphas)
    )
    smallest = np.min(exponents, axis=1) + _RELATIVE_MARGIN
    return np.exp(np.minimum(smallest, 0.0))


@lru_cache(maxsize=64)
def rdp_cumulants(spending: Spending) -> NDArray[np.float64]:
    """Sum the cumulants of all releases, at each order of the grid.

    Parameters
    ----------
    spending : Spending
        The releases.

    Returns
    -------
    ndarray of shape (n_orders,)
        Sums of cumulants; infinite at orders at which a cumulant could not be computed.
    """
    alphas = _ORDERS
    with np.errstate(over="ignore", invalid="ignore"):
        total = 0.5 * alphas * (alphas - 1.0) * spending.squared_mu
        for multiplier, probability, count in spending.subsampled:
            total = total + count * _subsampled(multiplier, probability, spending.adjacency)
        for epsilon, n_steps, count in spending.ladders:
            total = total + count * _ladder(epsilon, n_steps, alphas)
    total = np.where(np.isnan(total), np.inf, total)
    total.setflags(write=False)
    return total


def moments_epsilon(spending: Spending, delta: float) -> float:
    """Compute epsilon with the moments accountant as published, to reproduce papers.

    It supports Gaussian releases, subsampled or not, under add/remove adjacency. It uses moments 1
    to 64, and converts them to epsilon by Markov's inequality [4]_. The result is a valid but loose
    bound.

    Parameters
    ----------
    spending : Spending
        The releases.
    delta : float
        Additive slack of the guarantee, in (0, 1).

    Returns
    -------
    float
        Epsilon.

    Raises
    ------
    ValueError
        If a release is not Gaussian, or the adjacency is not add/remove.
    """
    log_delta = math.log(check_delta(delta))
    if spending.laplace or spending.pure or spending.adjacency != "add_remove":
        raise ValueError(
            "accountant='moments' supports only Gaussian releases under add/remove adjacency; "
            "pass accountant='pld' or 'rdp'."
        )
    values = []
    for moment in _MOMENT_ORDERS:
        total = 0.5 * moment * (moment + 1) * spending.squared_mu
        for multiplier, probability, count in spending.subsampled:
            total += count * _binomial_cumulant(moment + 1, multiplier, probability)
        values.append((total - log_delta) / moment)
    return max(0.0, min(values))


@lru_cache(maxsize=256)
def _subsampled(multiplier: float, probability: float, adjacency: str) -> NDArray[np.float64]:
    """Return the cumulants of one subsampled Gaussian release at all orders."""
    cumulants = np.array(
        [_one_order(float(alpha), multiplier, probability, adjacency) for alpha in _ORDERS]
    )
    cumulants = np.maximum(cumulants, 0.0) * (1.0 + _RELATIVE_MARGIN)
    margin = _ABSOLUTE_MARGIN * np.maximum(1.0, _ORDERS * np.log(_ORDERS))
    return cumulants + np.where(_ORDERS[_N_REAL - 1] < _ORDERS, margin, _ABSOLUTE_MARGIN)


def _one_order(alpha: float, multiplier: float, probability: float, adjacency: str) -> float:
    if adjacency == "add_remove" and alpha > _ORDERS[_N_REAL - 1]:
        return _binomial_cumulant(int(alpha), multiplier, probability)
    step = min(multiplier / 12.0, 0.5 * multiplier * multiplier)
    half = int((12.0 * multiplier + alpha + 2.0) / step) + 1 if step > 0.0 else _MOST_POINTS
    if half >= _MOST_POINTS:
        # For noise multipliers below a few hundredths, bound it by the next integer order.
        if adjacency == "add_remove" and alpha >= 2.0:
            return _binomial_cumulant(math.ceil(alpha), multiplier, probability)
        return math.inf
    x = np.arange(-half, half + 1, dtype=np.float64) * step
    added = _log_mixture(x, multiplier, probability)
    if adjacency == "replace":
        directions = [(added, added[::-1])]
    else:
        directions = [(added, np.zeros_like(x)), (np.zeros_like(x), added)]
    log_density = -0.5 * np.square(x / multiplier) + math.log(
        step / (multiplier * math.sqrt(2.0 * math.pi))
    )
    return max(_log_sum(log_density + alpha * p + (1.0 - alpha) * q) for p, q in directions)


def _log_mixture(
    x: NDArray[np.float64], multiplier: float, probability: float
) -> NDArray[np.float64]:
    """Return the log of the density ratio of (1 - q) N(0) + q N(1) to N(0)."""
    moved = (x - 0.5) / multiplier / multiplier
    return np.logaddexp(math.log1p(-probability), math.log(probability) + moved)


@lru_cache(maxsize=4096)
def _binomial_cumulant(alpha: int, multiplier: float, probability: float) -> float:
    """Return the log of the alpha-th moment as a binomial sum, for an integer `alpha`."""
    k = np.arange(alpha + 1, dtype=np.float64)
    log_factorials = _log_factorials()[: alpha + 1]
    terms = (
        log_factorials[-1]
        - log_factorials
        - log_factorials[::-1]
        + k * math.log(probability)
        + (alpha - k) * math.log1p(-probability)
        + 0.5 * k * (k - 1.0) / multiplier / multiplier
    )
    return _log_sum(terms)


@lru_cache(maxsize=1)
def _log_factorials() -> NDArray[np.float64]:
    return np.array([math.lgamma(k + 1.0) for k in range(_LARGEST_ORDER + 1)])


def _log_sum(terms: NDArray[np.float64]) -> float:
    largest = float(np.max(terms))
    if not math.isfinite(largest):
        return math.inf
    return largest + math.log(float(np.sum(np.exp(terms - largest))))


def _ladder(epsilon: float, n_steps: int, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cumulants of discrete Laplace noise or of the worst pure mechanism.

    With the probabilities of `dpexplain.accounting.ladder`, the terms of
    ``sum p**alpha q**(1 - alpha)`` form a geometric series, apart from the first and last terms.
    The cumulant is then a sum of three terms. Only ``(alpha - 1) epsilon`` can be large, so there
    is no cancellation.
    """
    step = epsilon / n_steps
    twice = 2.0 * alphas - 1.0
    ends = 1.0 + np.exp(-twice * epsilon)
    between = np.zeros_like(alphas)
    if n_steps > 1:
        n = np.expm1(-twice * (epsilon - step)) / np.expm1(-twice * step)
        between = -math.expm1(-step) * np.exp(-twice * step) * n
    exact = (alphas - 1.0) * epsilon - math.log1p(math.exp(-step)) + np.log(ends + between)
    return exact * (1.0 + _RELATIVE_MARGIN) + _ABSOLUTE_MARGIN
