"""A compact static picture of a payload.

Figures from :mod:`dpexplain.plotting` show more, but their files are ten times as large.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDTH = 980
_TOP, _ROW, _BARS = 62, 24, 12
_LEFT = 160  # left end of the bars, after their names
_SHAPE = 520  # left end of the shape
_PLOT_HEIGHT, _COUNT_HEIGHT = 230, 40
_BLUE, _BAND, _GRAY, _INK, _MUTED = "#0072b2", "#cfe4f2", "#b3bac3", "#1b2027", "#555e6b"
_GOLD = "#a07d00"
_ABOUT_BARS = "Mean absolute contribution. Pale: does not rise above the noise."
_ABOUT_CELLS = "Blue adds to the score, gold subtracts. Crossed out: may be noise."
_ABOUT_BAND = "The band shows total uncertainty; the true effect can lie outside it."


class Area(NamedTuple):
    """A filled polygon."""

    points: Sequence[tuple[float, float]]
    fill: str
    opacity: float = 1.0


class Line(NamedTuple):
    """A line through points."""

    points: Sequence[tuple[float, float]]
    stroke: str
    width: float = 1.0


class Text(NamedTuple):
    """Text whose baseline starts, ends or is centered at a point."""

    x: float
    y: float
    words: str
    anchor: str = "start"
    size: int = 13
    fill: str = _INK
    bold: bool = False
    opacity: float = 1.0


Mark = Area | Line | Text


class Picture(NamedTuple):
    """Shapes and text in drawing order, on a white background."""

    width: int
    height: int
    marks: Sequence[Mark]
    title: str
    statement: str


def picture_of(payload: Mapping[str, Any], fit: Mapping[str, Any], term: str) -> Picture:
    """Lay out the importances of a fit next to the shape of a term.

    Parameters
    ----------
    payload : mapping
        Payload of a view.
    fit : mapping
        The fit to draw, which is part of the payload.
    term : str
        Name of the term.

    Returns
    -------
    Picture
    """
    names = [each["name"] for each in payload["terms"]]
    place = names.index(term)
    n_rows = min(_BARS, len(names))
    height = max(_TOP + n_rows * _ROW, _TOP + _PLOT_HEIGHT + 20 + _COUNT_HEIGHT) + 52
    guarantee, private = fit["guarantee"]["short"], fit["guarantee"]["private"]
    marks: list[Mark] = [
        _text(0, 18, payload["title"], 90, size=16, bold=True),
        _text(0, 38, guarantee, 110, fill=_MUTED),
        _text(_SHAPE, 38, f"Shape of {term}{class_words(payload)}", 60, bold=True),
        *_importances(names, fit["terms"]),
        _text(0, height - 6, _ABOUT_BARS, 90, size=11, fill=_MUTED),
        _text(
            _SHAPE,
            height - 6,
            _about_shape(payload["terms"][place], fit["terms"][place]),
            90,
            size=11,
            fill=_MUTED,
        ),
        *_shape(payload["terms"][place], fit["terms"][place], private=private),
    ]
    if not private:
        mark = _text(_SHAPE + 60, _TOP + 120, "NOT PRIVATE", 20, size=44, fill="#b34300")
        marks.append(mark._replace(opacity=0.3))
    label = shortened(f"Importances, and the shape of {term}: {guarantee}", 300)
    statement = shortened(fit["guarantee"]["statement"], 2000)
    return Picture(WIDTH, height, marks, label, statement)


def class_words(payload: Mapping[str, Any]) -> str:
    """Describe the class shown, in words that can follow the name of a term.

    Parameters
    ----------
    payload : mapping
        Payload of a view.

    Returns
    -------
    str
        Words such as ``", class x"``; "" if the model is not shown class by class.
    """
    return f", class {payload['name']}" if payload["target"].get("by_class") else ""


def static_svg(payload: Mapping[str, Any], fit: Mapping[str, Any], term: str) -> str:
    """Draw the importances of a fit next to the shape of a term, as SVG.

    Parameters
    ----------
    payload, fit, term
        Payload, fit to draw and name of the term, as in :func:`picture_of`.

    Returns
    -------
    str
        SVG without scripts, identifiers or external styles; names are escaped.
    """
    width, height, marks, title, statement = picture_of(payload, fit, term)
    first = statement.partition(". ")[0]  # the page has the whole statement
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" role="img" font-family="system-ui,sans-serif" font-size="13" '
        f'fill="{_INK}">'
        f"<title>{html.escape(title)}</title><desc>{html.escape(first)}</desc>"
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(_svg_mark(mark) for mark in marks)}</svg>"
    )


def _svg_mark(mark: Mark) -> str:
    if isinstance(mark, Text):
        attributes = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
        attributes += "" if mark.size == 13 else f' font-size="{mark.size}"'
        attributes += ' font-weight="bold"' if mark.bold else ""
        attributes += "" if mark.opacity == 1 else f' opacity="{mark.opacity}"'
        attributes += "" if mark.fill == _INK else f' fill="{mark.fill}"'
        place = f'x="{mark.x:.0f}" y="{mark.y:.0f}"{attributes}'
        return f"<text {place}>{html.escape(mark.words)}</text>"
    path = _path(mark.points)
    if isinstance(mark, Line):
        stroke = f'stroke="{mark.stroke}" stroke-width="{mark.width:g}"'
        return f'<path d="{path}" fill="none" {stroke}/>'
    pale = "" if mark.opacity == 1 else f' opacity="{mark.opacity}"'
    return f'<path d="{path}Z" fill="{mark.fill}"{pale}/>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Write an SVG path through points, using short forms for axis-parallel lines."""
    (x, y), *rest = points
    parts = [f"M{x:g},{y:g}"]
    for across, down in rest:
        if down == y:
            parts.append(f"H{across:g}")
        else:
            parts.append(f"V{down:g}" if across == x else f"L{across:g},{down:g}")
        x, y = across, down
    return "".join(parts)


