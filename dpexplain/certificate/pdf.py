"""Certificates as one-page PDF files, drawn with Matplotlib.

With the same version of Matplotlib, the same certificate always yields the same bytes: the file
contains no date, uses only fonts that come with Matplotlib, and ignores user settings.
"""

from __future__ import annotations

import base64
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dpexplain.certificate.content import Section, Stated, sections_of, title_of

__all__ = ["data_of_pdf", "pdf_of"]

_Font: TypeAlias = Literal["DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"]
_REGULAR: _Font = "DejaVuSans"
_BOLD: _Font = "DejaVuSans-Bold"
_MONO: _Font = "DejaVuSansMono"
_WIDTH, _HEIGHT, _MARGIN = 595.276, 841.890, 40.0  # A4, in points
_NAMES = 118.0  # width of the names of rows, in points
_SIZES = [9.0 - 0.25 * step for step in range(13)]  # of the text, in points; the first that fits
_SMALL = 0.85  # size of a monospaced text, relative to other text
_LINE = 1.3  # distance of two lines, relative to the size
_BREAK = re.compile("(?<!=) (?!=)")  # where a line may end: "ε = 1" stays together
_LARGE = 100.0  # size in points at which letters are measured
_SIGN_HERE = "Date, name and signature of the person who approves this release"
_MARK = "dpexplain-certificate"
_DATA = re.compile(rb"/Keywords \(" + _MARK.encode() + rb" ([A-Za-z0-9+/]+=*)\)")


def pdf_of(stated: Stated, data: str) -> bytes:
    """Return a certificate as a PDF file with one page.

    Parameters
    ----------
    stated : Certificate
        Content of the page.
    data : str
        The certificate as JSON. It is stored in base64 in the file's keywords.

    Returns
    -------
    bytes
        The file. Its page is A4, or taller if the text would otherwise be too small. The text
        can be selected. A character that the font lacks, or that is written from right to
        left, is shown as its code, such as ``[U+5C71]``.
    """
    sheet = next(each for each in _sheets(stated) if each.fits or each.size == _SIZES[-1])
    keywords = f"{_MARK} {base64.b64encode(data.encode()).decode()}"
    return _drawn(sheet, {"Title": title_of(stated), "Keywords": keywords})


def data_of_pdf(content: bytes) -> str:
    """Return the JSON embedded in a PDF file.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the file contains no certificate, or more than one.
    """
    found = _DATA.findall(content)
    if len(found) != 1:
        raise ValueError("the PDF file contains no certificate.")
    return base64.b64decode(found[0], validate=True).decode()


@dataclass
class _Sheet:
    """Lines of text, rules and boxes on the page, placed from top to bottom.

    Heights are measured from the lower edge of an A4 page, in points.

    Parameters
    ----------
    size : float
        Size of the text, in points.
    """

    size: float
    texts: list[tuple[float, float, str, _Font, float]] = field(default_factory=list)
    rules: list[float] = field(default_factory=list)
    boxes: list[tuple[float, float]] = field(default_factory=list)
    y: float = _HEIGHT - _MARGIN

    @property
    def fits(self) -> bool:
        """Whether everything lies above the lower margin of an A4 page."""
        return self.y >= _MARGIN

    @property
    def below(self) -> float:
        """Height by which the page exceeds A4, in points."""
        return max(0.0, _MARGIN - self.y)

    def write(
        self,
        text: str,
        font: _Font = _REGULAR,
        scale: float = 1.0,
        left: float = 0.0,
        width: float = _WIDTH - 2 * _MARGIN,
    ) -> None:
        """Write a paragraph, and move down by its height."""
        size = self.size * scale
        for line in _wrapped(_drawable(text, font), font, width / size):
            self.y -= _LINE * size
            self.texts.append((_MARGIN + left, self.y, line, font, size))

    def section(self, section: Section) -> None:
        """Write a section."""
        if section.heading:
            self.y -= 0.7 * self.size
            self.write(section.heading, _BOLD, 1.15)
            self.y -= 0.15 * self.size
        for name, text in section.rows:
            self._row(name, text, code=section.code)
        for text in section.paragraphs:
            self.y -= 0.2 * self.size
            self.write(text)
        if section.warning:
            self._box(section.warning)

    def _row(self, name: str, text: str, *, code: bool) -> None:
        top = self.y
        self.write(name, _BOLD, width=_NAMES - self.size)
        bottom, self.y = self.y, top
        font, scale = (_MONO, _SMALL) if code else (_REGULAR, 1.0)
        self.y -= _LINE * self.size * (1.0 - scale)  # both begin on one line
        self.write(text, font, scale, _NAMES, _WIDTH - 2 * _MARGIN - _NAMES)
        self.y = min(self.y, bottom) - 0.4 * self.size
        self.rules.append(self.y)

    def _box(self, text: str) -> None:
        self.y -= 0.5 * self.size
        top, inside = self.y, 0.6 * self.size
        self.write(text, left=inside, width=_WIDTH - 2 * _MARGIN - 2 * inside)
        self.y -= 0.5 * self.size
        self.boxes.append((top, self.y))

    def sign_here(self) -> None:
        """Leave room for a handwritten signature."""
        self.y -= 3.2 * self.size
        self.rules.append(self.y)
        self.write(_SIGN_HERE, scale=_SMALL)


