"""Statistical audit of transcripts with the optimal canary attack.

The best way to guess from noisy answers whether a canary was present is to compare the likelihoods
of the answers with and without it. The audit fits an estimator many times with and without a canary
that saturates every clip, guesses each time whether the canary was present, and bounds the
Gaussian-DP parameter from the errors. If the code is correct, the bound is below the stated
parameter, but close enough to it to show that the audit would detect violations.

`audit_transcripts` makes a fixed number of guesses and bounds the parameter from their errors;
`refute_transcripts` makes as many guesses as it needs to distinguish the stated parameter from a
considerably larger one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dpexplain.accounting import SubsampledGaussianEvent
from dpexplain.audit.cases import CanaryCase
from dpexplain.audit.charges import by_label, charged_mu, error_mu, private_events
from dpexplain.audit.recording import Transcript, record
from dpexplain.audit.releases import log_likelihood_ratio
from dpexplain.audit.statistics.bounds import Guesses
from dpexplain.audit.statistics.sequential import ErrorTest
from dpexplain.mechanisms import SampledPhase

ALL = "all releases"

CLEARLY_MORE = 0.75
"""Excess over a stated parameter that the test must detect, relative to the fit's parameter."""

_MOST_PAIRS = 20_000


@dataclass(frozen=True)
class TranscriptAudit:
    """Result of guessing from transcripts which fits were made with the canary.

    Parameters
    ----------
    guesses : dict of str to Guesses
        Guesses based on all releases together (key "all releases"), and on the releases with each
        label (key: the label).
    stated_mu : dict of str to float
        Gaussian-DP parameters stated by the guarantee and by the charged events, with the same
        keys.
    parted : int
        Number of fits whose releases had different shapes or noise scales with and without the
        canary.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_transcripts, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> audit = audit_transcripts(canary_case(subject), n_fits=20)
    >>> sorted(audit.guesses) == sorted(audit.stated_mu)
    True
    """

    guesses: dict[str, Guesses]
    stated_mu: dict[str, float]
    parted: int

    def mu_bounds(self, confidence: float = 0.95) -> dict[str, float]:
        """Return lower bounds on the Gaussian-DP parameters.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level of each bound.

        Returns
        -------
        dict of str to float
            Bounds with the keys of `guesses`.
        """
        return {name: guess.mu_bound(confidence) for name, guess in self.guesses.items()}

    def violations(self, confidence: float) -> list[str]:
        """List the stated parameters that are refuted, and any fits that differ in shape.

        Parameters
        ----------
        confidence : float
            Confidence level: the minimum probability that no true statement is refuted.

        Returns
        -------
        list of str
            Empty if the audit found nothing.
        """
        alone = 1.0 - (1.0 - confidence) / len(self.guesses)
        found = [
            f"{name}: mu is at least {bound:.3f}, and {self.stated_mu[name]:.3f} is stated"
            for name, bound in self.mu_bounds(alone).items()
            if bound > self.stated_mu[name]
        ]
        return found + [f"{self.parted} fits differ in shape"] * (self.parted > 0)


def audit_transcripts(case: CanaryCase, n_fits: int = 500) -> TranscriptAudit:
    """Guess which fits were made with the canary, from their transcripts.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.
    n_fits : int, default=500
        Number of fits with the canary; just as many are made without it.

    Returns
    -------
    TranscriptAudit

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, audit_transcripts, canary_case
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> audit = audit_transcripts(canary_case(subject), n_fits=20)    # 500 in earnest
    >>> audit.parted
    0
    """
    worlds: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    parted, model = 0, None
    for present, ratios_of_fits in worlds.items():
        for _ in range(n_fits):
            model, ratios = _evidence(case, present)
            parted += ratios is None
            ratios_of_fits.append(ratios or {})
    stated = stated_mu(model)
    labels = [ALL, *sorted({label for world in worlds.values() for r in world for label in r})]
    guesses = {label: _guesses(worlds, label) for label in labels if label in stated}
    return TranscriptAudit(guesses, stated, parted)


def refute_transcripts(
    case: CanaryCase, *, doubt: float = 1e-7, most_pairs: int = _MOST_PAIRS
) -> list[str]:
    """Test the stated guarantee with transcripts until it is accepted or refuted.

    All releases together, and the releases with each label, are tested against their stated
    parameters. The test detects a parameter that exceeds its stated value by three quarters of the
    parameter of the whole fit.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.
    doubt : float, default=1e-7
        Maximum probability of rejecting a correct estimator, and of accepting an estimator that
        exceeds a stated parameter by `CLEARLY_MORE` times the parameter of the fit.
    most_pairs : int, default=20000
        Maximum number of pairs of fits, one with and one without the canary. After that, the test
        gives up.

    Returns
    -------
    list of str
        Faults found; empty if the stated guarantee is accepted.

    Raises
    ------
    RuntimeError
        If the test gives up because it could not decide between the two hypotheses.

    Examples
    --------
    >>> from dpexplain import Classes, DPLogisticRegression
    >>> from dpexplain.audit import Subject, canary_case, refute_transcripts
    >>> subject = Subject(DPLogisticRegression, Classes(["no", "yes"]), {})
    >>> refute_transcripts(canary_case(subject), doubt=1e-3)
    []
    """
    tests: dict[str, ErrorTest] = {}
    for model, errors in islice(paired_errors(case), most_pairs):
        if errors is None:
            return ["releases differ in number, shape or noise scale with and without the canary"]
        tests = tests or _error_tests(stated_mu(model), doubt)
        for label, test in tests.items():
            test.count(errors[label])
        if refuted := [label for label, test in tests.items() if test.refutes]:
            return [f"{label}: the canary shows more than is stated" for label in refuted]
        if all(test.decided for test in tests.values()):
            return []
    undecided = [label for label, test in tests.items() if not test.decided]
    raise RuntimeError(
        f"{most_pairs} fits with the canary, and without it, do not decide whether it shows more "
        f"than is stated for {', '.join(undecided)}; bound it with audit_transcripts(case, n_fits)."
    )


