"""What a fit to a problem with a known truth states about it."""

from __future__ import annotations

import time
import unittest.mock
import warnings
from contextlib import ExitStack
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from bench_claims import claims_of_classes, claims_of_decisions, claims_of_rank, claims_of_term
from bench_truth_problems import chance, nothing, problem
from numpy.typing import NDArray

from dpexplain import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.compare import epsilons_to_stand_out
from dpexplain.exceptions import PrivacyWarning
from dpexplain.models.boosting.uncertainty.effects.dependence import joint

FloatArray = NDArray[np.float64]

_MANY = 150_000
_DECISIONS = 200
POINTWISE = 1.959964
_NOTHING = 0.02
"""Curves of less root mean square than that are no effects."""


@cache
def _many(name: str) -> tuple[pd.DataFrame, FloatArray]:
    made = problem(name)
    X = pd.DataFrame(made.draw(np.random.default_rng(99), _MANY))
    return X, made.score(X)


def fitted(name: str, epsilon: float, seed: int, **settings: Any) -> Any:
    """Fit a fresh table."""
    made = problem(name)
    X, y = made.sample(1_000 + seed)
    kind = DPExplainableBoostingClassifier if made.classifies else DPExplainableBoostingRegressor
    if made.dispersion is not None:
        settings = {"objective": "poisson", **settings}
    model = kind(epsilon=epsilon, schema=made.schema, structure_seed=seed, **settings)
    return model.fit(X, y)


def truth(name: str, model: Any, of_class: int = 0) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return each term's true curve and proportion of records per bin, not centered.

    With interactions, this is the population's best additive model, found by backfitting.
    """
    made = problem(name)
    X, score = _many(name)
    places = [
        b.index(column).astype(np.intp)
        for b, column in zip(model._terms.bins, model._columns(X), strict=True)
    ]
    sizes = [b.n_bins for b in model._terms.bins]
    counts = [np.bincount(p, minlength=n) for p, n in zip(places, sizes, strict=True)]
    shares = [np.asarray(c / len(X), dtype=np.float64) for c in counts]
    if made.beyond is not None:
        return _projected(score, places, sizes), shares
    curves = []
    for feature, place, count in zip(made.curves, places, counts, strict=True):
        column = X[feature].to_numpy()
        parts = [own.get(feature, nothing)(column) for own in (made.curves, *made.more)]
        values = parts[of_class] - (np.mean(parts, axis=0) if made.more else 0.0)
        curves.append(np.bincount(place, values, minlength=len(count)) / np.maximum(count, 1))
    return curves, shares


def _projected(
    score: FloatArray, places: list[NDArray[np.intp]], sizes: list[int]
) -> list[FloatArray]:
    expected, curves = chance(score), [np.zeros(n) for n in sizes]
    total = np.full(len(score), np.log(expected.mean() / (1.0 - expected.mean())))
    for _ in range(12):
        for curve, place in zip(curves, places, strict=True):
            p = chance(total)
            gradient = np.bincount(place, expected - p, minlength=len(curve))
            step = gradient / np.maximum(np.bincount(place, p * (1 - p), len(curve)), 1e-9)
            curve += step
            total += step[place]
    return curves


def rows_of_fit(
    name: str, epsilon: float, seed: int, *, claims: bool = True, **settings: Any
) -> list[dict[str, Any]]:
    """Fit once, and compare both bands of each term with the truth.

    Claims about bins, ranges, ranks and decisions take most of the time; `claims` states whether
    they are made.

    Returns
    -------
    list of dict
        One for each term, JSON values only.
    """
    model = fitted(name, epsilon, seed, **settings)
    start = time.process_time()
    model._effect  # noqa: B018 - timed alone
    seconds = time.process_time() - start
    explanation = model.explain_global()
    parts = getattr(explanation, "by_class", (explanation,))
    rows = []
    for c, part in enumerate(parts):
        rows += _rows_of_score(name, model, part, c, claims=claims)
    if claims and problem(name).more:
        people = _many(name)[0][:_DECISIONS]
        rows[0]["claims"]["decision"] = claims_of_classes(
            explanation, people, problem(name).scores_of_classes(people)
        )
    cell = {"problem": name, "epsilon": epsilon, "seed": seed, "seconds": seconds}
    return [cell | row for row in rows]


def _rows_of_score(
    name: str, model: Any, explanation: Any, c: int, *, claims: bool
) -> list[dict[str, Any]]:
    curves, shares = truth(name, model, c)
    warned, remarked = explanation.effect_cautions, explanation.effect_remarks
    ranking, needed = explanation.ranking(), epsilons_to_stand_out(explanation)
    of_class = explanation.of_class
    rows = []
    for term, curve, share in zip(explanation.terms, curves, shares, strict=True):
        row = _row(term, curve, share)
        ranks = ranking.loc[term.name]
        row |= {
            "term": f"{term.name} ({of_class})" if of_class else term.name,
            "ranks": [float(ranks["rank_low"]), float(ranks["rank_high"])],
            "direction": ranks["direction"], "sure": float(ranks["direction_certainty"]),
            "needed": needed[term.name], "above": term.name in explanation.terms_above_noise,
            "certain": term.name in explanation.terms_with_effect,
            "warned": term.name in warned, "remarked": term.name in remarked,
        }  # fmt: skip
        if claims:
            row["claims"] = claims_of_term(explanation, term, curve, share)
        rows.append(row)
    order = np.argsort(np.argsort([-r["true importance"] for r in rows]))
    for row, place in zip(rows, order, strict=True):
        row["true rank"] = int(place) + 1
    if not claims:
        return rows
    for row, term in zip(rows, explanation, strict=True):
        row["claims"]["rank"] = claims_of_rank(explanation, term, row["true rank"])
    made = problem(name)
    if made.beyond is None and not made.more:
        people, score = _many(name)
        rows[0]["claims"]["decision"] = claims_of_decisions(
            explanation, people[:_DECISIONS], score[:_DECISIONS]
        )
    return rows


def row_of_oracle(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Fit once, and count certain effects with estimated and with known correlations.

    An oracle knows the correlations of all features; everything else is estimated in the same way.
    It shows how much of the power is lost because correlations must be estimated.
    """
    model, correlation = fitted(name, epsilon, seed), problem(name).correlation
    n = len(model._terms.bins)
    first, second = np.triu_indices(n, 1)
    paired = (first % 2 == 0) & (second == first + 1)
    known = np.where(paired, correlation, 0.0), np.full(len(first), 1e-3)
    row: dict[str, Any] = {"problem": name, "epsilon": epsilon, "seed": seed, "part": "oracle"}
    for kind in ("estimated", "known"):
        model.__dict__.pop("_effect", None)
        with ExitStack() as stack:
            if kind == "known":
                patch = unittest.mock.patch.object(joint, "correlations", return_value=known)
                stack.enter_context(patch)
            explanation = model.explain_global()
        curves, shares = truth(name, model)
        rows = [_row(*each) for each in zip(explanation.terms, curves, shares, strict=True)]
        certain = [t.name in explanation.terms_with_effect for t in explanation.terms]
        real = [r["real"] for r in rows]
        row[kind] = {
            "certain": float(np.mean(np.array(certain)[real])),
            "marked": float(np.mean([r["effect"]["marked"] for r in rows if r["real"]])),
            "whole": float(np.mean([r["effect"]["whole"] for r in rows])),
            "null": float(np.mean(np.array(certain)[~np.array(real)])),
        }
    return row


