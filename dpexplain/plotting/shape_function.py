"""The figure of one shape function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dpexplain.explain import ShapeFunction
from dpexplain.plotting import _categorical, _numeric
from dpexplain.plotting._style import (
    contribution_label,
    guarantee_words,
    new_axes,
    theme,
    tidy,
    title,
    watermark,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float]
Spacing = Literal["value", "bins"]


def plot_shape_function(
    shape: ShapeFunction,
    *,
    ax: Axes | None = None,
    spacing: Spacing = "value",
    max_categories: int = 30,
) -> Axes:
    """Draw how a term moves the score.

    A numeric term is a step curve with special bins (missing values) apart at the right; a
    categorical term is a bar per category with special bins apart below. Where the noise is
    known a band of two standard deviations shows it, hatched where the contribution may be
    noise. Grey bars count the records of each bin.

    Parameters
    ----------
    shape : ShapeFunction
        What to draw.
    ax : Axes or None, default=None
        Where to draw; None makes a figure.
    spacing : {"value", "bins"}, default="value"
        Width of the bins of a numeric term: by value, or all the same, which shows skewed
        features better.
    max_categories : int, default=30
        A categorical term with more shows those that matter most.

    Returns
    -------
    Axes
        The axes drawn into.
    """
    if spacing not in ("value", "bins"):
        raise ValueError(f"spacing={spacing!r} must be 'value' or 'bins'.")
    if max_categories < 1:
        raise ValueError(f"max_categories={max_categories!r} must be at least 1.")
    ax = new_axes(ax, _size(shape, max_categories))
    draw_shape(ax, shape, spacing=spacing, max_categories=max_categories)
    words = guarantee_words(shape.guarantee)
    title(ax, shape.name, words, warn=not shape.guarantee.private)
    return ax


def draw_shape(
    ax: Axes,
    shape: ShapeFunction,
    *,
    spacing: Spacing = "value",
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
    place = _numeric.positions(shape, spacing)
    _numeric.draw_values(ax, shape, place, colours)
    _numeric.set_ticks(ax, shape, place, spacing)
    has_legend = legend and bool(ax.get_legend_handles_labels()[0])
    low, high = limits
    # Room for the counts and their caption below, and for the legend above.
    ax.set_ylim(
        low - (_numeric.STRIP + 0.13) * (high - low),
        high + (0.16 if has_legend else 0) * (high - low),
    )
    _numeric.draw_counts(ax, shape, place, colours)
    ax.set_xlabel(with_unit(shape.name, shape.unit))
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
    ax.set_xlim(low, high + (_categorical.STRIP + 0.1) * (high - low))
    n_rows = place[-1] + 1
    ax.set_ylim(place[-1] + 0.6 + 0.06 * n_rows, -0.7 - (0.1 * n_rows if has_legend else 0))
    _categorical.draw_counts(ax, shape, bins, place, colours)
    hidden = shape.n_bins - bins.size
    more = f"   ({hidden} more categories not drawn)" if hidden else ""
    ax.set_xlabel(contribution_label(shape.score_unit) + more)
    if has_legend:
        ax.legend(loc="upper left", ncols=2, fontsize="x-small", frameon=False, borderpad=0.2)


def score_limits(shapes: list[ShapeFunction]) -> Limits:
    """Range of contributions with their noise, zero included, with some air."""
    low, high = 0.0, 0.0
    for shape in shapes:
        half = 0.0 if shape.noise_std is None else 2 * shape.noise_std
        low = min(low, float(np.min(shape.contribution - half)))
        high = max(high, float(np.max(shape.contribution + half)))
    air = 0.06 * (high - low) or 1.0
    return low - air, high + air


def _size(shape: ShapeFunction, max_categories: int) -> tuple[float, float]:
    if shape.kind == "numeric":
        return (6.4, 3.8)
    n_rows = min(shape.n_value_bins, max_categories) + len(shape.special)
    return (6.4, min(12.0, 1.6 + 0.27 * n_rows))
