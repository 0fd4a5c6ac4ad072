"""Figures for one sample: input contributions and filter weightings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpexplain.explain import FilterExplanation, WeightMap
from dpexplain.explain._by_class import class_position
from dpexplain.explain._text import short_number
from dpexplain.explain.display import NOT_RELEASABLE
from dpexplain.plotting._style import (
    draw_watermark,
    guarantee_words,
    new_axes,
    plain,
    theme,
    tidy,
    title,
)
from dpexplain.plotting._weights import draw_weights, picture, strip_limit
from dpexplain.plotting.filter_bank import GREY, WHISKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase


def plot_weightings(
    explanation: FilterExplanation,
    *,
    sample: int = 0,
    label: object | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weighting of each filter in the score of a class, for one sample.

    Parameters
    ----------
    explanation : FilterExplanation
        What to draw.
    sample : int, default=0
        Index of the sample.
    label : object or None, default=None
        Name of the class; None means the predicted class.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Raises
    ------
    KeyError
        If the class does not exist.
    ValueError
        If the sample does not exist.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(epsilon=4, schema=stays.schema, n_public=500)
    >>> bank = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.plotting import plot_weightings
    >>> invented = stays.schema.simulate(1, seed=0)[0]
    >>> local = model.explain_local(invented, samples_public=True)
    >>> axes = plot_weightings(local)
    >>> axes.get_xlabel()
    'filter (dashed: all alike)'
    """
    k = class_position(explanation.classes, _label(explanation, sample, label))
    ax = new_axes(ax, (5.2, 2.8))
    _draw_weightings(ax, explanation, sample, k)
    title(ax, f"shares of the filters of {explanation.classes[k]}", _model_words(explanation))
    _mark(ax, explanation)
    return ax


def plot_filter_explanation(
    explanation: FilterExplanation,
    *,
    sample: int = 0,
    label: object | None = None,
    mask_noise: bool = False,
    figure: FigureBase | None = None,
) -> npt.NDArray[np.object_]:
    """Draw the local explanation of one sample.

    Parameters
    ----------
    explanation : FilterExplanation
        What to draw.
    sample : int, default=0
        Index of the sample.
    label : object or None, default=None
        Name of the class to explain; None means the predicted class.
    mask_noise : bool, default=False
        Whether to gray out contributions whose absolute value is at most two standard deviations of
        their privacy noise.
    figure : Figure, SubFigure or None, default=None
        Figure to draw into; None creates one.

    Returns
    -------
    ndarray of Axes, shape (4,)
        Panels with the input, the contributions to the score of the class, the contributions to
        the difference between this score and that of the most probable other class, and the
        weightings of the filters.

    Raises
    ------
    KeyError
        If the class does not exist.
    ValueError
        If the sample does not exist.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(epsilon=4, schema=stays.schema, n_public=500)
    >>> bank = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.plotting import plot_filter_explanation
    >>> invented = stays.schema.simulate(1, seed=0)[0]
    >>> local = model.explain_local(invented, samples_public=True)
    >>> panels = plot_filter_explanation(local)
    >>> panels.shape
    (4,)
    """
    name = _label(explanation, sample, label)
    k = class_position(explanation.classes, name)
    rival = _rival(explanation, sample, k)
    maps = [
        explanation.contribution_map(sample, name),
        explanation.contrast(sample, name, explanation.classes[rival]),
    ]
    axes = _panels(explanation, figure)
    limit = strip_limit(maps)
    _draw_input(axes[0], explanation, sample)
    for ax, weights, heading in zip(
        axes[1:3], maps, (f"for {plain(str(name), 18)}", f"against {_class(explanation, rival)}"),
        strict=True,
    ):  # fmt: skip
        draw_weights(ax, weights, limit=limit, mask_noise=mask_noise)
        ax.set_title(heading, loc="left", fontsize="medium")
        _mark(ax, explanation)
    _draw_weightings(axes[3], explanation, sample, k)
    axes[3].set_title(f"filters of {_class(explanation, k)}", loc="left", fontsize="medium")
    _head(explanation, sample, k, maps[0], axes[0], mask_noise)
    return axes


