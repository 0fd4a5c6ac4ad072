"""Real tables: the estimate of the effect next to a non-private fit, and calibration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from bench_data import TABLES, dataset_of, found, splits
from bench_noise import estimator
from bench_truth_problems import COUNTS as OF_COUNTS
from bench_truth_problems import problem
from numpy.typing import NDArray
from scipy.stats import chi2

from dpexplain import Classes, Schema
from dpexplain.compare.faithfulness import truth_in_bins
from dpexplain.datasets import make_additive

FloatArray = NDArray[np.float64]

REAL = ("adult", "telco", "california", "wine", "clinical")
OTHERS = (
    "abalone", "elevators", "pol", "banknote", "wine-white", "transfusion", "qsar", "yeast",
    "insurance", "breast_cancer_wisconsin",
)  # fmt: skip
"""Tables that were not used to choose the rules for warnings."""
SIMULATED = ("clinical", "smooth", "steps", "sparse", "interactions", "correlated")
CLASSES = (
    "adult", "telco", "survey", "page_blocks", "wine-white", "spambase", "abalone-old",
    "cardiotocography", "yeast", "banknote", "top-california", "top-elevators", "top-pol",
    "many-features", *SIMULATED, "paired-top-california", "paired-adult", "paired-interactions",
)  # fmt: skip
AS_COUNTS = "counts-"
"""Tables whose target is fitted as a count."""
COUNTS = (f"{AS_COUNTS}insurance", *(name.replace(" ", "-") for name in OF_COUNTS))
NUMBERS = ("california", "wine", "abalone", "insurance", "elevators", "pol", "heavy-tails")
SEVERAL = {
    "california-in-3": (0.33, 0.67),
    "pol-in-3": (0.5, 0.8),
    "elevators-in-4": (0.25, 0.5, 0.75),
    "wine-in-3": (0.33, 0.8),
    "abalone-in-3": (0.33, 0.67),
    "three-classes": (),
    "correlated-classes": (),
}
"""Quantiles that divide the numeric target of a table into classes; the last two are simulated."""
PAIRED = "paired-"
"""Tables that are fitted with pairs of features, chosen privately."""
TOP = "top-"
TOP_SHARE = 0.3
"""Tables with a number as target become classes: is it among the highest 30%?"""


def is_there(name: str) -> bool:
    """Whether a table is available without a download; if not, print that."""
    name = name.removeprefix(PAIRED).removeprefix(TOP).removeprefix(AS_COUNTS)
    if SEVERAL.get(name):
        name = name.partition("-in-")[0]
    return name not in TABLES or any(True for _ in found(None, [name]))


@cache
def _data(name: str) -> Any:
    if name in SIMULATED:
        return make_additive(name, 10_000, random_state=0)
    if SEVERAL.get(name):
        return _in_classes(TABLES[name.partition("-in-")[0]].load(), name)
    if name in SEVERAL or (name in COUNTS and not name.startswith(AS_COUNTS)):
        made = problem(name.replace("-", " "))
        X, y = made.sample(0)
        return dataset_of(X, pd.Series(y, name="target"), made.schema, name)
    data = TABLES[name.removeprefix(TOP).removeprefix(AS_COUNTS)].load()
    if not name.startswith(TOP):
        return data
    is_top = data.y.to_numpy() >= np.quantile(data.y, 1.0 - TOP_SHARE)
    schema = Schema(dict(data.schema.features), target=Classes(["no", "yes"]))
    return replace(data, y=pd.Series(np.where(is_top, "yes", "no")), schema=schema, name=name)


def _in_classes(data: Any, name: str) -> Any:
    place = np.searchsorted(np.quantile(data.y, SEVERAL[name]), data.y)
    labels = [f"class {k}" for k in range(len(SEVERAL[name]) + 1)]
    schema = Schema(dict(data.schema.features), target=Classes(labels))
    return replace(data, y=pd.Series(np.array(labels)[place]), schema=schema, name=name)


@cache
def _reference(name: str) -> Any:
    data = _data(name)
    return estimator(data, 1.0).reference_estimator().fit(data.X, data.y).explain_global()


def row_of_table(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Fit a real table once, and compare curves and estimates with a non-private fit.

    The curves of the non-private fit are averaged over the records in each bin of the private fit.

    Returns
    -------
    dict
        Distances relative to the size of the non-private curves, the proportion of terms whose
        non-private curve lies inside the band for whole curves, whether there is a warning about
        each term outside and inside, and for those outside, whether there is a warning or a note,
        and whether the records reject the nearest curve in the band (`is_rejected`).
    """
    data, reference = _data(name), _reference(name)
    model = estimator(data, epsilon, structure_seed=seed).fit(data.X, data.y)
    explanation = model.explain_global()
    shapes = {term: shape.evaluate for term, shape in reference.items()}
    shown = truth_in_bins(explanation, shapes, data.X)
    size = 0.0
    away = dict.fromkeys(("noise", "effect"), 0.0)
    inside: dict[str, list[bool]] = {kind: [] for kind in away}
    warned: dict[bool, list[bool]] = {True: [], False: []}
    remarked: list[bool] = []
    rejected = []
    for term in explanation.terms:
        weights = np.asarray(term.weights, dtype=np.float64)
        weights = weights / max(float(weights.sum()), 1e-12)
        there = weights > 0
        other = shown[term.name].contribution
        other = other - weights @ other
        size += float(weights @ other**2)
        bands = {
            "noise": (term.contribution, term.total_std, term.simultaneous_factor),
            "effect": (term.effect, term.effect_std, term.effect_factor),
        }
        for kind, (estimate, std, factor) in bands.items():
            error = estimate - weights @ estimate - other
            away[kind] += float(weights @ error**2)
            beyond = np.where(there, np.maximum(np.abs(error) - factor * std - 1e-12, 0.0), 0.0)
            inside[kind].append(not beyond.any())
        warned[inside["effect"][-1]].append(term.name in explanation.effect_cautions)
        if not inside["effect"][-1]:  # by the last error, that of the estimate
            remarked.append(term.name in explanation.effect_remarks)
            rejected.append(is_rejected(data, reference, term, np.sign(error) * beyond))
    return {
        "problem": name, "epsilon": epsilon, "seed": seed, "part": "tables",
        "distance": {kind: float(np.sqrt(total / size)) for kind, total in away.items()},
        "inside": {kind: float(np.mean(found)) for kind, found in inside.items()},
        "terms": len(inside["effect"]), "warned": warned[False], "rejected": rejected,
        "warned inside": warned[True], "remarked": remarked,
    }  # fmt: skip


