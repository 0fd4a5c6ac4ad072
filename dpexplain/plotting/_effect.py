"""Effect estimates, drawn as a separate dashed layer with a light band."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from dpexplain.explain import ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.plotting._style import EFFECT_LABEL, EFFECT_MARKER, Theme

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from dpexplain.plotting._numeric import Positions

Show = Literal["both", "released", "effect"]
Corner = tuple[float, float]

DASHES = (0, (5, 2))
_BELOW = 0.22  # distance of a category's estimate below its bar, in rows


def checked_show(show: str) -> Show:
    """Check that `show` is "both", "released" or "effect", and return it."""
    if show not in get_args(Show):
        raise ValueError(f"show={show!r} must be 'both', 'released' or 'effect'.")
    return cast(Show, show)


def resolved_show(shape: ShapeFunction, show: Show) -> Show:
    """Return `show`, or "released" if there is no effect estimate."""
    return "released" if shape.effect is None else show


def draw_steps(
    ax: Axes, shape: ShapeFunction, place: Positions, colors: Theme, *, floor: float
) -> None:
    """Draw the effect estimate of a numeric term, with its band cut off below `floor`."""
    if shape.effect is None or shape.effect_band is None:
        return
    n = shape.n_value_bins
    (low, high), center = shape.effect_band, shape.effect
    look: dict[str, Any] = {"color": colors.ink, "alpha": colors.effect_alpha, "lw": 0}
    # The value bins share one outline, because overlapping bands would look darker.
    left, right = place.left[n:], place.right[n:]
    heights, widths = (high - low)[n:], right - left
    thin: dict[str, Any] = {"color": colors.ink, "lw": 0.6, "alpha": 0.5, "baseline": None}
    drawn = [
        ax.stairs(high[:n], place.edges, baseline=low[:n], fill=True, zorder=1.4, **look),
        *ax.bar(left, heights, widths, low[n:], align="edge", zorder=1.4, **look),
        *(ax.stairs(end[:n], place.edges, **thin) for end in (low, high)),
    ]
    _clip(ax, drawn, (0, floor), (1, 1))
    ax.stairs(
        center[:n],
        place.edges,
        baseline=None,
        color=colors.ink,
        lw=1.6,
        ls=DASHES,
        label=EFFECT_LABEL,
        zorder=3.5,
    )
    ax.hlines(center[n:], left, right, color=colors.ink, lw=1.6, ls=DASHES, zorder=3.5)


def draw_points(
    ax: Axes,
    shape: ShapeFunction,
    bins: npt.NDArray[np.int64],
    place: FloatArray,
    colors: Theme,
    *,
    alone: bool,
    right: float,
) -> None:
    """Draw the effect estimate for each category as a diamond with its band."""
    if shape.effect is None or shape.effect_std is None or shape.effect_factor is None:
        return
    marks = ax.errorbar(
        shape.effect[bins],
        place + (0.0 if alone else _BELOW),
        xerr=shape.effect_factor * shape.effect_std[bins],
        label=EFFECT_LABEL,
        **marker_look(colors),
    )
    _clip(ax, marks.get_children(), (0, 0), (right, 1))


def _clip(ax: Axes, drawn: Iterable[Artist], corner: Corner, opposite: Corner) -> None:
    """Clip marks to a rectangle, given in fractions of the axes."""
    from matplotlib.patches import Rectangle

    size = (opposite[0] - corner[0], opposite[1] - corner[1])
    for each in drawn:
        each.set_clip_path(Rectangle(corner, *size, transform=ax.transAxes))


def marker_look(colors: Theme) -> dict[str, Any]:
    """Return the style for effect estimates: hollow diamonds with dashed whiskers."""
    return {
        "fmt": EFFECT_MARKER,
        "ms": 5,
        "mfc": colors.paper,
        "mec": colors.ink,
        "mew": 1.2,
        "ecolor": colors.ink,
        "elinewidth": 1.1,
        "zorder": 3.5,
    }
