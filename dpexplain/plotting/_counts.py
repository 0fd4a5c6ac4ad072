"""Captions for count strips."""

from __future__ import annotations

from dpexplain.explain import ShapeFunction
from dpexplain.explain._text import short_number


def caption(shape: ShapeFunction, *, wide: bool = True) -> str:
    """Return a label for the gray count bars; if `wide`, include the maximum count."""
    what = "noisy" if shape.guarantee.private else "exact"
    if not wide:
        return f"records ({what})"
    largest = max(float(shape.count.max()), 0.0)
    rounded = f"{round(largest):,}" if largest >= 10 else short_number(largest, 2)
    return f"records per bin ({what}, at most {rounded})"
