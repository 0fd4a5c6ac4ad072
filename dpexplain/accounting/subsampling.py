"""Noise calibration for private stochastic gradient descent."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpexplain._utils.validation import (
    Adjacency,
    check_adjacency,
    check_choice,
    check_count,
    check_delta,
    check_in_range,
)
from dpexplain.accounting.accountant import Accountant, check_pld, epsilon_of
from dpexplain.accounting.events import SubsampledGaussianEvent
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain.accounting.rdp import moments_epsilon, rdp_epsilon
from dpexplain.accounting.spending import Spending

__all__ = ["subsampled_noise_multiplier"]

# The spent epsilon is below the promised epsilon by at most this fraction.
_TOLERANCE = 1e-4
_MOST_NOISE = 1e12
_MOST_TRIALS = 200


def _quick(spending: Spending, delta: float) -> float:
    """Return a quick bound on epsilon: the smaller of the RDP and closed-form bounds."""
    return min(rdp_epsilon(spending, delta), epsilon_from_mu(spending.gaussian_bound, delta))


_BOUNDS: dict[str, Callable[[Spending, float], float]] = {
    "quick": _quick,
    "pld": epsilon_of,
    "rdp": rdp_epsilon,
    "moments": moments_epsilon,
}


def subsampled_noise_multiplier(
    epsilon: float,
    delta: float,
    n_steps: int,
    sampling_probability: float,
    *,
    accountant: Accountant | str = "pld",
    adjacency: Adjacency | str = "add_remove",
) -> float:
    """Return the noise multiplier for subsampled Gaussian releases, rounded up.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of all releases combined.
    n_steps : int
        Number of releases, each on an independent Poisson sample.
    sampling_probability : float
        Probability that a record is included in a release, in (0, 1].
    accountant : {"pld", "rdp", "moments"}, default="pld"
        Method that composes the releases; see `epsilon_from_events`.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Which data sets count as neighbors.

    Returns
    -------
    float
        Noise standard deviation divided by the bound on the L2 norm of one record's contribution.
        With this noise, the releases spend at most `epsilon` and at least 99.99% of it. If delta is
        near double precision and the accountant switches between bounds, they spend at least 99%.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    ModuleNotFoundError
        If ``accountant="pld"`` needs dp-accounting and it is not installed.

    Examples
    --------
    >>> round(subsampled_noise_multiplier(1.0, 1e-5, 2400, 500 / 60000), 2)
    1.71
    """
    target = check_in_range(
        "epsilon", epsilon, 0.0, math.inf, include_low=False, include_high=False
    )
    check_delta(delta)
    check_count("n_steps", n_steps)
    check_choice("accountant", accountant, ("pld", "rdp", "moments"))
    side = check_adjacency(adjacency)

    def spent(multiplier: float, by: str) -> float:
        """Return the epsilon of all steps with this noise, computed with the method `by`."""
        noise = _short(multiplier)
        event = SubsampledGaussianEvent("steps", noise, sampling_probability, n_steps)
        return _BOUNDS[by](Spending.of([event], side), delta)

    if accountant != "pld":
        return _short(_least_noise(lambda noise: spent(noise, accountant), target, 1.0))
    if sampling_probability < 1.0:
        check_pld()
    start = _least_noise(lambda noise: spent(noise, "quick"), target, 1.0)
    return _short(_least_noise(lambda noise: spent(noise, "pld"), target, start))


def _short(multiplier: float) -> float:
    """Round up to 32 binary digits, so that multiplying by a bound is exact.

    At an extreme delta, the last digit of the multiplier can change epsilon by more than 1e-4. So
    the multiplier of the event must be the one whose epsilon was computed.
    """
    share, exponent = math.frexp(multiplier)
    return math.ldexp(math.ceil(math.ldexp(share, 32)), exponent - 32)


def _least_noise(spent: Callable[[float], float], target: float, start: float) -> float:
    """Find the smallest noise multiplier that meets a target epsilon."""
    low, high = start, start
    while spent(high) > target:
        low, high = high, 2.0 * high
        if high > _MOST_NOISE:
            raise ValueError(
                f"no noise level meets epsilon={target:g} with this number of releases and this "
                "accountant; raise epsilon or delta, or lower n_steps."
            )
    while low == high or spent(low) <= target:
        low, high = 0.5 * low, low
        if low < 1.0 / _MOST_NOISE:
            return high
    for _ in range(_MOST_TRIALS):
        if spent(high) >= target * (1.0 - _TOLERANCE) or high <= low * (1.0 + 1e-9):
            break
        middle = _between(low, high, spent(low) / target, spent(high) / target)
        if spent(middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _between(low: float, high: float, above: float, below: float) -> float:
    """Estimate which multiplier meets the target, interpolating on a log scale."""
    if not (math.isfinite(above) and below > 0.0):
        return math.sqrt(low * high)
    # Aim slightly at the safe side, and not so close to an end that the bracket hardly shrinks.
    aim = math.log(above / (1.0 - 0.5 * _TOLERANCE)) / math.log(above / below)
    return low * (high / low) ** min(max(aim, 0.05), 0.95)
