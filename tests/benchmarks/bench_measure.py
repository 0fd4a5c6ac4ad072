"""One fit: its CPU time, and its score on rows it has not seen."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bench_data import splits
from bench_models import Budget, Contender
from scipy.special import expit, logit

from dpexplain import Classes, Schema
from dpexplain.datasets import Dataset

_LEAST = 1e-6
"""Probabilities are clipped to this distance from 0 and 1, so that one record cannot dominate."""


@dataclass(frozen=True)
class Fit:
    """CPU time and score of one fit.

    Attributes
    ----------
    cpu, wall : float
        Seconds in ``fit``, all threads of this process together, and on the clock.
    score : float
        AUROC or RMSE on the test part.
    update_noise : float
        Noise on a leaf's sum times the learning rate, in units of the model's score; NaN for models
        that do not say. The model itself is not kept: it remembers thousands of trees.
    """

    cpu: float
    wall: float
    score: float
    update_noise: float
    log_loss: float = float("nan")
    slope: float = float("nan")


def metric(schema: Schema) -> str:
    """Return the name of the score for a data set."""
    return "AUROC" if isinstance(schema.target, Classes) else "RMSE"


def fitted(contender: Contender, dataset: Dataset, split: Sequence[Any], budget: Budget) -> Fit:
    """Fit on the training part of a split, and score on its test part.

    Parameters
    ----------
    contender : Contender
    dataset : Dataset
    split : pair of ndarray
        Row numbers of the train and the test part.
    budget : Budget

    Returns
    -------
    Fit
    """
    train, test = split
    schema = dataset.schema
    X, y = contender.prepare(dataset.X, schema), dataset.y
    X_train, y_train = X.iloc[train], y.iloc[train]
    model = contender.make(schema, budget)
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(X_train, y_train)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    X_test, y_test = X.iloc[test], y.iloc[test]
    quality = calibration(model, X_test, y_test, schema)
    return Fit(cpu, wall, score(model, X_test, y_test, schema), _update_noise(model), *quality)


def _update_noise(model: Any) -> float:
    if not hasattr(model, "leaf_noise_std_"):
        return float("nan")
    return float(model.learning_rate_ * model.leaf_noise_std_)


def score(model: Any, X: pd.DataFrame, y: pd.Series, schema: Schema) -> float:
    """Return the AUROC of the schema's second class, or the RMSE."""
    from sklearn.metrics import roc_auc_score, root_mean_squared_error

    target = schema.target
    if not isinstance(target, Classes):
        return float(root_mean_squared_error(y, model.predict(X)))
    positive = target.labels[1]
    column = list(model.classes_).index(positive)
    return float(roc_auc_score(y == positive, model.predict_proba(X)[:, column]))


def calibration(model: Any, X: pd.DataFrame, y: pd.Series, schema: Schema) -> tuple[float, float]:
    """Return the log loss and the calibration slope for two classes; NaN for other targets."""
    target = schema.target
    if not isinstance(target, Classes) or len(target.labels) != 2:
        return float("nan"), float("nan")
    positive = target.labels[1]
    chance = model.predict_proba(X)[:, list(model.classes_).index(positive)]
    odds, yes = logit(np.clip(chance, _LEAST, 1.0 - _LEAST)), np.asarray(y == positive, float)
    loss = float(np.mean(np.logaddexp(0.0, odds) - yes * odds))
    design, line = np.column_stack([np.ones(len(odds)), odds]), np.array([0.0, 1.0])
    for _ in range(25):  # Newton's method, with steps of bounded length
        fitted_chance = expit(design @ line)
        weight = fitted_chance * (1.0 - fitted_chance)
        information = design.T @ (weight[:, None] * design) + 1e-9 * np.eye(2)
        step = np.linalg.solve(information, design.T @ (yes - fitted_chance))
        line += np.clip(step, -1.0, 1.0)
    return loss, float(line[1])


def race(
    contenders: Sequence[Contender],
    dataset: Dataset,
    budget: Budget,
    *,
    n_splits: int,
    warm_up_rows: int | None = None,
) -> list[list[Fit]]:
    """Fit all models in turn on each split (A B A B), after a warm-up fit of each.

    The machine may be busy, and its speed may drift; because the models take turns, both affect
    all of them alike.

    Parameters
    ----------
    contenders : sequence of Contender
    dataset : Dataset
    budget : Budget
    n_splits : int
    warm_up_rows : int or None, default=None
        Rows of the fit that does not count, which loads libraries and compiled code; None for
        all rows of the first split.

    Returns
    -------
    list of list of Fit
        Per contender, one fit per split.
    """
    halves = list(splits(len(dataset.X), n_splits))
    for contender in contenders:
        fitted(contender, dataset, [part[:warm_up_rows] for part in halves[0]], budget)
    rounds = [[fitted(c, dataset, half, budget) for c in contenders] for half in halves]
    return [list(fits) for fits in zip(*rounds, strict=True)]


@dataclass(frozen=True)
class Summary:
    """Fits of one model on all splits of one data set."""

    cpu: float
    wall: float
    mean: float
    std: float


def summary(fits: Iterable[Fit]) -> Summary:
    """Return the median seconds, and the mean and standard deviation of the score."""
    table = np.array([(f.cpu, f.wall, f.score) for f in fits])
    std = table[:, 2].std(ddof=1) if len(table) > 1 else np.nan
    return Summary(*(float(v) for v in (*np.median(table[:, :2], axis=0), table[:, 2].mean(), std)))
