"""Files of what a view shows, for people who have neither the data nor Python."""

from __future__ import annotations

import contextlib
import html
import math
import os
import warnings
from pathlib import Path
from typing import Any

import traitlets

import dpexplain.io
from dpexplain._utils.version import __version__
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import releasable
from dpexplain.statement import PrivacyStatement, statement_of
from dpexplain_widgets.export.fallback import fallback_html
from dpexplain_widgets.export.figure_files import csv_text, figure_file, table_of
from dpexplain_widgets.export.page import offline_page, state_of
from dpexplain_widgets.export.picture import static_svg
from dpexplain_widgets.payload.filter_arrays import PRECISION_WORDS as FILTER_PRECISION_WORDS
from dpexplain_widgets.payload.packing import PRECISION_WORDS
from dpexplain_widgets.payload.payload import all_fits
from dpexplain_widgets.state.state import ViewState

_CARRIED = (
    "model_name", "other_model", "term", "pinned_epsilon", "same_axis", "even_bins", "shown_curve",
    "small_multiples", "tab", "term_order", "shown_map", "filter_class", "against_class",
    "filter_index", "mask_noise", "sort_filters", "contribution_opacity",
)  # fmt: skip
_EDITS = ("denoised", "edits")
_FLAGS = ("private", "releasable", "samples_public", "public")

NOT_RELEASABLE = "NOT PRIVATE — do not publish. This file holds what is not differentially private."
_RELEASABLE = (
    "Everything in this file was computed from differentially private releases and public "
    "knowledge: no record, no non-private reference and no figure derived from it is in it."
)

EDITS_LEFT_OUT = (
    "the edits of this view were made beside what is not private (a reference, metrics or "
    "records), so a release-safe file leaves them out. To publish them, apply them yourself, "
    "`view.edited`, and export the explanation that this gives."
)


def page_of(
    view: ViewState, *, release_safe: bool = True, statement: PrivacyStatement | None = None
) -> str:
    """Make a page of a view that needs neither kernel nor network.

    Parameters
    ----------
    view : View
        What it shows and what is chosen in it.
    release_safe : bool, default=True
        Whether to leave out everything that is not private.
    statement : PrivacyStatement or None, default=None
        Printed below the view; None makes one from the ledger or the guarantee that came along.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    TypeError, ValueError
        If something in it does not say whether it is private, or nothing is.
    """
    shown = releasable_view(view) if release_safe else view
    payload, source = shown.payload, shown.origin.source
    if release_safe:
        check_releasable(payload)
    safe = release_safe or _is_all_private(payload)
    prefix = "" if safe else "NOT PRIVATE: "
    state = state_of(shown, shown.page_traits)
    return offline_page(
        [state if shown.page_edits else {**state, "payload": _without_sums(payload)}],
        title=prefix + payload["title"][:200],
        view_script=shown.page_module(),
        without_styles=() if shown.page_edits else ("edit.css",),
        warning="" if safe else NOT_RELEASABLE,
        static=_static_html(shown),
        notes=_notes(source, payload, statement, safe),
    )


