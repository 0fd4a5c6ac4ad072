"""Comparisons for the tests of views, made quickly and without any data."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd

import dpexplain_widgets
from dpexplain.accounting.composition import compose_mu
from dpexplain.accounting.gdp import epsilon_from_mu, mu_from_epsilon
from dpexplain.accounting.summary import EntrySummary, LedgerSummary
from dpexplain.compare import Comparison
from dpexplain.explain import GlobalExplanation, Guarantee, NoiseModel, ShapeFunction

DELTA = 1e-6
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MANY_EPSILONS = (0.1, 0.15, 0.25, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0, 10.0)
LONG_NAME = "hours of unpaid household work per week, averaged over the twelve months before"
HOSTILE_NAMES = (
    "<img src=x onerror=\"window.stolen='name'\">",
    "</script><script>window.stolen='script'</script>",
    "x" * 10_000,
    "\u202egnitsil \u202c \u0627\u0644\u0639\u0645\u0631",
    "$\\input{/etc/passwd}$",
    "a\"b'c`d ${window.stolen='template'}",
    "nul\x00 tab\t newline\n bell\x07",
    "\U0001f9ea\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2028 \u2029",
)


def view_names() -> list[str]:
    """Return the names of the package's views of additive models."""
    offered = {name: getattr(dpexplain_widgets, name) for name in dpexplain_widgets.__all__}
    views = {name: each for name, each in offered.items() if hasattr(each, "_esm")}
    return [name for name, each in views.items() if each._shows != "filters"]


def guarantee(epsilon: float) -> Guarantee:
    if math.isinf(epsilon):
        return Guarantee.not_private("fitted without noise", delta=DELTA)
    mu = mu_from_epsilon(epsilon, DELTA)
    sampler = "exact discrete Gaussian, entropy of the operating system"
    return Guarantee(
        epsilon, DELTA, "add_remove", True, mu=mu, sampler=sampler, version="0.1.0",
        epsilon_replace=epsilon_from_mu(2 * mu, DELTA),
    )  # fmt: skip


class TermPlan:
    """A term as it would be without noise, and its noisy version in a fit."""

    def __init__(self, name, bins, truth, count, *, unit="", description="", step=None):
        self.name, self.unit, self.description, self.step = name, unit, description, step
        self.bins, self.truth, self.count = bins, np.asarray(truth), np.asarray(count, float)
        self.numeric = not isinstance(bins, tuple)

    def fit(
        self,
        epsilon: float,
        promise: Guarantee,
        rng: np.random.Generator,
        *,
        with_noise_std: bool,
    ) -> ShapeFunction:
        private = math.isfinite(epsilon)
        spread = 3.0 / epsilon / np.sqrt(self.count + 4.0) if private else 0.0 * self.count
        noise = rng.standard_normal(len(self.truth)) * spread
        counted = rng.standard_normal(len(self.truth)) * (4.0 / epsilon if private else 0.0)
        shared = {
            "name": self.name,
            "contribution": self.truth + noise,
            "count": self.count + counted,
            "guarantee": promise,
            "unit": self.unit,
            "description": self.description,
            "noise_std": spread if with_noise_std and private else None,
        }
        if self.numeric:
            return ShapeFunction(
                kind="numeric", bin_edges=self.bins, step=self.step, special=("missing",), **shared
            )
        special = ("other", "missing")
        return ShapeFunction(kind="categorical", categories=self.bins, special=special, **shared)


def numeric_term(name, low, high, n_bins, curve, *, power=1.0, **texts) -> TermPlan:
    edges = low + (high - low) * np.linspace(0, 1, n_bins + 1) ** power
    edges = np.unique(np.round(edges, 6))
    middle = np.linspace(0, 1, len(edges) - 1)
    count = 40 + 900 * np.exp(-8 * (middle - 0.35) ** 2)
    return TermPlan(name, edges, [*curve(middle), 0.05], [*count, 12.0], **texts)


def categorical_term(name, categories, seed, size=0.5, **texts) -> TermPlan:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-size, size, len(categories))
    count = rng.integers(30, 1800, len(categories))
    return TermPlan(name, tuple(categories), [*truth, 0.0, -0.04], [*count, 0.0, 9.0], **texts)


