"""Check bands and marks of explanations against refits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from bench_data import splits
from numpy.typing import NDArray

from dpexplain import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.compare import faithfulness, truth_in_bins
from dpexplain.datasets import Dataset
from dpexplain.explain import GlobalExplanation, denoised, total_score
from dpexplain.mechanisms import Mechanism, NoiseSource, Phase
from dpexplain.models.boosting.uncertainty.simulate import simulate_noise
from dpexplain.schema import Classes, Schema

FloatArray = NDArray[np.float64]

_ROWS = 5_000
"""Rows at which curves of different fits meet."""

_FEW_STRUCTURES = 12

POINTWISE = 1.959964
"""Standard deviations of a nominal 95 % band for single bins."""

DATASETS = (
    "adult", "telco", "california", "wine", "smooth", "correlated", "clinical", "insurance",
    "wine in 3 classes",
)  # fmt: skip
ONE_PART_ONLY = ("insurance", "wine in 3 classes")
"""Counts and several classes: held against the noiseless fit alone."""
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


_DRAWN = ("boosting", "calibration")
"""Releases whose noise is drawn anew."""


class _SameHistograms(Mechanism):
    """Mechanism that repeats another fit's histograms, with fresh leaf noise or none."""

    def __init__(self, source: NoiseSource, histograms: list[Any] | None, quiet: bool) -> None:
        super().__init__(source)
        self.histograms: list[Any] = []
        self._given, self._quiet = histograms, quiet

    def begin(self, phase: Phase) -> None:
        super().begin(phase)
        self._label = phase.label
        if self._quiet and phase.label in _DRAWN:
            self._noise[:] = 0

    def release(self, query: NDArray[np.int64]) -> NDArray[np.int64]:
        answer = super().release(query)
        if self._label not in _DRAWN:
            if self._given is not None:
                answer = self._given[len(self.histograms)]
            self.histograms.append(answer)
        return answer


def estimator(data: Dataset, epsilon: float, **settings: Any) -> Any:
    """Return a private model for this target, with the default recipe."""
    kind: Any = DPExplainableBoostingRegressor
    if data.name == "randhie":
        settings = {"objective": "poisson", **settings}
    if isinstance(data.schema.target, Classes):
        kind = DPExplainableBoostingClassifier
    return kind(epsilon=epsilon, schema=data.schema, **settings)


def refit(model: Any, data: Dataset, histograms: Any = None, *, quiet: bool = False) -> Any:
    """Fit a clone; given histograms, use the bins and trees of the fit they came from."""
    clone = type(model)(**model.get_params())
    mechanism = _SameHistograms(NoiseSource(clone.noise_backend), histograms, quiet)
    clone._mechanism = lambda: mechanism
    clone.fit(data.X, data.y)
    clone.histograms = mechanism.histograms
    return clone


def few_classes(wine: Dataset) -> Dataset:
    """Turn the quality of wine into three classes: below, at and above the middle."""
    y = pd.cut(wine.y, [-np.inf, 5.5, 6.5, np.inf], labels=["low", "middle", "high"])
    schema = Schema(dict(wine.schema.features), target=Classes(["low", "middle", "high"]))
    return replace(wine, y=y.astype(str), schema=schema, name="wine in 3 classes")


def _curves(model: Any) -> list[FloatArray]:
    """Return the curve of each term, of shape (n_bins,) or (n_bins, n_classes)."""
    return [np.asarray(s) for s in model._terms.scores]


def _noise_stds(model: Any) -> list[FloatArray]:
    """Return the standard deviation of each term's privacy noise, shaped like its curve.

    They come from the explanation. Few structures are simulated, as these play no part here.
    """
    objective = model._objective(model.schema_)
    fit, terms = model._fit, model._released_terms
    draws = simulate_noise(fit, terms, objective, n_structures=_FEW_STRUCTURES)
    if fit.line is not None:
        draws = fit.line.of_noise(draws, terms)
    stds = np.stack([np.sqrt((own.privacy**2).mean(axis=0)) for own in draws], axis=1)
    curves = _curves(model)
    ends = np.cumsum([len(curve) for curve in curves])
    parts = np.split(stds[:-1], ends[:-1])
    return [part.reshape(curve.shape) for part, curve in zip(parts, curves, strict=True)]


