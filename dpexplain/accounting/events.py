"""Events: what was released, with how much noise. A ledger is a list of them.

An event states what happened, not what it costs; the cost follows from all events together.
Events are written to files, so their fields are only ever added to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from dpexplain._validation import check_count, check_in_range, shown

__all__ = [
    "Event",
    "GaussianEvent",
    "NonPrivateEvent",
    "event_from_dict",
    "event_to_dict",
    "private_mu",
]

_LONGEST_TEXT = 10_000
_LARGEST_COUNT = 2**53  # beyond, a float cannot tell one release more


@dataclass(frozen=True)
class GaussianEvent:
    """One or more releases with Gaussian noise.

    Parameters
    ----------
    label : str
        What was released, for a reader: "histograms", "boosting".
    noise_multiplier : float
        Noise standard deviation divided by the L2 sensitivity of one release, under the
        adjacency of the ledger that records the event; positive and finite.
    count : int, default=1
        Number of releases with this multiplier.
    """

    label: str
    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        multiplier = check_in_range(
            "noise_multiplier",
            self.noise_multiplier,
            0.0,
            math.inf,
            include_low=False,
            include_high=False,
        )
        object.__setattr__(self, "noise_multiplier", multiplier)
        count = check_count("count", self.count)
        if count > _LARGEST_COUNT:
            raise ValueError(f"count={shown(count)} is more than can be made; lower it.")
        object.__setattr__(self, "count", count)

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of all releases of the event together.

        Returns
        -------
        float
            ``sqrt(count) / noise_multiplier``.
        """
        return math.sqrt(self.count) / self.noise_multiplier


@dataclass(frozen=True)
class NonPrivateEvent:
    """Something was taken from the data without noise: epsilon is infinite from then on.

    Parameters
    ----------
    label : str
        What was taken, for a reader: "non-private reference".
    reason : str
        Why it is not private, for a reader.
    """

    label: str
    reason: str

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _check_text("reason", self.reason)


Event = GaussianEvent | NonPrivateEvent


def private_mu(events: Iterable[Event]) -> float:
    """Compose the private events; those that are not private are left out.

    Parameters
    ----------
    events : iterable of Event
        Events in any order.

    Returns
    -------
    float
        Gaussian-DP parameter of the private events together.
    """
    # count / multiplier**2 rather than mu**2: one rounding less for the sum that is capped.
    squares = (
        event.count / event.noise_multiplier / event.noise_multiplier
        for event in events
        if isinstance(event, GaussianEvent)
    )
    return math.sqrt(math.fsum(squares))


@singledispatch
def event_to_dict(event: Event) -> dict[str, Any]:
    """Write an event as plain data.

    Parameters
    ----------
    event : Event
        A Gaussian or a non-private event.

    Returns
    -------
    dict
        ``{"type": ..., "label": ..., ...}``, ready for JSON.

    Raises
    ------
    TypeError
        If `event` is no event.
    """
    raise TypeError(f"{shown(event)} is no event; pass GaussianEvent(...) or NonPrivateEvent(...).")


@event_to_dict.register
def _(event: GaussianEvent) -> dict[str, Any]:
    return {
        "type": "gaussian",
        "label": event.label,
        "noise_multiplier": event.noise_multiplier,
        "count": event.count,
    }


@event_to_dict.register
def _(event: NonPrivateEvent) -> dict[str, Any]:
    return {"type": "non_private", "label": event.label, "reason": event.reason}


_EVENT_TYPES: dict[str, tuple[type[Event], frozenset[str]]] = {
    "gaussian": (GaussianEvent, frozenset({"label", "noise_multiplier", "count"})),
    "non_private": (NonPrivateEvent, frozenset({"label", "reason"})),
}


def event_from_dict(content: Mapping[str, Any]) -> Event:
    """Read an event from plain data, strictly.

    Parameters
    ----------
    content : mapping
        What `event_to_dict` wrote.

    Returns
    -------
    Event
        An event equal to the one that was written.

    Raises
    ------
    ValueError
        If the type is unknown, a field is missing or unknown, or a value is out of range.
    """
    if not isinstance(content, Mapping):
        raise ValueError(f"an event is {shown(content)}; expected an object with a 'type'.")
    kind = content.get("type")
    if not isinstance(kind, str) or kind not in _EVENT_TYPES:
        names = " or ".join(repr(name) for name in _EVENT_TYPES)
        raise ValueError(
            f"an event has the type {shown(kind)}; expected {names}. A newer version of "
            "dpexplain may have written it."
        )
    event_type, fields = _EVENT_TYPES[kind]
    if set(content) != fields | {"type"}:
        expected = ", ".join(sorted(fields))
        raise ValueError(f"an event of type {kind!r} needs exactly these fields: {expected}.")
    return event_type(**{name: content[name] for name in fields})


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise ValueError(
            f"{name}={shown(value)} must be a text of 1 to {_LONGEST_TEXT} characters that says "
            "what the event is about."
        )