def survey_terms() -> list[TermPlan]:
    ratings = ("very poor", "poor", "fair", "good", "very good")
    jobs = (
        "student", "farming, agriculture, semi-skilled or unskilled worker", "white-collar",
        "teacher, counsellor, social worker, nurse, artist, writer, technician, skilled worker",
        "managerial, administrative, business", "professional with advanced degree",
    )  # fmt: skip
    return [
        numeric_term(
            "age", 17, 90, 24, lambda t: np.where(t < 0.5, 2.2 * t - 0.6, 0.9 - 0.8 * t),
            unit="years", step=1.0, description="Age at the time of the survey.",
        ),
        numeric_term("years married", 0, 40, 16, lambda t: 0.7 * np.sqrt(t) - 0.4, unit="years"),
        numeric_term(
            "capital gain", 0, 100_000, 20, lambda t: 1.4 * (t > 0.6) - 0.2 * (t < 0.2),
            power=5.0, unit="dollars",
        ),
        categorical_term("rating of the marriage", ratings, 3, 0.9),
        categorical_term("occupation", jobs, 4, 0.4),
        categorical_term("children", ("no", "yes"), 5, 0.2),
        numeric_term("education", 9, 20, 6, lambda t: 0.12 * np.sin(6 * t), unit="years"),
    ]  # fmt: skip


def survey_people(n: int, seed: int = 0) -> pd.DataFrame:
    """Make respondents of a survey for the example views, with missing answers."""
    rng = np.random.default_rng(seed)
    bins = {term.name: term.bins for term in survey_terms()}
    ratings, jobs = bins["rating of the marriage"], bins["occupation"]
    found = pd.DataFrame(
        {
            "age": rng.uniform(17, 90, n), "years married": rng.uniform(0, 40, n),
            "capital gain": rng.uniform(0, 1e5, n) ** 0.9, "education": rng.uniform(9, 20, n),
            "rating of the marriage": rng.choice(ratings, n), "occupation": rng.choice(jobs, n),
            "children": rng.choice(["no", "yes"], n),
        }
    )  # fmt: skip
    return found.mask(rng.random(found.shape) < 0.03, None)


def wide_terms(n_terms: int, n_categories: int) -> list[TermPlan]:
    names = [f"category number {i} with a long description" for i in range(n_categories)]
    plans: list[TermPlan] = []
    for i in range(n_terms):
        if i % 3 == 1:
            plans.append(categorical_term(f"group {i}", names, i, 1.0 / (i + 1)))
        else:
            name = LONG_NAME if i == 0 else f"measurement {i}"
            size = 1.0 / (i + 1)
            curve = lambda t, size=size: size * np.sin(5 * t)  # noqa: E731
            plans.append(numeric_term(name, -1.5, 12_345.5, 12, curve, unit="µg per litre"))
    return plans


def hostile_terms() -> list[TermPlan]:
    plans = [
        categorical_term(name, HOSTILE_NAMES, i, unit=HOSTILE_NAMES[0])
        for i, name in enumerate(HOSTILE_NAMES)
    ]
    wave = numeric_term(
        "<b>number</b>", 0, 1, 5, np.cos, unit="<svg onload=\"window.stolen='unit'\">",
        description="<script>window.stolen='description'</script>",
    )  # fmt: skip
    return [*plans, wave]


