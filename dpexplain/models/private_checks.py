"""Checks of the parameters shared by all private estimators."""

from __future__ import annotations

import math

import numpy as np

from dpexplain._utils.validation import (
    advise,
    check_adjacency,
    check_choice,
    check_count,
    check_delta,
    check_epsilon,
)
from dpexplain.accounting._ledger.process import check_ledger
from dpexplain.mechanisms import NOISE_BACKENDS
from dpexplain.models.private_hooks import PrivateHooks
from dpexplain.schema import Classes, Schema

_LARGE_DELTA = 1e-3  # no table for which models are fitted has so few records
_CLASSIFIER, _REGRESSOR = "DPExplainableBoostingClassifier", "DPExplainableBoostingRegressor"


def check_private_parameters(model: PrivateHooks) -> None:
    """Check the parameters of a private fit, before data are read.

    Parameters
    ----------
    model : PrivateHooks
        The estimator. Its ``_check_settings`` checks parameters specific to it.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If the schema or the ledger has the wrong type.
    BudgetError
        If the ledger belongs to another process.

    Warns
    -----
    PrivacyWarning
        If epsilon is above 10, or delta is at least ``1 / n_public`` or, without it, above 0.001.
    """
    reference = _CLASSIFIER if model._target_kind is Classes else _REGRESSOR
    check_epsilon(
        model.epsilon, allow_weak=model.allow_weak, reference=reference.removeprefix("DP")
    )
    if model.n_public is not None:
        check_count("n_public", model.n_public)
    delta = check_delta(model.delta, n_public=model.n_public)
    if model.n_public is None and delta > _LARGE_DELTA:
        advise(
            f"delta={delta:g} is large: publishing one complete random record of a table of "
            f"{math.ceil(1 / delta)} or more would satisfy this guarantee; lower delta."
        )
    check_adjacency(model.adjacency)
    check_choice("noise_backend", model.noise_backend, NOISE_BACKENDS)
    if model.max_rows_per_person is not None:
        check_count("max_rows_per_person", model.max_rows_per_person)
    if not isinstance(model.allow_weak, bool | np.bool_):
        raise ValueError(f"allow_weak={model.allow_weak!r} must be True or False.")
    for name in ("structure_seed", "reproducible_seed"):
        if getattr(model, name) is not None:
            check_count(name, getattr(model, name), 0)
    if model.schema is not None and not isinstance(model.schema, Schema):
        raise TypeError(
            f"schema is a {type(model.schema).__name__}; expected a dpexplain.Schema; "
            "Schema.from_toml(path) reads one from a file."
        )
    if model.schema is not None and not isinstance(model.schema.target, model._target_kind):
        other = _REGRESSOR if model._target_kind is Classes else _CLASSIFIER
        advice = "" if model.schema.target is None else f" For such a target, use {other}."
        raise ValueError(
            f"{type(model).__name__} needs a schema with "
            f"target={model._target_kind.__name__}(...), got {model.schema.target!r}.{advice}"
        )
    check_ledger(model.ledger)
    if model.ledger is not None and model.reproducible_seed is not None:
        raise ValueError(
            f"reproducible_seed={model.reproducible_seed!r} makes a model that is not private, "
            "and a shared ledger rejects it; omit the seed or the ledger."
        )
