"""Plot of a categorical term: bars, special bins and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpexplain.explain import ShapeFunction
from dpexplain.explain._record import FloatArray
from dpexplain.plotting._counts import caption
from dpexplain.plotting._style import ALL_LABEL, BAG_LABEL, MAY_BE_NOISE, NOISE_LABEL, Theme, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IndexArray = npt.NDArray[np.int64]

STRIP = 0.14  # width of the count strip, as a fraction of the width of the axes
_GAP = 0.6  # between categories and special bins, in rows


def chosen_bins(shape: ShapeFunction, limit: int) -> IndexArray:
    """Return the bins to draw: the most important categories and all special bins."""
    values = np.arange(shape.n_value_bins)
    special = np.arange(shape.n_value_bins, shape.n_bins)
    if values.size > limit:
        weight = (shape.weights * np.abs(shape.contribution))[: values.size]
        values = np.sort(np.argsort(-weight, kind="stable")[:limit])
    return np.concatenate([values, special]).astype(np.int64)


def rows(shape: ShapeFunction, bins: IndexArray) -> FloatArray:
    """Return the vertical position of each bin; special bins come after a gap."""
    return np.arange(bins.size, dtype=np.float64) + np.where(bins >= shape.n_value_bins, _GAP, 0.0)


def draw_values(
    ax: Axes,
    shape: ShapeFunction,
    bins: IndexArray,
    place: FloatArray,
    colors: Theme,
    *,
    released: bool = True,
) -> None:
    """Draw contributions as bars with whiskers; bars that may be noise are pale."""
    values = shape.contribution[bins]
    noise = np.zeros(bins.size) if shape.noise_std is None else shape.noise_std[bins]
    marks = shape.signal
    unsure = np.zeros(bins.size, dtype=bool) if marks is None else ~marks[bins]
    ax.axvline(0, color=colors.muted, lw=0.9, zorder=1)
    if bins[-1] >= shape.n_value_bins and bins[0] < shape.n_value_bins:
        border = place[bins >= shape.n_value_bins][0] - 0.5 - _GAP / 2
        ax.axhline(border, color=colors.muted, lw=0.9, ls=":", zorder=1)
    if not released:
        return
    ax.barh(place[~unsure], values[~unsure], 0.68, color=colors.main, zorder=2)
    if unsure.any():
        ax.barh(
            place[unsure],
            values[unsure],
            0.68,
            color=colors.main,
            alpha=0.35,
            zorder=2,
            hatch="////",
            edgecolor=colors.hatch,
            lw=0,
            label=MAY_BE_NOISE,
        )
    if shape.bag_std is not None:
        ax.errorbar(
            values,
            place + 0.16,
            xerr=shape.bag_std[bins],
            fmt="none",
            ecolor=colors.muted,
            elinewidth=1.1,
            label=BAG_LABEL,
            zorder=3,
        )
    whiskers = [] if shape.noise_std is None else [(2 * noise, 2.5, 1.1, NOISE_LABEL)]
    if shape.structure_std is not None and shape.total_std is not None:
        whiskers.append((shape.band_factor * shape.total_std[bins], 0.0, 0.7, ALL_LABEL))
    for half, cap, width, label in whiskers:
        ax.errorbar(
            values,
            place,
            xerr=half,
            fmt="none",
            ecolor=colors.ink,
            elinewidth=width,
            capsize=cap,
            alpha=0.8,
            label=label,
            zorder=3,
        )


def draw_counts(
    ax: Axes, shape: ShapeFunction, bins: IndexArray, place: FloatArray, colors: Theme
) -> None:
    """Draw the number of records per bin as a strip along the right side of `ax`."""
    strip = ax.inset_axes((1 - STRIP, 0, STRIP, 1))
    strip.set_axis_off()
    lengths = np.maximum(shape.count[bins], 0.0)
    strip.barh(place, lengths, 0.5, color=colors.muted, alpha=0.55)
    strip.set_xlim(0, max(float(lengths.max()), 1.0))
    strip.set_ylim(ax.get_ylim())
    strip.annotate(
        caption(shape, wide=False),
        (1, 0),
        xytext=(0, 3),
        xycoords="axes fraction",
        ha="right",
        textcoords="offset points",
        fontsize="x-small",
        color=colors.muted,
        annotation_clip=False,
    )


def set_ticks(ax: Axes, shape: ShapeFunction, bins: IndexArray, place: FloatArray) -> None:
    """Label the bars with the names of their bins."""
    labels = shape.bin_labels
    ax.set_yticks(place, [plain(labels[index], 24) for index in bins])
    for index, tick in zip(bins, ax.get_yticklabels(), strict=True):
        if index >= shape.n_value_bins:
            tick.set_fontstyle("italic")


def say_hidden(ax: Axes, hidden: int, colors: Theme) -> None:
    """Write on the plot how many categories were omitted."""
    if hidden:
        ax.annotate(
            f"{hidden} more not drawn (see max_categories)",
            (0, 0),
            xytext=(4, 3),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize="x-small",
            color=colors.muted,
        )
