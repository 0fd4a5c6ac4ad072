"""Statistical audit of transcripts: the best attacker guesses whether the canary was there.

Whoever sees all noisy answers guesses best by the ratio of their likelihoods. The audit fits
many times with and without a canary that saturates every clip, guesses each time, and
bounds the Gaussian-DP parameter from the errors. On correct code the bound stays below the
stated parameter, and reaches a good share of it: that is the power of the audit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpexplain.audit.bounds import Guesses
from dpexplain.audit.cases import CanaryCase
from dpexplain.audit.charges import by_label, charged_mu, private_events
from dpexplain.audit.recording import Transcript, record
from dpexplain.audit.releases import log_likelihood_ratio

ALL = "all releases"


@dataclass(frozen=True)
class TranscriptAudit:
    """What guesses from the transcripts of many fits showed.

    Parameters
    ----------
    guesses : dict of str to Guesses
        For all releases together, and for those of each label alone.
    stated_mu : dict of str to float
        Gaussian-DP parameters that guarantee and charged events state, by the same names.
    parted : int
        Fits whose releases had other shapes or noise scales with the canary than without it.
    """

    guesses: dict[str, Guesses]
    stated_mu: dict[str, float]
    parted: int

    def mu_bounds(self, confidence: float = 0.95) -> dict[str, float]:
        """Lower bounds on the Gaussian-DP parameters.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that one of them holds.

        Returns
        -------
        dict of str to float
            By the names of `guesses`.
        """
        return {name: guess.mu_bound(confidence) for name, guess in self.guesses.items()}

    def tightness(self, confidence: float = 0.95) -> float:
        """Share of the stated parameter that the bound for all releases reaches.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the bound holds.

        Returns
        -------
        float
        """
        return self.guesses[ALL].mu_bound(confidence) / self.stated_mu[ALL]

    def violations(self, confidence: float) -> list[str]:
        """Say which statements are false.

        Parameters
        ----------
        confidence : float
            Probability that all is well if a statement is called false.

        Returns
        -------
        list of str
            Empty where the audit found nothing.
        """
        alone = 1.0 - (1.0 - confidence) / len(self.guesses)
        found = [
            f"{name}: mu is at least {bound:.3f}, and {self.stated_mu[name]:.3f} is stated"
            for name, bound in self.mu_bounds(alone).items()
            if bound > self.stated_mu[name]
        ]
        return found + [f"{self.parted} fits differ in shape"] * (self.parted > 0)


def audit_transcripts(case: CanaryCase, n_fits: int = 500) -> TranscriptAudit:
    """Guess from the transcripts of `n_fits` fits with the canary and as many without it.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.
    n_fits : int, default=500
        Fits with the canary, and fits without it.

    Returns
    -------
    TranscriptAudit
    """
    worlds: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    parted, model = 0, None
    for present, ratios_of_fits in worlds.items():
        for _ in range(n_fits):
            model, ratios = _evidence(case, present)
            parted += ratios is None
            ratios_of_fits.append(ratios or {})
    assert model is not None
    events = by_label(private_events(model))
    stated = {ALL: model.guarantee_.mu} | {k: charged_mu(v[0], v) for k, v in events.items()}
    labels = [ALL, *sorted({label for world in worlds.values() for r in world for label in r})]
    guesses = {
        label: _guesses(worlds, label if label != ALL else None)
        for label in labels
        if label == ALL or label in stated
    }
    return TranscriptAudit(guesses, stated, parted)


def _evidence(case: CanaryCase, present: bool) -> tuple[Any, dict[str, float] | None]:
    """Fit once; log-likelihood ratio of presence against absence per label of release."""
    here, there = (case.present, case.absent) if present else (case.absent, case.present)
    model, own = record(case.estimator, *here)
    _, other = record(case.estimator, *there, answers=own.answers)
    if not _alike(own, other):
        return model, None
    with_it, without_it = (own, other) if present else (other, own)
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


def _guesses(worlds: dict[bool, list[dict[str, float]]], label: str | None) -> Guesses:
    """Guess "present" where the evidence is positive: the threshold needs no data to choose it."""

    def total(ratios: dict[str, float]) -> float:
        return sum(ratios.values()) if label is None else ratios.get(label, 0.0)

    return Guesses(
        n_absent=len(worlds[False]),
        false_alarms=_count(total(r) > 0.0 for r in worlds[False]),
        n_present=len(worlds[True]),
        misses=_count(total(r) <= 0.0 for r in worlds[True]),
    )


def _count(truths: Iterable[bool]) -> int:
    return sum(map(bool, truths))
