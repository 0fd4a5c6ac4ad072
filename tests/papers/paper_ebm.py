"""Tables 2 and 3 of Nori et al., ICML 2021, arXiv:2106.09680."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from bench_data import TABLES, splits
from bench_measure import metric, score
from bench_models import DEFAULT, PAPER, REFERENCE, Budget
from published import (
    BIN_SHARE,
    BY_DATASET,
    DELTA,
    EPSILONS,
    GDP,
    LEARNING_RATE,
    N_EPOCHS,
    N_SPLITS,
)

import ebm_claims
from dpexplain import Categorical, Classes, Range, Schema, models
from dpexplain.accounting import gdp_noise_multiplier
from dpexplain.datasets import Dataset
from file_data import add_to_tables, is_here
from sources import NORI as PAPER_NAME
from study import Cell, Row, Study

DATA = ("adult", "telco", "california", "elevators", "pol", "wine", "wine-distinct")
FROM_FILES = ("credit_fraud",)
FAST_EPSILONS = (1.0,)

add_to_tables()


def names(fast: bool) -> list[str]:
    """Return the data sets of the tables, including those read from files if present."""
    return [*DATA, *(name for name in FROM_FILES if not fast and is_here(name))]


# --- models ----------------------------------------------------------------------------------


def _classic(schema: Schema, budget: Budget) -> Any:
    return PAPER.make(schema, budget).set_params(composition="classic")


def _dpboost(schema: Schema, budget: Budget) -> Any:
    if isinstance(schema.target, Classes):
        return models.DPBoostClassifier(budget.epsilon, schema=schema, loss="square")
    return models.DPBoostRegressor(budget.epsilon, schema=schema)


def _linear(schema: Schema, budget: Budget) -> Any:
    kind = "Logistic" if isinstance(schema.target, Classes) else "Linear"
    estimator = getattr(models, f"DP{kind}Regression")
    return estimator(budget.epsilon, budget.delta, schema=schema)


def _trees(schema: Schema, budget: Budget) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    words = [n for n, f in schema.features.items() if isinstance(f, Categorical)]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    places = list(range(len(words)))  # the encoded columns come first
    classes = isinstance(schema.target, Classes)
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return make_pipeline(
        make_column_transformer((codes, words), remainder="passthrough"),
        kind(categorical_features=places or None, random_state=0),
    )


PRIVATE: dict[str, Callable[[Schema, Budget], Any]] = {
    "DP-EBM, GDP": PAPER.make,
    "DP-EBM, classic": _classic,
    "DP-EBM, default recipe": DEFAULT.make,
    "DPBoost": _dpboost,
    "linear, prepared": _linear,
}
NOT_PRIVATE: dict[str, Callable[[Schema, Budget], Any]] = {
    "EBM": REFERENCE.make,
    "gradient boosting": _trees,
}
WITH_TWIN = ("DPBoost", "linear, prepared")


def estimator(model: str, schema: Schema, epsilon: float | None) -> Any:
    """Return an unfitted model of the tables; the non-private one if epsilon is None."""
    if model in NOT_PRIVATE:
        return NOT_PRIVATE[model](schema, Budget(1.0, DELTA))
    made = PRIVATE[model](schema, Budget(epsilon or 1.0, DELTA))
    return made if epsilon else made.reference_estimator()


# --- measuring -------------------------------------------------------------------------------


@cache
def loaded(data: str) -> Dataset:
    """Load a data set, once per process."""
    return TABLES[data].load()


def measure(data: str, model: str, epsilon: float | None, n_splits: int) -> list[Row]:
    """Score a model on the test parts of random splits."""
    dataset = loaded(data)
    schema = dataset.schema
    setting = {"data": data, "model": model, "metric": metric(schema), "epsilon": epsilon}
    return [
        setting | {"repeat": repeat} | scored(estimator(model, schema, epsilon), dataset, split)
        for repeat, split in enumerate(splits(len(dataset.X), n_splits))
    ]


def scored(model: Any, dataset: Dataset, split: Sequence[Any]) -> Row:
    """Return the score and CPU seconds of a fit on one split."""
    train, test = split
    X, y = dataset.X.iloc[train], dataset.y.iloc[train]
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    value = score(model, dataset.X.iloc[test], dataset.y.iloc[test], dataset.schema)
    return {"value": value, "cpu_s": seconds}


def table_cells(fast: bool) -> list[Cell]:
    """Return a cell per data set, model and epsilon."""
    return [
        {"data": data, "model": model, "epsilon": epsilon}
        | {"n_splits": (2 if epsilon else 1) if fast else N_SPLITS}
        for data in names(fast)
        for model, epsilons in _settings(fast)
        for epsilon in epsilons
    ]


def _settings(fast: bool) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    private = FAST_EPSILONS if fast else EPSILONS
    for model in PRIVATE:
        yield model, (*private, None) if model in WITH_TWIN else private
    for model in NOT_PRIVATE:
        yield model, (None,)


def published_rows(model_of: Callable[[str, bool], str | None]) -> list[Row]:
    """Return the published figures of the named models.

    Parameters
    ----------
    model_of : callable
        From the paper's name of a model ("DP-EBM, GDP", "DP-EBM, classic", "DPBoost", "linear")
        and whether it is private to its name here, or None.
    """
    rows = []
    for data in (*DATA, *FROM_FILES):
        known = BY_DATASET["wine" if data == "wine-distinct" else data]
        for model, figures in known.figures.items():
            for epsilon, (mean, sd) in zip((*EPSILONS, None), figures, strict=True):
                name = model_of(model, epsilon is not None)
                if name:
                    row = {"data": data, "model": name, "epsilon": epsilon}
                    rows.append(row | {"published": mean, "published_sd": sd or LEAST_SD})
    return rows


def _ours(model: str, private: bool) -> str | None:
    if private:
        return model if model in PRIVATE else None
    return {GDP: "EBM", "DPBoost": "gradient boosting"}.get(model)


# A standard deviation printed as 0.000 is half a unit of its last digit at most.
LEAST_SD = 0.0005


# --- noise of the regressions ----------------------------------------------------------------


def measure_noise(data: str, epsilon: float) -> list[Row]:
    """Measure the noise of one step on a leaf: in our fit, and by the paper's formula."""
    dataset = loaded(data)
    target = dataset.schema.target
    assert isinstance(target, Range)
    start = time.process_time()
    model = estimator("DP-EBM, GDP", dataset.schema, epsilon).fit(dataset.X, dataset.y)
    seconds = time.process_time() - start
    sigma = gdp_noise_multiplier(
        N_EPOCHS * dataset.X.shape[1], (1.0 - BIN_SHARE) * epsilon, DELTA / 2.0
    )
    values = {
        "ours": float(model.learning_rate_ * model.leaf_noise_std_),
        "paper's formula": sigma * LEARNING_RATE * (target.high - target.low),
    }
    return [
        {"data": data, "model": name, "metric": "noise", "epsilon": epsilon}
        | {"repeat": 0, "value": value, "cpu_s": seconds}
        for name, value in values.items()
    ]


