"""Conversion of explanations of locally linear models to and from JSON values."""

from __future__ import annotations

from typing import Any

from dpexplain.compare import FilterComparison
from dpexplain.explain import (
    FilterBank,
    FilterExplanation,
    FilterNoise,
    InputFeature,
    InputPreparation,
    WeightMap,
)
from dpexplain.io._codecs import guarantee_from_plain, guarantee_to_plain
from dpexplain.io._fields import Fields, flag, integer, items, number, optional, text
from dpexplain.io._fits import fits_from_plain, fits_to_plain
from dpexplain.io._packed import any_rank, array_of, packed_array

_texts = items(text)
_shape = optional(items(integer))


def feature_to_plain(feature: InputFeature) -> dict[str, Any]:
    """Convert an `InputFeature` to JSON values."""
    return {
        "name": feature.name,
        "categories": None if feature.categories is None else list(feature.categories),
        "low": feature.low,
        "high": feature.high,
        "centre": feature.centre,
        "spread": feature.spread,
        "unit": feature.unit,
    }


def feature_from_plain(value: Any, path: str = "feature") -> InputFeature:
    """Rebuild an `InputFeature` from JSON values."""
    fields = Fields(value, path)
    categories = fields.take("categories", optional(_texts))
    feature = InputFeature(
        fields.take("name", text),
        None if categories is None else tuple(categories),
        low=fields.take("low", number),
        high=fields.take("high", number),
        centre=fields.take("centre", number),
        spread=fields.take("spread", number),
        unit=fields.take("unit", text),
    )
    fields.finish()
    return feature


def preparation_to_plain(preparation: InputPreparation) -> dict[str, Any]:
    """Convert an `InputPreparation` to JSON values."""
    return {
        "features": [feature_to_plain(feature) for feature in preparation.features],
        "per_record": preparation.per_record,
        "scale": preparation.scale,
    }


def preparation_from_plain(value: Any, path: str = "preparation") -> InputPreparation:
    """Rebuild an `InputPreparation` from JSON values."""
    fields = Fields(value, path)
    arguments: dict[str, Any] = {
        "features": tuple(fields.take("features", items(feature_from_plain))),
        "per_record": fields.take("per_record", text),
        "scale": fields.take("scale", number),
    }
    fields.finish()
    return InputPreparation(**arguments)


def filter_noise_to_plain(noise: FilterNoise) -> dict[str, Any]:
    """Convert a `FilterNoise` to JSON values."""
    return {
        "variance": packed_array(noise.variance),
        "bias_variance": packed_array(noise.bias_variance),
        "basis": None if noise.basis is None else packed_array(noise.basis),
        "origin": None if noise.origin is None else packed_array(noise.origin),
    }


def filter_noise_from_plain(value: Any, path: str = "noise") -> FilterNoise:
    """Rebuild a `FilterNoise` from JSON values."""
    fields = Fields(value, path)
    noise = FilterNoise(
        fields.take("variance", array_of((None, None, None))),
        fields.take("bias_variance", array_of((None, None))),
        fields.take("basis", optional(any_rank((None, None), (None, None, None)))),
        fields.take("origin", optional(array_of((None,)))),
    )
    fields.finish()
    return noise


def bank_to_plain(bank: FilterBank) -> dict[str, Any]:
    """Convert a filter bank to JSON values."""
    return {
        "filters": packed_array(bank.filters),
        "biases": packed_array(bank.biases),
        "classes": list(bank.classes),
        "input_names": list(bank.input_names),
        "guarantee": guarantee_to_plain(bank.guarantee),
        "inverse_temperature": bank.inverse_temperature,
        "grid_shape": None if bank.grid_shape is None else list(bank.grid_shape),
        "noise": None if bank.noise is None else filter_noise_to_plain(bank.noise),
        "preparation": (
            None if bank.preparation is None else preparation_to_plain(bank.preparation)
        ),
        "target_name": bank.target_name,
        "model_name": bank.model_name,
    }


