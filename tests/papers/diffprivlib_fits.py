"""Fits of diffprivlib's linear models, in its own environment; imports nothing of ours.

Reads the path of a NumPy archive and JSON settings from the command line, and prints scores as
JSON. diffprivlib 0.6.6 requires scikit-learn below 1.8.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression
from sklearn import linear_model
from sklearn.metrics import roc_auc_score, root_mean_squared_error


def main() -> None:
    """Print one score per epsilon and split."""
    warnings.simplefilter("ignore")
    path, settings = sys.argv[1], json.loads(sys.argv[2])
    with np.load(path) as archive:
        data = dict(archive)
    rows = [
        {"epsilon": epsilon, "repeat": repeat} | _fitted(data, repeat, epsilon, settings)
        for epsilon in settings["epsilons"]
        for repeat in range(settings["n_splits"])
    ]
    json.dump(rows, sys.stdout)


def _fitted(
    data: dict[str, Any], repeat: int, epsilon: float | None, settings: dict[str, Any]
) -> dict[str, float]:
    rows, y = data["Z"], data["y"]
    train, test = data[f"train_{repeat}"], data[f"test_{repeat}"]
    model = (_logistic if settings["classes"] else _linear)(data, epsilon, settings)
    start = time.process_time()
    model.fit(rows[train], y[train])
    seconds = time.process_time() - start
    if settings["classes"]:
        value = roc_auc_score(y[test], model.predict_proba(rows[test])[:, 1])
    else:
        value = settings["target_scale"] * root_mean_squared_error(
            y[test], model.predict(rows[test])
        )
    return {"value": float(value), "cpu_s": seconds}


def _logistic(data: dict[str, Any], epsilon: float | None, settings: dict[str, Any]) -> Any:
    if epsilon is None:
        return linear_model.LogisticRegression(C=settings["C"])
    return LogisticRegression(epsilon=epsilon, data_norm=settings["norm"], C=settings["C"])


def _linear(data: dict[str, Any], epsilon: float | None, settings: dict[str, Any]) -> Any:
    if epsilon is None:
        return linear_model.LinearRegression()
    bounds_y = tuple(settings["target_bounds"])
    return LinearRegression(
        epsilon=epsilon, bounds_X=(data["low"], data["high"]), bounds_y=bounds_y
    )


if __name__ == "__main__":
    main()
