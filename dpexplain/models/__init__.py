"""Interpretable models, listed in ``__all__`` for tests and dashboards."""

from __future__ import annotations

from dpexplain.models.boosted_trees import DPBoostedTreesClassifier
from dpexplain.models.boosting import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.dpboost import DPBoostClassifier, DPBoostRegressor
from dpexplain.models.linear import DPLinearRegression, DPLogisticRegression
from dpexplain.models.locally_linear import DPLocallyLinearClassifier, LocallyLinearClassifier
from dpexplain.models.random_forest import DPRandomForestClassifier

__all__ = [
    "DPBoostClassifier",
    "DPBoostRegressor",
    "DPBoostedTreesClassifier",
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "DPLinearRegression",
    "DPLocallyLinearClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "LocallyLinearClassifier",
]
