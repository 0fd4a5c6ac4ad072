"""Explanations of additive and locally linear models, as immutable data.

The classes are frozen dataclasses with read-only arrays. Each explanation has a method ``frame()``,
short text and HTML representations, and a ``guarantee`` attribute that describes its privacy. To
read and write JSON files, see :mod:`dpexplain.io`; for figures, see :mod:`dpexplain.plotting`.
"""

from __future__ import annotations

from dpexplain.explain.additive.denoising import denoised
from dpexplain.explain.additive.edits import EditEffect, EditRecord
from dpexplain.explain.additive.from_interpretml import from_interpret
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import LocalExplanation, inverse_link, total_score
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.additive.multiclass_local import MulticlassLocalExplanation
from dpexplain.explain.additive.pair_curve import PairAxis, PairCurve
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claim_strip import ClaimStrip, claim_strip
from dpexplain.explain.claims import Claim, claim
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
    "denoised",
    "from_interpret",
    "inverse_link",
    "total_score",
]
