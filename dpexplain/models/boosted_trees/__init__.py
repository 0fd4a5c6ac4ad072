"""Boosted trees with pure differential privacy and a tunable loss."""

from __future__ import annotations

from dpexplain.models.boosted_trees.boosted_trees import DPBoostedTreesClassifier

__all__ = ["DPBoostedTreesClassifier"]
