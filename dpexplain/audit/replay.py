"""Transcript replay: the effect of one record on all releases of a fit.

All private releases of a fit pass through one mechanism. `record` fits an estimator on a data set
and records the transcript. `replay` fits it on a neighboring data set and forces the same answers,
so that only the queries can differ. If the distances between the queries, in units of the noise,
exceed the claimed Gaussian-DP parameter, or if anything else released differs, the guarantee is
false. The check is deterministic and needs no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.accounting._units.prices import spending_for
from dpexplain.accounting.unit import Person, Unit, same_unit
from dpexplain.audit.charges import private_events, unpaid
from dpexplain.audit.recording import Transcript, record, stated_guarantee
from dpexplain.audit.releases import distance
from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Phase

_ROUNDING = 1e-9


@dataclass(frozen=True)
class ReplayReport:
    """Result of a replay on a neighboring data set.

    Parameters
    ----------
    spent_mu : float
        Gaussian-DP parameter spent on this pair of data sets: the square root of the sum of the
        squared distances between queries, each in units of the noise standard deviation.
    claimed_mu : float or None
        Gaussian-DP parameter stated by the guarantee; None if the guarantee does not state one.
    spent_epsilon : float
        Sum over the releases of pure mechanisms. Each term is an upper bound on the log-ratio of
        the probabilities of an answer under the two data sets.
    claimed_epsilon : float
        Epsilon stated by the guarantee. It is compared with `spent_epsilon` if no mu is stated.
    differences : tuple of str
        Differences between the two fits despite equal answers: in the number, order, noise or
        shape of the releases, in the attributes of the models, or in the charged events.
    overspent : tuple of str
        Faults in the stated sensitivities and in the charges. A release is at fault if its queries
        differ by more than the stated sensitivity, if it should use disjoint subsets of the records
        but does not, or if the charged events do not cover it. It is also a fault if the charged
        events cost more than the guarantee allows.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case, record, replay
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> model, transcript = record(case.estimator, *case.present)
    >>> report = replay(case.estimator, case.absent, model, transcript)
    >>> report.spent_mu <= report.claimed_mu
    True
    """

    spent_mu: float
    claimed_mu: float | None
    spent_epsilon: float
    claimed_epsilon: float
    differences: tuple[str, ...]
    overspent: tuple[str, ...] = ()

    @property
    def spent_share(self) -> float:
        """Fraction of the guarantee that this pair of data sets uses up.

        Returns
        -------
        float
            Fraction of mu, if it is stated; otherwise, for pure mechanisms, fraction of epsilon.
        """
        if self.claimed_mu is not None:
            return self.spent_mu / self.claimed_mu
        return self.spent_epsilon / self.claimed_epsilon

    @property
    def holds(self) -> bool:
        """Whether the guarantee holds for this pair of data sets."""
        within = self.spent_share <= 1.0 + _ROUNDING
        return within and not self.differences and not self.overspent


def replay(
    estimator: Any,
    neighbor: tuple[Any, ...],
    model: Any,
    transcript: Transcript,
    *,
    kept: Sequence[int] | None = None,
    unit: Unit | None = None,
) -> ReplayReport:
    """Fit on a neighboring data set with the recorded answers, and compare both fits.

    Parameters
    ----------
    estimator : private estimator
        Estimator passed to `record`.
    neighbor : tuple of X, y or X, y, groups
        Neighboring data set, which differs from the recorded one by one `unit`.
    model : private estimator
        Model returned by `record`.
    transcript : Transcript
        Transcript returned by `record`.
    kept : sequence of int or None, default=None
        Positions of the rows that the fit on the neighboring data set uses. If None, the rows of
        each person are chosen at random.
    unit : Unit or None, default=None
        Privacy unit by which the data sets differ. The distances between queries are compared with
        the cost that the ledger states for this unit. None means the unit of the guarantee.

    Returns
    -------
    ReplayReport

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case, record, replay
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> model, transcript = record(case.estimator, *case.present)
    >>> report = replay(case.estimator, case.absent, model, transcript)
    >>> report.differences, report.overspent
    ((), ())
    """
    mu, epsilon, reach = _claims(model, unit)
    try:
        other, second = record(estimator, *neighbor, answers=transcript.answers, kept=kept)
    except RuntimeError as error:  # the fit on the neighbor made an invalid request
        return ReplayReport(
            spent_mu=0.0,
            claimed_mu=mu,
            spent_epsilon=0.0,
            claimed_epsilon=epsilon,
            differences=(f"with the same answers, the fit on the neighbor stops: {error}",),
        )
    apart = _distances(transcript, second)
    return ReplayReport(
        spent_mu=_spent_mu(transcript, apart),
        claimed_mu=mu,
        spent_epsilon=_spent_epsilon(transcript, apart),
        claimed_epsilon=epsilon,
        differences=(
            *_structural_differences(transcript, second),
            *_state_differences(model, other),
        ),
        overspent=(
            *_beyond_sensitivity(transcript, [d / reach for d in apart]),
            *unpaid(model, transcript.phases),
        ),
    )


def _claims(model: Any, unit: Unit | None) -> tuple[float | None, float, float]:
    """Return the claimed mu, the claimed epsilon, and the largest distance allowed.

    All three refer to data sets that differ by one `unit`. The distance is between the queries of a
    release, in units of its sensitivity.
    """
    guarantee = stated_guarantee(model)
    # The last entry states that exact sums were recorded, so the last private one is used.
    entry = next(e for e in reversed(model.ledger_.entries) if e.private)
    if unit is None or same_unit(unit, entry.unit):
        return guarantee.mu, guarantee.epsilon, 1.0
    price = spending_for([entry], unit, model.adjacency)
    if price is None:
        return None, math.inf, math.inf
    mu = price.mu if guarantee.mu is not None else None
    reach = 2.0 / (entry.unit.max_rows or 1) if isinstance(entry.unit, Person) else 1.0
    return mu, price.sum_of_pure or model.ledger_.private_epsilon(unit=unit), reach


def _distances(first: Transcript, second: Transcript) -> list[float]:
    """Return the distance between the two queries of each release; 0 if shapes differ."""
    return [
        distance(phase, q, p) if q.shape == p.shape else 0.0
        for phase, q, p in zip(first.phases, first.queries, second.queries, strict=False)
    ]


def _spent_mu(transcript: Transcript, apart: list[float]) -> float:
    squares = (
        (d / phase.noise_multiplier) ** 2
        for phase, d in zip(transcript.phases, apart, strict=False)
        if isinstance(phase, Phase)
    )
    return math.sqrt(math.fsum(squares))


def _spent_epsilon(transcript: Transcript, apart: list[float]) -> float:
    """Return the sum of the log-ratio bounds over all releases of pure mechanisms."""
    return math.fsum(
        d * (phase.epsilon if isinstance(phase, ChoicePhase) else 1.0 / phase.noise_multiplier)
        for phase, d in zip(transcript.phases, apart, strict=False)
        if isinstance(phase, ChoicePhase | LaplacePhase)
    )


def _beyond_sensitivity(transcript: Transcript, apart: list[float]) -> list[str]:
    largest: dict[str, float] = {}
    for phase, d in zip(transcript.phases, apart, strict=False):
        largest[phase.label] = max(largest.get(phase.label, 0.0), d)
    beyond = [
        f"releases {label!r} are up to {d:.3g} times their sensitivity apart"
        for label, d in largest.items()
        if d > 1.0 + _ROUNDING
    ]
    return beyond + _not_disjoint(transcript, apart)


def _not_disjoint(transcript: Transcript, apart: list[float]) -> list[str]:
    """Describe the releases on subsets of records that should be disjoint but are not."""
    moved: dict[str, float] = {}
    permitted: dict[str, float] = {}
    for phase, d in zip(transcript.phases, apart, strict=False):
        moved[phase.label] = moved.get(phase.label, 0.0) + d
        share = 1.0 / getattr(phase, "n_disjoint", 1)
        permitted[phase.label] = permitted.get(phase.label, 0.0) + share
    return [
        f"releases {label!r} are about parts of the records that are not disjoint"
        for label, d in moved.items()
        if d > permitted[label] * (1.0 + _ROUNDING)
    ]


def _structural_differences(first: Transcript, second: Transcript) -> list[str]:
    if len(first.answers) != len(second.answers):
        return [f"{len(first.answers)} releases became {len(second.answers)}"]
    found = []
    for place, (a, b) in enumerate(zip(first.phases, second.phases, strict=True)):
        if a != b:
            found.append(f"release {place}: phase {a} became {b}")
        if first.queries[place].shape != second.queries[place].shape:
            found.append(f"release {place}: a different number of values")
    return found


def _state_differences(first: Any, second: Any) -> list[str]:
    """List the attributes that differ, and "charged events" if those differ."""
    names = sorted(set(vars(first)) | set(vars(second)))
    skipped = {"ledger", "ledger_"}  # times and identifiers differ from charge to charge
    found = [
        f"attribute {name}"
        for name in names
        if name not in skipped
        and not same_value(getattr(first, name, None), getattr(second, name, None))
    ]
    return found + ["charged events"] * (private_events(first) != private_events(second))


def same_value(a: Any, b: Any) -> bool:
    """Return whether two values, and all values nested in them, are equal.

    Numeric arrays are compared bit for bit. Values of different types are never equal, and NaN is
    equal to NaN.

    Parameters
    ----------
    a, b : object

    Returns
    -------
    bool
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _same_array(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_value(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return same_value(vars(a), vars(b))
    return bool(a == b) or (a != a and b != b)


def _same_array(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.dtype == object:
        return all(same_value(x, y) for x, y in zip(a.ravel(), b.ravel(), strict=True))
    return a.tobytes() == b.tobytes()
