"""Figures and tables of a view, as files that contain their guarantee."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from dpexplain.compare import Comparison
from dpexplain.explain import GlobalExplanation
from dpexplain_widgets.payload.shared import guarantee_of
from dpexplain_widgets.state.selection import bins_frame
from dpexplain_widgets.state.sources import source_of
from dpexplain_widgets.state.state import ViewState

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DPI = 200


class _Shown(NamedTuple):
    source: Comparison | None  # None for a single explanation
    explanation: GlobalExplanation
    view: ViewState


def figure_file(view: ViewState, what: str, ending: str) -> bytes:
    """Draw the content of a view as an SVG or PNG file, with matplotlib.

    Parameters
    ----------
    view : View
        View whose choices determine the fit and the term. If the view shows the reference, so do
        the figures for importances and for all epsilons.
    what : {"shape", "importance", "epsilons", "metric"}
        What to draw: the shape of the selected term, the importances of all terms, the shape of
        the selected term at every epsilon, or a metric at every epsilon.
    ending : {"svg", "png"}
        File format.

    Returns
    -------
    bytes
        The file; its description contains the guarantee of everything drawn, and a watermark marks
        anything that is not private.

    Raises
    ------
    ValueError
        If the source of the view cannot be drawn, if the source lacks the data for the figure, or
        if `what` is not one of the figures.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    draw = _choice(_FIGURES, "figure", what)
    shown = _shown(view)
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    file = io.BytesIO()
    # Fixed identifiers make the file reproducible; text is not converted to outlines.
    with rc_context({"svg.hashsalt": "dpexplain", "svg.fonttype": "none"}):
        words = _statement_of(draw(figure.subplots(), shown))
        heading = f"{what} of {view.term}" if what != "importance" else what
        if ending == "svg":
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
            return _with_description(file.getvalue(), heading, words)
        figure.savefig(
            file, format="png", dpi=_DPI, metadata={"Title": heading, "Description": words}
        )
    return file.getvalue()


def table_of(view: ViewState, what: str) -> pd.DataFrame:
    """Tabulate the content of a view, with the guarantee of the fit in each row.

    Parameters
    ----------
    view : View
        View whose choices determine the fits and the term.
    what : {"shape", "importance"}
        What to tabulate, for each fit shown: the bins of the selected term, or the importances of
        all terms.

    Returns
    -------
    DataFrame
        The numbers, then the columns epsilon, delta, adjacency, private and guarantee. If the view
        shows several classes or models, the first column names the selected one. If no fit is
        shown, the table is empty.

    Raises
    ------
    ValueError
        If the view shows filters, or if `what` is not one of the tables.
    """
    rows = _choice(_TABLES, "table", what)
    if view.payload["filters"] is not None:
        raise ValueError(
            "this table supports curves, but the view shows filters; use view.selection for the "
            "weights, with the privacy in each row."
        )
    parts = [rows(view, fit) for fit in _fits_on_screen(view)]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if view.payload["others"]:
        kind = "class" if view.payload["target"].get("by_class") else "model"
        table.insert(0, kind, view.shown["name"])
    return table


def csv_text(table: pd.DataFrame) -> str:
    """Write a table as CSV that spreadsheets cannot interpret as formulas.

    Parameters
    ----------
    table : DataFrame
        Table to write.

    Returns
    -------
    str
        CSV with a header line. A cell that a spreadsheet could interpret as a formula is prefixed
        with an apostrophe.
    """
    texts = table.select_dtypes(include=["object", "string"]).columns
    safe = table.assign(**{name: table[name].map(_harmless) for name in texts})
    safe.columns = [_harmless(str(name)) for name in safe.columns]
    return safe.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _choice(known: dict[str, Any], kind: str, name: str) -> Any:
    if name not in known:
        listed = ", ".join(repr(each) for each in known)
        raise ValueError(f"no {kind} {name[:60]!r}; there are {listed}.")
    return known[name]


def _shown(view: ViewState) -> _Shown:
    source = source_of(view)
    if isinstance(source, GlobalExplanation):
        return _Shown(None, source, view)
    if not isinstance(source, Comparison):
        raise ValueError(
            "figures are drawn from a Comparison or GlobalExplanation; this view was created "
            f"from a {type(source).__name__}."
        )
    repeats = source.fits_by_epsilon()[view.epsilon]
    return _Shown(source, repeats[min(view.repeat, len(repeats) - 1)], view)


def _reference(shown: _Shown) -> GlobalExplanation | None:
    if shown.source is None or not shown.view.show_reference:
        return None
    reference = shown.source.reference
    return None if reference is shown.explanation else reference


