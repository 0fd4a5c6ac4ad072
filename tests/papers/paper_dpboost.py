"""Studies of Li, Wu, Wen and He, AAAI 2020."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dpboost_claims
from dpboost_claims import FROM_FILES
from dpexplain import DPBoostClassifier, DPBoostRegressor
from file_data import is_here
from sources import LI as PAPER
from study import Cell, Row, Study
from trees_measured import (
    Dataset,
    error,
    fitted,
    folds,
    has_classes,
    metric,
    positive,
    score,
    staged_scores,
    table,
)

DATA = ("abalone", "adult", "synthetic_cls", "synthetic_reg")
EPSILONS = (1, 2, 4, 6, 8, 10)
VARIANTS = {"DPBoost": "ensemble", "SEQ": "seq", "PARA": "para"}
N_FOLDS = 5
N_TIMED = 5
_PROTOCOL = (
    "Public grid of 32 cells; bounds of adult from public documentation, except those of fnlwgt "
    "and capital-loss, of simulated features -5 and 5, else rounded outward from the full data; "
    "depth 6, lambda 0.1, learning rate 0.1 unless stated (the paper's text says 0.01), square "
    "loss unless stated, also for classes -1 and 1, add/remove, delta 0. Adult has its 14 columns "
    "instead of 123 of zeros and ones. Simulations by scikit-learn with 50,000 rows and 100 "
    "features instead of 1,000,000 and 400, for memory and time. No "
    "package that we found ships covtype, SUSY, cod-rna, webdata or YearPredictionMSD: they are "
    "public, and belong to the studies where their files are; the 20,958 sparse columns of "
    "real-sim do not fit our tables. For the guarantee, and unlike the paper, records are "
    "assigned to the trees of an ensemble by independent draws, and splits come from the public "
    "grid. "
)


_NP = (
    "NP is our algorithm without noise, filtering and clipping of leaves, each tree on all "
    "records; the paper's is vanilla GBDT. "
)
_FOLDS = (
    "Five-fold cross-validation, as in the paper; the column n says how many of the folds are in "
    "a row."
)


def _names() -> list[str]:
    """Return the data sets of the studies, including those read from files if present."""
    return [*DATA, *(name for name in FROM_FILES if is_here(name))]


def _model(data: Dataset, epsilon: float | None, name: str = "DPBoost", **settings: Any) -> Any:
    """Return one of the paper's models; NP, without noise, if epsilon is None."""
    if has_classes(data):
        settings = {"loss": "square"} | settings
    make = DPBoostClassifier if has_classes(data) else DPBoostRegressor
    model = make(
        epsilon or 1.0,
        schema=data.schema,
        variant=VARIANTS.get(name, "ensemble"),
        allow_weak=True,
        **settings,
    )
    return model if epsilon else model.reference_estimator()


def _chosen_folds(data: Dataset, fast: bool) -> list[Any]:
    """Return all folds, or one in a fast run."""
    return list(folds(data, N_FOLDS))[: 1 if fast else None]


# --- figure 2: test error over epsilon ----------------------------------------------------------


def _error_cells(fast: bool) -> list[Cell]:
    epsilons: Sequence[float | None] = (None, 10) if fast else (None, *EPSILONS)
    names = DATA if fast else _names()
    return [{"name": name, "epsilon": e, "fast": fast} for name in names for e in epsilons]


def _measure_error(name: str, epsilon: float | None, fast: bool) -> list[Row]:
    data = table(name, fast)
    models: dict[str, dict[str, Any]] = {"NP": {}}
    if epsilon:
        models = {n: {} for n in VARIANTS}
        models["DPBoost, learning rate 0.01"] = {"learning_rate": 0.01}
        if has_classes(data):
            models["DPBoost, logistic loss"] = {"loss": "logistic"}
    rows = []
    for model_name, settings in models.items():
        for repeat, (train, test) in enumerate(_chosen_folds(data, fast)):
            model = _model(data, epsilon, model_name, **settings)
            seconds = fitted(model, data, train)
            found = error(score(model, data.X.iloc[test]), data, test)
            rows.append(_row(data, epsilon, model_name, repeat, found, seconds))
    return rows


def _row(
    data: Dataset, epsilon: float | None, model: str, repeat: int, value: float, seconds: float
) -> Row:
    return {
        "data": data.name,
        "epsilon": epsilon,
        "model": model,
        "metric": metric(data),
        "repeat": repeat,
        "value": value,
        "cpu_s": seconds,
    }


# --- figures 5 and 6: fewer trees ----------------------------------------------------------------


def _size_cells(fast: bool) -> list[Cell]:
    names, epsilons = (DATA[:1], (10,)) if fast else (_names(), (None, *EPSILONS))
    return [
        {"name": name, "epsilon": e, "n_trees": n, "fast": fast}
        for name in names
        for n in (20, 40)
        for e in epsilons
    ]


