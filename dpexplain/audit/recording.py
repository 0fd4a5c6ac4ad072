"""Fits that record their releases, with drawn or forced answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.cloning import unfitted_copy
from dpexplain.accounting import NonPrivateEvent
from dpexplain.accounting._ledger.process import named_ledger, unlisted
from dpexplain.explain import Guarantee
from dpexplain.mechanisms import AnyPhase, Mechanism, NoiseSource, SeededCoins

Integers = NDArray[np.int64]

_COINS = 2718

_REASON = "exact sums were recorded with the answers"
_EXACT = NonPrivateEvent("audit", _REASON)

Forge = Callable[[AnyPhase, Integers], Integers]
"""Maps the phase and the drawn answer to the forced answer."""


@dataclass
class Transcript:
    """Releases of one fit, in order, with their exact queries. NOT PRIVATE.

    Parameters
    ----------
    phases : list of Phase
        Phase of each release.
    queries : list of ndarray of int64
        Exact sums on the integer lattice. They may be recorded only for public or simulated data.
    answers : list of ndarray of int64
        Released answers, in lattice steps.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case, record
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> _, transcript = record(case.estimator, *case.present)
    >>> sorted({phase.label for phase in transcript.phases})
    ['gradients', 'histograms', 'second moments']
    """

    phases: list[AnyPhase] = field(default_factory=list)
    queries: list[Integers] = field(default_factory=list)
    answers: list[Integers] = field(default_factory=list)

    def __repr__(self) -> str:
        """Return a description with the number of releases but without exact sums."""
        return f"<Transcript of {len(self.answers)} releases, NOT PRIVATE: with exact sums>"


class RecordingMechanism(Mechanism):
    """Mechanism that records every release, with drawn or forced answers.

    Parameters
    ----------
    source : NoiseSource
        Source of the noise.
    answers : sequence of ndarray of int64, callable or None
        Answers that replace the drawn ones: one array for each release, or a function that computes
        the answer from the phase and the drawn answer. None keeps the drawn answers.
    """

    def __init__(
        self, source: NoiseSource, answers: Sequence[Integers] | Forge | None = None
    ) -> None:
        given = answers is not None and not callable(answers)
        super().__init__(_Silence(source) if given else source)
        self.transcript = Transcript()
        self._answers = answers

    def release(self, query: Integers) -> Integers:
        """Release as usual; record the drawn answer or the forced one that replaces it.

        Parameters
        ----------
        query : ndarray of shape (n,), dtype int64
            Exact sums in lattice steps.

        Returns
        -------
        ndarray of shape (n,), dtype int64
            The answer.
        """
        assert self._phase is not None
        phase = self._phase
        answer = self._forced(phase, super().release(query))
        self.transcript.phases.append(phase)
        self.transcript.queries.append(query.copy())
        self.transcript.answers.append(answer.copy())
        return answer

    def choose(self, utilities: Integers) -> Integers:
        """Choose as usual; record the drawn choices or the forced ones that replace them.

        Parameters
        ----------
        utilities : ndarray of shape (n_groups, n_candidates), dtype int64
            Exact utilities in lattice steps.

        Returns
        -------
        ndarray of shape (n_groups,), dtype int64
            The candidate chosen in each group.
        """
        assert self._phase is not None
        phase = self._phase
        answer = self._forced(phase, super().choose(utilities))
        self.transcript.phases.append(phase)
        self.transcript.queries.append(utilities.ravel().copy())
        self.transcript.answers.append(answer.copy())
        return answer

    def _forced(self, phase: AnyPhase, drawn: Integers) -> Integers:
        if self._answers is None:
            return drawn
        if callable(self._answers):
            return self._answers(phase, drawn)
        place = len(self.transcript.answers)
        if place < len(self._answers) and len(self._answers[place]) == len(drawn):
            return self._answers[place]
        # The two fits have diverged, and the report will state how.
        return drawn


class _LastSampled:
    """Sampler that adds the last record to every sample of another sampler."""

    def __init__(self, honest: Any) -> None:
        self._honest = honest

    def samples(self, n_steps: int) -> Iterator[Integers]:
        """Yield the samples of the other sampler, each with the last record added."""
        last = len(self._honest._person) - 1
        for rows in self._honest.samples(n_steps):
            yield rows if last in rows else np.append(rows, last)


class _Silence(NoiseSource):
    """Noise source that poses as another source but draws zeros.

    A `RecordingMechanism` uses it if the caller passes a sequence of answers that replace the
    drawn ones.
    """

    def __init__(self, source: NoiseSource) -> None:
        super().__init__(source.backend)
        self._spoken_for = source

    @property
    def private(self) -> bool:
        """Whether the other source is private, according to the fit's guarantee."""
        return self._spoken_for.private

    @property
    def description(self) -> str:
        """Description of the other source."""
        return self._spoken_for.description

    def draw_int(self, sigma_int: float, size: int) -> Integers:
        """Draw zeros instead of Gaussian noise."""
        return np.zeros(size, dtype=np.int64)

    def draw_laplace(self, scale_int: float, size: int) -> Integers:
        """Draw zeros instead of Laplace noise."""
        return np.zeros(size, dtype=np.int64)

    def choose(self, utilities: Integers, epsilon: float, spread: float) -> Integers:
        """Choose the first candidate of each group."""
        return np.zeros(len(utilities), dtype=np.int64)


