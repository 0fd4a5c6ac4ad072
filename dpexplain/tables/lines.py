"""Text files in which every line is read independently, as one record.

CSV readers parse a file as a whole: an open quote in one line swallows the lines after it, a line
with an extra cell shifts the cells of all lines or makes the reader reject the file, and types are
inferred from all values. In a private fit, each of these effects would reveal one record. In this
module, the result for a line depends only on its bytes and on the first line of the file, which is
public:

* lines end only at byte 10; a byte 13 just before it is part of the line ending;
* a valid line has one cell for each column name, between separators. A cell that starts with a
  quote must end with a quote; it may contain separators, and two quotes in a row stand for one;
* any other line (too few or too many cells, a quote left open, text after a closing quote, a byte
  0 or 13, bytes invalid in the encoding, more than `LONGEST_LINE` bytes) is a record of empty
  cells, without an error or warning.

:func:`cells_of_line` implements this rule. Files are read by a faster equivalent: one pass over
the bytes finds the lines that are not valid records and replaces them with empty cells. The other
lines contain nothing that the pandas parser could misread.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.validation import shown

if TYPE_CHECKING:
    import pandas as pd

LONGEST_LINE: Final = 1 << 20
"""Maximum length of a line in bytes of UTF-8; a longer line is a record of empty cells."""

_BLOCK: Final = 1 << 20
_ASIDE: Final = '"\r\n\0'  # characters that cannot be separators
_SEPARATOR_WORDS: Final = {"tab": "\t", "\\t": "\t"}

# In these encodings, each byte below 128 is an ASCII character and nothing else, so that lines and
# separators can be found by their bytes. In all of them except UTF-8, a character has one byte.
_ENCODINGS: Final = frozenset(
    {
        "utf-8",
        "ascii",
        "koi8-r",
        "koi8-u",
        "mac-roman",
        "mac-latin2",
        *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
        *(f"cp{page}" for page in range(1250, 1259)),
        *(f"cp{page}" for page in (437, 850, 852, 858, 866)),
    }
)


@dataclass(frozen=True)
class LineFormat:
    r"""Format of the cells in a line.

    Parameters
    ----------
    separator : str, default=","
        ASCII character that separates cells; "tab" and the two characters ``\t`` stand for the tab
        character.
    encoding : str, default="utf-8"
        UTF-8, or a one-byte code page that agrees with ASCII on the first 128 characters.

    Raises
    ------
    ValueError
        If the separator is not a single ASCII character, or is a quote, a line end or a null
        character; or if the encoding is not supported (such as UTF-16, Shift JIS or EBCDIC).

    Examples
    --------
    >>> LineFormat("tab", "latin-1")
    LineFormat(separator='\t', encoding='iso8859-1')
    """

    separator: str = ","
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        separator = _SEPARATOR_WORDS.get(self.separator, self.separator)
        if len(separator) != 1 or not separator.isascii() or separator in _ASIDE:
            raise ValueError(
                f"separator {shown(self.separator)} must be one ASCII character other than "
                'a quote or a line end, such as "," or ";" or "tab".'
            )
        object.__setattr__(self, "separator", separator)
        object.__setattr__(self, "encoding", _checked_encoding(self.encoding))

    @cached_property
    def _cell(self) -> re.Pattern[str]:
        """Return the pattern that matches a quoted or an unquoted cell."""
        between = re.escape(self.separator)
        return re.compile(rf'(?:"((?:[^"]|"")*)"|(?!")([^{between}]*))(?={between}|\Z)')


def _checked_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
    except (LookupError, ValueError, TypeError):  # an unknown name, or one with a byte 0
        name = ""
    name = {"utf-8-sig": "utf-8"}.get(name, name)
    if name not in _ENCODINGS:
        raise ValueError(
            f"encoding {shown(encoding)} cannot be read line by line; pass UTF-8 or a one-byte "
            "code page (latin-1, cp1252, iso8859-15, ...), or convert the file: iconv -f utf-16 "
            "-t utf-8."
        )
    return name


def cells_of_line(line: bytes, form: LineFormat) -> list[str] | None:
    r"""Parse one line independently of all others.

    Parameters
    ----------
    line : bytes
        The line without its newline.
    form : LineFormat
        Separator and encoding.

    Returns
    -------
    list of str or None
        The cells as written, or None if the line is invalid.

    Examples
    --------
    >>> cells_of_line(b'44,"a ""b"", c",\r', LineFormat())
    ['44', 'a "b", c', '']
    >>> cells_of_line(b'44,"no', LineFormat()) is None
    True
    """
    try:
        text = line.removesuffix(b"\r").decode(form.encoding)
    except UnicodeDecodeError:
        return None
    if "\r" in text or "\n" in text or "\0" in text or len(text.encode()) > LONGEST_LINE:
        return None
    cells, place = [], 0
    while found := form._cell.match(text, place):
        quoted, plain = found.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        place = found.end() + 1
        if place > len(text):
            return cells
    return None


def read_texts(path: str | PathLike[str], form: LineFormat | None = None) -> pd.DataFrame:
    r"""Read a text file for a private fit, line by line, with cells as text.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator and encoding; None means commas and UTF-8.

    Returns
    -------
    DataFrame of str
        One row per line after the first. For an empty or unreadable line, all cells of the row are
        empty. A newline at the end of the file does not start another line.

    Raises
    ------
    ValueError
        If the first line, which is public, does not contain distinct column names; no other line
        raises an error or warning.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text('age,job\n44,nurse\n45,"open\n46,smith\n')
    >>> read_texts(path)["age"].tolist()
    ['44', '', '46']
    """
    return _read(path, form or LineFormat(), {"dtype": str, "na_filter": False})


def read_guessed(path: str | PathLike[str], form: LineFormat | None = None) -> pd.DataFrame:
    r"""Read a text file with inferred types. NOT PRIVATE: for public tables only.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator and encoding; None means commas and UTF-8.

    Returns
    -------
    DataFrame
        One row per line after the first.

    Raises
    ------
    ValueError
        If the first line does not contain distinct column names.

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


