"""Certificates as printable one-page HTML files, without scripts, images or links."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from dpexplain.certificate.content import (
    Section,
    Stated,
    embeddable,
    embedded,
    sections_of,
    title_of,
)

__all__ = ["data_of_page", "page_of"]

_OPEN = '<script type="application/json" id="dpexplain-certificate">'
_CLOSE = "</script>"
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.4 system-ui, sans-serif; color: #111; background: #fff; max-width: 50rem;
  margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: .9rem 0 .2rem; }
p { margin: .25rem 0; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .12rem .6rem .12rem 0;
  border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
th { width: 11rem; font-weight: 600; } code { font-size: .8em; }
.open { border: 2px solid #b00; padding: .3rem .6rem; }
@page { size: A4; margin: 12mm; }
@media print { body { font-size: 8.6pt; line-height: 1.25; margin: 0; max-width: none; padding: 0; }
  h1 { font-size: 14pt; } h2 { font-size: 10pt; margin: 5pt 0 1pt; } tr { break-inside: avoid; } }
"""


def page_of(stated: Stated, data: str | None) -> str:
    """Return a certificate as an HTML page.

    Parameters
    ----------
    stated : Certificate
        Content of the page.
    data : str or None
        The certificate as JSON, which is embedded in the page; None for a page without it.

    Returns
    -------
    str
        HTML in which all strings of the certificate are escaped.
    """
    title = title_of(stated)
    parts = [f"<h1>{_safe(title)}</h1>"]
    for section in sections_of(stated):
        parts += _section(section)
    held = "" if data is None else f"{_OPEN}{embeddable(data)}{_CLOSE}\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n{held}</body>\n</html>\n"
    )


def data_of_page(text: str) -> str:
    """Return the JSON embedded in a page.

    Parameters
    ----------
    text : str
        The whole page.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the page contains no certificate, or more than one.
    """
    return embedded(text, _OPEN, _CLOSE, "page")


def _section(section: Section) -> Iterator[str]:
    """Yield the HTML elements of a section."""
    if section.heading:
        heading = _safe(section.heading) if section.named else section.heading
        yield f"<h2>{heading}</h2>"
    if section.rows:
        yield _table(section.rows, code=section.code)
    for text in section.paragraphs:
        yield f"<p>{_safe(text)}</p>"
    if section.warning:
        yield f'<p class="open">{_safe(section.warning)}</p>'


def _table(rows: Iterable[tuple[str, str]], *, code: bool = False) -> str:
    """Return an HTML table with one row for each (name, text) pair."""
    opening, closing = ("<code>", "</code>") if code else ("", "")
    cells = "\n".join(
        f"<tr><th>{_safe(name)}</th><td>{opening}{_safe(text)}{closing}</td></tr>"
        for name, text in rows
    )
    return f"<table>\n{cells}\n</table>"


def _safe(text: str) -> str:
    """Escape a string for HTML, and isolate its text direction."""
    return f"<bdi>{html.escape(text)}</bdi>"
