"""Heat map of the joint contribution of two features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpexplain.explain import PairCurve
from dpexplain.explain.additive.pair_curve import PairAxis
from dpexplain.plotting._style import (
    MAY_BE_NOISE,
    Theme,
    contribution_label,
    new_axes,
    plain,
    privacy_title,
    score_words,
    theme,
    watermark,
    with_unit,
)
from dpexplain.plotting._weights import color_scale, symmetric_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_MOST_LABELS = 12


def plot_pair(pair: PairCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the joint contribution of two features as a heat map.

    The color scale is symmetric around zero: blue cells add to the score, and gold cells subtract
    from it. All cells have the same size, special bins (missing values) come last, and empty cells
    are dotted. If the noise is known, cells whose contribution may be noise are hatched: those
    where the simultaneous 95% band contains zero.

    Parameters
    ----------
    pair : PairCurve
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Axes
        The axes with the plot. Rows are the bins of the first feature, from bottom to top, and
        columns are the bins of the second feature.

    Examples
    --------
    >>> from dpexplain.explain import Guarantee, PairAxis, PairCurve
    >>> pair = PairCurve(
    ...     "age & job",
    ...     (
    ...         PairAxis("age", "numeric", bin_edges=[17, 45, 90]),
    ...         PairAxis("job", "categorical", categories=("nurse", "clerk")),
    ...     ),
    ...     contribution=[[0.5, -0.5], [-0.1, 0.2]],
    ...     count=[[201.2, 98.5], [150.9, 120.4]],
    ...     guarantee=Guarantee(1.0, 1e-6, "add_remove", True),
    ... )
    >>> from dpexplain.plotting import plot_pair
    >>> axes = plot_pair(pair)
    >>> axes.get_ylabel()
    'age'
    """
    ax = new_axes(ax, (6.4, 4.6))
    draw_pair(ax, pair)
    marked = pair.signal is not None and not pair.signal.all()
    more = [score_words(pair.score_name), f"Hatched: {MAY_BE_NOISE}" if marked else ""]
    privacy_title(ax, pair.name, pair.guarantee, more)
    return ax


def draw_pair(ax: Axes, pair: PairCurve, *, limit: float | None = None) -> None:
    """Draw a pair without a title, optionally with a scale shared between panels."""
    colors = theme(ax)
    limit = symmetric_limit(pair.contribution) if limit is None else limit
    scale = color_scale(colors, limit)
    ax.imshow(
        scale.to_rgba(pair.contribution), origin="lower", interpolation="nearest", aspect="auto"
    )
    rows, columns = np.nonzero(pair.count <= 0)
    if len(rows) < pair.count.size:
        ax.scatter(columns, rows, s=2, color=colors.muted, linewidths=0)
    if pair.signal is not None:
        _hatch(ax, ~pair.signal, colors)
    _name_bins(ax.yaxis, pair.axes[0])
    _name_bins(ax.xaxis, pair.axes[1])
    ax.tick_params(length=0)
    ax.tick_params(axis="x", labelrotation=45)
    ax.grid(visible=False)
    bar = ax.figure.colorbar(scale, ax=ax)
    bar.set_label(contribution_label(pair.score_unit))
    watermark(ax, pair.guarantee)


def _hatch(ax: Axes, cells: npt.NDArray[np.bool_], colors: Theme) -> None:
    """Hatch cells that may be noise, in the same way as the bins of a curve."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    corners = [(column - 0.5, row - 0.5) for row, column in np.argwhere(cells)]
    ax.add_collection(
        PatchCollection(
            [Rectangle(corner, 1, 1) for corner in corners],
            facecolor="none",
            edgecolor=colors.hatch,
            hatch="////",
            alpha=0.55,
            lw=0,
            gid="may-be-noise",
        ),
        autolim=False,
    )


def _name_bins(axis: Axis, feature: PairAxis) -> None:
    n = feature.n_bins
    step = max(1, math.ceil(n / _MOST_LABELS))
    places = [*range(0, feature.n_value_bins, step), *range(feature.n_value_bins, n)]
    axis.set_ticks(
        places, [plain(feature.bin_labels[place], 18) for place in places], fontsize="x-small"
    )
    axis.set_label_text(with_unit(feature.name, feature.unit))
