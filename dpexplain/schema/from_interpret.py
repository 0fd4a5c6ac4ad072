"""Schemas from the feature names, types and bounds declared for InterpretML."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.schema.features import Categorical, Classes, Feature, Numeric, Range, Target


class _Declared(NamedTuple):
    """Declarations for each feature, by feature index, and for the target."""

    names: list[str]
    types: list[Any]
    bounds: dict[int, tuple[float, float]]
    categories: dict[int, list[Any]]
    target: Target | None


class FromInterpret:
    """Mixin that creates a schema from InterpretML declarations."""

    @classmethod
    def from_interpret(
        cls,
        model: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[Any] | None = None,
        privacy_bounds: Mapping[int | str, tuple[float, float]] | ArrayLike | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        target: Target | None = None,
    ) -> Self:
        """Convert InterpretML's parameters, or a model that has them, to a schema.

        Parameters
        ----------
        model : InterpretML estimator or None, default=None
            Model whose parameters are the defaults for the parameters below. If it is fitted,
            bounds, categories and classes that are still missing are taken from what the model
            learned from its data, with a warning, and the schema is marked (`read_from_records`).
        feature_names : sequence of str or None, default=None
            Names of the features, as in InterpretML.
        feature_types : sequence or None, default=None
            Type of each feature, as in InterpretML: "continuous", "nominal", or a list of ordered
            categories. If None, features with bounds are continuous, and features with categories
            are nominal.
        privacy_bounds : mapping or array of shape (n_features, 2), or None, default=None
            Bounds of the features, as in InterpretML: a mapping keyed by name or index, or an array
            with one row per feature.
        categories : mapping of str to sequence, or None, default=None
            Public categories of nominal features, which InterpretML would take from the data.
        target : Range, Classes or None, default=None
            Target of the schema.

        Returns
        -------
        Schema

        Raises
        ------
        SchemaError
            If a feature has no public bounds or categories, or two features have the same name. The
            message says what to pass.

        Warns
        -----
        PrivacyWarning
            If bounds, categories or classes come from the data of a fitted model.

        Examples
        --------
        >>> from dpexplain import Schema
        >>> Schema.from_interpret(
        ...     feature_names=["age", "job"],
        ...     feature_types=["continuous", "nominal"],
        ...     privacy_bounds={"age": (17, 90)},
        ...     categories={"job": ["nurse", "clerk"]},
        ... ).features["age"]
        Numeric(17, 90)
        """
        given = {} if model is None else model.get_params()
        if feature_names is None:  # an array has no truth value
            feature_names = given.get("feature_names")
        names = _names(model, feature_names, categories)
        types = given.get("feature_types") if feature_types is None else feature_types
        types = [None] * len(names) if types is None else types
        if len(types) != len(names):
            raise SchemaError(
                f"feature_types has {len(types)} entries for {len(names)} features; pass one each."
            )
        bounds = given.get("privacy_bounds") if privacy_bounds is None else privacy_bounds
        listed = {names.index(name): list(v) for name, v in (categories or {}).items()}
        if target is None and given.get("privacy_target_min") is not None:
            target = Range(given["privacy_target_min"], given["privacy_target_max"])
        declared = _Declared(names, list(types), _bounds(bounds, names), listed, target)
        read = _read_from_data(declared, model)
        if read:
            warnings.warn(
                f"the model read {', '.join(read)} from its data, so no fit with this schema is "
                "private: replace them by public knowledge or, if these data are public, call "
                "dataclasses.replace(schema, read_from_records=False).",
                PrivacyWarning,
                stacklevel=2,
            )
        features = {name: _feature(i, name, declared) for i, name in enumerate(names)}
        found = _classes(model) if declared.target is None else declared.target
        return cls(features, found, read_from_records=bool(read))  # type: ignore[call-arg]


def _names(model: Any, given: Any, categories: Mapping[str, Any] | None) -> list[str]:
    names = given if given is not None else getattr(model, "feature_names_in_", None)
    if names is None:
        raise SchemaError("pass feature_names, one for each column, in the order of the table.")
    names = [str(name) for name in names]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise SchemaError(f"feature_names repeats {repeated[0]!r}; give each column its own name.")
    if unknown := [name for name in categories or {} if name not in names]:
        raise SchemaError(f"categories names {unknown[0]!r}, which is not in feature_names.")
    return names


def _bounds(given: Any, names: Sequence[str]) -> dict[int, tuple[float, float]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = dict(enumerate(np.asarray(given, dtype=np.float64)))
    found = {}
    for key, ends in given.items():
        place = key if isinstance(key, int) else names.index(key) if key in names else -1
        if not 0 <= place < len(names) or np.shape(ends) != (2,):
            raise SchemaError(
                f"privacy_bounds[{key!r}] must be (low, high) of a name or index in feature_names."
            )
        if np.isfinite(np.asarray(ends, dtype=np.float64)).all():  # categories have no bounds
            found[place] = (float(ends[0]), float(ends[1]))
    return found


def _read_from_data(declared: _Declared, model: Any) -> list[str]:
    """Fill gaps in the declarations from a fitted model, and list what was filled in."""
    read = []
    for place, name in enumerate(declared.names if hasattr(model, "bins_") else ()):
        known = declared.types[place]
        if known in (None, "auto"):
            declared.types[place] = known = str(model.feature_types_in_[place])
        bins = model.bins_[place][0]
        if isinstance(bins, dict) and isinstance(known, str) and place not in declared.categories:
            declared.categories[place] = sorted(bins, key=bins.__getitem__)
            read.append(f"the categories of {name!r}")
        elif not isinstance(bins, dict) and place not in declared.bounds:
            low, high = model.feature_bounds_[place]
            declared.bounds[place] = (float(low), float(high))
            read.append(f"the bounds of {name!r}")
    if declared.target is None and _classes(model) is not None:
        read.append("the classes")
    return read


def _classes(model: Any) -> Classes | None:
    labels = getattr(model, "classes_", None)
    return None if labels is None else Classes(np.asarray(labels).tolist())


def _feature(place: int, name: str, declared: _Declared) -> Feature:
    kind, categories = declared.types[place], declared.categories.get(place)
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        return Categorical(kind, ordered=True)
    if categories is not None:
        return Categorical(categories, ordered=kind == "ordinal")
    if kind in ("nominal", "ordinal"):
        raise SchemaError(
            f"feature {name!r} is {kind}; pass categories={{{name!r}: [...]}}, its public "
            "list, because a private fit reads none from the data."
        )
    if place in declared.bounds:
        return Numeric(*declared.bounds[place])
    raise SchemaError(
        f"feature {name!r} has no public bounds; pass privacy_bounds={{{name!r}: (low, high)}}, or "
        "its categories."
    )
