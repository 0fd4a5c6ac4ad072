"""Trees of the non-private reference: random splits first, then greedy ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import ExplainableBoostingRegressor, Numeric, Range, Schema
from dpexplain.models.boosting.nonprivate.random_trees import random_bounds, random_values
from dpexplain.models.boosting.nonprivate.reference import _Reference
from effort import examples


def naive_bounds(curvature, draws, least):
    """Return the first bin of each leaf, and the number of bins, with plain lists."""
    n = len(curvature)
    allowed = [c for c in range(1, n) if min(sum(curvature[:c]), sum(curvature[c:])) >= least]
    bounds = [0, n]
    for draw in draws if allowed else []:
        tried = sorted({*bounds, allowed[int(draw * len(allowed))]})
        parts = [sum(curvature[a:z]) for a, z in pairwise(tried)]
        if all(part >= least for part in parts):
            bounds = tried
    return bounds


@examples(80)
@given(seed=st.integers(0, 2**32 - 1), n_bins=st.integers(1, 14), n_draws=st.integers(1, 5))
def test_random_splits_equal_those_of_a_naive_version(seed, n_bins, n_draws):
    rng = np.random.default_rng(seed)
    curvature = rng.integers(0, 4, n_bins).astype(float)  # sums are exact in any order
    draws, least = rng.random(n_draws), float(rng.integers(1, 6))
    found = random_bounds(curvature, draws, least)
    assert found.tolist() == naive_bounds(curvature.tolist(), draws, least)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_leaves_with_random_splits_have_newton_values(n_classes):
    rng = np.random.default_rng(0)
    shape = (40,) if n_classes == 1 else (40, n_classes)
    gradient, curvature = rng.normal(size=shape), rng.uniform(1, 2, shape)
    values = random_values(gradient, curvature, 3, 1.0, np.random.default_rng(1))
    rows = values.reshape(40, -1)
    starts = [0, *(np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1), 40]
    assert len(starts) == 4
    for a, z in pairwise(starts):
        newton = gradient[a:z].sum(axis=0) / curvature[a:z].sum(axis=0)
        np.testing.assert_allclose(rows[a:z], np.broadcast_to(newton, (z - a, n_classes)))


def dependent_features(seed, n=2000):
    """Ten features that share two factors, and a target that depends on half of them."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10))
    X = np.clip(shared + 0.5 * rng.normal(size=(n, 10)), -6, 6)
    truth = np.tanh(X[:, 0]) - 0.3 * X[:, 1] ** 2 + np.sin(X[:, 2]) + 0.5 * X[:, 3] - 0.4 * X[:, 4]
    names = [f"x{k}" for k in range(10)]
    y = np.clip(truth + 2.0 * rng.normal(size=n), -20, 20)
    return pd.DataFrame(X, columns=names), pd.Series(y), truth


def roughness(model):
    """Mean squared second difference of all curves, weighted by records."""
    terms = model._terms
    found = [
        np.average(np.diff(s[: b.n_value_bins], 2) ** 2, weights=c[1 : b.n_value_bins - 1])
        for s, c, b in zip(terms.scores, terms.counts, terms.bins, strict=True)
    ]
    return float(np.mean(found))


def test_random_splits_first_make_curves_smoother_and_predictions_better(monkeypatch):
    schema = Schema({f"x{k}": Numeric(-6, 6) for k in range(10)}, target=Range(-20, 20))
    both = _Reference._curve_steps
    errors, rough = {}, {}
    for name, steps in (("both", both), ("greedy", lambda *given: both(*given)[1:])):
        monkeypatch.setattr(_Reference, "_curve_steps", steps)
        errors[name], rough[name] = [], []
        for seed in range(5):
            X, y, truth = dependent_features(seed)
            model = ExplainableBoostingRegressor(schema=schema).fit(X[:1500], y[:1500])
            errors[name].append(np.mean((model.predict(X[1500:]) - truth[1500:]) ** 2))
            rough[name].append(roughness(model))
    for found in (errors, rough):
        better = np.log(found["greedy"]) - np.log(found["both"])
        assert better.mean() > 2.0 * better.std(ddof=1) / np.sqrt(len(better)), found
