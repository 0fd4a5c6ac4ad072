"""Interpretable models. Contract tests, sweeps and dashboards take them from ``__all__``."""

from __future__ import annotations

from dpexplain.models.boosting import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.linear import DPLinearRegression, DPLogisticRegression
from dpexplain.models.locally_linear import DPLocallyLinearClassifier, LocallyLinearClassifier

__all__ = [
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "DPLinearRegression",
    "DPLocallyLinearClassifier",
    "DPLogisticRegression",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "LocallyLinearClassifier",
]
