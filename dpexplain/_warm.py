"""Compile the numeric kernels and fill caches before the first session.

Run as ``python -m dpexplain._warm`` once after installation. It fits every model on a few
simulated rows, so the compiled kernels are on disk when real data come, and imports what the
notebooks draw with.
"""

from __future__ import annotations

import importlib.util
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpexplain.models import (
    DPBoostClassifier,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    DPLinearRegression,
    DPLocallyLinearClassifier,
    DPLogisticRegression,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    LocallyLinearClassifier,
)
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from dpexplain.tables import read_texts

N_ROWS = 50
# Imported for what they build on first import: bytecode, font lists.
SLOW_IMPORTS = (
    "dpexplain.plotting",
    "dpexplain_widgets",
    "matplotlib.font_manager",
    "matplotlib.pyplot",
    "statsmodels.datasets",
)


def simulated_rows() -> pd.DataFrame:
    """Simulate rows with one numeric and one categorical feature."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": rng.uniform(20, 60, N_ROWS), "job": rng.choice(["clerk", "nurse"], N_ROWS)}
    )


def warm_models() -> None:
    """Fit, explain and predict once with each model."""
    features: dict[str, Numeric | Categorical] = {
        "age": Numeric(18, 70),
        "job": Categorical(["clerk", "nurse"]),
    }
    X = simulated_rows()
    above = (X["age"] > 40).to_numpy()
    classes = pd.Series(np.where(above, "yes", "no"))
    for_classes = Schema(features, target=Classes(["no", "yes"]))
    for_numbers = Schema(features, target=Range(0, 100))
    wards = pd.Series(np.where(above, "A", np.where(X["job"] == "nurse", "B", "C")))
    for_wards = Schema(features, target=Classes(["A", "B", "C"]))
    for classifier in (
        ExplainableBoostingClassifier,
        DPExplainableBoostingClassifier,
        DPLogisticRegression,
        DPBoostClassifier,  # compiles what all trees need
    ):
        _warm_one(classifier(schema=for_classes), X, classes)
        _warm_one(classifier(schema=for_wards), X, wards)
    quick = DPLocallyLinearClassifier(schema=for_classes, n_steps=2, composition="rdp")
    _warm_one(quick, X, classes)
    _warm_one(LocallyLinearClassifier(schema=for_classes, max_epochs=2), X, classes)
    for regressor in (ExplainableBoostingRegressor, DPExplainableBoostingRegressor):
        _warm_one(regressor(schema=for_numbers), X, X["age"])
        _warm_one(regressor(schema=for_numbers, objective="poisson"), X, X["age"])
    _warm_one(DPLinearRegression(schema=for_numbers), X, X["age"])


def warm_reader() -> None:
    """Read a table of two lines from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("age,job\n44,nurse\n", encoding="utf-8")
        read_texts(path)


def warm_imports() -> None:
    """Import what notebooks use, if it is installed."""
    for name in SLOW_IMPORTS:
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            import_module(name)


def _warm_one(model: Any, X: pd.DataFrame, y: pd.Series) -> None:
    fitted = model.fit(X, y)
    fitted.explain_global()
    fitted.explain_local(X)
    fitted.predict(X)


def main() -> None:
    """Warm all caches and print a note, because the first run is slow."""
    print("Compiling numeric kernels (once) ...", flush=True)
    warm_models()
    warm_reader()
    warm_imports()


if __name__ == "__main__":
    main()
