"""Explainable boosting machines, private (DP-EBM) and non-private."""

from __future__ import annotations

from dpexplain.models.boosting.classifier import (
    DPExplainableBoostingClassifier,
    ExplainableBoostingClassifier,
)
from dpexplain.models.boosting.regressor import (
    DPExplainableBoostingRegressor,
    ExplainableBoostingRegressor,
)

__all__ = [
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
]
