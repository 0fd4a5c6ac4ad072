"""Draw the shape of a numeric term: steps, noise band, special bins apart, counts below."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain import ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import edge_texts
from dpexplain.plotting._counts import caption
from dpexplain.plotting._style import MAY_BE_NOISE, NOISE_LABEL, Theme, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP, _SPECIAL_WIDTH = 0.04, 0.08  # of the width of the value axis
STRIP = 0.15  # of the height of the axes, for the counts


@dataclasses.dataclass(frozen=True)
class Positions:
    """Left and right end of every bin on the horizontal axis, special bins last."""

    edges: FloatArray
    left: FloatArray
    right: FloatArray


def positions(shape: ShapeFunction, spacing: str) -> Positions:
    """Place the bins: by value or one beside the other, special bins after a gap."""
    assert shape.bin_edges is not None  # numeric terms have edges
    edges = shape.bin_edges
    if spacing == "bins":
        edges = np.arange(edges.size, dtype=np.float64)
    width = float(edges[-1] - edges[0])
    ordinal = np.arange(len(shape.special))
    special_left = edges[-1] + width * (_GAP + _SPECIAL_WIDTH * ordinal)
    return Positions(
        edges,
        np.concatenate([edges[:-1], special_left + 0.1 * _SPECIAL_WIDTH * width]),
        np.concatenate([edges[1:], special_left + 0.9 * _SPECIAL_WIDTH * width]),
    )


def draw_values(ax: Axes, shape: ShapeFunction, place: Positions, colours: Theme) -> None:
    """Draw contributions and their noise, value bins as steps, special bins as bars of a point."""
    n = shape.n_value_bins
    ax.axhline(0, color=colours.muted, lw=0.9, ls=(0, (4, 3)), zorder=1)
    if shape.noise_std is not None:
        _draw_band(ax, shape, place, colours)
    ax.stairs(
        shape.contribution[:n], place.edges, color=colours.main, lw=2, baseline=None, zorder=3
    )
    ax.hlines(
        shape.contribution[n:], place.left[n:], place.right[n:], color=colours.main, lw=2, zorder=3
    )
    if shape.special:
        middle = (place.edges[-1] + place.left[n]) / 2
        ax.axvline(middle, color=colours.muted, lw=0.9, ls=":", zorder=1)


def _draw_band(ax: Axes, shape: ShapeFunction, place: Positions, colours: Theme) -> None:
    assert shape.noise_std is not None
    n = shape.n_value_bins
    half = 2 * shape.noise_std
    low, high = shape.contribution - half, shape.contribution + half
    unsure = np.abs(shape.contribution) < half
    ax.stairs(
        high[:n],
        place.edges,
        baseline=low[:n],
        fill=True,
        color=colours.main,
        alpha=0.25,
        lw=0,
        label=NOISE_LABEL,
        zorder=2,
    )
    if unsure[:n].any():
        ax.stairs(
            np.where(unsure, high, np.nan)[:n],
            place.edges,
            baseline=np.where(unsure, low, np.nan)[:n],
            fill=True,
            facecolor="none",
            edgecolor=colours.hatch,
            alpha=0.55,
            hatch="////",
            lw=0,
            label=MAY_BE_NOISE,
            zorder=2,
        )
    for index in range(n, shape.n_bins):
        x = [place.left[index], place.right[index]]
        ax.fill_between(x, low[index], high[index], color=colours.main, alpha=0.25, lw=0, zorder=2)
        if unsure[index]:
            ax.fill_between(
                x,
                low[index],
                high[index],
                facecolor="none",
                edgecolor=colours.hatch,
                alpha=0.55,
                hatch="////",
                lw=0,
                zorder=2,
            )


def draw_counts(ax: Axes, shape: ShapeFunction, place: Positions, colours: Theme) -> None:
    """Draw records per bin as a strip along the bottom of `ax`."""
    strip = ax.inset_axes((0, 0, 1, STRIP))
    strip.set_axis_off()
    heights = np.maximum(shape.count, 0.0)
    strip.bar(
        place.left,
        heights,
        place.right - place.left,
        align="edge",
        color=colours.muted,
        alpha=0.55,
        edgecolor=colours.paper,
        lw=0.4,
    )
    strip.set_xlim(ax.get_xlim())
    strip.set_ylim(0, max(float(heights.max()), 1.0))
    strip.annotate(
        caption(shape),
        (0, 1),
        xytext=(3, 2),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize="x-small",
        color=colours.muted,
        annotation_clip=False,
    )


def set_ticks(ax: Axes, shape: ShapeFunction, place: Positions, spacing: str) -> None:
    """Put ticks on round values, and names below the special bins."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    low, high = float(place.edges[0]), float(place.edges[-1])
    if spacing == "bins" and shape.bin_edges is not None:
        every = max(1, round(place.edges.size / 8))
        ticks = place.edges[::every].tolist()
        labels = edge_texts(shape.bin_edges.tolist())[::every]
    else:
        room = 7 - len(shape.special)
        candidates = [float(tick) for tick in MaxNLocator(nbins=room).tick_values(low, high)]
        slack = 1e-9 * (high - low)
        ticks = [tick for tick in candidates if low - slack <= tick <= high + slack]
        labels = _tick_texts(ticks)
    n = shape.n_value_bins
    ticks += ((place.left[n:] + place.right[n:]) / 2).tolist()
    labels += [plain(name, 12) for name in shape.special]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter(labels))
    margin = 0.01 * (high - low)
    ax.set_xlim(low - margin, max(float(place.right[-1]), high) + margin)


def _tick_texts(ticks: list[float]) -> list[str]:
    if len(ticks) < 2:
        return [f"{tick:g}" for tick in ticks]
    largest = max(abs(tick) for tick in ticks)
    texts = edge_texts(ticks)
    if 10_000 <= largest < 1e9 and all("." not in text for text in texts):
        return [f"{int(text):,}" for text in texts]
    return texts
