"""Choice between a live view and a page, depending on the notebook's host."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from dpexplain_widgets.export.export import page_of
from dpexplain_widgets.export.fallback import beside_view, still_bundle

Output: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""Data and metadata of an output, by MIME type."""

VARIABLE = "DPEXPLAIN_VIEWS"
HEIGHT = 900  # of the page, in pixels

# A host is known by a variable that it sets in the environment of the kernel or, as Hex does, among
# the variables of the notebook.
_WITHOUT_WIDGETS = ("DATABRICKS_RUNTIME_VERSION", "KAGGLE_KERNEL_RUN_TYPE", "HEX_PROJECT_ID")
_IN_NOTEBOOK = "hex_project_id"

# A viewer that removes the frame, as GitHub does, shows the picture and the table instead.
_ONE_OF_BOTH = "<style>.dpx-page:has(>iframe)>.dpx-instead{display:none}</style>"


def shown_as() -> Literal["widget", "page"]:
    """Decide how views are displayed in the current host.

    Returns
    -------
    {"widget", "page"}
        "page" in hosts where custom widgets do not run (Databricks, Kaggle and Hex), "widget"
        elsewhere. The environment variable ``DPEXPLAIN_VIEWS`` takes precedence.

    Raises
    ------
    ValueError
        If ``DPEXPLAIN_VIEWS`` has any other value.
    """
    asked = os.environ.get(VARIABLE, "")
    if asked in ("widget", "page"):
        return "page" if asked == "page" else "widget"
    if asked:
        raise ValueError(
            f"{VARIABLE}={asked[:60]!r} must be 'widget' or 'page'; unset it for the default."
        )
    known = any(name in os.environ for name in _WITHOUT_WIDGETS)
    return "page" if known or _IN_NOTEBOOK in dir(sys.modules.get("__main__")) else "widget"


def one_output(view: Any, bundle: Output) -> Output:
    """Return a view as one output with several formats, of which the host chooses one.

    Parameters
    ----------
    view : View
    bundle : tuple of dict
        Data and metadata of the running view, by MIME type.

    Returns
    -------
    tuple of dict
        Data and metadata. Hosts that show notebooks without running them display the table and the
        picture. Hosts that run notebooks but no widgets get an exported page instead of the view.
    """
    (data, metadata), (still, sizes) = bundle, _still(view)
    if shown_as() == "page":
        return {"text/plain": repr(view), **_page_in(view, still)}, sizes
    return {**data, **still}, {**metadata, **sizes}


def outputs(view: Any, bundle: Output, name: str) -> list[Output]:
    """Return a view as the outputs of a cell: the view, and its table and picture.

    If an output has several formats, JupyterLab chooses the view, and shows an error if the view no
    longer exists. The static formats are therefore an output of their own.

    Parameters
    ----------
    view : View
    bundle : tuple of dict
        Data and metadata of the running view, by MIME type.
    name : str
        Name by which the running view finds and hides the static output.

    Returns
    -------
    list of tuple of dict
        Data and metadata of each output; one output in hosts that run no widgets.
    """
    if shown_as() == "page":
        return [one_output(view, bundle)]
    still, sizes = _still(view)
    return [bundle, (beside_view(still, name), sizes)]


def _still(view: Any) -> tuple[dict[str, str], dict[str, Any]]:
    return still_bundle(view.shown, view._fit(), view.term)


def _page_in(view: Any, still: Mapping[str, str]) -> dict[str, str]:
    """Put the exported page into static output, if any part of it may be released."""
    try:
        page = page_of(view)
    except (TypeError, ValueError) as error:
        return without_page(str(error), still)
    return framed(page, still)


def framed(page: str, still: Mapping[str, str]) -> dict[str, str]:
    """Put a page into static output, before the picture and the table.

    Parameters
    ----------
    page : str
        A page that contains everything it needs.
    still : mapping
        Output by MIME type, with the picture and the table as ``text/html``. They are visible only
        if the notebook viewer removes the page.

    Returns
    -------
    dict
        Output by MIME type. The page runs in a frame with its own origin, so it cannot read the
        notebook.
    """
    frame = (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" title="Interactive page" '
        'sandbox="allow-scripts allow-downloads" loading="lazy" '
        f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
    )
    text = (
        f'<div class="dpx-page">{_ONE_OF_BOTH}{frame}'
        f'<div class="dpx-instead">{still["text/html"]}</div></div>'
    )
    return {**still, "text/html": text}


def without_page(reason: str, still: Mapping[str, str]) -> dict[str, str]:
    """Explain in static output why there is no page.

    Parameters
    ----------
    reason : str
        A sentence that says what must not be released, and what the user can do.
    still : mapping
        Output by MIME type.

    Returns
    -------
    dict
        Output by MIME type, with the sentence after the picture and the table.
    """
    words = html.escape(f"Views are shown as pages here, but a page cannot be shown: {reason}")
    return {**still, "text/html": f"{still['text/html']}<div>{words}</div>"}
