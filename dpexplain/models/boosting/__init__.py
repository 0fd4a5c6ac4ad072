"""Explainable boosting machines, private (DP-EBM) and non-private.

Other models use modules in this package, so importing the package loads no estimator.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpexplain.models.boosting.classifier import (
        DPExplainableBoostingClassifier,
        ExplainableBoostingClassifier,
    )
    from dpexplain.models.boosting.regressor import (
        DPExplainableBoostingRegressor,
        ExplainableBoostingRegressor,
    )

__all__ = [
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
]


def __getattr__(name: str) -> object:
    """Import an estimator when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kind = "classifier" if name.endswith("Classifier") else "regressor"
    return getattr(import_module(f"{__name__}.{kind}"), name)
