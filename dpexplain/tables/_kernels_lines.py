"""Find, in a single pass, the lines of a text file that are not valid records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit

_NEWLINE, _RETURN, _QUOTE, _NUL = np.uint8(10), np.uint8(13), np.uint8(34), np.uint8(0)
# State of the parser before the next byte of a line.
_START, _PLAIN, _QUOTED, _CLOSED, _SPOILED = range(5)


@njit(cache=True, nogil=True, error_model="numpy")
def unreadable_lines(  # type: ignore[no-untyped-def]
    text, separator, n_cells, longest
) -> NDArray[Any]:
    """Find the lines that are not valid records, checking each line independently.

    :func:`dpexplain.tables.line_format.cells_of_line` is a simple, slow implementation of the same
    rule.

    Parameters
    ----------
    text : ndarray of uint8
        Complete lines, each ending with a newline.
    separator : uint8
        Byte that separates cells.
    n_cells : int
        Number of cells in a record.
    longest : int
        Maximum number of bytes in a line.

    Returns
    -------
    ndarray of shape (n_unreadable, 2), dtype int64
        For each unreadable line, the indices of its first byte and of its newline. Empty lines
        count as unreadable.
    """
    n_lines = 0
    for byte in text:
        n_lines += byte == _NEWLINE
    found = np.empty((n_lines, 2), dtype=np.int64)
    n_found, start, place, cells = 0, 0, _START, 1
    for i in range(len(text)):
        byte = text[i]
        if byte == _NEWLINE:
            whole = place != _SPOILED and place != _QUOTED and cells == n_cells
            if not whole or i == start or i - start > longest:
                found[n_found, 0], found[n_found, 1] = start, i
                n_found += 1
            start, place, cells = i + 1, _START, 1
        elif byte == _NUL or byte == _RETURN:  # noqa: SIM109 - a loop over a tuple, compiled
            place = _SPOILED
        elif place == _PLAIN:
            if byte == separator:
                cells, place = cells + 1, _START
        elif place == _SPOILED:
            continue
        elif place == _QUOTED:
            if byte == _QUOTE:
                place = _CLOSED
        elif byte == separator:
            cells, place = cells + 1, _START
        elif byte == _QUOTE:
            place = _QUOTED  # a quote at the start of a cell, or the second of a doubled quote
        else:
            place = _PLAIN if place == _START else _SPOILED
    return found[:n_found].copy()