def _label(explanation: FilterExplanation, sample: int, label: object | None) -> object:
    explanation._position(sample)
    return explanation.predicted[sample] if label is None else label


def _rival(explanation: FilterExplanation, sample: int, k: int) -> int:
    """Find the most probable class other than the chosen one."""
    scores = explanation.scores[sample].copy()
    scores[k] = -np.inf
    return int(scores.argmax())


def _class(explanation: FilterExplanation, place: int) -> str:
    return plain(explanation.classes[place], 18)


def _panels(explanation: FilterExplanation, figure: FigureBase | None) -> npt.NDArray[np.object_]:
    on_grid = explanation.grid_shape is not None
    if figure is None:
        from matplotlib import pyplot

        size = (10.4, 3.6) if on_grid else (7.4, 9.6)
        figure = pyplot.figure(figsize=size, layout="constrained")
    grid = figure.subplots(*((1, 4) if on_grid else (4, 1)), squeeze=False)
    return np.asarray(grid.ravel(), dtype=object)


def _draw_input(ax: Axes, explanation: FilterExplanation, sample: int) -> None:
    colors = theme(ax)
    values = explanation.inputs[sample]
    ax.set_title("input, as the model reads it", loc="left", fontsize="medium")
    if explanation.grid_shape is not None:
        ax.imshow(
            picture(values, explanation.grid_shape),
            cmap="gray" if colors.dark else "gray_r",
            interpolation="nearest",
        )
        ax.set_xticks([])
        ax.set_yticks([])
    else:
        tidy(ax)
        ax.bar(np.arange(len(values)), values, 0.76, color=colors.muted, zorder=2)
        ax.axhline(0, color=colors.muted, lw=0.9)
        ax.set_xlim(-0.7, len(values) - 0.3)
        ax.set_xticks([])
    if not explanation.samples_public:
        draw_watermark(ax)


def _draw_weightings(ax: Axes, explanation: FilterExplanation, sample: int, k: int) -> None:
    from matplotlib.ticker import MaxNLocator

    colors = theme(ax)
    tidy(ax)
    shares = explanation.weightings[sample, k]
    top = int(shares.argmax())
    hues = [colors.ink if place == top else colors.main for place in range(len(shares))]
    ax.bar(np.arange(len(shares)), shares, 0.76, color=hues, zorder=2)
    ax.axhline(1.0 / len(shares), color=colors.muted, lw=0.9, ls=(0, (4, 3)))
    ax.set_ylim(0, max(1.05 * float(shares.max()), 1.6 / len(shares)))
    ax.set_xlabel("filter (dashed: all alike)", fontsize="small")
    ax.set_ylabel("share", fontsize="small")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    active = short_number(float(explanation.active_filters[sample, k]), 2)
    ax.annotate(
        f"{active} filters active",
        (0.98, 0.97),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize="x-small",
        color=colors.ink,
    )


def _mark(ax: Axes, explanation: FilterExplanation) -> None:
    if not explanation.releasable:
        draw_watermark(ax)


def _model_words(explanation: FilterExplanation) -> list[str]:
    lines = [f"Model: {guarantee_words(explanation.guarantee)}"]
    if not explanation.samples_public:
        lines.append(f"{NOT_RELEASABLE[0].upper()}{NOT_RELEASABLE[1:]}")
    return lines


def _head(
    explanation: FilterExplanation,
    sample: int,
    k: int,
    weights: WeightMap,
    ax: Axes,
    mask_noise: bool,
) -> None:
    probability = short_number(float(explanation.predictions[sample, k]), 3)
    lines = [
        f"Sample {sample}: P({_class(explanation, k)}) = {probability}; contributions to its "
        "log-odds, blue for, gold against",
        *(line.replace("$", r"\$") for line in _model_words(explanation)),
    ]
    if weights.noise_std is not None:
        if weights.grid_shape is None:
            lines.append(WHISKERS)
        elif mask_noise:
            lines.append(GREY)
    ax.figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize="small", color=theme(ax).ink)
