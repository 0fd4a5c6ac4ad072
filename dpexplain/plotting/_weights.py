"""Plots of one weight per input: pictures for inputs on a grid, bars for tables.

Both use a color scale that is symmetric around zero, with blue for positive weights and gold for
negative weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import EN_DASH, short_number
from dpexplain.explain.filters.weight_map import BAND, WeightMap
from dpexplain.plotting._style import Theme, plain, theme, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_MOST_NAMES = 60
_GRAY_SHARE = 0.7


def picture(values: npt.NDArray[np.generic], grid_shape: Sequence[int]) -> npt.NDArray[np.generic]:
    """Arrange values as a picture, with the slices of extra dimensions side by side.

    Parameters
    ----------
    values : ndarray of shape (n_inputs,)
        One value for each input.
    grid_shape : sequence of int
        Shape of the grid.

    Returns
    -------
    ndarray
        Array with two dimensions.
    """
    grid = np.reshape(values, grid_shape)
    if grid.ndim == 1:
        return grid[None, :]
    rows, columns = grid.shape[:2]
    slices = grid.reshape(rows, columns, -1)
    return np.concatenate([slices[:, :, place] for place in range(slices.shape[2])], axis=1)


def symmetric_limit(*values: FloatArray) -> float:
    """Return the largest absolute value, or 1 if all values are zero."""
    return max((float(np.abs(each).max(initial=0.0)) for each in values), default=0.0) or 1.0


def color_scale(colors: Theme, limit: float) -> ScalarMappable:
    """Return a diverging color scale in which zero has the background color."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    ends = [colors.opposite, colors.paper, colors.main]
    return ScalarMappable(
        Normalize(-limit, limit), LinearSegmentedColormap.from_list("signed", ends)
    )


def draw_weights(
    ax: Axes,
    weights: WeightMap,
    *,
    limit: float,
    mask_noise: bool,
    names: bool = True,
) -> None:
    """Draw one weight map on a given scale, as a picture or a strip of bars."""
    if weights.grid_shape is None:
        draw_strip(ax, weights, limit=limit, mask_noise=mask_noise, names=names)
    else:
        draw_picture(ax, weights, limit=limit, mask_noise=mask_noise)


def draw_picture(ax: Axes, weights: WeightMap, *, limit: float, mask_noise: bool) -> None:
    """Draw a weight map as a picture; optionally gray out weights that may be noise."""
    from matplotlib.colors import to_rgb

    assert weights.grid_shape is not None  # checked by the caller
    colors = theme(ax)
    shown = color_scale(colors, limit).to_rgba(picture(weights.weights, weights.grid_shape))
    if mask_noise and weights.above_noise is not None:
        noisy = ~picture(weights.above_noise, weights.grid_shape).astype(bool)
        gray = np.array(to_rgb("#4a4a4a" if colors.dark else "#b4b4b4"))
        shown[noisy, :3] += _GRAY_SHARE * (gray - shown[noisy, :3])
    ax.imshow(shown, interpolation="nearest", aspect="equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color(colors.muted)
        side.set_linewidth(0.6)


def draw_strip(
    ax: Axes, weights: WeightMap, *, limit: float, mask_noise: bool, names: bool
) -> None:
    """Draw one signed bar for each input, with a whisker of two standard deviations."""
    colors = theme(ax)
    tidy(ax)
    n = len(weights.weights)
    place = np.arange(n)
    above = np.ones(n, bool) if weights.above_noise is None else weights.above_noise
    for chosen, alpha in ((above, 1.0), (~above, 0.15 if mask_noise else 0.45)):
        values = weights.weights[chosen]
        signs = np.where(values >= 0, colors.main, colors.opposite)
        ax.bar(place[chosen], values, 0.76, color=signs, alpha=alpha, zorder=2)
    if weights.noise_std is not None:
        ax.errorbar(
            place,
            weights.weights,
            yerr=BAND * weights.noise_std,
            fmt="none",
            ecolor=colors.ink,
            elinewidth=0.8 if n <= _MOST_NAMES else 0.3,
            zorder=3,
        )
    ax.axhline(0, color=colors.muted, lw=0.9, zorder=1)
    ax.set_xlim(-0.7, n - 0.3)
    ax.set_ylim(-limit, limit)
    _name_inputs(ax, weights.input_names, names)


def _name_inputs(ax: Axes, names: Sequence[str], shown: bool) -> None:
    if not shown:
        ax.set_xticks([])
        return
    step = max(1, math.ceil(len(names) / _MOST_NAMES))
    place = list(range(0, len(names), step))
    labels = [plain(names[each], 22) for each in place]
    size = "x-small" if len(place) <= 24 else "xx-small"
    ax.set_xticks(place, labels, rotation=90, fontsize=size)


def strip_limit(maps: Sequence[WeightMap]) -> float:
    """Return a scale limit large enough for the whiskers of all maps."""
    reach = [
        np.abs(each.weights)
        + (0.0 if each.grid_shape or each.noise_std is None else BAND * each.noise_std)
        for each in maps
    ]
    return symmetric_limit(*reach) * (1.0 if maps[0].grid_shape else 1.05)


def scale_words(limit: float, unit: str) -> str:
    """Return a description of the color scale."""
    size = short_number(limit, 2)
    return f"Blue positive, gold negative: {EN_DASH}{size} to {size} [{unit} per unit of input]"
