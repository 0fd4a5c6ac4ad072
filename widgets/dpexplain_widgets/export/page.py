"""Self-contained pages that show views without a kernel.

A page is safe wherever it is opened. Its content-security policy allows only the two scripts
whose hashes it lists, prevents the page from loading or sending anything, and (in browsers with
Trusted Types) prevents text from becoming markup. Names that come from data are stored in the page
as JSON, and displayed as text nodes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpexplain_widgets.export.bundle import STATIC, bundle, page_script, stylesheet
from dpexplain_widgets.export.squeeze import squeezed
from dpexplain_widgets.payload.packing import deflated, packed

_PAGE_STYLE = (
    "body{margin:0;padding:12px 16px 40px;font:14px/1.45 system-ui,sans-serif}"
    "#page>*{max-width:1500px;margin:0 auto 14px}#page img{max-width:100%;height:auto}"
    ".warning{padding:8px 14px;border:3px double;font-weight:600}"
    "#page>details{padding:0 22px}summary{width:fit-content;cursor:pointer;font-weight:600}"
)
_NO_SCRIPT = "This viewer cannot run scripts, so it shows a picture of the page."
_SHOW_STATIC = "<style>#dpx-static{display:block!important}</style>"


def state_of(view: Any, names: Sequence[str]) -> dict[str, Any]:
    """Collect the traits of a view that its front end reads.

    Parameters
    ----------
    view : View
        View from which the traits are read.
    names : sequence of str
        Names of traits, usually :data:`dpexplain_widgets.state.state.STATE_TRAITS`.

    Returns
    -------
    dict
        JSON values, keyed by trait name.
    """
    return {name: getattr(view, name) for name in names}


def content_policy(*scripts: str) -> str:
    """Return the policy for a page that may use only its own scripts and styles.

    Parameters
    ----------
    *scripts : str
        The exact text of each script.

    Returns
    -------
    str
        Value of the page's ``Content-Security-Policy``.
    """
    digests = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts
    ]
    return "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(f"'sha256-{digest}'" for digest in digests),
            "style-src 'unsafe-inline'",  # SVG elements have inline styles, which load nothing
            "img-src data:",  # pictures that are embedded in the page
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types dpexplain",
        ]
    )


def offline_page(
    states: Sequence[Mapping[str, Any]],
    *,
    title: str = "Explorer",
    width: int | None = None,
    view_script: str | None = None,
    without_styles: tuple[str, ...] = (),
    warning: str = "",
    static: str = "",
    notes: str = "",
) -> str:
    """Build a page with one view for each state.

    The page contains everything in the states, including any non-private reference.

    Parameters
    ----------
    states : sequence of mapping
        Outputs of :func:`state_of`.
    title : str, default="Explorer"
        Title of the page.
    width : int or None, default=None
        Width of the views in pixels; None means the width of the window.
    view_script : str or None, default=None
        JavaScript module of the view; None means the module of the Explorer.
    without_styles : tuple of str, default=()
        Names of style files that the view does not need.
    warning : str, default=""
        Text shown above the views.
    static : str, default=""
        Escaped HTML without scripts, shown if scripts do not run.
    notes : str, default=""
        Escaped HTML without scripts, shown below the views.

    Returns
    -------
    str
        The page as HTML.
    """
    loader = _loader()
    code, folded_code = _code(bundle("explorer.js") if view_script is None else view_script)
    limit = "" if width is None else f"#page{{width:{width:d}px}}"
    policy = html.escape(content_policy(loader, code), quote=True)
    warned = f'<p class="warning">{html.escape(warning)}</p>' if warning else ""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{html.escape(title, quote=True)}</title>",
            f"<style>{_PAGE_STYLE}{limit}</style>",
            f"<noscript>{_SHOW_STATIC}</noscript></head><body>",
            f'<main id="page">{warned}',
            *(f'<div data-dpx-state="state-{i}"></div>' for i in range(len(states))),
            f'<div id="dpx-static" hidden><noscript><p>{_NO_SCRIPT}</p></noscript>',
            f'<p id="dpx-static-note"></p>{static}</div>{notes}',
            "</main>",
            _style(without_styles),
            folded_code,
            *(_folded(f"state-{i}", _state_text(state)) for i, state in enumerate(states)),
            f"<script>{loader}</script></body></html>",
        ]
    )


# What pages of one process share is shortened and compressed once: that takes half a second.


@functools.cache
def _loader() -> str:
    return squeezed((STATIC / "export/page_loader.js").read_text(encoding="utf-8"), ())


@functools.lru_cache(maxsize=4)
def _code(view_script: str) -> tuple[str, str]:
    """Return the script of a page, and the element that contains it."""
    code = page_script(view_script)
    return code, _folded("dpx-code", code)


@functools.cache
def _style(without: tuple[str, ...]) -> str:
    """Return the element with the style rules, without comments and blanks."""
    style = stylesheet(without)
    plain = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    return _folded("dpx-style", re.sub(r"\s*([{};,])\s*|(?<=:)\s+", r"\1", plain))


def _folded(name: str, text: str) -> str:
    return f'<div id="{name}" data-dpx-folded hidden>{deflated(text)}</div>'


def _state_text(state: Mapping[str, Any]) -> str:
    return json.dumps(packed(dict(state)), allow_nan=False, separators=(",", ":"))
