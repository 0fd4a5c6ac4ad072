"""Boosted trees with pure differential privacy and a tunable loss."""

from __future__ import annotations

from dpexplain.models.boosted_trees.estimator import DPBoostedTreesClassifier

__all__ = ["DPBoostedTreesClassifier"]
