"""Base class for all views: state, reprs and construction."""

from __future__ import annotations

import contextlib
import inspect
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import pandas as pd
import traitlets
from IPython.display import publish_display_data

import dpexplain.io
from dpexplain._utils.names import closest_name
from dpexplain.accounting import Event, PrivacyLedger
from dpexplain.compare import releasable
from dpexplain.edit import EditLog
from dpexplain.exceptions import BudgetError
from dpexplain.explain.additive.denoising import denoised_curve
from dpexplain.io._edits import log_from_plain, log_to_plain
from dpexplain.statement import PrivacyStatement
from dpexplain_widgets.export.bundle import stylesheet
from dpexplain_widgets.export.export import page_of, releasable_view
from dpexplain_widgets.export.figure_files import csv_text, figure_file, table_of
from dpexplain_widgets.export.hosts import Output, one_output, outputs
from dpexplain_widgets.export.picture import class_words
from dpexplain_widgets.payload.filter_payload import filters_payload, shows_filters
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.state.filter_selection import filter_frame
from dpexplain_widgets.state.linking import Link, choices_of
from dpexplain_widgets.state.measurement import Measure, Measurement
from dpexplain_widgets.state.places import first_epsilon_index, most_important
from dpexplain_widgets.state.selection import selection_frame
from dpexplain_widgets.state.sources import explanation_of, whole_explanation_of
from dpexplain_widgets.state.state import STATE_TRAITS, Origin, ViewState

_CHOICES = {*STATE_TRAITS, "epsilon"} - {"payload", "filter_arrays"}
_EXPORTS = ("html", "svg", "png", "csv", "json")


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


def _check_ending(path: str | os.PathLike[str], *endings: str) -> None:
    """Check that the name of a file says what an export writes into it."""
    if Path(path).suffix.lower() not in endings:
        others = [each for each in _EXPORTS if f".{each}" not in endings]
        raise ValueError(
            f"path={str(path)!r} must end in {' or '.join(endings)}; "
            f"{', '.join(f'export_{each}' for each in others[:-1])} and export_{others[-1]} "
            "write other kinds of files."
        )


