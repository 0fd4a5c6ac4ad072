"""Explanations of additive and locally linear models, as immutable data.

The classes are frozen dataclasses with read-only arrays. Each explanation has a method ``frame()``,
short text and HTML representations, and a ``guarantee`` attribute that describes its privacy. To
read and write JSON files, see :mod:`dpexplain.io`; for figures, see :mod:`dpexplain.plotting`.
Names are imported on first use, so importing a model does not load every kind of explanation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpexplain.explain.additive.denoising import denoised
    from dpexplain.explain.additive.edits import EditEffect, EditRecord
    from dpexplain.explain.additive.from_interpretml import from_interpret
    from dpexplain.explain.additive.global_explanation import GlobalExplanation
    from dpexplain.explain.additive.local_explanation import (
        LocalExplanation,
        inverse_link,
        total_score,
    )
    from dpexplain.explain.additive.multiclass import MulticlassExplanation
    from dpexplain.explain.additive.multiclass_local import MulticlassLocalExplanation
    from dpexplain.explain.additive.pair_curve import PairAxis, PairCurve
    from dpexplain.explain.additive.shape_function import ShapeFunction
    from dpexplain.explain.claims.claim import Claim
    from dpexplain.explain.claims.claim_strip import ClaimStrip, claim_strip
    from dpexplain.explain.claims.claiming import claim
    from dpexplain.explain.claims.decisions import decisions
    from dpexplain.explain.claims.filter_claims import filter_claim, filter_claim_strip
    from dpexplain.explain.filters.filter_bank import FilterBank
    from dpexplain.explain.filters.filter_inputs import InputFeature, InputPreparation
    from dpexplain.explain.filters.filter_local import FilterExplanation
    from dpexplain.explain.filters.filter_noise import FilterNoise
    from dpexplain.explain.filters.weight_map import WeightMap
    from dpexplain.explain.guarantee import Guarantee
    from dpexplain.explain.health import Finding, Health
    from dpexplain.explain.noise_model import NoiseModel

__all__ = [
    "Claim",
    "ClaimStrip",
    "EditEffect",
    "EditRecord",
    "FilterBank",
    "FilterExplanation",
    "FilterNoise",
    "Finding",
    "GlobalExplanation",
    "Guarantee",
    "Health",
    "InputFeature",
    "InputPreparation",
    "LocalExplanation",
    "MulticlassExplanation",
    "MulticlassLocalExplanation",
    "NoiseModel",
    "PairAxis",
    "PairCurve",
    "ShapeFunction",
    "WeightMap",
    "claim",
    "claim_strip",
    "decisions",
    "denoised",
    "filter_claim",
    "filter_claim_strip",
    "from_interpret",
    "inverse_link",
    "total_score",
]

# The module that defines each public name; the imports above are for type checkers.
_NAMES_BY_MODULE = {
    "additive.denoising": ("denoised",),
    "additive.edits": ("EditEffect", "EditRecord"),
    "additive.from_interpretml": ("from_interpret",),
    "additive.global_explanation": ("GlobalExplanation",),
    "additive.local_explanation": ("LocalExplanation", "inverse_link", "total_score"),
    "additive.multiclass": ("MulticlassExplanation",),
    "additive.multiclass_local": ("MulticlassLocalExplanation",),
    "additive.pair_curve": ("PairAxis", "PairCurve"),
    "additive.shape_function": ("ShapeFunction",),
    "claims.claim": ("Claim",),
    "claims.claim_strip": ("ClaimStrip", "claim_strip"),
    "claims.claiming": ("claim",),
    "claims.decisions": ("decisions",),
    "claims.filter_claims": ("filter_claim", "filter_claim_strip"),
    "filters.filter_bank": ("FilterBank",),
    "filters.filter_inputs": ("InputFeature", "InputPreparation"),
    "filters.filter_local": ("FilterExplanation",),
    "filters.filter_noise": ("FilterNoise",),
    "filters.weight_map": ("WeightMap",),
    "guarantee": ("Guarantee",),
    "health": ("Finding", "Health"),
    "noise_model": ("NoiseModel",),
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
    globals()[name] = value  # later uses skip this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
