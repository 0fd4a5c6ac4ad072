"""The four audit tiers. Each tier returns a list of the faults it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpexplain.accounting import RECORD
from dpexplain.audit.black_box import audit_final_model
from dpexplain.audit.cases import CanaryCase, canary_case, row_exchange
from dpexplain.audit.mutants import Mutant
from dpexplain.audit.noise_scale import audit_noise
from dpexplain.audit.recording import Forge, record
from dpexplain.audit.replay import ReplayReport, replay
from dpexplain.audit.statistics.likelihood import refute_transcripts
from dpexplain.audit.subjects import Subject, known_settings
from dpexplain.mechanisms import AnyPhase, ChoicePhase

CONFIDENCE = 1.0 - 1e-7
"""Tiers 3 and 4 reject a correct estimator at most once in ten million runs."""


def hostile(seed: int) -> Forge:
    """Create a function that forces random extreme answers.

    Each answer is zero, very large or the drawn answer itself; each choice is a random candidate or
    the drawn one.

    Parameters
    ----------
    seed : int
        Seed of the random choices.

    Returns
    -------
    callable
        Function to pass to `record` as `answers`.
    """
    rng = np.random.default_rng(seed)

    def forge(phase: AnyPhase, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        kind = rng.integers(4)
        if isinstance(phase, ChoicePhase):
            return drawn if kind == 0 else rng.integers(0, phase.n_candidates, drawn.shape)
        if kind == 0:
            return drawn
        if kind == 1:
            return np.zeros_like(drawn)
        reach = 2**45 if kind == 2 else 2**24
        return rng.choice([-1, 1], drawn.shape) * rng.integers(0, reach, drawn.shape)

    return forge


def replays(case: CanaryCase, n_hostile: int = 3) -> list[ReplayReport]:
    """Run tier 1: record fits with the canary, and replay them without the canary.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.
    n_hostile : int, default=3
        Number of replays with random extreme answers (see `hostile`), in addition to the replay
        with drawn answers.

    Returns
    -------
    list of ReplayReport
    """
    reports = []
    for seed in range(n_hostile + 1):
        answers = hostile(seed) if seed else None
        model, transcript = record(case.estimator, *case.present, answers=answers)
        reports.append(replay(case.estimator, case.absent, model, transcript))
    return reports


def replay_of_rows(case: CanaryCase) -> ReplayReport:
    """Run tier 1: replay a per-person fit, using a different row for one person.

    Adding a row for a person can change which of the person's rows is chosen at random. Fits on two
    tables that differ by one *record* can therefore use different rows of this person. This is why
    the ledger states a separate cost for one record.

    Parameters
    ----------
    case : CanaryCase
        Estimator and data sets.

    Returns
    -------
    ReplayReport
        Report that compares the distances between queries with the cost for one record.
    """
    estimator, table, kept, instead = row_exchange(case)
    model, transcript = record(estimator, *table, kept=kept)
    return replay(estimator, table, model, transcript, kept=instead, unit=RECORD)


def _replay(case: CanaryCase, n_fits: int) -> list[str]:
    found: dict[str, None] = {}
    for report in (*replays(case), replay_of_rows(case)):
        found |= dict.fromkeys((*report.differences, *report.overspent))
        if report.spent_share > 1.0 + 1e-9:
            found[f"spent {report.spent_share:.3f} of the claimed parameter"] = None
    return list(found)


def _noise(case: CanaryCase, n_fits: int) -> list[str]:
    """Test the noise of a few fits and, if it shows no gross mistake, of many more."""
    found: list[str] = []
    for n_draws, max_fits in ((100, 20), (1000, 200)):
        audits = audit_noise(
            case.estimator, case.present, n_draws=n_draws, max_fits=max_fits, alpha=5e-10
        )
        found = [problem for audit in audits for problem in audit.problems]
        if found:
            break
    return found


def _transcripts(case: CanaryCase, n_fits: int) -> list[str]:
    return refute_transcripts(case, doubt=1.0 - CONFIDENCE)


def _final_model(case: CanaryCase, n_fits: int) -> list[str]:
    return audit_final_model(case, n_fits).violations(CONFIDENCE)


Tier = Callable[[CanaryCase, int], list[str]]
"""Function of a case and a number of final models that runs a tier and returns the faults found."""

TIERS: Mapping[int, Tier] = MappingProxyType(
    {1: _replay, 2: _noise, 3: _transcripts, 4: _final_model}
)
"""Transcript replay, noise scale, guesses from transcripts, guesses from final models."""


def problems(tier: int, case: CanaryCase, *, n_fits: int = 500) -> list[str]:
    """Run one audit tier.

    Parameters
    ----------
    tier : {1, 2, 3, 4}
        Number of the tier.
    case : CanaryCase
        Estimator and data sets.
    n_fits : int, default=500
        Number of final models that tier 4 fits with the canary, and again without it. The other
        tiers use as many fits as they need.

    Returns
    -------
    list of str
        Faults found.
    """
    return TIERS[tier](case, n_fits)


def planted_case(mutant: Mutant, subject: Subject, *, epsilon: float = 8.0) -> CanaryCase | None:
    """Create a canary case whose estimator makes a planted mistake.

    Parameters
    ----------
    mutant : Mutant
        One of `dpexplain.audit.mutants.MUTANTS`.
    subject : Subject
        The subject to audit.
    epsilon : float, default=8.0
        Epsilon of the guarantee.

    Returns
    -------
    CanaryCase or None
        Case with the faulty estimator; None if the estimator cannot make this mistake.
    """
    settings = known_settings(subject.estimator_class, mutant.settings)
    case = canary_case(subject, epsilon=epsilon, lone_class=mutant.lone_class, **settings)
    if not mutant.applies(case.estimator):
        return None
    return CanaryCase(mutant.plant(case.estimator), case.present, case.absent)
