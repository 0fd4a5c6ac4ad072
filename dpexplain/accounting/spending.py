"""Merged costs of private events; the order of the events does not matter.

Events of one kind with the same parameters are merged, so that two collections of the same events
are equal, and costs can be cached.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpexplain._utils.validation import Adjacency
from dpexplain.accounting.events import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.accounting.gdp import mu_of_pure

__all__ = ["Spending", "private_mu"]


@dataclass(frozen=True)
class Spending:
    """Merged private events of a collection; all other events are dropped.

    Parameters
    ----------
    squared_mu : float, default=0.0
        Sum of the squared Gaussian-DP parameters of the Gaussian events.
    subsampled : tuple of (float, float, int), default=()
        Noise multiplier, sampling probability and count of each group of equal subsampled Gaussian
        events.
    laplace : tuple of (int, int, int), default=()
        Scale in lattice steps, sensitivity in lattice steps, and count of each group of equal
        discrete Laplace events.
    pure : tuple of (float, int), default=()
        Epsilon and count of each group of equal pure events, or of Laplace events on an unknown
        lattice.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Which data sets count as neighbors. The other fields are stated for this adjacency, except
        that the noise multipliers of subsampled events are relative to the bound on one record's
        contribution.
    """

    squared_mu: float = 0.0
    subsampled: tuple[tuple[float, float, int], ...] = ()
    laplace: tuple[tuple[int, int, int], ...] = ()
    pure: tuple[tuple[float, int], ...] = ()
    adjacency: Adjacency = "add_remove"

    @classmethod
    def of(cls, events: Iterable[Event], adjacency: Adjacency = "add_remove") -> Spending:
        """Merge a collection of events.

        Parameters
        ----------
        events : iterable of Event
            Events in any order.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Adjacency to which the noise multipliers of the events refer.

        Returns
        -------
        Spending
            The merged costs, bit-for-bit identical for any order of the events.
        """
        squares: list[float] = []
        subsampled: list[tuple[float, float, int]] = []
        laplace: list[tuple[int, int, int]] = []
        pure: list[tuple[float, int]] = []
        for event in events:
            match event:
                # count / multiplier**2 rather than mu**2 saves one rounding in a sum that is
                # compared with a cap.
                case GaussianEvent(_, multiplier, count):
                    squares.append(count / multiplier / multiplier)
                case SubsampledGaussianEvent(_, multiplier, 1.0, count):
                    change = 1.0 if adjacency == "add_remove" else 4.0
                    squares.append(change * count / multiplier / multiplier)
                case SubsampledGaussianEvent(_, multiplier, probability, count):
                    subsampled.append((multiplier, probability, count))
                case DiscreteLaplaceEvent(_, scale, sensitivity, count):
                    laplace.append((scale, sensitivity, count))
                case LaplaceEvent(_, multiplier, count):
                    # The worst lattice is so coarse that a record changes the sum by a single step.
                    pure.append((1.0 / multiplier, count))
                case PureEvent(_, epsilon, count):
                    pure.append((epsilon, count))
                case NonPrivateEvent():
                    pass
        return cls(
            squared_mu=_sum(squares),
            subsampled=_merged(subsampled),
            laplace=_merged(laplace),
            pure=_merged(pure),
            adjacency=adjacency,
        )

    @classmethod
    def together(cls, parts: Sequence[Spending]) -> Spending:
        """Merge several `Spending` objects; their order does not matter.

        Parameters
        ----------
        parts : sequence of Spending
            Objects to merge; at least one, and all stated for the same adjacency.

        Returns
        -------
        Spending
            The merged spending.
        """
        return cls(
            squared_mu=_sum([part.squared_mu for part in parts]),
            subsampled=_merged(item for part in parts for item in part.subsampled),
            laplace=_merged(item for part in parts for item in part.laplace),
            pure=_merged(item for part in parts for item in part.pure),
            adjacency=parts[0].adjacency,
        )

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of the Gaussian events.

        Returns
        -------
        float
            The parameter; it is exact for the Gaussian events and covers no other events.
        """
        return math.sqrt(self.squared_mu)

    @property
    def empty(self) -> bool:
        """Whether nothing has been spent.

        Returns
        -------
        bool
            True if there are no private events.
        """
        return not (self.squared_mu or self.subsampled or self.laplace or self.pure)

    @property
    def gaussian(self) -> bool:
        """Whether the Gaussian-DP parameter describes all events.

        Returns
        -------
        bool
            False if there are events that are not Gaussian.
        """
        return not (self.subsampled or self.laplace or self.pure)

    def replaced(self) -> Spending:
        """Restate the releases under replace-one adjacency.

        Returns
        -------
        Spending
            The object itself, if it is already stated for replace-one adjacency. Otherwise, a copy
            in which the change in each sum and the epsilon of each pure mechanism are doubled.
        """
        if self.adjacency == "replace":
            return self
        return replace(
            self,
            squared_mu=4.0 * self.squared_mu,
            laplace=tuple((scale, 2 * steps, count) for scale, steps, count in self.laplace),
            pure=tuple((2.0 * epsilon, count) for epsilon, count in self.pure),
            adjacency="replace",
        )

    @property
    def ladders(self) -> tuple[tuple[float, int, int], ...]:
        """Pure and discrete Laplace releases, whose losses have equally spaced values.

        Returns
        -------
        tuple of (float, int, int)
            For each kind of release: epsilon, the number of steps from a loss of ``-epsilon`` to
            one of ``epsilon``, and the number of such releases. If a sum changes by D and the
            discrete Laplace noise has scale t, the possible losses are ``(D - 2 x) / t`` for x = 0,
            ..., D. The worst pure mechanism has only the losses ``-epsilon`` and ``epsilon``, as if
            D were 1.
        """
        return (
            *((steps / scale, steps, count) for scale, steps, count in self.laplace),
            *((epsilon, 1, count) for epsilon, count in self.pure),
        )

    @property
    def sum_of_pure(self) -> float:
        """Plain sum of the epsilons of pure and Laplace events.

        Returns
        -------
        float
            Epsilon of these events at delta 0.
        """
        return _sum([count * epsilon for epsilon, _, count in self.ladders])

    @property
    def gaussian_bound(self) -> float:
        """Gaussian-DP parameter that covers all releases.

        Returns
        -------
        float
            Parameter of all releases combined. Each pure mechanism is counted as the smallest
            parameter that covers it, and each subsampled release as if every record were included.
        """
        change = 1.0 if self.adjacency == "add_remove" else 4.0
        return math.sqrt(
            _sum(
                [
                    self.squared_mu,
                    *(change * n / noise / noise for noise, _, n in self.subsampled),
                    *(n * mu_of_pure(epsilon) ** 2 for epsilon, _, n in self.ladders),
                ]
            )
        )


def private_mu(events: Iterable[Event]) -> float:
    """Compose the Gaussian events; ignore all others.

    Parameters
    ----------
    events : iterable of Event
        Events in any order.

    Returns
    -------
    float
        Gaussian-DP parameter of all Gaussian events combined.
    """
    return Spending.of(events).mu


def _merged(items: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add up the counts (last field) of items that are equal in all other fields."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for *parameters, count in items:
        counts[tuple(parameters)] += count
    return tuple(sorted((*parameters, count) for parameters, count in counts.items()))


def _sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:  # above the largest float, so no guarantee is left
        return math.inf
