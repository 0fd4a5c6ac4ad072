"""Export of views as self-contained files."""

from __future__ import annotations

import contextlib
import html
import math
import warnings
from typing import Any

import traitlets

from dpexplain._utils.version import __version__
from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare import Comparison, FilterComparison, MulticlassComparison, releasable
from dpexplain.explain import GlobalExplanation, MulticlassExplanation
from dpexplain.explain._record import text
from dpexplain.statement import PrivacyStatement, statement_of
from dpexplain_widgets.export.fallback import fallback_html
from dpexplain_widgets.export.page import offline_page, state_of
from dpexplain_widgets.export.picture import static_svg
from dpexplain_widgets.payload.filter_arrays import PRECISION_WORDS as FILTER_PRECISION_WORDS
from dpexplain_widgets.payload.packing import PRECISION_WORDS
from dpexplain_widgets.payload.payload import all_fits
from dpexplain_widgets.state.state import ViewState

_CARRIED = (
    "model_name", "other_model", "term", "pinned_epsilon", "same_axis", "even_bins",
    "category_order", "shown_curve",
    "small_multiples", "tab", "term_order", "shown_map", "filter_class", "against_class",
    "filter_index", "against_filter", "mask_noise", "sort_filters", "contribution_opacity",
)  # fmt: skip
_EDITS = ("denoised", "edits", "show_edited")
_FLAGS = ("private", "releasable", "samples_public", "public")

NOT_RELEASABLE = "NOT PRIVATE — do not publish. Parts of this file are not differentially private."
_RELEASABLE = (
    "Everything in this file was computed from differentially private releases and public "
    "knowledge: it contains no record, no non-private reference and no number derived from it."
)

EDITS_LEFT_OUT = (
    "the edits in this view were made while non-private data were shown (a reference, metrics or "
    "records), so a release-safe file drops them. To publish them, export the edited explanation, "
    "`view.edited`."
)


def page_of(
    view: ViewState,
    *,
    release_safe: bool = True,
    statement: PrivacyStatement | None = None,
    title: str | None = None,
) -> str:
    """Build a page that shows a view without a kernel or a network.

    Parameters
    ----------
    view : View
        View to export, with its current choices.
    release_safe : bool, default=True
        Whether to leave out everything that is not private.
    statement : PrivacyStatement or None, default=None
        Statement shown below the view; None means a statement built from the attached ledger or
        guarantee.
    title : str or None, default=None
        Heading and browser title; None means the name of the model and of its target.

    Returns
    -------
    str
        The page as HTML.

    Raises
    ------
    TypeError, ValueError
        If a part of `view` does not state whether it is private, if nothing in `view` may be
        released, or if `title` is not a string with visible characters.
    """
    if title is not None:
        title = checked_title(title)
    shown = releasable_view(view) if release_safe else view
    payload, source = _titled(shown.payload, title), shown.origin.source
    if release_safe:
        check_releasable(payload)
    safe = release_safe or _is_all_private(payload)
    prefix = "" if safe else "NOT PRIVATE: "
    state = _without_kernel(state_of(shown, shown.page_traits))
    kept = payload if shown.page_edits else _without_sums(payload)
    return offline_page(
        [{**state, "payload": kept}],
        title=prefix + payload["title"][:200],
        view_script=shown.page_module(),
        without_styles=(
            *(() if shown.page_edits else ("edit.css",)),
            *(() if payload["filters"] else ("filter.css",)),
        ),
        warning="" if safe else NOT_RELEASABLE,
        static=_static_html(shown, title),
        notes=_notes(source, payload, statement, safe),
    )


def checked_title(title: str) -> str:
    """Check the title of a page.

    Parameters
    ----------
    title : str
        Title given by the user.

    Returns
    -------
    str
        The same title.

    Raises
    ------
    ValueError
        If `title` is not a string, is blank, or is not valid Unicode.
    """
    if not text("title", title).strip():
        raise ValueError("title is blank; omit it for the name of the model and of its target.")
    return title


def _titled(payload: dict[str, Any], title: str | None) -> dict[str, Any]:
    """Replace the title of each model by that of the page, if the page has one."""
    if title is None:
        return payload
    others = [_titled(other, title) for other in payload["others"]]
    return {**payload, "title": title, "others": others}


def _without_kernel(state: dict[str, Any]) -> dict[str, Any]:
    """Switch off live refits, which a page without a kernel cannot do."""
    plan = state.get("plan")
    return {**state, "plan": {**plan, "live": False}} if plan else state


