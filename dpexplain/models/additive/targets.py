"""Encoding of targets for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.schema import Classes, Range, Schema
from dpexplain.tables.encoding import encode_classes, encode_range


def classes_of(schema: Schema) -> Classes:
    """Return the classes of a classifier's schema."""
    target = schema.target
    assert isinstance(target, Classes)
    return target


def class_labels(schema: Schema) -> NDArray[Any]:
    """Return the class labels in the schema."""
    return np.array(classes_of(schema).labels)


def encoded_classes(y: Any, schema: Schema) -> NDArray[np.float32]:
    """Return class indices as float32, with -1 for labels outside the schema."""
    return encode_classes(y, classes_of(schema), np.float32)


def encoded_range(y: Any, schema: Schema) -> NDArray[np.float32]:
    """Map the target from its public range to [-1, 1]; see `range_unit`."""
    target = schema.target
    assert isinstance(target, Range)
    half_range, middle = range_unit(schema)
    scaled = (encode_range(y, target) - middle) / half_range
    return np.clip(scaled, -1.0, 1.0).astype(np.float32)


def range_unit(schema: Schema) -> tuple[float, float]:
    """Return the unit and the zero point of encoded targets.

    The unit is half the public range, and the zero point is the midpoint of the range.
    """
    target = schema.target
    assert isinstance(target, Range)
    return (target.high - target.low) / 2.0, target.midpoint


def largest_count(schema: Schema) -> float:
    """Return the upper end of the public range of a count target.

    Raises
    ------
    ValueError
        If the range is not valid for counts.
    """
    target = schema.target
    assert isinstance(target, Range)
    if target.low < 0.0:
        raise ValueError(
            f"objective='poisson' needs a count target, but its range starts at {target.low:g}; "
            "declare Range(0, ...), or use objective='squared'."
        )
    return float(target.high)


def encoded_counts(y: Any, schema: Schema) -> NDArray[np.float32]:
    """Return counts as float32, divided by the upper end of their public range."""
    target = schema.target
    assert isinstance(target, Range)
    shares = encode_range(y, target) / largest_count(schema)
    return np.clip(shares, 0.0, 1.0).astype(np.float32)
