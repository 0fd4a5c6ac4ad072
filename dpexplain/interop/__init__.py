"""Take explanations to other tools: InterpretML, SHAP and ONNX, each with its own extra.

The way in, :func:`dpexplain.explain.from_interpret`, needs no other package.
"""

from __future__ import annotations

from dpexplain.interop.interpretml import to_interpret
from dpexplain.interop.onnx_graph import to_onnx
from dpexplain.interop.shap_values import to_shap

__all__ = ["to_interpret", "to_onnx", "to_shap"]
