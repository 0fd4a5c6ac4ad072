"""Events: what was released, and with how much noise.

An event states what happened, not what it costs; the cost is computed from all events together.
Events are written to files, so fields may be added but never removed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.validation import check_count, check_in_range, shown

__all__ = [
    "EVENT_TYPES",
    "DiscreteLaplaceEvent",
    "Event",
    "GaussianEvent",
    "LaplaceEvent",
    "NonPrivateEvent",
    "PrivateEvent",
    "PureEvent",
    "SubsampledGaussianEvent",
    "check_event",
    "event_from_dict",
    "event_to_dict",
    "event_words",
]

_LONGEST_TEXT = 10_000
_LARGEST_COUNT = 2**53  # above this, a float cannot represent one more release or step


@dataclass(frozen=True)
class GaussianEvent:
    """One or more releases of ``q + z`` with Gaussian noise z.

    Here q is a vector of sums that one record changes by at most L in the Euclidean norm, and the
    coordinates of z are independent draws from N(0, s^2) with ``s = noise_multiplier * L``. The
    discrete Gaussian noise that mechanisms draw is counted the same way: its standard deviation
    exceeds the stated one by enough to cover the cost of the lattice (see
    `dpexplain.mechanisms.Phase`).

    Parameters
    ----------
    label : str
        Description of what was released, such as "histograms" or "boosting".
    noise_multiplier : float
        Noise standard deviation divided by the L2 sensitivity of one release, under the
        adjacency of the ledger that records the event; positive and finite.
    count : int, default=1
        Number of releases with this multiplier.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("claims", cap_epsilon=1, delta=1e-6)
    >>> event = GaussianEvent("boosting", noise_multiplier=50, count=100)
    >>> entry = ledger.charge([event], label="trees")
    >>> ledger.total_epsilon() < 1
    True
    """

    label: str
    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _set_positive(self, "noise_multiplier")
        _set_count(self)

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of all releases of the event combined.

        Returns
        -------
        float
            ``sqrt(count) / noise_multiplier``.
        """
        return math.sqrt(self.count) / self.noise_multiplier


@dataclass(frozen=True)
class SubsampledGaussianEvent:
    """One or more releases of ``q_S + z``, each on a secret random sample S.

    Here q_S is a sum to which each record in the sample adds a vector of Euclidean norm at most C,
    and the coordinates of z are independent draws from N(0, s^2) with ``s = noise_multiplier * C``.

    Every record is included in each release with a fixed probability, independently of all others
    (Poisson sampling); batches of fixed size or in shuffled order do not have this guarantee.

    Parameters
    ----------
    label : str
        Description of what was released, such as "gradients".
    noise_multiplier : float
        Noise standard deviation divided by the bound on the L2 norm of one record's contribution to
        the sum; positive and finite. It is stated in the same way for both adjacencies, because the
        accountant allows for the fact that a replaced record may change a sum by twice the bound.
    sampling_probability : float
        Probability that a record is included, in (0, 1].
    count : int, default=1
        Number of releases, each with an independent sample.

    Examples
    --------
    >>> from dpexplain.accounting import PrivacyLedger, SubsampledGaussianEvent
    >>> ledger = PrivacyLedger("trips", cap_epsilon=4, delta=1e-5)
    >>> steps = SubsampledGaussianEvent("gradients", 2, sampling_probability=0.1, count=100)
    >>> entry = ledger.charge([steps], label="filters")
    >>> ledger.total_epsilon() < 4
    True
    """

    label: str
    noise_multiplier: float
    sampling_probability: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _set_positive(self, "noise_multiplier")
        probability = check_in_range(
            "sampling_probability", self.sampling_probability, 0.0, 1.0, include_low=False
        )
        object.__setattr__(self, "sampling_probability", probability)
        _set_count(self)


@dataclass(frozen=True)
class LaplaceEvent:
    """One or more releases of ``q + z`` with Laplace noise on an unspecified lattice.

    Here q is a vector of sums that one record changes by at most L in the L1 norm, and the
    coordinates of z are independent, with probabilities proportional to ``exp(-|z| / t)``, where
    ``t = noise_multiplier * L``, on the real line or on any lattice. A coarser lattice reveals
    more, so the event is counted as a pure mechanism, which gives a bound valid for all lattices. A
    `DiscreteLaplaceEvent` states the lattice and costs less.

    Parameters
    ----------
    label : str
        Description of what was released.
    noise_multiplier : float
        Laplace scale divided by the L1 sensitivity of one release, under the adjacency of the
        ledger that records the event; positive and finite.
    count : int, default=1
        Number of releases with this multiplier.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent
    >>> LaplaceEvent("sums", noise_multiplier=4)
    LaplaceEvent(label='sums', noise_multiplier=4.0, count=1)
    """

    label: str
    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _set_positive(self, "noise_multiplier")
        _set_count(self)


