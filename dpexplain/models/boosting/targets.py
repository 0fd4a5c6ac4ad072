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


def encoded_range(y: Any, schema: Schema) -> tuple[NDArray[np.float32], float, float]:
    """Target mapped from its public range to [-1, 1].

    Returns
    -------
    target : ndarray of shape (n_samples,), dtype float32
    half_range : float
        Unit of the mapped target.
    middle : float
        Where the mapped target is 0.
    """
    target = schema.target
    assert isinstance(target, Range)
    half_range = (target.high - target.low) / 2.0
    scaled = (encode_range(y, target) - target.midpoint) / half_range
    return np.clip(scaled, -1.0, 1.0).astype(np.float32), half_range, target.midpoint
