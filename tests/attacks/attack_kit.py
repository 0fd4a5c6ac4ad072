"""What attacks share: their form, simulated records, and replay of transcripts.

An attack tries to get more out of a fit than its guarantee states. It is a function that says
whether it succeeded, and it comes with a mutant: a mistake planted into the library, on which
it has to succeed. An attack that never succeeds proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.base import RegressorMixin

import dpexplain.models as models
from dpexplain import Categorical, Classes, Numeric, Range, Schema
from dpexplain.audit import private_estimators, record, replay
from dpexplain.mechanisms import ChoicePhase, Mechanism

PRIVATE = list(private_estimators())
"""Every private estimator, attacked as soon as it is listed.

Those that take samples are attacked with everybody in every sample, so that what a record shows is
not a matter of luck; mistakes of sampling are planted in the audits. So are those whose records
join trees by coins: every record is in every tree.
"""

FEATURES = {
    "age": Numeric(0, 100, unit="years", step=1),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}
CANARY = "Zorblax-1729"


def _nobody(name: str) -> bool:
    return False


class Finding(NamedTuple):
    """What an attack found: whether a promise was broken, and the evidence."""

    broke: bool
    evidence: str


@dataclass(frozen=True)
class Attack:
    """An attempt to break a promise, with a mutant on which it succeeds.

    Attributes
    ----------
    title : str
        What is tried.
    run : callable
        ``run(name)`` attacks the private estimator of that name; attacks on what all estimators
        share (ledger, noise) ignore the name.
    plant : callable
        ``plant(patch)`` plants the mistake that `run` has to find.
    mutant : str
        What the planted mistake is.
    every_model : bool
        Whether the attack is on each estimator rather than on what they share.
    leaves_out : callable
        ``leaves_out(name)`` says whether the attack has nothing to look for in an estimator.
    """

    title: str
    run: Callable[[str], Finding]
    plant: Callable[[pytest.MonkeyPatch], None]
    mutant: str
    every_model: bool = True
    leaves_out: Callable[[str], bool] = _nobody

    def targets(self) -> Sequence[str]:
        """Names of the estimators to attack."""
        if not self.every_model:
            return PRIVATE[:1]
        return [name for name in PRIVATE if not self.leaves_out(name)]


def is_regressor(name: str) -> bool:
    """Whether the estimator expects a range rather than classes."""
    return issubclass(getattr(models, name), RegressorMixin)


def is_pure(name: str) -> bool:
    """Whether all releases are pure: Laplace noise and exact choices, without a delta."""
    return not getattr(models, name)._has_delta


def takes_samples(name: str) -> bool:
    """Whether the estimator computes its sums on samples of the records."""
    return hasattr(getattr(models, name), "_sampler")


def schema_for(name: str, features: dict[str, Any] | None = None) -> Schema:
    """Return the public schema of the simulated records."""
    target = Range(-1, 3) if is_regressor(name) else Classes(["no", "yes"])
    return Schema(features or FEATURES, target=target)


def estimator(name: str, *, features: dict[str, Any] | None = None, **settings: Any) -> Any:
    """Return an estimator with a repeatable public structure, and few rounds if any."""
    made = getattr(models, name)(
        **{"schema": schema_for(name, features), "structure_seed": 7, **settings}
    )
    # A locally linear model looks for the mean record in one step of a hundred.
    small = {"max_rounds": 4, "n_steps": 60, "sampling_probability": 1.0, "n_trees": 3}
    if "trees_per_ensemble" in made.get_params():
        # Leaves are means, of which a record is a large part only beside this constant.
        small |= {"variant": "seq", "regularisation": 1000.0}
    for setting, value in small.items():
        if setting in made.get_params() and setting not in settings:
            made.set_params(**{setting: value})
    return made


def table(name: str, n: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Simulate records that fit the schema."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n).astype(float),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n).astype(object),
        }
    )
    y = rng.uniform(-1, 3, n) if is_regressor(name) else rng.choice(["no", "yes"], n).astype(object)
    return X, pd.Series(y)


def saturated(name: str, n: int) -> tuple[pd.DataFrame, pd.Series]:
    """Make equal records whose residuals are as large as the schema allows."""
    X = pd.DataFrame({"age": 50.0, "income": 1e5, "job": "nurse"}, index=range(n)).astype(
        {"job": object}
    )
    return X, pd.Series([3.0 if is_regressor(name) else "yes"] * n)


def extreme_answers(transcript: Any, seed: int, bits: int = 45) -> list[Any]:
    """Return the released histograms, followed by answers that push scores to their limits."""
    rng = np.random.default_rng(seed)
    return [
        _extreme(phase, answer, rng, bits)
        for phase, answer in zip(transcript.phases, transcript.answers, strict=True)
    ]


def _extreme(phase: Any, answer: Any, rng: np.random.Generator, bits: int) -> Any:
    if isinstance(phase, ChoicePhase):  # any candidate may be chosen
        return rng.integers(0, phase.n_candidates, answer.shape)
    if phase.label in ("histograms", "count"):
        return answer
    return rng.choice([-1, 1], answer.shape) * rng.integers(0, 2**bits, answer.shape)


def drawn_noise(transcript: Any) -> list[np.ndarray]:
    """Return the noise added to each sum; choices leave no noise behind."""
    releases = zip(transcript.phases, transcript.answers, transcript.queries, strict=True)
    return [a - q for phase, a, q in releases if not isinstance(phase, ChoicePhase)]


def replayed(
    fitted: Any,
    data: tuple[Any, ...],
    neighbor: tuple[Any, ...],
    *,
    allowed: float | None = None,
    extreme_seed: int | None = None,
    refitted: Any = None,
    drawn: tuple[Any, Any] | None = None,
) -> Finding:
    """Refit a neighboring table with forced answers; report what exceeds the guarantee.

    Parameters
    ----------
    fitted : private estimator
        What to fit, with schema and structure seed.
    data, neighbor : tuple of X, y or X, y, groups
    allowed : float or None, default=None
        Share of the guarantee that is no find; None for all of it.
    extreme_seed : int or None, default=None
        Seed of answers that make scores diverge; None for the drawn ones.
    refitted : private estimator or None, default=None
        What to fit on the neighbor; None for the same.
    drawn : tuple of model and Transcript or None, default=None
        A recorded fit to the data; None to make it here.
    """
    model, transcript = drawn or record(fitted, *data)
    if extreme_seed is not None:
        answers = extreme_answers(transcript, extreme_seed)
        model, transcript = record(fitted, *data, answers=answers)
    report = replay(fitted if refitted is None else refitted, neighbor, model, transcript)
    if report.differences:
        return Finding(True, f"differs in {report.differences[0]}")
    spent = f"spent {report.spent_share:.7g} of what is stated"
    if allowed is not None:
        return Finding(report.spent_share > allowed, f"{spent}, allowed {allowed:.4g}")
    return Finding(not report.holds, "; ".join([spent, *report.overspent]))


def released_wrongly(patch: pytest.MonkeyPatch, mistake: Any) -> None:
    """Plant a mistake in the exact sums of every private estimator.

    ``mistake(X, y, phase, query)`` returns the query to release instead of the right one.
    """

    def fit_released(self: Any, X: Any, y: Any, schema: Any, mechanism: Any, _honest: Any) -> None:
        def release(query: Any) -> Any:
            wrong = mistake(X, y, mechanism._phase, query)
            return type(mechanism).release(mechanism, wrong)

        mechanism.release = release
        try:
            _honest(self, X, y, schema, mechanism)
        finally:
            del mechanism.release

    for name in PRIVATE:
        owner = getattr(models, name)
        patch.setattr(
            owner, "_fit_released", partialmethod(fit_released, _honest=owner._fit_released)
        )


def nothing_is_refused(patch: pytest.MonkeyPatch) -> None:
    """Let mechanisms make uncharged releases, which would otherwise stop some mistakes."""
    patch.setattr(Mechanism, "limit_to", lambda self, charged: None)


def first_find(findings: Any) -> Finding:
    """Return the first finding that broke a promise, or else the last one."""
    found = Finding(False, "nothing was tried")
    for found in findings:
        if found.broke:
            break
    return found