def read_names(path: str | PathLike[str], form: LineFormat | None = None) -> list[str]:
    """Read the column names of a text file; its records are not read.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator and encoding; None means commas and UTF-8.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If the first line, which is public, does not contain distinct column names.
    """
    with open(path, "rb") as file:
        return _column_names(file, form or LineFormat())


def _read(path: str | PathLike[str], form: LineFormat, types: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    with open(path, "rb") as file:
        names = _column_names(file, form)
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


def _column_names(file: IO[bytes], form: LineFormat) -> list[str]:
    """Read the column names from the first line of a file.

    An error may be raised, because this line is public.
    """
    line = file.readline(LONGEST_LINE + len(codecs.BOM_UTF8) + 3)
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(
            "the first line does not contain column names: the file is in UTF-16, which cannot be "
            'read line by line; save it as UTF-8 (in Excel: "CSV UTF-8"), or convert it: '
            "iconv -f utf-16 -t utf-8."
        )
    line = line.removesuffix(b"\n")
    if form.encoding == "utf-8":
        line = line.removeprefix(codecs.BOM_UTF8)
    names = cells_of_line(line, form)
    if not line.strip() or names is None:
        raise ValueError(
            "the first line does not contain column names: expected names between separators "
            f"({form.separator!r}), in {form.encoding}, and a final newline; write the names "
            "there, or specify the format of the file (--sep, --encoding)."
        )
    names = [name.strip() for name in names]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if "" in names or doubled:
        found = "a column without a name" if "" in names else f"{shown(doubled[0])} twice"
        raise ValueError(f"the first line has {found}; give every column a distinct name.")
    return names


def _readable(file: IO[bytes], form: LineFormat, n_cells: int) -> Iterator[bytes]:
    """Yield blocks of lines in UTF-8; the cells of unreadable lines are empty."""
    yield b"\n"  # skipped by the parser, which may treat the first bytes of its input specially
    for block in _whole_lines(file):
        text = _in_utf8(block.replace(b"\r\n", b"\n") if b"\r" in block else block, form.encoding)
        yield _mended(text, form.separator.encode(), n_cells)


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield blocks of complete lines; truncate lines that exceed `LONGEST_LINE`."""
    begun = b""
    while block := file.read(_BLOCK):
        ended, newline, rest = block.rpartition(b"\n")
        if newline:
            yield begun + ended + newline
            begun = b""
        begun = (begun + rest)[: LONGEST_LINE + 2]
    if begun:
        yield begun + b"\n"


def _in_utf8(block: bytes, encoding: str) -> bytes:
    """Convert lines to UTF-8; lines with invalid encoding become empty."""
    if block.isascii():
        return block
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError:
        return b"\n".join(_line_in_utf8(line, encoding) for line in block.split(b"\n"))
    return block if encoding == "utf-8" else text.encode()


def _line_in_utf8(line: bytes, encoding: str) -> bytes:
    try:
        return line.decode(encoding).encode()
    except UnicodeDecodeError:
        return b""


def _mended(text: bytes, separator: bytes, n_cells: int) -> bytes:
    from dpexplain.tables._kernels_lines import unreadable_lines

    as_bytes = np.frombuffer(text, dtype=np.uint8)
    spoiled: NDArray[np.int64] = unreadable_lines(
        as_bytes, np.uint8(separator[0]), n_cells, LONGEST_LINE
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
