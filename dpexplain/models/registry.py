"""Registry of the models, used by all code that lists models.

The registry determines:

* ``dpexplain.models.__all__``, where contract tests, audits, attacks and the reference pages find
  the models;
* the models in the namespace ``dpexplain``;
* the choices of ``dpexplain fit --model``;
* the kernels that are compiled in advance.

No model is imported before it is used. Type checkers and code completion read
`dpexplain/__init__.py` and `dpexplain/models/__init__.py` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Listed:
    """Registry entry of a model.

    Parameters
    ----------
    module : str
        Module that contains the class.
    target : {"classes", "range"}
        Kind of target.
    command : str, default=""
        Value of ``dpexplain fit --model``; "" omits the model from the command line.
    warm : tuple of mapping, default=({},)
        Parameters of the fits that compile the model's kernels in advance; empty if the fits of
        other models already compile all of them.
    """

    module: str
    target: Literal["classes", "range"]
    command: str = ""
    warm: tuple[Mapping[str, Any], ...] = ({},)


_MODELS = "dpexplain.models"
_COUNTS = {"objective": "poisson"}
_RISING = {"monotone_constraints": {"age": "increasing"}}
_PAIRED = {"pairs": [("age", "job"), ("age", "height"), ("age", "weight")]}
# Grids of more than 256 cells have kernels of their own; few records have them at large epsilon.
_FINE_PAIRS = {**_PAIRED, "epsilon": 50.0}

MODELS: dict[str, Listed] = {
    "ExplainableBoostingClassifier": Listed(f"{_MODELS}.boosting", "classes", warm=({}, _PAIRED)),
    "ExplainableBoostingRegressor": Listed(
        f"{_MODELS}.boosting", "range", warm=({}, _PAIRED, _COUNTS)
    ),
    "DPExplainableBoostingClassifier": Listed(
        f"{_MODELS}.boosting", "classes", "boosting", ({}, _FINE_PAIRS)
    ),
    "DPExplainableBoostingRegressor": Listed(
        f"{_MODELS}.boosting", "range", "boosting", ({}, _FINE_PAIRS, _COUNTS, _RISING)
    ),
    "DPLocallyLinearClassifier": Listed(
        f"{_MODELS}.locally_linear",
        "classes",
        "locally-linear",
        ({"n_steps": 2, "composition": "rdp"},),
    ),
    "LocallyLinearClassifier": Listed(
        f"{_MODELS}.locally_linear", "classes", warm=({"max_epochs": 2},)
    ),
    "DPLogisticRegression": Listed(f"{_MODELS}.linear", "classes", "linear"),
    "DPLinearRegression": Listed(f"{_MODELS}.linear", "range", "linear"),
    "DPRandomForestClassifier": Listed(f"{_MODELS}.random_forest", "classes", "random-forest", ()),
    # Fits of this model compile the kernels of all tree ensembles.
    "DPBoostClassifier": Listed(f"{_MODELS}.dpboost", "classes", "dpboost"),
    "DPBoostRegressor": Listed(f"{_MODELS}.dpboost", "range", "dpboost", ()),
    "DPBoostedTreesClassifier": Listed(f"{_MODELS}.boosted_trees", "classes", "boosted-trees", ()),
}


def commands() -> dict[str, dict[str, str]]:
    """Return the models that the command line can fit.

    Returns
    -------
    dict of str to dict
        For each value of ``--model``, the class name of the model for each kind of target.
    """
    found: dict[str, dict[str, str]] = {}
    for name, listed in MODELS.items():
        if listed.command:
            found.setdefault(listed.command, {})[listed.target] = name
    return found
