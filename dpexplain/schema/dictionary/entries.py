"""Lines of a data dictionary: a CSV file with one line for each column of a table."""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dpexplain._utils.validation import shown
from dpexplain.exceptions import SchemaError
from dpexplain.schema.dictionary.redcap import redcap_lines, redcap_places
from dpexplain.tables.line_format import BYTE_ORDER_MARKS, LineFormat

COLUMNS: Final = {
    "name": ("variable", "column", "field", "variable name", "column name", "field name"),
    "type": ("kind", "data type", "datatype", "field type", "variable type"),
    "min": ("low", "minimum", "lower bound", "min value", "minimum value"),
    "max": ("high", "maximum", "upper bound", "max value", "maximum value"),
    "step": (),
    "categories": ("values", "levels", "codes", "allowed values", "value labels", "choices"),
    "aliases": ("spellings",),
    "missing": ("missing value", "missing values", "missing code", "missing codes"),
    "unit": ("units",),
    "decimal": (),
    "thousands": ("thousands separator",),
    "affixes": ("written with",),
    "format": ("date format",),
    "description": ("label", "meaning", "variable label"),
    "source": ("reference",),
}
"""Columns of a data dictionary, each with its alternative names. Other columns are ignored."""

_TEXTS: Final = ("description", "source")  # of several such columns, the first is used

_MAX_BYTES: Final = 16 * 2**20


@dataclass(frozen=True)
class Entry:
    """One line of a data dictionary.

    Parameters
    ----------
    file : str
        Name of the file.
    line : int
        Number of the line on which the entry begins, counting from 1.
    headings : dict
        Heading of each column, as written in the file.
    cells : dict
        Text of the cell in each column; "" if the cell is empty.
    """

    file: str
    line: int
    headings: dict[str, str]
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def needed(self, column: str, example: str) -> str:
        """Return the text of a cell; raise SchemaError if it is empty."""
        if not self[column]:
            raise self.error(column, f"is empty; {self['type']} needs it, such as {example}.")
        return self[column]

    def error(self, column: str, problem: str) -> SchemaError:
        """Return an error that names the file, the line and the column."""
        name = f" ({shown(self['name'])})" if self["name"] and column != "name" else ""
        heading = self.headings.get(column, column)
        return SchemaError(f"{self.file}, line {self.line}{name}, column {heading!r}: {problem}")

    @contextlib.contextmanager
    def at(self, column: str) -> Iterator[None]:
        """Add the file, line and column to errors raised inside the ``with`` block."""
        try:
            yield
        except SchemaError as error:
            raise self.error(column, str(error)) from None

    @property
    def source(self) -> str:
        """Source named in the entry, or its file and line if none is named."""
        return self["source"] or f"{self.file}, line {self.line}"


def dictionary_entries(path: Path, encoding: str) -> list[Entry]:
    """Read the entries of a data dictionary, in our form or in that of REDCap.

    Parameters
    ----------
    path : Path
        Path of the data dictionary.
    encoding : str
        Encoding of a file that is not UTF-8 and has no byte order mark.

    Returns
    -------
    list of Entry

    Raises
    ------
    SchemaError
        If the file is not a data dictionary.
    ValueError
        If the encoding is not supported.
    """
    encoding = LineFormat(encoding=encoding).encoding
    raw = path.read_bytes()[: _MAX_BYTES + 1]
    if len(raw) > _MAX_BYTES:
        raise SchemaError(f"{path.name} has more than {_MAX_BYTES} bytes; is it the data?")
    if raw.startswith((b"PK\3\4", b"\xd0\xcf\x11\xe0")):
        raise SchemaError(f"{path.name} is a spreadsheet or an archive; save the sheet as CSV.")
    text = _text(path.name, raw, encoding)
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found: list[Entry] = []
    headings: dict[str, str] = {}
    places: dict[str, int] = {}
    line, n_columns, of_redcap = 1, 0, False
    try:
        for cells in rows:
            if not n_columns:
                places, n_columns = redcap_places(cells), len(cells)
                of_redcap = bool(places)
                headings = {name: cells[place].strip() for name, place in places.items()}
                if not of_redcap:
                    headings, places = _headings(path.name, cells)
            elif any(cell.strip() for cell in cells):
                entry = _entry(path.name, line, headings, places, cells, n_columns)
                lines = redcap_lines(entry.cells, first=not found) if of_redcap else [entry.cells]
                found += [replace(entry, cells=dict(each)) for each in lines]
            line = rows.line_num + 1
    except csv.Error as error:
        raise SchemaError(f"{path.name}, line {line}: {error}.") from None
    _check_entries(path.name, found)
    return found


