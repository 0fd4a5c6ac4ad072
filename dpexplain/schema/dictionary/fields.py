"""Schemas from data dictionaries.

Any mistake in a dictionary causes an error; all mistakes are named at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpexplain._utils.names import closest_name
from dpexplain.exceptions import SchemaError
from dpexplain.schema._cleaning import as_affixes, as_aliases, as_formats, as_thousands
from dpexplain.schema.dictionary.entries import Entry, dictionary_entries
from dpexplain.schema.features import Categorical, Classes, Date, Feature, Numeric, Range, Target
from dpexplain.tables.cells import cell_number, cell_text, day_text
from dpexplain.tables.spellings import SERIALS, day_reader, number_reader

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
_MOST_LISTED: Final = 20
_CODE: Final = re.compile(r"([\w.+-]+)\s*=\s*(.+)", re.DOTALL)
_CODED: Final = re.compile(r"[\w.+-]\s*=\s*[^\s=]")
_SPELLINGS: Final = (
    ("0", "no", "No", "NO", "n", "N", "nein", "Nein", "NEIN"),
    ("1", "yes", "Yes", "YES", "y", "Y", "ja", "Ja", "JA", "j", "J"),
)
"""Cells that the type boolean reads in addition to false and true, if it has no categories."""

_DATE_WORDS: Final = {
    **{"d": "%d", "dd": "%d", "m": "%m", "mm": "%m", "mmm": "%b", "mmmm": "%B"},
    **{"mon": "%b", "month": "%B", "yy": "%y", "yyyy": "%Y"},
}
_DATE_WORD: Final = re.compile("month|mon|d{1,2}|m{1,4}|yyyy|yy")
_TIME_WORDS: Final = re.compile("[ t]h{1,2}(12|24)?:m[mi].*")
_IN_ENGLISH: Final = {"tj": str.maketrans("tj", "dy"), "ja": str.maketrans("ja", "dy")}
"""German TT.MM.JJJJ and French JJ/MM/AAAA, by the letters that only they have."""


def dictionary_fields(
    path: str | Path,
    target: str | None,
    encoding: str = "utf-8",
    exclude: str | Iterable[str] = (),
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
    exclude : str or iterable of str, default=()
        Columns to leave out.

    Returns
    -------
    dict
        Arguments for :class:`dpexplain.Schema`, keyed by name.

    Raises
    ------
    SchemaError
        If lines are invalid; the message names each of them, and the column.
    ValueError
        If the encoding is not supported.
    """
    path = Path(path)
    entries = dictionary_entries(path, encoding)
    names = [entry["name"] for entry in entries]
    left_out = {exclude} if isinstance(exclude, str) else set(exclude)
    for name in [*sorted(left_out), *([] if target is None else [target])]:
        if name not in names:
            meant = closest_name(name, names)
            hint = f"did you mean {meant!r}?" if meant else "add a line for it."
            role = "the target " if name == target else "exclude: "
            raise SchemaError(f"{path.name} has no line for {role}{name!r}; {hint}")
    fields: dict[str, Any] = {"features": {}, "id": []}
    mistakes: list[str] = []
    for entry in entries:
        if entry["name"] not in left_out:
            try:
                _add(fields, entry, target)
            except SchemaError as error:
                mistakes.append(str(error))
    if mistakes:
        raise SchemaError(_listed(path.name, mistakes))
    return fields


def _add(fields: dict[str, Any], entry: Entry, target: str | None) -> None:
    """Add one line of the dictionary to the arguments for a schema."""
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


def _listed(file: str, mistakes: list[str]) -> str:
    """Return one message about all lines that are wrong."""
    if len(mistakes) == 1:
        return mistakes[0]
    more = len(mistakes) - _MOST_LISTED
    shown = [*mistakes[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
    words = f"{file}: {len(mistakes)} lines are wrong; correct them, or leave their columns out"
    return "\n".join([f"{words} (--exclude, exclude=):", *shown])


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
    day = _TIME_WORDS.sub("", text.casefold())
    day = next((day.translate(to) for other, to in _IN_ENGLISH.items() if {*other} <= {*day}), day)
    if "%" in text or any(map(str.isalpha, _DATE_WORD.sub("", day))):
        return text
    return _DATE_WORD.sub(lambda found: _DATE_WORDS[found[0]], day)


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
        meant = {cell_text(code): name for code, name in codes}  # an alias may name the code
        meant.update((cell_text(name), name) for name in names)
        spelled = [(s.strip(), meant.get(cell_text(name), name.strip())) for s, _, name in cut]
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
