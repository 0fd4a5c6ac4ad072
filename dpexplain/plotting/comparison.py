"""Figures showing one term at every epsilon, or a metric against epsilon."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpexplain.compare import Comparison
from dpexplain.explain import ShapeFunction
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._text import shorten
from dpexplain.explain.guarantee import NOT_PRIVATE
from dpexplain.plotting import _categorical, _numeric
from dpexplain.plotting._effect import Show
from dpexplain.plotting._style import (
    Theme,
    contribution_label,
    draw_watermark,
    new_axes,
    plain,
    score_words,
    theme,
    tidy,
    title,
    with_unit,
)
from dpexplain.plotting.shape_function import score_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Curve(NamedTuple):
    shape: ShapeFunction
    color: str
    label: str
    first: bool
    reference: bool


def plot_comparison(
    comparison: Comparison,
    *,
    term: str | None = None,
    ax: Axes | None = None,
    show_reference: bool = True,
    show: Show = "released",
) -> Axes:
    """Draw one term at every epsilon, and the non-private reference as a dashed line.

    Parameters
    ----------
    comparison : Comparison
        What to draw.
    term : str or None, default=None
        Name of the term; None means the most important one at the largest epsilon.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    show_reference : bool, default=True
        Whether to draw the reference, if any; the figure is then watermarked.
    show : {"released", "effect"}, default="released"
        Whether to draw the released curves, or the estimated effects where they are available.

    Returns
    -------
    Axes
        The axes with the plot.

    Raises
    ------
    KeyError
        If the term does not exist, or is a pair of features.
    ValueError
        If `show` is neither "released" nor "effect".

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.plotting import plot_comparison
    >>> axes = plot_comparison(comparison, term="age")
    >>> axes.get_xlabel()
    'age [years]'
    """
    check_one_class(comparison)
    if show not in ("released", "effect"):
        raise ValueError(f"show={show!r} must be 'released' or 'effect'.")
    if term is None:
        largest = comparison.explanations[comparison.epsilons[-1]][0]
        term = max(largest, key=lambda name: largest[name].importance)
    if term in comparison.pair_names:
        raise KeyError(
            f"{shorten(term)!r} is a pair of features, and this figure shows curves; draw the pair "
            "of one model, as in explanations[epsilon][0].plot(name)."
        )
    ax = new_axes(ax, (6.8, 4.2))
    colors = theme(ax)
    curves = list(_curves(comparison, term, colors, show_reference, show))
    if curves[0].shape.kind == "numeric":
        _draw_numeric(ax, curves, colors)
    else:
        _draw_categorical(ax, curves, colors)
    ax.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    private = all(curve.shape.guarantee.private for curve in curves)
    words = [f"{words[0].upper()}{words[1:]}" for words in comparison.guarantee_words]
    words.append(score_words(curves[0].shape.score_name))
    if show == "effect":
        words.append(_effect_words(comparison, term))
    warning = f"non-private reference: {NOT_PRIVATE}" if curves[-1].reference else NOT_PRIVATE
    title(ax, term, words, "" if private else f"{warning[0].upper()}{warning[1:]}")
    if not private:
        draw_watermark(ax)
    return ax


def _curves(
    comparison: Comparison, term: str, colors: Theme, show_reference: bool, show: Show
) -> Iterator[_Curve]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    # Epsilons differ in lightness only; the curve with the least noise has the most contrast.
    darkest, lightest = (0.75, 0.1) if colors.dark else (0.4, 1.0)
    shades = np.linspace(darkest, lightest, len(comparison.epsilons))
    for shade, (epsilon, repeats) in zip(shades, comparison.explanations.items(), strict=True):
        color = to_hex(colormaps["Blues"](shade))
        for index, explanation in enumerate(repeats):
            label = f"ε = {epsilon:g}" if index == 0 else ""
            shape = explanation[term]
            if show == "effect" and shape.effect is not None:
                shape = dataclasses.replace(
                    shape, contribution=shape.effect, monotone=None, released=None
                )
            yield _Curve(shape, color, label, index == 0, False)
    if show_reference and comparison.reference is not None:
        shape = comparison.reference[term]
        yield _Curve(shape, colors.reference, "non-private\nreference", True, True)


def _effect_words(comparison: Comparison, term: str) -> str:
    known = [fit[term].effect for fits in comparison.explanations.values() for fit in fits]
    if any(effect is None for effect in known):
        return "Released curves: the effect in the population is not estimated here."
    return "Estimates of the effect in the population; not the released curves."


def _draw_numeric(ax: Axes, curves: list[_Curve], colors: Theme) -> None:
    tidy(ax, grid="y")
    ax.axhline(0, color=colors.muted, lw=0.9, ls=(0, (4, 3)), zorder=1)
    for curve in curves:
        shape = curve.shape
        place = _numeric.positions(shape, "value")
        n = shape.n_value_bins
        style: dict[str, Any] = {
            "color": curve.color,
            "lw": 1.9 if curve.first else 0.8,
            "alpha": 1.0 if curve.first else 0.45,
            "ls": (0, (3, 1.5)) if curve.reference else "-",
            "zorder": 4 if curve.reference else 3,
        }
        ax.stairs(
            shape.contribution[:n], place.edges, baseline=None, label=curve.label or None, **style
        )
        ax.hlines(shape.contribution[n:], place.left[n:], place.right[n:], **style)
    shape = curves[0].shape
    place = _numeric.positions(shape, "value")
    _numeric.set_ticks(ax, shape, place, "value")
    ax.set_ylim(score_limits([_without_noise(curve.shape) for curve in curves]))
    ax.set_xlabel(with_unit(shape.name, shape.unit))
    ax.set_ylabel(contribution_label(shape.score_unit))
    if shape.special:
        middle = (place.edges[-1] + place.left[shape.n_value_bins]) / 2
        ax.axvline(middle, color=colors.muted, lw=0.9, ls=":", zorder=1)


def _draw_categorical(ax: Axes, curves: list[_Curve], colors: Theme) -> None:
    tidy(ax, grid="x")
    ax.axvline(0, color=colors.muted, lw=0.9, zorder=1)
    shape = curves[-1].shape if not curves[-1].reference else curves[0].shape
    bins = _categorical.chosen_bins(shape, 20)
    place = _categorical.rows(shape, bins)
    groups = np.cumsum([curve.first for curve in curves]) - 1
    offsets = np.linspace(-0.3, 0.3, groups[-1] + 1)[groups]
    for curve, offset in zip(curves, offsets, strict=True):
        values = curve.shape.contribution[bins]
        ax.plot(
            values,
            place + offset,
            ls="none",
            label=curve.label or None,
            color=curve.color,
            marker="D" if curve.reference else "o",
            ms=5.5 if curve.first else 3,
            alpha=1.0 if curve.first else 0.45,
            mfc="none" if curve.reference else curve.color,
            mew=1.6 if curve.reference else 0,
        )
    _categorical.set_ticks(ax, shape, bins, place)
    ax.set_ylim(place[-1] + 0.6, -0.6)
    ax.set_xlabel(contribution_label(shape.score_unit))
    if shape.special and shape.n_value_bins:
        border = place[bins >= shape.n_value_bins][0] - 0.8
        ax.axhline(border, color=colors.muted, lw=0.9, ls=":", zorder=1)


def _without_noise(shape: ShapeFunction) -> ShapeFunction:
    return dataclasses.replace(
        shape, noise_std=None, structure_std=None, sampling_std=None, simultaneous_factor=None
    )


def plot_metric(
    comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot a metric, measured on held-out records, against epsilon.

    Parameters
    ----------
    comparison : Comparison
        A comparison with metrics.
    metric : str or None, default=None
        Name of the metric; None means the first one.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Axes
        The axes with the plot; the horizontal axis is logarithmic.

    Raises
    ------
    ValueError
        If the metric does not exist.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(
    ...     model, stays.X[:400], stays.y[:400], epsilons=(0.5, 4), progress=False,
    ...     evaluate=(stays.X[400:], stays.y[400:]),
    ... )
    >>> from dpexplain.plotting import plot_metric
    >>> axes = plot_metric(comparison)
    >>> axes.get_xscale()
    'log'
    """
    check_one_class(comparison)
    table = comparison.metrics
    known = [] if table is None else [str(name) for name in table["metric"].unique()]
    if table is None or not known:
        raise ValueError("this comparison has no metrics; run sweep(..., evaluate=(X, y)).")
    metric = known[0] if metric is None else metric
    if metric not in known:
        raise ValueError(f"metric={metric!r} must be one of {', '.join(map(repr, known))}.")
    rows = table[table["metric"] == metric]
    private = rows[np.isfinite(rows["epsilon"])]
    ax = new_axes(ax, (5.6, 3.6))
    colors = theme(ax)
    tidy(ax)
    ax.plot(private["epsilon"], private["value"], "o", ms=4, alpha=0.55, color=colors.main)
    means = private.groupby("epsilon")["value"].mean()
    ax.plot(means.index, means, "-", lw=1.8, color=colors.main, label="private models")
    for value in rows[~np.isfinite(rows["epsilon"])]["value"]:
        ax.axhline(value, ls=(0, (3, 1.5)), lw=1.8, color=colors.reference, label="non-private")
    ax.set_xscale("log")
    ax.set_xticks(comparison.epsilons, [f"{epsilon:g}" for epsilon in comparison.epsilons])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("ε of each model (privacy loss; smaller is more private)")
    unit = comparison.explanations[comparison.epsilons[0]][0].target_unit
    ax.set_ylabel(with_unit(metric, unit if metric == "RMSE" else ""))
    ax.legend(fontsize="x-small", frameon=False)
    title(ax, plain(metric), [], "Diagnostic on held-out records, not private")
    if not rows["private"].all():
        draw_watermark(ax)
    return ax