def _text(file: str, raw: bytes, encoding: str) -> str:
    """Decode by the byte order mark, else as UTF-8, else in the given encoding."""
    marked = (name for name, mark in BYTE_ORDER_MARKS.items() if raw.startswith(mark))
    known = next(marked, "utf-8")
    raw = raw.removeprefix(BYTE_ORDER_MARKS[known])
    for name in dict.fromkeys((known, encoding)):
        try:
            return raw.decode(name)
        except UnicodeDecodeError as error:
            place = error.start
    line = raw[:place].count(b"\n") + 1
    raise SchemaError(
        f"{file}, line {line}: not {name.upper()} text; specify the encoding of the dictionary, "
        "such as cp1252 (--encoding), or save it as UTF-8."
    )


def _headings(file: str, cells: list[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the headings and the indices of the known columns, keyed by name."""
    known = {other: name for name, others in COLUMNS.items() for other in (name, *others)}
    headings: dict[str, str] = {}
    places: dict[str, int] = {}
    named = [known.get(re.sub(r"[\s_-]+", " ", cell.strip().casefold())) for cell in cells]
    for place, (cell, name) in enumerate(zip(cells, named, strict=True)):
        heading = cell.strip()
        if name is None:
            meant = difflib.get_close_matches(heading.casefold(), COLUMNS, n=1, cutoff=0.8)
            if meant and meant[0] not in named:
                raise SchemaError(
                    f"{file}, line 1: unknown column {heading!r}; did you mean {meant[0]!r}?"
                )
            continue
        if name in headings and name in _TEXTS:
            continue
        if name in headings:
            raise SchemaError(
                f"{file}, line 1: {headings[name]!r} and {heading!r} are the same column; keep one."
            )
        headings[name], places[name] = heading, place
    for name in ("name", "type"):
        if name not in headings:
            raise SchemaError(
                f"{file}, line 1: no column {name!r}; a dictionary has the columns name and type, "
                f"and may have {', '.join(list(COLUMNS)[2:])}."
            )
    return headings, places


def _entry(
    file: str,
    line: int,
    headings: dict[str, str],
    places: dict[str, int],
    cells: list[str],
    n_columns: int,
) -> Entry:
    if any(cell.strip() for cell in cells[n_columns:]):
        raise SchemaError(
            f"{file}, line {line}: {len(cells)} cells, but the first line has {n_columns}; put a "
            "cell that contains the separator in double quotes."
        )
    if len(cells) <= places["name"] or not cells[places["name"]].strip():
        raise Entry(file, line, headings, {}).error("name", "is empty; name the column.")
    found = {n: cells[place].strip() for n, place in places.items() if place < len(cells)}
    return Entry(file, line, headings, found)


def _check_entries(file: str, entries: list[Entry]) -> None:
    lines: dict[str, int] = {}
    for entry in entries:
        if entry["name"] in lines:
            raise entry.error("name", f"{entry['name']!r} is in line {lines[entry['name']]} too.")
        lines[entry["name"]] = entry.line
    if not entries:
        raise SchemaError(f"{file} has no line after the first; add one line per column.")