def is_rejected(data: Any, reference: Any, term: Any, shift: FloatArray) -> bool:
    """Return whether the records reject a shifted curve of a non-private fit.

    The non-private fit is not the truth: where a bin has few records, or only one outcome, its
    curve is uncertain, too. Twice the difference between the log likelihoods with the curve of the
    fit and with the shifted one is compared with a chi-squared distribution with one degree of
    freedom per shifted bin, at level 0.05. All other curves stay as they are.

    Parameters
    ----------
    data : Data
    reference : GlobalExplanation
        The non-private fit to these records.
    term : ShapeFunction
        A term of a private fit, which provides the bins.
    shift : ndarray of shape (n_bins,)
        Change of the curve in each bin.
    """
    columns = {name: data.X[name] for name in reference}
    score = reference.intercept + sum(s.evaluate(columns[name]) for name, s in reference.items())
    moved = score + replace(term, contribution=shift).evaluate(columns[term.name])
    y = data.y.to_numpy()
    if reference.link == "logit":
        is_second = y == reference.classes[1]
        losses = [2.0 * np.logaddexp(0.0, np.where(is_second, -s, s)) for s in (score, moved)]
    else:
        losses = [(y - s) ** 2 / np.mean((y - score) ** 2) for s in (score, moved)]
    difference = float(np.sum(losses[1] - losses[0]))
    n_shifted = len(np.unique(term.bin_index(columns[term.name])[moved != score]))
    return n_shifted > 0 and bool(chi2.sf(difference, n_shifted) < 0.05)


