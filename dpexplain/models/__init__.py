"""Interpretable models. Contract tests, sweeps and dashboards take them from ``__all__``."""

from __future__ import annotations

from dpexplain.models.boosting import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.linear import DPLinearRegression, DPLogisticRegression

__all__ = [
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "DPLinearRegression",
    "DPLogisticRegression",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
]
