"""Lines of a text file that cannot be read, and why. NOT PRIVATE.

A private fit reads such a line as a record of empty cells, without a word. The data holder has to
know of them before the fit: in a wrong encoding, all lines with a special character are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Final

import numpy as np

from dpexplain.tables import line_format
from dpexplain.tables.line_format import LineFormat, cells_of_line, read_header
from dpexplain.tables.lines import in_utf8, split, whole_lines

_N_EXAMPLES: Final = 3


@dataclass
class UnreadLines:
    """Lines that cannot be read for one reason. NOT PRIVATE.

    Parameters
    ----------
    reason : str
        Why they cannot be read.
    n_lines : int
        Number of lines.
    numbers : list of int
        Numbers of the first three lines, counting from 1 at the start of the file.
    """

    reason: str
    n_lines: int = 0
    numbers: list[int] = field(default_factory=list)

    @property
    def examples(self) -> str:
        """Numbers of the first lines, as text."""
        return ", ".join(f"line {number}" for number in self.numbers)


def unread_lines(path: str | PathLike[str], form: LineFormat | None = None) -> list[UnreadLines]:
    """Count the lines of a text file that cannot be read, by reason. NOT PRIVATE.

    Lines without any text are not counted: they lose nothing.

    Parameters
    ----------
    path : str or Path
        File to read.
    form : LineFormat or None, default=None
        Separator, encoding and header; None means commas, UTF-8 and names in the first line.

    Returns
    -------
    list of UnreadLines
        One entry for each reason, the most frequent first.

    Raises
    ------
    ValueError
        If the header does not contain column names.
    """
    found: dict[str, UnreadLines] = {}
    with open(path, "rb") as file:
        names, form, _ = read_header(file, form or LineFormat())
        for number, line in _spoiled(whole_lines(file, form.newline), form, len(names)):
            if reason := _reason(line, form):
                lines = found.setdefault(reason, UnreadLines(reason))
                lines.n_lines += 1
                if len(lines.numbers) < _N_EXAMPLES:
                    lines.numbers.append(number)
    return sorted(found.values(), key=lambda lines: -lines.n_lines)


def _spoiled(
    blocks: Iterator[bytes], form: LineFormat, n_cells: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not a record."""
    from dpexplain.tables._kernels_lines import unreadable_lines

    n_before = form.header_lines[1] + 1
    for block in blocks:
        text = np.frombuffer(in_utf8(block, form).replace(b"\r\n", b"\n"), dtype=np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        separator = np.uint8(ord(form.separator))
        spoiled = unreadable_lines(text, separator, n_cells, line_format.LONGEST_LINE)
        if len(spoiled):
            lines = list(split(block, form.newline))
            for place in np.searchsorted(ends, spoiled[:, 0]).tolist():
                yield n_before + place, lines[place]
        n_before += len(ends)


def _reason(line: bytes, form: LineFormat) -> str:
    """Return why a line cannot be read; "" if it has no text."""
    try:
        text = line.decode(form.encoding).removesuffix("\r")
    except UnicodeDecodeError:
        return f"the line is not {form.encoding.upper()} text: wrong encoding?"
    if not text.strip(form.separator + ' "\t'):
        return ""
    if cells_of_line(line, form) is not None:
        return "the line has too few or too many cells: wrong separator?"
    if len(text.encode()) > line_format.LONGEST_LINE:
        return "the line is too long"
    return "the line has an open or misplaced quote: a line break in a cell?"
