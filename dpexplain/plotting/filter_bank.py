"""Figures showing the filters of a locally linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain import FilterBank, WeightMap
from dpexplain.plotting._style import (
    draw_watermark,
    guarantee_words,
    new_axes,
    plain,
    privacy_title,
    theme,
    watermark,
)
from dpexplain.plotting._weights import (
    color_scale,
    draw_weights,
    scale_words,
    strip_limit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

WHISKERS = "Whiskers: ±2σ of privacy noise; pale where it may be noise"
GREY = "Gray: within 2σ of privacy noise"
_PICTURE_INCHES = 1.25
_STRIP_INCHES = (7.2, 1.3)


def plot_weights(
    weights: WeightMap,
    *,
    ax: Axes | None = None,
    limit: float | None = None,
    mask_noise: bool = False,
) -> Axes:
    """Draw one weight per input, as a picture or signed bars.

    Parameters
    ----------
    weights : WeightMap
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    limit : float or None, default=None
        Weight at the upper end of the scale, which is symmetric around zero; None means the largest
        absolute weight.
    mask_noise : bool, default=False
        Whether to gray out weights whose absolute value is at most two standard deviations of their
        privacy noise.

    Returns
    -------
    Axes
        The axes with the plot.

    Raises
    ------
    ValueError
        If `limit` is not positive.
    """
    if limit is not None and not 0 < limit < np.inf:
        raise ValueError(f"limit={limit!r} must be a positive number.")
    on_grid = weights.grid_shape is not None
    ax = new_axes(ax, (5.8, 4.8) if on_grid else (7.2, 3.4))
    scale = strip_limit([weights]) if limit is None else float(limit)
    draw_weights(ax, weights, limit=scale, mask_noise=mask_noise)
    if on_grid:
        shown = color_scale(theme(ax), scale)
        bar = ax.figure.colorbar(shown, ax=ax, shrink=0.7)
        bar.set_label(plain(weights.unit), fontsize="small")
        bar.ax.tick_params(labelsize="x-small")
    else:
        ax.set_ylabel(plain(weights.unit), fontsize="small")
    privacy_title(ax, weights.title, weights.guarantee)
    watermark(ax, weights.guarantee)
    return ax


def plot_filters(
    bank: FilterBank,
    *,
    what: str = "class_means",
    max_filters: int = 10,
    mask_noise: bool = False,
    sort: bool = True,
    figure: FigureBase | None = None,
) -> npt.NDArray[np.object_]:
    """Draw the filters of every class on one symmetric scale.

    Parameters
    ----------
    bank : FilterBank
        What to draw.
    what : {"class_means", "filters"}, default="class_means"
        Whether to draw the mean filter of each class, or the individual filters, with one row of
        panels for each class.
    max_filters : int, default=10
        Maximum number of filters per class.
    mask_noise : bool, default=False
        Whether to gray out weights whose absolute value is at most two standard deviations of their
        privacy noise.
    sort : bool, default=True
        Whether the filters of a class are sorted by decreasing signal-to-noise ratio. This has no
        effect if the noise is unknown.
    figure : Figure, SubFigure or None, default=None
        Figure to draw into; None creates one.

    Returns
    -------
    ndarray of Axes
        Shape (n_classes,) for class means, (n_classes, n_shown) for filters.

    Raises
    ------
    ValueError
        If `what` is neither "class_means" nor "filters", or `max_filters` is less than 1.
    """
    if what not in ("class_means", "filters"):
        raise ValueError(f"what={what!r} must be 'class_means' or 'filters'.")
    if max_filters < 1:
        raise ValueError(f"max_filters={max_filters!r} must be at least 1.")
    rows = _rows(bank, what, max_filters, sort)
    panels, places = _panels(rows, what, bank.grid_shape is not None, figure)
    limit = strip_limit([each for row in rows for each in row])
    for row, axes in zip(rows, panels, strict=True):
        for weights, ax in zip(row, axes, strict=True):
            bottom = bank.grid_shape is None and ax in places
            draw_weights(ax, weights, limit=limit, mask_noise=mask_noise, names=bottom)
            if not bank.guarantee.private:
                draw_watermark(ax)
    _name_panels(bank, rows, panels, what)
    _head(bank, panels, limit, what, mask_noise, hidden=bank.n_filters - len(rows[0]))
    return panels[:, 0] if what == "class_means" else panels


def _rows(bank: FilterBank, what: str, max_filters: int, sort: bool) -> list[list[WeightMap]]:
    if what == "class_means":
        return [[bank.class_mean(name)] for name in bank.classes]
    ratios = bank.signal_to_noise()
    rows = []
    for k, name in enumerate(bank.classes):
        order = np.arange(bank.n_filters)
        if sort and ratios is not None:
            order = np.argsort(-ratios[k], kind="stable")
        rows.append([bank.filter(name, int(m)) for m in order[:max_filters]])
    return rows


def _panels(
    rows: list[list[WeightMap]], what: str, on_grid: bool, figure: FigureBase | None
) -> tuple[npt.NDArray[np.object_], set[Any]]:
    """Create axes, and return them with the set of axes that show input names."""
    n_classes, n_shown = len(rows), len(rows[0])
    if what == "class_means" and on_grid:
        n_columns = min(n_classes, 5)
        n_rows = -(-n_classes // n_columns)
    else:
        n_rows, n_columns = n_classes, n_shown
    figure = _new_figure(figure, n_rows, n_columns, on_grid)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    lowest = set(grid[-1])
    if what == "class_means" and on_grid:
        for unused in grid.ravel()[n_classes:]:
            unused.set_axis_off()
        return grid.ravel()[:n_classes, None], lowest
    return grid, lowest


def _new_figure(
    figure: FigureBase | None, n_rows: int, n_columns: int, on_grid: bool
) -> FigureBase:
    if figure is not None:
        return figure
    from matplotlib import pyplot

    if on_grid:
        size = (max(4.5, _PICTURE_INCHES * n_columns), (_PICTURE_INCHES + 0.2) * n_rows + 0.8)
    else:
        width, height = _STRIP_INCHES
        size = (max(width, 2.2 * n_columns), height * n_rows + 1.9)
    return pyplot.figure(figsize=size, layout="constrained")


def _name_panels(
    bank: FilterBank,
    rows: list[list[WeightMap]],
    panels: npt.NDArray[np.object_],
    what: str,
) -> None:
    for name, row, axes in zip(bank.classes, rows, panels, strict=True):
        label = plain(name, 18)
        if what == "class_means" and bank.grid_shape is not None:
            axes[0].set_title(label, fontsize="small")
        else:
            axes[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize="small")
        if what != "filters":
            continue
        for weights, ax in zip(row, axes, strict=True):
            ratio = weights.signal_to_noise
            number = weights.title.split()[1]
            words = f"#{number}" if ratio is None else f"#{number}, {ratio:.1f}"
            ax.set_title(words, fontsize="x-small", pad=2)


def _head(
    bank: FilterBank,
    panels: npt.NDArray[np.object_],
    limit: float,
    what: str,
    mask_noise: bool,
    *,
    hidden: int,
) -> None:
    """Write the model, the guarantee and a legend above the panels."""
    first: Any = panels.flat[0]
    model = f"{plain(bank.model_name)}: " if bank.model_name else ""
    kind = "mean filter of each class" if what == "class_means" else "filters of each class"
    lines = [
        f"{model}{kind} of {plain(bank.target_name)}",
        guarantee_words(bank.guarantee).replace("$", r"\$"),
        scale_words(limit, bank.score_unit) if bank.grid_shape is not None else "",
    ]
    if bank.noise is not None:
        if bank.grid_shape is None:
            lines.append(WHISKERS)
        elif mask_noise:
            lines.append(GREY)
        if what == "filters":
            lines.append("Above each filter: number and signal-to-noise ratio")
    if what == "filters" and hidden > 0:
        lines.append(f"{hidden} more filters per class not drawn")
    first.figure.suptitle(
        "\n".join(line for line in lines if line),
        x=0.01,
        ha="left",
        fontsize="small",
        color=theme(first).ink,
    )