def _measure_sizes(name: str, epsilon: float | None, n_trees: int, fast: bool) -> list[Row]:
    """Measure the error of one ensemble of fewer than 50 trees, or of as many without noise."""
    data, rows = table(name, fast), []
    settings = {"n_trees": n_trees, "trees_per_ensemble": n_trees}
    for model_name in VARIANTS if epsilon else ("NP",):
        for repeat, (train, test) in enumerate(_chosen_folds(data, fast)):
            model = _model(data, epsilon, model_name, **settings)
            seconds = fitted(model, data, train)
            found = error(score(model, data.X.iloc[test]), data, test)
            row = _row(data, epsilon, model_name, repeat, found, seconds)
            rows.append(row | {"n_trees": n_trees})
    return rows


# --- figure 3: convergence, and trees per ensemble -----------------------------------------------


def _convergence_cells(fast: bool) -> list[Cell]:
    models = ["DPBoost", "SEQ", "PARA", "NP"]
    cells: list[Cell] = []
    for name in DATA if fast else _names():
        n_trees = 100 if fast or name.startswith("synthetic") else 1000
        for model in models:
            for size in (20, 40, 50) if model != "NP" else (50,):
                common = {"name": name, "model": model, "trees_per_ensemble": size}
                cells.append({**common, "n_trees": n_trees, "fast": fast})
    return cells


