"""Header of a text file: the public lines that name its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, NamedTuple

from dpexplain._utils.validation import shown
from dpexplain.tables import line_format
from dpexplain.tables.line_format import BYTE_ORDER_MARKS, LineFormat, cells_of_line


class Header(NamedTuple):
    """Column names of a text file.

    Parameters
    ----------
    names : list of str
        Distinct names, one for each column.
    form : LineFormat
        Format of the file, with the encoding that its byte order mark names.
    notes : tuple of str
        Sentences about columns whose names differ from the header: it names them twice, or not.
    """

    names: list[str]
    form: LineFormat
    notes: tuple[str, ...]


def read_header(file: IO[bytes], form: LineFormat) -> Header:
    """Read the header of a file, and move to the first record.

    An error may quote these lines, because they are public.

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
    """Skip the byte order mark, and return the format with the encoding that the mark names."""
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
    longest, newline = line_format.LONGEST_LINE + 2, form.newline
    if len(newline) == 1:
        return file.readline(longest).removesuffix(newline)
    line = b""
    while (pair := file.read(2)) not in (b"", newline) and len(line) < 2 * longest:
        line += pair
    return line


def _joined(lines: Sequence[Sequence[str]]) -> list[str]:
    """Join the names of several lines; an empty cell above a name belongs to a merged cell."""
    filled = [*map(_filled, lines[:-1]), [cell.strip() for cell in lines[-1]]]
    return [" ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*filled, strict=True)]


def _filled(cells: Sequence[str]) -> Iterator[str]:
    last = ""
    for cell in cells:
        last = cell.strip() or last
        yield last


def _distinct(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return distinct names as pandas makes them, and sentences about the changed ones."""
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