def _importances(names: Sequence[str], terms: Sequence[Mapping[str, Any]]) -> list[Mark]:
    there = [i for i in range(len(names)) if not terms[i].get("absent")]
    ranked = sorted(there, key=lambda i: -terms[i]["importance"])[:_BARS]
    largest = max(terms[i]["importance"] for i in ranked) or 1.0
    parts: list[Mark] = []
    for row, i in enumerate(ranked):
        y, width = _TOP + row * _ROW, 230 * terms[i]["importance"] / largest
        opacity = 0.4 if terms[i].get("above_noise") is False else 1.0
        right = round(_LEFT + width, 1)
        parts += [
            _text(_LEFT - 8, y + 12, names[i], 22, anchor="end"),
            Area([(_LEFT, y), (right, y), (right, y + 16), (_LEFT, y + 16)], _BLUE, opacity),
            _text(_LEFT + width + 6, y + 12, f"{terms[i]['importance']:.3g}", 12, fill=_MUTED),
        ]
    return parts


def _shape(term: Mapping[str, Any], fit: Mapping[str, Any], *, private: bool) -> list[Mark]:
    if fit.get("absent"):
        return [_text(_SHAPE, _TOP + 20, "not in this model", 60)]
    if term["kind"] == "pair":
        return _heat_map(fit)
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

    line = _steps(edges, [y(value) for value in values])
    parts: list[Mark] = []
    if fit["total_std"]:
        upper = _steps(edges, [y(v + h) for v, h in zip(values, half, strict=True)])
        lower = _steps(edges, [y(v - h) for v, h in zip(values, half, strict=True)])
        parts.append(Area([*upper, *reversed(lower)], _BAND))
    parts += [
        Line([(edges[0], round(y(0))), (edges[-1], round(y(0)))], _GRAY),
        Line(line, _BLUE, 2.5),
        *(_text(_SHAPE - 6, y(v) + 4, f"{v:.2g}", 10, anchor="end") for v in (low, 0.0, high)),
    ]
    return [*parts, *_counts(edges, counts), *_ends(term, fit, n_bins, private=private)]


def _about_shape(term: Mapping[str, Any], fit: Mapping[str, Any]) -> str:
    if fit.get("absent"):
        return ""
    about = _ABOUT_CELLS if term["kind"] == "pair" else _ABOUT_BAND
    return about if fit["total_std"] else about.partition(". ")[0] * (term["kind"] == "pair")


