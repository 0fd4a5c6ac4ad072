"""Static table and picture for hosts that cannot run a view."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from typing import Any

from dpexplain.explain.health import alarm_words
from dpexplain_widgets.export.picture import WIDTH, class_words, picture_of, shortened

_ROWS = 10

# A saved notebook contains two outputs: the view and this text. With this style, JupyterLab and
# Notebook 7 show only the view while its kernel runs, and only the text after that, when the first
# output is a widget that contains an error message.
_ONE_OF_BOTH = (
    "<style>.jp-OutputArea-child:has(.dpx)+.jp-OutputArea-child:has(.dpx-still),"
    ".jp-OutputArea-child:has(>.lm-Panel.jp-OutputArea-output.jupyter-widgets):has("
    "+.jp-OutputArea-child .dpx-still){display:none}</style>"
)
_LEFT_OUT = "The non-private reference is left out here."


def still_bundle(
    payload: Mapping[str, Any], fit: Mapping[str, Any] | None, term: str
) -> tuple[dict[str, str], dict[str, Any]]:
    """Describe and draw the selected fit for pages that cannot run the view.

    Parameters
    ----------
    payload, fit, term
        Payload, selected fit and name of a term, as in :func:`fallback_png`.

    Returns
    -------
    data : dict
        Output by MIME type: ``text/html`` with the picture embedded, and ``image/png``, which is
        needed to convert a notebook to PDF.
    metadata : dict
        Width of the picture, by MIME type.
    """
    text, picture = fallback_html(payload, fit), fallback_png(payload, fit, term)
    if picture is None:
        return {"text/html": text}, {}
    encoded = base64.b64encode(picture).decode("ascii")
    title = _escaped_attribute(f"Importances, and the shape of {term}; the table has the numbers")
    image = (
        f'<img src="data:image/png;base64,{encoded}" width="{WIDTH}" alt="{title}" '
        'style="max-width:100%;height:auto">'
    )
    size = {"image/png": {"width": WIDTH}}
    return {"text/html": f"<div>{image}{text}</div>", "image/png": encoded}, size


def beside_view(still: Mapping[str, str], name: str) -> dict[str, str]:
    """Mark static output, so that a running view can hide it.

    Parameters
    ----------
    still : mapping
        Data from :func:`still_bundle`.
    name : str
        Name by which the view finds the output; letters and digits only.

    Returns
    -------
    dict
        The same output by MIME type, with the mark added to ``text/html``.
    """
    text = still["text/html"]
    marked = f'<div class="dpx-still" data-dpx-still="{name}">{_ONE_OF_BOTH}{text}</div>'
    return {**still, "text/html": marked}


def fallback_html(payload: Mapping[str, Any], fit: Mapping[str, Any] | None) -> str:
    """Describe the selected fit in HTML.

    A saved notebook keeps this text, so it describes only one fit: the selected fit or, if the
    reference is selected, the private fit with the largest epsilon. The text contains no number
    from the reference and no metric measured on held-out records. The widget state, which a
    notebook may also save, contains the whole payload, including these numbers and metrics.

    Parameters
    ----------
    payload : mapping
        Payload of the view.
    fit : mapping or None
        The selected fit; None if there is no model.

    Returns
    -------
    str
        Escaped HTML without scripts.
    """
    title = f"<strong>{_escaped(payload['title'] + class_words(payload), 120)}</strong>"
    if fit is not None and fit == payload["reference"]:
        title += f"<div>{_escaped(_LEFT_OUT, 200)}</div>"
        fit = last_private(payload)
    if fit is None:
        words = "".join(f"<div>{_escaped(line, 400)}</div>" for line in payload["guarantee_words"])
        return f"<div>{title}{words}</div>"
    if payload["filters"] is not None:
        return f"<div>{title}{_filters_table(payload, fit)}</div>"
    names = [term["name"] for term in payload["terms"]]
    there = [each for each in zip(names, fit["terms"], strict=True) if not each[1].get("absent")]
    ranked = sorted(there, key=lambda each: -each[1]["importance"])
    rows = "".join(
        f"<tr><td>{_escaped(name, 60)}</td><td>{term['importance']:.3g}</td></tr>"
        for name, term in ranked[:_ROWS]
    )
    alarms = [alarm_words(words) for words in fit.get("alarms", ())]
    effects = [fit.get("effect_words"), fit.get("effect_remark")]
    lines = "".join(
        f"<div>{_escaped(words, 400)}</div>" for words in (*alarms, *filter(None, effects))
    )
    more = len(ranked) - _ROWS
    rest = f"<div>{more} more terms</div>" if more > 0 else ""
    return (
        f"<div>{title}<div>{_escaped(fit['guarantee']['short'], 200)}</div>{lines}"
        f"<table><thead><tr><th>term</th><th>importance</th></tr></thead><tbody>{rows}</tbody>"
        f"</table>{rest}<div>Run the notebook to explore it.</div></div>"
    )


def fallback_png(
    payload: Mapping[str, Any], fit: Mapping[str, Any] | None, term: str
) -> bytes | None:
    """Draw the selected fit for pages that cannot run the view.

    Parameters
    ----------
    payload : mapping
        Payload of the view.
    fit : mapping or None
        The selected fit. If it is not private, the private fit with the largest epsilon is drawn
        instead.
    term : str
        Name of the term whose shape is drawn.

    Returns
    -------
    bytes or None
        A PNG file with the guarantee in its description; None if there is no private fit, or if the
        model has no terms.
    """
    if fit is None or not fit["guarantee"]["private"]:
        fit = last_private(payload)
    if fit is None or not payload["terms"]:
        return None
    from dpexplain_widgets.export.picture_png import png_of

    return png_of(picture_of(payload, fit, term))


def _filters_table(payload: Mapping[str, Any], fit: Mapping[str, Any]) -> str:
    """Tabulate the proportion of weights above the noise in each mean filter."""
    outline = payload["filters"]
    fits = [each for repeats in payload["fits"] for each in repeats]
    outlines = [each for repeats in outline["fits"] for each in repeats]
    shares = outlines[fits.index(dict(fit))]["share_of_means"]
    rows = "".join(
        f"<tr><td>{_escaped(name, 60)}</td>"
        f"<td>{'' if share is None else f'{100 * share:.0f}%'}</td></tr>"
        for name, share in list(zip(outline["classes"], shares, strict=True))[:_ROWS]
    )
    return (
        f"<div>{_escaped(fit['guarantee']['short'], 200)}</div>"
        "<table><thead><tr><th>class</th><th>weights above noise</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><div>Run the notebook to explore it.</div>"
    )


def last_private(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the private fit with the largest epsilon.

    Parameters
    ----------
    payload : mapping
        Payload of a view.

    Returns
    -------
    mapping or None
        The fit; None if there is no private fit.
    """
    fits = [fit for repeats in payload["fits"] for fit in repeats]
    private = [fit for fit in fits if fit["guarantee"]["private"]]
    return private[-1] if private else None


def _escaped(text: str, limit: int) -> str:
    """Shorten a string, escape it for HTML and wrap it in ``<bdi>``."""
    return f"<bdi>{html.escape(shortened(text, limit), quote=True)}</bdi>"


def _escaped_attribute(text: str) -> str:
    return html.escape(shortened(text, 300), quote=True)
