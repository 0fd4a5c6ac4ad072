"""A still picture of a payload in little room, for pages that cannot run a view.

It is written by hand: the figures of :mod:`dpexplain.plotting` say more, and take ten times the
room.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH, _TOP, _ROW, _BARS = 980, 62, 24, 12
_LEFT = 160  # of the bars; their names stand before
_SHAPE = 520  # where the shape begins
_PLOT_HEIGHT, _COUNT_HEIGHT = 230, 40
_BLUE, _BAND, _GREY, _INK, _MUTED = "#0072b2", "#cfe4f2", "#b3bac3", "#1b2027", "#555e6b"


def static_svg(payload: Mapping[str, Any], fit: Mapping[str, Any], term: str) -> str:
    """Draw the importances of a fit beside the shape of a term.

    Parameters
    ----------
    payload : mapping
        Payload of a view.
    fit : mapping
        The fit of it that is drawn.
    term : str
        Name of the term.

    Returns
    -------
    str
        SVG without scripts, identifiers or styles from elsewhere; names are escaped.
    """
    names = [each["name"] for each in payload["terms"]]
    place = names.index(term)
    n_rows = min(_BARS, len(names))
    height = max(_TOP + n_rows * _ROW, _TOP + _PLOT_HEIGHT + 20 + _COUNT_HEIGHT) + 40
    guarantee = fit["guarantee"]["short"]
    parts = [
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        _text(0, 18, payload["title"], 90, size=16, weight="bold"),
        _text(0, 38, guarantee, 110, fill=_MUTED),
        _text(_SHAPE, 38, f"Shape of {term}", 60, weight="bold"),
        *_importances(names, fit["terms"]),
        *_shape(payload["terms"][place], fit["terms"][place]),
    ]
    if not fit["guarantee"]["private"]:
        mark = _text(_SHAPE + 60, _TOP + 120, "NOT PRIVATE", 20, size=44, fill="#b34300")
        parts.append(mark.replace("<text", '<text opacity=".3"'))
    label = _escaped(f"Importances, and the shape of {term}: {guarantee}", 300)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" role="img" font-family="system-ui,sans-serif" font-size="13">'
        f"<title>{label}</title><desc>{_escaped(fit['guarantee']['statement'], 2000)}</desc>"
        f"{''.join(parts)}</svg>"
    )


def _importances(names: Sequence[str], terms: Sequence[Mapping[str, Any]]) -> list[str]:
    ranked = sorted(range(len(names)), key=lambda i: -terms[i]["importance"])[:_BARS]
    largest = max(terms[i]["importance"] for i in ranked) or 1.0
    parts = []
    for row, i in enumerate(ranked):
        y, width = _TOP + row * _ROW, 230 * terms[i]["importance"] / largest
        pale = ' opacity=".4"' if terms[i].get("above_noise") is False else ""
        parts += [
            _text(_LEFT - 8, y + 12, names[i], 22, anchor="end"),
            f'<path d="M{_LEFT} {y}h{width:.1f}v16h-{width:.1f}z" fill="{_BLUE}"{pale}/>',
            _text(_LEFT + width + 6, y + 12, f"{terms[i]['importance']:.3g}", 12, fill=_MUTED),
        ]
    return parts


def _shape(term: Mapping[str, Any], fit: Mapping[str, Any]) -> list[str]:
    n_special = len(fit["special"]) if term["kind"] == "numeric" else 0
    n_bins = len(fit["labels"]) - n_special
    values, counts = fit["contribution"][:n_bins], fit["count"][:n_bins]
    if not n_bins:
        return []
    stds = fit["total_std"] or [0.0] * n_bins
    half = [fit["band_factor"] * std for std in stds[:n_bins]]
    low, high = _limits(values, half)
    edges = _places(fit["edges"] if term["kind"] == "numeric" else None, n_bins)

    def y(value: float) -> float:
        inside = (min(max(value, low), high) - low) / (high - low)
        return _TOP + _PLOT_HEIGHT * (1 - inside)

    upper = _steps(edges, [y(v + h) for v, h in zip(values, half, strict=True)])
    lower = _steps(edges, [y(v - h) for v, h in zip(values, half, strict=True)])
    band = f'<path d="M{upper}L{" ".join(reversed(lower.split()))}Z" fill="{_BAND}"/>'
    line = _steps(edges, [y(value) for value in values])
    parts = [
        band if fit["total_std"] else "",
        f'<path d="M{edges[0]} {y(0):.0f}H{edges[-1]}" stroke="{_GREY}"/>',
        f'<path d="M{line}" fill="none" stroke="{_BLUE}" stroke-width="2.5"/>',
        *(_text(_SHAPE - 6, y(v) + 4, f"{v:.2g}", 10, anchor="end") for v in (low, 0.0, high)),
    ]
    return [*parts, *_counts(edges, counts), *_ends(term, fit, n_bins)]


def _counts(edges: Sequence[float], counts: Sequence[float]) -> list[str]:
    bottom = _TOP + _PLOT_HEIGHT + 20 + _COUNT_HEIGHT
    most = max(max(counts), 1.0)
    heights = [bottom - _COUNT_HEIGHT * max(0.0, count) / most for count in counts]
    path = f"M{edges[0]},{bottom} {_steps(edges, heights)} {edges[-1]},{bottom}Z"
    return [f'<path d="{path}" fill="{_GREY}"/>']


def _ends(term: Mapping[str, Any], fit: Mapping[str, Any], n_bins: int) -> list[str]:
    """Name the first and the last bin, and the unit between them."""
    y = _TOP + _PLOT_HEIGHT + _COUNT_HEIGHT + 38
    middle = f"{term['unit']}, noisy counts below" if term["unit"] else "noisy counts below"
    return [
        _text(_SHAPE, y, fit["labels"][0], 20),
        _text((_SHAPE + _WIDTH) / 2, y, middle, 40, anchor="middle", fill=_MUTED),
        _text(_WIDTH - 10, y, fit["labels"][n_bins - 1], 20, anchor="end"),
    ]


def _limits(values: Sequence[float], half: Sequence[float]) -> tuple[float, float]:
    """Range of the curve with zero; the band may widen it by half at each end."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = (high - low) / 2 or 1.0
    bottom = min(v - h for v, h in zip(values, half, strict=True))
    top = max(v + h for v, h in zip(values, half, strict=True))
    return max(low - room, min(low, bottom)), min(high + room, max(high, top))


