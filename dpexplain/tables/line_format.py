"""Format of a text file: how its lines and its header are read.

See :mod:`dpexplain.tables.lines`, which reads files in this format.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, Final, NamedTuple, cast

from dpexplain._utils.validation import shown

LONGEST_LINE: Final = 1 << 20
"""Maximum length of a line in bytes of UTF-8; a longer line is a record of empty cells."""

BYTE_ORDER_MARKS: Final = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
"""First bytes of a file that name its encoding."""

_ASIDE: Final = '"\r\n\0'  # characters that cannot be separators
_SEPARATOR_WORDS: Final = {"tab": "\t", "\\t": "\t"}

_HEADER: Final = re.compile(r"([1-9][0-9]{0,2})(?:-([1-9][0-9]{0,2}))?")

# In these encodings, each byte below 128 is an ASCII character and nothing else, so that lines and
# separators can be found by their bytes. In all of them except UTF-8, a character has one byte.
ENCODINGS: Final = frozenset(
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
    r"""Format of a text file: separator, encoding and the lines with column names.

    Parameters
    ----------
    separator : str, default=","
        ASCII character that separates cells; "tab" and the two characters ``\t`` stand for the tab
        character.
    encoding : str, default="utf-8"
        UTF-8, UTF-16, or a one-byte code page that agrees with ASCII on the first 128 characters. A
        file that begins with a UTF-16 byte order mark is also read as UTF-16 if the encoding is
        "utf-8". For UTF-16 without that mark, pass "utf-16-le" or "utf-16-be".
    header : int or str, default=1
        Number of the line with the column names, counting from 1, or the first and the last such
        line: "1-2" joins names in two lines. Any lines before the names are skipped. All lines up
        to the last one with names are public.

    Raises
    ------
    ValueError
        If the separator is not a single ASCII character, or is a quote, a line ending or a null
        character; if the encoding is not supported (such as Shift JIS or EBCDIC); or if `header` is
        neither a line number nor a range such as "1-2".

    Examples
    --------
    >>> LineFormat("tab", "latin-1")
    LineFormat(separator='\t', encoding='iso8859-1', header='1')
    """

    separator: str = ","
    encoding: str = "utf-8"
    header: int | str = 1

    def __post_init__(self) -> None:
        separator = _SEPARATOR_WORDS.get(self.separator, self.separator)
        if len(separator) != 1 or not separator.isascii() or separator in _ASIDE:
            raise ValueError(
                f"separator {shown(self.separator)} must be one ASCII character other than "
                'a quote or a line end, such as "," or ";" or "tab".'
            )
        object.__setattr__(self, "separator", separator)
        object.__setattr__(self, "encoding", _checked_encoding(self.encoding))
        object.__setattr__(self, "header", str(self.header).strip())
        found = _HEADER.fullmatch(cast(str, self.header))
        if found is None or self.header_lines[0] > self.header_lines[1]:
            raise ValueError(
                f"header {shown(self.header)} must be the number of the line with the column "
                'names, such as 3, or the first and the last of several lines, such as "1-2".'
            )

    @property
    def header_lines(self) -> tuple[int, int]:
        """Numbers of the first and the last line with column names, counting from 1."""
        first, _, last = str(self.header).partition("-")
        return int(first), int(last or first)

    @cached_property
    def newline(self) -> bytes:
        """Newline, encoded as bytes."""
        return "\n".encode(self.encoding)

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
    if name not in ENCODINGS and name not in ("utf-16", "utf-16-le", "utf-16-be"):
        raise ValueError(
            f"encoding {shown(encoding)} cannot be read line by line; pass UTF-8, UTF-16 or a "
            "one-byte code page (latin-1, cp1252, iso8859-15, ...), or convert the file, such as "
            "iconv -f shift_jis -t utf-8."
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
        text = line.decode(form.encoding).removesuffix("\r")
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


class Header(NamedTuple):
    """Column names of a text file.

    Parameters
    ----------
    names : list of str
        Distinct names, one for each column.
    form : LineFormat
        Format of the file, with the encoding indicated by its byte order mark, if any.
    notes : tuple of str
        Sentences about columns whose names in the header are missing or repeated.
    """

    names: list[str]
    form: LineFormat
    notes: tuple[str, ...]


def read_header(file: IO[bytes], form: LineFormat) -> Header:
    """Read the header of a file, and move to the first record.

    Error messages may quote the header lines, because these lines are public.

    Parameters
    ----------
    file : binary file
        File, at its start.
    form : LineFormat

    Returns
    -------
    Header

    Raises
    ------
    ValueError
        If the header does not contain column names.
    """
    form = _with_encoding(file, form)
    first, last = form.header_lines
    lines = [_line(file, form) for _ in range(last)][first - 1 :]
    cells = [cells_of_line(line, form) for line in lines]
    named = [each for each in cells if each is not None]
    alike = len(named) == len(cells) and len({len(each) for each in named}) == 1
    if not alike or not any(map(any, named)):
        where = "the first line does" if last == 1 else f"line {form.header} of the file does"
        where = where if first == last else f"lines {form.header} of the file do"
        raise ValueError(
            f"{where} not contain column names: expected names between separators "
            f"({form.separator!r}), in {form.encoding}, and a final newline; write the names "
            "there, or specify the format of the file (--sep, --encoding, --header)."
        )
    names, notes = _distinct(_joined(named))
    return Header(names, form, notes)


def _with_encoding(file: IO[bytes], form: LineFormat) -> LineFormat:
    """Skip the byte order mark, and return the format with the encoding it indicates."""
    start = file.read(3)
    found = next((n for n, mark in BYTE_ORDER_MARKS.items() if start.startswith(mark)), "")
    given = form.encoding
    if given == "utf-16" and "16" not in found:
        raise ValueError(
            "the file does not begin with the byte order mark of UTF-16; specify utf-16-le or "
            "utf-16-be, or another encoding (--encoding)."
        )
    fits = found == given or given == "utf-16" or (given == "utf-8" and found)
    file.seek(len(BYTE_ORDER_MARKS[found]) if fits else 0)
    return replace(form, encoding=found) if fits else form


def _line(file: IO[bytes], form: LineFormat) -> bytes:
    """Read one line, without its newline."""
    longest, newline = LONGEST_LINE + 2, form.newline
    if len(newline) == 1:
        return file.readline(longest).removesuffix(newline)
    line = b""
    while (pair := file.read(2)) not in (b"", newline) and len(line) < 2 * longest:
        line += pair
    return line


def _joined(lines: Sequence[Sequence[str]]) -> list[str]:
    """Join names given in several lines; empty cells above names are merged cells."""
    filled = [*map(_filled, lines[:-1]), [cell.strip() for cell in lines[-1]]]
    return [" ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*filled, strict=True)]


def _filled(cells: Sequence[str]) -> Iterator[str]:
    last = ""
    for cell in cells:
        last = cell.strip() or last
        yield last


def _distinct(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Make names distinct as pandas does, and return notes on changed names."""
    taken = {name for name in names if name}
    found: list[str] = []
    notes = []
    for place, name in enumerate(names):
        plain = name or f"Unnamed: {place}"
        new, number = plain, 0
        while new in found or (new != name and new in taken):
            number += 1
            new = f"{plain}.{number}"
        if not name:
            notes.append(f"column {place + 1} has no name and is read as {new!r}")
        elif new != name:
            notes.append(f"column {place + 1} is also named {shown(name)} and is read as {new!r}")
        found.append(new)
    return found, tuple(notes)