def _measure_convergence(
    name: str, model: str, trees_per_ensemble: int, n_trees: int, fast: bool
) -> list[Row]:
    """Measure the error after each ensemble of one fit per fold, each with epsilon 5."""
    data, rows = table(name, fast), []
    n_trees -= n_trees % trees_per_ensemble
    epsilon = None if model == "NP" else 5.0 * (n_trees // trees_per_ensemble)
    for repeat, (train, test) in enumerate(_chosen_folds(data, fast)):
        settings = {"n_trees": n_trees, "trees_per_ensemble": trees_per_ensemble}
        estimator = _model(data, epsilon, model, **settings)
        seconds = fitted(estimator, data, train)
        for t, scores in enumerate(staged_scores(estimator, data.X.iloc[test]), 1):
            if t % trees_per_ensemble == 0:
                found = error(scores, data, test)
                row = _row(data, epsilon and 5.0, model, repeat, found, seconds)
                rows.append(row | {"trees_per_ensemble": trees_per_ensemble, "n_trees": t})
    return rows


# --- figure 4 and table 3: leaf clipping and filtering -------------------------------------------

_EFFECTS = {
    "GLC and GDF": {},
    "GDF only": {"leaf_clipping": "none"},
    "GLC only": {"filtering": "clip"},
    "neither": {"leaf_clipping": "none", "filtering": "clip"},
}


def _effect_cells(fast: bool) -> list[Cell]:
    epsilons = (4,) if fast else (1, 4, 10)
    return [
        {"name": name, "epsilon": e, "n_trees": n, "fast": fast}
        for name in (DATA if fast else _names())
        for e in epsilons
        for n in ((50, 200) if name == "abalone" or fast else (50,))
    ]


def _measure_effects(name: str, epsilon: float, n_trees: int, fast: bool) -> list[Row]:
    """Measure the error with and without each technique, and the proportion filtered.

    Two hundred trees are four ensembles, each with epsilon. The proportion is a diagnostic of
    public data: no private fit shows it.
    """
    data, rows = table(name, fast), []
    for model_name, settings in _EFFECTS.items():
        for repeat, (train, test) in enumerate(_chosen_folds(data, fast)):
            model = _model(data, epsilon * (n_trees // 50), n_trees=n_trees, **settings)
            seconds = fitted(model, data, train)
            found = error(score(model, data.X.iloc[test]), data, test)
            row = _row(data, epsilon, model_name, repeat, found, seconds)
            rows.append(row | {"n_trees": n_trees})
            if settings.get("filtering") != "clip":
                share = {"metric": "share filtered", "value": _share_filtered(model, data, train)}
                rows.append(rows[-1] | share)
    return rows


def _share_filtered(model: Any, data: Dataset, train: Any) -> float:
    """Return the proportion of records beyond the gradient bound, weighted by tree."""
    target = data.schema.target
    if has_classes(data):
        y, unit, offset = np.where(positive(data), 1.0, -1.0)[train], 2.0, 0.0
    else:
        unit, offset = (target.high - target.low) / 2, (target.high + target.low) / 2
        y = (np.asarray(data.y, dtype=float)[train] - offset) / unit
    before, shares = np.zeros(len(train)), []
    for scores in staged_scores(model, data.X.iloc[train]):
        shares.append(np.mean(np.abs(before - y) > 1.0))
        before = (scores - offset) / unit
    k = np.arange(len(shares)) % model.trees_per_ensemble
    return float(np.average(shares, weights=(1.0 - model.learning_rate) ** k))


# --- table 2: seconds per tree -------------------------------------------------------------------


def _time_cells(fast: bool) -> list[Cell]:
    return [{"name": name, "fast": fast} for name in (DATA if fast else _names())]


def _measure_time(name: str, fast: bool) -> list[Row]:
    data, rows = table(name, fast), []
    train = np.arange(len(data.X))
    for model_name, epsilon, variant in (
        ("DPBoost", 4.0, "DPBoost"),
        ("SEQ", 4.0, "SEQ"),
        ("NP", None, "NP"),
    ):
        fitted(_model(data, epsilon, variant, n_trees=2), data, train[:500])  # compiled by now
        for repeat in range(1 if fast else N_TIMED):
            seconds = fitted(_model(data, epsilon, variant), data, train)
            row = _row(data, epsilon, model_name, repeat, seconds / 50, seconds)
            rows.append(row | {"metric": "seconds per tree"})
    return rows


_SECONDS = {
    "adult": (0.019, 0.007),
    "covtype": (0.085, 0.044),
    "susy": (0.38, 0.32),
    "cod_rna": (0.016, 0.009),
    "webdata": (0.032, 0.013),
    "synthetic_cls": (1.00, 0.36),
    "abalone": (2.95, 2.85),
    "year_prediction": (0.38, 0.12),
    "synthetic_reg": (0.96, 0.36),
}
_OTHER = "another machine and implementation"
_WHY_TIME = dict.fromkeys(FROM_FILES, _OTHER) | {
    "adult": f"{_OTHER}; 14 columns instead of 123",
    "abalone": "the paper's seconds are 155 times (DPBoost) and 407 times (NP) those of adult, "
    "which has 7.8 times as many rows: we take them to be a misprint",
    "synthetic_cls": f"80 times fewer cells; {_OTHER}",
    "synthetic_reg": f"80 times fewer cells; {_OTHER}",
}
_WHY_SHARE = (
    "not settled: the share depends on epsilon, and the paper does not say at which epsilon and "
    "for which trees it counted"
)
_SHARES = {"abalone": 0.0144, "year_prediction": 0.0806, "synthetic_reg": 0.0}


STUDIES: tuple[Study, ...] = (
    Study(
        name="dpboost_error",
        paper=PAPER,
        shows="figure 2: test error and RMSE over epsilon, 50 trees",
        protocol=_PROTOCOL + _NP + _FOLDS,
        cells=_error_cells,
        measure=_measure_error,
    ),
    Study(
        name="dpboost_sizes",
        paper=PAPER,
        shows="figures 5 and 6: test error and RMSE over epsilon, 20 and 40 trees",
        protocol=_PROTOCOL + _NP + "One ensemble. " + _FOLDS,
        cells=_size_cells,
        measure=_measure_sizes,
    ),
    Study(
        name="dpboost_convergence",
        paper=PAPER,
        shows="figures 3, 7 and 8: error over the number of trees, with 50, 20 and 40 trees per "
        "ensemble",
        protocol=_PROTOCOL
        + _NP
        + "Epsilon 5 for each ensemble; SEQ and PARA spend as much on as many trees; "
        "PARA, too, starts anew with all records in each ensemble, where the paper's has fewer and "
        "fewer records left. Up to 1,000 "
        "trees as the caption of figure 3 says, not 5,000 as its text; on simulations 100, with "
        "40 per ensemble 80. "
        f"Of the five data sets in figure 3, only adult is here. {_FOLDS}",
        cells=_convergence_cells,
        measure=_measure_convergence,
    ),
    Study(
        name="dpboost_effects",
        paper=PAPER,
        shows="figure 4, table 3: geometric leaf clipping (GLC), gradient-based filtering (GDF)",
        protocol=_PROTOCOL
        + "Without GDF gradients beyond the bound count with the bound, which is equally private; "
        "without GLC leaves are within 1. Fifty trees, and 200 in four ensembles of epsilon "
        "each (abalone only). Share filtered: of all training records, those whose gradient is "
        "beyond the bound before a tree is grown; the mean over trees, weighted by the share of "
        "the records that a tree gets on average; not private. We take sklearn_reg, a row of table "
        "3, for synthetic_reg. "
        f"{_FOLDS}",
        cells=_effect_cells,
        measure=_measure_effects,
        published=[
            {"data": name, "metric": "share filtered", "published": share}
            for name, share in _SHARES.items()
        ],
        causes=[
            {"data": name, "metric": "share filtered", "cause": _WHY_SHARE} for name in _SHARES
        ],
    ),
    Study(
        name="dpboost_time",
        paper=PAPER,
        shows="table 2: training time per tree",
        protocol=_PROTOCOL + _NP + "CPU seconds of a fit of 50 trees to all rows, divided by 50, "
        "DPBoost at epsilon 4; one thread of an Intel Xeon. The paper has the setting of figure 3 "
        "(up to 5,000 trees, epsilon 5 per ensemble) and a processor of ten cores.",
        cells=_time_cells,
        measure=_measure_time,
        published=[
            {"data": name, "model": model, "published": seconds}
            for name, pair in _SECONDS.items()
            for model, seconds in zip(("DPBoost", "NP"), pair, strict=True)
        ],
        causes=[
            {"data": name, "model": model, "cause": why}
            for name, why in _WHY_TIME.items()
            for model in ("DPBoost", "NP")
        ],
    ),
)

CLAIMS = dpboost_claims.CLAIMS
