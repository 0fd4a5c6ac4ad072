"""Parkinson and Phishing, which the slides of 2025 add; they need files."""

from __future__ import annotations

from typing import Any

from bench_data import splits
from published import DELTA

import paper_ebm
import paper_ebm_teaching as teaching
from dpexplain import DPRandomForestClassifier
from file_data import is_here
from slides_claims import NEW_DATA, NEW_EPSILONS, NEW_TABLES
from sources import SLIDES
from study import Cell, Row, Study

N_SPLITS = 10
FOREST = "random forest"
LINEAR = "linear, prepared"


def missing() -> str:
    """Name the files that are missing."""
    if any(map(is_here, NEW_TABLES)):
        return ""
    return " or ".join(f"the file of {name}" for name in NEW_TABLES)


def cells(fast: bool) -> list[Cell]:
    """Return a cell per data set, model and epsilon; forests are for classes only."""
    return [
        {"data": data, "model": model, "epsilon": epsilon, "n_splits": 1 if fast else N_SPLITS}
        for data, printed in NEW_TABLES.items()
        if is_here(data)
        for model in printed
        for epsilon in ((2.0,) if fast else NEW_EPSILONS)
    ]


def measure(data: str, model: str, epsilon: float, n_splits: int) -> list[Row]:
    """Measure the AUROC or RMSE of a model on the test parts of random splits."""
    if model == teaching.TAUGHT:
        steps = teaching.STEPS[0]
        rows = teaching.measure(data, model, *steps, n_splits, epsilon)
        kept = ("data", "model", "epsilon", "metric", "repeat", "value", "cpu_s")
        return [{k: row[k] for k in kept} for row in rows if row["metric"] == "AUROC"]
    if model != FOREST:
        return paper_ebm.measure(data, model, epsilon, n_splits)
    dataset = paper_ebm.loaded(data)
    setting = {"data": data, "model": model, "metric": "AUROC", "epsilon": epsilon}
    make: Any = DPRandomForestClassifier
    return [
        setting
        | {"repeat": repeat}
        | paper_ebm.scored(make(epsilon, schema=dataset.schema), dataset, split)
        for repeat, split in enumerate(splits(len(dataset.X), n_splits))
    ]


STUDIES = (
    Study(
        name=NEW_DATA,
        paper=SLIDES,
        shows="tables of Parkinson and Phishing: DP-EBM and other models on two more data sets",
        protocol=f"{N_SPLITS} random 80/20 splits, delta {DELTA:g}; the slides name neither. "
        "Models as in ebm_tables; forests of this library instead of an unnamed one; the teaching "
        "variant, which is NOT PRIVATE, as in ebm_teaching and for classes only: it predicts "
        "probabilities, and the slides do not say how theirs predicts a number. Bounds are "
        "rounded outward from the data. Parkinson has 19 features and one of two scores as its "
        "target; the slides do not say which.",
        cells=cells,
        measure=measure,
        published=[
            {"data": data, "model": model, "epsilon": epsilon, "published": mean}
            | {"published_sd": sd}
            for data, printed in NEW_TABLES.items()
            for model, figures in printed.items()
            for epsilon, (mean, sd) in zip(NEW_EPSILONS, figures, strict=True)
        ],
        missing=missing,
    ),
)
