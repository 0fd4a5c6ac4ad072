"""Conversion of explanations and other objects to and from JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.compare import Comparison, MulticlassComparison
from dpexplain.exceptions import SchemaError
from dpexplain.explain import (
    GlobalExplanation,
    Guarantee,
    LocalExplanation,
    MulticlassExplanation,
    MulticlassLocalExplanation,
    NoiseModel,
    PairAxis,
    PairCurve,
    ShapeFunction,
)
from dpexplain.explain._record import FloatArray
from dpexplain.io._edits import record_from_plain, record_to_plain
from dpexplain.io._fields import (
    Fields,
    any_number,
    flag,
    integer,
    items,
    number,
    optional,
    packed_singles,
    singles,
    text,
)
from dpexplain.io._fits import fits_from_plain, fits_to_plain
from dpexplain.schema import Schema
from dpexplain.schema.toml import fields_from_plain, schema_to_plain
from dpexplain.statement.statement import PrivacyStatement

_MOST_BINS = 1 << 17
_numbers = items(number)
_texts = items(text)


def guarantee_to_plain(guarantee: Guarantee) -> dict[str, Any]:
    """Convert a guarantee to JSON values."""
    return guarantee.to_dict()


def guarantee_from_plain(value: Any, path: str = "guarantee") -> Guarantee:
    """Convert JSON values to a guarantee."""
    fields = Fields(value, path)
    guarantee = Guarantee(
        epsilon=fields.take("epsilon", any_number),
        delta=fields.take("delta", number),
        adjacency=fields.take("adjacency", text),
        private=fields.take("private", flag),
        mu=fields.take("mu", optional(any_number)),
        covers=fields.take("covers", text),
        sampler=fields.take("sampler", text),
        version=fields.take("version", text),
        unit=fields.take("unit", text),
        notes=tuple(fields.take("notes", _texts)),
        epsilon_replace=fields.take("epsilon_replace", optional(any_number)),
    )
    fields.finish()
    return guarantee


def shape_to_plain(shape: ShapeFunction) -> dict[str, Any]:
    """Convert a shape function to JSON values."""
    plain = {
        "name": shape.name,
        "kind": shape.kind,
        "contribution": shape.contribution.tolist(),
        "count": shape.count.tolist(),
        "guarantee": guarantee_to_plain(shape.guarantee),
        "bin_edges": _list_or_none(shape.bin_edges),
        "categories": None if shape.categories is None else list(shape.categories),
        "ordered": shape.ordered,
        "unit": shape.unit,
        "description": shape.description,
        "noise_std": _list_or_none(shape.noise_std),
        "structure_std": _list_or_none(shape.structure_std),
        "sampling_std": _list_or_none(shape.sampling_std),
        "simultaneous_factor": shape.simultaneous_factor,
        "special": list(shape.special),
        "step": shape.step,
        "score_unit": shape.score_unit,
        "monotone": shape.monotone,
        "bag_std": _list_or_none(shape.bag_std),
        "stretch": shape.stretch,
        "recovered": _list_or_none(shape.recovered),
        "released": _list_or_none(shape.released),
        "edits": list(shape.edits),
    }
    if shape.effect is not None:
        plain["effect"] = shape.effect.tolist()
        plain["effect_std"] = _list_or_none(shape.effect_std)
        plain["effect_factor"] = shape.effect_factor
    if shape.count_std is not None:
        plain["count_std"] = shape.count_std.tolist()
    if shape.unclear_with:
        plain["unclear_with"] = shape.unclear_with
    if shape.score_name:
        plain["score_name"] = shape.score_name
    return plain


def shape_from_plain(value: Any, path: str = "shape") -> ShapeFunction:
    """Convert JSON values to a shape function."""
    fields = Fields(value, path)
    arguments: dict[str, Any] = {
        "name": fields.take("name", text),
        "kind": fields.take("kind", text),
        "contribution": fields.take("contribution", _numbers),
        "count": fields.take("count", _numbers),
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "bin_edges": fields.take("bin_edges", optional(_numbers)),
        "categories": fields.take("categories", optional(_texts)),
        "ordered": fields.take("ordered", flag),
        "unit": fields.take("unit", text),
        "description": fields.take("description", text),
        "noise_std": fields.take("noise_std", optional(_numbers)),
        "structure_std": fields.take("structure_std", optional(_numbers)),
        "sampling_std": fields.take("sampling_std", optional(_numbers)),
        "simultaneous_factor": fields.take("simultaneous_factor", optional(number)),
        "special": fields.take("special", _texts),
        "step": fields.take("step", optional(number)),
        "score_unit": fields.take("score_unit", text),
        "score_name": fields.maybe("score_name", text) or "",
        "monotone": fields.take("monotone", optional(text)),
        "bag_std": fields.take("bag_std", optional(_numbers)),
        "stretch": fields.take("stretch", optional(number)),
        "recovered": fields.take("recovered", optional(_numbers)),
        "effect": fields.maybe("effect", _numbers),
        "effect_std": fields.maybe("effect_std", _numbers),
        "effect_factor": fields.maybe("effect_factor", number),
        "count_std": fields.maybe("count_std", _numbers),
        "unclear_with": fields.maybe("unclear_with", text) or "",
        "released": fields.take("released", optional(_numbers)),
        "edits": tuple(fields.take("edits", _texts)),
    }
    fields.finish()
    return ShapeFunction(**arguments)


def pair_to_plain(pair: PairCurve) -> dict[str, Any]:
    """Convert a pair curve to JSON values."""
    plain = {
        "name": pair.name,
        "axes": [
            {
                "name": axis.name,
                "kind": axis.kind,
                "bin_edges": _list_or_none(axis.bin_edges),
                "categories": None if axis.categories is None else list(axis.categories),
                "ordered": axis.ordered,
                "special": list(axis.special),
                "unit": axis.unit,
                "step": axis.step,
            }
            for axis in pair.axes
        ],
        "contribution": pair.contribution.tolist(),
        "count": pair.count.tolist(),
        "guarantee": guarantee_to_plain(pair.guarantee),
        "score_unit": pair.score_unit,
    }
    for name in ("noise_std", "sampling_std", "effect_std", "released"):
        if getattr(pair, name) is not None:
            plain[name] = getattr(pair, name).tolist()
    if pair.score_name:
        plain["score_name"] = pair.score_name
    if pair.edits:
        plain["edits"] = list(pair.edits)
    return plain


def pair_from_plain(value: Any, path: str = "pair") -> PairCurve:
    """Convert JSON values to a pair curve."""
    fields = Fields(value, path)
    pair = PairCurve(
        fields.take("name", text),
        tuple(fields.take("axes", items(_axis_from_plain))),  # type: ignore[arg-type]
        fields.take("contribution", items(_numbers)),  # type: ignore[arg-type]
        fields.take("count", items(_numbers)),  # type: ignore[arg-type]
        guarantee=fields.take("guarantee", guarantee_from_plain),
        score_unit=fields.take("score_unit", text),
        score_name=fields.maybe("score_name", text) or "",
        noise_std=fields.maybe("noise_std", items(_numbers)),  # type: ignore[arg-type]
        sampling_std=fields.maybe("sampling_std", items(_numbers)),  # type: ignore[arg-type]
        effect_std=fields.maybe("effect_std", items(_numbers)),  # type: ignore[arg-type]
        released=fields.maybe("released", items(_numbers)),  # type: ignore[arg-type]
        edits=tuple(fields.maybe("edits", _texts) or ()),
    )
    fields.finish()
    return pair


def _axis_from_plain(value: Any, path: str) -> PairAxis:
    fields = Fields(value, path)
    arguments: dict[str, Any] = {
        "name": fields.take("name", text),
        "kind": fields.take("kind", text),
        "bin_edges": fields.take("bin_edges", optional(_numbers)),
        "categories": fields.take("categories", optional(_texts)),
        "ordered": fields.take("ordered", flag),
        "special": fields.take("special", _texts),
        "unit": fields.take("unit", text),
        "step": fields.take("step", optional(number)),
    }
    fields.finish()
    return PairAxis(**arguments)


def noise_to_plain(noise: NoiseModel) -> dict[str, Any]:
    """Convert a joint noise model to JSON values, in single precision."""
    return {
        "sizes": list(noise.sizes),
        "factor": packed_singles(noise.factor),
        "remainder_std": packed_singles(noise.remainder_std[:, None]),
    }


def noise_from_plain(value: Any, path: str = "noise") -> NoiseModel:
    """Convert JSON values to a joint noise model."""
    fields = Fields(value, path)
    sizes = fields.take("sizes", items(integer))
    if not all(0 < n <= _MOST_BINS for n in sizes):
        raise ValueError(f"{path}.sizes must be positive numbers of bins.")
    n_values = sum(sizes) + 1
    factor = fields.take("factor", singles(n_values))
    remainder = fields.take("remainder_std", singles(n_values))
    fields.finish()
    if remainder.shape[1] != 1:
        raise ValueError(
            f"{path}.remainder_std must contain one number for each of {n_values} values."
        )
    return NoiseModel(tuple(sizes), factor, remainder[:, 0])


def global_to_plain(explanation: GlobalExplanation) -> dict[str, Any]:
    """Convert a global explanation to JSON values."""
    plain = {
        "terms": [shape_to_plain(term) for term in explanation.terms],
        "intercept": explanation.intercept,
        "link": explanation.link,
        "guarantee": guarantee_to_plain(explanation.guarantee),
        "target_name": explanation.target_name,
        "target_unit": explanation.target_unit,
        "classes": None if explanation.classes is None else list(explanation.classes),
        "model_name": explanation.model_name,
        "of_class": explanation.of_class,
        "noise": None if explanation.noise is None else noise_to_plain(explanation.noise),
        "edits": [record_to_plain(record) for record in explanation.edits],
        "released_intercept": explanation.released_intercept,
        "pairs": [pair_to_plain(pair) for pair in explanation.pairs],
        "main_effects_only": explanation.main_effects_only,
    }
    if explanation.effect_scatter is not None:
        plain["effect_scatter"] = noise_to_plain(explanation.effect_scatter)
        plain["effect_intercept"] = explanation.effect_intercept
    if explanation.schema is not None:
        plain["schema"] = schema_to_plain(explanation.schema)
    if explanation.alarms:
        plain["alarms"] = list(explanation.alarms)
    return plain


def global_from_plain(value: Any, path: str = "explanation") -> GlobalExplanation:
    """Convert JSON values to a global explanation."""
    fields = Fields(value, path)
    arguments: dict[str, Any] = {
        "terms": fields.take("terms", items(shape_from_plain)),
        "intercept": fields.take("intercept", number),
        "link": fields.take("link", text),
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "target_name": fields.take("target_name", text),
        "target_unit": fields.take("target_unit", text),
        "classes": fields.take("classes", optional(_texts)),
        "model_name": fields.take("model_name", text),
        "of_class": fields.take("of_class", text),
        "noise": fields.take("noise", optional(noise_from_plain)),
        "effect_scatter": fields.maybe("effect_scatter", noise_from_plain),
        "effect_intercept": fields.maybe("effect_intercept", optional(number)),
        "edits": tuple(fields.take("edits", items(record_from_plain))),
        "released_intercept": fields.take("released_intercept", optional(number)),
        "pairs": tuple(fields.take("pairs", items(pair_from_plain))),
        "main_effects_only": fields.take("main_effects_only", flag),
        "schema": fields.maybe("schema", _schema_from_plain),
        "alarms": tuple(fields.maybe("alarms", _texts) or ()),
    }
    fields.finish()
    return GlobalExplanation(**arguments)


def _schema_from_plain(value: Any, path: str) -> Schema:
    try:
        return Schema(**fields_from_plain(value))
    except SchemaError as error:
        raise ValueError(f"{path}: {error}") from None


def local_to_plain(explanation: LocalExplanation) -> dict[str, Any]:
    """Convert a local explanation to JSON values."""
    return {
        "term_names": list(explanation.term_names),
        "contributions": explanation.contributions.tolist(),
        "intercept": explanation.intercept,
        "link": explanation.link,
        "bin_labels": [list(row) for row in explanation.bin_labels],
        "guarantee": guarantee_to_plain(explanation.guarantee),
        "classes": None if explanation.classes is None else list(explanation.classes),
        "samples_public": explanation.samples_public,
        "target_name": explanation.target_name,
        "target_unit": explanation.target_unit,
        "noise_std": _list_or_none(explanation.noise_std),
        "total_std": _list_or_none(explanation.total_std),
        "score_std": _list_or_none(explanation.score_std),
        "of_class": explanation.of_class,
        "rest_score": _list_or_none(explanation.rest_score),
    }


def local_from_plain(value: Any, path: str = "explanation") -> LocalExplanation:
    """Convert JSON values to a local explanation."""
    fields = Fields(value, path)
    names = fields.take("term_names", _texts)
    arguments: dict[str, Any] = {
        "contributions": _matrix(fields.take("contributions", items(_numbers)), len(names)),
        "intercept": fields.take("intercept", number),
        "link": fields.take("link", text),
        "bin_labels": fields.take("bin_labels", items(_texts)),
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "classes": fields.take("classes", optional(_texts)),
        "samples_public": fields.take("samples_public", flag),
        "target_name": fields.take("target_name", text),
        "target_unit": fields.take("target_unit", text),
        "noise_std": _matrix(fields.take("noise_std", optional(items(_numbers))), len(names)),
        "total_std": _matrix(fields.take("total_std", optional(items(_numbers))), len(names)),
        "score_std": fields.take("score_std", optional(_numbers)),
        "of_class": fields.take("of_class", text),
        "rest_score": fields.take("rest_score", optional(_numbers)),
    }
    fields.finish()
    return LocalExplanation(tuple(names), **arguments)


def multiclass_to_plain(
    explanation: MulticlassExplanation | MulticlassLocalExplanation,
) -> dict[str, Any]:
    """Convert a multiclass explanation, global or local, to JSON values."""
    if isinstance(explanation, MulticlassExplanation):
        return {"by_class": [global_to_plain(part) for part in explanation.by_class]}
    return {"by_class": [local_to_plain(part) for part in explanation.by_class]}


def multiclass_from_plain(value: Any, path: str = "explanation") -> MulticlassExplanation:
    """Rebuild a `MulticlassExplanation` from JSON values."""
    fields = Fields(value, path)
    parts = fields.take("by_class", items(global_from_plain))
    fields.finish()
    return MulticlassExplanation(tuple(parts))


def multiclass_local_from_plain(
    value: Any, path: str = "explanation"
) -> MulticlassLocalExplanation:
    """Rebuild a `MulticlassLocalExplanation` from JSON values."""
    fields = Fields(value, path)
    parts = fields.take("by_class", items(local_from_plain))
    fields.finish()
    return MulticlassLocalExplanation(tuple(parts))


def multiclass_comparison_to_plain(comparison: MulticlassComparison) -> dict[str, Any]:
    """Convert a multiclass comparison to JSON values."""
    return {"by_class": [comparison_to_plain(part) for part in comparison.by_class]}


def multiclass_comparison_from_plain(value: Any, path: str = "comparison") -> MulticlassComparison:
    """Rebuild a `MulticlassComparison` from JSON values."""
    fields = Fields(value, path)
    parts = fields.take("by_class", items(comparison_from_plain))
    fields.finish()
    return MulticlassComparison(tuple(parts))


def statement_to_plain(statement: PrivacyStatement) -> dict[str, Any]:
    """Convert a privacy statement to JSON values."""
    return statement.to_dict()


def statement_from_plain(value: Any, path: str = "statement") -> PrivacyStatement:
    """Rebuild a `PrivacyStatement` from JSON values, and check its fields."""
    Fields(value, path)
    return PrivacyStatement.from_dict(value)


def comparison_to_plain(comparison: Comparison) -> dict[str, Any]:
    """Convert a comparison to JSON values."""
    return fits_to_plain(comparison, global_to_plain)


def comparison_from_plain(value: Any, path: str = "comparison") -> Comparison:
    """Convert JSON values to a comparison."""
    return fits_from_plain(value, path, Comparison, global_from_plain)


def _list_or_none(array: FloatArray | None) -> list[Any] | None:
    return None if array is None else array.tolist()


def _matrix(rows: list[list[float]] | None, width: int) -> Any:
    """Return rows unchanged, or an array of shape (0, width) for an empty list."""
    return np.empty((0, width)) if rows == [] else rows