@dataclass(frozen=True)
class DiscreteLaplaceEvent:
    """One or more releases of ``q + z`` with discrete Laplace noise z.

    Here q is a vector of integer sums that one record changes by at most `sensitivity` in the L1
    norm, and the coordinates of z are independent integers with ``P(z) = c exp(-|z| / scale)``.

    Parameters
    ----------
    label : str
        Description of what was released, such as "leaves".
    scale : int
        Scale of the noise in lattice steps, at least 1.
    sensitivity : int
        L1 sensitivity of one release in lattice steps, at least 1, under the adjacency of the
        ledger that records the event.
    count : int, default=1
        Number of releases with this noise.

    Examples
    --------
    >>> from dpexplain.accounting import DiscreteLaplaceEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("visits", cap_epsilon=1)
    >>> event = DiscreteLaplaceEvent("sums", scale=200, sensitivity=100)
    >>> entry = ledger.charge([event], label="means")
    >>> round(ledger.total_epsilon(), 2)
    0.5
    """

    label: str
    scale: int
    sensitivity: int
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _set_whole(self, "scale")
        _set_whole(self, "sensitivity")
        _set_count(self)

    @property
    def noise_multiplier(self) -> float:
        """Scale of the noise divided by the sensitivity of one release.

        Returns
        -------
        float
            The ratio, rounded to a float.
        """
        return self.scale / self.sensitivity


@dataclass(frozen=True)
class PureEvent:
    """One or more releases of any mechanism with pure differential privacy.

    One record changes the probability of any answer by a factor between ``exp(-epsilon)`` and
    ``exp(epsilon)``. The event is counted as the worst mechanism with this property: a bit that
    tells whether the record is present, and is correct with probability
    ``1 / (1 + exp(-epsilon))``. The event is used for the exponential mechanism, for noisy choices,
    and for mechanisms that have no event type of their own.

    Parameters
    ----------
    label : str
        Description of what was released.
    epsilon : float
        Bound on the log-ratio of probabilities for one release, under the adjacency of the ledger
        that records the event; positive and finite.
    count : int, default=1
        Number of releases with this epsilon.

    Examples
    --------
    >>> from dpexplain.accounting import PrivacyLedger, PureEvent
    >>> ledger = PrivacyLedger("repairs", cap_epsilon=1)
    >>> entry = ledger.charge([PureEvent("pairs", epsilon=0.25, count=2)], label="choice")
    >>> round(ledger.total_epsilon(), 2)
    0.5
    """

    label: str
    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _set_positive(self, "epsilon")
        _set_count(self)


@dataclass(frozen=True)
class NonPrivateEvent:
    """Non-private use of the data, which makes epsilon infinite.

    Parameters
    ----------
    label : str
        Description of the use, such as "non-private reference".
    reason : str
        Explanation of why it is not private.

    Examples
    --------
    >>> from dpexplain.accounting import NonPrivateEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("births")
    >>> event = NonPrivateEvent("non-private reference", "has no noise")
    >>> entry = ledger.charge([event], label="reference")
    >>> ledger.total_epsilon()
    inf
    """

    label: str
    reason: str

    def __post_init__(self) -> None:
        _check_text("label", self.label)
        _check_text("reason", self.reason)


PrivateEvent = (
    GaussianEvent | SubsampledGaussianEvent | LaplaceEvent | DiscreteLaplaceEvent | PureEvent
)
Event = PrivateEvent | NonPrivateEvent

EVENT_TYPES: dict[str, type[Event]] = {
    "gaussian": GaussianEvent,
    "subsampled_gaussian": SubsampledGaussianEvent,
    "laplace": LaplaceEvent,
    "discrete_laplace": DiscreteLaplaceEvent,
    "pure": PureEvent,
    "non_private": NonPrivateEvent,
}
_NAME_OF_TYPE = {event_type: name for name, event_type in EVENT_TYPES.items()}


