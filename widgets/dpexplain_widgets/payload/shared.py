"""Parts shared by the payloads of curves and filters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpexplain.explain import Guarantee

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1


def guarantee_payload(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee and its description as plain values."""
    words = {"short": guarantee.short, "statement": guarantee.statement()}
    return {**guarantee.to_dict(), **words}


def guarantee_of(payload: Mapping[str, Any]) -> Guarantee:
    """Rebuild a guarantee from what `guarantee_payload` makes of it."""
    fields = {n: value for n, value in payload.items() if n not in ("short", "statement")}
    return Guarantee.from_dict(fields)


def metrics_payload(table: pd.DataFrame | None, epsilon: float, repeat: int) -> dict[str, float]:
    """Return the finite metrics of one fit, keyed by name."""
    if table is None:
        return {}
    rows = table[(table["epsilon"] == epsilon) & (table["repeat"] == repeat)]
    pairs = zip(rows["metric"], rows["value"], strict=True)
    return {str(name): float(value) for name, value in pairs if math.isfinite(value)}
