"""Interoperability: export explanations to InterpretML, ONNX and SQL.

Import is in :func:`dpexplain.explain.from_interpret`; contributions of single samples are exported
to SHAP by their method ``to_shap``.
"""

from __future__ import annotations

from dpexplain.interop.interpretml import to_interpret
from dpexplain.interop.onnx_graph import to_onnx
from dpexplain.interop.sql import to_sql

__all__ = ["to_interpret", "to_onnx", "to_sql"]
