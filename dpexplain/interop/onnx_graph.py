"""Predictions of an additive model as an ONNX graph, for programs without Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.explain import FilterBank, GlobalExplanation, MulticlassExplanation, ShapeFunction
from dpexplain.interop._classes import explained_classes
from dpexplain.interop._graph import Graph
from dpexplain.interop.onnx_filters import filter_graph


def to_onnx(explanation: GlobalExplanation | MulticlassExplanation | FilterBank) -> Any:
    """Write the predictions of an explanation as an ONNX model.

    Parameters
    ----------
    explanation : GlobalExplanation, MulticlassExplanation or FilterBank
        Of a boosting model or a locally linear one, private or not.

    Returns
    -------
    onnx.ModelProto
        One input per feature, of shape (n, 1) and named after it: double for a number (NaN is
        missing), string for a category (the empty string is missing, a name outside the list is
        "other"; names are compared as they are, outer spaces and spellings of numbers included).
        Filters whose features are all numbers, such as pixels, have one input ``X`` instead, of
        shape (n, n_features) in the order of the features. Outputs: ``score`` on the link scale,
        shape (n, 1) or (n, n_classes); and ``probability``, shape (n, n_classes), or
        ``prediction``, shape (n, 1), for a regression. The guarantee is in its description.

    Raises
    ------
    ImportError
        If onnx is not installed.
    TypeError
        If `explanation` is of another kind.
    ValueError
        If it explains one class of several, or filters that do not know how to prepare a record.

    Examples
    --------
    >>> onnx.save(to_onnx(model.explain_global()), "model.onnx")  # doctest: +SKIP
    """
    if isinstance(explanation, FilterBank):
        return filter_graph(explanation)
    parts = explained_classes(explanation)
    graph = Graph()
    first = parts[0]
    total = graph.constant(np.array([[part.intercept for part in parts]]))
    for index, term in enumerate(first.terms):
        curves = np.stack([part.terms[index].contribution for part in parts], axis=1)
        position = _position(graph, term)
        # Gather at positions of shape (n, 1) gives (n, 1, n_scores): the middle axis goes.
        gathered = graph.node("Gather", graph.constant(curves), position, axis=0)
        total = graph.node("Add", total, graph.squeezed(gathered))
    graph.output("score", total, len(parts))
    _outcome(graph, first, total, len(parts))
    return graph.model("additive_model", explanation.guarantee.statement())


def _outcome(graph: Graph, first: GlobalExplanation, score: str, n_scores: int) -> None:
    if first.link == "softmax":
        graph.output("probability", graph.node("Softmax", score, axis=1), n_scores)
    elif first.link == "logit":
        high = graph.node("Sigmoid", score)
        low = graph.node("Sigmoid", graph.node("Neg", score))
        graph.output("probability", graph.node("Concat", low, high, axis=1), 2)
    else:
        value = graph.node("Exp", score) if first.link == "log" else graph.node("Identity", score)
        graph.output("prediction", value, 1)


def _position(graph: Graph, term: ShapeFunction) -> str:
    """Add the input of a term, and find the bin of each of its cells."""
    missing, other = _place(term, "missing"), _place(term, "other")
    if term.bin_edges is None:
        return graph.category(term.name, term.categories or (), missing=missing, other=other)
    cell = graph.numbers(term.name)
    inner = graph.constant(np.asarray(term.bin_edges[1:-1], dtype=np.float64)[np.newaxis])
    steps = graph.whole(graph.node("GreaterOrEqual", cell, inner))
    value_bin = graph.node("ReduceSum", steps, graph.axes(1), keepdims=1)
    place = graph.constant(np.array([[missing]], dtype=np.int64))
    return graph.node("Where", graph.node("IsNaN", cell), place, value_bin)


def _place(term: ShapeFunction, name: str) -> int:
    """Position of a special bin; a bin that a model does not have counts as its first one."""
    return term.n_value_bins + term.special.index(name) if name in term.special else 0
