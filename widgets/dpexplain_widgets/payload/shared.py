"""Parts shared by the payloads of curves and filters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.explain import Guarantee

VERSION = 1


def guarantee_payload(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee and its description as plain values."""
    words = {"short": guarantee.short, "statement": guarantee.statement()}
    return {**guarantee.to_dict(), **words}


def metrics_payload(table: pd.DataFrame | None, epsilon: float, repeat: int) -> dict[str, float]:
    """Return the finite metrics of one fit, keyed by name."""
    if table is None:
        return {}
    rows = table[(table["epsilon"] == epsilon) & (table["repeat"] == repeat)]
    pairs = zip(rows["metric"], rows["value"], strict=True)
    return {str(name): float(value) for name, value in pairs if math.isfinite(value)}
