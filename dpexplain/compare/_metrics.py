"""Diagnostics of a fitted model on held-out records; they are not private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain.schema import Classes, Schema
from dpexplain.tables.cells import cell_number, cell_text
from dpexplain.tables.columns import one_column
from dpexplain.tables.encoding import encode_classes, read_numbers

METRIC_TYPES = {
    "epsilon": "float64",
    "repeat": "int64",
    "metric": "object",
    "value": "float64",
    "private": "bool",
}


def checked_metrics(metrics: pd.DataFrame) -> pd.DataFrame:
    """Check the columns of a metrics table, and return a copy with the right types."""
    if list(metrics.columns) != list(METRIC_TYPES):
        raise ValueError(f"metrics must have exactly the columns {', '.join(METRIC_TYPES)}.")
    return metrics.astype(METRIC_TYPES).reset_index(drop=True)


def auroc(positive: npt.NDArray[np.bool_], score: npt.NDArray[np.float64]) -> float:
    """Compute the area under the ROC curve, counting each tie as one half.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
        Whether each record belongs to the positive class.
    score : ndarray of float64, shape (n,)
        A larger score means that the record is more likely to be positive.

    Returns
    -------
    float
        In ``[0, 1]``; NaN if a class is absent, because there are then no pairs to rank.
    """
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if n_positive == 0 or n_negative == 0:
        return float("nan")
    ranks = pd.Series(score).rank(method="average").to_numpy(dtype=np.float64)
    excess = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(excess / (n_positive * n_negative))


def macro_auroc(
    texts: npt.NDArray[np.object_], classes: Sequence[object], probability: npt.NDArray[np.float64]
) -> float:
    """Compute the mean one-versus-rest area under the ROC curve.

    Parameters
    ----------
    texts : ndarray of object, shape (n,)
        Labels of the records, as strings.
    classes : sequence of length n_classes
        Labels of the columns of `probability`.
    probability : ndarray of float64, shape (n, n_classes)
        Predicted probability of each class.

    Returns
    -------
    float
        Mean over the classes that occur; NaN if fewer than two classes occur.
    """
    found = np.array(
        [auroc(texts == cell_text(label), probability[:, c]) for c, label in enumerate(classes)]
    )
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else float("nan")


def accuracy(model: Any, X: Any, y: Sequence[object]) -> float:
    """Compute the proportion of correctly classified records.

    Parameters
    ----------
    model : estimator
        Fitted classifier.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Held-out records.
    y : sequence of length n_samples
        Labels of these records, parsed as in :func:`measure`.

    Returns
    -------
    float
        In ``[0, 1]``; NaN if there are no records.
    """
    texts, probability = _labeled(model, X, np.asarray(y, dtype=object).ravel())
    names = np.array([cell_text(label) for label in model.classes_], dtype=object)
    hits = names[probability.argmax(axis=1)] == texts
    return float(np.mean(hits)) if hits.size else float("nan")


def poisson_deviance(count: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> float:
    """Compute the mean Poisson deviance, which is 0 for perfect predictions.

    Parameters
    ----------
    count : ndarray of float64, shape (n,)
        Observed counts; negative ones are treated as 0.
    expected : ndarray of float64, shape (n,)
        Predicted means, which must be positive.

    Returns
    -------
    float
        Mean deviance; NaN if there are no records, or if a count is NaN.
    """
    if not count.size:
        return float("nan")
    seen = np.maximum(count, 0.0)
    events = np.where(seen > 0, seen, 1.0)  # 0 log 0 is 0
    deviance = np.where(seen > 0, seen * np.log(events / expected), 0.0) - (seen - expected)
    return float(2.0 * np.mean(deviance))


def read_targets(y: Any, schema: Schema | None) -> Any:
    """Parse held-out targets as a fit would parse its targets.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels or targets.
    schema : Schema or None
        A schema that includes the target; None leaves `y` unchanged.

    Returns
    -------
    array-like of shape (n_samples,)
        For classification, labels as spelled in the schema, with None for unusable cells. For
        regression, numbers not clipped to the target range, with NaN for unusable cells.
    """
    if schema is None or schema.target is None:
        return y
    if isinstance(schema.target, Classes):
        names = np.array([*schema.target.names, None], dtype=object)
        return names[encode_classes(y, schema.target)]
    return read_numbers(one_column(y), schema.target)


def measure(model: Any, X: Any, y: Sequence[object]) -> tuple[str, float]:
    """Compute the AUROC of a fitted classifier, or the error of a regression model.

    With more than two classes, the AUROC of each class against the rest is computed, and averaged
    over the classes that occur.

    The error is the Poisson deviance for a model with the Poisson objective, and the root mean
    squared error for any other model.

    The values of `y` are parsed one by one, as in a fit, and records without a usable target are
    left out. An invalid value never raises an error, because the budget for the fit has already
    been spent and must not be wasted.

    Parameters
    ----------
    model : estimator
        Fitted model; with two classes, ``classes_[1]`` is the positive class.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Held-out records.
    y : sequence of length n_samples
        Labels or targets of these records.

    Returns
    -------
    tuple of (str, float)
        Name and value of the metric; the root mean squared error is in the same units as the
        target.
    """
    with np.errstate(all="ignore"):  # an overflow warning would reveal something about a record
        return _measured(model, X, np.asarray(y, dtype=object).ravel())


def _measured(model: Any, X: Any, cells: npt.NDArray[np.object_]) -> tuple[str, float]:
    if hasattr(model, "predict_proba"):
        texts, probability = _labeled(model, X, cells)
        if len(model.classes_) > 2:
            return "macro AUROC", macro_auroc(texts, model.classes_, probability)
        return "AUROC", auroc(texts == cell_text(model.classes_[1]), probability[:, 1])
    target = np.array([cell_number(cell) for cell in cells], dtype=np.float64)
    usable = ~np.isnan(target)
    target, predicted = target[usable], np.asarray(model.predict(X), dtype=np.float64)[usable]
    if getattr(model, "objective", None) == "poisson":
        return "Poisson deviance", poisson_deviance(target, predicted)
    error = predicted - target
    return "RMSE", float(np.sqrt(np.mean(np.square(error)))) if error.size else float("nan")


def _labeled(
    model: Any, X: Any, cells: npt.NDArray[np.object_]
) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.float64]]:
    """Return labels and probabilities for records whose label is one of the classes."""
    texts = np.array([cell_text(cell) for cell in cells], dtype=object)
    names = {cell_text(label) for label in model.classes_}
    known = np.array([text in names for text in texts], dtype=bool)
    return texts[known], np.asarray(model.predict_proba(X))[known]