def comparison(
    terms: list[TermPlan] | None = None,
    epsilons: tuple[float, ...] = EPSILONS,
    *,
    n_repeats: int = 1,
    reference: bool = True,
    noise_std: bool = True,
    joint: bool = False,
    private: bool = True,
    classes: tuple[str, str] | None = ("no", "yes"),
    title: str = "Affairs in a survey of 1974",
    seed: int = 0,
) -> Comparison:
    """Make a comparison of simulated fits that depends only on the arguments.

    With `joint`, the joint noise of all bins is known: half of each variance is common to the
    bins of a term.
    """
    plans = survey_terms() if terms is None else terms
    rng = np.random.default_rng(seed)

    def explanation(epsilon: float) -> GlobalExplanation:
        promise = guarantee(epsilon if private else math.inf)
        shapes = [plan.fit(epsilon, promise, rng, with_noise_std=noise_std) for plan in plans]
        return GlobalExplanation(
            shapes,
            -0.7,
            "identity" if classes is None else "logit",
            guarantee=promise,
            target_name="affairs",
            target_unit="visits" if classes is None else "",
            classes=classes,
            model_name="DP boosting",
            noise=joint_noise(shapes) if joint and math.isfinite(epsilon) else None,
        )

    fits = {eps: tuple(explanation(eps) for _ in range(n_repeats)) for eps in epsilons}
    return Comparison(
        epsilons,
        fits,
        explanation(math.inf) if reference else None,
        metrics(epsilons, n_repeats, reference, "RMSE" if classes is None else "AUROC"),
        ledger=ledger_summary(fits, reference),
        title=title,
    )


def joint_noise(shapes: list[ShapeFunction]) -> NoiseModel:
    """Make noise with half of its variance shared by the bins of a term."""
    sizes = tuple(shape.n_bins for shape in shapes)
    std = np.concatenate([*(shape.total_std for shape in shapes), [0.01]])
    factor = np.zeros((sum(sizes) + 1, len(shapes)))
    for k in range(len(shapes)):
        rows = slice(sum(sizes[:k]), sum(sizes[: k + 1]))
        factor[rows, k] = std[rows] * math.sqrt(0.5)
    return NoiseModel(sizes, factor, np.sqrt(std**2 - (factor**2).sum(axis=1)))


def with_effects(found: Comparison) -> Comparison:
    """Add estimated effects to private fits: curves 1.5 times as large, with wider bands."""

    def estimated(explanation: GlobalExplanation) -> GlobalExplanation:
        terms = [
            dataclasses.replace(
                term,
                effect=1.5 * term.contribution,
                effect_std=0.5 * term.noise_std + 0.05,
                effect_factor=3.0,
            )
            for term in explanation.terms
        ]
        stds = np.concatenate([*(term.effect_std for term in terms), [0.01]])
        scatter = NoiseModel(tuple(t.n_bins for t in terms), np.zeros((len(stds), 1)), stds)
        joint = joint_noise(explanation.terms)
        return dataclasses.replace(
            explanation, terms=terms, noise=joint, effect_scatter=scatter, effect_intercept=-0.7
        )

    fits = {eps: tuple(map(estimated, repeats)) for eps, repeats in found.explanations.items()}
    return dataclasses.replace(found, explanations=fits)


def metrics(epsilons, n_repeats, reference, name) -> pd.DataFrame:
    rows = [
        (epsilon, repeat, name, 0.745 - 0.02 / epsilon - 0.003 * repeat, False)
        for epsilon in epsilons
        for repeat in range(n_repeats)
    ]
    rows += [(math.inf, 0, name, 0.7481, False)] if reference else []
    return pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"])


def ledger_summary(fits, reference: bool) -> LedgerSummary:
    epsilons = [epsilon for epsilon, repeats in fits.items() for _ in repeats]
    mu = compose_mu([mu_from_epsilon(epsilon, DELTA) for epsilon in epsilons])
    private = epsilon_from_mu(mu, DELTA)
    events = [
        {"type": "gaussian", "label": "boosting", "noise_multiplier": 1 / mu_one, "count": 1}
        for mu_one in [mu_from_epsilon(epsilon, DELTA) for epsilon in epsilons]
    ]
    total = math.inf if reference else private
    label = "sweep of DPExplainableBoostingClassifier over all ε with shared random structure"
    sweep = EntrySummary(label, total, mu, not reference, tuple(events))
    free = [EntrySummary(f"{label}, draft {i}", 0.0, 0.0, True, ()) for i in range(8)]
    return LedgerSummary(
        dataset="survey-1974",
        delta=DELTA,
        adjacency="add_remove",
        cap_epsilon=20.0,
        total_epsilon=total,
        private_epsilon=private,
        replace_epsilon=epsilon_from_mu(2.0 * mu, DELTA),
        naive_epsilon=sum(epsilons),
        entries=(sweep, *free),
    )
