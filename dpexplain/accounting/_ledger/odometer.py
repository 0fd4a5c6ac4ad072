"""The odometer: an epsilon that is valid at any adaptively chosen time.

The total of a ledger holds for fits whose number and budgets were fixed in advance. Whoever looks
at results and then decides whether another fit follows, which one, and when to stop, can stop
where the results happen to give much away; the total of that moment is then false. A cap, fixed
before the first fit, holds for such use, as `cap` proves. Without a cap the odometer does.

**Definition.** At each moment let E be the plain sum of the epsilons of pure releases, and V the
sum of the squared mu that cover all others; mu of subsampled releases up to tails, as in `cap`.
Let a be the V of the first private entry (if that is 0, the squared mu of a Gaussian release of
its epsilon). Fix limits ``a m_1 < a m_2 < ...`` with whole numbers
m_j that begin 1, 2, 3, ... and then grow by a tenth, and shares
``delta_j = (1 - s) 6 delta / (pi (j + 1))^2`` with s for the tails, so that
``delta_0 + delta_1 + ... + tails <= delta``. The odometer reads

* after the first private entry alone: its own epsilon at delta_0;
* later: ``E + epsilon(sqrt(a m_j), delta_j)`` for the least j with ``V <= a m_j``; E alone if V
  is 0.

**Claim.** Let every choice depend on all results so far: whether to go on, what to ask, with how
much noise. For neighbors with distributions P and Q of everything seen until the stop, and with
the reading r at that moment (a function of what was seen), every set S of outcomes has

    P(S) <= (integral over S of exp(r) dQ) + delta.

**Proof.** Part S by the j of the reading, 0 for a stop after the first entry. The first entry
was chosen before any result, so its guarantee gives the part of 0 a surplus of at most delta_0
(and a, the limits and the shares are fixed). For j > 0 compare with somebody who makes the same
choices, but stops before V would exceed ``a m_j``. Outcomes in part j never came to that, and have
the same probabilities. In the runs in which no tail gives the record away, all non-pure
releases are functions of Gaussian ones. Let L be the sum of the losses ``log(dP/dQ)`` of those;
a pure release adds at most its epsilon to the loss of any outcome, whatever it is, so that the
whole loss is at most ``E + L``. Then

    P(part j) - integral of exp(E + e) dQ  <=  expectation under P of max(0, 1 - exp(e - L)).

Under P, exp(-L) is a martingale, of which the expression is convex: an Ito time change makes L a
Brownian motion with drift, stopped at a time of at most ``a m_j``, and to let it run on until
then can only add. There it is ``delta(e)`` of ``sqrt(a m_j)``-GDP, and the e that is read makes it
delta_j. Where a tail gives the record away P has at most the tails' share, once for all parts.
The parts add up to delta. If V is 0 no share is used at all. Pure releases need no limit, since
their part of the reading is exact.

This is the filter of `cap` for a series of limits, of which the results choose one; its price
is the shares of delta. Of equal fits of epsilon 1 at delta 1e-6 two read an eighth above their
total, and any number of them at most a quarter or so.

References
----------
.. [1] Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters", NeurIPS 2016,
   arXiv:1605.08294.
.. [2] Whitehouse, Ramdas, Rogers and Wu, "Fully Adaptive Composition in Differential Privacy",
   ICML 2023, arXiv:2203.05481.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.cap import TAIL_SHARE, squared_mu
from dpexplain.accounting.gdp import epsilon_from_mu, mu_from_epsilon
from dpexplain.accounting.spending import Spending

__all__ = ["odometer_epsilon"]

_GROWTH = 1.1


def odometer_epsilon(entries: Sequence[Spending], delta: float) -> float:
    """Read the odometer.

    Parameters
    ----------
    entries : sequence of Spending
        What the entries of a ledger spent, oldest first.
    delta : float
        Probability in (0, 1).

    Returns
    -------
    float
        Epsilon that holds at this moment, even if the moment was chosen by looking at results.
    """
    spent = [spending for spending in entries if not spending.empty]
    if not spent:
        return 0.0
    if len(spent) == 1:
        return epsilon_of(spent[0], share(0, delta))
    apart = math.fsum(spending.sum_of_pure for spending in spent)
    others = [replace(spending, laplace=(), pure=()) for spending in spent]
    square = squared_mu(others, delta)
    if square == 0.0:
        return apart
    if math.isinf(apart + square):
        return math.inf
    first = squared_mu(others[:1], delta) or mu_from_epsilon(spent[0].sum_of_pure, delta) ** 2
    place, limit = limit_of(square, first)
    return apart + epsilon_from_mu(math.sqrt(limit), share(place, delta))


def share(place: int, delta: float) -> float:
    """Return the share of delta assigned to a limit.

    Parameters
    ----------
    place : int
        0 for the first entry alone, then the places of the limits.
    delta : float
        Of everything together.

    Returns
    -------
    float
        All of them and the tails add up to at most `delta`.
    """
    return (1.0 - TAIL_SHARE) * delta * 6.0 / (math.pi * (place + 1)) ** 2


def limit_of(square: float, first: float) -> tuple[int, float]:
    """Find the smallest limit that was not exceeded.

    Parameters
    ----------
    square : float
        Sum of squared mu, positive and finite.
    first : float
        That of the first entry, positive.

    Returns
    -------
    place : int
        From 1.
    limit : float
        At least `square`.
    """
    place, multiple = 1, 1
    while multiple * first < square:
        multiple = max(multiple + 1, int(_GROWTH * multiple))
        place += 1
    return place, multiple * first
