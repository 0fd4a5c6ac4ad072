"""A static PNG picture of a view, for notebook viewers that do not run scripts."""

from __future__ import annotations

import importlib.util
import io
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageColor, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from dpexplain_widgets.export.picture import Area, Line, Mark, Picture, Text

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

SCALE = 2
"""Pixels per unit of the picture."""

_COLORS = 32  # enough for these pictures; a third of the size of true color
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png_of(picture: Picture) -> bytes:
    """Draw a picture as a PNG file.

    Parameters
    ----------
    picture : Picture

    Returns
    -------
    bytes
        A PNG file with a reduced palette; a text chunk contains the guarantee.
    """
    size = (SCALE * picture.width, SCALE * picture.height)
    image = Image.new("RGB", size, "#fff")
    for mark in picture.marks:
        _draw(ImageDraw.Draw(image), mark)
    texts = PngInfo()
    texts.add_itxt("Title", picture.title)
    texts.add_itxt("Description", picture.statement)
    file = io.BytesIO()
    small = image.quantize(_COLORS, dither=Image.Dither.NONE)
    small.save(file, format="PNG", optimize=True, pnginfo=texts)
    return file.getvalue()


def _draw(canvas: ImageDraw.ImageDraw, mark: Mark) -> None:
    if isinstance(mark, Text):
        place = (SCALE * mark.x, SCALE * mark.y)
        font = _font(mark.size, mark.bold)
        fill = _on_white(mark.fill, mark.opacity)
        canvas.text(place, mark.words, fill=fill, font=font, anchor=_ANCHORS[mark.anchor])
        return
    points = [(SCALE * x, SCALE * y) for x, y in mark.points]
    if isinstance(mark, Line):
        canvas.line(points, fill=mark.stroke, width=round(SCALE * mark.width))
    elif isinstance(mark, Area):
        canvas.polygon(points, fill=_on_white(mark.fill, mark.opacity))


def _on_white(ink: str, opacity: float) -> tuple[int, ...]:
    return tuple(round(255 - opacity * (255 - part)) for part in ImageColor.getrgb(ink))


@lru_cache
def _font(size: int, bold: bool) -> FreeTypeFont:
    """Load a font from matplotlib's files, without importing matplotlib."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("matplotlib is missing; its fonts are needed for pictures.")
    folder = Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(folder / name), SCALE * size * 0.93)
