"""Base class for all views: state, reprs and construction."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, ClassVar

import anywidget
import pandas as pd
import traitlets
from IPython.display import publish_display_data

from dpexplain_widgets.export.bundle import stylesheet
from dpexplain_widgets.export.export import Exports
from dpexplain_widgets.export.fallback import beside_view, still_bundle
from dpexplain_widgets.export.picture import class_words
from dpexplain_widgets.payload.filter_payload import filters_payload, shows_filters
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.state.editing import Editing
from dpexplain_widgets.state.filter_selection import filter_frame
from dpexplain_widgets.state.linking import Link, choices_of
from dpexplain_widgets.state.selection import selection_frame
from dpexplain_widgets.state.state import (
    STATE_TRAITS,
    Origin,
    ViewState,
    first_epsilon_index,
    most_important,
)


def _content(source: Any, samples: Any, public: bool) -> tuple[dict[str, Any], bytes]:
    """Return the payload and the arrays of a source, which may be another view."""
    if isinstance(source, View):
        if samples is None:
            return build_payload(source.payload), source.filter_arrays
        filters = shows_filters(source.origin.source)
        source = source.origin.source if filters else source.payload
    if shows_filters(source):
        return filters_payload(source, samples, samples_public=public)
    return build_payload(source, samples, samples_public=public), b""


class View(Exports, Editing, ViewState, anywidget.AnyWidget):
    """Base class for interactive views of a comparison or explanation.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, FilterComparison, FilterBank, dict or View
        What to show. For a model with three or more classes, all classes are shown, one at a time
        (`model_name` is the class). A dict either maps model names to sources or is a payload. If
        `source` is a view, its payload is shown, and the choices of both views are linked.
    samples : DataFrame or None, default=None
        Records for local explanations, with a column for every feature.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them. Otherwise, they are treated as
        not private and left out of release-safe files.
    **state
        Initial choices, keyed by trait name, such as ``term="age"`` or ``epsilon_index=2``.

    Raises
    ------
    TypeError
        If `source` cannot be shown, or if a choice does not exist.
    traitlets.TraitError
        If a choice is not available in `source`.
    """

    _css = stylesheet()
    _still = traitlets.Unicode().tag(sync=True)
    """Name of the static output that a running view hides."""

    _shows: ClassVar[str] = "terms"
    """What a source must contain: "terms", "filters", "models" (terms or filters) or "anything"."""

    def __init__(
        self,
        source: Any,
        samples: Any = None,
        *,
        samples_public: bool = False,
        **state: Any,
    ) -> None:
        leader = source if isinstance(source, View) else None
        payload, arrays = _content(source, samples, samples_public)
        self._check_shows(payload)
        known = {*STATE_TRAITS, "layout"} - {"payload", "filter_arrays"}
        if unknown := sorted(set(state) - known):
            raise TypeError(f"no choice named {unknown[0]!r}; the choices are {sorted(known)}.")
        start = {
            "term": most_important(payload),
            "epsilon_index": first_epsilon_index(payload),
            "model_name": payload["name"],
            **({} if leader is None else choices_of(leader)),
        }
        super().__init__(payload=payload, filter_arrays=arrays, **{**start, **state})
        given = Origin(source, samples, samples_public) if leader is None else leader.origin
        self._made = (self.payload, given)
        if leader is not None:
            self.link(leader)

    @traitlets.default("_still")
    def _name_still(self) -> str:
        return secrets.token_hex(8)

    def _check_shows(self, payload: dict[str, Any]) -> None:
        name, needs = type(self).__name__, self._shows
        if needs == "filters" and payload["filters"] is None:
            raise TypeError(
                f"{name} shows filters of a locally linear model; pass a "
                "FilterComparison or a FilterBank."
            )
        if needs == "terms" and payload["filters"] is not None:
            raise TypeError(
                f"{name} shows the terms of an additive model; FilterView and Explorer show "
                "filters."
            )
        if needs in ("terms", "models") and not (payload["terms"] or payload["filters"]):
            raise TypeError(f"{name} shows models; use LedgerView for a LedgerSummary.")

    def page_module(self) -> str:
        """Return the JavaScript module of the view for an exported page.

        Returns
        -------
        str
            Source of a module with a default export and no imports.
        """
        return str(self._esm)

    def link(self, other: View, choices: Iterable[str] | None = None) -> Link:
        """Link the choices of this view to those of another view.

        Parameters
        ----------
        other : View
            View to which the choices of this view are copied immediately. Later changes in either
            view apply to both. A choice that is not available in one of the views, such as an
            epsilon without a fit, is ignored there.
        choices : iterable of str or None, default=None
            Names of the traits to link; None means all choices. Epsilons are matched by value.

        Returns
        -------
        Link
            The link; its method ``unlink`` separates the views.
        """
        return Link(self, other, choices)

    @property
    def selection(self) -> pd.DataFrame:
        """Bins of the term in the selected fit, or only the selected bins, as a table.

        The columns are the same as in :meth:`dpexplain.compare.Comparison.frame`. For filters, the
        rows are the weights shown, and the columns are epsilon, repeat, private, map, and the
        columns of :meth:`dpexplain.explain.WeightMap.frame`.
        """
        return selection_frame(self) if self.payload["filters"] is None else filter_frame(self)

    def __repr__(self) -> str:
        """Return a one-line summary of the selection."""
        title = self.payload["title"]
        shown = title if len(title) <= 60 else f"{title[:59]}…"
        fit = self._fit()
        guarantee = "" if fit is None else f"; {fit['guarantee']['short']}"
        chosen = f", term {self.term[:60]!r}" if fit is not None and self.term else ""
        chosen += class_words(self.shown)
        if self.filter_class:
            chosen = f", class {self.filter_class[:60]!r}"
        return f"{type(self).__name__}({shown!r}{chosen}{guarantee})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view's data, keyed by MIME type, with a static table and picture.

        Hosts that show notebooks without running them display the table and the picture. The
        result is None if the widget has no data to display.
        """
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        (data, metadata), (still, sizes) = bundle, self._still_bundle()
        return {**data, **still}, {**metadata, **sizes}

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Display the view, then its table and picture, which need no kernel.

        If an output has several formats, JupyterLab chooses the view, and shows an error if the
        view no longer exists. The static formats are therefore displayed as a separate output.
        """
        if (view := super()._repr_mimebundle_(**kwargs)) is None:
            return
        still, sizes = self._still_bundle()
        for data, metadata in (view, (beside_view(still, self._still), sizes)):
            publish_display_data(data, metadata)  # type: ignore[no-untyped-call]

    def _still_bundle(self) -> tuple[dict[str, str], dict[str, Any]]:
        return still_bundle(self.shown, self._fit(), self.term)