def noise_cells(fast: bool) -> list[Cell]:
    """Return a cell per regression and epsilon."""
    epsilons = FAST_EPSILONS if fast else EPSILONS
    return [{"data": d, "epsilon": e} for d in ("california", "wine") for e in epsilons]


# --- studies ---------------------------------------------------------------------------------

TABLES_PROTOCOL = f"""{N_SPLITS} random 80/20 splits, AUROC or RMSE on the test parts. A figure
agrees if it lies within two of the paper's own standard deviations of the published mean, and
within a factor of two. Delta 1e-6, 0 for DPBoost; add/remove adjacency; bounds and categories from
public documentation, or rounded outward from the data where we found none (all of elevators and
pol, some of adult, California and telco). DP-EBM GDP and classic: {N_EPOCHS} epochs, learning rate
{LEARNING_RATE:g}, 3 leaves, 32 bins, {100 * BIN_SHARE:.0f}% of epsilon to the bins, composed by
Gaussian DP or by strong composition (the paper's theorem 2, from Kairouz et al.). DPBoost: square
loss, 50 trees in one ensemble, depth 6, learning rate 0.1, lambda 0.1; of its settings the paper
prints only the leaves of a tree, up to 31. The paper's non-private DPBoost is LightGBM;
scikit-learn's histogram gradient boosting is listed next to it, and so is our DPBoost without
noise. Linear, prepared: the logistic or linear regression of this library; ebm_diffprivlib has
those of diffprivlib. Nothing is tuned per data set. Wine has 6,497 rows here, 5,318 of them
distinct (wine-distinct), and 5,297 in the paper; California has 20,640 here and 20,499 in the
paper; elevators 16,599 and 16,598; pol has 48 features here, 49 in the paper. A deviation printed
as 0.000 counts as 0.0005. The CPU seconds are from more than one machine. Not measured: the
healthcare records, which are not public; and credit-fraud, which is public but in no package that
we found: a run measures it where its file is."""
NOISE_PROTOCOL = """The paper's noise on a leaf's sum, sigma * eta * R with R the width of the
target's range, belongs to residuals that are not clipped, and covers a change of one target value
only. Ours starts at the middle of the range and clips residuals to c = R/2: sigma * eta * c covers
one record more or less. Both in units of the target, one fit each on all rows."""
_HALF_NOISE = (
    "probably half the noise on a leaf's sum (ebm_noise): residuals are clipped to half the range "
    "of the target, which covers one record; the paper's noise follows the whole range; not "
    "measured apart, and california, with half the noise too, agrees"
)
_COPIES = (
    "no record has a copy in the test part; where some have (wine), boosted trees agree, as if the "
    "paper's rows held copies, but their number, 5,297, is nearly that of the distinct ones, 5,318"
)
_NO_PAIRS = (
    "not settled: ours has only curves of single features, as the paper's text says; the paper's "
    "figure lies between these and its boosted trees, as if pairs of features had been added"
)
_MORE_LEAVES = (
    "not settled; perhaps more leaves: a tree has 64 here, up to 31 in the paper, which prints no "
    "other setting"
)
_MORE_NOISE = (
    "not settled: ours has the noise of the paper's formula (3), which is more than twice that of "
    "Gaussian DP; the published figures are nearer to the published ones of Gaussian DP than ours "
    "are"
)
_LEVELS_OFF = (
    "not settled: the published error levels off above that of a constant prediction, ours keeps "
    "falling as epsilon grows"
)
_STOPPED = (
    "not settled; perhaps the paper's EBM stopped early: its error without privacy is that of "
    "DP-EBM with Gaussian DP at epsilon 4 and 8, and a tolerance in absolute squared error is "
    "large for a target of this small scale"
)
CAUSES: list[Row] = [
    {"data": "elevators", "model": "EBM", "cause": _STOPPED},
    *(
        {"data": data, "model": f"DP-EBM, {way}", "cause": _HALF_NOISE}
        for data in ("wine", "wine-distinct", "elevators")
        for way in ("GDP", "classic")
    ),
    *(
        {"data": data, "model": "DPBoost", "cause": _MORE_LEAVES}
        for data in ("telco", "wine", "wine-distinct")
    ),
    {"data": "pol", "model": "DP-EBM, classic", "cause": _MORE_NOISE},
    {"data": "pol", "model": "DPBoost", "cause": _LEVELS_OFF},
    *({"data": data, "model": "EBM", "cause": _NO_PAIRS} for data in ("california", "pol")),
    {"data": "wine", "model": "EBM", "cause": _NO_PAIRS},
    {"data": "wine-distinct", "model": "EBM", "cause": f"{_NO_PAIRS}; {_COPIES}"},
    {"data": "wine-distinct", "model": "gradient boosting", "cause": _COPIES},
]
STUDIES = (
    Study(
        name="ebm_tables",
        paper=PAPER_NAME,
        shows="tables 2 and 3: accuracy of DP-EBM and of the models to compare with",
        protocol=TABLES_PROTOCOL.replace("\n", " "),
        cells=table_cells,
        measure=measure,
        published=published_rows(_ours),
        causes=CAUSES,
    ),
    Study(
        name="ebm_noise",
        paper=PAPER_NAME,
        shows="what the regressions of table 3 add to the sum of a leaf, ours and by the paper",
        protocol=NOISE_PROTOCOL.replace("\n", " ") + " California and wine only.",
        cells=noise_cells,
        measure=measure_noise,
    ),
)

CLAIMS = ebm_claims.CLAIMS
