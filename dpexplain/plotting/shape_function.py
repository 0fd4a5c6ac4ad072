"""Figure showing one shape function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dpexplain.explain import ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.plotting import _categorical, _effect, _numeric
from dpexplain.plotting._effect import Show, checked_show, resolved_show
from dpexplain.plotting._style import (
    contribution_label,
    grow,
    legend_above,
    limit_ticks,
    new_axes,
    privacy_title,
    score_words,
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
    show: Show = "both",
    caution: str | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the curve of a term.

    A numeric term is drawn as a step curve, with special bins (missing values) set apart on the
    right; a categorical term is drawn as one bar per category, with special bins set apart below.
    If the noise is known, a dark band of two standard deviations shows privacy noise. A pale
    simultaneous band for the whole curve shows the total uncertainty from privacy noise, from bins
    and trees, and from sampling. The pale band is hatched where it contains zero, because the
    contribution may then be noise. Gray bars show the number of records in each bin.

    If the effect is estimated, a dashed line with a light band shows the estimate; for categories,
    diamonds with whiskers are drawn instead. The noise bands refer to the released curve, and the
    light band shows where the true population curve is expected to lie.

    Parameters
    ----------
    shape : ShapeFunction
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    spacing : {"auto", "value", "bins"}, default="auto"
        Width of the bins of a numeric term: proportional to the range of values, or equal. "auto"
        chooses equal widths if the feature is so skewed that most records would otherwise be
        within a few pixels.
    max_categories : int, default=30
        Maximum number of categories to draw; the most important ones are chosen.
    show : {"both", "released", "effect"}, default="both"
        Whether to draw the released curve with its noise, the estimated effect, or both. If no
        effect is estimated, the released curve is drawn.
    caution : str or None, default=None
        Warning or note to write above the figure; None means that of the curve,
        :attr:`ShapeFunction.effect_remark`.
    title : str or None, default=None
        Heading, of which at most 60 characters are shown; None means the name of the term. The
        guarantee stays below it.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from dpexplain.explain import Guarantee, ShapeFunction
    >>> age = ShapeFunction(
    ...     "age", "numeric", contribution=[-0.5, 0.1, 0.4], count=[210.3, 305.8, 90.1],
    ...     guarantee=Guarantee(1.0, 1e-6, "add_remove", True), bin_edges=[17, 30, 60, 90],
    ...     noise_std=[0.1, 0.1, 0.2],
    ... )
    >>> from dpexplain.plotting import plot_shape_function
    >>> axes = plot_shape_function(age)
    >>> axes.get_xlabel()
    'age'
    """
    if spacing not in ("auto", "value", "bins"):
        raise ValueError(f"spacing={spacing!r} must be 'auto', 'value' or 'bins'.")
    if max_categories < 1:
        raise ValueError(f"max_categories={max_categories!r} must be at least 1.")
    show = checked_show(show)
    made = ax is None
    ax = new_axes(ax, _size(shape, max_categories))
    draw_shape(ax, shape, spacing=spacing, max_categories=max_categories, show=show)
    words = shape.effect_remark if caution is None else caution
    more = [score_words(shape.score_name), words]
    heading = shape.name if title is None else title
    head = privacy_title(ax, heading, shape.guarantee, more, lift=legend_above(ax))
    if made:
        grow(ax, head)
    return ax


def draw_shape(
    ax: Axes,
    shape: ShapeFunction,
    *,
    spacing: Spacing = "auto",
    max_categories: int = 30,
    limits: Limits | None = None,
    show: Show = "both",
) -> None:
    """Draw a shape without title and legend; `limits` are the ends of its score axis."""
    limits = score_limits([shape], show) if limits is None else limits
    show = resolved_show(shape, show)
    if shape.kind == "numeric":
        _draw_numeric(ax, shape, spacing, limits, show)
    else:
        _draw_categorical(ax, shape, max_categories, limits, show)
    watermark(ax, shape.guarantee)