def _sheets(stated: Stated) -> Iterator[_Sheet]:
    """Yield the page with smaller and smaller text."""
    title, sections = title_of(stated), sections_of(stated)
    for size in _SIZES:
        sheet = _Sheet(size)
        sheet.write(title, _BOLD, 1.6)
        sheet.y -= 0.6 * size
        for section in sections:
            sheet.section(section)
        sheet.sign_here()
        yield sheet


def _drawable(text: str, font: _Font) -> str:
    """Replace characters that cannot be drawn from left to right with their codes."""
    return "".join(char if _is_drawable(char, font) else f"[U+{ord(char):04X}]" for char in text)


@cache
def _is_drawable(char: str, font: _Font) -> bool:
    known = ord(char) in _font(font).get_charmap()
    return known and unicodedata.bidirectional(char) not in ("R", "AL", "AN")


def _wrapped(text: str, font: _Font, width: float) -> Iterator[str]:
    """Break text into lines; words longer than a line are also broken.

    The width is relative to the text size.
    """
    line = ""
    for word in _BREAK.split(text):
        longer = f"{line} {word}" if line else word
        if _measured(longer, font) <= width:
            line = longer
            continue
        if line:
            yield line
        line = word
        while _measured(line, font) > width:
            n = next(n for n in range(len(line) - 1, 0, -1) if _measured(line[:n], font) <= width)
            yield line[:n]
            line = line[n:]
    yield line


def _measured(text: str, font: _Font) -> float:
    """Return the width of a line of text without kerning, relative to the font size."""
    return sum(_advance(char, font) for char in text)


@cache
def _advance(char: str, font: _Font) -> float:
    drawn = _font(font)
    drawn.set_size(_LARGE, 72)
    width: float = drawn.load_char(ord(char)).linearHoriAdvance
    return width / 2**16 / _LARGE


def _properties(font: _Font, size: float) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=_path(font), size=size)


@cache
def _font(font: _Font) -> Any:
    from matplotlib.font_manager import get_font

    return get_font(_path(font))


def _path(font: _Font) -> Path:
    import matplotlib

    return Path(matplotlib.get_data_path(), "fonts", "ttf", f"{font}.ttf")


def _drawn(sheet: _Sheet, metadata: dict[str, str]) -> bytes:
    """Draw a sheet as a PDF file."""
    import matplotlib
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["pdf.compression"] = 0  # builds of zlib differ
        below = sheet.below
        whole = _HEIGHT + below
        figure = Figure(figsize=(_WIDTH / 72, whole / 72), dpi=72)
        for x, y, text, font, size in sheet.texts:
            style: dict[str, Any] = {"va": "baseline", "parse_math": False, "color": "#111111"}
            style["fontproperties"] = _properties(font, size)
            figure.text(x / _WIDTH, (y + below) / whole, text, **style)
        ends = (_MARGIN / _WIDTH, 1.0 - _MARGIN / _WIDTH)
        for y in sheet.rules:
            heights = ((y + below) / whole,) * 2
            figure.add_artist(Line2D(ends, heights, color="#dddddd", linewidth=0.5))
        for top, bottom in sheet.boxes:
            corner, height = (ends[0], (bottom + below) / whole), (top - bottom) / whole
            box = Rectangle(corner, ends[1] - ends[0], height, fill=False, edgecolor="#bb0000")
            figure.add_artist(box)
        content = io.BytesIO()
        canvas: Any = FigureCanvasPdf(figure)
        canvas.print_pdf(content, metadata={**metadata, "CreationDate": None})
    return content.getvalue()
