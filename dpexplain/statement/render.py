"""Privacy statements as text, Markdown and HTML."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from typing import Protocol

from dpexplain._utils.guarantee_words import upper_number, without_rows
from dpexplain.explain._text import shorten
from dpexplain.statement.promise import Promise

__all__ = ["as_html", "as_markdown", "as_text"]

_LONGEST = 2_000
_NOTHING = "NOT PRIVATE, nothing is promised"
_ADJACENCY = {
    "add_remove": "add/remove: two data sets differ by the presence of {unit}",
    "replace": "replace-one: two data sets differ by the values of {unit}",
}
# Characters with a meaning in Markdown: anywhere (emphasis, code, links, formulas, mentions,
# addresses, emoji), or only at the start of a line (lists, headings, rules).
_ANYWHERE = re.compile(r"([\\`*_\[\]|~$@]|(?<=www)\.|:(?=//|\w+:))", re.IGNORECASE)
_AT_START = re.compile(r"^(\d*)([#+\-=.)])")

Section = tuple[str, tuple[str, ...]]


class Stated(Protocol):
    """Content of a statement; see :class:`dpexplain.statement.PrivacyStatement`."""

    @property
    def dataset(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def adjacency(self) -> str: ...
    @property
    def release(self) -> Promise: ...
    @property
    def everything(self) -> Promise: ...
    @property
    def others(self) -> tuple[Promise, ...]: ...
    @property
    def mechanisms(self) -> tuple[str, ...]: ...
    @property
    def not_private(self) -> tuple[str, ...]: ...
    @property
    def sampler(self) -> str: ...
    @property
    def accountant(self) -> str: ...
    @property
    def public(self) -> tuple[str, ...]: ...
    @property
    def not_covered(self) -> tuple[str, ...]: ...
    @property
    def library(self) -> str: ...


def as_text(statement: Stated) -> str:
    """Format a statement as plain text."""
    lines = [_title(statement)]
    for heading, items in _sections(statement):
        lines += ["", heading, *(f"  - {_shown(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def as_markdown(statement: Stated) -> str:
    """Format a statement as Markdown, with special characters escaped."""
    lines = [f"# {_escaped(_title(statement))}"]
    for heading, items in _sections(statement):
        lines += ["", f"## {heading}", "", *(f"- {_escaped(_shown(item))}" for item in items)]
    return "\n".join(lines) + "\n"


def as_html(statement: Stated) -> str:
    """Format a statement as HTML, with each string escaped and wrapped in ``<bdi>``."""
    safe: Callable[[str], str] = lambda text: f"<bdi>{html.escape(_shown(text))}</bdi>"  # noqa: E731
    parts = [f"<h3>{safe(_title(statement))}</h3>"]
    for heading, items in _sections(statement):
        rows = "".join(f"<li>{safe(item)}</li>" for item in items)
        parts.append(f"<h4>{html.escape(heading)}</h4><ul>{rows}</ul>")
    return f'<div style="max-width:46em">{"".join(parts)}</div>'


def _title(statement: Stated) -> str:
    return f"Privacy statement for {shorten(statement.dataset, 200)}"


def _sections(statement: Stated) -> list[Section]:
    adjacency = _ADJACENCY[statement.adjacency].format(unit=without_rows(statement.unit))
    everything = _promise(statement.everything, statement.adjacency)
    if statement.everything == statement.release:
        everything = ("the same as for the release",)
    sections: list[Section] = [
        ("Unit of privacy", (statement.unit,)),
        ("Adjacency", (adjacency,)),
        ("Promised for the release", _promise(statement.release, statement.adjacency, _NOTHING)),
        ("Promised for everything fitted", everything),
        ("Mechanisms", statement.mechanisms or ("none",)),
        ("Noise", (statement.sampler,)),
        ("Accounting method", (statement.accountant,)),
        ("Assumed to be public", statement.public),
        ("Not covered", statement.not_covered),
    ]
    if statement.others:
        lines = [_promise(promise, statement.adjacency)[:2] for promise in statement.others]
        others = tuple(line for promise in lines for line in promise)
        sections.insert(4, ("Promised to other units", others))
    if statement.not_private:
        warning = (
            "the figures above hold only if these, and everything derived from them, are not shared"
        )
        sections.insert(4, ("NOT PRIVATE", (*statement.not_private, warning)))
    sections.append(("Library", (statement.library,)))
    return sections


def _promise(
    promise: Promise, adjacency: str, nothing: str = "nothing is promised"
) -> tuple[str, ...]:
    if not promise.private:
        return (f"{promise.covers}: {nothing}",)
    delta = f"delta = {upper_number(promise.delta)}"
    words = [f"{promise.covers}: epsilon = {upper_number(promise.epsilon)}, {delta}"]
    if math.isfinite(promise.adaptive_epsilon):
        words[0] += ", if number and budgets of the fits were fixed before any result was seen"
        words.append(
            "if results decided which fits followed, or when to stop: "
            f"epsilon = {upper_number(promise.adaptive_epsilon)}, {delta}"
        )
    if adjacency == "add_remove":
        exchanged = f"epsilon = {upper_number(promise.replace_epsilon)}, {delta}"
        if math.isinf(promise.replace_epsilon):
            exchanged = "no bound"
        words.append(f"if a unit is exchanged for another instead: {exchanged}")
    return tuple(words)


def _shown(text: str) -> str:
    """Shorten a string, and replace unprintable characters and line breaks."""
    return shorten(text, _LONGEST)


def _escaped(text: str) -> str:
    # Angle brackets become entities, because not every parser accepts a backslash before them.
    inline = _ANYWHERE.sub(r"\\\1", html.escape(text, quote=False))
    return _AT_START.sub(r"\1\\\2", inline)