def _statement_of(drawn: GlobalExplanation | Comparison) -> str:
    if isinstance(drawn, GlobalExplanation):
        return drawn.guarantee.statement()
    warning = () if drawn.releasable else (drawn.release_warning,)
    return ". ".join((*warning, *drawn.guarantee_words)) + "."


def _draw_shape(ax: Axes, shown: _Shown) -> GlobalExplanation:
    explanation, term = shown.explanation, shown.view.term
    if all(term != part.name for part in explanation.parts):
        raise ValueError(f"there is no pair {term[:60]!r} at this epsilon; choose another one.")
    options = {"show": shown.view.shown_curve} if term in explanation else {}
    explanation.plot(term, ax, **options)
    return explanation


def _draw_importance(ax: Axes, shown: _Shown) -> GlobalExplanation:
    from dpexplain.plotting import plot_importance

    reference, show = _reference(shown), shown.view.shown_curve
    plot_importance(shown.explanation, ax=ax, reference=reference, show=show)
    return shown.explanation if reference is None else reference


def _draw_epsilons(ax: Axes, shown: _Shown) -> Comparison:
    from dpexplain.plotting import plot_comparison

    if shown.source is None:
        raise ValueError("one explanation has one epsilon; pass a Comparison to draw several.")
    view = shown.view
    show: Literal["effect", "released"] = "effect" if view.shown_curve == "effect" else "released"
    reference = view.show_reference
    plot_comparison(shown.source, term=view.term, ax=ax, show_reference=reference, show=show)
    without = replace(shown.source, metrics=None)
    return without if reference else replace(without, reference=None)


def _draw_metric(ax: Axes, shown: _Shown) -> Comparison:
    from dpexplain.plotting import plot_metric

    if shown.source is None or shown.source.metrics is None:
        raise ValueError("there are no metrics, or none that may be released.")
    plot_metric(shown.source, ax=ax)
    return replace(shown.source, reference=None)


_FIGURES: dict[str, Callable[[Axes, _Shown], GlobalExplanation | Comparison]] = {
    "shape": _draw_shape,
    "importance": _draw_importance,
    "epsilons": _draw_epsilons,
    "metric": _draw_metric,
}


def _with_description(svg: bytes, heading: str, words: str) -> bytes:
    """Insert a title and a description at the start of an SVG file."""
    texts = f"<title>{html.escape(heading)}</title><desc>{html.escape(words)}</desc>"
    start = svg.index(b">", svg.index(b"<svg")) + 1
    return svg[:start] + texts.encode() + svg[start:]


def _fits_on_screen(view: ViewState) -> list[dict[str, Any]]:
    """List the selected fit, the pinned fit and the reference, without duplicates."""
    shown = view.shown
    fits = [view._fit()]
    if view.pinned_epsilon is not None:
        repeats = shown["fits"][shown["epsilons"].index(view.pinned_epsilon)]
        fits.append(repeats[min(view.repeat, len(repeats) - 1)])
    if view.show_reference:
        fits.append(shown["reference"])
    known = [fit for fit in fits if fit is not None]
    return [
        fit for place, fit in enumerate(known) if not any(fit is each for each in known[:place])
    ]


def _shape_rows(view: ViewState, fit: dict[str, Any]) -> pd.DataFrame:
    table = bins_frame(fit["terms"][view.term_names.index(view.term)])
    table.insert(0, "term", view.term)
    return table.assign(**guarantee_of(fit["guarantee"]).columns)


def _importance_rows(view: ViewState, fit: dict[str, Any]) -> pd.DataFrame:
    terms = fit["terms"]
    places = [each["ranks"] or [None, None] for each in terms]
    effect, effect_std = (
        [math.nan if each.get(name) is None else each[name] for each in terms]
        for name in ("effect_size", "effect_size_std")
    )
    table = pd.DataFrame(
        {
            "term": list(view.term_names),
            **{name: [each[name] for each in terms] for name in ("importance", "noise_floor")},
            "above_noise": pd.Series([each["above_noise"] for each in terms], dtype=object),
            "rank_low": [low for low, _ in places],
            "rank_high": [high for _, high in places],
            "effect": effect,
            "effect_std": effect_std,
            "has_effect": pd.Series([each.get("has_effect") for each in terms], dtype=object),
        }
    )
    return table.assign(**guarantee_of(fit["guarantee"]).columns)


_TABLES: dict[str, Callable[[ViewState, dict[str, Any]], pd.DataFrame]] = {
    "shape": _shape_rows,
    "importance": _importance_rows,
}
