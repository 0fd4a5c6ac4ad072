"""Export of explanations to ONNX, for predictions without Python."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dpexplain.explain import FilterBank, GlobalExplanation, MulticlassExplanation
from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive._binned import Binned
from dpexplain.interop._classes import explained_classes
from dpexplain.interop._graph import Graph
from dpexplain.interop.onnx_filters import filter_graph
from dpexplain.io.files import write_file


def to_onnx(
    explanation: GlobalExplanation | MulticlassExplanation | FilterBank,
    path: str | os.PathLike[str] | None = None,
) -> Any:
    """Export the predictions of an explanation as an ONNX model.

    Parameters
    ----------
    explanation : GlobalExplanation, MulticlassExplanation or FilterBank
        Explanation of a boosting model or a locally linear model, private or not.
    path : path-like or None, default=None
        File to write; if None, the model is only returned.

    Returns
    -------
    onnx.ModelProto
        A model with one input for each feature. Each input is named after its feature and has shape
        (n, 1). The input of a numeric feature is a double; NaN means missing, and a date is given
        as days since 1970-01-01. The input of a categorical feature is a string; the empty string
        means missing, and an unknown category means "other". Categories are compared exactly,
        including surrounding spaces and the spelling of numbers. If all features of a filter bank
        are numeric, such as pixels, there is a single input ``X`` of shape (n, n_features) instead.
        The outputs are ``score`` on the link scale, shape (n, 1) or (n, n_classes), and
        ``probability``, shape (n, n_classes), or, for regression, ``prediction``, shape (n, 1). The
        model description contains the guarantee.

    Raises
    ------
    ImportError
        If onnx is not installed.
    TypeError
        If `explanation` is of any other type.
    ValueError
        If `explanation` covers only one of several classes or only main effects, or is a filter
        bank whose input preprocessing is unknown.
    OSError
        If the file cannot be written.

    Notes
    -----
    Aliases, markers of missing values and other rules of a schema are not part of the exported
    model, so its inputs must be the output of `Schema.clean`.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.interop import to_onnx
    >>> graph = to_onnx(explanation)    # to_onnx(explanation, "model.onnx") writes a file
    >>> len(graph.graph.input)
    12
    """
    if isinstance(explanation, FilterBank):
        model = filter_graph(explanation)
    else:
        model = _additive_graph(explanation)
    if path is not None:
        write_file(path, model.SerializeToString())
    return model


def _additive_graph(explanation: GlobalExplanation | MulticlassExplanation) -> Any:
    parts = explained_classes(explanation)
    graph = Graph()
    first = parts[0]
    total = graph.constant(np.array([[part.intercept for part in parts]]))
    cells = {name: _cell(graph, feature) for name, feature in _features(first).items()}
    for index, term in enumerate(first.terms):
        curves = np.stack([part.terms[index].contribution for part in parts], axis=1)
        total = _added(graph, total, curves, _position(graph, term, cells[term.name]))
    for index, pair in enumerate(first.pairs):
        tables = np.stack([part.pairs[index].contribution.ravel() for part in parts], axis=1)
        row, column = (_position(graph, axis, cells[axis.name]) for axis in pair.axes)
        width = graph.constant(np.array([[pair.axes[1].n_bins]], dtype=np.int64))
        total = _added(
            graph, total, tables, graph.node("Add", graph.node("Mul", row, width), column)
        )
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


def _features(explanation: GlobalExplanation) -> dict[str, Binned]:
    """Return the bins of each feature, from its term or its first pair."""
    axes = [axis for pair in explanation.pairs for axis in pair.axes]
    found: dict[str, Binned] = {axis.name: axis for axis in reversed(axes)}
    return {term.name: term for term in explanation.terms} | {
        name: axis for name, axis in found.items() if name not in explanation
    }


def _added(graph: Graph, total: str, values: FloatArray, position: str) -> str:
    """Add the contributions of one term to the total, and return the name of the sum."""
    gathered = graph.node("Gather", graph.constant(values), position, axis=0)
    return graph.node("Add", total, graph.squeezed(gathered))


def _cell(graph: Graph, feature: Binned) -> str:
    """Add the input for a feature, and return its name."""
    return (
        graph.numbers(feature.name) if feature.bin_edges is not None else graph.texts(feature.name)
    )


def _position(graph: Graph, bins: Binned, cell: str) -> str:
    """Add nodes that find the bin of each cell, and return the name of the result."""
    missing, other = _place(bins, "missing"), _place(bins, "other")
    if bins.bin_edges is None:
        return graph.category(cell, bins.categories or (), missing=missing, other=other)
    inner = graph.constant(np.asarray(bins.bin_edges[1:-1], dtype=np.float64)[np.newaxis])
    steps = graph.whole(graph.node("GreaterOrEqual", cell, inner))
    value_bin = graph.node("ReduceSum", steps, graph.axes(1), keepdims=1)
    place = graph.constant(np.array([[missing]], dtype=np.int64))
    return graph.node("Where", graph.node("IsNaN", cell), place, value_bin)


def _place(bins: Binned, name: str) -> int:
    """Return the index of a special bin, or 0 if the special bin does not exist."""
    return bins.n_value_bins + bins.special.index(name) if name in bins.special else 0