def rows_above_noise(name: str, epsilon: float, seed: int) -> list[dict[str, Any]]:
    """Fit once, and return only whether each term rises above the noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the planner looks up to weak guarantees
        explanation = fitted(name, epsilon, seed).explain_global()
    parts = getattr(explanation, "by_class", (explanation,))
    return [
        {
            "problem": name, "epsilon": epsilon, "seed": seed, "part": "planner",
            "term": f"{term} ({part.of_class})" if part.of_class else term,
            "above": term in part.terms_above_noise,
        }
        for part in parts
        for term in part
    ]  # fmt: skip


def _row(term: Any, curve: FloatArray, share: FloatArray) -> dict[str, Any]:
    there = (share > 0) & (term.weights > 0)
    weights = np.where(there, share, 0.0)
    weights /= max(float(weights.sum()), 1e-12)
    true = curve - weights @ curve
    size = float(np.sqrt(weights @ true**2))
    n = term.n_value_bins
    place = np.arange(n) - np.arange(n) @ weights[:n] / max(float(weights[:n].sum()), 1e-12)
    row: dict[str, Any] = {
        "size": size, "real": size > _NOTHING, "true importance": float(weights @ np.abs(true)),
        "true slope": float((weights[:n] * place) @ true[:n]),
    }  # fmt: skip
    bands = {
        "noise": (term.contribution, term.total_std, term.simultaneous_factor),
        "effect": (term.effect, term.effect_std, term.effect_factor),
    }
    for kind, (estimate, std, factor) in bands.items():
        centered = estimate - weights @ estimate
        error = np.abs(centered - true)[there]
        wide = factor * std[there]
        marked = np.abs(estimate[there]) > wide
        row[kind] = {
            "inside": float((error <= POINTWISE * std[there]).mean()),
            "whole": bool((error <= wide + 1e-12).all()),
            "squared error": float(weights @ (centered - true) ** 2),
            "importance": float(weights @ np.abs(centered)),
            "along": float(weights @ (centered * true)),
            "width": float(weights @ std),
            "marked": bool(marked.any()),
            "hatched and wrong": bool(not marked.any() and (error > wide).any()),
        }
    return row
