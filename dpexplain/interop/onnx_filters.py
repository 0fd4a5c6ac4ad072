"""Export of locally linear models to ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.explain import FilterBank
from dpexplain.explain.filters.filter_inputs import ENLARGED, SMALL, InputFeature, InputPreparation
from dpexplain.interop._graph import Graph


def filter_graph(bank: FilterBank) -> Any:
    """Export a filter bank; see :func:`dpexplain.interop.to_onnx`.

    Parameters
    ----------
    bank : FilterBank
        A bank that includes its input preprocessing.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ValueError
        If the input preprocessing is unknown.
    """
    if bank.preparation is None:
        raise ValueError(
            "this explanation has no preprocessing, so a graph cannot read records; export the "
            "result of explain_global()."
        )
    graph = Graph()
    inputs = _inputs(graph, bank.preparation)
    n_classes, n_filters = bank.biases.shape
    weights = graph.constant(bank.filters.reshape(n_classes * n_filters, -1).T.copy())
    responses = graph.node("MatMul", inputs, weights)
    responses = graph.node("Add", responses, graph.constant(bank.biases.reshape(1, -1).copy()))
    shape = graph.axes(-1, n_classes, n_filters)
    responses = graph.node("Reshape", responses, shape)
    temperature = graph.constant(np.array(bank.inverse_temperature))
    shares = graph.node("Softmax", graph.node("Mul", responses, temperature), axis=2)
    mixed = graph.node("Mul", shares, responses)
    score = graph.node("ReduceSum", mixed, graph.axes(2), keepdims=0)
    graph.output("score", score, n_classes)
    graph.output("probability", graph.node("Softmax", score, axis=1), n_classes)
    return graph.model("locally_linear_model", bank.guarantee.statement())


def _inputs(graph: Graph, preparation: InputPreparation) -> str:
    features = preparation.features
    if all(feature.categories is None for feature in features):
        inputs = _numbers(graph, graph.numbers("X", len(features)), features)
    else:
        parts = [_column(graph, feature) for feature in features]
        inputs = parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)
    if preparation.per_record == "centred_unit_norm":
        inputs = _centred_unit_norm(graph, inputs)
    return graph.node("Mul", inputs, graph.constant(np.array(preparation.scale)))


def _column(graph: Graph, feature: InputFeature) -> str:
    if feature.categories is None:
        return _numbers(graph, graph.numbers(feature.name), (feature,))
    # All indicators are 0 for an empty cell or an unknown name.
    place = graph.category(graph.texts(feature.name), feature.categories, missing=-1, other=-1)
    all_places = graph.constant(np.arange(len(feature.categories), dtype=np.int64)[np.newaxis])
    return graph.doubles(graph.node("Equal", place, all_places))


def _numbers(graph: Graph, cells: str, features: tuple[InputFeature, ...]) -> str:
    def row(name: str) -> str:
        return graph.constant(np.array([[getattr(feature, name) for feature in features]]))

    bounded = graph.node("Min", graph.node("Max", cells, row("low")), row("high"))
    inputs = graph.node("Div", graph.node("Sub", bounded, row("centre")), row("spread"))
    zero = graph.constant(np.array(0.0))
    return graph.node("Where", graph.node("IsNaN", cells), zero, inputs)


def _centred_unit_norm(graph: Graph, inputs: str) -> str:
    """Center each row, divide it by its norm, and return the name of the result."""
    zero, one = graph.constant(np.array(0.0)), graph.constant(np.array(1.0))
    largest = graph.node("ReduceMax", graph.node("Abs", inputs), axes=[1], keepdims=1)
    small = graph.node("Less", largest, graph.constant(np.array(SMALL)))
    factor = graph.node("Where", small, graph.constant(np.array(ENLARGED)), one)
    centered = graph.node("Mul", inputs, factor)
    for _ in range(2):
        mean = graph.node("ReduceMean", centered, axes=[1], keepdims=1)
        centered = graph.node("Sub", centered, mean)
    squares = graph.node(
        "ReduceSum", graph.node("Mul", centered, centered), graph.axes(1), keepdims=1
    )
    # A constant picture has norm 0; its inputs become 0, not 0 / 0.
    safe = graph.node("Where", graph.node("Greater", squares, zero), squares, one)
    return graph.node("Div", centered, graph.node("Sqrt", safe))
