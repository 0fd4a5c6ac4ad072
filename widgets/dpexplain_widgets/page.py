"""A page that shows Explorers without a kernel: everything inside one file, and nothing else.

The page is safe wherever it is opened. Its content-security policy lets the one script run whose
hash it names, lets nothing be loaded or sent, and (in browsers with Trusted Types) lets no text
become markup; names from data reach the page as JSON and the document as text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from dpexplain_widgets.bundle import bundle, stylesheet

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def state_of(view: Any, names: Sequence[str]) -> dict[str, Any]:
    """Collect the traits of a view that its front end reads.

    Parameters
    ----------
    view : View
        Any view.
    names : sequence of str
        Names of traits, usually :data:`dpexplain_widgets.state.STATE_TRAITS`.

    Returns
    -------
    dict
        JSON values.
    """
    return {name: getattr(view, name) for name in names}


def content_policy(script: str) -> str:
    """State what a page may do: run one script, style itself, and nothing else.

    Parameters
    ----------
    script : str
        The text of the script, to the last character.

    Returns
    -------
    str
        Value of the ``Content-Security-Policy`` of the page.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{digest}'",
            "style-src 'unsafe-inline'",  # positions in SVG are styles; nothing can be loaded
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def script_json(value: Any) -> str:
    """Write JSON that cannot end the script element it stands in.

    Parameters
    ----------
    value : object
        JSON values; a number that is not finite is an error.

    Returns
    -------
    str
        ASCII without ``<``, ``>`` and ``&``.
    """
    text = json.dumps(value, allow_nan=False)
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return text


def offline_page(
    states: Sequence[Mapping[str, Any]], *, title: str = "Explorer", width: int | None = None
) -> str:
    """Make a page with one Explorer for each state.

    What the states hold is in the page, the non-private reference too where there is one.

    Parameters
    ----------
    states : sequence of mapping
        As `state_of` gives them.
    title : str, default="Explorer"
        Title of the page.
    width : int or None, default=None
        Width of the views in pixels; None for that of the window.

    Returns
    -------
    str
        HTML.
    """
    script = bundle("page.js")
    limit = "" if width is None else f"#page {{ width: {width:d}px }}"
    policy = html.escape(content_policy(script), quote=True)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{html.escape(title, quote=True)}</title>",
            f"<style>{stylesheet()} {limit}</style></head><body>",
            '<main id="page">',
            *(f'<div data-dpx-state="state-{i}"></div>' for i in range(len(states))),
            "</main>",
            *(
                f'<script type="application/json" id="state-{i}">{script_json(state)}</script>'
                for i, state in enumerate(states)
            ),
            f'<script type="module">{script}</script></body></html>',
        ]
    )
