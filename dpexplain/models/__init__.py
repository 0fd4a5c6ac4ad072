"""Interpretable models, private and non-private.

The models are listed in :mod:`dpexplain.models.registry`; tests, sweeps and dashboards find them
in ``__all__``. :func:`register` adds a model from another package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from dpexplain._utils.lazy import import_sklearn_base
from dpexplain.models.registry import MODELS, Listed

if TYPE_CHECKING:
    from dpexplain.models.boosted_trees import DPBoostedTreesClassifier as DPBoostedTreesClassifier
    from dpexplain.models.boosting import (
        DPExplainableBoostingClassifier as DPExplainableBoostingClassifier,
    )
    from dpexplain.models.boosting import (
        DPExplainableBoostingRegressor as DPExplainableBoostingRegressor,
    )
    from dpexplain.models.boosting import (
        ExplainableBoostingClassifier as ExplainableBoostingClassifier,
    )
    from dpexplain.models.boosting import (
        ExplainableBoostingRegressor as ExplainableBoostingRegressor,
    )
    from dpexplain.models.dpboost import DPBoostClassifier as DPBoostClassifier
    from dpexplain.models.dpboost import DPBoostRegressor as DPBoostRegressor
    from dpexplain.models.linear import DPLinearRegression as DPLinearRegression
    from dpexplain.models.linear import DPLogisticRegression as DPLogisticRegression
    from dpexplain.models.locally_linear import (
        DPLocallyLinearClassifier as DPLocallyLinearClassifier,
    )
    from dpexplain.models.locally_linear import LocallyLinearClassifier as LocallyLinearClassifier
    from dpexplain.models.random_forest import DPRandomForestClassifier as DPRandomForestClassifier

__all__ = sorted(MODELS)


def register(
    model: type[Any], target: Literal["classes", "range"], command: str = "", **listed: Any
) -> type[Any]:
    """Register a model from another package.

    Parameters
    ----------
    model : type
        A class with the methods that CONTRIBUTING.md lists under "A model".
    target : {"classes", "range"}
        Kind of target.
    command : str, default=""
        Value of ``dpexplain fit --model``; "" omits the model from the command line.
    **listed
        Other fields of :class:`dpexplain.models.registry.Listed`.

    Returns
    -------
    type
        `model` itself.

    Raises
    ------
    ValueError
        If a model with this name already exists.
    """
    name = model.__name__
    if name in MODELS:
        raise ValueError(f"there is a model named {name!r} already; give this one another name.")
    MODELS[name] = Listed(model.__module__, target, command, **listed)
    __all__.append(name)
    globals()[name] = model
    return model


def __getattr__(name: str) -> Any:
    """Import a model when it is first used."""
    if name not in MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_sklearn_base()
    value = globals()[name] = getattr(import_module(MODELS[name].module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
