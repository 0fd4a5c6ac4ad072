"""Compile the numeric kernels in advance, for the command ``dpexplain warm``.

Models are fitted to a few simulated rows, so that the compiled kernels are cached on disk before
the first real fit. Packages that notebooks use are imported, because their first import is slow.
Models that share kernels are fitted one after another in the same process.
"""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, cpu_count, delayed
from tqdm.auto import tqdm

import dpexplain.models as models
from dpexplain._utils.compiling import PROGRESS, Kernel
from dpexplain.models.registry import MODELS
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from dpexplain.tables import read_texts

N_ROWS = 600  # features with more than 256 bins use different kernels from the others
WIDE = ("age", "height", "weight")
QUICK = (
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "ExplainableBoostingClassifier",  # the reference of a sweep
)
# The first import of these is slow, because it writes bytecode and lists of fonts.
SLOW_IMPORTS = (
    "dpexplain.plotting",
    "dpexplain_widgets",
    "matplotlib.font_manager",
    "matplotlib.pyplot",
)


def simulated_rows() -> pd.DataFrame:
    """Simulate rows with three numeric and two categorical features."""
    rng = np.random.default_rng(0)
    numbers = {name: rng.uniform(20, 60, N_ROWS) for name in WIDE}
    jobs, sexes = rng.choice(["clerk", "nurse"], N_ROWS), rng.choice(["f", "m"], N_ROWS)
    return pd.DataFrame({**numbers, "job": jobs, "sex": sexes})


def warm_model(name: str, *, quick: bool = False) -> None:
    """Fit, explain and predict once with each set of kernels that a model uses.

    Parameters
    ----------
    name : str
        Class name of the model.
    quick : bool, default=False
        Whether to use only default settings and at most two classes.
    """
    features: dict[str, Numeric | Categorical] = {
        **{name: Numeric(18, 70) for name in WIDE},
        "job": Categorical(["clerk", "nurse"]),
        "sex": Categorical(["f", "m"]),
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
    listed = MODELS[name]
    # Models of more than two classes have no pairs.
    ways = [
        (settings, (schema, y))
        for settings in listed.warm
        for schema, y in targets[listed.target]
        if schema is not for_wards or not settings.get("pairs")
    ]
    for settings, (schema, y) in ways[:1] if quick else ways:
        _warm_one(getattr(models, name)(schema=schema, **settings), X, y)


def warm_reader() -> None:
    """Read a small table from a text file, to compile the reader's kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("age,job\n44,nurse\n", encoding="utf-8")
        read_texts(path)


def warm_imports() -> None:
    """Import the packages that notebooks use, if they are installed."""
    for name in SLOW_IMPORTS:
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            import_module(name)


def _warm_one(model: Any, X: pd.DataFrame, y: pd.Series) -> None:
    fitted = model.fit(X, y)
    fitted.explain_global()
    fitted.explain_local(X)
    fitted.predict(X)


def _warm_all(names: Collection[str], quick: bool) -> None:
    """Compile all kernels of several models without a progress bar for each."""
    PROGRESS.silent = Kernel.eager = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about small simulated tables
        for name in names:
            warm_model(name, quick=quick)


def warm(modules: Collection[str] = (), *, quick: bool = False) -> None:
    """Compile the kernels of models in parallel, and show a progress bar.

    Parameters
    ----------
    modules : collection of str, default=()
        Modules of the models, as named in the registry; empty means all models.
    quick : bool, default=False
        Whether to compile only what the first notebook needs: private boosting for two classes and
        for regression, and their non-private reference, with default settings.
    """
    shared: dict[str, list[str]] = {}
    for name, listed in MODELS.items():
        if listed.warm and (not modules or listed.module in modules):
            shared.setdefault(listed.module, []).append(name)
    if quick:
        shared = {"quick": list(QUICK)}
    groups = sorted(shared.values(), key=len, reverse=True)
    compiled = Parallel(n_jobs=min(cpu_count(), len(groups)), return_as="generator_unordered")(
        delayed(_warm_all)(names, quick) for names in groups
    )
    warm_reader()
    warm_imports()
    for _ in tqdm(compiled, "Compiling numeric kernels (once)", len(groups), disable=None):
        pass
