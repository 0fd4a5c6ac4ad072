"""Comparison models next to DP-EBM: accuracy at three epsilons on real data.

Run as ``make bench-baselines``; the data sets are read from ``DPEXPLAIN_DATA``. Random splits with
a fifth for testing; default settings, nothing tuned. Pure models have delta 0, the
others 1e-6.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from dpexplain import datasets, models
from dpexplain.schema import Classes

LOADERS = {
    "adult": datasets.load_adult,
    "telco": datasets.load_telco_churn,
    "california": datasets.load_california_housing,
    "wine": datasets.load_wine_quality,
}
CLASSIFIERS = (
    "DPExplainableBoostingClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "DPBoostClassifier",
    "DPBoostedTreesClassifier",
)
REGRESSORS = ("DPExplainableBoostingRegressor", "DPLinearRegression", "DPBoostRegressor")
EPSILONS = (0.5, 1.0, 4.0)


def measured(model, data, train, test):
    """Return the score on the test part, and the CPU seconds of the fit."""
    start = time.process_time()
    model.fit(data.X.iloc[train], data.y.iloc[train])
    seconds = time.process_time() - start
    X, y = data.X.iloc[test], data.y.iloc[test]
    if isinstance(data.schema.target, Classes):
        return roc_auc_score(
            np.asarray(y == model.classes_[1]), model.decision_function(X)
        ), seconds
    error = np.asarray(y, dtype=float) - model.predict(X)
    return float(np.sqrt(np.mean(error**2))), seconds


def row(name, data, n_splits):
    """Return mean and deviation per epsilon, the scores without noise, and seconds."""
    cells, seconds = [], []
    for epsilon in (*EPSILONS, None):
        scores = []
        for seed in range(n_splits):
            train, test = train_test_split(np.arange(len(data.X)), test_size=0.2, random_state=seed)
            model = getattr(models, name)(epsilon=epsilon or 1.0, schema=data.schema)
            if epsilon is None:
                model = model.reference_estimator()
            score, cpu = measured(model, data, train, test)
            scores.append(score)
            seconds += [] if epsilon is None else [cpu]
        digits = 3 if np.mean(scores) < 100 else 0
        cells.append(f"{np.mean(scores):,.{digits}f} ({np.std(scores):,.{digits}f})")
    return [*cells, f"{np.median(seconds):.2f}"]


def main(arguments=None):
    """Print one table per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--data", choices=LOADERS, nargs="*", default=list(LOADERS))
    options = parser.parse_args(arguments)
    for name in options.data:
        data = LOADERS[name]()
        classes = isinstance(data.schema.target, Classes)
        metric = "AUROC" if classes else "RMSE"
        print(f"\n| {name}, {metric} | ε = 0.5 | 1 | 4 | no noise | CPU s |")
        print("|---|---|---|---|---|---|")
        for model in CLASSIFIERS if classes else REGRESSORS:
            print(
                f"| `{model}` | " + " | ".join(row(model, data, options.splits)) + " |", flush=True
            )


if __name__ == "__main__":
    main()
