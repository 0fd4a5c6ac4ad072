"""Figure comparing class means of locally linear models, one column per epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.compare import FilterComparison
from dpexplain.explain import FilterBank, WeightMap
from dpexplain.explain.guarantee import NOT_PRIVATE
from dpexplain.plotting._style import draw_watermark, plain, theme
from dpexplain.plotting._weights import draw_weights, scale_words, strip_limit
from dpexplain.plotting.filter_bank import GREY, WHISKERS

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

_PICTURE_INCHES = 1.25
_STRIP_INCHES = (3.2, 1.3)


def plot_filter_comparison(
    comparison: FilterComparison,
    *,
    classes: list[object] | None = None,
    mask_noise: bool = False,
    show_reference: bool = True,
    figure: FigureBase | None = None,
) -> npt.NDArray[np.object_]:
    """Draw the mean filter of each class for every epsilon, on one symmetric scale.

    Parameters
    ----------
    comparison : FilterComparison
        What to draw; if there are several repeats, the first one is drawn.
    classes : list or None, default=None
        Names of the classes to draw; None draws all.
    mask_noise : bool, default=False
        Whether to gray out weights whose absolute value is at most two standard deviations of their
        privacy noise.
    show_reference : bool, default=True
        Whether to draw the reference, if there is one; its panels are watermarked.
    figure : Figure, SubFigure or None, default=None
        Figure to draw into; None creates one.

    Returns
    -------
    ndarray of Axes, shape (n_classes, n_columns)
        One column for each epsilon and, if it is drawn, one for the reference.

    Raises
    ------
    KeyError
        If a class does not exist.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> from dpexplain.plotting import plot_filter_comparison
    >>> panels = plot_filter_comparison(comparison)
    >>> panels.shape
    (2, 3)
    """
    names = list(comparison.classes if classes is None else classes)
    columns: list[tuple[str, FilterBank]] = [
        (f"ε = {epsilon:g}", fit)
        for epsilon, repeat, fit in comparison.fits()
        if repeat == 0 and not math.isinf(epsilon)
    ]
    if show_reference and comparison.reference is not None:
        columns.append(("non-private", comparison.reference))
    maps = [[fit.class_mean(name) for _, fit in columns] for name in names]
    panels = _panels(maps, comparison.grid_shape is not None, figure)
    limit = strip_limit([each for row in maps for each in row])
    for row, axes, name in zip(maps, panels, names, strict=True):
        for weights, ax in zip(row, axes, strict=True):
            bottom = ax in panels[-1]
            draw_weights(ax, weights, limit=limit, mask_noise=mask_noise, names=bottom)
            if not weights.guarantee.private:
                draw_watermark(ax)
        words = plain(str(name), 18)
        axes[0].set_ylabel(words, rotation=0, ha="right", va="center", fontsize="small")
    for (words, _), ax in zip(columns, panels[0], strict=True):
        ax.set_title(words, fontsize="small")
    _head(comparison, panels, limit, mask_noise, [fit for _, fit in columns])
    return panels


def _panels(
    maps: list[list[WeightMap]], on_grid: bool, figure: FigureBase | None
) -> npt.NDArray[np.object_]:
    n_rows, n_columns = len(maps), len(maps[0])
    if figure is None:
        from matplotlib import pyplot

        if on_grid:
            width, height, head = _PICTURE_INCHES, _PICTURE_INCHES, 1.1
        else:
            (width, height), head = _STRIP_INCHES, 2.2
        size = (max(6.4, width * n_columns + 0.8), height * n_rows + head)
        figure = pyplot.figure(figsize=size, layout="constrained")
    return figure.subplots(n_rows, n_columns, squeeze=False)


def _head(
    comparison: FilterComparison,
    panels: npt.NDArray[np.object_],
    limit: float,
    mask_noise: bool,
    drawn: list[FilterBank],
) -> None:
    """Write a title, the guarantees and a legend above the panels."""
    first: Any = panels.flat[0]
    lines = [
        f"{plain(comparison.title, 80)}, mean filter of each class",
        *(plain(f"{words[0].upper()}{words[1:]}", 200) for words in comparison.guarantee_words),
    ]
    if not all(fit.guarantee.private for fit in drawn):
        lines.append(f"Non-private reference: {NOT_PRIVATE}")
    if comparison.grid_shape is not None:
        lines.append(scale_words(limit, comparison.first.score_unit))
    if any(fit.noise is not None for fit in drawn):
        lines.append(WHISKERS if comparison.grid_shape is None else GREY if mask_noise else "")
    first.figure.suptitle(
        "\n".join(line for line in lines if line),
        x=0.01,
        ha="left",
        fontsize="small",
        color=theme(first).ink,
    )
