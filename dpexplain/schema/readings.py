"""How the texts of a column can be read: as numbers, or as dates of some format."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, Final

import numpy as np

from dpexplain.tables.cells import cell_day
from dpexplain.tables.spellings import day_reader

MAJORITY: Final = 0.8
_ENOUGH: Final = 2_000
# The formats in a tuple have the same shape; if both match every cell, the first is taken.
_FORMATS: Final = (
    ("%d.%m.%Y",),
    ("%d.%m.%y",),
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%d/%m/%y", "%m/%d/%y"),
    ("%d-%m-%Y", "%m-%d-%Y"),
    ("%Y/%m/%d",),
    ("%Y.%m.%d",),
    ("%d-%b-%Y",),
    ("%d %b %Y",),
    ("%d %B %Y",),
)


def n_read(counts: Counter[str], *readers: Any) -> int:
    """Return the largest number of cells that any single reader can parse."""
    return max(sum(n for text, n in counts.items() if not np.isnan(read(text))) for read in readers)


def formats_of(counts: Counter[str]) -> list[tuple[str, bool]]:
    """Return the date formats that match any cells, and whether each is ambiguous.

    A format is ambiguous if just as many cells match it with the day and month swapped.
    """
    used = []
    for alike in _FORMATS:
        read = {text: n_read(counts, _only(text)) for text in alike}
        best = max(alike, key=read.__getitem__)
        if read[best]:
            used.append((best, len(alike) > 1 and min(read.values()) == read[best]))
    return used


def _only(text: str) -> Any:
    """Return a function that parses dates in one format, but not dates in ISO format."""
    read = day_reader([text], 9999)
    return lambda cell: np.nan if not np.isnan(cell_day(cell)) else read(cell)


def first_texts(counts: Counter[str]) -> Counter[str]:
    """Return the counts of the first 2,000 distinct cells."""
    return Counter(dict(itertools.islice(counts.items(), _ENOUGH)))