def _heat_map(fit: Mapping[str, Any]) -> list[Mark]:
    """Draw a heat map of a pair of features, with the first row at the bottom."""
    rows, columns = fit["axes"]
    n_rows, n_columns = len(rows["labels"]), len(columns["labels"])
    values, signal = fit["contribution"], fit["signal"]
    largest = max(map(abs, values)) or 1.0
    across = _places(None, n_columns)
    upward = [round(_TOP + _PLOT_HEIGHT * (1 - i / n_rows), 1) for i in range(n_rows + 1)]
    parts: list[Mark] = []
    for cell, value in enumerate(values):
        row, column = divmod(cell, n_columns)
        left, right, bottom, top = *across[column : column + 2], *upward[row : row + 2]
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        ink = _BLUE if value > 0 else _GOLD
        parts.append(Area(corners, ink, round(abs(value) / largest, 2)))
        if signal is not None and not signal[cell]:
            parts.append(Line([(left, bottom), (right, top)], _GRAY))
    ends = [(rows["labels"][0], upward[0]), (rows["labels"][-1], upward[-1] + 12)]
    parts += [_text(_SHAPE - 6, y, words, 9, anchor="end") for words, y in ends]
    y = _TOP + _PLOT_HEIGHT + 18
    middle = f"{columns['name']} to the right, {rows['name']} upward"
    return [
        *parts,
        _text(_SHAPE, y, columns["labels"][0], 16),
        _text(WIDTH - 10, y, columns["labels"][-1], 16, anchor="end"),
        _text((_SHAPE + WIDTH) / 2, y + 20, middle, 60, anchor="middle", fill=_MUTED),
        _text((_SHAPE + WIDTH) / 2, y + 40, f"at most ±{largest:.3g}", 40, anchor="middle"),
    ]


def _counts(edges: Sequence[float], counts: Sequence[float]) -> list[Mark]:
    bottom = _TOP + _PLOT_HEIGHT + 20 + _COUNT_HEIGHT
    most = max(max(counts), 1.0)
    heights = [bottom - _COUNT_HEIGHT * max(0.0, count) / most for count in counts]
    return [Area([(edges[0], bottom), *_steps(edges, heights), (edges[-1], bottom)], _GRAY)]


def _ends(
    term: Mapping[str, Any], fit: Mapping[str, Any], n_bins: int, *, private: bool
) -> list[Mark]:
    """Label the first and last bins, with the unit between them."""
    y = _TOP + _PLOT_HEIGHT + _COUNT_HEIGHT + 38
    counts = "noisy counts above" if private else "counts above"
    middle = f"{term['unit']}, {counts}" if term["unit"] else counts
    return [
        _text(_SHAPE, y, fit["labels"][0], 20),
        _text((_SHAPE + WIDTH) / 2, y, middle, 40, anchor="middle", fill=_MUTED),
        _text(WIDTH - 10, y, fit["labels"][n_bins - 1], 20, anchor="end"),
    ]


def _limits(values: Sequence[float], half: Sequence[float]) -> tuple[float, float]:
    """Return the limits of the axis; the noise band widens them only within bounds."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = (high - low) / 2 or 1.0
    bottom = min(v - h for v, h in zip(values, half, strict=True))
    top = max(v + h for v, h in zip(values, half, strict=True))
    return max(low - room, min(low, bottom)), min(high + room, max(high, top))


def _places(edges: Sequence[float] | None, n_bins: int) -> list[float]:
    """Return the horizontal positions of bin edges.

    All bins have equal widths if they have no edges, or if many of them would be too narrow.
    """
    room = WIDTH - 10 - _SHAPE
    if edges is not None:
        span = (edges[-1] - edges[0]) or 1.0
        widths = [(b - a) / span * room for a, b in itertools.pairwise(edges)]
        if sum(width < 2 for width in widths) <= n_bins / 4:
            return [round(_SHAPE + (edge - edges[0]) / span * room, 1) for edge in edges]
    return [round(_SHAPE + room * i / n_bins, 1) for i in range(n_bins + 1)]


def _steps(edges: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for i, height in enumerate(heights):
        points += [(edges[i], round(height)), (edges[i + 1], round(height))]
    return points


def _text(x: float, y: float, words: str, limit: int, **look: Any) -> Text:
    return Text(round(x), round(y), shortened(words, limit), **look)


def shortened(text: str, limit: int) -> str:
    """Truncate a string, and replace non-printable characters with visible ones.

    Parameters
    ----------
    text : str
    limit : int
        Maximum number of characters.

    Returns
    -------
    str
    """
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text[: limit + 1])
    return shown if len(text) <= limit else f"{shown[: limit - 1]}…"
