"""Targets as the kernels want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.encoding import encode_classes, encode_range
from dpexplain.schema import Classes, Range, Schema


def two_classes(schema: Schema) -> Classes:
    """Classes of the schema, of which there must be two.

    Raises
    ------
    ValueError
        If there are more or fewer.
    """
    target = schema.target
    if not isinstance(target, Classes) or len(target.labels) != 2:
        raise ValueError(
            f"Only binary classification is supported: the target is {target!r}; "
            "declare two classes, or fit one model per class against the rest."
        )
    return target


def class_labels(schema: Schema) -> NDArray[Any]:
    """Labels of both classes, as the schema gives them."""
    return np.array(two_classes(schema).labels)


def encoded_classes(y: Any, schema: Schema) -> NDArray[np.float32]:
    """0 for the first class (and for labels outside the schema), 1 for the second."""
    return encode_classes(y, two_classes(schema)).astype(np.float32)


def encoded_range(y: Any, schema: Schema) -> NDArray[np.float32]:
    """Target mapped from its public range to [-1, 1], dtype float32; see `range_unit`."""
    target = schema.target
    assert isinstance(target, Range)
    half_range, middle = range_unit(schema)
    scaled = (encode_range(y, target) - middle) / half_range
    return np.clip(scaled, -1.0, 1.0).astype(np.float32)


def range_unit(schema: Schema) -> tuple[float, float]:
    """Half-range of the target, which is the unit of its mapped values, and their zero."""
    target = schema.target
    assert isinstance(target, Range)
    return (target.high - target.low) / 2.0, target.midpoint


def class_unit(schema: Schema) -> tuple[float, float]:
    """Classes have no unit: scores are log-odds, and their zero is 0."""
    return 1.0, 0.0
