"""Explanations of additive and locally linear models: frozen values that hold no model or data.

Every class here is a frozen dataclass over read-only arrays with ``frame()``, a short
``repr`` and HTML repr, and a ``guarantee`` that says what privacy it carries. The JSON
round trip is in :mod:`dpexplain.io`, the figures are in :mod:`dpexplain.plotting`.
"""

from __future__ import annotations

from dpexplain.explain.denoising import denoised
from dpexplain.explain.edits import EditEffect, EditRecord
from dpexplain.explain.filter_bank import FilterBank
from dpexplain.explain.filter_inputs import InputFeature, InputPreparation
from dpexplain.explain.filter_local import FilterExplanation
from dpexplain.explain.filter_noise import FilterNoise
from dpexplain.explain.from_interpretml import from_interpret
from dpexplain.explain.global_explanation import GlobalExplanation
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.local_explanation import LocalExplanation, inverse_link, total_score
from dpexplain.explain.multiclass import MulticlassExplanation
from dpexplain.explain.multiclass_local import MulticlassLocalExplanation
from dpexplain.explain.noise import NoiseModel
from dpexplain.explain.pair_curve import PairAxis, PairCurve
from dpexplain.explain.shape_function import ShapeFunction
from dpexplain.explain.weight_map import WeightMap

__all__ = [
    "EditEffect",
    "EditRecord",
    "FilterBank",
    "FilterExplanation",
    "FilterNoise",
    "GlobalExplanation",
    "Guarantee",
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
    "denoised",
    "from_interpret",
    "inverse_link",
    "total_score",
]
