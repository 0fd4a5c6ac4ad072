"""What many features cost a private fit: time, memory, accuracy (``make bench-scale``)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from beyond_memory import peak_bytes
from sklearn.metrics import roc_auc_score

from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, Schema

N_TRUE = 5
"""Features on which the answer depends; all others are noise."""
HEADER = "| features | CPU s of the fit | peak memory of the process | AUROC | of a fit to 5 |"


def table(n_rows: int, n_features: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate independent features, of which the first few matter."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 32, (n_rows, n_features), dtype=np.int8)
    score = (X[:, :N_TRUE] - 15.5).sum(axis=1) / 12
    y = np.where(score + rng.logistic(size=n_rows) > 0, "yes", "no")
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(n_features)], copy=False), y


def fitted(X: pd.DataFrame, y: np.ndarray, epsilon: float) -> DPExplainableBoostingClassifier:
    """Fit all features of a table."""
    schema = Schema({name: Numeric(0, 31, step=1) for name in X}, target=Classes(["no", "yes"]))
    return DPExplainableBoostingClassifier(epsilon, schema=schema).fit(X, y)


def wide_rows(features: Sequence[int], n_rows: int, epsilon: float) -> Iterator[str]:
    """Yield a row of the table for each number of features, in ascending order."""
    fitted(*table(500, N_TRUE, 0), epsilon)  # compiles
    for n_features in sorted(features):
        X, y = table(n_rows, n_features, 1)
        X_test, y_test = table(n_rows, n_features, 2)
        start = time.process_time()
        model = fitted(X, y, epsilon)
        cpu = time.process_time() - start
        few = fitted(X.iloc[:, :N_TRUE], y, epsilon)
        scores = [
            roc_auc_score(y_test == "yes", each.predict_proba(held)[:, 1])
            for each, held in ((model, X_test), (few, X_test.iloc[:, :N_TRUE]))
        ]
        yield (
            f"| {n_features:,} | {cpu:.1f} | {peak_bytes() / 1e6:,.0f} MB | {scores[0]:.3f} | "
            f"{scores[1]:.3f} |"
        )


def print_wide(features: Sequence[int], n_rows: int, epsilon: float) -> None:
    """Print what each number of features costs."""
    print(f"{n_rows:,} rows, epsilon {epsilon:g}; {N_TRUE} features matter, the others are noise\n")
    print(f"{HEADER}\n|{' --: |' * 5}")
    for row in wide_rows(features, n_rows, epsilon):
        print(row, flush=True)
