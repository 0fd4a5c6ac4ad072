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


def largest_count(schema: Schema) -> float:
    """Upper end of the public range of a target that counts something.

    Raises
    ------
    ValueError
        If the range is none of counts.
    """
    target = schema.target
    assert isinstance(target, Range)
    if target.low < 0.0:
        raise ValueError(
            f"objective='poisson' needs a target that counts: its range starts at {target.low:g}; "
            "declare Range(0, ...), or use objective='squared'."
        )
    return float(target.high)


def encoded_counts(y: Any, schema: Schema) -> NDArray[np.float32]:
    """Target in units of its largest public count, dtype float32."""
    target = schema.target
    assert isinstance(target, Range)
    shares = encode_range(y, target) / largest_count(schema)
    return np.clip(shares, 0.0, 1.0).astype(np.float32)
