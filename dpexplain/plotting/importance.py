"""Importance bars, with the average from noise alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain import GlobalExplanation
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._text import short_number
from dpexplain.plotting._style import (
    Theme,
    draw_watermark,
    new_axes,
    plain,
    privacy_title,
    theme,
    tidy,
    watermark,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_importance(
    explanation: GlobalExplanation,
    *,
    ax: Axes | None = None,
    max_terms: int = 20,
    reference: GlobalExplanation | None = None,
) -> Axes:
    """Draw the mean absolute contribution of terms and pairs, largest on top.

    If the noise is known, the hatched part of a bar is the average expected from noise alone, and
    a term that does not rise above it is pale. If the joint noise is known, the 95% rank interval
    of a term is next to its number.

    Parameters
    ----------
    explanation : GlobalExplanation
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    max_terms : int, default=20
        Terms drawn at most.
    reference : GlobalExplanation or None, default=None
        Non-private model whose importances are marked by ticks; the figure is then
        watermarked.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    check_one_class(explanation)
    if max_terms < 1:
        raise ValueError(f"max_terms={max_terms!r} must be at least 1.")
    names = [str(name) for name in explanation.importances().index[:max_terms]]
    ax = new_axes(ax, (6.4, min(12.0, 1.5 + 0.3 * len(names))))
    colours = theme(ax)
    tidy(ax, grid="x")
    _draw_bars(ax, explanation, reference, names, colours)
    if reference is not None:
        _draw_reference(ax, reference, names, colours)
    _label(ax, explanation, names)
    privacy_title(ax, "Importance", explanation.guarantee)
    if reference is not None:
        draw_watermark(ax)
    else:
        watermark(ax, explanation.guarantee)
    return ax


def _draw_bars(
    ax: Axes,
    explanation: GlobalExplanation,
    reference: GlobalExplanation | None,
    names: list[str],
    colours: Theme,
) -> None:
    values = np.array([explanation.part(name).importance for name in names])
    floors = np.array(
        [explanation[n].noise_floor or 0.0 if n in explanation else 0.0 for n in names]
    )
    rows = np.arange(len(names))
    standing = explanation.terms_above_noise
    above = values > floors if standing is None else np.isin(names, standing)
    ax.barh(rows[above], values[above], 0.66, color=colours.main, zorder=2)
    ax.barh(rows[~above], values[~above], 0.66, color=colours.main, alpha=0.35, zorder=2)
    if floors.any():
        ax.barh(
            rows,
            floors,
            0.66,
            facecolor="none",
            edgecolor=colours.ink,
            hatch="////",
            lw=0,
            alpha=0.6,
            label="average from noise alone",
            zorder=3,
        )
    ends = np.maximum(values, floors)
    if reference is not None:  # a number steps over the tick that would strike it through
        ticks = np.array([reference.part(name).importance for name in names])
        near = (ticks > ends) & (ticks < ends + 0.12 * max(ends.max(), ticks.max()))
        ends = np.where(near, ticks, ends)
    places = _places(explanation, names)
    for row, value, end, place in zip(rows, values, ends, places, strict=True):
        ax.annotate(
            short_number(value, 3) + place,
            (end, row),
            xytext=(5, 0),
            va="center",
            textcoords="offset points",
            fontsize="x-small",
            color=colours.muted,
        )


def _places(explanation: GlobalExplanation, names: list[str]) -> list[str]:
    """Format rank intervals; empty without a joint noise model."""
    if explanation.noise is None:
        return [""] * len(names)
    ranking = explanation.ranking()
    ends = [(int(ranking["rank_low"][n]), int(ranking["rank_high"][n])) for n in names]
    return [f"   rank {low}" if low == high else f"   rank {low}–{high}" for low, high in ends]


def _draw_reference(
    ax: Axes, reference: GlobalExplanation, names: list[str], colours: Theme
) -> None:
    values = [reference.part(name).importance for name in names]
    ax.plot(
        values,
        range(len(names)),
        ls="none",
        marker="|",
        ms=15,
        mew=2.5,
        color=colours.reference,
        label="non-private reference",
        zorder=4,
    )


def _label(ax: Axes, explanation: GlobalExplanation, names: list[str]) -> None:
    more = len(explanation) + len(explanation.pairs) - len(names)
    ax.set_yticks(range(len(names)), [plain(name, 28) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.margins(x=0.12)
    unit = with_unit("mean |contribution|", explanation.score_unit)
    ax.set_xlabel(unit + (f"   ({more} more terms not drawn)" if more else ""))
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower right", fontsize="x-small", frameon=False)
