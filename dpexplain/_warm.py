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

import dpexplain.models as models
from dpexplain.models.registry import MODELS
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
    targets = {
        "classes": ((for_classes, classes), (for_wards, wards)),
        "range": ((for_numbers, X["age"]),),
    }
    for name, listed in MODELS.items():
        for settings in listed.warm:
            for schema, y in targets[listed.target]:
                _warm_one(getattr(models, name)(schema=schema, **settings), X, y)


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
