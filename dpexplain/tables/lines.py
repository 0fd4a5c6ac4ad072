"""Text files in which every line is read independently, as one record.

CSV readers parse a file as a whole: an open quote in one line swallows the lines after it, a line
with an extra cell shifts the cells of all lines or makes the reader reject the file, and types are
inferred from all values. In a private fit, each of these effects would reveal one record. In this
module, the result for a line depends only on its bytes and on the header of the file, which is
public:

* lines end only at character 10; a character 13 just before it is part of the line ending. In
  UTF-16, a character has two bytes, counted from the start of the file;
* a valid line has one cell for each column name, between separators. A cell that starts with a
  quote must end with a quote; it may contain separators, and two quotes in a row stand for one;
* any other line (too few or too many cells, a quote left open, text after a closing quote, a
  character 0 or 13, bytes invalid in the encoding, more than `LONGEST_LINE` bytes) is a record of
  empty cells, without an error or warning.

:func:`dpexplain.tables.line_format.cells_of_line` implements this rule. Files are read by a faster
equivalent: one pass over the bytes finds the lines that are not valid records and replaces them
with empty cells. The other lines contain nothing that the pandas parser could misread.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.tables import line_format
from dpexplain.tables.line_format import Header, LineFormat, read_header

_BLOCK: Final = 1 << 20


def read_texts(
    path: str | PathLike[str],
    form: LineFormat | None = None,
    *,
    sep: str | None = None,
    encoding: str | None = None,
    header: int | str | None = None,
) -> pd.DataFrame:
    r"""Read a text file for a private fit, line by line, with cells as text.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator, encoding and header; None means commas, UTF-8 and names in the first line.
    sep, encoding, header : str, str, int or str, or None, default=None
        Parts of the format, if they differ from `form`.

    Returns
    -------
    DataFrame of str
        One row per line after the header. For an empty or unreadable line, all cells of the row are
        empty. A newline at the end of the file does not start another line. As in pandas, if the
        first column has no name, it is called ``Unnamed: 0``, and a second column named ``score``
        is called ``score.1``.

    Raises
    ------
    ValueError
        If the header, which is public, does not contain column names; no other line raises an error
        or warning.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text('age,job\n44,nurse\n45,"open\n46,smith\n')
    >>> read_texts(path)["age"].tolist()
    ['44', '', '46']
    """
    parts = {"separator": sep, "encoding": encoding, "header": header}
    given: dict[str, Any] = {name: part for name, part in parts.items() if part is not None}
    form = replace(form or LineFormat(), **given)
    return _read(path, form, {"dtype": str, "na_filter": False})


def read_guessed(path: str | PathLike[str], form: LineFormat | None = None) -> pd.DataFrame:
    r"""Read a text file with inferred types. NOT PRIVATE: for public tables only.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator, encoding and header; None means commas, UTF-8 and names in the first line.

    Returns
    -------
    DataFrame
        One row per line after the header; columns are named as in `read_texts`.

    Raises
    ------
    ValueError
        If the header does not contain column names.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpexplain.tables import read_guessed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "public.csv")
    ...     _ = path.write_text("age,job\n34,nurse\n51,clerk\n")
    ...     read_guessed(path)
       age    job
    0   34  nurse
    1   51  clerk
    """
    return _read(path, form or LineFormat(), {"low_memory": False})


def header_of(path: str | PathLike[str], form: LineFormat | None = None) -> Header:
    """Read the column names of a text file; its records are not read.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator, encoding and header; None means commas, UTF-8 and names in the first line.

    Returns
    -------
    Header

    Raises
    ------
    ValueError
        If the header, which is public, does not contain column names.
    """
    with open(path, "rb") as file:
        return read_header(file, form or LineFormat())


def _read(path: str | PathLike[str], form: LineFormat, types: dict[str, Any]) -> pd.DataFrame:
    with open(path, "rb") as file:
        names, form, _ = read_header(file, form)
        lines = io.BufferedReader(_Blocks(_readable(file, form, len(names))), _BLOCK)
        return pd.read_csv(
            lines,
            sep=form.separator,
            header=None,
            names=names,
            index_col=False,
            skiprows=1,
            skip_blank_lines=False,
            lineterminator="\n",
            encoding="utf-8",
            **types,
        )


def _readable(file: IO[bytes], form: LineFormat, n_cells: int) -> Iterator[bytes]:
    """Yield blocks of lines in UTF-8; the cells of unreadable lines are empty."""
    yield b"\n"  # skipped by the parser, which may treat the first bytes of its input specially
    _mended(b"", form.separator.encode(), n_cells)  # compiled here, with or without any record
    for block in whole_lines(file, form.newline):
        text = in_utf8(block, form)
        text = text.replace(b"\r\n", b"\n") if b"\r" in text else text
        yield _mended(text, form.separator.encode(), n_cells)


def whole_lines(file: IO[bytes], newline: bytes) -> Iterator[bytes]:
    """Yield blocks of complete lines; truncate lines that exceed `LONGEST_LINE`.

    Parameters
    ----------
    file : binary file
        File, at its first record.
    newline : bytes
        Newline, in the encoding of the file.

    Yields
    ------
    bytes
        Lines, each with its newline.
    """
    begun, width = b"", len(newline)
    most = (line_format.LONGEST_LINE + 2) * width
    while block := file.read(max(_BLOCK // width, 1) * width):
        end = _after_last(block, newline)
        if end:
            yield begun + block[:end]
            begun = b""
        begun = (begun + block[end:])[:most]
    if begun:  # half a character at the end of a file makes its last line invalid
        yield newline if len(begun) % width else begun + newline


def _after_last(block: bytes, newline: bytes) -> int:
    """Return where the text after the last newline begins; 0 if there is no newline."""
    place = block.rfind(newline)
    while place % len(newline) and place >= 0:  # two bytes that belong to two characters
        place = block.rfind(newline, 0, place + 1)
    return place + len(newline) if place >= 0 else 0


def in_utf8(block: bytes, form: LineFormat) -> bytes:
    """Convert lines to UTF-8; lines with invalid encoding become empty.

    Parameters
    ----------
    block : bytes
        Complete lines.
    form : LineFormat
        Encoding of the lines.

    Returns
    -------
    bytes
        As many lines as in `block`.
    """
    if len(form.newline) == 1 and block.isascii():
        return block
    try:
        text = block.decode(form.encoding)
    except UnicodeDecodeError:
        lines = split(block, form.newline)
        return b"\n".join(_line_in_utf8(line, form.encoding) for line in lines)
    return block if form.encoding == "utf-8" else text.encode()


def split(block: bytes, newline: bytes) -> Iterator[bytes]:
    """Split a block at its newlines, like ``bytes.split`` for one-byte newlines.

    Parameters
    ----------
    block : bytes
        Lines.
    newline : bytes
        Newline, of one or two bytes.

    Yields
    ------
    bytes
        Lines without their newlines, and what follows the last newline.
    """
    pieces = block.split(newline)
    if len(newline) == 1:
        yield from pieces
        return
    line = pieces[0]
    for piece in pieces[1:]:
        if len(line) % 2:  # two bytes that belong to two characters
            line += newline + piece
        else:
            yield line
            line = piece
    yield line


def _line_in_utf8(line: bytes, encoding: str) -> bytes:
    try:
        return line.decode(encoding).encode()
    except UnicodeDecodeError:
        return b""


def _mended(text: bytes, separator: bytes, n_cells: int) -> bytes:
    from dpexplain.tables._kernels_lines import unreadable_lines

    as_bytes = np.frombuffer(text, dtype=np.uint8)
    spoiled: NDArray[np.int64] = unreadable_lines(
        as_bytes, np.uint8(separator[0]), n_cells, line_format.LONGEST_LINE
    )
    if not len(spoiled):
        return text
    empty = b'""' + separator * (n_cells - 1)
    pieces, kept_from = [], 0
    for start, newline in spoiled.tolist():
        pieces += [text[kept_from:start], empty]
        kept_from = newline
    return b"".join([*pieces, text[kept_from:]])


class _Blocks(io.RawIOBase):
    """File-like reader of byte blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._waiting = memoryview(b"")

    def __repr__(self) -> str:
        return "<_Blocks>"

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._waiting:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._waiting = memoryview(block)
        n = min(len(target), len(self._waiting))
        target[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n
