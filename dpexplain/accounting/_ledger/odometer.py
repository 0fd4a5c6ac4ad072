"""The odometer: an epsilon that is valid at any adaptively chosen time.

The total of a ledger holds for fits whose number and budgets were fixed in advance. Some analysts
look at the results so far before they decide whether and how to fit again. They may stop just when
the results happen to reveal a lot; the total at that moment is then too small. A cap fixed before
the first fit also holds if the ledger is used in this way, as proved in `cap`. If there is no cap,
the reading of the odometer holds.

**Definition.** At each moment let E be the plain sum of the epsilons of pure releases, and V the
sum of the squared mu that cover all other releases. As in `cap`, a subsampled release is covered
except for its tail, in which it may reveal the record. Let ``a`` be the V of the first private
entry (if that V is 0, the squared mu of a Gaussian release that has the same epsilon as the entry).
Fix limits ``a m_1 < a m_2 < ...`` with integers m_j that start at 1, 2, 3, ... and later grow by
10% at each step. Fix shares of delta, ``delta_j = (1 - s) 6 delta / (pi (j + 1))^2``, with a share
s reserved for the tails, so that ``delta_0 + delta_1 + ... + tails <= delta``. The reading of the
odometer is

* after the first private entry alone: its own epsilon at delta_0;
* later: ``E + epsilon(sqrt(a m_j), delta_j)`` for the smallest j with ``V <= a m_j``; E alone if V
  is 0.

**Claim.** Let every choice depend on all results so far: whether to continue, what to query, and
with how much noise. For neighboring data sets, let P and Q be the distributions of everything seen
until the stop, and let r be the reading at that moment (a function of what was seen). Then every
set S of outcomes satisfies

    P(S) <= (integral over S of exp(r) dQ) + delta.

**Proof.** Divide S into parts by the index j of the reading, where j is 0 for a stop after the
first entry. The first entry was chosen before any result was seen, so ``a``, the limits and the
shares are fixed. By the guarantee of that entry, part 0 has an excess of at most delta_0. For
j > 0, compare with an analyst who makes the same choices but stops before V would exceed ``a m_j``.
Outcomes in part j never reach that point, so they have the same probabilities for both analysts. In
the runs in which no tail reveals the record, all releases that are not pure are functions of
Gaussian releases. Let L be the sum of the losses ``log(dP/dQ)`` of these Gaussian releases. A pure
release adds at most its epsilon to the loss of any outcome, so the total loss is at most ``E + L``.
Then, for any e,

    P(part j) - integral of exp(E + e) dQ  <=  expectation under P of max(0, 1 - exp(e - L)).

Under P, exp(-L) is a martingale, and ``max(0, 1 - exp(e - L))`` is convex in it. An Ito time change
makes L a Brownian motion with drift, stopped at a time of at most ``a m_j``. Continuing it until
time ``a m_j`` can only increase the expectation, which is then ``delta(e)`` of ``sqrt(a m_j)``-GDP.
This equals delta_j for the e in the reading. Under P, the runs in which a tail reveals the record
have a total probability of at most the share of delta reserved for the tails, for all parts
together. The parts add up to at most delta. If V is 0, no share of delta is used at all. Pure
releases need no limit, because their part of the reading is exact.

This is the filter of `cap` for a series of limits. The results determine which limit applies; the
cost is that delta is divided among the limits. For equal fits of epsilon 1 at delta 1e-6, the
reading exceeds the total by one eighth after two fits, and by at most about one quarter after any
number of fits.

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
    """Compute the reading of the odometer.

    Parameters
    ----------
    entries : sequence of Spending
        Spending of each entry of a ledger, oldest first.
    delta : float
        Additive slack of the guarantee, in (0, 1).

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
        Index of the limit, starting at 1; 0 for the first entry alone.
    delta : float
        Total delta, which is divided among the limits.

    Returns
    -------
    float
        Share of this limit; all shares and the tails add up to at most `delta`.
    """
    return (1.0 - TAIL_SHARE) * delta * 6.0 / (math.pi * (place + 1)) ** 2


def limit_of(square: float, first: float) -> tuple[int, float]:
    """Find the smallest limit that a sum of squared mu does not exceed.

    Parameters
    ----------
    square : float
        Sum of squared mu, positive and finite.
    first : float
        Squared mu of the first entry, positive.

    Returns
    -------
    place : int
        Index of the limit, starting at 1.
    limit : float
        The limit, at least `square`.
    """
    place, multiple = 1, 1
    while multiple * first < square:
        multiple = max(multiple + 1, int(_GROWTH * multiple))
        place += 1
    return place, multiple * first
