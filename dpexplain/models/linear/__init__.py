"""Linear models with differential privacy, prepared as a careful analyst would prepare them."""

from __future__ import annotations

from dpexplain.models.linear.classifier import DPLogisticRegression
from dpexplain.models.linear.regressor import DPLinearRegression

__all__ = ["DPLinearRegression", "DPLogisticRegression"]
