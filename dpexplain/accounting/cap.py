"""The cap as a privacy filter for adaptively chosen releases.

The total of mixed releases holds only if the noise and the number of releases were fixed in
advance. If each budget is chosen after looking at earlier results, a filter is needed: a limit is
set at the start, and any release that would exceed it is rejected. For Gaussian DP, the sum of the
squared mu can be limited in this way [1]_. Here every entry of a ledger is converted to Gaussian
DP:

* Gaussian releases satisfy Gaussian DP as they are.
* No useful mu covers the far tail of a subsampled release. Instead, the release is covered by a
  mechanism that reveals the record with a tiny probability t and otherwise satisfies mu-GDP by
  adding Gaussian noise. This works for every mu with ``delta(epsilon) <= t + (1 - t)
  delta_mu(epsilon)`` at all epsilons, because the release is then a function of the output of this
  mechanism, by Blackwell's theorem [2]_.
* A pure release is either covered by its own mu (`mu_of_pure`), which is expensive, or counted
  separately: its epsilon is then added to the epsilon of everything else.

Fix limits in advance: M for the square root of the sum of the squared mu, E for the sum of the
epsilons counted separately, T for the sum of t. For any adaptive choices within these limits, a
pure release counted separately changes the log-odds of any transcript by at most its epsilon; the
runs in which no record is revealed are no more probable than under an M-GDP process; and all other
runs have a total probability of at most T. So the total is
``(E + epsilon, delta_M(epsilon) + T)``-DP for every epsilon. If several pairs (M, E) are allowed,
and the results determine which of them a run satisfies, their deltas are added.

The ledger divides its delta accordingly. Almost all of it goes to the pair with E = 0, whose M
comes from the cap. Small shares go to the tails and to a few pairs in which neither M nor E is 0.
The pair with M = 0, whose E is the cap, needs no share. The first private charge of a ledger cannot
depend on results, so its exact total is valid regardless of the limits.

References
----------
.. [1] Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential Privacy",
   2022, arXiv:2210.17520.
.. [2] Blackwell, "Equivalent Comparisons of Experiments", Annals of Mathematical Statistics
   24, 1953; for privacy: Dong, Roth and Su, arXiv:1905.02383, theorem 2.10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.gdp import delta_from_mu, epsilon_from_mu, mu_from_epsilon
from dpexplain.accounting.pld import pld_delta, pld_epsilon
from dpexplain.accounting.rdp import rdp_delta, rdp_epsilon
from dpexplain.accounting.spending import Spending

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TAIL_SHARE", "Cap", "approximate_mu", "squared_mu"]

# Shares of delta; the rest is for Gaussian releases.
TAIL_SHARE = 0.005
_MIXED_SHARE = 0.005
_N_MIXED = 8

# Covers the rounding of mu_from_epsilon and delta_from_mu.
_MARGIN = 1e-8
_GRID = 600


@dataclass(frozen=True)
class Cap:
    """Limit on all private releases, valid for adaptively chosen budgets.

    Parameters
    ----------
    epsilon : float
        Limit on epsilon; infinite if there is no limit.
    delta : float
        Delta of the ledger, in (0, 1).
    """

    epsilon: float
    delta: float

    @cached_property
    def _limits(self) -> tuple[tuple[float, float], ...]:
        """Pairs of limits: one on the sum of separately counted epsilons, one on mu."""
        small = _MIXED_SHARE * self.delta / _N_MIXED
        mixed = [self.epsilon * k / (_N_MIXED + 1) for k in range(1, _N_MIXED + 1)]
        return (
            (0.0, mu_from_epsilon(self.epsilon, (1.0 - TAIL_SHARE - _MIXED_SHARE) * self.delta)),
            *((apart, mu_from_epsilon(self.epsilon - apart, small)) for apart in mixed),
            (self.epsilon, 0.0),
        )

    def allows(self, before: Sequence[Spending], charge: Sequence[Spending]) -> bool:
        """Return whether the cap leaves room for a charge.

        Parameters
        ----------
        before : sequence of Spending
            Spending of the entries of the ledger, oldest first.
        charge : sequence of Spending
            Spending of the entries to be charged.

        Returns
        -------
        bool
            False if the charge must be rejected.
        """
        if math.isinf(self.epsilon) or all(spending.empty for spending in charge):
            return True
        if all(spending.empty for spending in before):
            total = Spending.together(charge)
            if epsilon_of(total, self.delta) <= self.epsilon:
                return True
        return self._squared_room([*before, *charge]) >= 0.0

    def remaining(self, before: Sequence[Spending]) -> float:
        """Return the largest epsilon available to one more Gaussian charge.

        Parameters
        ----------
        before : sequence of Spending
            Spending of the entries of the ledger, oldest first.

        Returns
        -------
        float
            The remaining epsilon: the cap itself if nothing has been spent, 0 if nothing is left.
        """
        if math.isinf(self.epsilon) or all(spending.empty for spending in before):
            return self.epsilon
        room = self._squared_room(before)
        return epsilon_from_mu(math.sqrt(max(0.0, room)), self.delta)

    def taken(self, before: Sequence[Spending], charge: Sequence[Spending]) -> float:
        """Return how much of the cap a charge uses, as the epsilon of a Gaussian charge.

        Parameters
        ----------
        before : sequence of Spending
            Spending of the entries of the ledger, oldest first.
        charge : sequence of Spending
            Spending of the entries to be charged.

        Returns
        -------
        float
            Epsilon of the Gaussian charge that would use the same part of the cap. If the charge is
            Gaussian, or nothing has been spent yet, this is its own epsilon.
        """
        if all(spending.gaussian for spending in charge) or all(s.empty for s in before):
            return epsilon_of(Spending.together(charge), self.delta)
        needed = self._squared_room(before) - self._squared_room([*before, *charge])
        return epsilon_from_mu(math.sqrt(max(0.0, needed)), self.delta)

    def _squared_room(self, entries: Sequence[Spending]) -> float:
        """Return the squared mu left by the pair of limits that leaves the most.

        The result is negative if every pair is exceeded.
        """
        apart = math.fsum(spending.sum_of_pure for spending in entries)
        mixed = squared_mu([_without_pure(s) for s in entries], self.delta)
        rooms = []
        for limit, mu in self._limits:
            if limit == 0.0:
                rooms.append(mu * mu - squared_mu(entries, self.delta))
            elif apart <= limit:
                rooms.append(mu * mu - mixed)
        return max(rooms)


def _without_pure(spending: Spending) -> Spending:
    return replace(spending, laplace=(), pure=())


def squared_mu(entries: Sequence[Spending], delta: float) -> float:
    """Add up the bounds on the squared mu of all entries.

    The bound of an entry that is not purely Gaussian may fail with a small probability, which is a
    share of `delta`. If it fails, the entry may reveal the record that differs between neighboring
    data sets.
    """
    n_tails = 0
    squares = []
    for spending in entries:
        mu = spending.gaussian_bound
        if not spending.gaussian:
            covered = approximate_mu(spending, _tail(n_tails, delta))
            if covered < mu:
                mu, n_tails = covered, n_tails + 1
        squares.append(mu * mu)
    try:
        return math.fsum(squares)
    except OverflowError:
        return math.inf


def _tail(place: int, delta: float) -> float:
    """Return the share of delta for the tail of one entry.

    The shares of all entries add up to at most half of ``TAIL_SHARE * delta``, because pure
    releases are counted in two ways, and each uses one half.
    """
    return 0.5 * TAIL_SHARE * delta * 6.0 / (math.pi * (place + 1)) ** 2


@lru_cache(maxsize=1024)
def approximate_mu(spending: Spending, tail: float) -> float:
    """Return the smallest mu that covers releases except with probability `tail`.

    Parameters
    ----------
    spending : Spending
        The releases.
    tail : float
        Probability, in (0, 1), with which the record that differs between neighboring data sets
        may be revealed.

    Returns
    -------
    float
        Gaussian-DP parameter, rounded up; infinite if none is known.
    """
    last = min(pld_epsilon(spending, tail), rdp_epsilon(spending, tail))
    if not math.isfinite(last):
        return math.inf
    if last == 0.0:
        return 0.0
    epsilons = np.linspace(0.0, last, _GRID + 1)
    # Between two grid points, the curve to be covered is at most its value at the left point, and
    # the covering curve is at least its value at the right point.
    needed = (np.minimum(_deltas(spending, epsilons[:-1]), 1.0) - tail) / (1.0 - tail)
    mu = 0.0
    for delta, epsilon in zip(needed[::-1].tolist(), epsilons[:0:-1].tolist(), strict=True):
        if delta >= 1.0:
            return math.inf
        if delta > 0.0 and delta_from_mu(mu, epsilon) * (1.0 - _MARGIN) < delta:
            # Never lowered: if delta is within the margin of 1, a smaller mu would be enough here.
            mu = max(mu, mu_from_epsilon(epsilon, delta) * (1.0 + _MARGIN))
    return mu


def _deltas(spending: Spending, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest known bound on delta at each epsilon."""
    mu = spending.gaussian_bound
    closed_form = np.array([delta_from_mu(mu, epsilon) for epsilon in epsilons.tolist()])
    bounds = [closed_form, rdp_delta(spending, epsilons), pld_delta(spending, epsilons)]
    return np.min(bounds, axis=0)
