"""DPBoost: gradient boosting of trees with pure differential privacy."""

from __future__ import annotations

from dpexplain.models.dpboost.dpboost import DPBoostClassifier, DPBoostRegressor

__all__ = ["DPBoostClassifier", "DPBoostRegressor"]
