"""Attacks on the sums that calibrate the scores of DP-EBM."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import (
    Attack,
    Finding,
    estimator,
    first_find,
    is_regressor,
    replayed,
    schema_for,
)
from dpexplain import Categorical, Classes, Numeric, Range, Schema, models
from dpexplain.audit.records import without
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.records.class_sums import ClassSums

_FEATURES = {"age": Numeric(0, 100), "dose": Numeric(0, 1), "ward": Categorical(["a", "b", "c"])}
_PAIR = {"pairs": [("age", "dose")]}
_LOW, _HIGH = (20.0, 0.1, "a"), (80.0, 0.9, "c")


def _is_never_calibrated(name: str) -> bool:
    return "calibrated" not in getattr(models, name)().get_params()


def _has_no_classes_to_calibrate(name: str) -> bool:
    return _is_never_calibrated(name) or is_regressor(name)


def one_record_of_scores(name: str) -> Finding:
    """Let one record tip the balance of two equal groups: how far does it move the sums?"""
    return first_find(_tipped_scales(name, _kinds(name)))


def one_record_of_classes(name: str) -> Finding:
    """Let one record tip the balance between three classes."""
    target = Classes(["no", "yes", "maybe"])
    schema = Schema(_FEATURES, target=target)
    return first_find(_tipped_scales(name, [(target, {"schema": schema})]))


def _kinds(name: str) -> list[tuple[Any, dict[str, Any]]]:
    kinds = [(schema_for(name).target, {"pairs": 0}), (schema_for(name).target, _PAIR)]
    if "objective" in getattr(models, name)().get_params():
        counts = Range(0, 40)
        counted = {"objective": "poisson", "schema": Schema(_FEATURES, target=counts)}
        kinds.append((counts, counted))
    return kinds


def _tipped_scales(name: str, kinds: list[tuple[Any, dict[str, Any]]]) -> Iterator[Finding]:
    for n, (target, settings) in product((0, 1, 10, 300), kinds):
        ends = [target.low, target.high] if isinstance(target, Range) else list(target.labels)
        rows = [*[_LOW] * n, *[_HIGH] * (n + 1)]
        X = pd.DataFrame(rows, columns=list(_FEATURES))
        y = pd.Series([ends[k % len(ends)] for k in range(len(rows))])
        for seed in (None, 1, 2):
            fitted = estimator(name, features=_FEATURES, **settings)
            yield replayed(fitted, (X, y), without((X, y), len(X) - 1), extreme_seed=seed)


def cells_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Center the cells of scores on the records' median instead of a released center."""
    honest = Records.score_counts

    def score_counts(
        self: Records, low: float, width: float, n_cells: int, largest: float = 1.0
    ) -> Any:
        self._settle()
        half = width * n_cells / 2
        middle = float(np.median(self._score)) if len(self) else low + half
        if self._odds and len(self):
            middle = float(np.log(middle))
        return honest(self, middle - half, width, n_cells, largest)

    patch.setattr(Records, "score_counts", score_counts)


def center_of_the_records(patch: pytest.MonkeyPatch) -> None:
    """Center the scores of several classes on the records' median."""
    honest = Records.class_sums

    def class_sums(self: Records, each: ClassSums) -> Any:
        self._settle()
        middle = np.median(self._score, axis=1) if len(self) else each.center
        return honest(self, ClassSums(middle - middle.mean(), each.spread))

    patch.setattr(Records, "class_sums", class_sums)


ATTACKS = [
    Attack(
        "one record decides around which score the predictions are calibrated",
        one_record_of_scores,
        cells_by_the_records,
        "scores are counted around the median of the records",
        leaves_out=_is_never_calibrated,
    ),
    Attack(
        "one record decides around which scores three classes are calibrated",
        one_record_of_classes,
        center_of_the_records,
        "scores are centered on the median of the records",
        leaves_out=_has_no_classes_to_calibrate,
    ),
]
