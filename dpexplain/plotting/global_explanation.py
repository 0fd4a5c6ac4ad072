"""Figure showing all terms of a model as small multiples."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain import GlobalExplanation, PairCurve, ShapeFunction
from dpexplain.explain._by_class import check_one_class
from dpexplain.plotting._effect import Show, checked_show
from dpexplain.plotting._style import (
    ALL_LABEL,
    BAG_LABEL,
    EFFECT_LABEL,
    MAY_BE_NOISE,
    NOISE_LABEL,
    contribution_label,
    guarantee_words,
    plain,
    theme,
)
from dpexplain.plotting._weights import symmetric_limit
from dpexplain.plotting.pair import draw_pair
from dpexplain.plotting.shape_function import Spacing, draw_shape, score_limits

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

_PANEL = (3.5, 2.5)  # inches
_LINE = 110  # most characters in a line of a warning above the panels


def plot_global(
    explanation: GlobalExplanation,
    *,
    terms: Sequence[str] | None = None,
    max_terms: int = 12,
    n_columns: int = 3,
    share_scale: bool = True,
    spacing: Spacing = "auto",
    figure: FigureBase | None = None,
    show: Show = "both",
) -> npt.NDArray[np.object_]:
    """Draw the most important terms and pairs, each in a separate panel.

    Parameters
    ----------
    explanation : GlobalExplanation
        What to draw.
    terms : sequence of str or None, default=None
        Terms and pairs to draw, in this order; None means the most important ones.
    max_terms : int, default=12
        Maximum number of panels, if `terms` is None.
    n_columns : int, default=3
        Maximum number of panels per row.
    share_scale : bool, default=True
        Whether all panels have the same score axis, so that heights can be compared.
    spacing : {"auto", "value", "bins"}, default="auto"
        As in :func:`plot_shape_function`.
    figure : Figure, SubFigure or None, default=None
        Figure to draw into; None creates one.
    show : {"both", "released", "effect"}, default="both"
        As in :func:`plot_shape_function`.

    Returns
    -------
    ndarray of Axes, shape (n_panels,)
        The panels, in the order in which they are drawn.

    Raises
    ------
    KeyError
        If a name in `terms` is neither a term nor a pair.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.plotting import plot_global
    >>> panels = plot_global(explanation, terms=["age", "sex"])
    >>> len(panels)
    2
    """
    check_one_class(explanation)
    if n_columns < 1 or max_terms < 1:
        raise ValueError("n_columns and max_terms must be at least 1.")
    show = checked_show(show)
    names = list(explanation.importances().index[:max_terms]) if terms is None else list(terms)
    parts = [explanation.part(name) for name in names]
    n_columns = min(n_columns, len(parts))
    n_rows = math.ceil(len(parts) / n_columns)
    figure = _new_figure(figure, n_columns, n_rows)
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    panels = grid[: len(parts)]
    for unused in grid[len(parts) :]:
        unused.set_axis_off()
    shapes = [part for part in parts if isinstance(part, ShapeFunction)]
    tables = [part.contribution for part in parts if isinstance(part, PairCurve)]
    limits = score_limits(shapes, show) if share_scale and shapes else None
    limit = symmetric_limit(*tables) if share_scale else None
    for ax, part in zip(panels, parts, strict=True):
        if isinstance(part, PairCurve):
            draw_pair(ax, part, limit=limit)
        else:
            look: dict[str, Any] = {"limits": limits, "show": show}
            draw_shape(ax, part, spacing=spacing, max_categories=8, **look)
        ax.set_title(plain(part.name, 32), loc="left", fontsize="medium", fontweight="bold")
        ax.tick_params(labelsize="small")
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_fontsize("small")
            if "\n" in (label := contribution_label(part.score_unit)):  # the head names the score
                axis.set_label_text(axis.label.get_text().replace(label, "contribution"))
    _head(figure, explanation, theme(panels[0]).ink, show, shown=len(parts))
    return panels


def _new_figure(figure: FigureBase | None, n_columns: int, n_rows: int) -> FigureBase:
    if figure is not None:
        return figure
    from matplotlib import pyplot

    width, height = _PANEL
    return pyplot.figure(figsize=(width * n_columns, height * n_rows + 0.7), layout="constrained")


def _head(
    figure: FigureBase, explanation: GlobalExplanation, color: str, show: Show, *, shown: int
) -> None:
    """Write the model, the target, the guarantee and a legend above the panels."""
    model = f"{plain(explanation.model_name)}: " if explanation.model_name else ""
    hidden = len(explanation) + len(explanation.pairs) - shown
    lines = [
        f"{model}contributions to {plain(explanation.score_name, 80)}",
        guarantee_words(explanation.guarantee).replace("$", r"\$"),
    ]
    estimated = explanation.effect_scatter is not None
    noisy = any(term.noise_std is not None for term in explanation.terms)
    if noisy and not (estimated and show == "effect"):
        lines.append(f"Bands and whiskers: {NOISE_LABEL}")
        if any(term.structure_std is not None for term in explanation.terms):
            lines.append(f"Pale bands, thin whiskers: {ALL_LABEL}")
        lines.append(f"Hatched: {MAY_BE_NOISE}")
    if estimated and show != "released":
        lines.append(f"Dashed lines, diamonds: {EFFECT_LABEL}")
    lines += textwrap.wrap(explanation.effect_remark, _LINE)
    if any(term.bag_std is not None for term in explanation.terms):
        lines.append(f"Thin lines: {BAG_LABEL}")
    if hidden > 0:
        lines.append(f"{hidden} more terms not drawn")
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize="medium", color=color)
