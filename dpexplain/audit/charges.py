"""Check that charged events cover the releases, for each type of event."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from scipy import special

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.accounting.pld import pld_delta
from dpexplain.accounting.spending import Spending, private_mu
from dpexplain.audit.recording import stated_guarantee
from dpexplain.mechanisms import AnyPhase, ChoicePhase, LaplacePhase, Phase, SampledPhase

_ROUNDING = 1e-9


@singledispatch
def stated_over_charged(event: Any, events: Sequence[Event], phases: Sequence[Phase]) -> float:
    """Return the noise stated by releases, divided by the noise they were charged for.

    Parameters
    ----------
    event : Event
        The first of `events`; its type determines how they are compared.
    events : sequence of Event
        Charged events that share a label.
    phases : sequence of Phase
        Phase of each release with that label.

    Returns
    -------
    float
        1 if both agree; less than 1 if the releases have less noise than they were charged for.
    """
    raise _unknown(event)


@singledispatch
def charged_mu(event: Any, events: Sequence[Event]) -> float:
    """Return the Gaussian-DP parameter of charged events that share a label.

    Parameters
    ----------
    event : Event
        The first of `events`; its type determines how they are composed.
    events : sequence of Event
        Charged events that share a label.

    Returns
    -------
    float
    """
    raise _unknown(event)


@charged_mu.register
def _(event: GaussianEvent, events: Sequence[Event]) -> float:
    return private_mu(events)


@stated_over_charged.register
def _(event: GaussianEvent, events: Sequence[Event], phases: Sequence[Phase]) -> float:
    stated_mu = math.sqrt(math.fsum((p.sensitivity_int / p.sigma_int) ** 2 for p in phases))
    return private_mu(events) / stated_mu


@charged_mu.register
def _(event: SubsampledGaussianEvent, events: Sequence[Event]) -> float:
    """Return the Gaussian-DP parameter with the same total variation as the events.

    Releases from samples have no Gaussian-DP parameter of their own. Their total variation, which
    is delta at epsilon 0, determines the lowest error rate that an attacker can achieve. A Gaussian
    release with parameter mu has total variation ``2 Phi(mu / 2) - 1``.
    """
    sampled = [e for e in events if isinstance(e, SubsampledGaussianEvent)]
    if all(e.sampling_probability == 1.0 for e in sampled):
        return private_mu(events)
    return float(2.0 * special.ndtri(0.5 + 0.5 * _total_variation(tuple(sampled))))


@stated_over_charged.register
def _(event: SubsampledGaussianEvent, events: Sequence[Event], phases: Sequence[Phase]) -> float:
    """Return the smallest ratio of stated noise to charged noise among the releases.

    The ratio is 0 if there are more releases than were charged for, if a release does not use a
    sample, or if the sampling probability of a release is larger than the charged events allow.
    """
    charged = [e for e in events if isinstance(e, SubsampledGaussianEvent)]
    stated = [phase for phase in phases if isinstance(phase, SampledPhase)]
    probability = max(e.sampling_probability for e in charged)
    paid = len(stated) == len(phases) <= sum(e.count for e in charged)
    if not paid or any(phase.sampling_probability > probability for phase in stated):
        return 0.0
    multiplier = max(e.noise_multiplier for e in charged)
    return min(phase.sigma_int / phase.record_bound_int for phase in stated) / multiplier


@charged_mu.register(LaplaceEvent)
@charged_mu.register(DiscreteLaplaceEvent)
@charged_mu.register(PureEvent)
def _(event: Event, events: Sequence[Event]) -> float:
    return error_mu(events)


@stated_over_charged.register(LaplaceEvent)
@stated_over_charged.register(DiscreteLaplaceEvent)
@stated_over_charged.register(PureEvent)
def _(event: Event, events: Sequence[Event], phases: Sequence[LaplacePhase | ChoicePhase]) -> float:
    charged = Spending.of(events).sum_of_pure
    return charged / math.fsum(float(p.exact_epsilon) / p.n_disjoint for p in phases)


def error_mu(events: Sequence[Event]) -> float:
    """Return the Gaussian-DP parameter with the same total variation as the events.

    The two error rates of any attacker add up to at least ``1 - delta(0)``, where ``delta(0)`` is
    the total variation that the events allow. Under mu-GDP, they add up to at least
    ``2 Phi(-mu / 2)``.

    Parameters
    ----------
    events : sequence of Event
        Private events.

    Returns
    -------
    float
    """
    spending = Spending.of(events)
    if spending.gaussian:
        return spending.mu
    variation = float(pld_delta(spending, np.zeros(1))[0])
    return float(-2.0 * special.ndtri(max((1.0 - variation) / 2.0, 1e-300)))


def by_label(named: Iterable[Any]) -> dict[str, list[Any]]:
    """Group events or phases by label, keeping their order.

    Parameters
    ----------
    named : iterable of Event or Phase
        Objects with a ``label`` attribute.

    Returns
    -------
    dict of str to list
        Items with each label, in their original order.
    """
    groups: dict[str, list[Any]] = {}
    for one in named:
        groups.setdefault(one.label, []).append(one)
    return groups


def private_events(model: Any) -> list[Event]:
    """Return the private events that a fit was charged for.

    Parameters
    ----------
    model : private estimator
        Fitted model with its own ledger.

    Returns
    -------
    list of Event
        Events of the last ledger entry that has private events. In the ledger of a recorded fit,
        this entry is followed by one that has no private events.
    """
    of_entries = [
        [event for event in entry.events if not isinstance(event, NonPrivateEvent)]
        for entry in model.ledger_.entries
    ]
    return next((events for events in reversed(of_entries) if events), [])


def unpaid(model: Any, phases: Sequence[AnyPhase]) -> list[str]:
    """Describe releases not covered by charges, and charges beyond the guarantee.

    Parameters
    ----------
    model : private estimator
        Fitted model with its own ledger.
    phases : sequence of Phase
        Phase of each release.

    Returns
    -------
    list of str
        Description of each fault; empty if the events cover all releases and are within the
        guarantee.
    """
    paying = by_label(private_events(model))
    found = []
    for label, released in by_label(phases).items():
        if label not in paying:
            found.append(f"no event was charged for the releases {label!r}")
            continue
        ratio = stated_over_charged(paying[label][0], paying[label], released)
        if ratio < 1.0 - _ROUNDING:
            found.append(f"releases {label!r} state {ratio:.3g} times the noise that was charged")
    guarantee = stated_guarantee(model)
    charged = charged_epsilon(model)
    # Epsilon and mu are computed from each other by bisection, hence the relative tolerance.
    if charged > guarantee.epsilon * (1.0 + 1e-6):
        found.append(
            f"the events cost epsilon={charged:g}, but epsilon={guarantee.epsilon:g} is stated"
        )
    return found


@lru_cache(maxsize=256)
def _total_variation(events: tuple[SubsampledGaussianEvent, ...]) -> float:
    from dp_accounting import DpEvent, GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    for e in events:
        one: DpEvent = GaussianDpEvent(e.noise_multiplier)
        if e.sampling_probability < 1.0:
            one = PoissonSampledDpEvent(e.sampling_probability, one)
        accountant.compose(SelfComposedDpEvent(one, e.count))
    return float(accountant.get_delta(0.0))


def charged_epsilon(model: Any) -> float:
    """Return the epsilon of a fit's charged events, at the guarantee's delta.

    Parameters
    ----------
    model : private estimator
        Fitted model with its own ledger.

    Returns
    -------
    float
    """
    delta = stated_guarantee(model).delta
    if delta > 0.0:
        return float(model.ledger_.private_epsilon(delta))
    spending = Spending.of(private_events(model))
    return math.inf if spending.mu or spending.subsampled else spending.sum_of_pure


def _unknown(event: object) -> TypeError:
    return TypeError(
        f"audits do not support events of type {type(event).__name__}; register its functions in "
        "dpexplain.audit.charges."
    )
