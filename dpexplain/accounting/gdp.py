"""Gaussian DP: convert between mu and (epsilon, delta), rounding conservatively.

A mechanism is mu-GDP if telling two neighboring data sets apart is at least as hard as telling
a normal variable with mean 0 from one with mean mu, both with variance 1 [1]_. In terms of
(epsilon, delta), this is the curve

    delta = P(Z > x - mu/2) - exp(epsilon) P(Z > x + mu/2),    x = epsilon / mu,

which is the exact curve of the Gaussian mechanism [2]_. With Mills' ratio R(t) = P(Z > t) / phi(t)
this equals ``phi(x - mu/2) * (R(x - mu/2) - R(x + mu/2))``. There is no factor exp(epsilon) that
could overflow. For small mu, the difference is computed as the integral of -R' = 1 - t R(t), which
avoids cancellation.

Accuracy: the computed log(delta) is off by less than 1e-10 for epsilon up to 1000 and delta down
to 1e-15. Every function therefore decreases a given delta, or increases a resulting delta, by a
fraction of 1e-10, and thus overestimates the privacy loss.

References
----------
.. [1] Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 84, 2022, arXiv:1905.02383.
.. [2] Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy", ICML 2018,
   arXiv:1805.06530, Theorem 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from dpexplain._utils.validation import check_delta, check_in_range

__all__ = ["delta_from_mu", "epsilon_from_mu", "mu_from_epsilon", "mu_of_pure"]

_LOG_SQRT_2_PI = 0.5 * math.log(2.0 * math.pi)

# More than the error of the computed log(delta); see the docstring of the module.
_LOG_DELTA_MARGIN = 1e-10
# A bracket of the solver is narrow enough at this width, relative to its upper end.
_BRACKET = 1e-12
# mu is also lowered by this fraction, so that sums of mu**2 can be compared with a cap at a
# relative tolerance (see PrivacyLedger) and still never exceed the true cap.
_MU_MARGIN = 1e-9

# From here on the asymptotic series of Mills' ratio is exact to double precision.
_FAR_TAIL = 12.0
# Below this mu the two terms of delta are too close to be subtracted.
_NARROW = 0.1
# Gauss-Legendre nodes and weights on [-1, 1]; five of them are exact to double precision for
# the integral of 1 - t R(t) over an interval no longer than _NARROW.
_NODES = (
    (0.0, 0.5688888888888889),
    (0.5384693101056831, 0.47862867049936647),
    (-0.5384693101056831, 0.47862867049936647),
    (0.9061798459386640, 0.23692688505618908),
    (-0.9061798459386640, 0.23692688505618908),
)


def delta_from_mu(mu: float, epsilon: float) -> float:
    """Return the smallest delta for which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    mu : float
        Gaussian-DP parameter, at least 0.
    epsilon : float
        Bound on the log-ratio of probabilities, at least 0.

    Returns
    -------
    float
        Delta in [0, 1], larger than the exact value by a factor of about 1 + 1e-10.

    Raises
    ------
    ValueError
        If `mu` or `epsilon` is negative or not a number.

    Examples
    --------
    >>> delta_from_mu(1.0, 1.0)
    0.126936737...
    """
    mu = check_in_range("mu", mu, 0.0, math.inf)
    epsilon = check_in_range("epsilon", epsilon, 0.0, math.inf)
    return min(1.0, math.exp(_log_delta(mu, epsilon) + _LOG_DELTA_MARGIN))


def epsilon_from_mu(mu: float, delta: float) -> float:
    """Return the smallest epsilon for which mu-GDP implies (epsilon, delta)-DP.

    Bisection narrows a bracket around the epsilon at which the delta of mu-GDP equals
    ``delta * (1 - 1e-10)``, down to a relative width of 1e-12. The result is the upper end of the
    bracket.

    Parameters
    ----------
    mu : float
        Gaussian-DP parameter, at least 0; infinity means no privacy.
    delta : float
        Additive slack of the guarantee, in (0, 1).

    Returns
    -------
    float
        Epsilon; 0 if `mu` is so small that `delta` alone covers it, infinity if `mu` is infinite.

    Raises
    ------
    ValueError
        If `mu` is negative or not a number, or `delta` is not inside (0, 1).

    Examples
    --------
    >>> epsilon_from_mu(0.26805113, 1e-5)
    1.0000...
    """
    mu = check_in_range("mu", mu, 0.0, math.inf)
    delta = check_delta(delta)
    target = math.log(delta) - _LOG_DELTA_MARGIN
    if _log_delta(mu, 0.0) <= target:
        return 0.0
    # P(Z > z) <= exp(-z**2 / 2) bounds the first term of delta, hence all of it.
    bound = 0.5 * mu * mu + mu * math.sqrt(-2.0 * target)
    if bound == math.inf:
        return math.inf
    _, epsilon = _bisect(lambda value: _log_delta(mu, value) > target, 0.0, bound * (1 + 1e-9))
    return epsilon


def mu_from_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest mu for which mu-GDP implies (epsilon, delta)-DP.

    Bisection narrows a bracket around the mu at which the delta of mu-GDP equals
    ``delta * (1 - 1e-10)``, down to a relative width of 1e-12. The result is the lower end of the
    bracket, reduced by a fraction of 1e-9.

    Parameters
    ----------
    epsilon : float
        Bound on the log-ratio of probabilities, positive and finite.
    delta : float
        Additive slack of the guarantee, in (0, 1).

    Returns
    -------
    float
        Gaussian-DP parameter; a Gaussian mechanism with noise multiplier ``1 / mu`` is
        (epsilon, delta)-DP.

    Raises
    ------
    ValueError
        If `epsilon` is not positive and finite, or `delta` is not inside (0, 1).

    Examples
    --------
    >>> mu_from_epsilon(1.0, 1e-5)
    0.26805...
    """
    epsilon = check_in_range(
        "epsilon", epsilon, 0.0, math.inf, include_low=False, include_high=False
    )
    return _largest_mu(epsilon, check_delta(delta))


