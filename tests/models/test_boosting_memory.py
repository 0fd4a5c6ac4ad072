"""Memory that a fit needs in addition to the table."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    Numeric,
    Range,
    Schema,
)

pytestmark = pytest.mark.full

N_ROWS, N_FEATURES = 200_000, 10


def table(kind):
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(N_FEATURES)]
    if kind == "numeric":
        X = pd.DataFrame({n: rng.normal(size=N_ROWS) for n in names})
        return X, dict.fromkeys(names, Numeric(-4, 4))
    words = np.array(["a", "b", "c"], dtype=object)
    X = pd.DataFrame({n: words[rng.integers(0, 3, N_ROWS)] for n in names}, dtype=object)
    return X, dict.fromkeys(names, Categorical(words.tolist()))


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_fit_needs_less_than_twice_the_binned_records_and_eight_bytes_each(kind, task):
    X, features = table(kind)
    y = (np.arange(N_ROWS) % 2).astype(float)
    target = Classes([0, 1]) if task == "classes" else Range(0, 1)
    estimator = (
        DPExplainableBoostingClassifier if task == "classes" else DPExplainableBoostingRegressor
    )
    model = estimator(schema=Schema(features, target=target), max_rounds=2)
    model.fit(X[:50], y[:50])  # compiles, and fills what is kept between fits
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    # Two bytes per fine cell. What does not grow with the table is the exact counts of fine cells
    # and at most 4 MB here (trees, blocks).
    counts = 8 * 2**16 * N_FEATURES
    assert peak < (2 * N_FEATURES + 8) * N_ROWS + counts + 4e6
