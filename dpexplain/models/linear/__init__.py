"""Linear models with differential privacy."""

from __future__ import annotations

from dpexplain.models.linear.classifier import DPLogisticRegression
from dpexplain.models.linear.regressor import DPLinearRegression

__all__ = ["DPLinearRegression", "DPLogisticRegression"]
