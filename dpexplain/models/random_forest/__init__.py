"""Random forests with differential privacy."""

from __future__ import annotations

from dpexplain.models.random_forest.forest import DPRandomForestClassifier

__all__ = ["DPRandomForestClassifier"]
