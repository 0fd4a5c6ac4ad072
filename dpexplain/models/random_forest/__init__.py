"""Random forests with differential privacy."""

from __future__ import annotations

from dpexplain.models.random_forest.estimator import DPRandomForestClassifier

__all__ = ["DPRandomForestClassifier"]
