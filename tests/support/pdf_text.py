"""Text of an uncompressed PDF file by Matplotlib, as selected by a reader."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_PIECE = re.compile(rb"/(F\d+) [\d.]+ Tf|\(((?:\\.|[^\\()])*)\)", re.DOTALL)


def text_of(content: bytes) -> str:
    """Return the ASCII characters of all text in order, without spaces."""
    fonts = {font: _letters(content, number) for font, number in _fonts(content)}
    text, letters = "", {}
    for drawn in re.findall(rb"\nBT\n(.*?)\nET\n", content, re.DOTALL):
        for font, string in _PIECE.findall(drawn):
            if font:
                letters = fonts[font]
            codes = re.sub(rb"\\(.)", rb"\1", string, flags=re.DOTALL)
            text += "".join(letters.get(code, chr(code)) for code in codes)
    return ascii_of(text)


def ascii_of(text: str) -> str:
    """Return the ASCII characters of a text without spaces, with ligatures as letters."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if "!" <= c <= "~")


def height_of(content: bytes) -> float:
    """Return the height of the only page, in points."""
    (height,) = re.findall(rb"/MediaBox \[ 0 0 595\.276 ([\d.]+) \]", content)
    return float(height)


def _fonts(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    yield from dict(re.findall(rb"/(F\d+) (\d+) 0 R", content)).items()


def _letters(content: bytes, number: bytes) -> dict[int, str]:
    """Return the text for codes of a font, if the file maps them to text."""
    found = re.search(rb"/ToUnicode (\d+) 0 R", _object(content, number))
    if not found:
        return {}
    letters = {}
    ranges = rb"<(\w+)>\s*<(\w+)>\s*\[(.*?)\]"
    for first, _, values in re.findall(ranges, _object(content, found[1]), re.DOTALL):
        for code, value in enumerate(re.findall(rb"<(\w+)>", values), int(first, 16)):
            letters[code] = bytes.fromhex(value.decode()).decode("utf-16-be")
    return letters


def _object(content: bytes, number: bytes) -> bytes:
    (found,) = re.findall(rb"\n" + number + rb" 0 obj\n(.*?)\nendobj", content, re.DOTALL)
    return found
