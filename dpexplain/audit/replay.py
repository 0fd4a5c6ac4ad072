"""Transcript replay: what one record could do to everything a fit released.

All private releases of a fit pass through one mechanism. `record` fits on a data set
and writes the transcript down; `replay` fits on a neighbouring data set with the same
answers forced, so that only the queries can differ. If their distances, in units of the
noise, exceed the claimed Gaussian-DP parameter, or if anything else that is released
differs, the guarantee is false. The check is deterministic and needs no statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dpexplain.mechanisms import GaussianMechanism, NoiseSource, Phase


@dataclass
class Transcript:
    """Releases of one fit, in order.

    Attributes
    ----------
    phases : list of Phase
        Phase of each release.
    queries : list of ndarray of int64
        Exact sums on the integer lattice. For audits on public or made-up data only.
    answers : list of ndarray of int64
        What was released.
    """

    phases: list[Phase] = field(default_factory=list)
    queries: list[NDArray[np.int64]] = field(default_factory=list)
    answers: list[NDArray[np.int64]] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Transcript of {len(self.answers)} releases>"


class _RecordingMechanism(GaussianMechanism):
    """Draws noise as usual (or takes given answers) and writes every release down."""

    def __init__(self, source: NoiseSource, answers: Sequence[NDArray[np.int64]] | None) -> None:
        super().__init__(source)
        self.transcript = Transcript()
        self._forced = answers

    def release(self, query: NDArray[np.int64]) -> NDArray[np.int64]:
        answer = super().release(query)
        if self._forced is not None:
            answer = self._forced_answer(len(self.transcript.answers), query, answer)
        assert self._phase is not None
        self.transcript.phases.append(self._phase)
        self.transcript.queries.append(query.copy())
        self.transcript.answers.append(answer.copy())
        return answer

    def _forced_answer(
        self, place: int, query: NDArray[np.int64], drawn: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        assert self._forced is not None
        if place < len(self._forced) and len(self._forced[place]) == len(query):
            return self._forced[place]
        # The fits have parted ways, which the report will say.
        return drawn


@dataclass(frozen=True)
class ReplayReport:
    """What a replay on a neighbouring data set showed.

    Attributes
    ----------
    spent_mu : float
        Root of the summed squared distances of the queries over their noise standard
        deviations: the Gaussian-DP parameter that this pair of data sets used up.
    claimed_mu : float
        The parameter that the estimator's guarantee states.
    differences : tuple of str
        What differed although the answers were the same: call order, shapes, noise
        scales, or attributes of the fitted model.
    """

    spent_mu: float
    claimed_mu: float
    differences: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the pair of data sets is no counterexample to the guarantee."""
        return not self.differences and self.spent_mu <= self.claimed_mu * (1.0 + 1e-9)


def record(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    answers: Sequence[NDArray[np.int64]] | None = None,
) -> tuple[Any, Transcript]:
    """Fit a clone and write down every release. For PUBLIC or made-up data: no ledger is charged.

    Parameters
    ----------
    estimator : private estimator
        With a schema and a `structure_seed`, so that its public structure repeats.
    X, y, groups
        As for ``fit``, which is what runs.
    answers : sequence of ndarray of int64 or None, default=None
        Answers to force instead of drawing noise.

    Returns
    -------
    model : private estimator
        The fitted clone.
    transcript : Transcript

    Raises
    ------
    ValueError
        If the estimator has no schema or no structure seed.
    """
    if estimator.schema is None or estimator.structure_seed is None:
        raise ValueError(
            "an audit needs schema= and structure_seed=, so that both fits share what is public."
        )
    model = clone(estimator).set_params(ledger=None)
    mechanism = _RecordingMechanism(NoiseSource(model.noise_backend), answers)
    model._mechanism = lambda: mechanism
    model.fit(X, y, groups=groups)
    del model._mechanism
    return model, mechanism.transcript


def replay(
    estimator: Any, neighbour: tuple[Any, ...], model: Any, transcript: Transcript
) -> ReplayReport:
    """Fit on a neighbouring data set with the recorded answers, and compare.

    Parameters
    ----------
    estimator : private estimator
        As given to `record`.
    neighbour : tuple of X, y or X, y, groups
        Data set that differs by one person.
    model : private estimator
        Fitted by `record`.
    transcript : Transcript
        Recorded by `record`.

    Returns
    -------
    ReplayReport
    """
    other, second = record(estimator, *neighbour, answers=transcript.answers)
    differences = [*_structural_differences(transcript, second), *_state_differences(model, other)]
    spent = 0.0
    for phase, q, p in zip(transcript.phases, transcript.queries, second.queries, strict=False):
        if q.shape == p.shape:
            spent += float((((q - p) / phase.sigma_int) ** 2).sum())
    return ReplayReport(float(np.sqrt(spent)), model.guarantee_.mu, tuple(differences))


def _structural_differences(first: Transcript, second: Transcript) -> list[str]:
    if len(first.answers) != len(second.answers):
        return [f"{len(first.answers)} releases became {len(second.answers)}"]
    found = []
    for place, (a, b) in enumerate(zip(first.phases, second.phases, strict=True)):
        if a != b:
            found.append(f"release {place}: phase {a} became {b}")
        if first.queries[place].shape != second.queries[place].shape:
            found.append(f"release {place}: another number of values")
    return found


def _state_differences(first: Any, second: Any) -> list[str]:
    """Names of attributes that differ, compared through their pickles or arrays."""
    names = sorted(set(vars(first)) | set(vars(second)))
    skipped = {"ledger", "ledger_"}
    return [
        f"attribute {name}"
        for name in names
        if name not in skipped
        and not same_value(getattr(first, name, None), getattr(second, name, None))
    ]


def same_value(a: Any, b: Any) -> bool:
    """Deep equality to the last bit, through containers and plain objects.

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