def _without_sums(payload: dict[str, Any]) -> dict[str, Any]:
    """Drop data needed only for edits, to make the page smaller."""
    unread = dict.fromkeys(("recovered", "stretch"))

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
    """Rebuild a view from the releasable part of its source.

    Choices are kept if they exist in the rebuilt view. Nothing in that view (orders, axis limits,
    choices made by a program) depends on what was left out. Edits are kept only if the original
    view contained nothing but releasable content. Otherwise, they could be based on the reference
    or on records that their author saw.

    Parameters
    ----------
    view : View
        The original view, which is not changed.

    Returns
    -------
    View

    Raises
    ------
    TypeError, ValueError
        If a part of `view` does not state whether it is private, or if nothing in `view` may be
        released.
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
    """Drop non-private data; raise an error with advice if that is impossible."""
    try:
        return _releasable_models(source) if isinstance(source, dict) else releasable(source)
    except ValueError as error:
        way = "For your own use, release_safe=False writes everything, marked as not private."
        raise ValueError(f"{error} {way}") from None


def _releasable_models(sources: dict[str, Any]) -> dict[str, Any]:
    """Drop models without releasable content, and raise an error if none remains."""
    kept: dict[str, Any] = {}
    for name, source in sources.items():
        with contextlib.suppress(ValueError):
            kept[name] = releasable(source)
    if not kept:
        raise ValueError("nothing in these models may be released: none of them is private.")
    return kept


def _carry_over(view: ViewState, smaller: ViewState) -> None:
    """Copy the choices made in a view to the view rebuilt from it, where possible."""
    for name in _CARRIED:
        with contextlib.suppress(traitlets.TraitError):
            setattr(smaller, name, getattr(view, name))
    epsilons = smaller.shown["epsilons"]
    if view.epsilon in epsilons:
        smaller.epsilon = view.epsilon
    elif math.isinf(view.epsilon) and epsilons:
        smaller.epsilon_index = len(epsilons) - 1


def check_releasable(payload: dict[str, Any], *, metrics_are_checked: bool = True) -> None:
    """Check that a payload contains only private releases.

    Parameters
    ----------
    payload : dict
        Output of :func:`dpexplain_widgets.payload.payload.build_payload`.
    metrics_are_checked : bool, default=True
        Whether non-private metrics have already been dropped; a payload does not say whether its
        metrics are private.

    Raises
    ------
    ValueError
        If the payload contains a reference, a fit that is not marked as private, another part
        marked as not private, or unchecked metrics.
    """
    remedy = "pass the Comparison or explanation itself, which knows what may be released."
    if payload["reference"] is not None:
        raise ValueError(f"the payload contains a non-private reference; {remedy}")
    for other in payload["others"]:
        check_releasable(other, metrics_are_checked=metrics_are_checked)
    for fit in all_fits(payload):
        flag = fit.get("guarantee", {}).get("private")
        if flag is not True:
            state = "is not private" if flag is False else "does not state whether it is private"
            raise ValueError(f"a fit of the payload {state}; {remedy}")
        if fit.get("metrics") and not metrics_are_checked:
            raise ValueError(
                f"metrics in a payload do not state whether they are private; {remedy}"
            )
    for key in set(payload) - {"ledger", "others"}:
        value = payload[key]
        if _holds_open_part(value):
            raise ValueError(f"payload[{key!r}] contains a part that is not private; {remedy}")


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


def _static_html(view: ViewState, title: str | None) -> str:
    """Draw the selected fit; use `fallback_html` if it has filters or is not private."""
    fit, payload = view._fit(), _titled(view.shown, title)
    if fit is None or not fit["guarantee"]["private"] or view.payload["filters"] is not None:
        return fallback_html(payload, fit)
    return static_svg(payload, fit, view.term)


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
    """List the edits stored in the explanations, each with its reason and effect."""
    explanations = source.values() if isinstance(source, dict) else [source]
    kinds = GlobalExplanation | MulticlassExplanation
    edited = [each for each in explanations if isinstance(each, kinds)]
    records = [record for each in edited for record in each.edits]
    if not records:
        return ""
    items = "".join(f"<li>{html.escape(str(record))}</li>" for record in records)
    return f"<details open><summary>Edited by hand</summary><ol>{items}</ol></details>"


def _statements(source: Any) -> list[PrivacyStatement]:
    """Return the statements of the attached ledgers, without duplicates."""
    if isinstance(source, dict):
        models = [] if "version" in source else source.values()
        found = [statement for model in models for statement in _statements(model)]
        return [each for place, each in enumerate(found) if each not in found[:place]]
    if isinstance(source, Comparison | FilterComparison | MulticlassComparison):
        source = source.ledger
    return [statement_of(source)] if isinstance(source, LedgerSummary) else []