def bank_from_plain(value: Any, path: str = "explanation") -> FilterBank:
    """Convert JSON values to a filter bank."""
    fields = Fields(value, path)
    classes, names = fields.take("classes", _texts), fields.take("input_names", _texts)
    arguments: dict[str, Any] = {
        "filters": fields.take("filters", array_of((len(classes), None, len(names)))),
        "biases": fields.take("biases", array_of((len(classes), None))),
        "classes": classes,
        "input_names": names,
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "inverse_temperature": fields.take("inverse_temperature", number),
        "grid_shape": fields.take("grid_shape", _shape),
        "noise": fields.take("noise", optional(filter_noise_from_plain)),
        "preparation": fields.take("preparation", optional(preparation_from_plain)),
        "target_name": fields.take("target_name", text),
        "model_name": fields.take("model_name", text),
    }
    fields.finish()
    return FilterBank(**arguments)


_SPREADS = ("effective_std", "own_std", "score_std", "own_score_std")


def filter_local_to_plain(explanation: FilterExplanation) -> dict[str, Any]:
    """Convert a local explanation of a filter bank to JSON values."""
    arrays = ("inputs", "effective", "bias_part", "weightings")
    spread = {name: getattr(explanation, name) for name in _SPREADS}
    return {
        **{name: packed_array(getattr(explanation, name)) for name in arrays},
        "classes": list(explanation.classes),
        "input_names": list(explanation.input_names),
        "guarantee": guarantee_to_plain(explanation.guarantee),
        "grid_shape": None if explanation.grid_shape is None else list(explanation.grid_shape),
        "samples_public": explanation.samples_public,
        "target_name": explanation.target_name,
        **{name: None if std is None else packed_array(std) for name, std in spread.items()},
    }


def filter_local_from_plain(value: Any, path: str = "explanation") -> FilterExplanation:
    """Convert JSON values to a local explanation of a filter bank."""
    fields = Fields(value, path)
    classes, names = fields.take("classes", _texts), fields.take("input_names", _texts)
    by_class, by_input = (None, len(classes)), (None, len(classes), len(names))
    arguments: dict[str, Any] = {
        "inputs": fields.take("inputs", array_of((None, len(names)))),
        "effective": fields.take("effective", array_of(by_input)),
        "bias_part": fields.take("bias_part", array_of(by_class)),
        "weightings": fields.take("weightings", array_of((*by_class, None))),
        "classes": classes,
        "input_names": names,
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "grid_shape": fields.take("grid_shape", _shape),
        "samples_public": fields.take("samples_public", flag),
        "target_name": fields.take("target_name", text),
        "effective_std": fields.take("effective_std", optional(array_of(by_input))),
        "own_std": fields.take("own_std", optional(array_of(by_input))),
        "score_std": fields.take("score_std", optional(array_of(by_class))),
        "own_score_std": fields.take("own_score_std", optional(array_of(by_class))),
    }
    fields.finish()
    return FilterExplanation(**arguments)


def weights_to_plain(weights: WeightMap) -> dict[str, Any]:
    """Convert a weight map to JSON values."""
    return {
        "title": weights.title,
        "weights": packed_array(weights.weights),
        "input_names": list(weights.input_names),
        "guarantee": guarantee_to_plain(weights.guarantee),
        "bias": weights.bias,
        "grid_shape": None if weights.grid_shape is None else list(weights.grid_shape),
        "noise_std": None if weights.noise_std is None else packed_array(weights.noise_std),
        "bias_std": weights.bias_std,
        "unit": weights.unit,
    }


def weights_from_plain(value: Any, path: str = "weights") -> WeightMap:
    """Convert JSON values to a weight map."""
    fields = Fields(value, path)
    names = fields.take("input_names", _texts)
    arguments: dict[str, Any] = {
        "title": fields.take("title", text),
        "weights": fields.take("weights", array_of((len(names),))),
        "input_names": names,
        "guarantee": fields.take("guarantee", guarantee_from_plain),
        "bias": fields.take("bias", number),
        "grid_shape": fields.take("grid_shape", _shape),
        "noise_std": fields.take("noise_std", optional(array_of((len(names),)))),
        "bias_std": fields.take("bias_std", optional(number)),
        "unit": fields.take("unit", text),
    }
    fields.finish()
    return WeightMap(**arguments)


def filter_comparison_to_plain(comparison: FilterComparison) -> dict[str, Any]:
    """Convert a comparison of filters to JSON values."""
    return fits_to_plain(comparison, bank_to_plain)


def filter_comparison_from_plain(value: Any, path: str = "comparison") -> FilterComparison:
    """Convert JSON values to a comparison of filters."""
    return fits_from_plain(value, path, FilterComparison, bank_from_plain)