def paired_errors(case: CanaryCase) -> Iterator[tuple[Any, Mapping[str, int] | None]]:
    """Yield the wrong guesses for pairs of fits, one with the canary and one without.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.

    Yields
    ------
    model : private estimator
        The model fitted with the canary.
    errors : mapping of str to {0, 1, 2}, or None
        Number of wrong guesses out of two. The key says which releases the guesses are based on:
        "all releases", or those with one label. The mapping is None if the number, shape or noise
        scale of the releases depends on the canary.
    """
    while True:
        (_, absent), (model, present) = _evidence(case, False), _evidence(case, True)
        if absent is None or present is None:
            yield model, None
        else:
            yield (
                model,
                {
                    label: (_total(absent, label) > 0.0) + (_total(present, label) <= 0.0)
                    for label in stated_mu(model)
                },
            )


def stated_mu(model: Any) -> dict[str, float]:
    """Return the Gaussian-DP parameters of the guarantee and the charged events.

    Parameters
    ----------
    model : private estimator
        Fitted model with its own ledger.

    Returns
    -------
    dict of str to float
        Parameter for all releases together, and for the releases with each label.
    """
    events = private_events(model)
    by_release = {k: charged_mu(v[0], v) for k, v in by_label(events).items()}
    whole = model.guarantee_.mu
    if whole is None:
        sampled = any(isinstance(event, SubsampledGaussianEvent) for event in events)
        if sampled and len(by_release) > 1:
            raise ValueError(
                "releases from samples and other releases have no common parameter; audit models "
                "with only one of the two."
            )
        whole = next(iter(by_release.values())) if sampled else error_mu(events)
    return {ALL: whole} | by_release


def _error_tests(stated: Mapping[str, float], doubt: float) -> dict[str, ErrorTest]:
    margin = CLEARLY_MORE * stated[ALL]
    return {label: ErrorTest(mu, mu + margin, doubt / len(stated)) for label, mu in stated.items()}


def _evidence(case: CanaryCase, present: bool) -> tuple[Any, dict[str, float] | None]:
    """Fit a model, and return it with a log-likelihood ratio for each release label.

    A positive ratio indicates that the canary is present. None is returned instead of the ratios if
    the number, shape or noise scale of the releases depends on the canary.
    """
    here, there = (case.present, case.absent) if present else (case.absent, case.present)
    coins = int.from_bytes(os.urandom(8), "little")
    model, own = record(case.estimator, *here, coins=coins)
    _, other = record(case.estimator, *there, answers=own.answers, coins=coins)
    if not _alike(own, other):
        return model, None
    with_it, without_it = (own, other) if present else (other, own)
    if any(isinstance(phase, SampledPhase) for phase in own.phases):
        # The sums with the canary in every sample, whether or not this fit sampled it.
        _, with_it = record(
            case.estimator, *case.present, answers=own.answers, coins=coins, last_is_sampled=True
        )
    ratios: dict[str, float] = {}
    for place, phase in enumerate(own.phases):
        ratios[phase.label] = ratios.get(phase.label, 0.0) + log_likelihood_ratio(
            phase, own.answers[place], with_it.queries[place], without_it.queries[place]
        )
    return model, ratios


def _alike(first: Transcript, second: Transcript) -> bool:
    return first.phases == second.phases and [len(q) for q in first.queries] == [
        len(q) for q in second.queries
    ]


def _guesses(worlds: dict[bool, list[dict[str, float]]], label: str) -> Guesses:
    """Count the errors made by guessing "present" whenever the evidence is positive."""
    return Guesses(
        n_absent=len(worlds[False]),
        false_alarms=_count(_total(r, label) > 0.0 for r in worlds[False]),
        n_present=len(worlds[True]),
        misses=_count(_total(r, label) <= 0.0 for r in worlds[True]),
    )


def _total(ratios: Mapping[str, float], label: str) -> float:
    return sum(ratios.values()) if label == ALL else ratios.get(label, 0.0)


def _count(truths: Iterable[bool]) -> int:
    return sum(map(bool, truths))
