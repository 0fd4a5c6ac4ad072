"""Certificates as model cards: Markdown with metadata in YAML."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

from dpexplain.certificate.content import (
    Section,
    Stated,
    embeddable,
    embedded,
    sections_of,
    title_of,
)

__all__ = ["card_of", "data_of_card"]

# No escaped name can begin a line in this way.
_OPEN, _CLOSE = "\n<!-- dpexplain-certificate\n", "-->"
_TAGS = ("differential-privacy", "interpretability", "tabular")
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~$&@]|:(?=/)|(?<=www)\.")  # of Markdown, HTML and addresses
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_USE = """The released file predicts without the training code, unless it is of a tree ensemble:

```python
import dpexplain.io

explanation = dpexplain.io.load("model.json")  # the released file
explanation.predict(X)
```"""


def card_of(stated: Stated, data: str) -> str:
    """Return a certificate as a model card for Hugging Face or MLflow.

    Parameters
    ----------
    stated : Certificate
        Content of the card.
    data : str
        The certificate as JSON, which is stored in a comment at the end.

    Returns
    -------
    str
        Markdown, preceded by metadata in YAML. All strings of the certificate are escaped.
    """
    parts = [_metadata(stated), f"# {_safe(title_of(stated))}"]
    for section in sections_of(stated):
        parts += _section(section)
    parts += ["## How to use it", f"{_USE}\n{_OPEN}{embeddable(data)}{_CLOSE}"]
    return "\n\n".join(parts) + "\n"


def data_of_card(text: str) -> str:
    """Return the JSON stored in a model card.

    Parameters
    ----------
    text : str
        The whole card.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the card contains no certificate, or more than one.
    """
    return embedded(text, _OPEN, _CLOSE, "model card")


def _metadata(stated: Stated) -> str:
    guarantee: dict[str, float | str] = {
        "epsilon": stated.epsilon,
        "delta": stated.delta,
        "unit": stated.protects,
        "adjacency": stated.adjacency,
        "epsilon_of_the_data_set": stated.adaptive_epsilon,
        "delta_of_the_data_set": stated.total_delta,
    }
    lines = [
        "---",
        "library_name: dpexplain",
        "tags:",
        *(f"- {tag}" for tag in _TAGS),
        "differential_privacy:",
        *(f"  {name}: {_value(value)}" for name, value in guarantee.items()),
        f"  released_file_sha256: {_value(stated.release_sha256)}",
        "---",
    ]
    return "\n".join(lines)


def _value(value: float | str) -> str:
    """Format a value so that YAML 1.1 and YAML 1.2 parsers read it identically."""
    if isinstance(value, str):
        # A JSON string is a YAML string, if no character in it is invisible to one of them.
        shown = "".join(char if char.isprintable() else "\ufffd" for char in value)
        return json.dumps(shown, ensure_ascii=False)
    if math.isinf(value):
        return ".inf"
    digits, _, power = repr(float(value)).partition("e")
    return f"{digits if '.' in digits else digits + '.0'}e{power}" if power else digits


def _section(section: Section) -> Iterator[str]:
    """Yield the blocks of a section."""
    if section.heading:
        yield f"## {_safe(section.heading)}"
    if section.rows:
        yield _table(section.rows)
    yield from map(_safe, section.paragraphs)
    if section.warning:
        yield f"> **{_safe(section.warning)}**"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    lines = [f"| {_safe(name)} | {_safe(text)} |" for name, text in rows]
    return "\n".join(["| | |", "| :-- | :-- |", *lines])


def _safe(text: str) -> str:
    """Escape a string for Markdown and isolate its text direction if needed."""
    escaped = _MARKS.sub(lambda found: f"\\{found[0]}", text)
    if any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text):
        return f"\u2068{escaped}\u2069"
    return escaped
