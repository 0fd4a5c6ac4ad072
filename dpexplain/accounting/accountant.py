"""Convert events to epsilon using the tightest valid bound or a chosen accountant.

Gaussian releases have a closed form. For other releases, epsilon is computed from privacy loss
distributions. It is also bounded by Rényi divergences, by the Gaussian closed form and, if all
releases are pure, by the sum of their epsilons. Such a bound is used if it is smaller, or if the
distributions are unavailable (for example, because delta is near double precision, or because
dp-accounting is not installed). No method underestimates the privacy loss, so the smallest result
is valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from dpexplain._utils.extras import needed
from dpexplain._utils.validation import Adjacency, check_adjacency, check_choice, check_delta
from dpexplain.accounting.events import Event, NonPrivateEvent, check_event
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain.accounting.pld import pld_available, pld_epsilon
from dpexplain.accounting.rdp import moments_epsilon, rdp_epsilon
from dpexplain.accounting.spending import Spending

__all__ = ["Accountant", "epsilon_from_events", "epsilon_of"]

Accountant = Literal["pld", "rdp", "moments"]


def epsilon_from_events(
    events: Iterable[Event],
    delta: float,
    *,
    adjacency: Adjacency | str = "add_remove",
    replace: bool = False,
    accountant: Accountant | str = "pld",
) -> float:
    """Compute the total epsilon of all events, rounded up.

    The total holds for adaptively chosen queries: queries may depend on earlier answers, but the
    noise and the number of releases must not. If these also depend on earlier answers, use the cap
    of a `PrivacyLedger`, which holds even in that case.

    Parameters
    ----------
    events : iterable of Event
        Releases in any order.
    delta : float
        Additive slack of the guarantee, in (0, 1).
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Adjacency to which the noise multipliers of the events refer.
    replace : bool, default=False
        Whether to state epsilon for replace-one adjacency, in which one record is replaced by
        another, instead of for `adjacency`.
    accountant : {"pld", "rdp", "moments"}, default="pld"
        "pld": privacy loss distributions, the tightest method, or the closed form if all releases
        are Gaussian. "rdp": Rényi divergences. "moments": the original moments accountant (2016),
        provided to reproduce papers.

    Returns
    -------
    float
        Epsilon; infinite if an event is not private.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the accountant does not support an event.
    TypeError
        If `events` contains something that is not an event.
    ModuleNotFoundError
        If ``accountant="pld"`` needs dp-accounting and it is not installed.

    Examples
    --------
    >>> from dpexplain.accounting import SubsampledGaussianEvent
    >>> steps = SubsampledGaussianEvent("gradients", 1.0, 256 / 32561, 2543)
    >>> round(epsilon_from_events([steps], 1e-5), 2)
    2.24
    >>> round(epsilon_from_events([steps], 1e-5, accountant="moments"), 2)
    2.93
    """
    listed = tuple(events)
    for event in listed:
        check_event(event)
    check_delta(delta)
    check_choice("accountant", accountant, ("pld", "rdp", "moments"))
    if any(isinstance(event, NonPrivateEvent) for event in listed):
        return math.inf
    spending = Spending.of(listed, check_adjacency(adjacency))
    spending = spending.replaced() if replace else spending
    if accountant == "moments":
        return moments_epsilon(spending, delta)
    if accountant == "rdp":
        return rdp_epsilon(spending, delta)
    if not spending.gaussian:
        check_pld()
    return epsilon_of(spending, delta)


def check_pld() -> None:
    """Check that dp-accounting is installed.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message gives the command that installs it.
    """
    if not pld_available():
        raise ModuleNotFoundError(
            needed("the tightest accounting of subsampled releases", "dp-accounting", "subsampled")
            + ", or pass accountant='rdp' (to locally linear models: composition='rdp'), which "
            "needs no extra library but about 10% more epsilon."
        )


# Above this epsilon, the tightest bound takes too long or exceeds the range of floats.
_PROTECTS_NOBODY = 1e4


@lru_cache(maxsize=4096)
def epsilon_of(spending: Spending, delta: float) -> float:
    """Return the smallest valid bound on epsilon.

    Parameters
    ----------
    spending : Spending
        The releases.
    delta : float
        Additive slack of the guarantee, in (0, 1).

    Returns
    -------
    float
        Total epsilon, rounded up.
    """
    bounds = [epsilon_from_mu(spending.gaussian_bound, delta)]
    if not (spending.gaussian or spending.squared_mu or spending.subsampled):
        bounds.append(spending.sum_of_pure)  # the tightest bound for a few pure mechanisms
    if not spending.gaussian:
        bounds.append(rdp_epsilon(spending, delta))
    if not spending.gaussian and min(bounds) < _PROTECTS_NOBODY:
        bounds.append(pld_epsilon(spending, delta))
    return min(bounds)