@dataclass
class Coverage:
    """How often a band held: overall, and in each term, the lowest and the highest named."""

    overall: float
    lowest: float
    lowest_term: str
    highest: float
    terms: list[float]

    def n_outside(self, n_refits: int) -> int:
        """Count the terms outside 0.95 ± 0.05 by more than chance.

        Bins of a term can scatter together, so its coverage deviates by as much as that of one
        bin, ``sqrt(0.95 * 0.05 / n_refits)``; three of these are allowed.
        """
        allowed = 0.05 + 3.0 * np.sqrt(0.95 * 0.05 / n_refits)
        return int(np.sum(np.abs(np.array(self.terms) - 0.95) > allowed))

    @classmethod
    def of(cls, inside: Sequence[FloatArray], names: Sequence[str]) -> Coverage:
        """Average indicators per term, each of shape (n_checks, n_bins) or (n_checks,)."""
        means = [float(np.mean(i)) for i in inside]
        worst = int(np.argmin(means))
        flat = np.concatenate([np.ravel(i) for i in inside])
        return cls(float(flat.mean()), means[worst], names[worst], max(means), means)


def privacy_coverage(data: Dataset, epsilon: float, n_refits: int) -> Coverage:
    """Coverage of the 95% privacy band around the noiseless fit with the same trees."""
    first = refit(estimator(data, epsilon, structure_seed=5), data)
    center = _curves(refit(first, data, first.histograms, quiet=True))
    stds = _noise_stds(first)
    inside: list[list[FloatArray]] = [[] for _ in center]
    for _ in range(n_refits):
        again = refit(first, data, first.histograms)
        # Each refit has its own band; every tenth is asked for it, others take the last one.
        if _ % 10 == 0:
            stds = _noise_stds(again)
        for k, curve in enumerate(_curves(again)):
            shown = ~first._fit.binned.counts[k].perhaps_nobody
            error = np.abs(curve - center[k])[shown]
            inside[k].append(error <= POINTWISE * stds[k][shown])
    return Coverage.of([np.stack(i) for i in inside], list(data.schema.feature_names))


def structure_coverage(data: Dataset, epsilon: float, n_refits: int, n_bands: int) -> Coverage:
    """Coverage of privacy and structure together, around the mean over noise and splits."""
    models = [refit(estimator(data, epsilon), data) for _ in range(n_refits)]
    names = list(data.schema.feature_names)
    inside: list[list[FloatArray]] = [[] for _ in names]
    # Grids differ from fit to fit, so curves meet at the values that occur.
    columns = models[0]._columns(data.X.iloc[:_ROWS])
    for k in range(len(names)):
        index = [m._terms.bins[k].index(columns[k]).astype(np.intp) for m in models]
        average = np.mean([_curves(m)[k][i] for m, i in zip(models, index, strict=True)], axis=0)
        for model, i in list(zip(models, index, strict=True))[:n_bands]:
            shape = model.explain_global().terms[k]
            people = np.bincount(i, minlength=shape.n_bins)
            sums = np.bincount(i, weights=average, minlength=shape.n_bins)
            shown = ~model._fit.binned.counts[k].perhaps_nobody & (people > 0)
            std = np.sqrt(shape.noise_std**2 + shape.structure_std**2)
            error = np.abs(shape.contribution - sums / np.maximum(people, 1))
            inside[k].append((error <= POINTWISE * std)[shown])
    return Coverage.of([np.concatenate(i) for i in inside], names)


def seconds_of_bands(data: Dataset, epsilon: float) -> float:
    """Return the CPU time of the noise model of one fit, the best of three."""
    model = estimator(data, epsilon).fit(data.X, data.y)
    times = []
    for _ in range(3):
        model.__dict__.pop("_noise", None)
        start = time.process_time()
        model.explain_global()
        times.append(time.process_time() - start)
    return min(times)


@dataclass
class TruthCheck:
    """Marks, ranks and signs compared with the functions behind the records."""

    power: float
    false_marks: float
    ranks_right: float
    signs_sure: float
    signs_right: float
    importance_bias: float


def against_truth(make: Any, epsilon: float, n_tables: int) -> TruthCheck:
    """Fit fresh tables, and compare each with the truth in its own bins.

    A mark is false if the true curve is zero (a feature without effect) or has the opposite
    sign. Power is the proportion of records in marked bins of features with an effect.
    Signs are sure if a local contribution is certain at the 95% level.
    """
    rows = []
    for seed in range(n_tables):
        data = make(seed)
        model = estimator(data, epsilon).fit(data.X, data.y)
        rows.append(_truth_row(model, data))
    means = pd.DataFrame(rows).sum()
    return TruthCheck(
        power=means.marked_people / means.people,
        false_marks=means.false_marks / max(means.marks, 1),
        ranks_right=means.ranks_right / means.ranks,
        signs_sure=means.sure / means.signs,
        signs_right=means.sure_right / max(means.sure, 1),
        importance_bias=means.corrected / means.true_importance - 1.0,
    )


