"""What studies of private trees share: data, folds, and scores after each tree."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from bench_data import TABLES
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import KFold, StratifiedKFold

from dpexplain import Classes, Numeric, Range, Schema
from dpexplain.datasets import Dataset
from dpexplain.exceptions import PrivacyWarning
from dpexplain.models.trees.structure import candidates_of, leaf_of
from file_data import add_to_tables

FloatArray = NDArray[np.float64]
SIMULATED = (50_000, 100)
SIMULATED_FAST = (5_000, 20)

add_to_tables()


@cache
def table(name: str, fast: bool = False) -> Dataset:
    """Load the data of a study by name; simulations are smaller in a fast run."""
    if name in ("synthetic_cls", "synthetic_reg"):
        return _simulated(name, *(SIMULATED_FAST if fast else SIMULATED))
    return replace(TABLES[name].load(), name=name)


def _simulated(name: str, n: int, d: int) -> Dataset:
    """Simulate with scikit-learn's default settings; bounds are 5 standard deviations."""
    make = make_classification if name == "synthetic_cls" else make_regression
    X, y = make(n, d, random_state=0)
    names = [f"x{k}" for k in range(d)]
    if name == "synthetic_cls":
        target, y = Classes(["no", "yes"]), np.where(y == 1, "yes", "no")
    else:
        end = float(np.ceil(np.abs(y).max() / 50) * 50)
        target = Range(-end, end)
    schema = Schema({c: Numeric(-5, 5) for c in names}, target=target)
    about = dict.fromkeys(("source", "licence", "description", "citation"), "simulated")
    frame = pd.DataFrame(X, columns=names)
    return Dataset(frame, pd.Series(y, name="y"), schema=schema, name=name, **about)


def has_classes(data: Dataset) -> bool:
    """Whether the target is categorical."""
    return isinstance(data.schema.target, Classes)


def positive(data: Dataset) -> NDArray[np.bool_]:
    """Return whether each record is in the second class."""
    return np.asarray(data.y == data.schema.target.labels[1], dtype=bool)


def folds(data: Dataset, n: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test rows, stratified by class, from a fixed seed."""
    kind = StratifiedKFold if has_classes(data) else KFold
    yield from kind(n, shuffle=True, random_state=0).split(data.X, data.y)


def fitted(model: Any, data: Dataset, train: NDArray[np.intp]) -> float:
    """Fit, and return the CPU seconds; very large budgets cause no warning."""
    X, y = data.X.iloc[train], data.y.iloc[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        start = time.process_time()
        model.fit(X, y)
    return time.process_time() - start


def score(model: Any, X: pd.DataFrame) -> FloatArray:
    """Return the log-odds of classes, or the predicted number."""
    predict = getattr(model, "decision_function", None) or model.predict
    return np.asarray(predict(X))


def error(scores: FloatArray, data: Dataset, rows: NDArray[np.intp]) -> float:
    """Return the proportion of wrong classes, or the root mean square error."""
    if has_classes(data):
        return float(np.mean((scores > 0) != positive(data)[rows]))
    y = np.asarray(data.y, dtype=float)[rows]
    return float(np.sqrt(np.mean((scores - y) ** 2)))


def metric(data: Dataset) -> str:
    """Return the name of what `error` computes."""
    return "test error" if has_classes(data) else "RMSE"


def staged_scores(model: Any, X: pd.DataFrame) -> Iterator[FloatArray]:
    """Return the scores after each tree of a model with one score."""
    model = getattr(model, "model_", model)
    columns = model._columns(X)
    index = [b.index(c) for b, c in zip(model._bins, columns, strict=True)]
    cells = np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))
    candidates, trees = candidates_of(model._bins), model._trees
    total = np.full(len(cells), float(model._offset))
    for splits, values in zip(trees.splits, trees.values, strict=True):
        total = total + values[leaf_of(cells, splits, candidates), 0]
        yield total
