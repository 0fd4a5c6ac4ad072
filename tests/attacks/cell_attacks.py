"""Attacks on the cells that DP-EBM splits because their noisy counts are large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import Attack, Finding, estimator, first_find, is_regressor, replayed
from dpexplain import Numeric, models
from dpexplain.audit.records import without
from dpexplain.binning import refined

_FEATURES = {"age": Numeric(0, 100), "income": Numeric(0, 1e9)}


def _splits_no_cells(name: str) -> bool:
    return "pairs" not in getattr(models, name)().get_params()


def one_record_of_cells(name: str) -> Finding:
    """Let one record tip the balance of two groups, each in one cell of a wide range."""

    def attempts() -> Iterator[Finding]:
        labels = [-1.0, 3.0] if is_regressor(name) else ["no", "yes"]
        for n in (1, 10, 600):
            X = pd.DataFrame([*[(20.0, 10.0)] * n, *[(80.0, 1e5)] * (n + 1)], columns=[*_FEATURES])
            y = pd.Series([labels[k % 2] for k in range(len(X))])
            fitted = estimator(name, features=_FEATURES, epsilon=4.0)
            for seed in (None, 1):
                yield replayed(fitted, (X, y), without((X, y), len(X) - 1), extreme_seed=seed)

    return first_find(attempts())


def split_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Split cells by their exact counts instead of their noisy counts."""
    honest, exact = refined.release_histograms, []

    def release(cell_counts: Any, *arguments: Any, **settings: Any) -> Any:
        exact[:] = cell_counts
        return honest(cell_counts, *arguments, **settings)

    def parts(estimate: Any, *about: Any) -> Any:
        counts = np.asarray(exact.pop(0))
        return np.where(counts > counts.sum() / 2, 32, 1)

    patch.setattr(refined, "release_histograms", release)
    patch.setattr(refined, "_parts", parts)


ATTACKS = [
    Attack(
        "one record decides which cells are split and counted again",
        one_record_of_cells,
        split_by_the_records,
        "cells are split by the exact counts",
        leaves_out=_splits_no_cells,
    ),
]
