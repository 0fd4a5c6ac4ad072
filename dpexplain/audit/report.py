"""Audit tables: lower bounds, and the mistakes that each tier detects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dpexplain.accounting import epsilon_from_mu
from dpexplain.audit.black_box import audit_final_model
from dpexplain.audit.cases import CanaryCase, canary_case
from dpexplain.audit.mutants import MUTANTS, Mutant
from dpexplain.audit.statistics.likelihood import ALL, audit_transcripts
from dpexplain.audit.subjects import Subject, powerful_tiers
from dpexplain.audit.tiers import CONFIDENCE, TIERS, planted_case, problems


@dataclass(frozen=True)
class BoundRow:
    """Lower bounds for one estimator at one epsilon, each at the 95% confidence level.

    Parameters
    ----------
    estimator : str
        Name of the estimator and its target.
    epsilon : float
        The stated epsilon.
    mu : float or None
        Stated Gaussian-DP parameter; None for other kinds of guarantees.
    transcript_mu : float
        Lower bound on mu from transcripts (tier 3).
    model_mu : float or None
        Lower bound on mu from final models (tier 4); None if no `mu` is stated.
    model_epsilon : float
        Lower bound on epsilon from final models, valid for any mechanism (tier 4).
    model_epsilon_of_mu : float or None
        Epsilon of a Gaussian mechanism with the parameter `model_mu`; None if no `mu` is stated.
    problems : tuple of str
        Statements of the guarantee that are refuted. In each tier, the probability that any true
        statement is refuted is at most one in ten million.
    """

    estimator: str
    epsilon: float
    mu: float | None
    transcript_mu: float
    model_mu: float | None
    model_epsilon: float
    model_epsilon_of_mu: float | None
    problems: tuple[str, ...]


@dataclass(frozen=True)
class PowerRow:
    """Detection rate of one planted mistake in a group of estimators, by tier.

    Parameters
    ----------
    mutant : Mutant
        The mistake.
    powerful : frozenset of int
        Tiers that must detect every mistake they test for, if it is planted in an estimator in the
        group; see `powerful_tiers`.
    runs : int
        Number of audits per tier.
    noticed : dict of int to int
        Number of audits that detected the mistake, by tier.
    """

    mutant: Mutant
    powerful: frozenset[int]
    runs: int
    noticed: dict[int, int]

    @property
    def seen_by(self) -> frozenset[int]:
        """Tiers that must detect the mistake in every run."""
        return self.mutant.seen_by & self.powerful

    @property
    def survives(self) -> list[int]:
        """Tiers that should have detected the mistake but missed it at least once."""
        return [tier for tier in sorted(self.seen_by) if self.noticed[tier] < self.runs]


def bound_row(subject: Subject, epsilon: float, *, n_fits: int) -> BoundRow:
    """Compute the lower bounds of tiers 3 and 4 for one estimator at one epsilon.

    Parameters
    ----------
    subject : Subject
        The subject to audit.
    epsilon : float
        Epsilon of the guarantee.
    n_fits : int
        Number of final models to fit with the canary, and again without it. Half as many
        transcripts are recorded, because each needs a second fit.

    Returns
    -------
    BoundRow
    """
    case = canary_case(subject, epsilon=epsilon)
    transcripts, models = audit_transcripts(case, n_fits // 2), audit_final_model(case, n_fits)
    # Error rates bound mu, and mu determines an epsilon, only if the mechanism is Gaussian.
    mu = None if models.mu is None else models.mu_bound()
    return BoundRow(
        estimator=subject.name,
        epsilon=epsilon,
        mu=models.mu,
        transcript_mu=transcripts.guesses[ALL].mu_bound(0.95),
        model_mu=mu,
        model_epsilon=models.epsilon_bound(),
        model_epsilon_of_mu=None if mu is None else epsilon_from_mu(mu, models.delta),
        problems=(*transcripts.violations(CONFIDENCE), *models.violations(CONFIDENCE)),
    )


def noticed(mutant: Mutant, subject: Subject, *, n_fits: int) -> dict[int, bool] | None:
    """Run all tiers once on an estimator with a planted mistake.

    Parameters
    ----------
    mutant : Mutant
        The mistake.
    subject : Subject
        The subject to audit.
    n_fits : int
        Number of final models that tier 4 fits with the canary, and again without it. Tier 4 first
        tries a tenth of this number (at least 10). It repeats the audit with the full number only
        if it must detect the mistake and has not yet detected it. Tiers 1 to 3 use as many fits as
        they need.

    Returns
    -------
    dict of int to bool or None
        Whether each tier detected the mistake; None if the estimator cannot make this mistake.
    """
    case = planted_case(mutant, subject)
    if case is None:
        return None
    looks = [max(10, n_fits // 10)]
    if 4 in mutant.seen_by & powerful_tiers(subject):
        looks.append(n_fits)
    return {
        tier: any(_finds(tier, case, n) for n in (looks if tier == 4 else looks[:1]))
        for tier in TIERS
    }


def _finds(tier: int, case: CanaryCase, n_fits: int) -> bool:
    try:
        return bool(problems(tier, case, n_fits=n_fits))
    except RuntimeError:  # the mistake made the tier fail, which is not a detection
        return False


Verdict = tuple[Mutant, Subject, dict[int, bool] | None]
"""A mistake, the subject it was planted in, and the result of `noticed`."""


def power_rows(results: Iterable[Verdict]) -> list[PowerRow]:
    """Count how often each tier detected each mistake, by group of estimators.

    The estimators of a group have the same `powerful_tiers`.

    Parameters
    ----------
    results : iterable of tuple of Mutant, Subject and dict
        Mutants and subjects, with the results of `noticed`.

    Returns
    -------
    list of PowerRow
        One row for each group and each mistake that some estimator in the group can make. Groups
        with more `powerful_tiers` come first.
    """
    verdicts: dict[tuple[frozenset[int], str], list[dict[int, bool]]] = {}
    for mutant, subject, verdict in results:
        if verdict is not None:
            place = (powerful_tiers(subject), mutant.name)
            verdicts.setdefault(place, []).append(verdict)
    return [
        PowerRow(
            mutant,
            powerful,
            len(verdicts[powerful, mutant.name]),
            {tier: sum(v[tier] for v in verdicts[powerful, mutant.name]) for tier in TIERS},
        )
        for powerful in sorted({tiers for tiers, _ in verdicts}, key=len, reverse=True)
        for mutant in MUTANTS
        if (powerful, mutant.name) in verdicts
    ]


def bounds_table(rows: Sequence[BoundRow]) -> str:
    """Format lower bounds as a Markdown table.

    Parameters
    ----------
    rows : sequence of BoundRow
        One row for each estimator and epsilon.

    Returns
    -------
    str
    """
    return _table(
        ["estimator", "stated ε", "stated μ", "transcript: μ ≥", "final model: μ ≥",
         "so ε ≥", "final model, any mechanism: ε ≥"],
        [
            [row.estimator, f"{row.epsilon:g}", _number(row.mu, 3),
             _number(row.transcript_mu, 3), _number(row.model_mu, 3),
             _number(row.model_epsilon_of_mu, 2), _number(row.model_epsilon, 2)]
            for row in rows
        ],
    )  # fmt: skip


def power_table(rows: Sequence[PowerRow]) -> str:
    """Format detection rates of mistakes as a Markdown table.

    Parameters
    ----------
    rows : sequence of PowerRow
        One row for each group of estimators and each mistake.

    Returns
    -------
    str
        Table of detection rates. A rate is bold if the tier must detect the mistake in every run.
    """

    def share(row: PowerRow, tier: int) -> str:
        text = f"{row.noticed[tier] / row.runs:.2f}"
        return f"**{text}**" if tier in row.seen_by else text

    return _table(
        ["planted mistake", "runs", "1 replay", "2 noise scale", "3 transcripts", "4 final model"],
        [[row.mutant.name, str(row.runs), *(share(row, tier) for tier in TIERS)] for row in rows],
    )


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}"


def _table(head: list[str], body: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    align: list[Callable[[str, int], str]] = [str.ljust, *[str.rjust] * (len(head) - 1)]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (w - 1) + ":" for w in widths[1:])]
    lines = [[a(c, w) for a, c, w in zip(align, line, widths, strict=True)] for line in body]
    first = [c.ljust(w) for c, w in zip(head, widths, strict=True)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [first, rule, *lines])
