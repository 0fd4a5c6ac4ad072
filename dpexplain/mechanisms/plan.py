"""Planned releases of a fit, their events, and the allowance that remains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.mechanisms.phases import AnyPhase, ChoicePhase, LaplacePhase, SampledPhase

__all__ = ["Allowance", "Releases"]

# Relative tolerance for Gaussian releases, whose noise is wider by a fraction of 1e-6.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Releases:
    """Planned releases: a phase and its number of releases.

    Parameters
    ----------
    phase : Phase, LaplacePhase or ChoicePhase
        Phase to which the releases belong. Its number of values has no effect.
    count : int, default=1
        Number of releases.
    others : tuple of LaplacePhase, default=()
        Phases on other parts of the records. Each record is in only one part: either that of
        `phase` or that of one of `others`.

    Examples
    --------
    >>> from dpexplain.mechanisms import Phase, Releases
    >>> leaves = Phase("boosting", sensitivity_int=2**20, sigma_int=50 * 2**20, n_values=400)
    >>> Releases(leaves, count=100).count
    100
    """

    phase: AnyPhase
    count: int = 1
    others: tuple[LaplacePhase, ...] = ()

    @property
    def event(self) -> PrivateEvent:
        """Event that covers the releases.

        Returns
        -------
        PrivateEvent
            The event of the phase. If phases on disjoint records have different lattices, the
            result is an event that is valid on every lattice.
        """
        phases = (self.phase, *self.others)
        events = {phase.event(self.count) for phase in phases}
        if len(events) == 1:
            return events.pop()
        epsilon = max(phase.exact_epsilon for phase in phases if isinstance(phase, LaplacePhase))
        # Rounded down, so that its inverse is at least as large as every epsilon.
        return LaplaceEvent(self.phase.label, math.nextafter(float(1 / epsilon), 0.0), self.count)


class Allowance:
    """Releases that the charged events still cover; all others are rejected.

    Parameters
    ----------
    charged : iterable of Event
        Events charged for one fit; non-private events do not cover any release.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent
    >>> from dpexplain.binning import count_phase
    >>> from dpexplain.mechanisms import Allowance
    >>> allowance = Allowance([GaussianEvent("count", noise_multiplier=20)])
    >>> allowance.spend(count_phase(noise_multiplier=20, sensitivity=1))
    """

    def __init__(self, charged: Iterable[Event]) -> None:
        self._squared_mu: dict[str, float] = {}
        self._left: list[tuple[PrivateEvent, Fraction]] = []
        # The phase last asked about and its event, which a phase cannot change.
        self._of: tuple[AnyPhase, PrivateEvent] | None = None
        for event in charged:
            if isinstance(event, GaussianEvent):
                before = self._squared_mu.get(event.label, 0.0)
                room = event.count / event.noise_multiplier / event.noise_multiplier
                self._squared_mu[event.label] = before + room * (1.0 + _ROUNDING)
            elif not isinstance(event, NonPrivateEvent):
                self._left.append((event, Fraction(event.count)))

    def check(self, phase: AnyPhase) -> None:
        """Check that the charged events cover at least one more release of a phase.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            The phase to begin.

        Raises
        ------
        RuntimeError
            If no remaining charged event covers a release of the phase.
        """
        self._paid(phase, 1, spend=False)

    def spend(self, phase: AnyPhase, count: int = 1) -> None:
        """Deduct releases of a phase.

        Parameters
        ----------
        phase : Phase, LaplacePhase or ChoicePhase
            The phase of the releases.
        count : int, default=1
            Number of releases.

        Raises
        ------
        RuntimeError
            If no remaining charged event covers the releases; nothing is deducted in this case.
        """
        self._paid(phase, count)

    def _paid(self, phase: AnyPhase, count: int, *, spend: bool = True) -> None:
        if self._of is None or self._of[0] is not phase:
            self._of = phase, phase.event()
        drawn = self._of[1]
        if isinstance(drawn, GaussianEvent):
            price = count / drawn.noise_multiplier / drawn.noise_multiplier
            left = self._squared_mu.get(phase.label, 0.0)
            if price <= left:
                self._squared_mu[phase.label] = left - price if spend else left
                return
        share = Fraction(count, phase.n_disjoint)
        covering = [
            place
            for place, (event, left) in enumerate(self._left)
            if left >= share and event.label == phase.label and _covers(event, phase)
        ]
        if covering:
            # Use the cheapest event that covers it: a later phase may need a more expensive one.
            place = min(covering, key=lambda place: _price(self._left[place][0]))
            event, before = self._left[place]
            self._left[place] = (event, before - share if spend else before)
            return
        raise RuntimeError(
            f"the charged events do not cover another release of phase {phase.label!r} "
            f"({drawn}); draw only noise that was charged."
        )


def _price(event: PrivateEvent) -> float:
    """Return the key by which to sort events of one kind: the cost of one release."""
    return event.epsilon if isinstance(event, PureEvent) else 1.0 / event.noise_multiplier


def _covers(event: PrivateEvent, phase: AnyPhase) -> bool:
    """Return whether an event covers a release of a phase.

    The number of releases left in the event is not considered.
    """
    if isinstance(phase, SampledPhase):
        noise = phase.sigma_int / phase.record_bound_int
        return (
            isinstance(event, SubsampledGaussianEvent)
            and noise >= event.noise_multiplier * (1.0 - _ROUNDING)
            and phase.sampling_probability <= event.sampling_probability
        )
    if not isinstance(phase, LaplacePhase | ChoicePhase):
        return False
    if isinstance(event, DiscreteLaplaceEvent):
        return (
            isinstance(phase, LaplacePhase)
            and phase.drawn_scale >= event.scale
            and phase.drawn_sensitivity <= event.sensitivity
        )
    if isinstance(event, LaplaceEvent):
        return phase.exact_epsilon * Fraction(event.noise_multiplier) <= 1
    return isinstance(event, PureEvent) and phase.exact_epsilon <= Fraction(event.epsilon)
