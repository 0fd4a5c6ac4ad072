"""Small, escaped HTML tables for notebooks, in light and dark themes."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dpexplain.explain._text import shorten

# Colors are translucent or inherited, so that the page's own theme shows through.
_BOX = "font-size:90%;line-height:1.35;max-width:46em;margin:.3em 0"
_TABLE = (
    "border-collapse:collapse;font-size:inherit;margin:.4em 0;color:inherit;background:transparent"
)
_CELL = "padding:.1em .8em .1em 0;text-align:{align};border:0;background:transparent"
_RULE = ";border-bottom:1px solid rgba(128,128,128,.5);font-weight:600"
_LONGEST_LINE = 2_000
_NOTE = "opacity:.8"
_WARNING = (
    "border-left:4px solid #d55e00;background:rgba(213,94,0,.14);padding:.15em .6em;font-weight:600"
)
_BAR = (
    "display:inline-block;height:.7em;min-width:1px;vertical-align:baseline;"
    "background:{color};width:{width:.1f}em"
)


def escaped(text: str, limit: int = 60) -> str:
    """Shorten a string, escape it for HTML and isolate its text direction.

    The ``bdi`` element prevents right-to-left marks in a name from reversing the rest of the row.
    """
    return f"<bdi>{html.escape(shorten(text, limit), quote=True)}</bdi>"


def bar(share: float, *, negative: bool = False) -> str:
    """Draw a horizontal bar whose length is a fraction (0 to 1) of the full width."""
    color = "#d55e00" if negative else "#0072b2"
    return f'<span style="{_BAR.format(color=color, width=6 * min(max(share, 0.0), 1.0))}"></span>'


def line(text: str) -> str:
    """Format one line."""
    return f"<div>{escaped(text, _LONGEST_LINE)}</div>"


def note(text: str) -> str:
    """Format one line of small print; empty without text."""
    return f'<div style="{_NOTE}">{escaped(text, _LONGEST_LINE)}</div>' if text else ""


def warning(text: str) -> str:
    """Format a warning line."""
    return f'<div style="{_WARNING}">{escaped(text, _LONGEST_LINE)}</div>'


def heading(text: str) -> str:
    """Format the title of a box."""
    return f"<strong>{escaped(text, 90)}</strong>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Format a table of HTML cells; right-align numeric columns."""
    aligns = ["right" if is_number else "left" for is_number in numeric]
    top = "".join(
        f'<th style="{_CELL.format(align=align)}{_RULE}">{escaped(name)}</th>'
        for name, align in zip(head, aligns, strict=True)
    )
    body = "".join(
        "<tr style='background:transparent'>"
        + "".join(
            f'<td style="{_CELL.format(align=align)}">{cell}</td>'
            for cell, align in zip(row, aligns, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table style="{_TABLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def box(*parts: str) -> str:
    """Wrap the parts of a repr in one HTML element."""
    return f'<div style="{_BOX}">{"".join(part for part in parts if part)}</div>'
