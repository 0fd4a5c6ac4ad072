"""Builder for ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.extras import needed

_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8


class Graph:
    """ONNX graph under construction, with its nodes in the order of computation."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError(needed("to_onnx", "onnx", "interop")) from None
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant array and return its name."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node for an operation and return the name of its result."""
        name = f"result_{len(self._nodes)}"
        made = self._onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self._nodes.append(made)
        return name

    def squeezed(self, name: str) -> str:
        """Remove axis 1 of an array, and return the name of the result."""
        return self.node("Squeeze", name, self.axes(1))

    def numbers(self, name: str, width: int = 1) -> str:
        """Add a double-precision input of shape (n, width), and return its name."""
        return self._input(name, self._onnx.TensorProto.DOUBLE, width)

    def texts(self, name: str) -> str:
        """Add a string input of shape (n, 1), and return its name."""
        return self._input(name, self._onnx.TensorProto.STRING, 1)

    def _input(self, name: str, kind: int, width: int) -> str:
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, [None, width]))
        return name

    def axes(self, *places: int) -> str:
        """Add a list of axes as a constant, and return its name."""
        return self.constant(np.array(places, dtype=np.int64))

    def whole(self, name: str) -> str:
        """Convert Booleans to integers, and return the name of the result."""
        return self.node("Cast", name, to=self._onnx.TensorProto.INT64)

    def doubles(self, name: str) -> str:
        """Convert Booleans or integers to doubles, and return the name of the result."""
        return self.node("Cast", name, to=self._onnx.TensorProto.DOUBLE)

    def category(self, cell: str, categories: tuple[str, ...], *, missing: int, other: int) -> str:
        """Map each string to its category's index, and return the name of the result."""
        return self.node(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=[*categories, ""],
            values_int64s=[*range(len(categories)), missing],
            default_int64=other,
        )

    def output(self, name: str, value: str, width: int) -> None:
        """Make a result an output of the graph, under a public name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        kind = self._onnx.TensorProto.DOUBLE
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, kind, [None, width]))

    def model(self, name: str, words: str) -> Any:
        """Return the finished ONNX model after checking it."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants)
        versions = [
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ]
        model = helper.make_model(graph, opset_imports=versions, producer_name="dpexplain")
        model.ir_version = _IR_VERSION  # the oldest version that has these operators
        model.doc_string = words
        self._onnx.checker.check_model(model)
        return model