def _truth_row(model: Any, data: Any) -> dict[str, float]:
    explanation = model.explain_global()
    truth = truth_in_bins(explanation, data.truth.shapes, data.X)
    without = set(data.truth.features_without_effect)
    row = dict.fromkeys(("marked_people", "people", "marks", "false_marks"), 0.0)
    for name, shape in explanation.items():
        n, marked = shape.n_value_bins, shape.signal[: shape.n_value_bins]
        right = shape.contribution[:n] * truth[name].contribution[:n] > 0
        row["marks"] += marked.sum()
        row["false_marks"] += marked.sum() if name in without else (marked & ~right).sum()
        if name not in without:
            row["marked_people"] += float(shape.weights[:n] @ marked)
            row["people"] += float(shape.weights[:n].sum())
    ranking = explanation.ranking()
    place = truth.importances().rank(ascending=False, method="first")
    lowest = truth.importances().rank(ascending=False, method="min")
    inside = [
        ranking.rank_low[n] <= place[n] <= ranking.rank_high[n]
        or ranking.rank_low[n] <= lowest[n] <= ranking.rank_high[n]
        for n in explanation
    ]
    local = model.explain_local(data.X.head(1000))
    index = [explanation[n].bin_index(data.X[n].head(1000)) for n in explanation]
    wanted = np.stack(
        [truth[n].contribution[i] for n, i in zip(explanation, index, strict=True)], 1
    )
    sure = local.sign_certainty >= 0.95
    sure_right = sure & (local.contributions * wanted > 0)
    effect = np.array([n not in without for n in explanation])
    return {
        **row,
        "ranks_right": float(np.sum(inside)),
        "ranks": float(len(inside)),
        "signs": float(sure[:, effect].size),
        "sure": float(sure[:, effect].sum()),
        "sure_right": float(sure_right[:, effect].sum()),
        "corrected": sum(explanation[n].corrected_importance for n in explanation),
        "true_importance": sum(truth[n].importance for n in truth),
    }


@dataclass
class NothingCheck:
    """Effects reported by fits to shuffled labels."""

    quiet: int
    runs: int
    floor_ratio: float


def shuffled(data: Dataset, epsilon: float, n_runs: int) -> NothingCheck:
    """Fit labels in random order, and count the fits that report nothing above noise."""
    quiet, seen, floors = 0, 0.0, 0.0
    for seed in range(n_runs):
        y = data.y.sample(frac=1.0, random_state=seed).to_numpy()
        explanation = estimator(data, epsilon).fit(data.X, y).explain_global()
        quiet += explanation.terms_above_noise == ()
        seen += sum(shape.importance for shape in explanation.values())
        floors += sum(shape.noise_floor for shape in explanation.values())
    return NothingCheck(quiet, n_runs, seen / floors)


@dataclass
class DenoisingCheck:
    """Released curves, and the same curves denoised."""

    metric: str
    released: float
    denoised: float
    relative_distance: float
    relative_distance_denoised: float


def denoising(data: Dataset, reference: Any, epsilon: float, n_splits: int) -> DenoisingCheck:
    """Score held-out rows with both, and compare both with a reference fitted to all rows."""
    rows = []
    for train, test in splits(len(data.X), n_splits):
        model = estimator(data, epsilon).fit(data.X.iloc[train], data.y.iloc[train])
        explanation = model.explain_global()
        both = (explanation, denoised(explanation))
        X, y = data.X.iloc[test], data.y.iloc[test]
        scores = [_held_out(model, e, X, y) for e in both]
        distances = [faithfulness(e, reference).relative_distance for e in both]
        rows.append([*scores, *distances])
    means = np.mean(rows, axis=0)
    metric = "AUROC" if hasattr(model, "classes_") else "RMSE"
    return DenoisingCheck(metric, *map(float, means))


def _held_out(model: Any, explanation: GlobalExplanation, X: pd.DataFrame, y: pd.Series) -> float:
    parts = np.stack([shape.evaluate(X[name]) for name, shape in explanation.items()], axis=1)
    scores = total_score(parts, explanation.intercept)
    if hasattr(model, "classes_"):
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(y.to_numpy() == model.classes_[1], scores))
    return float(np.sqrt(np.mean((y.to_numpy(dtype=float) - scores) ** 2)))
