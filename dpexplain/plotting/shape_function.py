"""The figure of one shape function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dpexplain.explain import ShapeFunction
from dpexplain.plotting import _categorical, _numeric
from dpexplain.plotting._style import (
    contribution_label,
    limit_ticks,
    new_axes,
    privacy_title,
    theme,
    tidy,
    watermark,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float]
Spacing = Literal["auto", "value", "bins"]


def plot_shape_function(
    shape: ShapeFunction,
    *,
    ax: Axes | None = None,
    spacing: Spacing = "auto",
    max_categories: int = 30,
) -> Axes:
    """Draw the curve of a term.

    A numeric term is a step curve with special bins (missing values) apart at the right; a
    categorical term is a bar per category with special bins apart below. Where the noise is
    known a dark band of two standard deviations shows what privacy adds, and a pale one what
    privacy, other bins and trees, and sampling add up to, for the whole curve at once; hatched
    where that band covers zero, so that the contribution may be noise. Gray bars count the
    records of each bin.

    Parameters
    ----------
    shape : ShapeFunction
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    spacing : {"auto", "value", "bins"}, default="auto"
        Width of the bins of a numeric term: by value, or all the same. "auto" makes them the
        same for a feature so skewed that most records would crowd into a hairline.
    max_categories : int, default=30
        A categorical term with more shows those that matter most.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    if spacing not in ("auto", "value", "bins"):
        raise ValueError(f"spacing={spacing!r} must be 'auto', 'value' or 'bins'.")
    if max_categories < 1:
        raise ValueError(f"max_categories={max_categories!r} must be at least 1.")
    ax = new_axes(ax, _size(shape, max_categories))
    draw_shape(ax, shape, spacing=spacing, max_categories=max_categories)
    privacy_title(ax, shape.name, shape.guarantee)
    return ax


def draw_shape(
    ax: Axes,
    shape: ShapeFunction,
    *,
    spacing: Spacing = "auto",
    max_categories: int = 30,
    limits: Limits | None = None,
    legend: bool = True,
) -> None:
    """Draw a shape without title; `limits` fixes the score axis for a row of panels."""
    limits = score_limits([shape]) if limits is None else limits
    if shape.kind == "numeric":
        _draw_numeric(ax, shape, spacing, limits, legend=legend)
    else:
        _draw_categorical(ax, shape, max_categories, limits, legend=legend)
    watermark(ax, shape.guarantee)


def _draw_numeric(
    ax: Axes, shape: ShapeFunction, spacing: Spacing, limits: Limits, *, legend: bool
) -> None:
    colours = theme(ax)
    tidy(ax, grid="y")
    spacing = "bins" if _numeric.resolved_spacing(shape, spacing) == "bins" else "value"
    place = _numeric.positions(shape, spacing)
    _numeric.draw_values(ax, shape, place, colours)
    _numeric.set_ticks(ax, shape, place, spacing)
    has_legend = legend and bool(ax.get_legend_handles_labels()[0])
    low, high = limits
    limit_ticks(ax.yaxis, low, high)
    # Room for the counts and their caption below, and for the legend above.
    ax.set_ylim(
        low - (_numeric.STRIP + 0.13) * (high - low),
        high + (0.16 if has_legend else 0) * (high - low),
    )
    _numeric.draw_counts(ax, shape, place, colours)
    equal = "\nbins not to scale" if spacing == "bins" else ""
    constraint = f"\n{shape.constraint_words}" if shape.monotone else ""
    ax.set_xlabel(with_unit(shape.name, shape.unit) + equal + constraint)
    ax.set_ylabel(contribution_label(shape.score_unit))
    if has_legend:
        ax.legend(loc="upper left", ncols=2, fontsize="x-small", frameon=False, borderpad=0.2)


def _draw_categorical(
    ax: Axes, shape: ShapeFunction, max_categories: int, limits: Limits, *, legend: bool
) -> None:
    colours = theme(ax)
    tidy(ax, grid="x")
    bins = _categorical.chosen_bins(shape, max_categories)
    place = _categorical.rows(shape, bins)
    _categorical.draw_values(ax, shape, bins, place, colours)
    _categorical.set_ticks(ax, shape, bins, place)
    has_legend = legend and bool(ax.get_legend_handles_labels()[0])
    low, high = limits
    limit_ticks(ax.xaxis, low, high)
    ax.set_xlim(low, high + (_categorical.STRIP + 0.1) * (high - low))
    n_rows = place[-1] + 1
    room = min(0.11 * n_rows, 1.4)  # for the legend above and the captions below
    ax.set_ylim(place[-1] + 0.6 + 0.7 * room, -0.7 - (room if has_legend else 0))
    _categorical.draw_counts(ax, shape, bins, place, colours)
    _categorical.say_hidden(ax, shape.n_bins - bins.size, colours)
    constraint = f"\n{shape.constraint_words}" if shape.monotone else ""
    ax.set_xlabel(contribution_label(shape.score_unit) + constraint)
    if has_legend:
        ax.legend(loc="upper left", ncols=2, fontsize="x-small", frameon=False, borderpad=0.2)


def score_limits(shapes: list[ShapeFunction]) -> Limits:
    """Axis range of contributions and noise, including zero, with padding.

    Noise may widen the range by a share of it, or by what a typical record gets: the band of
    a nearly empty bin would flatten everything else, so it runs out of the picture instead.
    """
    low = min(0.0, *(float(shape.contribution.min()) for shape in shapes))
    high = max(0.0, *(float(shape.contribution.max()) for shape in shapes))
    bottom, top = low, high
    for shape in shapes:
        if shape.total_std is not None:
            half = shape.band_factor * shape.total_std
            room = max(0.3 * (high - low), float(shape.weights @ half))
            bottom = min(bottom, max(low - room, float(np.min(shape.contribution - half))))
            top = max(top, min(high + room, float(np.max(shape.contribution + half))))
    low, high = bottom, top
    air = 0.06 * (high - low) or 1.0
    return low - air, high + air


def _size(shape: ShapeFunction, max_categories: int) -> tuple[float, float]:
    if shape.kind == "numeric":
        return (6.4, 3.8)
    n_rows = min(shape.n_value_bins, max_categories) + len(shape.special)
    return (6.4, min(12.0, 1.6 + 0.27 * n_rows))
