"""Explanations of additive models: frozen values that need neither a model nor data.

Every class here is a frozen dataclass over read-only arrays with ``frame()``, a short
``repr`` and HTML repr, and a ``guarantee`` that says what privacy it carries. The JSON
round trip is in :mod:`dpexplain.io`, the figures are in :mod:`dpexplain.plotting`.
"""

from __future__ import annotations

from dpexplain.explain.denoising import denoised
from dpexplain.explain.global_explanation import GlobalExplanation
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.local_explanation import LocalExplanation, inverse_link, total_score
from dpexplain.explain.multiclass import MulticlassExplanation, MulticlassLocalExplanation
from dpexplain.explain.noise import NoiseModel
from dpexplain.explain.shape_function import ShapeFunction

__all__ = [
    "GlobalExplanation",
    "Guarantee",
    "LocalExplanation",
    "MulticlassExplanation",
    "MulticlassLocalExplanation",
    "NoiseModel",
    "ShapeFunction",
    "denoised",
    "inverse_link",
    "total_score",
]