def _places(edges: Sequence[float] | None, n_bins: int) -> list[float]:
    """Horizontal places of the ends of bins; all bins as wide where values would crowd."""
    room = _WIDTH - 10 - _SHAPE
    if edges is not None:
        span = (edges[-1] - edges[0]) or 1.0
        widths = [(b - a) / span * room for a, b in itertools.pairwise(edges)]
        if sum(width < 2 for width in widths) <= n_bins / 4:
            return [round(_SHAPE + (edge - edges[0]) / span * room, 1) for edge in edges]
    return [round(_SHAPE + room * i / n_bins, 1) for i in range(n_bins + 1)]


def _steps(edges: Sequence[float], heights: Sequence[float]) -> str:
    points = []
    for i, height in enumerate(heights):
        points += [f"{edges[i]},{height:.0f}", f"{edges[i + 1]},{height:.0f}"]
    return " ".join(points)


def _text(
    x: float, y: float, words: str, limit: int, *, anchor: str = "start", size: int = 13,
    fill: str = _INK, weight: str = "normal",
) -> str:  # fmt: skip
    attributes = "" if anchor == "start" else f' text-anchor="{anchor}"'
    attributes += "" if size == 13 else f' font-size="{size}"'
    attributes += "" if weight == "normal" else f' font-weight="{weight}"'
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{fill}"{attributes}>{_escaped(words, limit)}</text>'
    )


def _escaped(text: str, limit: int) -> str:
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text[: limit + 1])
    shown = shown if len(text) <= limit else f"{shown[: limit - 1]}…"
    return html.escape(shown, quote=True)
