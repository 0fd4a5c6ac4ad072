"""Schemas from data dictionaries.

A data dictionary is a CSV file with one line for each column of a table. Any mistake in it causes
an error.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpexplain._utils.names import closest_name
from dpexplain._utils.validation import shown
from dpexplain.exceptions import SchemaError
from dpexplain.schema._cleaning import as_affixes, as_aliases, as_formats, as_thousands
from dpexplain.schema.features import Categorical, Classes, Date, Feature, Numeric, Range, Target
from dpexplain.tables.cells import cell_number, cell_text, day_text
from dpexplain.tables.line_format import BYTE_ORDER_MARKS, LineFormat
from dpexplain.tables.spellings import SERIALS, day_reader, number_reader

COLUMNS: Final = {
    "name": ("variable", "column", "field"),
    "type": ("kind",),
    "min": ("low", "minimum"),
    "max": ("high", "maximum"),
    "step": (),
    "categories": ("values", "levels", "codes"),
    "aliases": ("spellings",),
    "missing": ("missing values",),
    "unit": ("units",),
    "decimal": (),
    "thousands": ("thousands separator",),
    "affixes": ("written with",),
    "format": ("date format",),
    "description": ("label", "meaning"),
    "source": ("reference",),
}
"""Columns of a data dictionary, each with its alternative names. Other columns are ignored."""

_TYPES: Final = {
    **dict.fromkeys(
        ("number", "numeric", "float", "decimal", "real", "continuous", "percent", "currency"),
        "number",
    ),
    **dict.fromkeys(("integer", "int", "count", "whole number"), "integer"),
    **dict.fromkeys(("date", "datetime", "timestamp", "day"), "date"),
    **dict.fromkeys(("category", "categorical", "nominal", "factor"), "category"),
    **dict.fromkeys(("string", "text", "character", "char", "varchar"), "category"),
    **dict.fromkeys(("ordered", "ordinal"), "ordered"),
    **dict.fromkeys(("boolean", "bool", "binary", "yes/no"), "boolean"),
    **dict.fromkeys(("id", "identifier", "key"), "id"),
    **dict.fromkeys(("person", "patient", "subject"), "person"),
    **dict.fromkeys(("person id", "patient id", "subject id"), "person"),
    **dict.fromkeys(("ignore", "ignored", "free text", "skip"), "ignore"),
}
_MAX_BYTES: Final = 16 * 2**20
_CODE: Final = re.compile(r"([\w.+-]+)\s*=\s*(.+)", re.DOTALL)
_CODED: Final = re.compile(r"[\w.+-]\s*=\s*[^\s=]")
_SPELLINGS: Final = (
    ("0", "no", "No", "NO", "n", "N", "nein", "Nein"),
    ("1", "yes", "Yes", "YES", "y", "Y", "ja", "Ja"),
)
"""Cells that the type boolean reads in addition to false and true, if it has no categories."""

_DATE_WORDS: Final = {
    **{"d": "%d", "dd": "%d", "m": "%m", "mm": "%m", "mmm": "%b", "mmmm": "%B"},
    **{"yy": "%y", "yyyy": "%Y"},
}
_DATE_WORD: Final = re.compile("d{1,2}|m{1,4}|yyyy|yy", re.IGNORECASE)
_TIME_WORDS: Final = re.compile("[ t]hh?:mm.*", re.IGNORECASE)


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


def dictionary_fields(
    path: str | Path, target: str | None, encoding: str = "utf-8"
) -> dict[str, Any]:
    """Read the arguments for a schema from a data dictionary.

    Parameters
    ----------
    path : str or Path
        Path of the data dictionary.
    target : str or None
        Column to predict; None for a schema that has no target.
    encoding : str, default="utf-8"
        Encoding of a file that is not UTF-8 and has no byte order mark.

    Returns
    -------
    dict
        Arguments for :class:`dpexplain.Schema`, keyed by name.

    Raises
    ------
    SchemaError
        If a line is invalid; the message names the line and the column.
    ValueError
        If the encoding is not supported.
    """
    entries = _entries(Path(path), LineFormat(encoding=encoding).encoding)
    names = [entry["name"] for entry in entries]
    if target is not None and target not in names:
        meant = closest_name(target, names)
        hint = f"did you mean {meant!r}?" if meant else "add a line for it."
        raise SchemaError(f"{Path(path).name} has no line for the target {target!r}; {hint}")
    fields: dict[str, Any] = {"features": {}, "id": []}
    for entry in entries:
        name, kind = entry["name"], _kind(entry)
        if name == target:
            fields["target"] = _target(entry, kind)
        elif kind == "id":
            fields["id"].append(name)
        elif kind == "person":
            if "person" in fields:
                raise entry.error("type", f"{fields['person']!r} is already the person column.")
            fields["person"] = name
        elif kind != "ignore":
            fields["features"][name] = _feature(entry, kind)
    return fields


def _entries(path: Path, encoding: str) -> list[Entry]:
    """Read the entries of a data dictionary."""
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
    line = 1
    try:
        for cells in rows:
            if not headings:
                headings, places = _headings(path.name, cells)
            elif any(cell.strip() for cell in cells):
                found.append(_entry(path.name, line, headings, places, cells))
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
    for place, cell in enumerate(cells):
        heading = cell.strip()
        name = known.get(heading.casefold())
        if name is None:
            meant = difflib.get_close_matches(heading.casefold(), COLUMNS, n=1, cutoff=0.8)
            if meant:
                raise SchemaError(
                    f"{file}, line 1: unknown column {heading!r}; did you mean {meant[0]!r}?"
                )
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
    file: str, line: int, headings: dict[str, str], places: dict[str, int], cells: list[str]
) -> Entry:
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


def _kind(entry: Entry) -> str:
    kind = _TYPES.get(entry["type"].casefold())
    if kind in ("number", "integer") and _CODED.search(entry["categories"]):
        raise entry.error(
            "categories",
            f"the type {entry['type']} has no codes; write those of missing values in the column "
            "missing, or the type category.",
        )
    if kind is None:
        meant = closest_name(entry["type"], _TYPES)
        hint = f"; did you mean {meant!r}?" if meant else "."
        raise entry.error(
            "type",
            f"{entry['type']!r} is not a type{hint} Use {', '.join(sorted(set(_TYPES.values())))}.",
        )
    return kind


def _feature(entry: Entry, kind: str) -> Feature:
    if kind in ("number", "integer"):
        low, high, rules = _numbers(entry)
        step: Any = _number(entry, "step") if entry["step"] else None
        step = 1.0 if kind == "integer" and step is None else step
        with entry.at("step" if entry["step"] else "min"):
            return Numeric(low, high, unit=entry["unit"], step=step, **rules)
    if kind == "date":
        return _date(entry)
    names, aliases = _names(entry, kind)
    with entry.at("missing" if entry["missing"] else "categories"):
        return Categorical(names, kind == "ordered", aliases=aliases, **_common(entry))


def _target(entry: Entry, kind: str) -> Target:
    name = entry["name"]
    if kind in ("number", "integer"):
        low, high, rules = _numbers(entry)
        with entry.at("missing" if entry["missing"] else "min"):
            return Range(low, high, unit=entry["unit"], name=name, **rules)
    if kind in ("category", "ordered", "boolean"):
        names, aliases = _names(entry, kind)
        whole = all(re.fullmatch(r"-?(0|[1-9][0-9]{0,8})", text) for text in names)
        labels = [int(text) if whole else text for text in names]
        with entry.at("missing" if entry["missing"] else "categories"):
            return Classes(labels, name=name, aliases=aliases, **_common(entry))
    raise entry.error("type", f"the target cannot be of the type {entry['type']!r}.")


def _common(entry: Entry) -> dict[str, Any]:
    return {
        "description": entry["description"],
        "missing": _markers(entry["missing"]),
        "source": entry.source,
    }


def _numbers(entry: Entry) -> tuple[float, float, dict[str, Any]]:
    """Return the bounds and other arguments of a numeric feature."""
    low, high = _number(entry, "min"), _number(entry, "max")
    if not low < high:
        raise entry.error("max", f"{entry['max']} must be above the min, {entry['min']}.")
    return low, high, {**_common(entry), **_written(entry)}


def _written(entry: Entry) -> dict[str, Any]:
    """Return the rules for numbers stored as text."""
    words = {"point": ".", "dot": ".", "period": ".", "comma": ",", "apostrophe": "'", "space": " "}
    given = entry["thousands"]
    decimal = _decimal(entry)
    with entry.at("thousands"):
        thousands = as_thousands("number", words.get(given.casefold(), given), decimal)
    with entry.at("affixes"):
        affixes = as_affixes("number", _several(entry["affixes"]))
    return {"decimal": decimal, "thousands": thousands, "affixes": affixes}


def _decimal(entry: Entry) -> str:
    words = {"": ".", "point": ".", "comma": ","}
    with entry.at("decimal"):
        decimal = words.get(entry["decimal"].casefold(), entry["decimal"])
        if decimal not in (".", ","):
            raise SchemaError(f"{decimal!r} must be point or comma.")
    return decimal


def _number(entry: Entry, column: str) -> float:
    text = entry.needed(column, "100")
    number = cell_number(text)
    if np.isnan(number):
        number = number_reader(**_written(entry))(text)
    if not np.isfinite(number):
        raise entry.error(column, f"{text!r} is not a finite number; write it as 1234.5.")
    return float(number)


def _date(entry: Entry) -> Date:
    with entry.at("format"):
        formats = as_formats([_strftime(text) for text in _several(entry["format"])])
    read, ends = day_reader(formats, 9999), []
    for column in ("min", "max"):
        day = read(entry.needed(column, "2024-12-31"))
        if np.isnan(day):
            raise entry.error(column, f"{entry[column]!r} is not a date such as 2024-12-31.")
        ends.append(day_text(day))
    with entry.at("max"):
        return Date(*ends, format=formats, **_common(entry))


def _strftime(text: str) -> str:
    """Convert a format such as DD.MM.YYYY to ``strftime``, dropping any time of day."""
    if text.casefold() in SERIALS:
        return text.casefold()
    day = _TIME_WORDS.sub("", text)
    if "%" in text or any(map(str.isalpha, _DATE_WORD.sub("", day))):
        return text
    return _DATE_WORD.sub(lambda found: _DATE_WORDS[found[0].casefold()], day)


def _names(entry: Entry, kind: str) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Return categories and aliases; ``1=male`` is the category male with the alias 1."""
    given = entry["categories"]
    spelled: list[tuple[str, str]] = []
    if not given and kind == "boolean":
        names = ["no", "yes"] if entry["type"].casefold() == "yes/no" else ["False", "True"]
        given, pairs = "|".join(names), zip(names, _SPELLINGS, strict=True)
        taken = {cell_text(text) for text in (*names, *_markers(entry["missing"]))}
        spelled = [(t, name) for name, texts in pairs for t in texts if cell_text(t) not in taken]
    if not given:
        entry.needed("categories", "'male|female' or '1=male|2=female', or the type ignore")
    if "," in given and not set("|;") & set(given):
        raise entry.error("categories", "separate the categories with | or ;.")
    coded = [_CODE.fullmatch(text) for text in _several(given)]
    names = [c[2] if c else text for c, text in zip(coded, _several(given), strict=True)]
    with entry.at("categories"):
        spelled += [(text, c[2]) for c in coded if c for text in _codes(c)]
        codes = as_aliases("codes", spelled, names)
        Categorical(names, aliases=codes)
    with entry.at("aliases"):
        cut = [text.rpartition("=") for text in _several(entry["aliases"])]
        if wrong := [after for _, sign, after in cut if not sign]:
            raise SchemaError(f"{wrong[0]!r} must be written as spelling=category.")
        spelled = [(spelling.strip(), name.strip()) for spelling, _, name in cut]
        aliases = (*codes, *as_aliases("aliases", spelled, names))
        Categorical(names, aliases=aliases)
    return names, aliases


def _codes(found: re.Match[str]) -> tuple[str, ...]:
    """Return the spellings of a coded category, such as ``1 = male`` from SPSS."""
    code, name = found.groups()
    return code, f"{code} = {name}", f"{code}={name}"


def _markers(text: str) -> list[str]:
    """Return missing-value markers; ``9=refused`` gives a code and its label."""
    found: list[str] = []
    for marker in _several(text):
        coded = _CODE.fullmatch(marker)
        found += [*_codes(coded), coded[2]] if coded else [marker]
    return found


def _several(text: str) -> list[str]:
    """Split a list in a cell at each |, or at semicolons if there is no |."""
    separator = "|" if "|" in text else ";"
    return [part.strip() for part in text.split(separator) if part.strip()]
