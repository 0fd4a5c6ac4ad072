"""Interpretable machine learning under differential privacy.

Everything a user needs is available from this module. Names are imported on first use, so ``import
dpexplain`` is fast and does not load numerical or plotting libraries.

Examples
--------
>>> import dpexplain
>>> dpexplain.Numeric(17, 90, unit="years").high
90.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dpexplain._utils.version import __version__

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger
    from dpexplain.compare import Comparison
    from dpexplain.compare.sweep import sweep
    from dpexplain.exceptions import BudgetError, HealthWarning, PrivacyWarning, SchemaError
    from dpexplain.explain import GlobalExplanation, Guarantee, LocalExplanation, ShapeFunction
    from dpexplain.models import (
        DPBoostClassifier,
        DPBoostedTreesClassifier,
        DPBoostRegressor,
        DPExplainableBoostingClassifier,
        DPExplainableBoostingRegressor,
        DPLinearRegression,
        DPLocallyLinearClassifier,
        DPLogisticRegression,
        DPRandomForestClassifier,
        ExplainableBoostingClassifier,
        ExplainableBoostingRegressor,
        LocallyLinearClassifier,
    )
    from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema


__all__ = [
    "BudgetError",
    "Categorical",
    "Classes",
    "Comparison",
    "DPBoostClassifier",
    "DPBoostRegressor",
    "DPBoostedTreesClassifier",
    "DPExplainableBoostingClassifier",
    "DPExplainableBoostingRegressor",
    "DPLinearRegression",
    "DPLocallyLinearClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "Date",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "GlobalExplanation",
    "Guarantee",
    "HealthWarning",
    "LocalExplanation",
    "LocallyLinearClassifier",
    "Numeric",
    "PrivacyLedger",
    "PrivacyWarning",
    "Range",
    "Schema",
    "SchemaError",
    "ShapeFunction",
    "__version__",
    "sweep",
]

# The subpackage that defines each public name; the imports above are for type checkers.
_NAMES_BY_PART = {
    "accounting": ("PrivacyLedger",),
    "compare": ("Comparison",),
    "compare.sweep": ("sweep",),
    "exceptions": ("BudgetError", "HealthWarning", "PrivacyWarning", "SchemaError"),
    "explain": ("GlobalExplanation", "Guarantee", "LocalExplanation", "ShapeFunction"),
    "models": (
        "DPBoostClassifier",
        "DPBoostRegressor",
        "DPBoostedTreesClassifier",
        "DPExplainableBoostingClassifier",
        "DPExplainableBoostingRegressor",
        "DPLinearRegression",
        "DPLogisticRegression",
        "DPLocallyLinearClassifier",
        "DPRandomForestClassifier",
        "ExplainableBoostingClassifier",
        "ExplainableBoostingRegressor",
        "LocallyLinearClassifier",
    ),
    "schema": ("Categorical", "Classes", "Date", "Numeric", "Range", "Schema"),
}
_PART_OF_NAME = {name: part for part, names in _NAMES_BY_PART.items() for name in names}

# Subpackages used by name, as in `dpexplain.io.load` or `dpexplain.datasets.load_fair`.
_PUBLIC_PARTS = frozenset(
    (
        "accounting",
        "certificate",
        "compare",
        "datasets",
        "edit",
        "explain",
        "interop",
        "io",
        "models",
        "plotting",
        "schema",
        "statement",
    )
)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name in _PUBLIC_PARTS:
        return import_module(f"{__name__}.{name}")
    part = _PART_OF_NAME.get(name)
    if part is None and name in import_module(f"{__name__}.models.registry").MODELS:
        part = "models"  # a model that was registered later
    if part is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{part}"), name)
    globals()[name] = value  # later uses skip this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC_PARTS})
