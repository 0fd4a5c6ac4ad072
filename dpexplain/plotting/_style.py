"""Colors, labels and marks shared by all figures.

matplotlib is imported inside the functions, so importing this package stays fast.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.explain import Guarantee
from dpexplain.explain._text import shorten
from dpexplain.tables.cells import DATE_UNIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Privacy noise alone, and its sum with the variation from bins and trees and from sampling.
NOISE_LABEL = "±2σ of privacy noise, given bins and trees"
ALL_LABEL = "total uncertainty (95% band of the whole curve)"
BAG_LABEL = "±1σ between bags"
MAY_BE_NOISE = "may be noise (0 inside the band)"
# The effect in the population, corrected for shrinkage; the noise bands do not describe it.
EFFECT_LABEL = "estimated effect in the population (95% band)"
EFFECT_MARKER = "D"
_HEADING = 15  # height of a heading, in points
_LINE = 11  # line height of the small print, in points
_CHARACTERS = 22.0  # characters of small print per inch
_KEY = 7  # width of a legend's key and spaces, in characters of small print
_STEPS = (1, 2, 2.5, 5, 10)
_WATERMARK = "NOT PRIVATE"
_ADJACENCY = {"add_remove": "add/remove", "replace": "replace-one"}


@dataclasses.dataclass(frozen=True)
class Theme:
    """Colors of one ``Axes``, from the Okabe-Ito palette."""

    ink: str
    paper: str
    muted: str
    main: str
    opposite: str
    reference: str
    hatch: str
    band_alpha: float
    effect_alpha: float
    dark: bool


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the axes of a new figure with this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def grow(ax: Axes, points: float) -> None:
    """Make the figure of `ax` higher."""
    from matplotlib.figure import Figure

    if isinstance(ax.figure, Figure):
        width, height = ax.figure.get_size_inches()
        ax.figure.set_size_inches(width, height + points / 72)


def theme(ax: Axes) -> Theme:
    """Pick colors that contrast with the background of `ax`."""
    from matplotlib.colors import to_hex, to_rgb, to_rgba

    face = to_rgba(ax.get_facecolor())
    if face[3] == 0 and ax.figure is not None:
        face = to_rgba(ax.figure.get_facecolor())
    ink = to_hex(to_rgba(ax.xaxis.label.get_color()))
    # A transparent figure shows the page behind it; the text color contrasts with that page.
    luminance = _luminance(to_rgb(face)) if face[3] > 0 else 1.0 - _luminance(to_rgb(ink))
    if luminance < 0.4:
        return Theme(
            ink=ink,
            paper="#000000",
            muted="#9a9a9a",
            main="#56b4e9",
            opposite="#f0e442",
            reference="#e69f00",
            hatch="#d0d0d0",
            band_alpha=0.42,
            effect_alpha=0.2,
            dark=True,
        )
    return Theme(
        ink=ink,
        paper="#ffffff",
        muted="#767676",
        main="#0072b2",
        opposite="#a07d00",
        reference="#d55e00",
        hatch="#5f5f5f",
        band_alpha=0.25,
        effect_alpha=0.09,
        dark=False,
    )


def _luminance(rgb: tuple[float, float, float]) -> float:
    red, green, blue = rgb
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def plain(name: str, limit: int = 40) -> str:
    """Return a name that is safe to draw: short, printable and without math markup."""
    return shorten(name, limit).replace("$", r"\$")


def with_unit(name: str, unit: str, *, limit: int = 20) -> str:
    """Format the name of a quantity with its unit in brackets."""
    return f"{plain(name)} [{plain(unit, limit)}]" if unit not in ("", DATE_UNIT) else plain(name)


def contribution_label(score_unit: str) -> str:
    """Return the label of a contribution axis; a long unit has a separate line."""
    if not score_unit:
        return "contribution"
    return f"contribution{' ' if len(score_unit) < 16 else chr(10)}[{plain(score_unit, 32)}]"


def score_words(score_name: str) -> str:
    """Say what contributions add to, for the small print of a figure."""
    return f"Contributions to {shorten(score_name, 80)}" if score_name else ""


def guarantee_words(guarantee: Guarantee) -> str:
    """Return the guarantee in one line, for the small print of a figure."""
    if not guarantee.private:
        return guarantee.short
    delta = f", δ = {upper_number(guarantee.delta)}" if guarantee.delta else ""
    return (
        f"Differentially private: ε = {upper_number(guarantee.epsilon)}{delta} for "
        f"{shorten(guarantee.unit, 80)} ({_ADJACENCY[guarantee.adjacency]}), "
        f"{shorten(guarantee.covers, 80)}"
    )


def title(
    ax: Axes, heading: str, small_print: Sequence[str], warning: str = "", *, lift: float = 0.0
) -> float:
    """Write a heading, small print and a warning above `ax`; return their height."""
    colors = theme(ax)
    lines = [(line, colors.muted) for words in small_print for line in wrapped(ax, words)]
    lines += [(line, colors.reference) for line in wrapped(ax, warning)]
    pad = 8 + lift + _LINE * len(lines)
    ax.set_title(plain(heading, 60), loc="left", fontweight="bold", pad=pad)
    for above, (line, color) in enumerate(reversed(lines)):
        ax.annotate(
            line.replace("$", r"\$"),
            (0, 1),
            xytext=(0, 5 + lift + _LINE * above),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize="x-small",
            color=color,
            annotation_clip=False,
        )
    return pad + _HEADING


def privacy_title(
    ax: Axes, heading: str, guarantee: Guarantee, more: Sequence[str] = (), *, lift: float = 0.0
) -> float:
    """Write a heading, the guarantee and small print, as :func:`title` does."""
    words = guarantee_words(guarantee)
    if guarantee.private:
        return title(ax, heading, [words, *more], lift=lift)
    return title(ax, heading, more, words, lift=lift)


def wrapped(ax: Axes, words: str) -> list[str]:
    """Break small print into lines that fit above `ax`."""
    return textwrap.wrap(words, max(30, _room(ax)))


def legend_above(ax: Axes) -> float:
    """Draw a legend between `ax` and its title; return its height in points."""
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return 0.0
    half = math.ceil(len(labels) / 2)
    columns = [max(map(len, part), default=0) + _KEY for part in (labels[:half], labels[half:])]
    n_columns = 2 if sum(columns) <= _room(ax) else 1
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=n_columns,
        fontsize="x-small",
        frameon=False,
        borderpad=0.2,
        borderaxespad=0.0,
        columnspacing=1.0,
    )
    return 4.0 + _LINE * math.ceil(len(labels) / n_columns)


def _room(ax: Axes) -> int:
    """Return how many characters of small print fit above `ax`."""
    width = ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi
    return int(_CHARACTERS * width)


def watermark(ax: Axes, guarantee: Guarantee) -> None:
    """Draw a watermark if there is no privacy guarantee."""
    if not guarantee.private:
        draw_watermark(ax)


def draw_watermark(ax: Axes) -> None:
    """Write NOT PRIVATE across `ax`, sized to fit it."""
    box = ax.get_position()
    figure = ax.figure
    width = box.width * figure.bbox.width / figure.dpi * 72  # points
    ax.text(
        0.5,
        0.5,
        _WATERMARK,
        transform=ax.transAxes,
        ha="center",
        va="center",
        rotation=20,
        fontsize=max(8.0, min(44.0, width / 9)),
        fontweight="bold",
        color=theme(ax).reference,
        alpha=0.22,
        zorder=10,
        gid="watermark",
        clip_on=True,
    )


def tidy(ax: Axes, *, grid: str = "y") -> None:
    """Remove the top and right spines and all tick marks, and draw a faint grid."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=0)
    ax.set_axisbelow(True)
    ax.grid(visible=False)
    ax.grid(
        visible=True, axis="y" if grid == "y" else "x", color=theme(ax).muted, alpha=0.2, lw=0.7
    )