def _draw_numeric(
    ax: Axes, shape: ShapeFunction, spacing: Spacing, limits: Limits, show: Show
) -> None:
    colors = theme(ax)
    tidy(ax, grid="y")
    spacing = "bins" if _numeric.resolved_spacing(shape, spacing) == "bins" else "value"
    place = _numeric.positions(shape, spacing)
    _numeric.draw_values(ax, shape, place, colors, released=show != "effect")
    if show != "released":
        _effect.draw_steps(ax, shape, place, colors, floor=_numeric.CAPTION_TOP)
    _numeric.set_ticks(ax, shape, place, spacing)
    low, high = limits
    limit_ticks(ax.yaxis, low, high)
    # Leave room for the counts and their caption below.
    ax.set_ylim(low - (_numeric.STRIP + 0.13) * (high - low), high)
    _numeric.draw_counts(ax, shape, place, colors)
    equal = "\nbins not to scale" if spacing == "bins" else ""
    constraint = f"\n{shape.constraint_words}" if shape.monotone else ""
    ax.set_xlabel(with_unit(shape.name, shape.unit) + equal + constraint)
    ax.set_ylabel(contribution_label(shape.score_unit))


def _draw_categorical(
    ax: Axes,
    shape: ShapeFunction,
    max_categories: int,
    limits: Limits,
    show: Show,
) -> None:
    colors = theme(ax)
    tidy(ax, grid="x")
    bins = _categorical.chosen_bins(shape, max_categories)
    place = _categorical.rows(shape, bins)
    _categorical.draw_values(ax, shape, bins, place, colors, released=show != "effect")
    if show != "released":
        right = 1 - _categorical.STRIP - 0.02
        alone = show == "effect"
        _effect.draw_points(ax, shape, bins, place, colors, alone=alone, right=right)
    _categorical.set_ticks(ax, shape, bins, place)
    low, high = limits
    limit_ticks(ax.xaxis, low, high)
    ax.set_xlim(low, high + (_categorical.STRIP + 0.1) * (high - low))
    n_rows = place[-1] + 1
    room = min(0.08 * n_rows, 1.0)  # for the captions below
    ax.set_ylim(place[-1] + 0.6 + room, -0.7)
    _categorical.draw_counts(ax, shape, bins, place, colors)
    _categorical.say_hidden(ax, shape.n_bins - bins.size, colors)
    constraint = f"\n{shape.constraint_words}" if shape.monotone else ""
    ax.set_xlabel(contribution_label(shape.score_unit) + constraint)


def score_limits(shapes: list[ShapeFunction], show: Show = "released") -> Limits:
    """Return an axis range that covers the curves, their bands and zero, with padding.

    On each side, a band extends the range of the curves by at most a fixed fraction of that range
    or by the mean half-width of the band over the records, whichever is larger. So the wide band of
    a nearly empty bin is cut off; otherwise, it would flatten all curves.
    """
    layers = [layer for shape in shapes for layer in _layers(shape, resolved_show(shape, show))]
    low = min(0.0, *(float(curve.min()) for curve, _, _ in layers))
    high = max(0.0, *(float(curve.max()) for curve, _, _ in layers))
    bottom, top = low, high
    for curve, half, weights in layers:
        room = max(0.3 * (high - low), float(weights @ half))
        bottom = min(bottom, max(low - room, float(np.min(curve - half))))
        top = max(top, min(high + room, float(np.max(curve + half))))
    low, high = bottom, top
    air = 0.06 * (high - low) or 1.0
    return low - air, high + air


def _layers(shape: ShapeFunction, show: Show) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the values, band half-widths and bin weights of each curve to draw."""
    layers = []
    if show != "effect":
        std = shape.total_std
        half = np.zeros(shape.n_bins) if std is None else shape.band_factor * std
        layers.append((shape.contribution, half, shape.weights))
    if show != "released" and shape.effect is not None and shape.effect_band is not None:
        layers.append((shape.effect, shape.effect_band[1] - shape.effect, shape.weights))
    return layers


def _size(shape: ShapeFunction, max_categories: int) -> tuple[float, float]:
    """Return the size of a new figure in inches, without the part above the axes."""
    if shape.kind == "numeric":
        return (6.4, 2.9)
    n_rows = min(shape.n_value_bins, max_categories) + len(shape.special)
    return (6.4, min(11.0, 0.8 + 0.27 * n_rows))
