"""Attacks on what DP-EBM releases about pairs: sums, and the grids of pair terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import Attack, Finding, estimator, first_find, replayed, schema_for, without
from dpexplain import Categorical, Numeric, models
from dpexplain.models.boosting.records.binned import Records

_FEATURES = {
    "age": Numeric(0, 100),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "stay": Numeric(0, 9, step=1),
}
_LOW, _HIGH = (20.0, 0.1, "a", 1.0), (80.0, 0.9, "c", 8.0)


def _has_no_pairs(name: str) -> bool:
    return "pair_budget_frac" not in getattr(models, name)().get_params()


def _has_no_pair_terms(name: str) -> bool:
    return "pairs" not in getattr(models, name)().get_params()


def one_record_of_pairs(name: str) -> Finding:
    """Put one record where features are cut in two: how far does it move the sums?

    It tips the balance of two equal groups at opposite ends of all features.
    """
    return first_find(_tipped_scales(name))


def one_record_of_grids(name: str) -> Finding:
    """Put one record where the cells of a pair term are cut: what does it move?"""
    declared = [("age", "dose"), ("ward", "stay")]
    return first_find(
        finding for pairs in (declared, 3) for finding in _tipped_scales(name, pairs=pairs)
    )


def _tipped_scales(name: str, **settings: Any) -> Iterator[Finding]:
    """Replay fits without the record that tips the balance of two equal groups."""
    labels = list(schema_for(name).target.labels) if _is_class(name) else [-1.0, 3.0]
    for n in (0, 1, 10, 300):
        rows = [*[_LOW] * n, *[_HIGH] * (n + 1)]
        X = pd.DataFrame(rows, columns=list(_FEATURES))
        y = pd.Series([labels[k % 2] for k in range(len(rows))])
        for seed in (None, 1, 2):
            fitted = estimator(name, features=_FEATURES, **settings)
            data = X, y
            yield replayed(fitted, data, without(data, len(X) - 1), extreme_seed=seed)


def _is_class(name: str) -> bool:
    return hasattr(schema_for(name).target, "labels")


def cut_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Cut each feature at the median of the records instead of the noisy counts."""
    honest = Records.pair_sums

    def pair_sums(self: Records, upper: Sequence[Any]) -> Any:
        middles = [np.median(bins) if len(bins) else 0.0 for bins in self._bins]
        cut = [np.arange(len(u)) > m for u, m in zip(upper, middles, strict=True)]
        return honest(self, cut)

    patch.setattr(Records, "pair_sums", pair_sums)


def cells_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Cut each pair at the medians of the records instead of the noisy counts."""
    honest = Records.cross

    def cross(self: Records, crossing: Any) -> None:
        honest(self, crossing)
        own = [self._bins[k] for k in crossing.features]
        upper = [bins > (np.median(bins) if len(bins) else 0.0) for bins in own]
        self._bins[crossing.column] = (2 * upper[0] + upper[1]).astype(np.uint8)

    patch.setattr(Records, "cross", cross)


ATTACKS = [
    Attack(
        "one record decides where features are cut in two for the sums of pairs",
        one_record_of_pairs,
        cut_by_the_records,
        "features are cut at the median of the records",
        leaves_out=_has_no_pairs,
    ),
    Attack(
        "one record decides where the cells of a pair term are cut",
        one_record_of_grids,
        cells_by_the_records,
        "pairs are cut at the medians of the records",
        leaves_out=_has_no_pair_terms,
    ),
]
