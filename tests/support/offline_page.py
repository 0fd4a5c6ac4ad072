"""A page that shows Explorers without a kernel, made of the modules of the widgets alone."""

from __future__ import annotations

import base64
import hashlib
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
    """The traits of a view that its front end reads."""
    return {name: getattr(view, name) for name in names}


def offline_page(states: Sequence[Mapping[str, Any]], *, width: int | None = None) -> str:
    """HTML with one Explorer for each state, all of it inside the file."""
    script = bundle("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    limit = "" if width is None else f"#page {{ width: {width}px }}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>Explorer</title><style>{stylesheet()} {limit}</style></head><body>",
            '<main id="page">',
            *(f'<div data-dpx-state="state-{i}"></div>' for i in range(len(states))),
            "</main>",
            *(_state_script(i, state) for i, state in enumerate(states)),
            f'<script type="module">{script}</script></body></html>',
        ]
    )


def _state_script(i: int, state: Mapping[str, Any]) -> str:
    text = json.dumps(state, allow_nan=False)
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return f'<script type="application/json" id="state-{i}">{text}</script>'
