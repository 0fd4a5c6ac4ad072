"""Plot of a numeric term: steps, noise band, special bins and counts."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain import ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import edge_texts
from dpexplain.plotting._counts import caption
from dpexplain.plotting._style import (
    ALL_LABEL,
    BAG_LABEL,
    MAY_BE_NOISE,
    NOISE_LABEL,
    Theme,
    plain,
    round_days,
    round_values,
    thin_ticks,
)
from dpexplain.tables.cells import DATE_UNIT, day_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Fractions of the width of the value axis.
_GAP, _SPECIAL_WIDTH = 0.05, 0.09
_HAIRLINE = 0.02
# Fractions of the height of the axes: the count strip, and the height below which no band is drawn.
STRIP = 0.15
CAPTION_TOP = STRIP + 0.05


@dataclasses.dataclass(frozen=True)
class Positions:
    """Left and right ends of all bins on the horizontal axis, with special bins last."""

    edges: FloatArray
    left: FloatArray
    right: FloatArray


def resolved_spacing(shape: ShapeFunction, spacing: str) -> str:
    """Resolve "auto" to "bins" for a very skewed feature, and to "value" otherwise."""
    if spacing != "auto" or shape.bin_edges is None:
        return spacing
    widths = np.diff(shape.bin_edges)
    weights = shape.weights[: widths.size]
    densest_first = np.argsort(-weights / widths, kind="stable")
    records = np.cumsum(weights[densest_first])
    n_bins = int(np.searchsorted(records, 0.5 * records[-1])) + 1  # with half of the records
    taken = widths[densest_first][:n_bins].sum()
    return "bins" if taken < _HAIRLINE * widths.sum() else "value"


def positions(shape: ShapeFunction, spacing: str) -> Positions:
    """Return bin positions, by value or with equal widths; special bins come last."""
    edges = np.arange(shape.n_value_bins + 1, dtype=np.float64)
    if spacing == "value" and shape.bin_edges is not None:
        edges = shape.bin_edges
    width = float(edges[-1] - edges[0])
    ordinal = np.arange(len(shape.special))
    special_left = edges[-1] + width * (_GAP + _SPECIAL_WIDTH * ordinal)
    return Positions(
        edges,
        np.concatenate([edges[:-1], special_left + 0.1 * _SPECIAL_WIDTH * width]),
        np.concatenate([edges[1:], special_left + 0.9 * _SPECIAL_WIDTH * width]),
    )


def draw_values(
    ax: Axes, shape: ShapeFunction, place: Positions, colors: Theme, *, released: bool = True
) -> None:
    """Draw contributions and noise: steps for value bins, points for special bins."""
    n = shape.n_value_bins
    ax.axhline(0, color=colors.muted, lw=0.9, ls=(0, (4, 3)), zorder=1)
    if shape.special:
        middle = (place.edges[-1] + place.left[n]) / 2
        ax.axvline(middle, color=colors.muted, lw=0.9, ls=":", zorder=1)
    if not released:
        return
    if shape.noise_std is not None:
        _draw_band(ax, shape, place, colors)
    if shape.bag_std is not None:
        _draw_bags(ax, shape, place, colors)
    ax.stairs(shape.contribution[:n], place.edges, color=colors.main, lw=2, baseline=None, zorder=3)
    ax.hlines(
        shape.contribution[n:], place.left[n:], place.right[n:], color=colors.main, lw=2, zorder=3
    )


def _draw_bags(ax: Axes, shape: ShapeFunction, place: Positions, colors: Theme) -> None:
    assert shape.bag_std is not None
    n = shape.n_value_bins
    for sign, label in ((1, BAG_LABEL), (-1, None)):
        ends = shape.contribution + sign * shape.bag_std
        look: dict[str, Any] = {"color": colors.main, "lw": 0.8, "alpha": 0.7, "zorder": 2.5}
        ax.stairs(ends[:n], place.edges, baseline=None, label=label, **look)
        ax.hlines(ends[n:], place.left[n:], place.right[n:], **look)


def _draw_band(ax: Axes, shape: ShapeFunction, place: Positions, colors: Theme) -> None:
    assert shape.noise_std is not None
    assert shape.band is not None
    assert shape.signal is not None
    half = 2 * shape.noise_std
    privacy = (shape.contribution - half, shape.contribution + half)
    known = shape.structure_std is not None
    everywhere = np.ones(shape.n_bins, dtype=bool)
    look: dict[str, Any] = {"color": colors.main, "alpha": colors.band_alpha}
    hatched: dict[str, Any] = {
        "facecolor": "none",
        "edgecolor": colors.hatch,
        "hatch": "////",
        "alpha": 0.55,
        "label": MAY_BE_NOISE,
    }
    if known:
        pale = {**look, "alpha": 0.5 * colors.band_alpha, "label": ALL_LABEL}
        _draw_ends(ax, shape.band, place, everywhere, pale)
    _draw_ends(ax, privacy, place, everywhere, {**look, "label": NOISE_LABEL})
    _draw_ends(ax, shape.band, place, ~shape.signal, hatched)


def _draw_ends(
    ax: Axes,
    ends: tuple[FloatArray, FloatArray],
    place: Positions,
    chosen: npt.NDArray[np.bool_],
    look: dict[str, Any],
) -> None:
    if not chosen.any():
        return
    from matplotlib.patches import Rectangle

    low, high = ends
    # Each bin has a separate polygon, because neighboring bins may be drawn differently.
    bars = ax.bar(
        place.left[chosen],
        (high - low)[chosen],
        (place.right - place.left)[chosen],
        low[chosen],
        align="edge",
        lw=0,
        antialiased=False,  # otherwise seams between neighbors are visible
        zorder=2,
        **look,
    )
    above_counts = Rectangle((0, CAPTION_TOP), 1, 1 - CAPTION_TOP, transform=ax.transAxes)
    for bar in bars:  # a band that leaves the axes ends above the counts
        bar.set_clip_path(above_counts)


def draw_counts(ax: Axes, shape: ShapeFunction, place: Positions, colors: Theme) -> None:
    """Draw the number of records per bin as a strip along the bottom of `ax`."""
    strip = ax.inset_axes((0, 0, 1, STRIP))
    strip.set_axis_off()
    heights = np.maximum(shape.count, 0.0)
    strip.bar(
        place.left,
        heights,
        place.right - place.left,
        align="edge",
        color=colors.muted,
        alpha=0.55,
        edgecolor=colors.paper,
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
        color=colors.muted,
        annotation_clip=False,
    )


def set_ticks(ax: Axes, shape: ShapeFunction, place: Positions, spacing: str) -> None:
    """Set ticks at round values or at bin edges, and label special bins."""
    low, high = float(place.edges[0]), float(place.edges[-1])
    margin = 0.01 * (high - low)
    ax.set_xlim(low - margin, max(float(place.right[-1]), high) + margin)
    n = shape.n_value_bins
    special = ((place.left[n:] + place.right[n:]) / 2).tolist()
    names = [plain(name, 12) for name in shape.special]
    if spacing == "bins" and shape.bin_edges is not None:
        values = _first_values(shape.bin_edges.tolist(), shape.step)
        texts = list(map(day_text, values)) if shape.unit == DATE_UNIT else _bin_texts(values)
        choices = [(place.edges.tolist(), texts)]
    elif shape.unit == DATE_UNIT:
        rounds = [round_days(low, high, at_most) for at_most in (5, 4, 3, 2)]
        choices = [(ticks, list(map(day_text, ticks))) for ticks in rounds]
    else:
        rounds = [round_values(low, high, at_most) for at_most in (6, 5, 4, 3, 2)]
        choices = [(ticks, _tick_texts(ticks)) for ticks in rounds]
    for ticks, texts in choices:
        kept, labels = thin_ticks(ax, ticks + special, texts + names, keep=len(special))
        if len(kept) >= len(ticks) + len(special) - 1:  # the last tick may be dropped for a name
            break
    ax.set_xticks(kept, labels)


def _first_values(edges: list[float], step: float | None) -> list[float]:
    """Return the first possible value at or after each edge."""
    if step is None:
        return edges
    first = [math.ceil(edge / step - 1e-9) * step for edge in edges[:-1]]
    values = [*first, math.floor(edges[-1] / step + 1e-9) * step]
    increasing = all(left < right for left, right in pairwise(values))
    return values if increasing else edges


def _bin_texts(values: list[float]) -> list[str]:
    """Format edges of bins, with four digits where all digits would be longer."""
    pairs = zip(_tick_texts(values), values, strict=True)
    return [min(text, f"{value:.4g}", key=len) if "." in text else text for text, value in pairs]


def _tick_texts(ticks: list[float]) -> list[str]:
    if len(ticks) < 2:
        return [f"{tick:g}" for tick in ticks]
    largest = max(abs(tick) for tick in ticks)
    texts = edge_texts(ticks)
    if 10_000 <= largest < 1e9 and all("." not in text for text in texts):
        return [f"{int(text):,}" for text in texts]
    return texts
