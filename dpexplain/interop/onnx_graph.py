"""Predictions of an additive model as an ONNX graph, for programs without Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.explain import GlobalExplanation, MulticlassExplanation, ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.interop._classes import explained_classes

_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8


def to_onnx(explanation: GlobalExplanation | MulticlassExplanation) -> Any:
    """Write the predictions of an explanation as an ONNX model.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation
        Of a boosting model, private or not.

    Returns
    -------
    onnx.ModelProto
        One input per term, of shape (n, 1) and named after it: double for a numeric term (NaN is
        missing), string for a categorical one (the empty string is missing, a name outside the
        list is "other"; names are compared as they are, outer spaces and spellings of numbers
        included). Outputs: ``score`` on the link scale, shape (n, 1) or (n, n_classes); and
        ``probability``, shape (n, n_classes), or ``prediction``, shape (n, 1), for a regression.
        The guarantee is in its description.

    Raises
    ------
    ImportError
        If onnx is not installed.
    TypeError
        If `explanation` is of another kind.

    Examples
    --------
    >>> onnx.save(to_onnx(model.explain_global()), "model.onnx")  # doctest: +SKIP
    """
    parts = explained_classes(explanation)
    graph = _Graph()
    first = parts[0]
    total = graph.constant(np.array([[part.intercept for part in parts]]))
    for index, term in enumerate(first.terms):
        curves = np.stack([part.terms[index].contribution for part in parts], axis=1)
        position = graph.position(term)
        # Gather at positions of shape (n, 1) gives (n, 1, n_scores): the middle axis goes.
        gathered = graph.node("Gather", graph.constant(curves), position, axis=0)
        total = graph.node("Add", total, graph.squeezed(gathered))
    graph.output("score", total, len(parts))
    _outcome(graph, first, total, len(parts))
    return graph.model(explanation)


def _outcome(graph: _Graph, first: GlobalExplanation, score: str, n_scores: int) -> None:
    if first.link == "softmax":
        graph.output("probability", graph.node("Softmax", score, axis=1), n_scores)
    elif first.link == "logit":
        high = graph.node("Sigmoid", score)
        low = graph.node("Sigmoid", graph.node("Neg", score))
        graph.output("probability", graph.node("Concat", low, high, axis=1), 2)
    else:
        value = graph.node("Exp", score) if first.link == "log" else graph.node("Identity", score)
        graph.output("prediction", value, 1)


class _Graph:
    """Nodes of a graph in the order in which they are computed."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError(
                "to_onnx needs onnx; install dpexplain with the extra [interop]."
            ) from None
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def constant(self, values: FloatArray | Any) -> str:
        """Add an array and return its name."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        name = f"result_{len(self._nodes)}"
        made = self._onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self._nodes.append(made)
        return name

    def squeezed(self, name: str) -> str:
        """Drop the middle one of three axes."""
        return self.node("Squeeze", name, self.constant(np.array([1], dtype=np.int64)))

    def position(self, term: ShapeFunction) -> str:
        """Add the input of a term, and find the bin of each of its cells."""
        if term.bin_edges is not None:
            return self._numeric_position(term)
        return self._category_position(term)

    def _numeric_position(self, term: ShapeFunction) -> str:
        assert term.bin_edges is not None
        cell = self._input(term.name, self._onnx.TensorProto.DOUBLE)
        inner = self.constant(np.asarray(term.bin_edges[1:-1], dtype=np.float64)[np.newaxis])
        reached = self.node("GreaterOrEqual", cell, inner)
        steps = self.node("Cast", reached, to=self._onnx.TensorProto.INT64)
        axis = self.constant(np.array([1], dtype=np.int64))
        value_bin = self.node("ReduceSum", steps, axis, keepdims=1)
        missing = self.constant(np.array([[_place(term, "missing")]], dtype=np.int64))
        return self.node("Where", self.node("IsNaN", cell), missing, value_bin)

    def _category_position(self, term: ShapeFunction) -> str:
        cell = self._input(term.name, self._onnx.TensorProto.STRING)
        names = [*(term.categories or ()), ""]
        return self.node(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=names,
            values_int64s=[*range(term.n_value_bins), _place(term, "missing")],
            default_int64=_place(term, "other"),
        )

    def _input(self, name: str, kind: int) -> str:
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, [None, 1]))
        return name

    def output(self, name: str, value: str, width: int) -> None:
        """Give a result its public name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        kind = self._onnx.TensorProto.DOUBLE
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, kind, [None, width]))

    def model(self, explanation: GlobalExplanation | MulticlassExplanation) -> Any:
        """Close the graph and check it."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "additive_model", self._inputs, self._outputs, self._constants
        )
        versions = [
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ]
        model = helper.make_model(graph, opset_imports=versions, producer_name="dpexplain")
        model.ir_version = _IR_VERSION  # the oldest that has these operators
        model.doc_string = explanation.guarantee.statement()
        self._onnx.checker.check_model(model)
        return model


def _place(term: ShapeFunction, name: str) -> int:
    """Position of a special bin; a bin that a model does not have counts as its first one."""
    return term.n_value_bins + term.special.index(name) if name in term.special else 0
