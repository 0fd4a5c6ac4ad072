"""Panels for the pictures of the pages, and curves against epsilon in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

PUBLISHED_LABEL = "published, ± 2 sd where printed"
NO_EPSILON = 32.0
"""Where models without privacy stand on an axis of epsilon."""


def panels(count: int, across: int = 3) -> tuple[Figure, list[Any]]:
    """Return a figure and its panels."""
    across = min(across, count)
    down = -(-count // across)
    figure = Figure(figsize=(3.1 * across, 2.3 * down + 0.6), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    for ax in axes.flat[count:]:
        ax.axis("off")
    return figure, list(axes.flat[:count])


def lines(ax: Any, table: pd.DataFrame, models: Sequence[str], ends: float = 2.0) -> None:
    """Draw our means against epsilon as lines, and published means as hollow marks."""
    for place, model in enumerate(models):
        rows = table[table["model"] == model].sort_values("epsilon", na_position="last")
        if rows.empty:
            continue
        color, x = f"C{place}", rows["epsilon"].fillna(NO_EPSILON)
        private = rows["epsilon"].notna()
        ax.plot(x[private], rows["mean"][private], ".-", color=color, lw=1, label=model)
        ax.plot(x[~private], rows["mean"][~private], ".", color=color)
        if "published" in rows:
            error = ends * rows["published_sd"].fillna(0.0)
            marks = {"mfc": "none", "elinewidth": 1, "ms": 6}
            ax.errorbar(x * 1.06, rows["published"], error, fmt="o", color=color, **marks)
    ax.set_xscale("log", base=2)
    known = sorted(table["epsilon"].dropna().unique())
    ticks = [*known, NO_EPSILON] if table["epsilon"].isna().any() else known
    ax.set_xticks(ticks, [f"{t:g}" if t != NO_EPSILON else "none" for t in ticks])
    ax.minorticks_off()


def keyed(figure: Figure, ax: Any) -> Figure:
    """Add one legend for all panels that also explains the hollow marks."""
    ax.plot([], [], "o", mfc="none", color="gray", label=PUBLISHED_LABEL)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
