"""Choice between a live view and a page, by the host that shows the notebook."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping
from typing import Literal

VARIABLE = "DPEXPLAIN_VIEWS"
HEIGHT = 900  # of the page, in pixels

# A host is known by a variable that it sets in the environment of the kernel or, as Hex does, among
# the variables of the notebook.
_WITHOUT_WIDGETS = ("DATABRICKS_RUNTIME_VERSION", "KAGGLE_KERNEL_RUN_TYPE", "HEX_PROJECT_ID")
_IN_NOTEBOOK = "hex_project_id"

# A viewer that removes the frame, as GitHub does, shows the picture and the table instead.
_ONE_OF_BOTH = "<style>.dpx-page:has(>iframe)>.dpx-instead{display:none}</style>"
_NOTHING_TO_SHOW = (
    "Widgets do not run here, and nothing in this view may be released. For your own use, "
    "view.export_html(path, release_safe=False) writes a page that is marked as not private."
)


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
            f"{VARIABLE}={asked[:60]!r} must be 'widget' or 'page'; unset it for the host's own."
        )
    known = any(name in os.environ for name in _WITHOUT_WIDGETS)
    return "page" if known or hasattr(sys.modules.get("__main__"), _IN_NOTEBOOK) else "widget"


def framed(page: str | None, still: Mapping[str, str]) -> dict[str, str]:
    """Put a page into static output, in front of the picture and the table.

    Parameters
    ----------
    page : str or None
        A page that contains everything it needs; None if nothing may be released, which the output
        then says.
    still : mapping
        Output by MIME type, with the picture and the table as ``text/html``. They are visible only
        if the viewer removes the page.

    Returns
    -------
    dict
        Output by MIME type. The page runs in a frame of its own origin, so it cannot read the
        notebook.
    """
    if page is None:
        return {**still, "text/html": f"{still['text/html']}<div>{_NOTHING_TO_SHOW}</div>"}
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