def record(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    answers: Sequence[Integers] | Forge | None = None,
    coins: int = _COINS,
    last_is_sampled: bool = False,
    kept: Sequence[int] | None = None,
) -> tuple[Any, Transcript]:
    """Fit a clone and record every release with its exact sums. NOT PRIVATE.

    Use this only for public or simulated data. The transcript contains what noise should hide,
    answers may be forced, and the seed is known, so epsilon is infinite. The clone's own ledger
    says so. If the estimator has a ledger, that ledger is charged with a non-private event
    before records are read, and its total is infinite from then on.

    Random choices that are otherwise secret, such as the bag of each record, come from the seed
    `coins` and depend on the row position. Neighboring data sets must therefore differ in their
    last records.

    Parameters
    ----------
    estimator : private estimator
        Estimator with a schema and a `structure_seed`, so that its public structure is the same in
        every fit.
    X, y : DataFrame and Series, or array-like
        Records and targets, as passed to ``fit``.
    groups : array-like or None, default=None
        The person to whom each row belongs, as passed to ``fit``.
    answers : sequence of ndarray of int64, callable or None, default=None
        Answers that replace the drawn ones: one array for each release, or a function that computes
        the answer from the phase and the drawn answer. None keeps the drawn answers.
    coins : int, default=2718
        Seed of the random choices that are otherwise secret.
    last_is_sampled : bool, default=False
        Whether to include the last record in every sample, if the estimator draws samples.
    kept : sequence of int or None, default=None
        Positions of the rows to use. If None, the rows of each person are chosen at random.

    Returns
    -------
    model : private estimator
        The fitted clone. Its ledger and its `guarantee_` state that it is not private. The
        attribute `stated_guarantee_` holds the guarantee that an ordinary fit would have. Audits
        compare the transcript with it, but it does not cover these releases.
    transcript : Transcript
        Releases of the fit, with their exact sums.

    Raises
    ------
    ValueError
        If the estimator has no schema or no structure seed.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case, record
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> case = canary_case(subject)
    >>> model, transcript = record(case.estimator, *case.present)
    >>> len(transcript.queries) == len(transcript.answers)
    True
    """
    if estimator.schema is None or estimator.structure_seed is None:
        raise ValueError(
            "an audit needs schema= and structure_seed=, so that both fits share what is public."
        )
    if estimator.ledger is not None:
        adjacency = estimator.adjacency
        ledger = named_ledger(estimator.ledger, delta=estimator.delta, adjacency=adjacency)
        ledger.charge([_EXACT], label="audit", adjacency=adjacency)
    model = unfitted_copy(estimator, ledger=None)
    mechanism = RecordingMechanism(model._noise_source(), answers)
    model._mechanism = lambda: mechanism
    # As in the proofs, everything is conditional on which records are in which sample.
    model._coins = lambda: SeededCoins(coins)
    if last_is_sampled:
        honest = model._sampler
        model._sampler = lambda person, probability: _LastSampled(honest(person, probability))
    if kept is not None:
        model._kept_rows = lambda groups: np.asarray(kept, dtype=np.intp)
    with unlisted():
        model.fit(X, y, groups=groups)
    for name in ("_mechanism", "_coins", "_sampler", "_kept_rows"):
        vars(model).pop(name, None)
    model.ledger_.charge([_EXACT], label="audit", adjacency=model.adjacency)
    model.stated_guarantee_ = model.guarantee_
    model.guarantee_ = _without_promise(model.guarantee_)
    return model, mechanism.transcript


def stated_guarantee(model: Any) -> Guarantee:
    """Return the guarantee that a fit states.

    Parameters
    ----------
    model : private estimator
        Fitted model, which may have been recorded by :func:`record`.

    Returns
    -------
    Guarantee
        For a recorded model, the guarantee that an ordinary fit would have.
    """
    stated: Guarantee = vars(model).get("stated_guarantee_", model.guarantee_)
    return stated


def _without_promise(stated: Guarantee) -> Guarantee:
    return Guarantee.not_private(
        _REASON,
        delta=stated.delta,
        adjacency=stated.adjacency,
        version=stated.version,
        unit=stated.unit,
    )
