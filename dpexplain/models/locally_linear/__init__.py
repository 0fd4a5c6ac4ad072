"""Private and non-private locally linear models: several linear filters per class."""

from __future__ import annotations

from dpexplain.models.locally_linear.private_classifier import DPLocallyLinearClassifier
from dpexplain.models.locally_linear.reference import LocallyLinearClassifier

__all__ = ["DPLocallyLinearClassifier", "LocallyLinearClassifier"]