def row_of_calibration(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Score held-out records of one split with and without calibration."""
    data, pairs = _data(name.removeprefix(PAIRED)), "auto" if name.startswith(PAIRED) else 0
    train, test = list(splits(len(data.X), seed + 1))[seed]
    row: dict[str, Any] = {
        "problem": name, "epsilon": epsilon, "seed": seed, "part": "calibration",
    }  # fmt: skip
    settings = {"objective": "squared"} if name in NUMBERS else {}
    settings |= {"objective": "poisson"} if name in COUNTS else {}
    for calibrated in (False, True):
        # The same seed twice; with calibration, the trees have 5% less of the budget.
        settings |= {"reproducible_seed": seed, "calibrated": calibrated, "pairs": pairs}
        model = estimator(data, epsilon, **settings)
        model.fit(data.X.iloc[train], data.y.iloc[train])
        X, y = data.X.iloc[test], data.y.iloc[test].to_numpy()
        if name in NUMBERS:
            quality = _quality_of_numbers(model.predict(X), y.astype(np.float64))
        elif name in COUNTS:
            quality = _quality_of_counts(model.predict(X), y.astype(np.float64))
        elif name in SEVERAL:
            place = np.searchsorted(np.sort(model.classes_), y)
            quality = _quality_of_classes(model.predict_proba(X), place)
        else:
            quality = _quality(model.predict_proba(X)[:, 1], y == model.classes_[1])
        row["calibrated" if calibrated else "released"] = quality
    return row


def _quality_of_numbers(predicted: FloatArray, y: FloatArray) -> dict[str, float]:
    there = ~np.isnan(y)
    predicted, y = predicted[there], y[there]
    return {
        "rms error": float(np.sqrt(np.mean((y - predicted) ** 2))),
        "mean": float(np.mean(predicted)),
        "target": float(np.mean(y)),
        "slope": float(np.polyfit(predicted, y, 1)[0]),
    }


def _quality_of_counts(predicted: FloatArray, y: FloatArray) -> dict[str, float]:
    from sklearn.linear_model import PoissonRegressor
    from sklearn.metrics import mean_poisson_deviance

    there = ~np.isnan(y)
    predicted, y = predicted[there], y[there]
    line = PoissonRegressor(alpha=0.0, max_iter=1000, tol=1e-8).fit(np.log(predicted)[:, None], y)
    return {
        "deviance": float(mean_poisson_deviance(y, predicted)),
        "mean": float(np.mean(predicted)),
        "target": float(np.mean(y)),
        "slope": float(line.coef_[0]),
    }


def _quality(chance: FloatArray, is_second: NDArray[np.bool_]) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss, roc_auc_score

    chance = np.clip(chance, 1e-7, 1 - 1e-7)
    score = np.log(chance / (1 - chance))[:, np.newaxis]
    rng = np.random.default_rng(0)
    by_chance = [_expected_error(chance, rng.random(len(chance)) < chance) for _ in range(50)]
    slope = LogisticRegression(C=np.inf).fit(score, is_second).coef_[0, 0]
    return {
        "log loss": float(log_loss(is_second, chance)),
        "slope": float(slope),
        "ECE": _expected_error(chance, is_second),
        "ECE by chance": float(np.mean(by_chance)),
        "AUROC": float(roc_auc_score(is_second, chance)),
    }


def _quality_of_classes(chance: FloatArray, y: NDArray[np.intp]) -> dict[str, float]:
    """Return measures of probabilities; the slope is fitted along with a shift of each class."""
    from scipy.optimize import minimize

    rows, n_classes = np.arange(len(y)), chance.shape[1]
    score = np.log(np.clip(chance, 1e-12, 1.0))

    def log_loss(line: FloatArray) -> float:
        moved = line[0] * score + np.append(line[1:], 0.0)
        moved -= moved.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(moved).sum(axis=1)) - moved[rows, y]))

    def error(y: NDArray[np.intp]) -> float:
        return float(np.mean([_expected_error(chance[:, c], y == c) for c in range(n_classes)]))

    unchanged = np.append(1.0, np.zeros(n_classes - 1))
    rng, sums = np.random.default_rng(0), chance.cumsum(axis=1)[:, :-1]
    drawn = [(rng.random((len(y), 1)) > sums).sum(axis=1) for _ in range(20)]
    return {
        "log loss": log_loss(unchanged),
        "slope": float(minimize(log_loss, unchanged).x[0]),
        "ECE": error(y),
        "ECE by chance": float(np.mean([error(each) for each in drawn])),
        "accuracy": float(np.mean(chance.argmax(axis=1) == y)),
    }


def _expected_error(chance: FloatArray, is_second: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equally many records."""
    groups = np.array_split(np.argsort(chance, kind="stable"), 10)
    gaps = [len(g) * abs(chance[g].mean() - is_second[g].mean()) for g in groups]
    return float(sum(gaps) / len(chance))