@lru_cache(maxsize=256)  # a fit requests the same guarantee several times
def _largest_mu(epsilon: float, delta: float) -> float:
    target = math.log(delta) - _LOG_DELTA_MARGIN
    high = 1.0
    while _log_delta(high, epsilon) <= target:
        high *= 2.0
    low = 0.5 * high
    while _log_delta(low, epsilon) > target:
        high, low = low, 0.5 * low
    mu, _ = _bisect(lambda value: _log_delta(value, epsilon) <= target, low, high)
    return mu * (1.0 - _MU_MARGIN)


def mu_of_pure(epsilon: float) -> float:
    """Return the smallest mu for which mu-GDP covers all (epsilon, 0)-DP mechanisms.

    The trade-off curve of (epsilon, 0)-DP consists of two straight lines that meet where both
    errors are ``1 / (1 + exp(epsilon))``. The trade-off curve of mu-GDP is convex, and lies below
    both lines if and only if it does so at that point [1]_. This is the case for ``mu >= 2 z``,
    with ``P(Z > z) = 1 / (1 + exp(epsilon))``.

    Parameters
    ----------
    epsilon : float
        Bound on the log-ratio of probabilities, at least 0.

    Returns
    -------
    float
        Gaussian-DP parameter.

    Raises
    ------
    ValueError
        If `epsilon` is negative or not a number.

    References
    ----------
    .. [1] Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 84, 2022,
       arXiv:1905.02383, equation 5 and figure 3.

    Examples
    --------
    >>> mu_of_pure(1.0)
    1.232...
    """
    epsilon = check_in_range("epsilon", epsilon, 0.0, math.inf)
    if epsilon in (0.0, math.inf):
        return epsilon
    covers = _covers_small_pure if epsilon < 1.0 else _covers_large_pure
    # P(Z > z) >= exp(-z**2 / 2) / (2 (z + 1)) bounds z.
    high = math.sqrt(2.0 * epsilon) + 1.0
    _, z = _bisect(lambda value: not covers(value, epsilon), 0.0, high)
    return 2.0 * z * (1.0 + _MU_MARGIN)


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Bisect a bracket whose lower end meets a condition and whose upper end does not."""
    while high - low > _BRACKET * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def _covers_small_pure(z: float, epsilon: float) -> bool:
    """Return whether P(0 < Z < z) >= tanh(epsilon / 2) / 2, without cancellation."""
    return math.erf(z / math.sqrt(2.0)) >= math.tanh(0.5 * epsilon)


def _covers_large_pure(z: float, epsilon: float) -> bool:
    """Return whether 1 / P(Z > z) >= 1 + exp(epsilon), compared on a log scale."""
    return -_log_upper_tail(z) >= epsilon + math.log1p(math.exp(-epsilon))


def _log_delta(mu: float, epsilon: float) -> float:
    """Return log(delta) of mu-GDP at epsilon; -inf if delta underflows."""
    if mu == 0.0 or epsilon == math.inf:
        return -math.inf
    if mu == math.inf:
        return 0.0
    near = epsilon / mu - 0.5 * mu
    if mu < _NARROW:
        return _log_density(near) + _log_mills_drop(near, mu)
    log_ratio = _log_mills(near + mu) - _log_mills(near)
    if log_ratio >= 0.0:  # rounded away, for an epsilon of millions: the first term bounds delta
        return _log_upper_tail(near)
    return _log_upper_tail(near) + math.log1p(-math.exp(log_ratio))


def _log_density(t: float) -> float:
    """Return the logarithm of the standard normal density."""
    return -0.5 * t * t - _LOG_SQRT_2_PI


def _log_upper_tail(t: float) -> float:
    """Return the logarithm of P(Z > t) for a standard normal Z."""
    if t < _FAR_TAIL:
        return math.log(0.5 * math.erfc(t / math.sqrt(2.0)))
    return _log_mills(t) + _log_density(t)


def _log_mills(t: float) -> float:
    """Return the logarithm of Mills' ratio P(Z > t) / phi(t)."""
    if t < _FAR_TAIL:
        return _log_upper_tail(t) - _log_density(t)
    return math.log1p(-_far_deficit(t)) - math.log(t)


def _log_mills_drop(start: float, width: float) -> float:
    """Return log(R(start) - R(start + width)) for Mills' ratio R and a small width."""
    half = 0.5 * width
    middle = start + half
    mean = sum(weight * _mills_deficit(middle + half * node) for node, weight in _NODES)
    return math.log(half * mean) if half * mean > 0.0 else -math.inf


def _mills_deficit(t: float) -> float:
    """Compute 1 - t R(t), the negative derivative of Mills' ratio."""
    return 1.0 - t * math.exp(_log_mills(t)) if t < _FAR_TAIL else _far_deficit(t)


def _far_deficit(t: float) -> float:
    """Sum the series 1 - t R(t) = 1/t^2 - 3/t^4 + 15/t^6 - ... for t >= 12."""
    inverse_square = 1.0 / t / t
    term, total = inverse_square, 0.0
    for order in range(1, 21):
        total += term
        term *= -(2 * order + 1) * inverse_square
    return total