def event_to_dict(event: Event) -> dict[str, Any]:
    """Convert an event to plain data for JSON.

    Parameters
    ----------
    event : Event
        An event of any kind.

    Returns
    -------
    dict
        Data of the form ``{"type": ..., "label": ..., ...}``.

    Raises
    ------
    TypeError
        If `event` is not an event.

    Examples
    --------
    >>> from dpexplain.accounting import PureEvent, event_to_dict
    >>> event_to_dict(PureEvent("pairs", epsilon=0.25))
    {'type': 'pure', 'label': 'pairs', 'epsilon': 0.25, 'count': 1}
    """
    check_event(event)
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"type": _NAME_OF_TYPE[type(event)], **values}


def event_from_dict(content: Mapping[str, Any]) -> Event:
    """Strictly parse an event from plain data.

    Parameters
    ----------
    content : mapping
        Output of `event_to_dict`.

    Returns
    -------
    Event
        An event equal to the original.

    Raises
    ------
    ValueError
        If the type is unknown, a field is missing or unknown, or a value is out of range.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent, event_from_dict, event_to_dict
    >>> event = LaplaceEvent("sums", noise_multiplier=4)
    >>> event_from_dict(event_to_dict(event)) == event
    True
    """
    if not isinstance(content, Mapping):
        raise ValueError(f"an event is {shown(content)}; expected an object with a 'type'.")
    kind = content.get("type")
    if not isinstance(kind, str) or kind not in EVENT_TYPES:
        names = " or ".join(repr(name) for name in EVENT_TYPES)
        raise ValueError(
            f"an event has the type {shown(kind)}; expected {names}. A newer version of "
            "dpexplain may have written it."
        )
    event_type = EVENT_TYPES[kind]
    names_of_fields = {field.name for field in fields(event_type)}
    if set(content) != names_of_fields | {"type"}:
        expected = ", ".join(sorted(names_of_fields))
        raise ValueError(f"an event of type {kind!r} needs exactly these fields: {expected}.")
    return event_type(**{name: content[name] for name in names_of_fields})


def event_words(event: Event) -> str:
    """Describe what was released, and with how much noise.

    Parameters
    ----------
    event : Event
        An event of any kind.

    Returns
    -------
    str
        Description without the label.
    """
    match event:
        case GaussianEvent(_, multiplier, count):
            return f"{count} × Gaussian, noise multiplier {multiplier:.4g}"
        case SubsampledGaussianEvent(_, multiplier, probability, count):
            return (
                f"{count} × Gaussian, noise multiplier {multiplier:.4g}, on a random sample "
                f"of {100 * probability:.3g}% of the records"
            )
        case LaplaceEvent(_, multiplier, count):
            return f"{count} × Laplace, noise multiplier {multiplier:.4g}"
        case DiscreteLaplaceEvent(_, _, _, count):
            return f"{count} × discrete Laplace, noise multiplier {event.noise_multiplier:.4g}"
        case PureEvent(_, epsilon, count):
            return f"{count} × pure mechanism, epsilon {upper_number(epsilon)}"
        case NonPrivateEvent(_, reason):
            return f"not private, {reason}"


def check_event(event: object) -> None:
    """Raise TypeError unless the value is an event.

    Parameters
    ----------
    event : object
        The value to check.

    Raises
    ------
    TypeError
        If `event` is not an event.
    """
    if type(event) not in _NAME_OF_TYPE:
        names = ", ".join(f"{event_type.__name__}(...)" for event_type in _NAME_OF_TYPE)
        raise TypeError(f"{shown(event)} is not an event; pass one of {names}.")


def _set_positive(event: Event, name: str) -> None:
    value = check_in_range(
        name, getattr(event, name), 0.0, math.inf, include_low=False, include_high=False
    )
    object.__setattr__(event, name, value)


def _set_count(event: PrivateEvent) -> None:
    _set_whole(event, "count")


def _set_whole(event: PrivateEvent, name: str) -> None:
    value = check_count(name, getattr(event, name))
    if value > _LARGEST_COUNT:
        raise ValueError(f"{name}={shown(value)} is more than {_LARGEST_COUNT}; lower it.")
    object.__setattr__(event, name, value)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise ValueError(
            f"{name}={shown(value)} must be a string of 1 to {_LONGEST_TEXT} characters that "
            "describes the event."
        )
