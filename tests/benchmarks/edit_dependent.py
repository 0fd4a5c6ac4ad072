"""Print what repairs gain if features are correlated: `make bench-edit-dependent`.

The truths are the monotone ones of `edit_families.py`. Next to the measurement stands a partner
whose ranks are correlated with it, and that raises, lowers or does not affect the risk. A fit
that ends early may have put the effect of one into the curve of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from bench_print import machine, table, versions
from edit import TERM, arguments_of, distance, edits, interval, results_of
from edit_families import MONOTONE, Family, schema
from scipy.stats import norm, rankdata

from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, Schema

CORRELATIONS = (0.0, 0.5, 0.8, 0.95)
EFFECTS = {"same direction": 0.7, "none": 0.0, "opposite": -0.7}
METHODS = ("monotone", "smooth and monotone", "recover", "repair")


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = arguments_of(given, __doc__, 10)
    print(f"{machine()}. {versions()}.")
    for n_patients in arguments.patients:
        results = results_of(_measured, n_patients, arguments)
        print(
            f"\n{n_patients:,} patients, epsilon {arguments.epsilon:g}, {arguments.seeds} seeds "
            f"of {len(MONOTONE)} monotone truths; mean and 95 % interval.\n"
        )
        print(_table(results))
        print(f"\n{_signs(results)}")


def _measured(n: int, epsilon: float, seed: int) -> list[dict[str, Any]]:
    """Fit each family with each correlated feature once; return the gain of every edit."""
    rows = []
    for family, correlation, effect in itertools.product(MONOTONE, CORRELATIONS, EFFECTS):
        if correlation == 0.0 and effect != "same direction":
            continue
        X, y = patients(family, seed, n, correlation, EFFECTS[effect])
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon, schema=with_partner(family), structure_seed=seed
        )
        term = (explanation := model.fit(X, y).explain_global())[TERM]
        before = distance(family, term)
        for method, edit in edits(family.direction).items():
            edited = edit.apply(explanation)[TERM]
            move = (edited.contribution - term.contribution) / term.total_std
            rows.append(
                {
                    "seed": seed,
                    "correlation": correlation,
                    "effect": effect,
                    "method": method,
                    "gain": 1.0 - distance(family, edited) / before,
                    "stretch": term.stretch,
                    "move": float(np.sqrt(term.weights @ move**2)),
                }
            )
    return rows


def patients(
    family: Family, seed: int, n: int, correlation: float, effect: float
) -> tuple[pd.DataFrame, pd.Series]:
    """Draw patients with two correlated measurements, and whether they died.

    Parameters
    ----------
    family : Family
    seed, n : int
    correlation : float
        Of the normal scores of the ranks of both.
    effect : float
        Log-odds that one standard deviation of the partner adds in the direction of the truth.

    Returns
    -------
    X : DataFrame of shape (n, 5)
    y : Series of shape (n,)
    """
    rng = np.random.default_rng([20211102, MONOTONE.index(family), seed])
    values = family.draw(rng, n)
    ranks = rankdata(values + 1e-6 * rng.standard_normal(n), method="ordinal")
    alike = norm.ppf((ranks - 0.5) / n)
    alone = rng.standard_normal(n)
    partner = correlation * alike + np.sqrt(1.0 - correlation**2) * alone
    X = pd.DataFrame(
        {
            TERM: values,
            "partner": np.clip(np.round(100.0 + 20.0 * partner), 0, 200),
            "heart rate": np.clip(np.round(rng.normal(88.0, 19.0, n)), 30, 200),
            "ward": rng.choice(["surgery", "medicine", "intensive care"], n, p=[0.4, 0.45, 0.15]),
            "bed": np.round(rng.uniform(1, 400, n)),
        }
    )
    sign = 1.0 if family.direction == "increasing" else -1.0
    wards = X["ward"].map({"surgery": -0.4, "medicine": 0.0, "intensive care": 1.1}).to_numpy()
    others = sign * effect * partner + 0.012 * (X["heart rate"].to_numpy() - 88.0) + wards
    score = family.risk(values) + others - 1.2
    died = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    return X, pd.Series(np.where(died, "yes", "no"), name="died")


def with_partner(family: Family) -> Schema:
    """Return the public schema of the simulated patients."""
    known = schema(family).features
    features = {TERM: known[TERM], "partner": Numeric(0, 200, step=1)}
    features |= {name: known[name] for name in ("heart rate", "ward", "bed")}
    return Schema(features, target=Classes(["no", "yes"], name="died"))


def _table(results: pd.DataFrame) -> str:
    """For each correlated feature, tabulate edits' gains and how often repair did harm."""
    rows = []
    for (correlation, effect), of in results.groupby(["correlation", "effect"], sort=True):
        gains = {method: of[of["method"] == method]["gain"] for method in METHODS}
        away = [f"{100 * (gains[m] < 0).mean():.0f} %" for m in ("monotone", "repair")]
        nearer = [interval(gains[method]) for method in METHODS]
        what = "independent" if correlation == 0.0 else f"correlation {correlation:g}"
        rows.append([what, effect, *nearer, *away])
    head = ["partner", "its effect", *(f"nearer: {m}" for m in METHODS)]
    return table([*head, "led away: monotone", "led away: repair"], rows)


def _signs(results: pd.DataFrame) -> str:
    """Measure how well released numbers tell harmful repairs from others."""
    repaired = results[results["method"] == "repair"]
    away = (repaired["gain"] < 0).to_numpy()
    if away.all() or not away.any():
        return f"The repair led away in {'all' if away.any() else 'no'} cases."
    found = []
    for sign, words in (("stretch", "how far the curve falls short"), ("move", "how far it moves")):
        ranks = rankdata(repaired[sign])
        n = int(away.sum())
        area = (ranks[away].sum() - n * (n + 1) / 2) / (n * (len(away) - n))
        found.append(f"{words}, {area:.2f}")
    return (
        f"The repair led away in {away.sum()} of {len(away)} cases. Area under the ROC curve of "
        f"telling these from the others by {'; by '.join(found)} (0.50: not at all)."
    )


if __name__ == "__main__":
    main()
