"""Explainable boosting machines, private (DP-EBM) and not."""

from __future__ import annotations

from dpexplain.models.boosting.estimator import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
)
from dpexplain.models.boosting.reference import (
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)

__all__ = [
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
]
