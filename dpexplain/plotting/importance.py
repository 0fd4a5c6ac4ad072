"""Bar chart of importances, with the importance expected from noise alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain import GlobalExplanation
from dpexplain.explain._by_class import check_one_class
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import short_number
from dpexplain.plotting._effect import Show, checked_show, marker_look
from dpexplain.plotting._style import (
    Theme,
    draw_watermark,
    new_axes,
    plain,
    privacy_title,
    theme,
    tidy,
    watermark,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_importance(
    explanation: GlobalExplanation,
    *,
    ax: Axes | None = None,
    max_terms: int = 20,
    reference: GlobalExplanation | None = None,
    show: Show = "both",
) -> Axes:
    """Draw the mean absolute contributions of terms and pairs, largest on top.

    If the noise is known, the hatched part of a bar shows the importance expected from noise alone,
    and the bar of a term that does not rise above the noise is pale. If the joint noise of all
    terms is known, the 95% rank interval of a term is written next to its importance. If the effect
    of a term is estimated, a diamond with a whisker of two standard deviations shows the size of
    the effect in the population. The diamond is filled if the effect is significant. If effects are
    estimated, the ranks are those of the effects.

    Parameters
    ----------
    explanation : GlobalExplanation
        What to draw.
    ax : Axes or None, default=None
        Axes to draw into; None creates a figure.
    max_terms : int, default=20
        Maximum number of terms.
    reference : GlobalExplanation or None, default=None
        Non-private model whose importances are marked by ticks; the figure is then
        watermarked.
    show : {"both", "released", "effect"}, default="both"
        Whether to draw bars for the released curves, diamonds for the estimated effects, or both.
        Terms are sorted by the length of their bars or, if only effects are drawn, by effect size.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.plotting import plot_importance
    >>> axes = plot_importance(explanation, max_terms=5)
    >>> len(axes.get_yticks())
    5
    """
    check_one_class(explanation)
    if max_terms < 1:
        raise ValueError(f"max_terms={max_terms!r} must be at least 1.")
    estimated = explanation.effect_scatter is not None
    show = checked_show(show) if estimated else "released"
    names = _listed(explanation, show)[:max_terms]
    ax = new_axes(ax, (6.4, min(12.0, 1.5 + 0.3 * len(names))))
    colors = theme(ax)
    tidy(ax, grid="x")
    if show != "effect":
        _draw_bars(ax, explanation, reference, names, colors, marked=show == "both")
    if show != "released":
        _draw_effects(ax, explanation, names, colors, written=show == "effect")
    if reference is not None:
        _draw_reference(ax, reference, names, colors)
    _label(ax, explanation, names, effects=show != "released")
    privacy_title(ax, "Importance", explanation.guarantee, [explanation.effect_remark])
    if reference is not None:
        draw_watermark(ax)
    else:
        watermark(ax, explanation.guarantee)
    return ax


def _listed(explanation: GlobalExplanation, show: Show) -> list[str]:
    """List terms and pairs by decreasing importance, or effect if only that is shown."""
    names = [str(name) for name in explanation.importances().index]
    if show != "effect":
        return names
    sizes = explanation.ranking()["effect"]
    return sorted((n for n in names if n in sizes.index), key=lambda name: -sizes[name])


def _draw_effects(
    ax: Axes,
    explanation: GlobalExplanation,
    names: list[str],
    colors: Theme,
    *,
    written: bool,
) -> None:
    """Mark the sizes of estimated effects, with filled marks for significant effects."""
    ranking = explanation.ranking()
    rows = [(row, name) for row, name in enumerate(names) if name in ranking.index]
    for certain, fill, words in (
        (True, colors.ink, "estimated effect in the population (±2σ), certain"),
        (False, colors.paper, "the same, not certain"),
    ):
        kept = [(row, name) for row, name in rows if ranking["has_effect"][name] == certain]
        if not kept:
            continue
        sizes = np.array([ranking["effect"][name] for _, name in kept])
        spread = 2.0 * np.array([ranking["effect_std"][name] for _, name in kept])
        ax.errorbar(
            sizes,
            [row for row, _ in kept],
            xerr=(np.minimum(spread, sizes), spread),
            label=words,
            **{**marker_look(colors), "mfc": fill, "zorder": 5},
        )
    if not written:
        return
    places, ends = _places(explanation, names), _effect_ends(explanation, names)
    for row, name in rows:
        words = short_number(ranking["effect"][name], 3) + places[row]
        _write_number(ax, words, float(ends[row]), row, colors)


def _effect_ends(explanation: GlobalExplanation, names: list[str]) -> FloatArray:
    ranking = explanation.ranking()
    ends = ranking["effect"] + 2.0 * ranking["effect_std"]
    return np.array([ends.get(name, 0.0) for name in names], dtype=np.float64)


def _write_number(ax: Axes, words: str, end: float, row: int, colors: Theme) -> None:
    ax.annotate(
        words,
        (end, row),
        xytext=(5, 0),
        va="center",
        textcoords="offset points",
        fontsize="x-small",
        color=colors.muted,
    )


def _draw_bars(
    ax: Axes,
    explanation: GlobalExplanation,
    reference: GlobalExplanation | None,
    names: list[str],
    colors: Theme,
    *,
    marked: bool,
) -> None:
    values = _importances(explanation, names)
    floors = np.array([explanation.part(name).noise_floor or 0.0 for name in names])
    rows = np.arange(len(names))
    above = np.array([_rises(explanation, name) for name in names])
    ax.barh(rows[above], values[above], 0.66, color=colors.main, zorder=2)
    ax.barh(rows[~above], values[~above], 0.66, color=colors.main, alpha=0.35, zorder=2)
    if floors.any():
        ax.barh(
            rows,
            floors,
            0.66,
            facecolor="none",
            edgecolor=colors.ink,
            hatch="////",
            lw=0,
            alpha=0.6,
            label="average from noise alone",
            zorder=3,
        )
    ends = np.maximum(values, floors)
    if reference is not None:  # move a number past a tick that would cross it
        ticks = _importances(reference, names)
        near = (ticks > ends) & (ticks < ends + 0.12 * max(ends.max(), np.nanmax(ticks)))
        ends = np.where(near, ticks, ends)
    if marked:  # numbers are written to the right of the effect marks
        ends = np.maximum(ends, _effect_ends(explanation, names))
    places = _places(explanation, names)
    for row, value, end, place in zip(rows, values, ends, places, strict=True):
        _write_number(ax, short_number(value, 3) + place, end, int(row), colors)


def _importances(explanation: GlobalExplanation, names: list[str]) -> FloatArray:
    """Return importances, with NaN for pairs that this model does not have."""
    return np.asarray(explanation.importances().reindex(names), dtype=np.float64)


def _rises(explanation: GlobalExplanation, name: str) -> bool:
    """Return whether a term or pair rises above the noise, or has no known noise."""
    if name in explanation:
        standing = explanation.terms_above_noise
    else:
        standing = explanation.pairs_above_noise
    if standing is not None:
        return name in standing
    part = explanation.part(name)
    return part.importance > (part.noise_floor or 0.0)


def _places(explanation: GlobalExplanation, names: list[str]) -> list[str]:
    """Format the rank interval of each term, or "" for terms that have none."""
    if explanation.noise is None:
        return [""] * len(names)
    ranking = explanation.ranking()
    of_effect = explanation.effect_scatter is not None
    words = []
    for name in names:
        if name not in ranking.index:
            words.append("")
            continue
        low, high = int(ranking["rank_low"][name]), int(ranking["rank_high"][name])
        rank = f"{low}" if low == high else f"{low}–{high}"
        words.append(f"   rank {rank} by effect" if of_effect else f"   rank {rank}")
    return words


def _draw_reference(
    ax: Axes, reference: GlobalExplanation, names: list[str], colors: Theme
) -> None:
    ax.plot(
        _importances(reference, names),
        range(len(names)),
        ls="none",
        marker="|",
        ms=15,
        mew=2.5,
        color=colors.reference,
        label="non-private reference",
        zorder=4,
    )


def _label(ax: Axes, explanation: GlobalExplanation, names: list[str], *, effects: bool) -> None:
    more = len(explanation) + len(explanation.pairs) - len(names)
    ax.set_yticks(range(len(names)), [plain(name, 28) for name in names])
    handles, _ = ax.get_legend_handles_labels()
    # Effect marks may extend far to the right, so the legend gets separate rows.
    room = 0.8 * len(handles) if effects else 0.0
    ax.set_ylim(len(names) - 0.4 + room, -0.6)
    ax.set_xlim(left=0)
    ax.margins(x=0.12)
    unit = with_unit("mean |contribution|", explanation.score_unit, limit=48)
    ax.set_xlabel(unit + (f"   ({more} more terms not drawn)" if more else ""))
    if handles:
        ax.legend(loc="lower right", fontsize="x-small", frameon=False)