class View(ViewState, anywidget.AnyWidget):
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
        Initial choices, keyed by trait name, such as ``term="age"`` or ``epsilon_index=2``; or
        ``epsilon=1``, which chooses the fit at that epsilon.

    Attributes
    ----------
    edits : dict
        Log of edits as plain values; empty if there are no edits. `edit_log` is the same log as an
        object.
    denoised : dict
        Denoised curves that the page requested; an error message replaces a curve that could not be
        computed. Each key identifies a model, epsilon, fit and term.
    denoise_request : list
        Key of the denoised curve that the page requests, as a list of one string.
    evaluation : dict
        Metrics of the edited model, and the cost of measuring them.
    evaluation_request : int
        Number of times the page has requested metrics.

    Raises
    ------
    TypeError
        If `source` cannot be shown, a choice does not exist, or both `epsilon` and
        `epsilon_index` are given.
    traitlets.TraitError
        If a choice is not available in `source`.
    """

    _css = stylesheet()
    _still = traitlets.Unicode().tag(sync=True)
    """Name of the static output that a running view hides."""

    edits = traitlets.Dict().tag(sync=True)
    denoised = traitlets.Dict().tag(sync=True)
    denoise_request = traitlets.List(traitlets.Unicode()).tag(sync=True)
    evaluation = traitlets.Dict().tag(sync=True)
    evaluation_request = traitlets.Int(0).tag(sync=True)

    __signature__: ClassVar[inspect.Signature]

    _measurement: Measurement | None = None

    _shows: ClassVar[str] = "terms"
    """What a source must contain: "terms", "filters", "models" (terms or filters) or "anything"."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless its name resembles a choice, which would not change."""
        known = any(name in vars(each) for each in type(self).__mro__)
        if not name.startswith("_") and not known:
            meant = closest_name(name, _CHOICES)
            if meant is not None:
                raise AttributeError(
                    f"{type(self).__name__} has no choice {name!r}; did you mean {meant!r}?"
                )
        super().__setattr__(name, value)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # Python 3.11.0 to 3.11.3 would show the parameters of a base class of traitlets.
        _, *parameters = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(parameters)

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
        known = {*_CHOICES, "layout"}
        if "title" in state:
            raise TypeError("a title is for pages: pass it to export_html(path, title=...).")
        if unknown := sorted(set(state) - known):
            meant = closest_name(unknown[0], known)
            suggestion = "" if meant is None else f" Did you mean {meant!r}?"
            raise TypeError(
                f"no choice named {unknown[0]!r}; the choices are {sorted(known)}.{suggestion}"
            )
        if {"epsilon", "epsilon_index"} <= set(state):
            raise TypeError("pass epsilon= or epsilon_index=, not both.")
        epsilon = state.pop("epsilon", None)
        start = {
            "term": most_important(payload),
            "epsilon_index": first_epsilon_index(payload),
            "model_name": payload["name"],
            **({} if leader is None else choices_of(leader)),
        }
        super().__init__(payload=payload, filter_arrays=arrays, **{**start, **state})
        given = Origin(source, samples, samples_public) if leader is None else leader.origin
        self._made = (self.payload, given)
        if epsilon is not None:
            self.epsilon = epsilon
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

    @traitlets.validate("edits")
    def _check_edits(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        value = dict(proposal["value"])
        if value:
            try:
                log_from_plain(value, "edits")
            except (TypeError, ValueError) as error:
                raise traitlets.TraitError(f"edits: {error}") from None
        return value

    @property
    def edit_log(self) -> EditLog:
        """The edits made so far, as a log; setting it changes what the page shows."""
        return log_from_plain(self.edits, "edits") if self.edits else EditLog()

    @edit_log.setter
    def edit_log(self, log: EditLog) -> None:
        self.edits = log_to_plain(log)

    @property
    def edited(self) -> Any:
        """The selected explanation, with the edits in the current state applied.

        The value is a GlobalExplanation marked as edited. For a multiclass model, it is a
        MulticlassExplanation, because an edit changes the curves of all classes.
        """
        return self.edit_log.apply(whole_explanation_of(self))

    def to_model(self, model: Any) -> Any:
        """Apply the edits to a fitted model.

        Parameters
        ----------
        model : fitted additive model
            Model that contains the edited terms. Its ledger is not charged, because edits have no
            privacy cost.

        Returns
        -------
        model
            An edited copy.
        """
        return self.edit_log.apply(model)

    def measure_edits(
        self,
        measure: Measure,
        *,
        ledger: PrivacyLedger | None = None,
        price: Sequence[Event] = (),
    ) -> None:
        """Set how the metrics of an edited model are measured.

        Parameters
        ----------
        measure : callable
            Function that returns the metrics of an edited explanation, keyed by name. It either
            uses public data, or releases noisy metrics of private data through mechanisms whose
            events are given as `price`.
        ledger : PrivacyLedger or None, default=None
            Ledger of the private data.
        price : sequence of Event, default=()
            Privacy events of one measurement. The page shows the cost and asks for confirmation
            before each measurement, and the ledger is charged before data are read. If `price` is
            empty, the data are assumed to be public.

        Raises
        ------
        ValueError
            If only one of `ledger` and `price` is given.
        """
        self._measurement = Measurement(measure, ledger, tuple(price))
        self.evaluation = self._measurement.pending()

    @traitlets.observe("evaluation_request")
    def _on_evaluation(self, change: Mapping[str, Any]) -> None:
        if self._measurement is not None and change["new"] > change["old"]:
            self.evaluation = self._measurement.of(lambda: self.edited)
            if self._measurement.ledger is not None:
                with contextlib.suppress(BudgetError):  # a file that cannot be read now
                    self._show_ledger(self._measurement.ledger.summary())

    @traitlets.observe("denoise_request")
    def _on_denoise(self, change: Mapping[str, Any]) -> None:
        if len(change["new"]) != 1 or not isinstance(change["new"][0], str):
            return
        key = change["new"][0]
        try:
            explanation = explanation_of(self)
            curve: Any = denoised_curve(explanation, self.term).tolist()
        except (ValueError, KeyError) as error:
            curve = str(error)
        self.denoised = {**self.denoised, key: curve}

    def export_html(
        self,
        path: str | os.PathLike[str],
        release_safe: bool = True,
        *,
        statement: PrivacyStatement | None = None,
        title: str | None = None,
    ) -> Path:
        """Write a page that shows this view without a kernel or a network.

        Parameters
        ----------
        path : path-like
            Destination; the file is written completely or not at all.
        release_safe : bool, default=True
            Whether to leave out everything that is not private: the reference, metrics computed
            from records, and samples that are not public. These parts are then absent, not merely
            hidden. False keeps them, with a warning at the top.
        statement : PrivacyStatement or None, default=None
            Statement shown below the view; None means a statement built from the attached ledger
            or guarantee.
        title : str or None, default=None
            Heading and browser title; None means the name of the model and of its target.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        TypeError, ValueError
            If a part of the view does not state whether it is private, if nothing in the view may
            be released, or if `title` is not a string with visible characters.
        OSError
            If the file cannot be written.

        Notes
        -----
        Numbers are rounded for the page; see
        :data:`dpexplain_widgets.payload.packing.PRECISION_WORDS`.
        """
        _check_ending(path, ".html", ".htm")
        self._read_ledger()
        page = page_of(self, release_safe=release_safe, statement=statement, title=title)
        return dpexplain.io.write_file(path, page)

    def export_svg(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write a figure of the view as SVG.

        The buttons of the view save what is on the screen. This method draws a separate figure with
        matplotlib, so it also works without a browser.

        Parameters
        ----------
        path : path-like
            Destination; the file is written completely or not at all.
        what : {"shape", "importance", "epsilons", "metric"}, default="shape"
            What to draw: the shape of the selected term, the importances of all terms, the shape
            of the selected term at every epsilon, or a metric at every epsilon.
        release_safe : bool, default=True
            Whether to leave out everything that is not private. If False, the figure may show
            non-private parts, and is then watermarked.

        Returns
        -------
        Path
            The file; its ``<desc>`` contains the guarantee.

        Raises
        ------
        TypeError, ValueError
            If the figure must not be released, or cannot be drawn.
        """
        _check_ending(path, ".svg")
        return dpexplain.io.write_file(path, figure_file(self._leaving(release_safe), what, "svg"))

    def export_png(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write a figure of the view as PNG; see :meth:`export_svg`.

        Parameters
        ----------
        path : path-like
            Destination; the file is written completely or not at all.
        what : {"shape", "importance", "epsilons", "metric"}, default="shape"
            What to draw, as in :meth:`export_svg`.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file; its ``Description`` text chunk contains the guarantee.
        """
        _check_ending(path, ".png")
        return dpexplain.io.write_file(path, figure_file(self._leaving(release_safe), what, "png"))

    def export_csv(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write the numbers behind the view as CSV.

        Parameters
        ----------
        path : path-like
            Destination; the file is written completely or not at all.
        what : {"shape", "importance"}, default="shape"
            What to write, for each fit shown: the bins of the selected term, or the importances of
            all terms.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file. Each row contains the guarantee of its fit, in the columns epsilon, delta,
            adjacency, private and guarantee; with several classes or models, it also names the
            selected one. Cells that a spreadsheet could interpret as formulas
            are prefixed with an apostrophe.
        """
        _check_ending(path, ".csv")
        return dpexplain.io.write_file(path, csv_text(table_of(self._leaving(release_safe), what)))

    def export_json(self, path: str | os.PathLike[str], release_safe: bool = True) -> Path:
        """Write the source of the view as JSON for :func:`dpexplain.io.load`.

        Parameters
        ----------
        path : path-like
            Destination; the file is written completely or not at all.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file, in which all numbers are stored exactly.

        Raises
        ------
        TypeError
            If the view was created from a payload or from several models.
        """
        _check_ending(path, ".json")
        source = self.origin.source
        return dpexplain.io.save(releasable(source) if release_safe else source, path)

    def _leaving(self, release_safe: bool) -> ViewState:
        return releasable_view(self) if release_safe else self

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

    def _repr_mimebundle_(self, **kwargs: Any) -> Output | None:
        """Return the view's data, keyed by MIME type, with a static table and picture.

        The result is None if the widget has no data to display.
        """
        bundle = super()._repr_mimebundle_(**kwargs)
        return None if bundle is None else one_output(self, bundle)

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Display the view, then its table and picture, which need no kernel."""
        if self.comm is None:  # ipywidgets has no name left for it
            words = f"{self!r} is closed; create it again to show it."
            publish_display_data({"text/plain": words})  # type: ignore[no-untyped-call]
            return
        bundle = super()._repr_mimebundle_(**kwargs)
        for data, metadata in () if bundle is None else outputs(self, bundle, self._still):
            publish_display_data(data, metadata)  # type: ignore[no-untyped-call]
