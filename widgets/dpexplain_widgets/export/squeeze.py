"""Shorten JavaScript for pages: fewer blanks and semicolons, and shorter names."""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^\\\n"]|\\.)*"|'(?:[^\\\n']|\\.)*')
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<sign>\.\.\.|=>|\+\+|--|\?\.(?!\d)|\?\?|&&|\|\||[<>=!]==?|\*\*|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
# After these, a slash begins a regular expression; elsewhere, it divides.
_BEFORE_REGEX = frozenset(",=:[!&|?{};+-*%<>(") | {"=>", "&&", "||", "??", "===", "!==", "return"}
_NOT_NAMES = frozenset(
    ["as", "async", "do", "from", "get", "if", "in", "is", "of", "set", "static"],
)
# Variables with these names would be mistaken for those that a browser provides.
_OF_BROWSER = frozenset(
    (
        *("close", "document", "event", "find", "focus", "frames", "history", "length"),
        *("location", "name", "open", "origin", "parent", "performance", "print", "screen"),
        *("scroll", "self", "status", "stop", "top", "undefined", "window"),
    )
)
_DOTS = (".", "?.")

Token = tuple[str, str]
"""Kind (blank, text, word, number or sign) and source text."""


def squeezed(script: str, names: Iterable[str]) -> str:
    """Remove comments and whitespace from a script, and shorten names.

    Semicolons at the end of blocks are removed, and ``const`` becomes ``let``, which is as short as
    other words in a compressed page.

    The given names and the names of local variables are shortened. Each of them is shortened
    everywhere or nowhere, so scopes stay as they were. Names that may also be object keys,
    shorthand properties or methods are kept.

    Parameters
    ----------
    script : str
        JavaScript in which each statement ends with a semicolon or a brace.
    names : iterable of str
        Names that the script declares at its top level.

    Returns
    -------
    str
        A shorter script that does the same.
    """
    tokens = list(_tokens(script))
    short = _short_names(tokens, frozenset(names) | (_variables(tokens) - _OF_BROWSER))
    short["const"] = "let"
    renamed = []
    before = ""
    for kind, text in tokens:
        own = kind == "word" and before not in _DOTS
        renamed.append((kind, short.get(text, text) if own else text))
        before = before if kind == "blank" else text
    return "".join(_joined(_without_last_semicolons(renamed)))


def _tokens(script: str) -> Iterator[Token]:
    place, last = 0, ";"
    templates: list[int] = []  # depth of braces in each open `${`
    while place < len(script):
        if script[place] == "`" or (script[place] == "}" and templates and templates[-1] == 0):
            if script[place] == "}":
                templates.pop()
            text = _template_part(script, place)
            if text.endswith("${"):
                templates.append(0)
            kind = "text"
        elif (
            last in _BEFORE_REGEX
            and (found := _REGEX.match(script, place))
            and (not script.startswith(("//", "/*"), place))
        ):
            kind, text = "text", found.group()
        else:
            found = _TOKEN.match(script, place)
            assert found is not None
            assert found.lastgroup is not None
            kind, text = found.lastgroup, found.group()
            if templates and text in "{}":
                templates[-1] += 1 if text == "{" else -1
        yield kind, text
        place += len(text)
        if kind != "blank":
            last = "{" if kind == "text" and text.endswith("${") else text


def _template_part(script: str, start: int) -> str:
    """Return the text of a template up to its next expression."""
    place = start + 1
    while script[place] != "`":
        if script.startswith("${", place):
            return script[start : place + 2]
        place += 2 if script[place] == "\\" else 1
    return script[start : place + 1]


def _variables(tokens: Sequence[Token]) -> set[str]:
    """Return the names that follow ``const`` or ``let``."""
    words = [text for kind, text in tokens if kind != "blank"]
    return {
        after
        for before, after in itertools.pairwise(words)
        if before in ("const", "let") and after.isidentifier()
    }


def _short_names(tokens: Sequence[Token], names: frozenset[str]) -> dict[str, str]:
    """Choose short names, giving the shortest ones to the most frequent names."""
    taken = {text for kind, text in tokens if kind == "word"} | _NOT_NAMES
    signs = [token for token in tokens if token[0] != "blank"]
    uses, kept = Counter[str](), set(_NOT_NAMES)
    brackets = [""]
    for place, (kind, text) in enumerate(signs):
        if (kind == "text" and text[0] == "}") or text in (")", "]", "}"):
            brackets.pop()
        if kind == "text" and text.endswith("${") and text[0] in "`}":
            brackets.append("(")
        elif kind == "sign" and text in ("(", "[", "{"):
            brackets.append(text)
        if kind == "word" and text in names:
            before, after = signs[place - 1][1], signs[min(place + 1, len(signs) - 1)][1]
            if before in _DOTS:
                continue
            uses[text] += 1
            if _may_be_a_key(before, after, in_braces=brackets[-1] == "{"):
                kept.add(text)
    free = (name for name in _all_names() if name not in taken)
    return {name: next(free) for name, _ in uses.most_common() if name not in kept}


def _may_be_a_key(before: str, after: str, *, in_braces: bool) -> bool:
    if after == ":":
        return True  # a key, or a branch of a condition
    if not in_braces:
        return False
    short_form = before in ("{", ",") and after in (",", "}", "=")
    member = before in ("{", "}", ";", ",", "get", "set", "async", "static") and after in (
        "(",
        "=",
        ";",
    )
    return short_form or member


def _all_names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_letters, repeat=length):
            yield "".join(letters)


def _without_last_semicolons(tokens: Iterable[Token]) -> Iterator[Token]:
    """Leave out semicolons before a closing brace, but not after ``for (...)``."""
    openers: list[str] = []  # words before the open parentheses
    before, header, held = "", False, False
    for kind, text in tokens:
        if kind == "blank":
            yield kind, text
            continue
        if held and (kind, text) != ("sign", "}"):
            yield "sign", ";"
        held = kind == "sign" and text == ";" and not header
        header = False
        if kind == "sign" and text == "(":
            openers.append(before)
        elif kind == "sign" and text == ")":
            header = openers.pop() in ("for", "if", "while")
        before = text
        if not held:
            yield kind, text
    if held:
        yield "sign", ";"


def _joined(tokens: Iterable[Token]) -> Iterator[str]:
    """Yield tokens, with whitespace only where two tokens would otherwise merge."""
    before, gap = "", False
    for kind, text in tokens:
        if kind == "blank":
            gap = True
            continue
        words = re.match(r"[\w$.]", text) and re.search(r"[\w$]$", before)
        signs = text[0] in "+-" and before[-1:] == text[0]
        if gap and (words or signs):
            yield " "
        yield text
        before, gap = text, False