def _without_sums(payload: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a page without edits does not read."""
    unread = dict.fromkeys(("recovered", "stretch", "corrected_importance"))

    def lighter(fit: dict[str, Any]) -> dict[str, Any]:
        return {**fit, "terms": [{**term, **unread} for term in fit["terms"]]}

    reference = payload["reference"]
    return {
        **payload,
        "fits": [[lighter(fit) for fit in repeats] for repeats in payload["fits"]],
        "reference": None if reference is None else lighter(reference),
        "others": [_without_sums(other) for other in payload["others"]],
    }


def releasable_view(view: ViewState) -> ViewState:
    """Make a view of the same kind from what may leave, with the same choices where they exist.

    It is built anew from the smaller source, so nothing in it (orders, limits of axes, choices
    made by a program) knows of what was left out. Edits come along where whoever made them saw
    nothing but what may leave: beside a reference or records a hand follows these as well.

    Parameters
    ----------
    view : View
        Stays as it is.

    Returns
    -------
    View

    Raises
    ------
    TypeError, ValueError
        If something in it does not say whether it is private, or nothing may leave.
    """
    source, samples, public = view.origin
    if isinstance(source, dict) and "version" in source:
        check_releasable(source, metrics_are_checked=False)
    else:
        source = _releasable_source(source)
    smaller = type(view)(source, samples if public else None, samples_public=public)
    _carry_over(view, smaller)
    if samples is None or public:
        _carry_edits(view, smaller)
    if getattr(view, "edits", None) and not getattr(smaller, "edits", None):
        warnings.warn(EDITS_LEFT_OUT, UserWarning, stacklevel=4)
    return smaller


def _carry_edits(view: ViewState, smaller: ViewState) -> None:
    if _is_all_private(view.payload):
        for name in _EDITS:
            setattr(smaller, name, getattr(view, name))


def _releasable_source(source: Any) -> Any:
    """Leave out what is not private; a refusal names the way to a marked file."""
    try:
        return _releasable_models(source) if isinstance(source, dict) else releasable(source)
    except ValueError as error:
        way = "For your own eyes, release_safe=False writes it all, marked as not private."
        raise ValueError(f"{error} {way}") from None


def _releasable_models(sources: dict[str, Any]) -> dict[str, Any]:
    """Models side by side without those of which nothing may leave."""
    kept: dict[str, Any] = {}
    for name, source in sources.items():
        with contextlib.suppress(ValueError):
            kept[name] = releasable(source)
    if not kept:
        raise ValueError("nothing of these models may leave: none of them is private.")
    return kept


def _carry_over(view: ViewState, smaller: ViewState) -> None:
    """Choose the same where it exists; samples and what-if values are chosen by looking."""
    for name in _CARRIED:
        with contextlib.suppress(traitlets.TraitError):
            setattr(smaller, name, getattr(view, name))
    epsilons = smaller.shown["epsilons"]
    if view.epsilon in epsilons:
        smaller.epsilon = view.epsilon
    elif math.isinf(view.epsilon) and epsilons:
        smaller.epsilon_index = len(epsilons) - 1


def check_releasable(payload: dict[str, Any], *, metrics_are_checked: bool = True) -> None:
    """Check that a payload holds nothing but private releases.

    Parameters
    ----------
    payload : dict
        As :func:`dpexplain_widgets.payload.payload.build_payload` returns it.
    metrics_are_checked : bool, default=True
        Whether the source has dropped metrics that are not private; a payload itself does not
        say what they are.

    Raises
    ------
    ValueError
        If a fit, or a part with a flag of its own, is not private or does not say so.
    """
    remedy = "pass the Comparison or explanation itself, which knows what may leave."
    if payload["reference"] is not None:
        raise ValueError(f"the payload holds a non-private reference; {remedy}")
    for other in payload["others"]:
        check_releasable(other, metrics_are_checked=metrics_are_checked)
    for fit in all_fits(payload):
        flag = fit.get("guarantee", {}).get("private")
        if flag is not True:
            state = "is not private" if flag is False else "does not say whether it is private"
            raise ValueError(f"a fit of the payload {state}; {remedy}")
        if fit.get("metrics") and not metrics_are_checked:
            raise ValueError(f"metrics in a payload do not say whether they are private; {remedy}")
    for key in set(payload) - {"ledger", "others"}:
        value = payload[key]
        if _holds_open_part(value):
            raise ValueError(f"payload[{key!r}] holds a part that is not private; {remedy}")


def _holds_open_part(value: Any) -> bool:
    if isinstance(value, dict):
        flags = (value.get(name, True) for name in _FLAGS)
        return not all(flags) or any(_holds_open_part(each) for each in value.values())
    return isinstance(value, list) and any(_holds_open_part(each) for each in value)


def _is_all_private(payload: dict[str, Any]) -> bool:
    try:
        check_releasable(payload, metrics_are_checked=False)
    except ValueError:
        return False
    return True


def _static_html(view: ViewState) -> str:
    """Picture of the chosen fit; of one that is not private a few words."""
    fit = view._fit()
    if fit is None or not fit["guarantee"]["private"] or view.payload["filters"] is not None:
        return fallback_html(view.shown, fit)
    return static_svg(view.shown, fit, view.term)


def _notes(
    source: Any, payload: dict[str, Any], statement: PrivacyStatement | None, safe: bool
) -> str:
    statements = _statements(source) if statement is None else [statement]
    words = "".join(each._repr_html_() for each in statements)
    fits = all_fits(payload)
    if not words and fits:
        words = f"<p>{html.escape(fits[0]['guarantee']['statement'])}</p>"
    rounded = FILTER_PRECISION_WORDS if payload["filters"] is not None else PRECISION_WORDS
    about = f"{_RELEASABLE if safe else NOT_RELEASABLE} {rounded} dpexplain {__version__}."
    return (
        f"{_paper_trail(source)}<details><summary>Privacy statement</summary>{words}</details>"
        f"<details><summary>About this file</summary><p>{html.escape(about)}</p></details>"
    )


def _paper_trail(source: Any) -> str:
    """List the edits that explanations came with, each with its reason and what it did."""
    explanations = source.values() if isinstance(source, dict) else [source]
    records = [record for each in explanations for record in getattr(each, "edits", ())]
    if not records:
        return ""
    items = "".join(f"<li>{html.escape(str(record))}</li>" for record in records)
    return f"<details open><summary>Edited by hand</summary><ol>{items}</ol></details>"


def _statements(source: Any) -> list[PrivacyStatement]:
    """Statements of the ledgers that came along, each once."""
    if isinstance(source, dict):
        models = [] if "version" in source else source.values()
        found = [statement for model in models for statement in _statements(model)]
        return [each for place, each in enumerate(found) if each not in found[:place]]
    ledger = source if isinstance(source, LedgerSummary) else getattr(source, "ledger", None)
    return [] if ledger is None else [statement_of(ledger)]


class Exports:
    """The exports of a view."""

    def export_html(
        self,
        path: str | os.PathLike[str],
        release_safe: bool = True,
        *,
        statement: PrivacyStatement | None = None,
    ) -> Path:
        """Write a page that shows this view without a kernel and without a network.

        Parameters
        ----------
        path : path-like
            Where to; the file appears whole or not at all.
        release_safe : bool, default=True
            Whether to leave out everything that is not private: reference, metrics on records,
            samples that are not public. It is absent then, not hidden. False keeps it, with a
            warning on top.
        statement : PrivacyStatement or None, default=None
            Printed below the view; None makes one from the ledger or guarantee that came along.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        TypeError, ValueError
            If something in it does not say whether it is private, or nothing may leave.
        OSError
            If the file cannot be written.

        Notes
        -----
        Numbers are rounded for the page: see
        :data:`dpexplain_widgets.payload.packing.PRECISION_WORDS`.
        """
        page = page_of(self, release_safe=release_safe, statement=statement)  # type: ignore[arg-type]
        return dpexplain.io.write_file(path, page)

    def export_svg(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write a figure of what is shown as SVG.

        The buttons of the view write what is on the screen; this needs no browser.

        Parameters
        ----------
        path : path-like
            Where to; the file appears whole or not at all.
        what : {"shape", "importance", "epsilons", "metric"}, default="shape"
            The chosen term, all terms, the chosen term at every epsilon, or a metric at every
            epsilon.
        release_safe : bool, default=True
            Whether to leave out everything that is not private. The figure is watermarked
            otherwise.

        Returns
        -------
        Path
            The file; its ``<desc>`` holds the guarantee.

        Raises
        ------
        TypeError, ValueError
            If it may not leave, or cannot be drawn.
        """
        return dpexplain.io.write_file(path, figure_file(self._leaving(release_safe), what, "svg"))

    def export_png(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write a figure of what is shown as PNG, see :meth:`export_svg`.

        Parameters
        ----------
        path : path-like
            Where to; the file appears whole or not at all.
        what : {"shape", "importance", "epsilons", "metric"}, default="shape"
            What to draw.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file; its text chunk ``Description`` holds the guarantee.
        """
        return dpexplain.io.write_file(path, figure_file(self._leaving(release_safe), what, "png"))

    def export_csv(
        self, path: str | os.PathLike[str], what: str = "shape", release_safe: bool = True
    ) -> Path:
        """Write the numbers that are shown as CSV.

        Parameters
        ----------
        path : path-like
            Where to; the file appears whole or not at all.
        what : {"shape", "importance"}, default="shape"
            The bins of the chosen term, or all terms, in the fits on screen.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file. Every row carries its guarantee: epsilon, delta, adjacency, private and the
            words. Texts that a spreadsheet could take for formulas get an apostrophe.
        """
        return dpexplain.io.write_file(path, csv_text(table_of(self._leaving(release_safe), what)))

    def export_json(self, path: str | os.PathLike[str], release_safe: bool = True) -> Path:
        """Write what the view was made from as JSON, which :func:`dpexplain.io.load` reads.

        Parameters
        ----------
        path : path-like
            Where to; the file appears whole or not at all.
        release_safe : bool, default=True
            Whether to leave out everything that is not private.

        Returns
        -------
        Path
            The file, with every number bit by bit.

        Raises
        ------
        TypeError
            If the view was made from a payload or from several models.
        """
        source = self.origin.source  # type: ignore[attr-defined]
        return dpexplain.io.save(releasable(source) if release_safe else source, path)

    def _leaving(self, release_safe: bool) -> ViewState:
        return releasable_view(self) if release_safe else self  # type: ignore[arg-type, return-value]