def thin_ticks(
    ax: Axes, ticks: list[float], labels: list[str], keep: int
) -> tuple[list[float], list[str]]:
    """Remove ticks whose labels overlap, but never the last `keep` ticks.

    The limits of the horizontal axis must already be set. The widths of labels are estimated from
    the number of characters, because the layout is known only when the figure is drawn.
    """
    left, right = ax.get_xlim()
    points = ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi * 72 / (right - left)
    size = float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
    sizes = [0.34 * size * (len(label) + 1.5) for label in labels]  # half-widths, in points
    chosen: list[int] = []
    fixed = list(range(len(ticks) - keep, len(ticks)))
    for index in range(len(ticks) - keep):
        others = [*chosen[-1:], *fixed[:1]]
        gaps = [abs(ticks[index] - ticks[other]) * points for other in others]
        needs = [sizes[index] + sizes[other] for other in others]
        if all(gap >= need for gap, need in zip(gaps, needs, strict=True)):
            chosen.append(index)
    chosen += fixed
    return [ticks[index] for index in chosen], [labels[index] for index in chosen]


def limit_ticks(axis: Axis, low: float, high: float) -> None:
    """Set ticks at round values between `low` and `high`."""
    axis.set_ticks(round_values(low, high, 6))


def round_days(low: float, high: float, at_most: int) -> list[float]:
    """Return the first days of evenly spaced months, as days since 1970-01-01."""
    months = np.arange(
        np.datetime64(math.floor(low), "D").astype("datetime64[M]"),
        np.datetime64(math.floor(high), "D").astype("datetime64[M]") + 1,
    )
    for step in (1, 2, 3, 6, 12, 24, 36, 48, 60, 120, 240, 600, 1200):
        chosen = months[months.astype(np.int64) % step == 0]
        days = chosen.astype("datetime64[D]").astype(np.float64)
        days = days[(days >= low) & (days <= high)]
        if len(days) <= at_most:
            break
    return days.tolist() if len(days) > 1 else [low, high]


def round_values(low: float, high: float, at_most: int) -> list[float]:
    """Return round numbers from `low` to `high`, inclusive."""
    from matplotlib.ticker import MaxNLocator

    values = MaxNLocator(nbins=at_most, steps=_STEPS).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [float(value) for value in values if low - slack <= value <= high + slack]
