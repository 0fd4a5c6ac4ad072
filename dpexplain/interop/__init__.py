"""Interoperability: export explanations to InterpretML, ONNX and SQL.

To import models, use :func:`dpexplain.explain.from_interpret`. To export the contributions for
individual samples to SHAP, use the method ``to_shap`` of a local explanation.
"""

from __future__ import annotations

from dpexplain.interop.interpretml import to_interpret
from dpexplain.interop.onnx_graph import to_onnx
from dpexplain.interop.sql import to_sql

__all__ = ["to_interpret", "to_onnx", "to_sql"]
